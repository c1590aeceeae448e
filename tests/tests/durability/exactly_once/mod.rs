//! Tests that each record is stored once and found once, even if the daemon is interrupted.
//!
//! The run in CI is short. `FILES=2500 ROUNDS=160 KILLS=300 SEED=7 cargo test --workspace --test
//! durability exactly_once -- --nocapture` takes an hour or two, and prints its figures.

mod at_once;
mod kills;
mod scripted;

/// Returns a setting of the run, from an environment variable.
fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}
