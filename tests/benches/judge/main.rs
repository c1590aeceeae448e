//! Draws facts, pairs of sessions and wishes from the corpus, so that readers can evaluate them.
//!
//! `cargo bench -p graphiti-tests --bench judge -- --half held --out FOLDER` imports the recorded
//! sessions of one half of the corpus, and writes three sheets of plain text: facts with their
//! source lines, consecutive sessions of a project with the handoff between them, and sentences of
//! users that may be standing wishes. The same seed draws the same rows. Only the half `build` may
//! be used to develop rules.

#![expect(clippy::print_stdout, reason = "the program prints the paths of the sheets")]

mod facts;
mod pairs;
mod sessions;
mod wishes;

use std::{fs, path::PathBuf, process::ExitCode};

use clap::{Parser, ValueEnum};
use graphiti_tests::{
    Random,
    corpus::{self, Half},
};

#[derive(Parser)]
struct DrawOptions {
    /// The half of the sessions to draw from
    #[arg(long, value_enum, default_value_t = HalfName::Build)]
    half: HalfName,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of facts
    #[arg(long, default_value_t = 80)]
    facts: usize,
    /// Number of pairs of consecutive sessions
    #[arg(long, default_value_t = 25)]
    pairs: usize,
    /// Number of sentences that may be wishes
    #[arg(long, default_value_t = 30)]
    wishes: usize,
    /// The folder of the sheets
    #[arg(long)]
    out: PathBuf,
    /// Cargo adds this option
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HalfName {
    Build,
    Held,
}

fn main() -> ExitCode {
    let options = DrawOptions::parse();
    let Some(corpus) = corpus::claude() else { return ExitCode::SUCCESS };
    let half = match options.half {
        HalfName::Build => Half::Build,
        HalfName::Held => Half::Held,
    };
    let sessions = sessions::of_half(&corpus, half);
    fs::create_dir_all(&options.out).expect("make the folder of the sheets");
    let write = |name: &str, sheet: String| {
        let path = options.out.join(name);
        fs::write(&path, sheet).expect("write a sheet");
        println!("{}", path.display());
    };
    write("facts.txt", facts::sheet(&sessions, options.facts, Random::new(options.seed)));
    write("wishes.txt", wishes::sheet(&sessions, options.wishes, Random::new(options.seed)));
    write("pairs.txt", pairs::sheet(&sessions, options.pairs, Random::new(options.seed)));
    ExitCode::SUCCESS
}

/// Draws `count` of the rows at random.
fn drawn<T>(mut rows: Vec<T>, count: usize, mut random: Random) -> Vec<T> {
    let mut drawn = Vec::new();
    while drawn.len() < count && !rows.is_empty() {
        drawn.push(rows.swap_remove(random.below(rows.len())));
    }
    drawn
}
