//! Measures imports with the real daemon in a fresh home.

use std::time::{Duration, Instant};

use graphiti_proto::tools::close;
use graphiti_tests::{Daemon, World};
use serde_json::json;

use crate::alone::Speed;

/// Number of bytes that are added to a long session before it is closed again.
const MORE: u64 = 10_000;
/// Number of closes of each kind that are timed.
const CLOSES: usize = 7;

pub(crate) struct ImportRun {
    pub(crate) elapsed: Speed,
    /// The processor time of all threads of the daemon.
    pub(crate) processor: Speed,
}

/// Starts a daemon and waits until it has imported everything.
pub(crate) fn import(world: &World, bytes: u64) -> (Daemon, ImportRun) {
    // Builds the programs, so that the build is not measured.
    world.printed(&["--version"]);
    let start = Instant::now();
    let daemon = world.start();
    daemon.settle();
    let elapsed = Speed { bytes, spent: start.elapsed() };
    let processor = Speed { bytes, spent: daemon.process().processor_time() };
    (daemon, ImportRun { elapsed, processor })
}

/// Prints the memory and the disk space that are used after the import.
pub(crate) fn print_costs(daemon: &Daemon) {
    let kept = daemon.health().kept;
    println!(
        "  memory: {:.0} MB at its peak, {:.0} MB now",
        megabytes(daemon.process().peak()),
        megabytes(daemon.process().resident())
    );
    println!(
        "  disk: {:.1} MB database, {:.1} MB index; {} episodes, {} messages",
        megabytes(kept.database_bytes),
        megabytes(kept.index_bytes),
        kept.episodes,
        kept.messages
    );
}

/// Prints the cost of closing an unchanged session, and a session that grew. `grow` appends a
/// number of bytes to the session, and returns the session's id.
pub(crate) fn close_again(daemon: &Daemon, grow: &mut dyn FnMut(u64) -> String) {
    let mut close = |more: u64| {
        let arguments = json!({ "session_id": grow(more) });
        let start = Instant::now();
        let answer = daemon.call(close::NAME, &arguments);
        let spent = start.elapsed();
        let wanted = if more == 0 { "unchanged" } else { "replaced" };
        assert_eq!(answer["action"], wanted, "{answer}");
        spent
    };
    close(0);
    let unchanged = median(|| close(0));
    let grown = median(|| close(MORE));
    println!(
        "  closed again: {:.2} ms unchanged, {:.1} ms with {} kB more; memory: {:.0} MB at its peak",
        unchanged.as_secs_f64() * 1e3,
        grown.as_secs_f64() * 1e3,
        MORE / 1_000,
        megabytes(daemon.process().peak()),
    );
}

fn median(mut run: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..CLOSES).map(|_| run()).collect();
    times.sort();
    times[CLOSES / 2]
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
