//! Measures how the daemon follows many sessions that are written concurrently.

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use graphiti_proto::tools::get_session;
use graphiti_tests::{Wire, World, times::Times};
use serde_json::{Value, json};

use crate::{
    Played, megabytes,
    play::{Crowd, SimulatedAgent},
};

/// Interval between two records whose delay is measured.
const PROBE_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum number of records whose delay is measured at one time.
const MAX_PROBES: usize = 4;
/// Interval between two requests that check whether the daemon has read a record.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// A record that was just written; it is number `records` of its session.
struct Probe {
    session: String,
    records: u64,
    written: Instant,
}

pub(crate) fn run(played: &Played) {
    let world = World::new();
    let daemon = world.start();
    daemon.settle();
    let mut crowd = Crowd::new(&world.projects(), played.sessions, played.material());
    let (probes, waiting) = mpsc::sync_channel::<Probe>(0);
    let waiting = Arc::new(Mutex::new(waiting));
    let lags: Vec<thread::JoinHandle<Vec<Duration>>> = (0..MAX_PROBES)
        .map(|_| {
            let (mut wire, waiting) = (daemon.wire(), waiting.clone());
            thread::spawn(move || measure(&mut wire, &waiting))
        })
        .collect();
    let process = daemon.process();
    let (began, spent) = (Instant::now(), process.processor_time());
    let (mut last, mut skipped) = (Instant::now(), 0);
    let behind = crowd.play(played.pace(), |agent: &SimulatedAgent| {
        if last.elapsed() < PROBE_INTERVAL {
            return;
        }
        last = Instant::now();
        let session = agent.session().to_owned();
        let probe = Probe { session, records: agent.records(), written: last };
        skipped += usize::from(probes.try_send(probe).is_err());
    });
    drop(probes);
    let lags = lags.into_iter().flat_map(|thread| thread.join().expect("no thread panicked"));
    let lags = Times::of(lags.collect());
    daemon.settle();
    let spent = process.processor_time() - spent;
    let share = spent.as_secs_f64() / began.elapsed().as_secs_f64();

    let mut wire = daemon.wire();
    let missed = crowd
        .played()
        .map(|agent| agent.records().abs_diff(count_read(&mut wire, agent.session())));
    let missed: u64 = missed.sum();
    println!(
        "{} sessions, {} records a second for {} s: {} records, {:.0} MB, written at most {behind:.0?} late",
        played.sessions,
        played.rate,
        played.seconds,
        crowd.records(),
        megabytes(crowd.bytes()),
    );
    println!("  missed: {missed}");
    println!(
        "  from written to read: {} ({} measured; {skipped} skipped, because {MAX_PROBES} others were being measured)",
        lags.to_text(),
        lags.count()
    );
    println!(
        "  daemon: {:.0} % of a core, {:.0} MB at its peak, {:.0} MB now",
        share * 100.0,
        megabytes(process.peak()),
        megabytes(process.resident())
    );
    assert_eq!(missed, 0, "records were missed");
}

/// Returns, for each record, the time from its writing until the daemon has read it.
fn measure(wire: &mut Wire, probes: &Mutex<Receiver<Probe>>) -> Vec<Duration> {
    let mut lags = Vec::new();
    loop {
        let probe = probes.lock().expect("no thread panicked").recv();
        let Ok(probe) = probe else { return lags };
        while count_read(wire, &probe.session) < probe.records {
            thread::sleep(POLL_INTERVAL);
        }
        lags.push(probe.written.elapsed());
    }
}

/// Returns the number of records of the session's own file that the daemon has read, stored or not.
fn count_read(wire: &mut Wire, session: &str) -> u64 {
    let params = json!({ "name": get_session::NAME, "arguments": { "session_id": session } });
    let answer = wire.ask("tools/call", params).expect("the tool exists and accepts the arguments");
    // The session does not exist before its first record is read.
    let answer: Value = answer["structuredContent"].clone();
    let answer: get_session::GetSessionAnswer = serde_json::from_value(answer).unwrap_or_default();
    let own = answer.files.iter().filter(|file| file.sub_agent.is_none());
    let of_file = |file: &get_session::FileRow| {
        file.read + file.skipped.values().sum::<u64>() + file.repaired + file.broken
    };
    own.map(of_file).sum()
}
