//! The transcript format of Gemini CLI: `tmp/<project>/chats/session-<minute>-<id>.jsonl`, with
//! sub-agents in `chats/<session>/<sub-agent>.jsonl`; older versions rewrite a `.json` file as a
//! whole.
//!
//! A message is written again under its id when its tool calls are done, and `$set.messages`
//! repeats the history, so this format stores which parts were read. A transcript does not contain
//! the name of the git branch. The working directory is read from other files of the project, or
//! else from the header or the session's context. The sources for the format are transcripts of
//! version 0.61 and older ones, and the program's source
//! (`packages/core/src/services/chatRecordingService.ts`).

mod document;
mod history;
mod message;
mod project;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    format::{
        Format, Identity, Memory, RecordVerdict, Surroundings, Unreadable,
        emitter::Emitter,
        genai::typed::skipped,
        json::{self, Object},
        limits::{NAME_KEPT, PATH_KEPT},
        seen::SeenRecords,
    },
    model::{
        time::Timestamp,
        transcript::{Entry, Item, SessionContext, TitleSource},
    },
    records::Storage,
};

pub struct Gemini;

impl Format for Gemini {
    fn agent(&self) -> &'static str {
        "gemini"
    }

    fn roots(&self, surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
        let home = (surroundings.variable)("GEMINI_CLI_HOME").filter(|home| !home.is_empty());
        let home = home.map_or_else(|| surroundings.home.to_owned(), PathBuf::from);
        vec![home.join(".gemini").join("tmp")]
    }

    fn claims(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_session = name.starts_with("session-") && is_named(path.parent(), "chats");
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("jsonl") => is_session || is_named(path.parent().and_then(Path::parent), "chats"),
            Some("json") => is_session,
            _ => false,
        }
    }

    fn storage(&self, path: &Path) -> Storage {
        let is_document = path.extension().is_some_and(|extension| extension == "json");
        if is_document { Storage::Document } else { Storage::Lines }
    }

    fn records_of(&self, document: &str) -> Option<Vec<String>> {
        document::records_of(document)
    }

    fn identify(&self, path: &Path, head: &str) -> Option<Identity> {
        let header = head.lines().find_map(Object::parse).filter(is_header)?;
        // Resuming a session creates a file without messages; the session continues in the earlier
        // file.
        if !head.lines().any(|line| line.starts_with(r#"{"id":"#)) {
            return None;
        }
        let id = header.string_within("sessionId", NAME_KEPT)?.into_owned();
        let directory = project::root(path).or_else(|| first_directory(&header));
        if !is_sub_agent(&header) {
            return Some(Identity { session: id, sub_agent: None, directory });
        }
        let session = path.parent()?.file_name()?.to_str()?.to_owned();
        Some(Identity { session, sub_agent: Some(id), directory })
    }

    fn memory_of(&self, path: &Path) -> Memory {
        Memory { cwd: project::root(path).unwrap_or_default(), ..Memory::default() }
    }

    fn read(
        &self,
        record: &str,
        memory: &mut Memory,
        emit: &mut dyn FnMut(Entry<'_>),
    ) -> Result<RecordVerdict, Unreadable> {
        let record = Object::parse(record).ok_or(Unreadable)?;
        if let Some(set) = record.object("$set") {
            return Ok(update(&set, memory, emit));
        }
        if record.raw("id").is_some() && record.raw("type").is_some() {
            return Ok(message::read(&record, memory, emit));
        }
        if is_header(&record) {
            return Ok(header(&record, memory, emit));
        }
        // A rewind removes messages, but not their effects on files, so the rewind is only counted.
        let kind = if record.raw("$rewindTo").is_some() { "$rewindTo" } else { "untyped" };
        Ok(skipped(kind))
    }

    fn record_starts(&self) -> &'static [&'static str] {
        &[r#"{"id":"#, r#"{"$set":"#, r#"{"$rewindTo":"#, r#"{"sessionId":"#]
    }
}

/// The state that the format keeps for a file.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct GeminiMemory {
    is_sub_agent: bool,
    /// The parts of messages that were read. A message may be written again.
    seen: SeenRecords,
}

fn own(memory: &mut Memory) -> &mut GeminiMemory {
    memory.own()
}

fn seen(memory: &mut Memory) -> &mut SeenRecords {
    &mut own(memory).seen
}

fn is_named(folder: Option<&Path>, name: &str) -> bool {
    folder.and_then(Path::file_name).is_some_and(|found| found == name)
}

fn is_header(record: &Object<'_>) -> bool {
    ["sessionId", "projectHash", "startTime"].iter().all(|key| record.raw(key).is_some())
        && record.raw("type").is_none()
}

fn is_sub_agent(header: &Object<'_>) -> bool {
    header.raw("kind") == Some("\"subagent\"")
}

fn first_directory(header: &Object<'_>) -> Option<String> {
    let first = json::items(header.raw("directories")?).into_iter().next()?;
    json::string(first).filter(|path| path.len() <= PATH_KEPT).map(Cow::into_owned)
}

fn header(
    record: &Object<'_>,
    memory: &mut Memory,
    emit: &mut dyn FnMut(Entry<'_>),
) -> RecordVerdict {
    own(memory).is_sub_agent = is_sub_agent(record);
    if memory.cwd.is_empty() {
        memory.cwd = first_directory(record).unwrap_or_default();
    }
    if memory.cwd.is_empty() {
        return skipped("header");
    }
    let at = record.string("startTime").and_then(|text| Timestamp::parse(&text));
    let cwd = Some(Cow::Borrowed(memory.cwd.as_str()));
    let context = SessionContext { cwd, ..SessionContext::default() };
    let mut out = Emitter::new(emit);
    out.at = at;
    out.item(Item::Context(context));
    RecordVerdict::Read
}

/// Reads a record `$set`, which changes members of the session.
fn update(set: &Object<'_>, memory: &mut Memory, emit: &mut dyn FnMut(Entry<'_>)) -> RecordVerdict {
    let mut verdict = skipped("$set");
    if let Some(messages) = set.raw("messages") {
        verdict = history::read(messages, memory, emit);
    }
    // A sub-agent's summary is its report, which the parent's file also contains.
    let summary = set.string_within("summary", NAME_KEPT).unwrap_or_default();
    if !summary.trim().is_empty() && !own(memory).is_sub_agent {
        let (by, text) = (TitleSource::Summary, Cow::Borrowed(summary.trim()));
        Emitter::new(emit).item(Item::Title { by, text });
        verdict = RecordVerdict::Read;
    }
    verdict
}

#[cfg(test)]
mod tests;
