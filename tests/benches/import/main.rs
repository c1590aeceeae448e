//! Measures the speed and the memory of imports.
//!
//! `cargo bench -p graphiti-tests --bench import`. It imports three histories: the corpus
//! (`../shared/corpus` or `GRAPHITI_CORPUS`) repeated to `GRAPHITI_IMPORT_CORPUS_MB` (400), one
//! long generated session of `GRAPHITI_IMPORT_LONG_MB` (1000), and `GRAPHITI_IMPORT_SESSIONS`
//! (5000) short ones; a size of 0 omits that history. Each speed is also printed as a multiple of
//! the speed of well-known work on the same bytes in the same run, because the speed of a machine
//! varies from minute to minute.
#![expect(clippy::print_stdout, reason = "the program prints its figures")]

mod alone;
mod whole;

use std::path::Path;

use graphiti_tests::{
    World, corpus,
    made_up::{self, Library, history},
};

use crate::alone::Speed;

/// Size, in bytes, of a short session.
const SHORT: u64 = 20_000;

fn main() {
    // `cargo test --all-targets` starts benchmarks, too.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let corpus_bytes = setting("GRAPHITI_IMPORT_CORPUS_MB", 400) * 1_000_000;
    match corpus::claude().filter(|_| corpus_bytes > 0) {
        Some(corpus) => {
            let world = World::new();
            history::repeat(&corpus, &world.projects(), corpus_bytes);
            println!("The corpus, repeated");
            measure(&world);
        }
        None => println!("No corpus: set GRAPHITI_CORPUS"),
    }
    let library = Library::new();
    let sessions = setting("GRAPHITI_IMPORT_SESSIONS", 5_000);
    if sessions > 0 {
        let world = World::new();
        history::sessions(&world.projects(), &library, 1..=sessions, SHORT);
        println!("{sessions} short sessions");
        measure(&world);
    }
    let long_bytes = setting("GRAPHITI_IMPORT_LONG_MB", 1_000) * 1_000_000;
    if long_bytes > 0 {
        let world = World::new();
        let mut long = made_up::GeneratedSession::new(&world.projects(), 1);
        long.write(&library, long_bytes);
        println!("One long session");
        let daemon = measure(&world);
        whole::close_again(&daemon, &mut |more| {
            long.write(&library, more);
            long.id().to_owned()
        });
    }
}

/// Prints how fast the transcripts of `world` are hashed, parsed, read by capture alone, and
/// imported by the daemon. Returns the running daemon.
fn measure(world: &World) -> graphiti_tests::Daemon {
    let files = corpus::transcripts(&world.projects());
    let bytes: u64 = files.iter().map(|file| length(file)).sum();
    println!("  {} files, {:.0} MB", files.len(), bytes as f64 / 1e6);
    let hashed = alone::timed(bytes, || alone::hash(&files));
    let parsed = alone::timed(bytes, || alone::parse(&files));
    let captured = alone::timed(bytes, || alone::capture(&files));
    let show = |what: &str, speed: Speed| {
        println!(
            "  {what:<34} {:>5.0} MB/s  {:>5.2} x `Value`  {:>5.2} x hashing",
            speed.megabytes_a_second(),
            speed.ratio(parsed),
            speed.ratio(hashed)
        );
    };
    show("read and SHA-256", hashed);
    show("one serde_json::Value per line", parsed);
    show("capture alone", captured);
    let (daemon, imported) = whole::import(world, bytes);
    show("daemon, elapsed time", imported.elapsed);
    show("daemon, processor time", imported.processor);
    whole::print_costs(&daemon);
    daemon
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
}

fn length(path: &Path) -> u64 {
    path.metadata().expect("a file that was just made").len()
}
