//! Runs sessions for a given time. Meanwhile the daemon is killed, stopped, suspended and reloaded,
//! and it reaches its limits on disk.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use graphiti_proto::tools::{get_session, search_sessions};
use graphiti_tests::{Daemon, Random, World, made_up::Library, times::timed};
use serde_json::json;

use crate::{
    megabytes,
    play::{Crowd, Material, Pace, SimulatedAgent},
};

/// Number of records after which a session ends.
const RECORDS: u64 = 150;
/// Maximum number of kept transcripts of ended sessions; older ones are deleted, as agents do.
const TRANSCRIPTS: usize = 200;
/// Time between the signal that suspends the daemon and the signal that continues it.
const STOPPED: Duration = Duration::from_secs(3);
/// Seconds without activity after which a session ends.
const DEFAULT_TIMEOUT: usize = 1_800;
/// Interval between two lines of the report.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Args)]
pub(crate) struct SoakOptions {
    /// Duration of the test, in minutes
    #[arg(long, default_value_t = 60)]
    minutes: u64,
    /// Sessions that are written to at one time
    #[arg(long, default_value_t = 40)]
    sessions: usize,
    /// Records per second, in all sessions together
    #[arg(long, default_value_t = 200)]
    rate: u64,
    /// Seconds between two faults
    #[arg(long, default_value_t = 15)]
    fault_every: u64,
    /// Random seed; the same seed gives the same faults
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A session whose agent reported its end, and whose hook succeeded.
struct Ended {
    session: String,
    transcript: PathBuf,
}

pub(crate) fn run(options: &SoakOptions) {
    let world = World::new();
    configure(&world, DEFAULT_TIMEOUT);
    let daemon = world.start();
    let over = AtomicBool::new(false);
    let began = Instant::now();
    let (daemon, ended) = thread::scope(|scope| {
        let agents = scope.spawn(|| work(&world, options, &over));
        let daemon = disturb(&world, options, daemon, began);
        over.store(true, Ordering::Relaxed);
        (daemon, agents.join().expect("no thread panicked"))
    });
    daemon.settle_at_last();
    print_report_line(&world, &daemon, began.elapsed());
    check(&daemon, &ended, options);
    daemon.stop();
}

/// Writes to sessions. When a session is long enough, reports its end by its agent's hook.
fn work(world: &World, options: &SoakOptions, over: &AtomicBool) -> Vec<Ended> {
    let mut crowd = Crowd::new(&world.projects(), options.sessions, Material::made_up());
    let pace = Pace { rate: options.rate, duration: Duration::from_secs(1) };
    let mut ended: Vec<Ended> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        crowd.play(pace, |_| {});
        for at in 0..crowd.agents().len() {
            if crowd.agents()[at].records() < RECORDS {
                continue;
            }
            let agent = crowd.begin_another(at);
            report_session_end(world, &agent);
            ended.push(Ended {
                session: agent.session().to_owned(),
                transcript: agent.path().to_owned(),
            });
            if let Some(old) = ended.len().checked_sub(TRANSCRIPTS) {
                // The file may be missing already.
                let _ = fs::remove_file(&ended[old].transcript);
            }
        }
    }
    println!("{} records", crowd.records());
    ended
}

/// Causes faults at intervals until the test ends. Returns the daemon that runs at the end.
fn disturb(world: &World, options: &SoakOptions, mut daemon: Daemon, began: Instant) -> Daemon {
    let (mut lines, mut faults, mut random) = (0, 0, Random::new(options.seed));
    let library = Library::new();
    println!("minute  memory  descriptors  database  index  home  episodes  evicted");
    while began.elapsed() < Duration::from_secs(options.minutes * 60) {
        let next = Duration::from_secs(options.fault_every) * (faults + 1);
        thread::sleep(next.saturating_sub(began.elapsed()));
        faults += 1;
        daemon = fault(world, daemon, &mut random);
        for _ in 0..20 {
            let query = library.question(&mut random);
            daemon.insist(search_sessions::NAME, &json!({ "query": query }));
        }
        if began.elapsed() >= REPORT_INTERVAL * lines {
            lines += 1;
            print_report_line(world, &daemon, began.elapsed());
        }
    }
    println!("{faults} faults");
    daemon
}

fn report_session_end(world: &World, agent: &SimulatedAgent) {
    let event = json!({
        "hook_event_name": "SessionEnd",
        "session_id": agent.session(),
        "transcript_path": agent.path(),
        "cwd": "/home/ann/app",
        "reason": "clear",
    });
    let (_, succeeded) = timed(world.command("graphiti").arg("hook"), &event.to_string());
    assert!(succeeded, "a hook failed");
}

fn configure(world: &World, timeout: usize) {
    let limits = json!({ "database_bytes": 192 << 20, "index_bytes": 48 << 20 });
    world.configure(&json!({ "limits": limits, "inactivity_timeout": timeout }));
}

fn fault(world: &World, daemon: Daemon, random: &mut Random) -> Daemon {
    match random.below(5) {
        0 => {
            daemon.kill();
            world.start()
        }
        1 => {
            daemon.stop();
            world.start()
        }
        2 => {
            daemon.signal("STOP");
            thread::sleep(STOPPED);
            daemon.signal("CONT");
            daemon
        }
        3 => {
            configure(world, DEFAULT_TIMEOUT + random.below(600));
            daemon.signal("HUP");
            daemon
        }
        _ => daemon,
    }
}

fn print_report_line(world: &World, daemon: &Daemon, elapsed: Duration) {
    let process = daemon.process();
    let health = daemon.health();
    println!(
        "{:>6.1}  {:>3.0} MB  {:>11}  {:>5.0} MB  {:>2.0} MB  {:>3.0} MB  {:>8}  {:>6}",
        elapsed.as_secs_f64() / 60.0,
        megabytes(process.resident()),
        process.descriptors(),
        megabytes(health.kept.database_bytes),
        megabytes(health.kept.index_bytes),
        megabytes(size(&world.home())),
        health.kept.episodes,
        health.evicted.episodes,
    );
}

/// Checks that every session whose hook succeeded is indexed, unless its episode was evicted.
fn check(daemon: &Daemon, ended: &[Ended], options: &SoakOptions) {
    let health = daemon.health();
    let is_missing = |at: &usize| {
        let arguments = json!({ "session_id": ended[*at].session });
        let answer = daemon.insist(get_session::NAME, &arguments).expect("the daemon runs");
        let answer: get_session::GetSessionAnswer =
            serde_json::from_value(answer).unwrap_or_default();
        answer.session.state != "indexed" || answer.session.episode.is_none()
    };
    let missing: Vec<usize> = (0..ended.len()).filter(is_missing).collect();
    println!(
        "  of {} ended sessions, without an episode: {}; evicted: {} episodes, text of {} sessions; problems: {:?}",
        ended.len(),
        missing.len(),
        health.evicted.episodes,
        health.evicted.sessions,
        health.problems
    );
    // The oldest episodes are evicted first; `health` contains their number.
    let newest = missing.last().map_or(0, |at| *at as u64 + 1);
    // The daemon evicts episodes in the order of their sessions' last activity. This order differs
    // from the order in `ended`, by at most the number of concurrent sessions.
    let limit = match health.evicted.episodes {
        0 => 0,
        evicted => evicted + options.sessions as u64,
    };
    assert!(
        newest <= limit,
        "the episode of ended session {newest} is missing, but only the first {limit} may be evicted"
    );
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of_entry = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        // The file was deleted in the meantime.
        Err(_) => 0,
    };
    entries.map(of_entry).sum()
}
