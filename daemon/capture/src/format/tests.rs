//! Helpers for the tests of several formats, and tests of all formats.

mod pieces;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    content_hash::Hasher,
    filter::{Filter, PendingCalls},
    format::{FORMATS, Format, Memory, RecordVerdict},
    model::{
        ContentHash,
        transcript::{Action, Entry, Item},
    },
    salvage,
    store::Tally,
};

/// Reads records and returns each item as a line.
pub(crate) fn items(format: &dyn Format, records: &[Value]) -> Vec<String> {
    let records: Vec<String> = records.iter().map(Value::to_string).collect();
    items_of(format, &records.join("\n"))
}

/// Reads the lines of a file and returns each item as a line.
pub(crate) fn items_of(format: &dyn Format, text: &str) -> Vec<String> {
    let mut memory = Memory::default();
    let mut items = Vec::new();
    for line in text.lines() {
        let mut emit = |entry: Entry<'_>| items.push(shown(&entry));
        format.read(line, &mut memory, &mut emit).unwrap();
    }
    items
}

/// Returns the verdict on one record.
pub(crate) fn verdict(format: &dyn Format, record: &Value) -> RecordVerdict {
    format.read(&record.to_string(), &mut Memory::default(), &mut |_| {}).unwrap()
}

fn shown(entry: &Entry<'_>) -> String {
    let who = entry.sub_agent.as_ref().map(|agent| format!("{agent} ")).unwrap_or_default();
    let item = match &entry.item {
        Item::Prompt(text) => format!("prompt: {text}"),
        Item::Command { name, args } => format!("command: {name} {args}"),
        Item::Instruction(text) => format!("instruction: {text}"),
        Item::Reply { text, .. } => format!("reply: {text}"),
        Item::Call(call) => match &call.action {
            Action::Other => format!("call {}: {}", call.id, call.tool),
            action => format!("call {}: {} {action:?}", call.id, call.tool),
        },
        Item::Result(result) => {
            let content = result.content.decode(200);
            format!("result {}: {:?} {content}", result.call, result.outcome).trim_end().to_owned()
        }
        Item::Answer { question, answer, .. } => format!("answer: {question} {answer}"),
        Item::Usage { tokens, .. } => format!(
            "tokens: {} {} {} {}",
            tokens.input, tokens.output, tokens.cache_read, tokens.cache_write
        ),
        Item::Context(context) => {
            let parts = [&context.cwd, &context.branch, &context.version, &context.model];
            let parts: Vec<&str> = parts.into_iter().flatten().map(AsRef::as_ref).collect();
            format!("context: {}", parts.join(" "))
        }
        other => format!("{other:?}"),
    };
    format!("{who}{item}")
}

#[test]
fn each_format_identifies_only_its_own_files() {
    let id = "3f0c1a52-9f5e-4a58-8a44-6f0b8f6f9d11";
    let files = [
        (
            "claude",
            format!("/h/.claude/projects/-p/{id}.jsonl"),
            r#"{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","content":"hi"}}"#,
        ),
        (
            "copilot",
            format!("/h/.copilot/session-state/{id}/events.jsonl"),
            r#"{"type":"session.start","data":{"sessionId":"s"},"id":"a","timestamp":"2026-01-01T00:00:00Z"}"#,
        ),
        (
            "pi",
            format!("/h/.pi/agent/sessions/--p--/2026_{id}.jsonl"),
            r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/p"}"#,
        ),
        (
            "cursor",
            format!("/h/.cursor/projects/p/agent-transcripts/{id}/{id}.jsonl"),
            r#"{"role":"user","message":{"content":[{"type":"text","text":"hi"}]}}"#,
        ),
    ];
    for (agent, path, head) in &files {
        let path = Path::new(path);
        let owners =
            FORMATS.iter().filter(|one| one.claims(path) && one.identify(path, head).is_some());
        let owners: Vec<&str> = owners.map(|one| one.agent()).collect();
        assert_eq!(owners, [*agent], "{path:?}");
    }
}

/// Reads the recorded transcripts in `GRAPHITI_CORPUS/<agent>`.
#[test]
fn recorded_transcripts_are_read_completely_and_repeatably() {
    let Some(corpus) = std::env::var_os("GRAPHITI_CORPUS").map(PathBuf::from) else { return };
    for format in FORMATS {
        let files = files(&corpus.join(format.agent()));
        let identified = files.iter().filter(|path| check(*format, path)).count();
        assert!(identified > 0 || files.is_empty(), "no transcript of {}", format.agent());
    }
}

/// Checks the reading of a file. Returns whether the file is a transcript of any agent.
fn check(format: &dyn Format, path: &Path) -> bool {
    let bytes = fs::read(path).unwrap();
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(64 << 10)]);
    let is_owner = |one: &&&dyn Format| one.claims(path) && one.identify(path, &head).is_some();
    let owners: Vec<&str> = FORMATS.iter().filter(is_owner).map(|one| one.agent()).collect();
    if owners.is_empty() {
        return false;
    }
    assert_eq!(owners, [format.agent()], "{}", path.display());
    let (tally, hash) = read(format, &bytes);
    assert_eq!(read(format, &bytes), (tally.clone(), hash), "{}", path.display());
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    let skipped: u64 = tally.skipped.values().sum();
    assert!(tally.read + skipped + tally.broken >= lines as u64, "{}", path.display());
    true
}

/// Reads all lines of a file, and returns the tally and the hash of the text that is kept.
fn read(format: &dyn Format, bytes: &[u8]) -> (Tally, Option<ContentHash>) {
    let (mut memory, mut tally) = (Memory::default(), Tally::default());
    let (mut waiting, mut hasher) = (PendingCalls::default(), Hasher::default());
    for line in bytes.split(|byte| *byte == b'\n') {
        salvage::read_line(format, line, &mut memory, &mut tally, &mut |entry| {
            if let Some(kept) = Filter::default().keep(&entry.item, &mut waiting) {
                hasher.add(kept.role, &kept.text);
            }
        });
    }
    (tally, hasher.hash())
}

/// Returns the transcripts in a folder, at any depth.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect()
}
