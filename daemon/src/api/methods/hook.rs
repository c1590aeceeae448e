//! `graphiti/hook`: an agent's hook reports.
//!
//! An event is answered when it would survive the end of this process: the close that it asks for
//! is taken down, or, when its session is not known yet, it is put in the [`spool`].

use std::{
    collections::BTreeMap,
    io,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use graphiti_proto::{
    methods::hook::{Event, Heard, HeardEvent, Kind, Taken},
    rpc::{Error, code},
};
use serde_json::Value;

use super::{read, write};
use crate::{
    api::{
        Daemon,
        caller::Caller,
        current::{self, Unclear},
        handoff, spool,
    },
    clock,
    engine::{EngineError, redaction},
    model::{CloseReason, Timestamp},
    store::StoreError,
};

/// Kinds of events that are counted; what is beyond them is not of an agent.
const KINDS: usize = 32;
/// A new session is told in this time what earlier ones left, or not at all.
const CONTEXT: Duration = Duration::from_millis(30);
/// Earlier sessions that a new one is told of.
const SESSIONS: usize = 5;

/// Which hooks were heard of.
#[derive(Debug, Default)]
pub struct Ears(Mutex<BTreeMap<String, (u64, Timestamp)>>);

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::api) enum Acted {
    /// It is done.
    Done,
    /// Its session is not known yet.
    TooEarly,
}

/// Answers `graphiti/hook`.
pub(super) async fn hook(daemon: &Daemon, caller: &Caller, params: Value) -> Result<Value, Error> {
    let event = without_secrets(read(params)?);
    let hooks = daemon.hooks();
    daemon.ears.heard(&event.hook_event_name, clock::now());
    if !hooks.enabled {
        return Ok(write(&Taken::default()));
    }
    note_agent(daemon, caller, &event);
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
            if acted == Acted::TooEarly && !spool::patience(daemon, &event).is_zero() {
                let home = daemon.home.clone();
                // It waits for the disk.
                let kept = tokio::task::spawn_blocking(move || spool::keep(&home, &event)).await;
                let failed = |error: io::Error| Error::new(code::INTERNAL, error.to_string());
                kept.unwrap_or_else(|error| Err(error.into())).map_err(failed)?;
            } else if acted == Acted::Done && !hooks.async_indexing {
                taken.wait_ms = u64::try_from(hooks.hook_timeout.as_millis()).unwrap_or(u64::MAX);
            }
        }
    }
    Ok(write(&taken))
}

/// Whatever an agent calls its session and the event.
fn without_secrets(event: Event) -> Event {
    Event {
        hook_event_name: redaction::text(&event.hook_event_name).into_owned(),
        session_id: redaction::id(&event.session_id).into_owned(),
        ..event
    }
}

/// Answers `graphiti/hooks`.
pub(super) fn hooks(daemon: &Daemon) -> Value {
    write(&Heard { events: daemon.ears.events(), spooled: spool::count(&daemon.home) })
}

/// Tells the engine which process runs the session. One that is not known changes nothing.
fn note_agent(daemon: &Daemon, caller: &Caller, event: &Event) {
    let session = &event.session_id;
    if session.is_empty() {
        return;
    }
    match event.kind() {
        Kind::End => daemon.engine.agent_ended(session.clone()),
        Kind::Start | Kind::Compact | Kind::Alive => {
            if let Some(agent) = caller.agent() {
                daemon.engine.agent_runs(session.clone(), agent, event.cwd.clone());
            }
        }
    }
}

/// Closes the session that an event is about.
pub(in crate::api) async fn act(daemon: &Daemon, event: &Event) -> Result<Acted, EngineError> {
    if !event.kind().ends() || event.session_id.is_empty() {
        return Ok(Acted::Done);
    }
    let session = current::resolve(daemon, Some(&event.session_id), &Caller::default()).await;
    let session = match session {
        Ok(session) => session,
        Err(Unclear::Failed(error)) => return Err(EngineError::Failed(error)),
        // It is not waited for.
        Err(_) if daemon.engine.forgotten().iter().any(|one| one.id.id == event.session_id) => {
            return Ok(Acted::Done);
        }
        Err(_) => return Ok(Acted::TooEarly),
    };
    let reason = CloseReason::from_argument(Some(&event.close_reason()));
    match daemon.engine.close_later(session, reason).await {
        Err(EngineError::NoSuchSession) => Ok(Acted::TooEarly),
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
