//! Determines the session of a rollout, which is Codex's name for the transcript file of a thread.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use crate::format::{
    Identity,
    codex::short,
    json::Object,
    limits::{NAME_KEPT, PATH_KEPT},
};

/// The folder of rollouts, with subfolders for year, month and day.
pub(super) const SESSIONS: &str = "sessions";
/// The folder of archived rollouts, which has no subfolders.
pub(super) const ARCHIVE: &str = "archived_sessions";

/// Length, in bytes, of the thread's id at the end of a file's name.
const THREAD_ID: usize = 36;

/// Returns the thread's id in the name of a rollout: `rollout-<time>-<id>`, or only the id if the
/// rollout was exported.
pub(super) fn thread_in_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".jsonl.zst"))?;
    let thread = stem.get(stem.len().checked_sub(THREAD_ID)?..)?;
    let is_rollout = stem.starts_with("rollout-") || stem.len() == THREAD_ID;
    (is_rollout && uuid::Uuid::try_parse(thread).is_ok()).then_some(thread)
}

/// Returns the other paths that the rollout may have: archived or not, compressed or not.
pub(super) fn other_paths(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let Some(name) = name.to_str().map(|name| name.trim_end_matches(".zst")) else {
        return Vec::new();
    };
    let folders = [Some(folder.to_owned()), folder_after_archiving(folder, name)];
    let names = [name.to_owned(), format!("{name}.zst")];
    let paths = folders.iter().flatten().flat_map(|folder| names.iter().map(|n| folder.join(n)));
    paths.filter(|other| other != path).collect()
}

/// Returns the folder to which archiving moves a rollout; for an archived rollout, its earlier
/// folder.
fn folder_after_archiving(folder: &Path, name: &str) -> Option<PathBuf> {
    if folder.file_name()? == ARCHIVE {
        let date = name.strip_prefix("rollout-")?.split_once('T')?.0;
        let sessions = folder.parent()?.join(SESSIONS);
        return Some(date.split('-').fold(sessions, |folder, part| folder.join(part)));
    }
    let sessions = folder.ancestors().nth(3).filter(|sessions| sessions.ends_with(SESSIONS))?;
    Some(sessions.parent()?.join(ARCHIVE))
}

pub(super) fn identify(path: &Path, head: &str) -> Option<Identity> {
    let first = head.lines().find(|line| !line.trim().is_empty())?;
    let meta = SessionMeta::of(first)?;
    // Records of the oldest versions have no type, so only the file's name identifies a rollout.
    if !meta.is_typed && thread_in_name(path).is_none() {
        return None;
    }
    let Some(parent) = meta.parent.filter(|parent| *parent != meta.thread) else {
        return Some(Identity { session: meta.thread, sub_agent: None, directory: meta.directory });
    };
    Some(Identity { session: parent, sub_agent: Some(meta.thread), directory: meta.directory })
}

/// Whether the record `session_meta` describes the thread of a sub-agent.
pub(super) fn is_sub_agent(meta: &Object<'_>) -> bool {
    sub_agent_source(meta).is_some()
        || meta.string("thread_source").as_deref() == Some("subagent")
        || meta.string("parent_thread_id").is_some()
}

/// The members of a rollout's first record that identify its session.
struct SessionMeta {
    is_typed: bool,
    thread: String,
    /// The session of a sub-agent's parent.
    parent: Option<String>,
    directory: Option<String>,
}

impl SessionMeta {
    fn of(record: &str) -> Option<SessionMeta> {
        let Some(record) = Object::parse(record) else { return SessionMeta::of_cut(record) };
        let is_typed = record.string("type").as_deref() == Some("session_meta");
        let meta = match is_typed {
            true => record.object("payload")?,
            // In the oldest versions, the first record is the payload itself.
            false if record.raw("type").is_none() => {
                record.raw("timestamp").and(record.raw("instructions"))?;
                record
            }
            false => return None,
        };
        let own = |key, limit| short(&meta, key, limit).map(Cow::into_owned);
        let parent = is_sub_agent(&meta).then(|| parent(&meta)).flatten();
        let thread = own("id", NAME_KEPT)?;
        Some(SessionMeta { is_typed, thread, parent, directory: own("cwd", PATH_KEPT) })
    }

    /// Reads a first record of which only the start is known. The start contains ids and paths,
    /// because they precede the long texts.
    fn of_cut(record: &str) -> Option<SessionMeta> {
        let text = |key: &str| {
            let (_, rest) = record.split_once(&format!("\"{key}\":\""))?;
            rest.split_once('"').map(|(text, _)| text.to_owned())
        };
        let is_typed = record.contains(r#""type":"session_meta""#);
        let parent = text("parent_thread_id").and_then(|id| text("session_id").or(Some(id)));
        let thread = is_typed.then(|| text("id")).flatten()?;
        Some(SessionMeta { is_typed, thread, parent, directory: text("cwd") })
    }
}

/// Returns the session of a sub-agent's parent: the outermost session, or the parent's thread if
/// the outermost session is unknown.
fn parent(meta: &Object<'_>) -> Option<String> {
    let thread = short(meta, "id", NAME_KEPT);
    let outermost = short(meta, "session_id", NAME_KEPT).filter(|id| Some(id) != thread.as_ref());
    let spawned = || {
        let spawn = sub_agent_source(meta)?.object("thread_spawn")?;
        short(&spawn, "parent_thread_id", NAME_KEPT)
    };
    let parent = outermost.or_else(|| short(meta, "parent_thread_id", NAME_KEPT));
    parent.or_else(spawned).map(Cow::into_owned)
}

/// Returns the description of a sub-agent in `source`; an empty object if the description is only a
/// name.
fn sub_agent_source<'a>(meta: &Object<'a>) -> Option<Object<'a>> {
    let source = meta.raw("source").filter(|raw| raw.starts_with('{'))?;
    let raw = Object::parse(source)?.raw("subagent")?;
    Object::parse(raw).or_else(|| Object::parse("{}"))
}
