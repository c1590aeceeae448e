//! Tests recorded transcripts of most agents, and samples of the agents' newest versions, in the
//! folders where the agents keep them. Exactly one format identifies each transcript, every record
//! is read (or counted as skipped), every session gets a summary, and two daemons get the same
//! result.
//!
//! The transcripts are not part of this repository. The tests look for them in `../shared/corpus`
//! and `../shared/agents/samples` next to it, or in the folders in the environment variables
//! `GRAPHITI_CORPUS` and `GRAPHITI_AGENT_KIT`. Without transcripts, the tests check nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{Read, Seek},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use graphiti_proto::tools::{SessionRow, get_session};
use graphiti_tests::{Daemon, World, corpus};
use graphitid::capture::{
    format::{FORMATS, Identity},
    storage,
};
use serde_json::json;

use crate::transcripts::{LineCounts, assert_nothing_went_wrong, hashes_and_counts, sessions};

/// Number of bytes at the start of a file that are read to identify it.
const HEAD: u64 = 1 << 20;

#[test]
fn every_recorded_session_is_imported_completely_with_a_summary() {
    let places = places();
    if places.is_empty() {
        return;
    }
    let (world, other) = (World::new(), World::new());
    let files = copy(&places, &world, |_| 0);
    // The other daemon finds the files in the opposite order.
    copy(&places, &other, |number| number);
    let (daemon, other_daemon) = (world.start(), other.start());
    daemon.settle();
    other_daemon.settle();

    let found = sessions(&daemon);
    assert_nothing_went_wrong(&world, &daemon);
    assert_sessions_are_those_of_the_files(&files, &found);
    assert_every_record_is_accounted_for(&files, &daemon, &found);
    assert_every_session_has_a_summary(&daemon, &found);
    assert_eq!(hashes_and_counts(&found), hashes_and_counts(&sessions(&other_daemon)));

    assert!(daemon.stop().success());
    let daemon = world.start();
    daemon.settle();
    assert_eq!(daemon.health().history.done, 0, "a session was read again");
    assert_eq!(sessions(&daemon), found);
}

/// A recorded file, and where its agent keeps it in a user's home.
struct RecordedFile {
    recorded: PathBuf,
    path: PathBuf,
}

fn places() -> Vec<RecordedFile> {
    let mut places = Vec::new();
    let add = &mut |recorded: PathBuf, path: PathBuf| places.push(RecordedFile { recorded, path });
    if let Some(corpus) = corpus::folder() {
        for agent in ["codex", "copilot", "gemini", "pi"] {
            for file in all_files(&corpus.join(agent)) {
                let path = place_in_corpus(agent, &file);
                add(file, path);
            }
        }
    }
    if let Some(samples) = corpus::samples() {
        for agent in ["claude", "codex", "copilot", "gemini"] {
            let folder = samples.join(agent);
            for file in all_files(&folder) {
                let inside = file.strip_prefix(&folder).unwrap();
                if let Some(path) = place_of_sample(agent, inside) {
                    add(file, path);
                }
            }
        }
    }
    places
}

/// Returns where the agent keeps a file of the corpus. In the corpus, files are in folders of the
/// repositories that published them.
fn place_in_corpus(agent: &str, file: &Path) -> PathBuf {
    let (stem, name) = (file.file_stem().unwrap(), file.file_name().unwrap());
    let (stem, name) = (stem.to_str().unwrap(), name.to_str().unwrap());
    let folder = file.parent().unwrap().file_name().unwrap();
    match agent {
        "codex" => Path::new(".codex/sessions/2026/01/02")
            .join(format!("rollout-2026-01-02T03-04-05-{stem}.jsonl")),
        "copilot" => Path::new(".copilot/session-state").join(folder).join(name),
        "gemini" => {
            Path::new(".gemini/tmp").join(folder).join("chats").join(format!("session-{name}"))
        }
        _ => Path::new(".pi/agent/sessions/--work-app--").join(name),
    }
}

/// Returns where the agent keeps a file of a sample (each sample is a folder), or `projects.json`;
/// `None` for other files.
fn place_of_sample(agent: &str, inside: &Path) -> Option<PathBuf> {
    let mut parts = inside.components();
    let sample = Path::new(parts.next()?.as_os_str());
    let rest = parts.as_path();
    if rest.as_os_str().is_empty() {
        return inside.ends_with("projects.json").then(|| ".gemini/projects.json".into());
    }
    let codex = || Path::new(".codex/sessions/2026/11/23").join(rest);
    let gemini = || Path::new(".gemini/tmp").join(sample);
    Some(match agent {
        "claude" => Path::new("claude/projects").join(sample).join(rest),
        "codex" => codex(),
        "copilot" => Path::new(".copilot/session-state").join(rest),
        _ if rest == Path::new("project_root") => gemini().join(".project_root"),
        _ => gemini().join("chats").join(rest),
    })
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        paths.flat_map(|path| if path.is_dir() { all_files(&path) } else { vec![path] }).collect();
    files.sort();
    files
}

/// A transcript in a user's home.
struct RecordedTranscript {
    agent: &'static str,
    identity: Identity,
    records: u64,
    broken: u64,
}

/// Copies the files into the home of `world`. The file with number `n` is two days old, minus
/// `younger(n)` seconds. Returns the transcripts among the files.
fn copy(
    places: &[RecordedFile],
    world: &World,
    younger: fn(u64) -> u64,
) -> BTreeMap<PathBuf, RecordedTranscript> {
    let home = world.path("").canonicalize().unwrap();
    let two_days_ago = SystemTime::now() - Duration::from_secs(2 * 86_400);
    for (number, place) in places.iter().enumerate() {
        let path = home.join(&place.path);
        assert!(!path.exists(), "two files at {}", path.display());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, fs::read(&place.recorded).unwrap()).unwrap();
        let modified = two_days_ago + Duration::from_secs(younger(number as u64));
        fs::File::options().append(true).open(&path).unwrap().set_modified(modified).unwrap();
    }
    let paths = places.iter().map(|place| home.join(&place.path));
    paths.filter_map(|path| Some((path.clone(), RecordedTranscript::of(&path)?))).collect()
}

impl RecordedTranscript {
    /// Returns `None` for a file that no format recognises as a transcript.
    fn of(path: &Path) -> Option<RecordedTranscript> {
        let claimed = FORMATS.iter().filter(|format| format.claims(path));
        if claimed.clone().count() == 0 {
            return None;
        }
        let mut text = String::new();
        let mut transcript = storage::open(path).unwrap();
        transcript.rewind().unwrap();
        let mut bytes = Vec::new();
        transcript.read_to_end(&mut bytes).unwrap();
        text.push_str(&String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD as usize)]));
        let mut owners: Vec<(&str, Identity)> = claimed
            .filter_map(|format| Some((format.agent(), format.identify(path, &text)?)))
            .collect();
        assert!(owners.len() <= 1, "{}: {owners:?}", path.display());
        let Some((agent, identity)) = owners.pop() else {
            assert!(is_no_session(path, &text), "{} belongs to no agent", path.display());
            return None;
        };
        let lines = LineCounts::of(&bytes);
        Some(RecordedTranscript { agent, identity, records: lines.whole, broken: lines.broken })
    }
}

/// Whether a file is a journal of a workflow of Claude Code, or a file without messages that Gemini
/// CLI left.
fn is_no_session(path: &Path, text: &str) -> bool {
    path.ends_with("journal.jsonl")
        || path.iter().any(|part| part == "chats") && !text.contains("\n{\"id\":")
}

fn assert_sessions_are_those_of_the_files(
    files: &BTreeMap<PathBuf, RecordedTranscript>,
    sessions: &[SessionRow],
) {
    let wanted: BTreeSet<(&str, &str)> =
        files.values().map(|file| (file.agent, file.identity.session.as_str())).collect();
    let listed: Vec<(&str, &str)> =
        sessions.iter().map(|row| (row.agent.as_str(), row.session_id.as_str())).collect();
    let once: BTreeSet<(&str, &str)> = listed.iter().copied().collect();
    assert_eq!(once.len(), listed.len(), "a session is listed twice");
    assert_eq!(once, wanted);
}

fn assert_every_record_is_accounted_for(
    files: &BTreeMap<PathBuf, RecordedTranscript>,
    daemon: &Daemon,
    sessions: &[SessionRow],
) {
    let mut seen = BTreeMap::new();
    for session in sessions {
        let answer = daemon.call("get_session", &json!({ "session_id": session.session_id }));
        let answer: get_session::GetSessionAnswer = serde_json::from_value(answer).unwrap();
        seen.extend(answer.files.into_iter().map(|file| (PathBuf::from(&file.path), file)));
    }
    for (path, transcript) in files {
        let file = seen.get(path).unwrap_or_else(|| panic!("{} is unknown", path.display()));
        let skipped: u64 = file.skipped.values().sum();
        assert_eq!(file.read + skipped, transcript.records + file.repaired, "{file:?}");
        assert!(file.repaired + file.broken >= transcript.broken, "{file:?}");
        assert_eq!(file.repaired + file.broken == 0, transcript.broken == 0, "{file:?}");
        assert_eq!(file.sub_agent, transcript.identity.sub_agent, "{file:?}");
        assert_eq!(file.restarts, 0, "{file:?}");
        assert!(file.skipped.keys().all(|kind| !kind.is_empty()), "{file:?}");
    }
    assert_eq!(seen.len(), files.len());
}

fn assert_every_session_has_a_summary(daemon: &Daemon, sessions: &[SessionRow]) {
    for session in sessions {
        assert_eq!(session.state, "indexed", "{session:?}");
        if session.message_count == 0 {
            let text = fs::read_to_string(&session.file_path).unwrap();
            assert!(!text.contains("\"user\""), "{session:?}");
            continue;
        }
        assert!(session.episode.is_some() && !session.content_hash.is_empty(), "{session:?}");
        let shown = daemon.call("get_session", &json!({ "session_id": session.session_id }));
        let objective = shown["summary"]["objective"].as_str().unwrap_or_default();
        assert!(!objective.is_empty(), "{session:?}: {shown}");
    }
}
