//! Measures how fast the daemon reads the transcripts of each agent, and how much memory it uses.
//! All histories have the same turns, so that the speeds can be compared.

mod history;
mod turns;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use graphiti_proto::tools::get_session;
use graphiti_tests::{Daemon, Process, Random, World, made_up::Library, times::Times};
use serde_json::json;

use self::history::OpencodeDatabase;
use crate::megabytes;

/// Pause after which the daemon has released unneeded memory.
const REST: Duration = Duration::from_secs(40);
/// Pause between two samples of the anonymous memory, whose peak the kernel does not record.
const SAMPLE: Duration = Duration::from_millis(50);

#[derive(Args)]
pub(crate) struct FormatsOptions {
    /// Agents whose transcripts are read, one after the other
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "claude,codex,copilot,gemini,pi,qwen,cursor,opencode"
    )]
    agents: Vec<String>,
    /// Size of each agent's history, in megabytes
    #[arg(long, default_value_t = 100)]
    megabytes: u64,
    /// Sessions in each history
    #[arg(long, default_value_t = 50)]
    sessions: u64,
    /// Also print the memory after unneeded memory is released
    #[arg(long)]
    rest: bool,
}

pub(crate) fn run(options: &FormatsOptions) {
    for agent in &options.agents {
        let world = World::new();
        // Builds the programs, so that the build is not measured.
        world.printed(&["--version"]);
        let each = options.megabytes * 1_000_000 / options.sessions;
        let bytes = history::write(agent, &world, options.sessions, each);
        let began = Instant::now();
        let daemon = world.start();
        let process = daemon.process();
        let anonymous = peak_of_anonymous(process, || daemon.settle());
        let spent = began.elapsed();
        let speed = |spent: Duration| megabytes(bytes) / spent.as_secs_f64();
        println!(
            "{agent:<9} {:>6.0} MB in {} sessions: {:>6.1} s, {:>5.1} MB/s of elapsed time, {:>5.1} MB/s \
             of processor time; memory {:.0} MB at its peak, {:.0} MB without mapped files",
            megabytes(bytes),
            options.sessions,
            spent.as_secs_f64(),
            speed(spent),
            speed(process.processor_time()),
            megabytes(process.peak()),
            megabytes(anonymous),
        );
        let health = daemon.health();
        assert_eq!(health.problems, [""; 0]);
        // Episodes are not checked: a session without times in its transcript counts as active, and
        // has no episode yet.
        assert!(health.kept.messages > 0, "nothing was read");
        if options.rest {
            thread::sleep(REST);
            println!(
                "{:<9} {:.0} MB at rest, {:.0} MB without mapped files",
                "",
                megabytes(process.resident()),
                megabytes(process.anonymous()),
            );
        }
        daemon.stop();
    }
}

/// Returns the largest sample, in bytes, of a process's anonymous memory during `work`.
fn peak_of_anonymous(process: Process, work: impl FnOnce()) -> u64 {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let sampler = scope.spawn(|| {
            let mut peak = 0;
            while !is_done.load(Ordering::Relaxed) {
                peak = peak.max(process.anonymous());
                thread::sleep(SAMPLE);
            }
            peak
        });
        work();
        is_done.store(true, Ordering::Relaxed);
        sampler.join().expect("the sampler does not panic")
    })
}

#[derive(Args)]
pub(crate) struct RowsOptions {
    /// Sizes of the session in turns, in ascending order
    #[arg(long, value_delimiter = ',', default_value = "100,1000,4000")]
    turns: Vec<u64>,
    /// Number of turns that are added one by one at each size
    #[arg(long, default_value_t = 30)]
    added: u64,
}

/// Measures the cost of following a session in a database while the session grows.
pub(crate) fn rows(options: &RowsOptions) {
    let (world, library, mut random) = (World::new(), Library::new(), Random::new(3));
    let mut database = OpencodeDatabase::create(&world);
    database.begin(0);
    let daemon = world.start();
    let mut turns = 0;
    for size in options.turns.iter().copied() {
        let mut bytes = 0;
        while turns < size {
            bytes += database.turn(0, &library, &mut random);
            turns += 1;
        }
        wait_for(&daemon, turns);
        let (process, began) = (daemon.process(), Instant::now());
        let (spent, mut times) = (process.processor_time(), Vec::new());
        for _ in 0..options.added {
            let began = Instant::now();
            database.turn(0, &library, &mut random);
            turns += 1;
            wait_for(&daemon, turns);
            times.push(began.elapsed());
        }
        let added = u32::try_from(options.added).expect("a small number");
        let each = (process.processor_time() - spent) / added;
        println!(
            "{size} turns ({:.1} MB more): a turn is read after {}; {each:?} of processor time each; {:.1} s; \
             memory {:.0} MB at its peak",
            megabytes(bytes),
            Times::of(times).to_text(),
            began.elapsed().as_secs_f64(),
            megabytes(process.peak()),
        );
    }
    daemon.stop();
}

/// Waits until the daemon has read the records of `turns` turns.
fn wait_for(daemon: &Daemon, turns: u64) {
    let mut wire = daemon.wire();
    let params = json!({ "name": get_session::NAME, "arguments": { "session_id": "ses_000000" } });
    loop {
        let answer = wire.ask("tools/call", params.clone()).expect("the tool exists");
        let answer = answer["structuredContent"].clone();
        let answer: get_session::GetSessionAnswer =
            serde_json::from_value(answer).unwrap_or_default();
        // The first record describes the session.
        let read: u64 = answer.files.iter().map(|file| file.read).sum();
        if read > turns * ROWS_OF_TURN {
            return;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Number of records of a turn.
const ROWS_OF_TURN: u64 = 10;
