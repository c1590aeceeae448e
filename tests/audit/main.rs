//! Is each record remembered once, and found once, whatever happens while it is written?
//!
//! Short in CI. `FILES=2500 ROUNDS=160 KILLS=300 SEED=7 cargo test --workspace --test audit --
//! --nocapture` takes an hour or two, and prints its figures.
#![expect(clippy::print_stdout, reason = "a run tells what it did, and how to repeat it")]

mod at_once;
mod kills;
mod said;

/// A setting of the run.
fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}
