//! The transcript format of Pi: `sessions/--<directory>--/<time>_<session>.jsonl`.
//!
//! The first record describes the session. The others form a tree by `id` and `parentId`: when the
//! user returns to an earlier record, that record becomes the parent of the next record. All
//! branches are read in the order in which they were written, because the work in an abandoned
//! branch was also done. A fork is a new file with the records of the old file. The sources for the
//! format are Pi's session manager, which is public, and a transcript.

mod action;
mod message;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use crate::{
    format::{
        Format, Identity, Memory, RecordVerdict, Surroundings, Unreadable,
        emitter::Emitter,
        json::Object,
        limits::{NAME_KEPT, TEXT_KEPT},
    },
    model::{
        time::Timestamp,
        transcript::{Entry, Item, RecapKind, RecordUuid, SessionContext, TitleSource},
    },
};

pub struct Pi;

impl Format for Pi {
    fn agent(&self) -> &'static str {
        "pi"
    }

    fn roots(&self, surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
        let folder = (surroundings.variable)("PI_CODING_AGENT_DIR")
            .filter(|folder| !folder.is_empty())
            .map_or_else(|| surroundings.home.join(".pi/agent"), PathBuf::from);
        vec![folder.join("sessions")]
    }

    fn claims(&self, path: &Path) -> bool {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let id = stem.rsplit('_').next().unwrap_or_default();
        path.extension().is_some_and(|extension| extension == "jsonl")
            && (in_directory_folder(path) || uuid::Uuid::try_parse(id).is_ok())
    }

    fn identify(&self, _path: &Path, head: &str) -> Option<Identity> {
        let header = Object::parse(head.lines().next()?)?;
        let is_header = header.string("type")? == "session" && header.raw("timestamp").is_some();
        let session = header.string("id").filter(|id| is_header && id.len() <= NAME_KEPT)?;
        let directory = header.string("cwd").map(Cow::into_owned);
        Some(Identity { session: session.into_owned(), sub_agent: None, directory })
    }

    fn read(
        &self,
        record: &str,
        memory: &mut Memory,
        emit: &mut dyn FnMut(Entry<'_>),
    ) -> Result<RecordVerdict, Unreadable> {
        let record = Object::parse(record).ok_or(Unreadable)?;
        let Some(kind) = record.string("type") else {
            return Ok(RecordVerdict::Skipped("untyped".to_owned()));
        };
        let mut out = Emitter::new(emit);
        out.at = record.string("timestamp").and_then(|time| Timestamp::parse(&time));
        match kind.as_ref() {
            "session" => out.context(surroundings(&record), memory),
            "message" => return Ok(message::read(&record, memory, &mut out)),
            "model_change" => {
                let model = record.string("modelId");
                out.context(SessionContext { model, ..SessionContext::default() }, memory);
            }
            "compaction" => {
                out.uuid = uuid(&record, out.at);
                compacted(&record, &mut out);
            }
            "session_info" => out.title(TitleSource::User, record.string("name")),
            _ => {}
        }
        Ok(out.verdict(&kind))
    }

    fn record_starts(&self) -> &'static [&'static str] {
        &[r#"{"type":""#]
    }
}

/// Whether the file is in a folder that is named after a directory.
fn in_directory_folder(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    folder.is_some_and(|name| name.len() > 4 && name.starts_with("--") && name.ends_with("--"))
}

/// Returns the context in the first record, which in older versions also contains the model.
fn surroundings<'a>(header: &Object<'a>) -> SessionContext<'a> {
    let (cwd, model) = (header.string("cwd"), header.string("modelId"));
    SessionContext { cwd, model, ..SessionContext::default() }
}

/// Emits a compaction, which is a record or, in older versions, a message.
fn compacted(record: &Object<'_>, out: &mut Emitter<'_>) {
    out.item(Item::Boundary);
    if let Some(text) = record.string_within("summary", TEXT_KEPT) {
        out.item(Item::Recap { kind: RecapKind::Compaction, text });
    }
}

/// Returns an id for a record: Pi's own id if it is a UUID. Otherwise Pi's id has eight digits and
/// is unique only within one file; it is combined with the time. A fork copies the id and the time.
fn uuid(record: &Object<'_>, at: Option<Timestamp>) -> Option<RecordUuid> {
    let id = record.string("id")?;
    if let Ok(uuid) = uuid::Uuid::try_parse(&id) {
        return Some(uuid.into_bytes());
    }
    let number = u64::from_str_radix(&id, 16).ok()?;
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes[8..].copy_from_slice(&at?.micros().to_be_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests;
