//! Tests which sessions of a database are reported as changed.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::json;

use super::fixture::{Running, tool};
use crate::database::{DatabaseScanner, Extent};

/// A scanner whose clock advances by a minute with each scan.
struct Scanner {
    scanner: DatabaseScanner,
    database: PathBuf,
    now: Instant,
}

impl Scanner {
    fn new(database: &Path) -> Scanner {
        let (scanner, now) = (DatabaseScanner::default(), Instant::now());
        Scanner { scanner, database: database.to_owned(), now }
    }

    /// Returns the ids of the reported sessions.
    fn scan(&mut self, extent: Extent) -> Vec<String> {
        self.now += Duration::from_secs(60);
        let changed = self.scanner.changed(&self.database, extent, self.now);
        let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        changed.into_iter().map(name).collect()
    }
}

#[test]
fn sessions_are_reported_when_they_have_more_records() {
    for has_version_2 in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut running = Running::version_1(folder.path());
        if has_version_2 {
            running.add_version_2();
        }
        for session in 0..100 {
            running.session(&format!("ses_{session:03}"), None);
            running.user(&format!("ses_{session:03}"), &format!("msg_{session:03}"), "Go");
        }
        let mut scanner = Scanner::new(&running.path);
        let all = scanner.scan(Extent::New);
        assert_eq!((all.len(), all[0].as_str()), (100, "ses_099"), "the newest session is first");
        assert_eq!(scanner.scan(Extent::New), [] as [&str; 0]);
        running.answer("ses_007", "msg_b", None);
        assert_eq!(scanner.scan(Extent::New), ["ses_007"]);
        // The changes of a part are made in the same row.
        let call = |status| tool("bash", status, json!({ "command": "make" }), json!({}));
        running.part("ses_007", "msg_b", "prt_b", call("pending"));
        assert_eq!(scanner.scan(Extent::New), ["ses_007"]);
        running.part("ses_007", "msg_b", "prt_b", call("running"));
        assert_eq!(scanner.scan(Extent::New), ["ses_007"]);
        running.part("ses_007", "msg_b", "prt_b", call("running"));
        assert_eq!(scanner.scan(Extent::New), [] as [&str; 0]);
        running.session("ses_new", None);
        running.delete("session", "ses_050");
        assert_eq!(scanner.scan(Extent::New), ["ses_new", "ses_050"]);
        // A change without a new row, in a session that has not changed for a long time, is
        // reported only by a scan of all sessions.
        running.title("session", "ses_020", "Another title");
        assert_eq!(scanner.scan(Extent::New), [] as [&str; 0]);
        running.user("ses_007", "msg_c", "More");
        assert_eq!(scanner.scan(Extent::All), ["ses_007", "ses_020"]);
    }
}

#[test]
fn a_time_that_is_not_an_integer_does_not_hide_other_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    for session in ["ses_1", "ses_2", "ses_3"] {
        running.session(session, None);
        running.user(session, &format!("msg_{session}"), "Go");
    }
    for (session, time) in [("ses_1", json!(1_795_000_000_005.5)), ("ses_2", json!("later"))] {
        let data = json!({ "role": "assistant", "time": { "created": 1, "completed": time } });
        running.message(session, &format!("msg_odd_{session}"), data);
    }
    let mut reported = Scanner::new(&running.path).scan(Extent::All);
    reported.sort();
    assert_eq!(reported, ["ses_1", "ses_2", "ses_3"]);
}

#[test]
fn the_sessions_of_a_deleted_database_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session("ses_1", None);
    let mut scanner = Scanner::new(&running.path);
    assert_eq!(scanner.scan(Extent::All), ["ses_1"]);
    running.connection.close().unwrap();
    std::fs::remove_file(&running.path).unwrap();
    assert_eq!(scanner.scanner.gone(), [running.path.join("ses_1")]);
    assert_eq!(scanner.scan(Extent::All), [] as [&str; 0]);
}

#[test]
fn an_unreadable_database_is_reported_but_its_sessions_are_not_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session("ses_1", None);
    let mut scanner = Scanner::new(&running.path);
    assert_eq!(scanner.scan(Extent::All), ["ses_1"]);
    running.connection.execute_batch("ALTER TABLE part RENAME TO part_v9").unwrap();
    assert_eq!(scanner.scan(Extent::All), ["opencode.db"]);
    running.connection.execute_batch("ALTER TABLE part_v9 RENAME TO part").unwrap();
    assert_eq!(scanner.scan(Extent::All), [] as [&str; 0]);
}

#[test]
fn reads_of_a_busy_database_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session("ses_1", None);
    let mut scanner = DatabaseScanner::default();
    let now = Instant::now();
    assert_eq!(scanner.changed(&running.path, Extent::New, now).len(), 1);
    running.user("ses_1", "msg_1", "Go");
    assert!(scanner.changed(&running.path, Extent::New, now).is_empty());
    assert_eq!(scanner.pending(), [running.path.clone()]);
    let wait = scanner.until_next(now).unwrap();
    assert!(wait >= Duration::from_millis(100));
    assert_eq!(scanner.changed(&running.path, Extent::New, now + wait).len(), 1);
    assert_eq!(scanner.until_next(now), None);
}
