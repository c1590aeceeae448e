//! The cost of a large database.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{
    fixture::{Running, tool},
    records,
};
use crate::{
    database::{DatabaseScanner, Extent},
    storage,
};

const SESSIONS: usize = 1_000;
/// Number of turns of each short session. A turn has about 5 kB.
const TURNS: usize = 20;
/// Number of turns of the long session.
const LONG: usize = 4_000;

#[test]
#[ignore = "creates a database of more than 100 MB; run it in release mode to print the figures"]
#[expect(clippy::print_stdout, reason = "the test prints figures")]
fn the_cost_of_reading_a_large_database_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.connection.execute_batch("BEGIN").unwrap();
    for session in 0..SESSIONS {
        fill(&mut running, &format!("ses_{session:04}"), TURNS);
    }
    fill(&mut running, "ses_long", LONG);
    running.connection.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let bytes = fs::metadata(&running.path).unwrap().len();
    let before = peak_memory();
    let mut scanner = DatabaseScanner::default();
    let mut now = Instant::now();
    let mut scan = |running: &Running, extent| {
        now += Duration::from_secs(60);
        let began = Instant::now();
        let changed = scanner.changed(&running.path, extent, now).len();
        (changed, began.elapsed())
    };
    println!("database: {} MB", bytes >> 20);
    println!("first scan: {:?}", scan(&running, Extent::All));
    running.user("ses_0500", "msg_new", "More");
    println!("scan after a write: {:?}", scan(&running, Extent::New));
    running.user("ses_0600", "msg_new2", "More");
    println!("scan of all sessions: {:?}", scan(&running, Extent::All));
    for session in ["ses_0500", "ses_long"] {
        let path = running.session_path(session);
        println!("stamp of {session}: {:?}", timed(&path, |path| storage::stamp(path).is_ok()));
        println!("records of {session}: {:?}", timed(&path, |path| records(path).len()));
    }
    println!("increase of the peak memory: {} MB", (peak_memory() - before) >> 10);
}

fn timed<T>(path: &Path, run: impl Fn(&Path) -> T) -> (T, Duration) {
    let began = Instant::now();
    (run(path), began.elapsed())
}

fn fill(running: &mut Running, session: &str, turns: usize) {
    running.session(session, None);
    for turn in 0..turns {
        let (user, answer) =
            (format!("msg_{session}{turn:05}a"), format!("msg_{session}{turn:05}b"));
        running.user(session, &user, "Make the next test pass");
        running.answer(session, &answer, Some(1));
        let output =
            json!({ "output": "a line of output\n".repeat(280), "metadata": { "exit": 0 } });
        let call = tool("bash", "completed", json!({ "command": "make" }), output);
        running.part(session, &answer, &format!("prt_{answer}"), call);
    }
}

/// Returns the peak of this process's memory, in kB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse().ok()).unwrap_or_default()
}
