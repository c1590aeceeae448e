//! Reads the sessions of one half of the corpus.

use std::{
    fs,
    path::{Path, PathBuf},
};

use graphiti_tests::corpus::{self, Half};
use serde_json::Value;

pub(crate) struct RecordedSession {
    pub(crate) path: PathBuf,
    /// The id that the agent assigned to the session.
    pub(crate) id: String,
    /// The directory of the session.
    pub(crate) project: String,
    /// The time of the first record.
    pub(crate) started_at: String,
    /// The prompts of the user, each with its line.
    pub(crate) prompts: Vec<PromptLine>,
    /// The last text of the agent.
    pub(crate) last_words: String,
}

pub(crate) struct PromptLine {
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// Returns the sessions of one half, the earliest first.
pub(crate) fn of_half(corpus: &Path, half: Half) -> Vec<RecordedSession> {
    let files = corpus::transcripts(corpus).into_iter();
    let files = files.filter(|path| !path.components().any(|part| part.as_os_str() == "subagents"));
    let mut sessions: Vec<RecordedSession> =
        files.filter(|path| Half::of(path) == half).filter_map(|path| read(&path)).collect();
    sessions.sort_by(|one, other| one.started_at.cmp(&other.started_at));
    sessions
}

/// Reads a session; returns `None` for a file without a session id or without prompts.
fn read(path: &Path) -> Option<RecordedSession> {
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut session = RecordedSession {
        path: path.to_owned(),
        id: String::new(),
        project: String::new(),
        started_at: String::new(),
        prompts: Vec::new(),
        last_words: String::new(),
    };
    for (line, record) in (1..).zip(text.lines()) {
        let Ok(record) = serde_json::from_str::<Value>(record) else { continue };
        let first = |known: &mut String, name: &str| {
            if known.is_empty() {
                *known = record[name].as_str().unwrap_or_default().to_owned();
            }
        };
        first(&mut session.id, "sessionId");
        first(&mut session.project, "cwd");
        first(&mut session.started_at, "timestamp");
        let is_aside = record["isMeta"] == true || record["isSidechain"] == true;
        let words = text_of(&record["message"]["content"]);
        match record["type"].as_str() {
            Some("user") if !is_aside && !words.is_empty() && !words.starts_with('<') => {
                session.prompts.push(PromptLine { line, text: words });
            }
            Some("assistant") if !is_aside && !words.is_empty() => session.last_words = words,
            _ => {}
        }
    }
    (!session.id.is_empty() && !session.prompts.is_empty()).then_some(session)
}

/// Returns the text of a message, without calls of tools and their results.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n").trim().to_owned()
        }
        _ => String::new(),
    }
}

/// Copies sessions into the folder of the agent.
pub(crate) fn install<'s>(sessions: impl Iterator<Item = &'s RecordedSession>, projects: &Path) {
    for session in sessions {
        let slug = session.project.chars();
        let slug: String = slug.map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let folder = projects.join(slug);
        fs::create_dir_all(&folder).expect("make the folder of a project");
        // The daemon takes the id of a session from the name of its file.
        let name = session.path.file_name().expect("a transcript has a name");
        fs::copy(&session.path, folder.join(name)).expect("copy a transcript");
    }
}
