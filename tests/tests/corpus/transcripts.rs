//! Checks that the real daemon reads all real transcripts completely, and always with the same
//! result.
//!
//! The transcripts are not part of this repository. The test looks for them in `../shared/corpus`,
//! or in the folder in `GRAPHITI_CORPUS`. Without transcripts, it checks nothing.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use graphiti_proto::tools::{
    SessionRow, get_session,
    list_sessions::{self, ListSessionsAnswer},
};
use graphiti_tests::{Daemon, World, corpus};
use serde_json::{json, value::RawValue};

#[test]
fn a_history_is_imported_completely_with_the_same_result_each_time() {
    let Some(corpus) = corpus::claude() else { return };
    let (world, other) = (World::new(), World::new());
    let files = copy(&corpus, &world, |_| 0);
    // The other daemon finds the files in the opposite order.
    copy(&corpus, &other, |number| number);
    let (daemon, other_daemon) = (world.start(), other.start());
    daemon.settle();
    other_daemon.settle();

    let found = sessions(&daemon);
    assert_nothing_went_wrong(&world, &daemon);
    assert_every_line_is_accounted_for(&files, &daemon, &found);
    assert_every_session_has_its_episode(&found);

    let other_found = sessions(&other_daemon);
    assert_nothing_went_wrong(&other, &other_daemon);
    assert_eq!(hashes_and_counts(&found), hashes_and_counts(&other_found));

    let episodes = daemon.health().kept.episodes;
    assert!(daemon.stop().success());
    let daemon = world.start();
    daemon.settle();
    let health = daemon.health();
    assert_eq!((health.history.bytes_read, health.history.done), (0, 0));
    assert_eq!(health.kept.episodes, episodes);
    assert_eq!(sessions(&daemon), found);
}

/// The number of lines of a file, counted without knowledge of its format.
#[derive(Debug, Default)]
pub(crate) struct LineCounts {
    /// Lines that are one JSON object.
    pub(crate) whole: u64,
    /// Other lines that are not empty.
    pub(crate) broken: u64,
}

/// Copies the corpus to the transcript folder of `world`. The file with number `n` is two days old,
/// minus `younger(n)` seconds. Returns the number of lines of each file.
fn copy(corpus: &Path, world: &World, younger: fn(u64) -> u64) -> BTreeMap<PathBuf, LineCounts> {
    let projects = world.projects().canonicalize().unwrap();
    let two_days_ago = SystemTime::now() - Duration::from_secs(2 * 86_400);
    let mut files = BTreeMap::new();
    let mut folders = vec![corpus.to_owned()];
    while let Some(folder) = folders.pop() {
        let target = projects.join(folder.strip_prefix(corpus).unwrap());
        fs::create_dir_all(&target).unwrap();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let copied = target.join(path.file_name().unwrap());
            let content = fs::read(&path).unwrap();
            fs::write(&copied, &content).unwrap();
            let modified = two_days_ago + Duration::from_secs(younger(files.len() as u64));
            fs::File::options().append(true).open(&copied).unwrap().set_modified(modified).unwrap();
            files.insert(copied, LineCounts::of(&content));
        }
    }
    files
}

impl LineCounts {
    pub(crate) fn of(content: &[u8]) -> LineCounts {
        let mut lines = LineCounts::default();
        let mut pieces: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
        // The last piece is empty, or a line that may be incomplete.
        let last = pieces.pop().unwrap_or_default();
        for line in pieces {
            match is_object(line) {
                Some(true) => lines.whole += 1,
                Some(false) => lines.broken += 1,
                None => {}
            }
        }
        lines.whole += u64::from(is_object(last) == Some(true));
        lines
    }
}

/// Whether a line is one JSON object; `None` for an empty line.
fn is_object(line: &[u8]) -> Option<bool> {
    let Ok(text) = std::str::from_utf8(line) else { return Some(false) };
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    if text.is_empty() {
        return None;
    }
    Some(text.starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok())
}

pub(crate) fn sessions(daemon: &Daemon) -> Vec<SessionRow> {
    let arguments =
        list_sessions::ListSessionsArguments { empty: true, limit: 10_000, ..Default::default() };
    let answer = daemon.call(list_sessions::NAME, &serde_json::to_value(arguments).unwrap());
    let answer: ListSessionsAnswer = serde_json::from_value(answer).unwrap();
    assert_eq!(answer.total, answer.sessions.len());
    answer.sessions
}

pub(crate) fn assert_nothing_went_wrong(world: &World, daemon: &Daemon) {
    assert_eq!(daemon.health().problems, [""; 0]);
    let log = world.log();
    assert!(!log.contains("panicked"), "{log}");
}

/// Checks that each line with a record was read or skipped by its type, and that each other line
/// was repaired or counted as broken.
fn assert_every_line_is_accounted_for(
    files: &BTreeMap<PathBuf, LineCounts>,
    daemon: &Daemon,
    sessions: &[SessionRow],
) {
    let mut seen = BTreeMap::new();
    for session in sessions {
        let answer = daemon.call("get_session", &json!({ "session_id": session.session_id }));
        let answer: get_session::GetSessionAnswer = serde_json::from_value(answer).unwrap();
        assert_eq!(answer.session.session_id, session.session_id);
        seen.extend(answer.files.into_iter().map(|file| (PathBuf::from(&file.path), file)));
    }
    for (path, lines) in files {
        let is_transcript = path.extension().is_some_and(|extension| extension == "jsonl");
        if !is_transcript || fs::metadata(path).unwrap().len() == 0 {
            assert!(!seen.contains_key(path), "{}", path.display());
            continue;
        }
        let file = seen.get(path).unwrap_or_else(|| panic!("{} is unknown", path.display()));
        let skipped: u64 = file.skipped.values().sum();
        let what = format!("{lines:?} in {file:?}");
        assert_eq!(file.read + skipped, lines.whole + file.repaired, "{what}");
        assert!(file.repaired + file.broken >= lines.broken, "{what}");
        assert_eq!(file.repaired + file.broken == 0, lines.broken == 0, "{what}");
        assert_eq!(file.restarts, 0, "{what}");
    }
}

fn assert_every_session_has_its_episode(sessions: &[SessionRow]) {
    assert!(!sessions.is_empty());
    for session in sessions {
        let has_messages = session.message_count > 0;
        assert_eq!(session.episode.is_some(), has_messages, "{session:?}");
        assert_eq!(!session.content_hash.is_empty(), has_messages, "{session:?}");
        assert_eq!(session.state, "indexed", "{session:?}");
    }
}

/// Returns the content hash and the number of messages of each session, by its id.
pub(crate) fn hashes_and_counts(sessions: &[SessionRow]) -> BTreeMap<&str, (&str, u32)> {
    let mut hashes_and_counts = BTreeMap::new();
    for session in sessions {
        hashes_and_counts
            .insert(&*session.session_id, (&*session.content_hash, session.message_count));
    }
    hashes_and_counts
}
