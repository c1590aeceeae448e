//! Tests in which other processes write, lock, damage or delete the database and the folder.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use rusqlite::Connection;
use serde_json::json;

use super::{entries, fixture::Running, records};
use crate::{
    format::{Format, opencode::Opencode},
    storage,
    tail::{FileCursor, Resumed, Tail, TailLine},
};

const SESSION: &str = "ses_1";

#[test]
fn new_records_are_read_while_opencode_writes() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session(SESSION, None);
    let path = running.session_path(SESSION);
    let mut cursor = FileCursor::default();
    assert_eq!(new_record_types(&path, &mut cursor), ["session"]);
    for turn in 0..5 {
        running.user(SESSION, &format!("msg_{turn}a"), "Go on");
        assert_eq!(new_record_types(&path, &mut cursor), ["user", "text"]);
        // This write is not committed yet.
        running.connection.execute_batch("BEGIN").unwrap();
        running.answer(SESSION, &format!("msg_{turn}b"), Some(1));
        assert_eq!(new_record_types(&path, &mut cursor), [] as [&str; 0]);
        running.connection.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        assert_eq!(new_record_types(&path, &mut cursor), ["assistant", "end"]);
    }
    assert_eq!(cursor.line, 21);
}

/// Rows that opencode does not change any more are not read again, so that the cost of a new record
/// does not grow with the session.
#[test]
fn only_the_last_rows_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.add_version_2();
    running.session(SESSION, None);
    running.session_2("ses_2", None);
    for turn in 10..30 {
        running.user(SESSION, &format!("msg_{turn}a"), "Go on");
        running.answer(SESSION, &format!("msg_{turn}b"), Some(1));
        running.row("ses_2", turn, "user", json!({ "text": "Go on" }));
    }
    let paths = [SESSION, "ses_2"].map(|session| running.session_path(session));
    let mut cursors = [FileCursor::default(), FileCursor::default()];
    for (path, cursor) in paths.iter().zip(&mut cursors) {
        new_record_types(path, cursor);
    }
    let damage = "UPDATE message SET data = 'x' WHERE id < 'msg_25'; \
         UPDATE session_message SET data = 'x' WHERE seq < 25";
    running.connection.execute_batch(damage).unwrap();
    for number in 30..33 {
        running.user(SESSION, &format!("msg_{number}"), "More");
        running.row("ses_2", number, "user", json!({ "text": "More" }));
        assert_eq!(new_record_types(&paths[0], &mut cursors[0]), ["user", "text"]);
        assert_eq!(new_record_types(&paths[1], &mut cursors[1]), ["text"]);
    }
    let head = storage::open_head(&paths[0], 200).unwrap().length().unwrap();
    assert!((200..400).contains(&head), "{head} bytes are read to identify the session");
    // A deleted row means that the session is read again from its start.
    running.delete("message", "msg_12a");
    assert_eq!(Tail::open(&paths[0], &cursors[0]).unwrap().1, Resumed::FromStart);
}

/// Returns the types of the records after the cursor, and moves the cursor to the end.
fn new_record_types(path: &Path, cursor: &mut FileCursor) -> Vec<String> {
    let (mut tail, resumed) = Tail::open(path, cursor).unwrap();
    assert_eq!(resumed, Resumed::Continued);
    let mut kinds = Vec::new();
    while let Some(TailLine::Whole(line)) = tail.next_line(&|_| true).unwrap() {
        let record: serde_json::Value = serde_json::from_slice(line).unwrap();
        kinds.push(record["type"].as_str().unwrap().to_owned());
    }
    // The cursor is saved as JSON between two readings.
    let kept = serde_json::to_string(&tail.mark()).unwrap();
    *cursor = serde_json::from_str(&kept).unwrap();
    kinds
}

#[test]
fn after_messages_are_withdrawn_the_session_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session(SESSION, None);
    running.user(SESSION, "msg_1", "First");
    running.user(SESSION, "msg_2", "Taken back");
    let path = running.session_path(SESSION);
    let mut cursor = FileCursor::default();
    new_record_types(&path, &mut cursor);
    running.delete("message", "msg_2");
    running.user(SESSION, "msg_3", "In place of it");
    assert_eq!(Tail::open(&path, &cursor).unwrap().1, Resumed::FromStart);
}

#[test]
fn reading_leaves_no_files_and_changes_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session(SESSION, None);
    let path = running.session_path(SESSION);
    let database = running.path.clone();
    let with_log = names(folder.path());
    records(&path);
    assert_eq!(names(folder.path()), with_log, "opencode runs");
    running.connection.close().unwrap();
    assert_eq!(names(folder.path()), ["opencode.db"]);
    let before = fs::read(&database).unwrap();
    records(&path);
    assert_eq!(names(folder.path()), ["opencode.db"], "opencode does not run");
    assert_eq!(fs::read(&database).unwrap(), before);
}

#[test]
fn the_log_of_a_killed_opencode_is_read_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session(SESSION, None);
    running.user(SESSION, "msg_1", "The last words");
    for name in ["opencode.db", "opencode.db-wal"] {
        fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    let log = copy.path().join("opencode.db-wal");
    let before = fs::read(&log).unwrap();
    assert!(records(&copy.path().join("opencode.db").join(SESSION)).contains("The last words"));
    assert_eq!(fs::read(&log).unwrap(), before);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_deleted_session_and_a_deleted_database_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session(SESSION, None);
    running.user(SESSION, "msg_1", "Go");
    let path = running.session_path(SESSION);
    assert!(storage::stamp(&path).is_ok());
    running.delete("session", SESSION);
    assert_eq!(errors(&path), [ErrorKind::NotFound; 2]);
    running.connection.close().unwrap();
    fs::remove_file(folder.path().join("opencode.db")).unwrap();
    assert_eq!(errors(&path), [ErrorKind::NotFound; 2]);
}

#[test]
fn a_locked_database_is_a_temporary_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session(SESSION, None);
    let path = running.session_path(SESSION);
    running.connection.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE").unwrap();
    assert_eq!(errors(&path), [ErrorKind::WouldBlock; 2]);
    running.connection.execute_batch("COMMIT").unwrap();
    assert!(storage::stamp(&path).is_ok());
}

#[test]
fn a_damaged_or_unknown_database_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("opencode.db");
    let path = database.join(SESSION);
    fs::write(&database, "no database ".repeat(1_000)).unwrap();
    assert_eq!(errors(&path), [ErrorKind::InvalidData; 2]);
    fs::remove_file(&database).unwrap();
    let connection = Connection::open(&database).unwrap();
    connection.execute_batch("CREATE TABLE session_v9 (id text)").unwrap();
    assert_eq!(errors(&path), [ErrorKind::InvalidData; 2]);
    let error = storage::stamp(&path).unwrap_err().to_string();
    assert!(error.contains("session_v9"), "{error}");
}

#[test]
fn damaged_pages_cause_an_error_or_other_records() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::version_1(folder.path());
    running.session(SESSION, None);
    for turn in 0..200 {
        running.user(SESSION, &format!("msg_{turn:03}"), &"words ".repeat(100));
    }
    running.connection.close().unwrap();
    let database = folder.path().join("opencode.db");
    let whole = fs::read(&database).unwrap();
    for page in 0..whole.len() / 4_096 {
        let mut damaged = whole.clone();
        damaged[page * 4_096 + 100..(page + 1) * 4_096].fill(0xA5);
        fs::write(&database, damaged).unwrap();
        // Whether reading fails depends on the page. It must neither panic nor hang.
        let _ = storage::open(&database.join(SESSION));
        let _ = storage::stamp(&database.join(SESSION));
    }
}

fn errors(path: &Path) -> [ErrorKind; 2] {
    let opened = storage::open(path).err().expect("an error");
    [opened.kind(), storage::stamp(path).unwrap_err().kind()]
}

#[test]
fn a_session_of_the_old_folder_is_read_until_the_database_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let storage_folder = folder.path().join("storage");
    let file = storage_folder.join("session/project/ses_1.json");
    let session = json!({ "id": SESSION, "directory": "/home/dev/proj", "title": "A title",
        "version": "0.9.0", "time": { "created": 1, "updated": 2 } });
    write(&file, &session).unwrap();
    let message = |id: &str| storage_folder.join(format!("message/ses_1/{id}.json"));
    let part = |id: &str| storage_folder.join(format!("part/{id}/prt_{id}.json"));
    write(&message("msg_1"), &json!({ "role": "user", "time": { "created": 1 } })).unwrap();
    write(&part("msg_1"), &json!({ "type": "text", "text": "An old prompt" })).unwrap();
    write(&message("msg_2"), &json!({ "role": "assistant", "time": { "created": 1 } })).unwrap();
    let unfinished = json!({ "type": "text", "text": "An old reply", "time": { "start": 1 } });
    write(&part("msg_2"), &unfinished).unwrap();
    assert!(Opencode.claims(&file));
    assert_eq!(Opencode.identify(&file, &records(&file)).unwrap().session, SESSION);
    assert_eq!(
        entries(&file)[1..],
        ["prompt: An old prompt", "reply: An old reply", "title: A title"]
    );
    let mut running = Running::version_1(folder.path());
    assert!(storage::stamp(&file).is_ok());
    running.session(SESSION, None);
    assert_eq!(errors(&file), [ErrorKind::NotFound; 2]);
    let in_database = running.session_path(SESSION);
    assert_eq!(Opencode.other_paths(&file), std::slice::from_ref(&in_database));
    assert_eq!(Opencode.other_paths(&in_database), [file]);
}

/// Writes JSON as opencode does, on several lines.
fn write(path: &PathBuf, value: &serde_json::Value) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap())?;
    fs::write(path, serde_json::to_string_pretty(value)?)
}

#[test]
fn other_files_are_not_claimed() {
    for path in [
        "/home/dev/.local/share/opencode/auth.json",
        "/home/dev/.local/share/opencode/opencode.db-wal",
        "/home/dev/.local/share/opencode/storage/session_diff/ses_1.json",
        "/home/dev/.local/share/opencode/storage/part/msg_1/prt_1.json",
        "/home/dev/opencode.db/other",
        "/home/dev/ses_1.json",
    ] {
        assert!(!Opencode.claims(Path::new(path)), "{path}");
    }
}
