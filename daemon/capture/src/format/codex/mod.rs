//! The transcript format of Codex CLI: `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`,
//! moved to `archived_sessions` when the user archives a session.
//!
//! Codex calls the conversation with one agent a thread: a session, or a sub-agent of the session.
//! Codex calls the file of a thread a rollout.
//! A record is an envelope of time and type around a payload. A text may appear twice, as part of
//! the model's history (`response_item`) and as an event (`event_msg`). Replies, calls and results
//! are read from the history. A prompt is read from the history or the event, whichever comes
//! first. The event is needed, because the program adds messages with the user's role to the
//! history, and a prompt may look like an added message. The sources for the format are rollouts of
//! versions 0.118 to 0.169 and the published source code of Codex.

mod action;
mod call;
mod command;
mod event;
mod identity;
mod injected;
mod memory;
mod message;
mod output;
mod review;
mod script;
mod script_output;
mod script_tokens;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{
    format::{
        Format, Identity, Memory, RecordVerdict, Surroundings, Unreadable,
        json::Object,
        limits::{NAME_KEPT, PATH_KEPT, TEXT_KEPT},
    },
    model::{
        time::Timestamp,
        transcript::{Entry, Item, RecapKind, RecordUuid, SessionContext},
    },
    records::Storage,
};

use self::memory::rollout;

pub struct Codex;

impl Format for Codex {
    fn agent(&self) -> &'static str {
        "codex"
    }

    fn roots(&self, surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
        let folder = folder(surroundings);
        vec![folder.join(identity::SESSIONS), folder.join(identity::ARCHIVE)]
    }

    fn liveness_folder(&self, surroundings: &Surroundings<'_>) -> Option<PathBuf> {
        Some(folder(surroundings).join("thread-writer-locks"))
    }

    /// A process of Codex locks a file for each thread that it writes. A server process that still
    /// runs after its last thread has ended locks no file.
    fn locked_session(&self, path: &Path) -> Option<String> {
        let thread = path.file_name()?.to_str()?.strip_suffix(".lock")?;
        uuid::Uuid::try_parse(thread).is_ok().then(|| thread.to_owned())
    }

    fn claims(&self, path: &Path) -> bool {
        identity::thread_in_name(path).is_some()
    }

    /// After some days Codex compresses a rollout that it no longer writes.
    fn storage(&self, path: &Path) -> Storage {
        match path.extension().is_some_and(|extension| extension == "zst") {
            true => Storage::Compressed,
            false => Storage::Lines,
        }
    }

    fn other_paths(&self, path: &Path) -> Vec<PathBuf> {
        identity::other_paths(path)
    }

    fn identify(&self, path: &Path, head: &str) -> Option<Identity> {
        identity::identify(path, head)
    }

    /// Version 2 reads the calls in scripts, and the records of sub-agents that have their turn
    /// only in the metadata.
    fn rules_version(&self) -> u64 {
        2
    }

    fn read(
        &self,
        record: &str,
        memory: &mut Memory,
        emit: &mut dyn FnMut(Entry<'_>),
    ) -> Result<RecordVerdict, Unreadable> {
        let record = Object::parse(record).ok_or(Unreadable)?;
        let at = record.string("timestamp").and_then(|text| Timestamp::parse(&text));
        let mut out = RolloutEmitter { at, memory, emit };
        let kind = record.string("type").unwrap_or_default();
        let Some(payload) = record.object("payload") else {
            return Ok(unwrapped(&kind, &record, &mut out));
        };
        if kind != "session_meta" && is_copied(&record, &payload, out.memory) {
            event::note_total(&kind, &payload, out.memory);
            return Ok(RecordVerdict::Skipped("copied".to_owned()));
        }
        Ok(match kind.as_ref() {
            "session_meta" => session_meta(&payload, &mut out),
            "turn_context" => turn_context(&payload, &mut out),
            "response_item" => response_item(&record, &payload, &mut out),
            "event_msg" => event::read(&payload, &mut out),
            "token_usage_record" => event::usage_record(&payload, &mut out),
            "compacted" => compacted(&payload, &mut out),
            "" => RecordVerdict::Skipped("untyped".to_owned()),
            other => RecordVerdict::Skipped(other.to_owned()),
        })
    }

    fn record_starts(&self) -> &'static [&'static str] {
        &[r#"{"timestamp":"#, r#"{"ordinal":"#, r#"{"type":"#]
    }
}

fn folder(surroundings: &Surroundings<'_>) -> PathBuf {
    (surroundings.variable)("CODEX_HOME")
        .filter(|folder| !folder.is_empty())
        .map_or_else(|| surroundings.home.join(".codex"), PathBuf::from)
}

/// The receiver of the items of one record, with the memory of the file.
struct RolloutEmitter<'e> {
    at: Option<Timestamp>,
    memory: &'e mut Memory,
    emit: &'e mut dyn FnMut(Entry<'_>),
}

impl RolloutEmitter<'_> {
    fn item(&mut self, item: Item<'_>) {
        self.identified(None, item);
    }

    fn identified(&mut self, uuid: Option<RecordUuid>, item: Item<'_>) {
        (self.emit)(Entry { at: self.at, uuid, sub_agent: None, caller: None, item });
    }

    /// Emits the parts of `seen` that differ from the stored context.
    fn context(&mut self, seen: SessionContext<'_>) {
        let Memory { cwd, branch, version, model, .. } = &mut *self.memory;
        let news = SessionContext {
            cwd: seen.cwd.filter(|seen| Memory::note(cwd, seen)),
            branch: seen.branch.filter(|seen| Memory::note(branch, seen)),
            version: seen.version.filter(|seen| Memory::note(version, seen)),
            model: seen.model.filter(|seen| Memory::note(model, seen)),
        };
        let SessionContext { cwd, branch, version, model } = &news;
        if [cwd, branch, version, model].iter().any(|part| part.is_some()) {
            self.item(Item::Context(news));
        }
    }
}

/// Returns a record's id. Codex gives ids only to some records, so the id is derived from `key`,
/// which a fork copies unchanged.
fn record_uuid(kind: &str, key: &str) -> RecordUuid {
    let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(key).finalize();
    std::array::from_fn(|at| digest[at])
}

/// Returns a string member, truncated to `limit` bytes.
fn short<'a>(object: &Object<'a>, key: &str, limit: usize) -> Option<Cow<'a, str>> {
    let text = object.string(key)?;
    if text.len() <= limit {
        return Some(text);
    }
    Some(text[..text.floor_char_boundary(limit)].to_owned().into())
}

/// Reads a record of the oldest versions, which has no envelope.
fn unwrapped(kind: &str, record: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let is_head = kind.is_empty() && record.raw("id").is_some();
    match kind {
        "" if is_head => session_meta(record, out),
        "" => RecordVerdict::Skipped("untyped".to_owned()),
        _ => response_item(record, record, out),
    }
}

fn session_meta(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    let id = short(payload, "id", NAME_KEPT).unwrap_or_default();
    let rollout = rollout(out.memory);
    if rollout.thread.is_empty() {
        rollout.thread = id.into_owned();
        rollout.is_sub_agent = identity::is_sub_agent(payload);
        rollout.own_from = payload.number("subagent_history_start_ordinal").unwrap_or(0);
    } else if rollout.thread != id {
        // A fork starts with the records of another session. A sub-agent's rollout starts with
        // records of the parent.
        rollout.is_copied = rollout.is_sub_agent;
        return RecordVerdict::Skipped("session_meta/copied".to_owned());
    }
    let git = payload.object("git");
    out.context(SessionContext {
        cwd: short(payload, "cwd", PATH_KEPT),
        branch: git.and_then(|git| short(&git, "branch", NAME_KEPT)),
        version: short(payload, "cli_version", NAME_KEPT),
        model: None,
    });
    RecordVerdict::Read
}

fn turn_context(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    note_turn(payload, out.memory);
    out.context(SessionContext {
        cwd: short(payload, "cwd", PATH_KEPT),
        model: short(payload, "model", NAME_KEPT),
        ..SessionContext::default()
    });
    RecordVerdict::Read
}

fn note_turn(payload: &Object<'_>, memory: &mut Memory) {
    if let Some(turn) = short(payload, "turn_id", NAME_KEPT) {
        rollout(memory).turn = turn.into_owned();
    }
}

/// Whether a record was copied from the parent's rollout into the sub-agent's rollout.
fn is_copied(record: &Object<'_>, payload: &Object<'_>, memory: &mut Memory) -> bool {
    let rollout = rollout(memory);
    if record.number("ordinal").is_some_and(|ordinal| ordinal < rollout.own_from) {
        return true;
    }
    let passed_on = payload.object("internal_chat_message_metadata_passthrough");
    let turn = payload.string("turn_id").or_else(|| passed_on?.string("turn_id"));
    if rollout.is_copied
        && let Some(turn) = turn
    {
        // Ids of threads and turns begin with their creation time, so the ids of the sub-agent's
        // own turns are greater than the id of its thread.
        let is_own = turn.len() == rollout.thread.len() && *turn > *rollout.thread;
        rollout.is_copied = !is_own;
    }
    rollout.is_copied
}

fn response_item(
    record: &Object<'_>,
    payload: &Object<'_>,
    out: &mut RolloutEmitter<'_>,
) -> RecordVerdict {
    let kind = payload.string("type").unwrap_or_default();
    match kind.as_ref() {
        "message" => message::read(record, payload, out),
        "function_call" => call::function(payload, out),
        "custom_tool_call" => call::custom(payload, out),
        "local_shell_call" => call::local_shell(payload, out),
        "tool_search_call" => call::tool_search(payload, out),
        "web_search_call" => call::web_search(payload, out),
        "function_call_output" | "custom_tool_call_output" => call::output(payload, out),
        "tool_search_output" => call::tools_found(payload, out),
        other => RecordVerdict::Skipped(format!("response_item/{other}")),
    }
}

/// The introduction that Codex puts before the summary of a compacted history.
const SUMMARY_INTRODUCTION: &str = "Another language model started to solve this problem";

fn compacted(payload: &Object<'_>, out: &mut RolloutEmitter<'_>) -> RecordVerdict {
    out.item(Item::Boundary);
    let text = payload.string_within("message", TEXT_KEPT).unwrap_or_default();
    let summary = match text.split_once('\n') {
        Some((first, summary)) if first.starts_with(SUMMARY_INTRODUCTION) => summary,
        _ => &text,
    };
    if !summary.trim().is_empty() {
        let text = Cow::Borrowed(summary.trim());
        out.item(Item::Recap { kind: RecapKind::Compaction, text });
    }
    RecordVerdict::Read
}
