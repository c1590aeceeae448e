//! Measures searches while history is imported.

use std::{path::PathBuf, time::Instant};

use clap::Args;
use graphiti_proto::tools::search_sessions;
use graphiti_tests::{
    Daemon, Random, Wire, World,
    made_up::{Library, history},
    times::Times,
};
use serde_json::{Value, json};

/// Size, in bytes, of a session.
const SESSION_BYTES: u64 = 100_000;
/// Number of searches that are measured after the import.
const QUIET: usize = 300;

#[derive(Args)]
pub(crate) struct BusyOptions {
    /// Size of the history, in megabytes
    #[arg(long, default_value_t = 300)]
    megabytes: u64,
    /// Folder with transcripts to import repeatedly, instead of generated ones
    #[arg(long)]
    recorded: Option<PathBuf>,
}

pub(crate) fn run(options: &BusyOptions) {
    println!("Searches while {} MB are imported", options.megabytes);
    // By default, a search waits until the newest due sessions are indexed.
    measure(options, "searches that wait for due sessions", &json!({}));
    measure(options, "searches that do not wait", &json!({ "query_timeout": 0.001 }));
}

fn measure(options: &BusyOptions, title: &str, settings: &Value) {
    let world = World::new();
    world.configure(settings);
    let library = Library::new();
    let bytes = options.megabytes * 1_000_000;
    match &options.recorded {
        Some(folder) => history::repeat(folder, &world.projects(), bytes),
        None => {
            history::sessions(
                &world.projects(),
                &library,
                1..=bytes / SESSION_BYTES,
                SESSION_BYTES,
            );
        }
    }
    // Builds the programs, so that the build is not measured.
    world.printed(&["--version"]);
    let daemon = world.start();
    let (mut wire, mut random) = (daemon.wire(), Random::new(5));
    let mut times = Vec::new();
    while is_importing(&daemon) {
        times.push(search(&mut wire, &library.question(&mut random)));
    }
    let count = times.len();
    println!("  {title}: {} ({count} searches)", Times::of(times).to_text());
    daemon.settle();
    let quiet = (0..QUIET).map(|_| search(&mut wire, &library.question(&mut random)));
    println!("  afterwards: {}", Times::of(quiet.collect()).to_text());
}

fn search(wire: &mut Wire, query: &str) -> std::time::Duration {
    let began = Instant::now();
    wire.call(search_sessions::NAME, &json!({ "query": query }));
    began.elapsed()
}

fn is_importing(daemon: &Daemon) -> bool {
    let health = daemon.health();
    !health.history.scanned || health.history.left > 0
}
