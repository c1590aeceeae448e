//! `graphiti/hook`: an agent's hook reports; and the spool of what was reported to no one.
//!
//! An event is answered when it would survive the end of this process: the close that it asks for
//! is taken down, or, when its session is not known yet, it is put in the spool itself, which is
//! gone through now and then.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use graphiti_proto::{
    methods::hook::{self, Event, Heard, HeardEvent, Kind, LONGEST_EVENT, Taken},
    rpc::{Error, code},
};
use serde_json::Value;

use super::{read, write};
use crate::{
    api::{
        Daemon, Shared,
        caller::Caller,
        current::{self, Unclear},
        handoff,
    },
    clock,
    engine::AskError,
    model::{CloseReason, Timestamp},
    store::StoreError,
};

/// Kinds of events that are counted; what is beyond them is not of an agent.
const KINDS: usize = 32;
/// Between two looks into the spool.
const PAUSE: Duration = Duration::from_secs(5);
/// A session that is not known after this time says nothing that could be remembered.
const GIVE_UP: Duration = Duration::from_secs(3600);
/// A new session is told in this time what earlier ones left, or not at all.
const CONTEXT: Duration = Duration::from_millis(30);
/// Earlier sessions that a new one is told of.
const SESSIONS: usize = 5;

/// Which hooks were heard of.
#[derive(Debug, Default)]
pub struct Ears(Mutex<BTreeMap<String, (u64, Timestamp)>>);

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acted {
    /// It is done.
    Done,
    /// Its session is not known yet.
    TooEarly,
}

/// Answers `graphiti/hook`.
pub(super) async fn hook(daemon: &Daemon, params: Value) -> Result<Value, Error> {
    let event: Event = read(params)?;
    let hooks = daemon.hooks();
    daemon.ears.heard(&event.hook_event_name, clock::now());
    if !hooks.enabled {
        return Ok(write(&Taken::default()));
    }
    let mut taken = Taken::default();
    match event.kind() {
        Kind::Alive => {}
        Kind::Start if hooks.handoff => {
            let limit = hooks.handoff_max_chars as usize;
            let context = context(daemon, &event, limit);
            taken.context = tokio::time::timeout(CONTEXT, context).await.ok().flatten();
        }
        Kind::Start => {}
        Kind::End | Kind::Compact => {
            let acted = act(daemon, &event).await.map_err(super::tools::engine_error)?;
            if acted == Acted::TooEarly {
                let failed = |error: io::Error| Error::new(code::INTERNAL, error.to_string());
                keep(&daemon.home, &event).map_err(failed)?;
            } else if !hooks.async_indexing {
                taken.wait_ms = u64::try_from(hooks.hook_timeout.as_millis()).unwrap_or(u64::MAX);
            }
        }
    }
    Ok(write(&taken))
}

/// Answers `graphiti/hooks`.
pub(super) fn hooks(daemon: &Daemon) -> Value {
    let spooled = waiting(&daemon.home).map_or(0, |files| files.len());
    write(&Heard { events: daemon.ears.events(), spooled })
}

/// Goes through the spool now and then, for as long as the daemon serves.
pub async fn go_through_spool(daemon: Shared) {
    loop {
        take_spooled(&daemon).await;
        tokio::time::sleep(PAUSE).await;
    }
}

/// Whether events wait in the spool.
pub(super) fn has_spooled(daemon: &Daemon) -> bool {
    waiting(&daemon.home).is_ok_and(|files| !files.is_empty())
}

/// The files of events in the spool that are about one of these sessions, by the agents' ids.
pub(super) fn spooled_of(daemon: &Daemon, sessions: &[String]) -> Vec<PathBuf> {
    let mut files = waiting(&daemon.home).unwrap_or_default();
    let is_of =
        |file: &PathBuf| read_file(file).is_some_and(|event| sessions.contains(&event.session_id));
    files.retain(is_of);
    files
}

/// Does what the events in the spool ask for, the oldest first.
pub(super) async fn take_spooled(daemon: &Daemon) {
    let files = match waiting(&daemon.home) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            tracing::warn!(%error, "cannot look into the spool");
            return;
        }
    };
    for file in files {
        if take_file(daemon, &file).await.is_err() {
            // The engine is stopping: the next daemon goes on.
            return;
        }
    }
}

async fn take_file(daemon: &Daemon, file: &Path) -> Result<(), AskError> {
    let done = match read_file(file) {
        Some(event) if daemon.hooks().enabled => {
            let acted = match act(daemon, &event).await {
                Err(AskError::Stopping) => return Err(AskError::Stopping),
                acted => acted,
            };
            acted == Ok(Acted::Done) || age(file) > GIVE_UP
        }
        _ => true,
    };
    if done && let Err(error) = fs::remove_file(file) {
        tracing::warn!(%error, file = %file.display(), "cannot take an event out of the spool");
    }
    Ok(())
}

/// Closes the session that an event is about.
async fn act(daemon: &Daemon, event: &Event) -> Result<Acted, AskError> {
    if !event.kind().ends() || event.session_id.is_empty() {
        return Ok(Acted::Done);
    }
    let session = current::resolve(daemon, Some(&event.session_id), &Caller::default()).await;
    let session = match session {
        Ok(session) => session,
        Err(Unclear::Failed(error)) => return Err(AskError::Failed(error)),
        // It is not waited for.
        Err(_) if daemon.engine.forgotten().iter().any(|one| one.id.id == event.session_id) => {
            return Ok(Acted::Done);
        }
        Err(_) => return Ok(Acted::TooEarly),
    };
    let reason = CloseReason::from_argument(Some(&event.close_reason()));
    match daemon.engine.close_later(session, reason).await {
        Err(AskError::NoSuchSession) => Ok(Acted::TooEarly),
        done => done.map(|()| Acted::Done),
    }
}

/// What earlier sessions in the directory of a new one left. A session that goes on knows it.
async fn context(daemon: &Daemon, event: &Event, limit: usize) -> Option<String> {
    let is_new = matches!(event.source.as_deref(), None | Some("startup" | "clear"));
    let directory = event.cwd.clone().filter(|_| is_new)?;
    let except = current::resolve(daemon, Some(&event.session_id), &Caller::default()).await.ok();
    let store = daemon.engine.store().clone();
    let told = tokio::task::spawn_blocking(move || {
        let store = store.as_ref();
        let Some((project, _)) = handoff::project_of(store, &directory)? else { return Ok(None) };
        let found = handoff::of_project(store, project.namespace(), except, SESSIONS)?;
        Ok(found.to_text(limit))
    });
    told.await.ok()?.unwrap_or_else(|error: StoreError| {
        tracing::warn!(%error, "a new session cannot be told what earlier ones left");
        None
    })
}

impl Ears {
    fn heard(&self, name: &str, now: Timestamp) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.len() < KINDS || heard.contains_key(name) {
            let entry = heard.entry(name.chars().take(40).collect()).or_insert((0, now));
            *entry = (entry.0 + 1, now);
        }
    }

    fn events(&self) -> Vec<HeardEvent> {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut events: Vec<(&String, &(u64, Timestamp))> = heard.iter().collect();
        events.sort_by_key(|(_, (_, last))| std::cmp::Reverse(*last));
        let row = |(name, (count, last)): (&String, &(u64, Timestamp))| HeardEvent {
            name: name.clone(),
            count: *count,
            last: last.to_string(),
        };
        events.into_iter().map(row).collect()
    }
}

/// Puts an event in the spool.
fn keep(home: &Path, event: &Event) -> io::Result<()> {
    let folder = hook::spool(home);
    fs::create_dir_all(&folder)?;
    let text = serde_json::to_vec(event)?;
    if text.len() > LONGEST_EVENT {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the event is too long"));
    }
    let now = clock::now().micros();
    // A hook's own files are named after its process; this one after the session.
    let name = format!("{now:020}-{}", uuid::Uuid::new_v4().simple());
    let unfinished = folder.join(format!("{name}.new"));
    fs::write(&unfinished, text)?;
    fs::rename(unfinished, folder.join(format!("{name}.json")))
}

/// The events in the spool, the oldest first.
fn waiting(home: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(hook::spool(home))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        } else if age(&path) > GIVE_UP {
            // Its writer died before it was whole.
            drop(fs::remove_file(path));
        }
    }
    files.sort();
    Ok(files)
}

/// `None` for what no hook of ours wrote.
fn read_file(file: &Path) -> Option<Event> {
    let is_small = fs::metadata(file).ok()?.len() <= LONGEST_EVENT as u64;
    is_small
        .then(|| fs::read(file).ok())
        .flatten()
        .and_then(|text| serde_json::from_slice(&text).ok())
}

/// How long a file has been lying there.
fn age(file: &Path) -> Duration {
    let written = fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
    let written = written.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    written.map_or(Duration::ZERO, |written| {
        clock::now().since(Timestamp::from_micros(i64::try_from(written.as_micros()).unwrap_or(0)))
    })
}
