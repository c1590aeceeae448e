//! `graphiti/hook`: receives events of agents' hooks.
//!
//! An event that ends or compacts a session is acknowledged when the event is durable: the close of
//! the session is recorded, or, if the session may become known later, the event is in the
//! [`spool`].

use std::{
    collections::BTreeMap,
    io,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use graphiti_proto::{
    methods::hook::{EventKind, HookCount, HookCounts, HookEvent, HookReply},
    rpc::{Error, code},
};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{read, write};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        current,
        errors::engine_error,
        handoff::{self, HandoffScope},
        ongoing, recall, spool, team_handoff,
    },
    clock,
    engine::{
        Scope,
        episode::handoff::{HandoffLine, HandoffText},
        redaction,
    },
    model::{Namespace, SessionKey, Timestamp},
    store::StoreError,
};

/// Maximum number of distinct events that are counted.
const MAX_KINDS: usize = 32;
/// Maximum length, in characters, of the name of an event.
const MAX_NAME_CHARS: usize = 40;
/// Time limit for the handoff to a new session.
const HANDOFF_TIMEOUT: Duration = Duration::from_millis(30);
/// Time limit, within [`HANDOFF_TIMEOUT`], for indexing sessions that have just ended.
const INDEXING_TIMEOUT: Duration = Duration::from_millis(15);
/// Time limit for finding statements that match a prompt.
const RECALL_TIMEOUT: Duration = Duration::from_millis(8);
/// Maximum number of earlier sessions in the handoff to a new session.
const MAX_SESSIONS: usize = 5;

/// The number of events of each kind, and the time of the last event of the kind.
#[derive(Debug, Default)]
pub struct HookStats(Mutex<BTreeMap<String, (u64, Timestamp)>>);

pub(super) async fn hook(
    daemon: &DaemonState,
    client: &ClientContext,
    params: Value,
) -> Result<Value, Error> {
    let event = without_secrets(read(params)?);
    let hooks = daemon.hooks();
    daemon.hook_stats.record(&event.hook_event_name, clock::now());
    if !hooks.enabled {
        return Ok(write(&HookReply::default()));
    }
    note_agent(daemon, client, &event);
    let mut reply = HookReply::default();
    match event.kind() {
        EventKind::Start if hooks.handoff => {
            let limit = hooks.handoff_max_chars as usize;
            let context = context(daemon, &event, limit);
            reply = start_reply(context, HANDOFF_TIMEOUT, |lines| {
                let (engine, session) = (daemon.engine.clone(), event.session_id.clone());
                // Writing to the store blocks, and the agent does not wait for the counts.
                let offer = move || engine.memory_use().offer(&session, lines);
                drop(tokio::task::spawn_blocking(offer));
            })
            .await;
            if let Some(directory) = event.cwd.clone().filter(|_| hooks.recall) {
                recall::warm(daemon, directory);
            }
        }
        EventKind::Prompt if hooks.recall => {
            let lines = recall::lines(daemon, &event);
            // The user waits, so the reply has no matches if the search is not finished in time.
            reply.context = tokio::time::timeout(RECALL_TIMEOUT, lines).await.unwrap_or(None);
        }
        EventKind::Start | EventKind::Alive | EventKind::Prompt => {}
        EventKind::End | EventKind::Compact => {
            let outcome = spool::apply_event(daemon, &event).await.map_err(engine_error)?;
            if outcome == spool::EventOutcome::SessionUnknown
                && !spool::max_wait(daemon, &event).is_zero()
            {
                let home = daemon.home.clone();
                // Writing to the spool blocks.
                let kept =
                    tokio::task::spawn_blocking(move || spool::store_event(&home, &event)).await;
                let failed = |error: io::Error| Error::new(code::INTERNAL, error.to_string());
                kept.unwrap_or_else(|error| Err(error.into())).map_err(failed)?;
            } else if outcome == spool::EventOutcome::Done && !hooks.async_indexing {
                reply.wait_ms = u64::try_from(hooks.hook_timeout.as_millis()).unwrap_or(u64::MAX);
            }
        }
    }
    Ok(write(&reply))
}

/// Redacts the session id and the name of the event.
fn without_secrets(event: HookEvent) -> HookEvent {
    HookEvent {
        hook_event_name: redaction::text(&event.hook_event_name).into_owned(),
        session_id: redaction::id(&event.session_id).into_owned(),
        ..event
    }
}

pub(super) fn hooks(daemon: &DaemonState) -> Value {
    write(&HookCounts { events: daemon.hook_stats.events(), spooled: spool::count(&daemon.home) })
}

/// If the session ends, reports to the engine that the agent has ended it. For other events,
/// reports which process runs the session, if the process is known.
fn note_agent(daemon: &DaemonState, client: &ClientContext, event: &HookEvent) {
    let session = &event.session_id;
    if session.is_empty() {
        return;
    }
    match event.kind() {
        EventKind::End => daemon.engine.agent_ended(session.clone()),
        EventKind::Start | EventKind::Compact | EventKind::Alive | EventKind::Prompt => {
            if let Some(agent) = client.agent() {
                daemon.engine.agent_runs(session.clone(), agent, event.cwd.clone());
            }
        }
    }
}

/// Returns the answer to the start of a session. `offer` gets the lines of the handoff if the
/// handoff was ready within `limit`. Otherwise, the hook of the next prompt requests the handoff
/// again, and its lines must not count twice.
async fn start_reply(
    context: impl Future<Output = Option<HandoffText>>,
    limit: Duration,
    offer: impl FnOnce(Vec<HandoffLine>),
) -> HookReply {
    let Ok(handoff) = tokio::time::timeout(limit, context).await else {
        return HookReply { is_late: true, ..HookReply::default() };
    };
    let context = handoff.map(|handoff| {
        offer(handoff.lines);
        handoff.text
    });
    HookReply { context, ..HookReply::default() }
}

/// Returns the handoff to a session that starts. The handoff comes from earlier sessions in the
/// project and, with the setting `team_handoff`, from sessions of colleagues. If the session was
/// compacted or is resumed, the handoff comes from the earlier part of the same session.
async fn context(daemon: &DaemonState, event: &HookEvent, limit: usize) -> Option<HandoffText> {
    let own =
        current::resolve(daemon, Some(&event.session_id), &ClientContext::default()).await.ok();
    let is_continued = matches!(event.source.as_deref(), Some("compact" | "resume"));
    let directory = event.cwd.clone().unwrap_or_default();
    if directory.is_empty() && !(is_continued && own.is_some()) {
        return None;
    }
    let engine = daemon.engine.clone();
    let locating = engine.clone();
    let located = tokio::task::spawn_blocking(move || locating.projects().of_directory(&directory));
    let projects = located.await.ok()?;
    match is_continued {
        true => index_own(daemon, own).await,
        false => index_ended(daemon, projects.clone(), own).await,
    }
    let team = daemon.hooks().team_handoff && !is_continued;
    let team =
        team.then(|| team_handoff::text_known(&daemon.sharing, &projects, limit / 3)).flatten();
    let limit = limit.saturating_sub(team.as_ref().map_or(0, |team| team.chars().count() + 2));
    let store = daemon.engine.store().clone();
    let running = match is_continued {
        true => Vec::new(),
        // An engine that is stopping reports no sessions.
        false => ongoing::sessions(&engine, &projects, own).await.unwrap_or_default(),
    };
    let handoff = tokio::task::spawn_blocking(move || {
        let store = store.as_ref();
        let uncounted = |text| HandoffText { text, lines: Vec::new() };
        if is_continued {
            let text = handoff::of_session(store, own, &projects)?.to_short_text(limit);
            return Ok(text.map(uncounted));
        }
        let running = ongoing::describe(store, &running)?;
        let after = ongoing::text(&running, true, limit / 2);
        let rest = limit.saturating_sub(after.as_ref().map_or(0, |text| text.chars().count() + 2));
        let scope = HandoffScope { projects: &projects, except: own, sessions: MAX_SESSIONS };
        let handoff = handoff::of_project(store, &scope)?;
        let shown = handoff.to_text_by_use(rest, &|topic| engine.memory_use().rate(topic));
        Ok(match (shown, after) {
            (Some(HandoffText { text, lines }), Some(after)) => {
                Some(HandoffText { text: format!("{text}\n\n{after}"), lines })
            }
            (Some(shown), None) => Some(shown),
            (None, _) => ongoing::text(&running, false, limit).map(uncounted),
        })
    });
    let handoff = handoff.await.ok()?.unwrap_or_else(|error: StoreError| {
        tracing::warn!(%error, "cannot build the handoff for a new session");
        None
    });
    let (text, lines) =
        handoff.map_or_else(Default::default, |shown| (Some(shown.text), shown.lines));
    let texts: Vec<String> = text.into_iter().chain(team).collect();
    (!texts.is_empty()).then(|| HandoffText { text: texts.join("\n\n"), lines })
}

/// Requests the episodes of sessions that have just ended or were killed, and waits for these
/// episodes until the time limit.
async fn index_ended(daemon: &DaemonState, projects: Vec<Namespace>, except: Option<SessionKey>) {
    let scope = Scope { projects, except, limit: MAX_SESSIONS, ..Scope::default() };
    let deadline = Instant::now() + INDEXING_TIMEOUT;
    let Ok(Ok(requested)) = timeout_at(deadline, daemon.engine.request_episodes(scope)).await
    else {
        return;
    };
    for pending in requested.pending {
        if timeout_at(deadline, pending.done).await.is_err() {
            return;
        }
    }
}

/// Waits until the pending episode of the compacted or resumed session is stored. This has no time
/// limit of its own: when [`HANDOFF_TIMEOUT`] passes, the next prompt requests the handoff again.
async fn index_own(daemon: &DaemonState, own: Option<SessionKey>) {
    if own.is_none() {
        return;
    }
    let scope = Scope { only: own, limit: 1, ..Scope::default() };
    let Ok(requested) = daemon.engine.request_episodes(scope).await else { return };
    for pending in requested.pending {
        // If the episode failed, the handoff uses the earlier episode.
        let _ = pending.done.await;
    }
}

impl HookStats {
    fn record(&self, name: &str, now: Timestamp) {
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name: String = name.chars().take(MAX_NAME_CHARS).collect();
        if events.len() < MAX_KINDS || events.contains_key(&name) {
            let entry = events.entry(name).or_insert((0, now));
            *entry = (entry.0 + 1, now);
        }
    }

    fn events(&self) -> Vec<HookCount> {
        let events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut events: Vec<(&String, &(u64, Timestamp))> = events.iter().collect();
        events.sort_by_key(|(_, (_, last))| std::cmp::Reverse(*last));
        let row = |(name, (count, last)): (&String, &(u64, Timestamp))| HookCount {
            name: name.clone(),
            count: *count,
            last: last.to_string(),
        };
        events.into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_the_lines_of_a_handoff_that_is_ready_in_time_are_offered() {
        let line = HandoffLine {
            topic: "open".to_owned(),
            text: "Fix the parser".to_owned(),
            session_id: "earlier".to_owned(),
        };
        let handoff = HandoffText { text: "handoff".to_owned(), lines: vec![line] };
        let mut offered = 0;
        let limit = Duration::ZERO;
        let late = start_reply(std::future::pending(), limit, |lines| offered += lines.len()).await;
        assert_eq!((late.is_late, late.context, offered), (true, None, 0));
        let handoff = std::future::ready(Some(handoff));
        let ready = start_reply(handoff, limit, |lines| offered += lines.len()).await;
        assert_eq!((ready.is_late, ready.context.as_deref(), offered), (false, Some("handoff"), 1));
        let nothing = start_reply(std::future::ready(None), limit, |_| offered += 1).await;
        assert_eq!((nothing, offered), (HookReply::default(), 1));
    }

    #[test]
    fn known_events_are_still_counted_when_the_table_is_full() {
        let stats = HookStats::default();
        let name = |number: usize| format!("{number:02}{}", "x".repeat(MAX_NAME_CHARS));
        for number in 0..=MAX_KINDS {
            stats.record(&name(number), Timestamp::from_micros(1));
        }
        stats.record(&name(0), Timestamp::from_micros(2));
        let events = stats.events();
        assert_eq!(events.len(), MAX_KINDS);
        assert_eq!((events[0].name.as_str(), events[0].count), (&name(0)[..MAX_NAME_CHARS], 2));
    }
}
