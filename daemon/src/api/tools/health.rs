//! `session_tracking_health`: reports the state of the daemon and its problems.

use std::collections::HashMap;

use graphiti_proto::{
    rpc::Error,
    tools::health::{
        AgentHealth, DiskLimits, Embeddings, EvictionStats, HealthAnswer, HealthArguments, History,
        IndexHealth, ModelHealth, NAME, Records, Redaction, Sessions, StoredTotals,
    },
};

use super::{Effect, Tool, engine_error, input, list_sessions, output, typed};
use crate::{
    api::{DaemonState, convert, spool},
    clock,
    engine::{
        IndexLag, Mode, ModelStatus, PollingReason, Status, quota, reading,
        redaction::note::{self, StoredRules},
    },
    model::{
        SessionKey, Timestamp,
        episode::MEMORY,
        session::{Session, State},
    },
    store::{SessionCounts, Source, SourceKey, Store, StoreError, Tally, TotalsByAgent},
};

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Health of the memory",
    description: "Show what the memory daemon is doing, how much it knows, and its latest problems.",
    effect: Effect::Reads,
    input: input::<HealthArguments>,
    output: output::<HealthAnswer>,
    call: |daemon, _, arguments| Box::pin(typed(arguments, |given| run(daemon, given))),
};

fn redaction(store: &dyn Store) -> Redaction {
    // `run` reports an unreadable store as a problem.
    let stored = StoredRules::of(store).unwrap_or_else(|_| StoredRules::current());
    Redaction {
        rules: note::RULES_VERSION,
        is_older: stored.is_older(),
        is_unfinished: stored.unfinished.is_some(),
    }
}

async fn run(daemon: &DaemonState, _: HealthArguments) -> Result<HealthAnswer, Error> {
    let status = daemon.engine.status().await.map_err(engine_error)?;
    let store = daemon.engine.store();
    let open_files = daemon.engine.open_sources().await.map_err(engine_error)?;
    let mut problems = status.problems.clone();
    let live = list_sessions::live_sessions(daemon).await?;
    let by_agent = totals(store.as_ref(), &live, &open_files).unwrap_or_else(|error| {
        problems.push(error.to_string());
        TotalsByAgent::new()
    });
    let older_model_summaries = daemon.engine.older_model_summaries().unwrap_or_else(|error| {
        problems.push(error.to_string());
        0
    });
    // The problems of the engine do not always contain the present problem of the store.
    let refusal = daemon.refusal();
    problems
        .extend(refusal.iter().filter(|why| !problems.contains(why)).cloned().collect::<Vec<_>>());
    let lag = daemon.engine.index_lag();
    problems.extend(stalled(lag));
    let vectors = daemon.embedding.progress();
    let (evicted, watched) = (evicted(daemon), daemon.watched());
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
        watched: convert::paths(&watched.roots),
        unwatched: convert::paths(&watched.left_out),
        watch_mode: watch_mode(status.mode).to_owned(),
        sessions: sessions(&by_agent),
        agents: agents(daemon, &by_agent),
        history: History { refused: refusal, ..history(&status) },
        kept: stored_totals(daemon),
        limits: limits(daemon),
        evicted: evicted.clone(),
        let_go: evicted,
        index: IndexHealth { changes_behind: lag.changes, stalled: lag.is_stalled },
        records: records(&by_agent),
        jobs: status.jobs,
        redaction: redaction(store.as_ref()),
        older_summaries: daemon.engine.older_summaries(),
        older_model_summaries,
        model: model(status.model),
        embeddings: Embeddings {
            on: vectors.is_on,
            made: vectors.done,
            left: vectors.pending,
            error: vectors.error,
        },
        problems,
    })
}

fn history(status: &Status) -> History {
    History {
        scanned: status.scanned,
        done: status.history_done,
        left: status.history_left + status.unidentified,
        unread: status.unread,
        bytes_read: status.bytes_read,
        ..History::default()
    }
}

fn stored_totals(daemon: &DaemonState) -> StoredTotals {
    let store = daemon.engine.store();
    let totals = store.totals();
    StoredTotals {
        messages: totals.messages,
        episodes: totals.episodes,
        database_bytes: store.quota().disk_bytes(),
        index_bytes: daemon.keeper.index_bytes(),
        spool_bytes: spool::bytes(&daemon.home),
    }
}

fn model(status: ModelStatus) -> ModelHealth {
    ModelHealth {
        on: status.is_on,
        writes_summaries: status.writes_summaries,
        awaiting: status.awaiting,
        next_attempt: status.next_attempt.map(|at| at.to_string()),
        abandoned: status.abandoned,
        abandoned_error: status.abandoned_error,
        outage: status.outage,
        last_error: status.last_error,
    }
}

/// Returns the totals of each agent. The totals of the store are corrected, because sessions in
/// progress and open files are newer than their records in the store.
pub(super) fn totals(
    store: &dyn Store,
    live: &HashMap<SessionKey, Session>,
    open_files: &[Source],
) -> Result<TotalsByAgent, StoreError> {
    let mut totals = store.totals_by_agent();
    let is_in_progress =
        |session: &&Session| matches!(session.state, State::Active | State::Inactive);
    for session in live.values().filter(is_in_progress).filter(|one| one.id.agent != MEMORY) {
        let of_agent = totals.entry(session.id.agent.clone()).or_default();
        if let Some(stored) = store.session(session.key)? {
            of_agent.remove_session(&stored);
        }
        of_agent.add_session(session);
    }
    for open in open_files {
        let Some(session) = list_sessions::newest(store, live, open.key.session)? else {
            continue;
        };
        let stored = store.sources_of(session.key)?;
        let of_agent = totals.entry(session.id.agent).or_default();
        if let Some(stored) = stored.iter().find(|stored| stored.key == open.key) {
            of_agent.tally.subtract(&stored.tally);
        }
        of_agent.tally.add(&open.tally);
    }
    Ok(totals)
}

/// Counts the listed sessions by state, and the empty sessions, which are not listed.
pub(super) fn sessions(totals: &TotalsByAgent) -> Sessions {
    let mut counts = SessionCounts::default();
    totals.values().for_each(|totals| counts.add(&totals.sessions));
    Sessions {
        total: counts.listed(),
        active: counts.active,
        inactive: counts.inactive,
        indexing: counts.indexing,
        indexed: counts.indexed,
        failed: counts.failed,
        unindexed: counts.unindexed,
        empty: counts.empty,
    }
}

/// Lists the agents with their sessions and records. All followed agents are included, even those
/// without sessions.
fn agents(daemon: &DaemonState, totals: &TotalsByAgent) -> Vec<AgentHealth> {
    let (store, formats) = (daemon.engine.store().as_ref(), daemon.engine.formats());
    let mut totals = totals.clone();
    for format in formats.iter() {
        totals.entry(format.agent().to_owned()).or_default();
    }
    totals
        .into_iter()
        .map(|(agent, totals)| {
            let latest = totals.latest.iter().rev();
            let version = |(_, session): &(Timestamp, SessionKey)| {
                let source = SourceKey { session: *session, number: 0 };
                // An unreadable record has no version; the error is reported when the record is
                // used.
                reading::agent_version(store, source).unwrap_or_default()
            };
            AgentHealth {
                agent,
                version: latest.clone().find_map(version),
                sessions: totals.sessions.listed(),
                read: totals.tally.read,
                skipped: totals.tally.skipped,
            }
        })
        .collect()
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
    let quota::DiskLimits { database_bytes, index_bytes, spool_bytes, log_bytes } =
        daemon.keeper.limits();
    DiskLimits { database_bytes, index_bytes, spool_bytes, log_bytes }
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

/// Returns the sums over all agents.
fn records(totals: &TotalsByAgent) -> Records {
    let mut sum = Tally::default();
    totals.values().for_each(|totals| sum.add(&totals.tally));
    Records {
        read: sum.read,
        skipped: sum.skipped,
        repaired: sum.repaired,
        broken: sum.broken,
        restarts: sum.restarts,
    }
}

fn watch_mode(mode: Option<Mode>) -> &'static str {
    match mode {
        None => "starting",
        Some(Mode::Events) => "events",
        Some(Mode::Polling(PollingReason::Configured)) => "polling, as configured",
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
    fn a_search_index_is_a_problem_only_when_it_makes_no_progress() {
        assert_eq!(stalled(IndexLag { changes: 7, is_stalled: false }), None);
        let problem = stalled(IndexLag { changes: 7, is_stalled: true });
        assert!(problem.is_some_and(|problem| problem.contains("7 changes behind")));
    }
}
