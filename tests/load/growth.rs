//! Measures the cost of the daemon as history grows.

use std::{
    ops::RangeInclusive,
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use graphiti_proto::tools::{close, health, list_sessions, search_sessions};
use graphiti_tests::{
    Daemon, Random, World,
    made_up::{GeneratedSession, Library, history},
    times::Times,
};
use serde_json::{Value, json};

use crate::{megabytes, milliseconds};

/// Number of searches that are timed.
const SEARCHES: usize = 300;
/// Number of timed requests for the state, and for the newest sessions.
const OVERVIEWS: usize = 100;
/// Number of closes that are timed.
const CLOSES: usize = 50;
/// Number of bytes by which a session grows before it is closed.
const MORE: u64 = 10_000;
/// Pause after which the index is on disk and unneeded memory is released.
const REST: Duration = Duration::from_secs(40);

#[derive(Args)]
pub(crate) struct GrowthOptions {
    /// Sizes of the history in sessions, in ascending order
    #[arg(long, value_delimiter = ',', default_value = "0,1000,10000")]
    sessions: Vec<u64>,
    /// Size of a session, in kilobytes
    #[arg(long, default_value_t = 20)]
    kilobytes: u64,
    /// Time for which the idle daemon is observed, in seconds
    #[arg(long, default_value_t = 30)]
    idle_seconds: u64,
}

pub(crate) fn run(options: &GrowthOptions) {
    let world = World::new();
    let library = Library::new();
    // Builds the programs, so that the build is not measured.
    world.printed(&["--version"]);
    let mut known = 0;
    for sessions in options.sessions.iter().copied() {
        let new = known + 1..=sessions;
        history::sessions(&world.projects(), &library, new.clone(), options.kilobytes * 1_000);
        known = known.max(sessions);
        println!("{known} sessions of {} kB", options.kilobytes);
        measure_import(&world, &new);
        let daemon = measure_start(&world);
        measure_idle(&daemon, Duration::from_secs(options.idle_seconds));
        if known > 0 {
            measure_overviews(&daemon);
            measure_searches(&daemon, &library);
            measure_closes(&world, &daemon, &library, known);
        }
        daemon.stop();
    }
}

fn measure_import(world: &World, new: &RangeInclusive<u64>) {
    let began = Instant::now();
    let daemon = world.start();
    daemon.settle();
    let spent = began.elapsed();
    let count = new.clone().count();
    if count > 0 {
        println!(
            "  imported: {count} in {:.1} s, {:.2} ms each; memory {:.0} MB at its peak",
            spent.as_secs_f64(),
            milliseconds(spent) / count as f64,
            megabytes(daemon.process().peak())
        );
    }
    let health = daemon.health();
    println!(
        "  disk: database {:.1} MB, index {:.1} MB",
        megabytes(health.kept.database_bytes),
        megabytes(health.kept.index_bytes)
    );
    daemon.stop();
}

fn measure_start(world: &World) -> Daemon {
    let began = Instant::now();
    let daemon = world.start();
    let ready = began.elapsed();
    daemon.settle();
    println!(
        "  started: ready after {:.0} ms, all files seen after {:.0} ms",
        milliseconds(ready),
        milliseconds(began.elapsed())
    );
    daemon
}

fn measure_idle(daemon: &Daemon, idle: Duration) {
    thread::sleep(REST);
    let process = daemon.process();
    let (woken, spent) = (process.wake_ups(), process.processor_time());
    thread::sleep(idle);
    println!(
        "  at rest: {:.1} MB; in {} s: {} wake-ups, {} ms of processor time",
        megabytes(process.resident()),
        idle.as_secs(),
        process.wake_ups().saturating_sub(woken),
        (process.processor_time() - spent).as_millis()
    );
}

/// Times the requests of `graphiti status` and `graphiti list`.
fn measure_overviews(daemon: &Daemon) {
    let mut wire = daemon.wire();
    let mut times = |tool: &str, arguments: &Value| {
        let durations = (0..OVERVIEWS).map(|_| {
            let began = Instant::now();
            wire.call(tool, arguments);
            began.elapsed()
        });
        Times::of(durations.collect()).to_text()
    };
    println!("  status: {}", times(health::NAME, &json!({})));
    println!("  the newest 20 sessions: {}", times(list_sessions::NAME, &json!({ "limit": 20 })));
}

fn measure_searches(daemon: &Daemon, library: &Library) {
    let mut random = Random::new(5);
    let mut wire = daemon.wire();
    let mut times = Vec::new();
    for _ in 0..SEARCHES {
        let query = library.question(&mut random);
        let began = Instant::now();
        wire.call(search_sessions::NAME, &json!({ "query": query }));
        times.push(began.elapsed());
    }
    println!("  searches: {}", Times::of(times).to_text());
}

fn measure_closes(world: &World, daemon: &Daemon, library: &Library, known: u64) {
    let mut wire = daemon.wire();
    let mut close = |session: &GeneratedSession, wanted: &str| {
        let began = Instant::now();
        let answer = wire.call(close::NAME, &json!({ "session_id": session.id() }));
        assert_eq!(answer["action"], wanted, "{answer}");
        began.elapsed()
    };
    let numbers = (0..CLOSES as u64).map(|number| 1 + number * known / CLOSES as u64);
    let mut sessions: Vec<GeneratedSession> =
        numbers.map(|number| GeneratedSession::continued(&world.projects(), number)).collect();
    let unchanged = sessions.iter().map(|session| close(session, "unchanged")).collect();
    println!("  closed unchanged: {}", Times::of(unchanged).to_text());
    let grown = sessions.iter_mut().map(|session| {
        session.write(library, MORE);
        close(session, "replaced")
    });
    println!("  closed with {} kB more: {}", MORE / 1_000, Times::of(grown.collect()).to_text());
}
