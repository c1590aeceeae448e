//! The format of an agent that is not built in. The configuration maps the members of its records.
//! The records are JSON objects, one per line, in files to which the agent appends.
//!
//! A record is a message of the user or of the agent; other records are skipped and counted by
//! their role. A file belongs to one session: the first session in its records. Without a mapping
//! for the session, each file is a session.

mod paths;
mod pointer;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use self::{
    paths::PathPattern,
    pointer::{Pointer, PointerError},
};
use crate::{
    format::{
        Format, Identity, Memory, RecordVerdict, Surroundings, Unreadable,
        emitter::Emitter,
        json::{self, Object},
        limits::{NAME_KEPT, TEXT_KEPT},
    },
    model::{
        time::Timestamp,
        transcript::{Entry, Item, SessionContext},
    },
};

/// The meaning of the members of an agent's records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatMapping {
    /// The agent's name in filters, ids and on screen.
    pub name: String,
    pub paths: Vec<PathPattern>,
    /// The author of the message: the user or the agent.
    pub role: Pointer,
    /// A text, an object with the member `text`, or a list of such texts and objects.
    pub text: Pointer,
    /// An RFC 3339 text, or seconds or milliseconds since 1970.
    pub time: Option<Pointer>,
    /// The id of the session. Without this pointer, each file is a session, and its id is the path
    /// below the watched folder.
    pub session: Option<Pointer>,
    pub cwd: Option<Pointer>,
    /// The id of the record, for copies and forks of a session. The id must be a UUID.
    pub id: Option<Pointer>,
    pub model: Option<Pointer>,
    pub branch: Option<Pointer>,
    /// The agent's version.
    pub version: Option<Pointer>,
    pub roles: RoleNames,
}

/// The agent's names for the roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleNames {
    pub user: Vec<String>,
    pub agent: Vec<String>,
}

impl Default for RoleNames {
    fn default() -> RoleNames {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        RoleNames {
            user: owned(&["user", "human"]),
            agent: owned(&["assistant", "agent", "model", "ai"]),
        }
    }
}

impl FormatMapping {
    /// Returns the pointers with their keys in the configuration.
    pub fn pointers(&self) -> impl Iterator<Item = (&'static str, &Pointer)> {
        let FormatMapping { role, text, time, session, cwd, id, model, branch, version, .. } = self;
        let optional = [
            ("time", time),
            ("session", session),
            ("cwd", cwd),
            ("id", id),
            ("model", model),
            ("branch", branch),
            ("version", version),
        ];
        let optional =
            optional.into_iter().filter_map(|(key, pointer)| Some((key, pointer.as_ref()?)));
        [("role", role), ("text", text)].into_iter().chain(optional)
    }
}

/// The smallest number that is read as milliseconds since 1970. A smaller number is read as
/// seconds. 1e11 seconds are the year 5138, and 1e11 milliseconds are the year 1973.
const MILLIS_FROM: f64 = 1e11;
/// The types under which records without a role and records of other sessions are counted.
const NO_ROLE: &str = "no role";
const OTHER_SESSION: &str = "of another session";

/// The state that the format keeps for a file.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct MappedMemory {
    /// The first session in the records.
    session: String,
}

/// A format that follows a [`FormatMapping`].
#[derive(Debug, PartialEq, Eq)]
pub struct MappedFormat(FormatMapping);

impl MappedFormat {
    pub fn new(mapping: FormatMapping) -> MappedFormat {
        MappedFormat(mapping)
    }

    pub fn mapping(&self) -> &FormatMapping {
        &self.0
    }

    /// Returns, for each pointer of [`FormatMapping::pointers`], whether the record has the member.
    /// Returns `None` for a text that is not a record.
    pub fn members_of(&self, record: &str) -> Option<Vec<bool>> {
        let record = Object::parse(record)?;
        Some(self.0.pointers().map(|(_, pointer)| pointer.find(&record).is_some()).collect())
    }

    /// Returns the session in a record.
    fn session_of<'a>(&self, record: &Object<'a>) -> Option<Cow<'a, str>> {
        let session = scalar(self.0.session.as_ref()?.find(record)?)?;
        let is_id = !session.is_empty() && !session.contains(char::is_control);
        Some(session).filter(|session| is_id && session.len() <= NAME_KEPT)
    }

    fn context_of<'a>(&self, record: &Object<'a>) -> SessionContext<'a> {
        let text = |pointer: &Option<Pointer>| {
            let text = json::string(pointer.as_ref()?.find(record)?)?;
            Some(text).filter(|text| !text.is_empty())
        };
        let FormatMapping { cwd, branch, version, model, .. } = &self.0;
        SessionContext {
            cwd: text(cwd),
            branch: text(branch),
            version: text(version),
            model: text(model),
        }
    }

    /// Emits the message of a record. Returns the type under which a record without a message is
    /// counted.
    fn message(&self, record: &Object<'_>, out: &mut Emitter<'_>) -> Option<String> {
        let role = self.0.role.find(record).and_then(scalar);
        let Some(role) = role else { return Some(NO_ROLE.to_owned()) };
        let names = &self.0.roles;
        let is_user = names.user.iter().any(|name| *name == role);
        if !is_user && !names.agent.iter().any(|name| *name == role) {
            return Some(role.into_owned());
        }
        let text = self.0.text.find(record).and_then(text_of).unwrap_or_default();
        if text.trim().is_empty() {
            return Some(format!("{role} without text"));
        }
        out.item(if is_user { Item::Prompt(text) } else { Item::Reply { message: None, text } });
        None
    }
}

impl Format for MappedFormat {
    fn agent(&self) -> &str {
        &self.0.name
    }

    fn roots(&self, _surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
        self.0.paths.iter().map(|path| path.root().to_owned()).collect()
    }

    fn claims(&self, path: &Path) -> bool {
        self.0.paths.iter().any(|pattern| pattern.matches(path))
    }

    fn identify(&self, path: &Path, head: &str) -> Option<Identity> {
        let records = || head.lines().filter_map(Object::parse);
        let session = match self.0.session {
            Some(_) => records().find_map(|record| self.session_of(&record))?.into_owned(),
            None => {
                records().find(|record| self.0.role.find(record).is_some())?;
                let name = self.0.paths.iter().find_map(|pattern| pattern.name_of(path));
                name.or_else(|| Some(path.file_stem()?.to_string_lossy().into_owned()))?
            }
        };
        let directory = records().find_map(|record| self.context_of(&record).cwd);
        Some(Identity { session, sub_agent: None, directory: directory.map(Cow::into_owned) })
    }

    fn read(
        &self,
        record: &str,
        memory: &mut Memory,
        emit: &mut dyn FnMut(Entry<'_>),
    ) -> Result<RecordVerdict, Unreadable> {
        let record = Object::parse(record).ok_or(Unreadable)?;
        if let Some(session) = self.session_of(&record) {
            let own = &mut memory.own::<MappedMemory>().session;
            if own.is_empty() {
                *own = session.into_owned();
            } else if *own != session {
                return Ok(RecordVerdict::Skipped(OTHER_SESSION.to_owned()));
            }
        }
        let mut out = Emitter::new(emit);
        out.at = self.0.time.as_ref().and_then(|time| time_of(time.find(&record)?));
        out.uuid = self.0.id.as_ref().and_then(|id| {
            let id = json::string(id.find(&record)?)?;
            uuid::Uuid::try_parse(&id).ok().map(uuid::Uuid::into_bytes)
        });
        out.context(self.context_of(&record), memory);
        Ok(match self.message(&record, &mut out) {
            None => RecordVerdict::Read,
            Some(record_type) => RecordVerdict::Skipped(record_type),
        })
    }

    /// Returns a hash of the mapping, so that files are read again when the mapping changes.
    fn rules_version(&self) -> u64 {
        let mut digest = Sha256::new();
        for (key, pointer) in self.0.pointers() {
            digest.update(format!("{key} {pointer}\n"));
        }
        for names in [&self.0.roles.user, &self.0.roles.agent] {
            digest.update(format!("{names:?}\n"));
        }
        u64::from_be_bytes(*digest.finalize().first_chunk().expect("the digest has 32 bytes"))
    }

    fn record_starts(&self) -> &'static [&'static str] {
        &[r#"{""#]
    }
}

/// Returns a text, or the digits of a number.
fn scalar(raw: &str) -> Option<Cow<'_, str>> {
    let is_number = raw.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    if is_number { Some(Cow::Borrowed(raw)) } else { json::string(raw) }
}

/// Returns a text, the text of a block, or the texts of a list of blocks, each on a new line.
fn text_of(raw: &str) -> Option<Cow<'_, str>> {
    if raw.starts_with('{') {
        return Object::parse(raw)?.string_within("text", TEXT_KEPT);
    }
    if !raw.starts_with('[') {
        return json::string_within(raw, TEXT_KEPT);
    }
    let mut text = String::new();
    for block in json::items(raw).into_iter().filter(|block| !block.starts_with('[')) {
        let block = text_of(block).unwrap_or_default();
        let is_first = text.is_empty();
        if block.is_empty() || text.len() + block.len() > TEXT_KEPT && !is_first {
            continue;
        }
        text.push_str(if is_first { "" } else { "\n" });
        text.push_str(&block);
    }
    Some(Cow::Owned(text))
}

fn time_of(raw: &str) -> Option<Timestamp> {
    let text = scalar(raw)?;
    let Ok(number) = text.parse::<f64>() else { return Timestamp::parse(&text) };
    let micros = if number.abs() < MILLIS_FROM { number * 1e6 } else { number * 1e3 };
    // A larger number is not a time in either unit.
    (micros.abs() < 1e17).then(|| Timestamp::from_micros(micros as i64))
}

#[cfg(test)]
pub(crate) mod tests;
