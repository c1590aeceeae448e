//! Writes messages, each with a unique word, and checks that each message is found once.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use graphiti_proto::methods::files;
use graphiti_tests::{Daemon, Wire, World};
use serde_json::{Value, json};

/// A transcript and its unique words.
pub(crate) struct ScriptedTranscript {
    pub(crate) path: PathBuf,
    pub(crate) session: String,
    pub(crate) words: Vec<String>,
}

/// How many messages and sessions are stored wrongly.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OnceReport {
    /// Number of messages that were searched.
    pub(crate) messages: usize,
    /// Number of messages that are not found.
    pub(crate) missing: usize,
    /// Number of messages that are found more than once.
    pub(crate) twice: usize,
    /// Number of sessions that do not list each of their files once.
    pub(crate) wrong_sessions: usize,
}

impl ScriptedTranscript {
    /// Creates the transcript of session `number` in `projects`, or of one of its sub-agents.
    pub(crate) fn new(
        projects: &Path,
        number: usize,
        sub_agent: Option<usize>,
    ) -> ScriptedTranscript {
        let session = format!("{number:08x}-0000-4000-8000-000000000000");
        let folder = projects.join("-work-app");
        let path = match sub_agent {
            None => folder.join(format!("{session}.jsonl")),
            Some(agent) => folder.join(format!("{session}/subagents/agent-{agent:04}.jsonl")),
        };
        fs::create_dir_all(path.parent().expect("a folder")).expect("make the folder");
        ScriptedTranscript { path, session, words: Vec::new() }
    }

    /// Whether this is the session's own transcript.
    pub(crate) fn is_own(&self) -> bool {
        self.path.file_stem().is_some_and(|name| *name == *self.session)
    }

    /// Appends a prompt with a unique word.
    pub(crate) fn append_message(&mut self) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let word = word(number);
        let record = json!({
            "parentUuid": null,
            "isSidechain": false,
            "cwd": "/work/app",
            "sessionId": self.session,
            "type": "user",
            "uuid": format!("00000000-0000-4000-8000-{number:012x}"),
            "timestamp": graphitid::clock::now().to_string(),
            "message": { "role": "user", "content": format!("Look at {word} once more") },
        });
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(&self.path)
            .expect("open the transcript");
        file.write_all(format!("{record}\n").as_bytes()).expect("write the transcript");
        self.words.push(word);
    }
}

/// Returns a unique word, which stemming does not make equal to another word.
fn word(number: u64) -> String {
    const LETTERS: &[u8; 16] = b"bcdfghjklmnpqrtv";
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16 << 16 | number & 0xffff;
    let letter = |at: u32| char::from(LETTERS[(mixed >> (4 * at) & 15) as usize]);
    (0..16).map(letter).chain("ax".chars()).collect()
}

/// Searches every message, and checks the files of each session.
pub(crate) fn search_all(daemon: &Daemon, transcripts: &[ScriptedTranscript]) -> OnceReport {
    daemon.settle();
    let mut wire = daemon.wire();
    let mut report = OnceReport::default();
    let mut files: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for transcript in transcripts {
        files.entry(&transcript.session).or_default().push(&transcript.path);
        for word in &transcript.words {
            report.messages += 1;
            match found(&mut wire, word) {
                1 => {}
                0 => {
                    println!("missing: {word} in {}", transcript.path.display());
                    report.missing += 1;
                }
                count => {
                    println!("{count} times: {word} in {}", transcript.path.display());
                    report.twice += 1;
                }
            }
        }
    }
    for (session, mut expected) in files {
        let session = wire.call("get_session", &json!({ "session_id": session }));
        let rows = session["files"].as_array().cloned().unwrap_or_default();
        let mut listed: Vec<PathBuf> = rows.iter().map(path).collect();
        listed.sort();
        expected.sort();
        report.wrong_sessions += usize::from(listed != expected);
    }
    report
}

/// Checks the daemon's own counters.
pub(crate) fn check_counters(world: &World, daemon: &Daemon, transcripts: &[ScriptedTranscript]) {
    let sessions: BTreeSet<&str> =
        transcripts.iter().map(|transcript| transcript.session.as_str()).collect();
    let health = daemon.health();
    assert_eq!(health.sessions.total, sessions.len() as u64);
    assert_eq!(
        health.kept.messages,
        transcripts.iter().map(|transcript| transcript.words.len() as u64).sum::<u64>()
    );
    assert_eq!(health.problems, [] as [String; 0], "{}", world.log());
    let checked = daemon.wire().ask(files::FILES, json!({})).expect("an answer");
    assert_eq!((&checked["twice"], &checked["behind"]), (&json!(0), &json!(0)), "{checked}");
}

fn path(row: &Value) -> PathBuf {
    row["path"].as_str().expect("a path").into()
}

/// Returns the number of messages that are found for a word.
fn found(wire: &mut Wire, word: &str) -> usize {
    let answer = wire.call("search_sessions", &json!({ "query": word }));
    let hits = answer["hits"].as_array().expect("hits").iter();
    let passages = hits.flat_map(|hit| hit["passages"].as_array().expect("passages"));
    let contains_word = |passage: &&Value| {
        passage["role"] == "user"
            && passage["text"].as_str().is_some_and(|text| text.contains(word))
    };
    passages.filter(contains_word).count()
}
