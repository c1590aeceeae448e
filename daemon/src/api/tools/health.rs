//! `session_tracking_health`.

use std::collections::{BTreeMap, HashMap};

use graphiti_proto::{
    rpc::Error,
    tools::health::{
        AgentHealth, DiskLimits, Embeddings, EvictionStats, HealthAnswer, HealthArguments, History,
        IndexHealth, ModelHealth, NAME, Records, Redaction, Sessions, StoredTotals,
    },
};

use super::{Effect, Tool, engine_error, input, list_sessions, output, typed};
use crate::{
    api::{DaemonState, spool},
    clock,
    engine::{
        IndexLag, Mode, PollingReason, quota, reading,
        redaction::note::{self, StoredRules},
    },
    model::{
        SessionKey, Timestamp,
        session::{Session, State, Unindexed},
    },
    store::{Source, SourceKey, Store, StoreError, StoreHealth, Tally},
};

/// The number of an agent's latest sessions that may name its version.
const VERSIONS_TRIED: usize = 3;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Health of the memory",
    description: "Show what the memory daemon is doing, how much it knows, and what went wrong lately.",
    effect: Effect::Reads,
    input: input::<HealthArguments>,
    output: output::<HealthAnswer>,
    call: |daemon, _, arguments| Box::pin(typed(arguments, |given| run(daemon, given))),
};

fn redaction(store: &dyn Store) -> Redaction {
    // An unreadable store is reported as a problem below.
    let stored = StoredRules::of(store).unwrap_or_else(|_| StoredRules::present());
    Redaction {
        rules: note::RULES_VERSION,
        is_older: stored.is_older(),
        is_unfinished: stored.unfinished.is_some(),
    }
}

async fn run(daemon: &DaemonState, _: HealthArguments) -> Result<HealthAnswer, Error> {
    let status = daemon.engine.status().await.map_err(engine_error)?;
    let store = daemon.engine.store();
    let at_hand = daemon.engine.open_sources().await.map_err(engine_error)?;
    let mut problems = status.problems.clone();
    let records = records(store.as_ref(), &at_hand).unwrap_or_else(|error| {
        problems.push(error.to_string());
        Records::default()
    });
    // The engine notices this later.
    if let StoreHealth::TextRefused(why) | StoreHealth::Failed(why) =
        &*store.quota().health().borrow()
        && !problems.contains(why)
    {
        problems.push(why.clone());
    }
    let lag = daemon.engine.index_lag();
    problems.extend(stalled(lag));
    let totals = store.totals();
    let live = list_sessions::live_sessions(daemon).await?;
    let vectors = daemon.embedding.progress();
    let evicted = evicted(daemon);
    let is_fine = problems.is_empty()
        && status.failed == 0
        && status.model.outage.is_none()
        && vectors.error.is_none();
    Ok(HealthAnswer {
        status: if is_fine { "ok" } else { "degraded" }.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        home: daemon.home.display().to_string(),
        uptime_seconds: clock::now().since(daemon.started_at).as_secs(),
        watched: daemon.watched.iter().map(|folder| folder.display().to_string()).collect(),
        watch_mode: watch_mode(status.mode).to_owned(),
        sessions: sessions(store.as_ref(), &live).unwrap_or_default(),
        agents: agents(daemon, &live, &at_hand).unwrap_or_default(),
        history: History {
            scanned: status.scanned,
            done: status.history_done,
            left: status.history_left + status.unidentified,
            bytes_read: status.bytes_read,
        },
        kept: StoredTotals {
            messages: totals.messages,
            episodes: totals.episodes,
            database_bytes: store.quota().disk_bytes(),
            index_bytes: daemon.keeper.index_bytes(),
            spool_bytes: spool::bytes(&daemon.home),
        },
        limits: limits(daemon),
        evicted: evicted.clone(),
        let_go: evicted,
        index: IndexHealth { changes_behind: lag.changes, stalled: lag.is_stalled },
        records,
        jobs: status.jobs,
        redaction: redaction(store.as_ref()),
        older_summaries: daemon.engine.older_summaries(),
        model: ModelHealth {
            on: status.model.is_on,
            writes_summaries: status.model.writes_summaries,
            awaiting: status.model.awaiting,
            outage: status.model.outage,
            last_error: status.model.last_error,
        },
        embeddings: Embeddings {
            on: vectors.is_on,
            made: vectors.made,
            left: vectors.left,
            error: vectors.error,
        },
        problems,
    })
}

/// Counts the sessions that a list contains, and those that it omits.
pub(super) fn sessions(
    store: &dyn Store,
    live: &HashMap<SessionKey, Session>,
) -> Result<Sessions, StoreError> {
    let mut sessions = Sessions::default();
    list_sessions::visit_tracked(store, live, &mut |session| {
        if !list_sessions::is_listed(session) {
            // A session of the history has no messages until it is read.
            let is_unread = matches!(session.state, State::Unindexed(Unindexed::History));
            sessions.empty += u64::from(!is_unread);
            return;
        }
        sessions.total += 1;
        *match session.state {
            State::Active => &mut sessions.active,
            State::Inactive => &mut sessions.inactive,
            State::Indexing(_) => &mut sessions.indexing,
            State::Indexed => &mut sessions.indexed,
            State::Failed(_) => &mut sessions.failed,
            State::Unindexed(_) => &mut sessions.unindexed,
        } += 1;
    })?;
    Ok(sessions)
}

/// Counts the sessions and records of each agent. The agents that are followed are always included.
fn agents(
    daemon: &DaemonState,
    live: &HashMap<SessionKey, Session>,
    at_hand: &[Source],
) -> Result<Vec<AgentHealth>, StoreError> {
    let (store, formats) = (daemon.engine.store().as_ref(), daemon.engine.formats());
    let followed = formats.iter().map(|format| (format.agent().to_owned(), AgentHealth::default()));
    let mut agents: BTreeMap<String, AgentHealth> = followed.collect();
    let mut agent_of: HashMap<SessionKey, String> = HashMap::new();
    let mut latest: HashMap<String, BTreeMap<Timestamp, SessionKey>> = HashMap::new();
    list_sessions::visit_tracked(store, live, &mut |session| {
        let agent = &session.id.agent;
        agent_of.insert(session.key, agent.clone());
        let latest = latest.entry(agent.clone()).or_default();
        latest.insert(session.last_activity, session.key);
        if latest.len() > VERSIONS_TRIED {
            latest.pop_first();
        }
        let health = agents.entry(agent.clone()).or_default();
        health.sessions += u64::from(list_sessions::is_listed(session));
    })?;
    visit_tallies(store, at_hand, &mut |key, tally| {
        let Some(health) = agent_of.get(&key.session).and_then(|agent| agents.get_mut(agent))
        else {
            return;
        };
        health.read += tally.read;
        for (kind, count) in &tally.skipped {
            *health.skipped.entry(kind.clone()).or_default() += count;
        }
    })?;
    for (agent, latest) in latest {
        let Some(health) = agents.get_mut(&agent) else { continue };
        for session in latest.into_values().rev() {
            let source = SourceKey { session, number: 0 };
            if health.version.is_none() {
                health.version = reading::agent_version(store, source)?;
            }
        }
    }
    Ok(agents.into_iter().map(|(agent, health)| AgentHealth { agent, ..health }).collect())
}

/// Describes a search index that makes no progress.
fn stalled(lag: IndexLag) -> Option<String> {
    lag.is_stalled.then(|| {
        format!(
            "the search index is {} changes behind the database and makes no progress; new text is not found",
            lag.changes
        )
    })
}

fn limits(daemon: &DaemonState) -> DiskLimits {
    let quota::DiskLimits { database, index, spool, log } = daemon.keeper.limits();
    DiskLimits { database_bytes: database, index_bytes: index, spool_bytes: spool, log_bytes: log }
}

fn evicted(daemon: &DaemonState) -> EvictionStats {
    let gone = daemon.keeper.evicted();
    EvictionStats {
        sessions: gone.sessions,
        text_bytes: gone.bytes,
        episodes: gone.episodes,
        at: gone.at().map(|at| at.to_string()),
    }
}

/// Sums up all files.
fn records(store: &dyn Store, at_hand: &[Source]) -> Result<Records, StoreError> {
    let mut records = Records::default();
    visit_tallies(store, at_hand, &mut |_, tally| {
        records.read += tally.read;
        records.repaired += tally.repaired;
        records.broken += tally.broken;
        records.restarts += tally.restarts;
        for (kind, count) in &tally.skipped {
            *records.skipped.entry(kind.clone()).or_default() += count;
        }
    })?;
    Ok(records)
}

/// Calls `visit` for each file. The state of an open file is newer than its record in the store.
fn visit_tallies(
    store: &dyn Store,
    at_hand: &[Source],
    visit: &mut dyn FnMut(SourceKey, &Tally),
) -> Result<(), StoreError> {
    let open: HashMap<SourceKey, &Source> = at_hand.iter().map(|open| (open.key, open)).collect();
    store.visit_sources(&mut |stored| {
        visit(stored.key, &open.get(&stored.key).copied().unwrap_or(&stored).tally);
        true
    })
}

fn watch_mode(mode: Option<Mode>) -> &'static str {
    match mode {
        None => "starting",
        Some(Mode::Events) => "events",
        Some(Mode::Polling(PollingReason::Asked)) => "polling, as configured",
        Some(Mode::Polling(PollingReason::FileSystem)) => {
            "polling, because the file system reports no changes"
        }
        Some(Mode::Polling(PollingReason::TooManyFolders)) => {
            "polling, because there are more folders than fs.inotify.max_user_watches allows"
        }
        Some(Mode::Polling(PollingReason::Failed)) => "polling, because watching failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_index_is_a_problem_only_when_it_does_not_move() {
        assert_eq!(stalled(IndexLag { changes: 7, is_stalled: false }), None);
        let problem = stalled(IndexLag { changes: 7, is_stalled: true });
        assert!(problem.is_some_and(|problem| problem.contains("7 changes behind")));
    }
}
