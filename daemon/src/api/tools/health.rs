//! `session_tracking_health`.

use graphiti_proto::{
    rpc::Error,
    tools::health::{Answer, Arguments, History, Kept, NAME, Records, Sessions},
};

use super::{Tool, engine_error, store_error, typed};
use crate::{
    api::Daemon,
    clock,
    engine::{Mode, PollingReason, Status},
    model::session::Session,
    store::StoreError,
};

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    description: "Show what the memory daemon is doing, how much it knows, and what went wrong lately.",
    call: |daemon, _, arguments| Box::pin(typed(arguments, |given| run(daemon, given))),
};

async fn run(daemon: &Daemon, _: Arguments) -> Result<Answer, Error> {
    let status = daemon.engine.status().await.map_err(engine_error)?;
    let store = daemon.engine.store();
    let totals = store.totals();
    let is_fine = status.problems.is_empty() && status.failed == 0;
    Ok(Answer {
        status: if is_fine { "ok" } else { "degraded" }.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        home: daemon.home.display().to_string(),
        uptime_seconds: clock::now().since(daemon.started_at).as_secs(),
        watched: daemon.watched.iter().map(|folder| folder.display().to_string()).collect(),
        watch_mode: watch_mode(status.mode).to_owned(),
        sessions: sessions(&status, totals.sessions),
        history: History {
            scanned: status.scanned,
            done: status.history_done,
            left: status.history_left + status.unidentified,
            bytes_read: status.bytes_read,
        },
        kept: Kept {
            messages: totals.messages,
            episodes: totals.episodes,
            database_bytes: store.disk_bytes(),
            index_bytes: 0,
        },
        records: records(daemon).map_err(store_error)?,
        jobs: status.jobs,
        problems: status.problems,
    })
}

fn sessions(status: &Status, total: u64) -> Sessions {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let live = status.active + status.inactive + status.indexing + status.failed + status.unindexed;
    Sessions {
        total,
        active: number(status.active),
        inactive: number(status.inactive),
        indexing: number(status.indexing),
        indexed: total.saturating_sub(number(live)),
        failed: number(status.failed),
        unindexed: number(status.unindexed),
    }
}

fn records(daemon: &Daemon) -> Result<Records, StoreError> {
    let store = daemon.engine.store();
    let mut records = Records::default();
    let mut keys = Vec::new();
    let visit = &mut |session: Session| {
        keys.push(session.key);
        true
    };
    store.visit_sessions(visit)?;
    for key in keys {
        for source in store.sources_of(key)? {
            records.read += source.tally.read;
            records.repaired += source.tally.repaired;
            records.broken += source.tally.broken;
            records.restarts += source.tally.restarts;
            for (kind, count) in source.tally.skipped {
                *records.skipped.entry(kind).or_default() += count;
            }
        }
    }
    Ok(records)
}

fn watch_mode(mode: Option<Mode>) -> &'static str {
    match mode {
        None => "starting",
        Some(Mode::Events) => "events",
        Some(Mode::Polling(PollingReason::Asked)) => "polling, as configured",
        Some(Mode::Polling(PollingReason::FileSystem)) => {
            "polling, for the file system reports no changes"
        }
        Some(Mode::Polling(PollingReason::TooManyFolders)) => {
            "polling, for there are more folders than fs.inotify.max_user_watches allows"
        }
        Some(Mode::Polling(PollingReason::Failed)) => "polling, for watching failed",
    }
}
