//! Keeps the shared graph up to date with the sessions of this machine.
//!
//! The follower of the outbox ([`queue`]) records which sessions have changed, in memory and in the
//! store. It never waits for the network. [`work`] takes these sessions, compares their data in the
//! graph ([`ledger`]) with the data that should be there ([`map`]), and writes the difference. So
//! the backlog is at most one small note per session, and no change is lost by a crash, a lost
//! connection or a graph database that is down for days. A *fill* compares all sessions.
//!
//! In this module, an *engine* is the graph database that contains the shared graph.

pub mod check;
mod compare;
mod ledger;
pub mod map;
mod origin;
mod pending;
mod preview;
mod queue;
mod salvage;
mod state;
pub mod team;
mod team_answer;
#[cfg(test)]
mod tests;
mod work;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
    time::Duration,
};

use tokio::sync::{Notify, watch};

pub use self::{map::Author, preview::Preview, salvage::salvage};
use self::{
    map::SessionMapper,
    pending::{FillProgress, PendingSessions},
    queue::ShareQueue,
    team::LatestEpisodes,
};
pub use crate::{engine::projects::ProjectIdentity, graph::config::GroupId};
use crate::{
    engine::{
        follow::{FollowerProgress, OutboxFollower, OutboxPositions},
        projects::Projects,
    },
    model::{SessionKey, Timestamp},
    redact::Redactor,
    share::{self, GraphEngine, config::Config},
    store::{Note, NoteNamespace, Store, Write},
};

/// The synchronisation of this machine with the shared graph.
pub struct Sharing {
    store: Arc<dyn Store>,
    projects: Arc<Projects>,
    redactor: Redactor,
    machine: String,
    home: Option<String>,
    pauses: Pauses,
    target: RwLock<Arc<ShareTarget>>,
    pending: Mutex<PendingSessions>,
    /// The cached latest episodes of other machines, for handoffs that cannot wait.
    latest: Mutex<LatestEpisodes>,
    status: watch::Sender<ShareStatus>,
    followed: watch::Sender<FollowerProgress>,
    /// Notified when there is work, or the settings have changed.
    changed: Notify,
}

/// The current settings, and the connections to the configured engine.
pub struct ShareTarget {
    pub config: Config,
    pub engine: Option<Arc<dyn GraphEngine>>,
    /// A separate connection for queries, so that queries do not wait for writes.
    pub reader: Option<Arc<dyn GraphEngine>>,
}

/// The pauses of the background work, and the time limit of queries.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    /// The first pause after a failure. The pause doubles with each further failure, up to
    /// `longest`.
    pub first: Duration,
    pub longest: Duration,
    /// The time without work after which the engine is checked for a restart.
    pub check: Duration,
    /// Maximum duration of a query about sessions of other machines.
    pub answer: Duration,
}

/// The progress of the synchronisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareStatus {
    pub is_on: bool,
    /// The number of sessions that wait to be compared with the graph, with the rejected sessions.
    pub backlog: usize,
    /// The number of sessions that the engine rejected, or that cannot be removed from the graph
    /// because of a damaged record. Such a session is not sent again until it changes, a fill is
    /// requested or the daemon starts again.
    pub rejected: usize,
    /// The progress of the current fill: the number of compared sessions, and the number of all
    /// sessions.
    pub fill: Option<(usize, usize)>,
    /// Why the graph is not up to date at present.
    pub error: Option<String>,
    pub last_success: Option<Timestamp>,
    /// The number of sessions that were written since the daemon opened the database or the
    /// settings of sharing changed.
    pub written: u64,
    /// The engine with its version; empty until the engine has answered.
    pub engine: String,
}

impl Default for Pauses {
    fn default() -> Pauses {
        Pauses {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(300),
            check: Duration::from_secs(60),
            answer: Duration::from_millis(1_500),
        }
    }
}

impl ShareTarget {
    pub fn new(config: &Config) -> ShareTarget {
        let (engine, reader) = (share::connect(config), share::connect(config));
        ShareTarget { config: config.clone(), engine, reader }
    }

    fn is_on(&self) -> bool {
        self.engine.is_some()
    }

    /// Returns the engine's address. When the address changes, all sessions are written again.
    pub fn address(&self) -> String {
        match self.config.endpoint() {
            Ok(Some(endpoint)) => endpoint.to_string(),
            // An invalid address was reported when the configuration was read.
            Ok(None) | Err(_) => String::new(),
        }
    }

    fn is_shared(&self, project: &ProjectIdentity) -> bool {
        self.config.projects.iter().any(|entry| project.has_remote_or_folder(entry))
    }
}

impl Sharing {
    /// Loads the pending work of the last run. [`Sharing::run`] continues it.
    pub fn new(
        store: Arc<dyn Store>,
        projects: Arc<Projects>,
        machine: String,
        target: ShareTarget,
        pauses: Pauses,
    ) -> Sharing {
        let pending = PendingSessions::load(store.as_ref());
        let status = ShareStatus { is_on: target.is_on(), ..ShareStatus::default() };
        let home = std::env::home_dir().map(|home| home.to_string_lossy().into_owned());
        Sharing {
            store,
            projects,
            redactor: Redactor::new(),
            machine,
            home,
            pauses,
            target: RwLock::new(Arc::new(target)),
            pending: Mutex::new(pending),
            latest: Mutex::default(),
            status: watch::Sender::new(status),
            followed: watch::Sender::default(),
            changed: Notify::new(),
        }
    }

    /// Replaces the settings if they have changed.
    pub fn set_target(&self, target: ShareTarget) {
        if self.target().config == target.config {
            return;
        }
        let is_on = target.is_on();
        *self.target.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(target);
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.status.send_modify(|status| {
            *status =
                ShareStatus { is_on, last_success: status.last_success, ..ShareStatus::default() };
        });
        self.changed.notify_one();
    }

    /// Returns the current settings.
    pub fn target(&self) -> Arc<ShareTarget> {
        self.target.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn status(&self) -> ShareStatus {
        let (backlog, fill) = {
            let pending = self.lock();
            (pending.len(), pending.fill_progress())
        };
        let fill = fill.map(|FillProgress { done, total }| (done, total));
        ShareStatus { backlog, fill, ..self.status.borrow().clone() }
    }

    /// Returns the name of this machine, as colleagues see it.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// Returns the follower that notes changes for [`Sharing::run`].
    pub fn follower(self: &Arc<Self>, positions: &OutboxPositions) -> OutboxFollower<ShareQueue> {
        OutboxFollower::new(self.store.clone(), ShareQueue::new(self.clone()), positions)
    }

    /// Requests a fill: a comparison of all sessions with the graph. With `is_forced`, all sessions
    /// are written, even sessions that the graph already contains according to the ledger.
    pub fn fill(&self, is_forced: bool) {
        let write = self.lock().request_fill(is_forced);
        // If the daemon crashes before the note is on disk, the user has to request the fill again.
        let _ = self.store.write(vec![write]);
        self.status.send_modify(|status| status.error = None);
        self.changed.notify_one();
    }

    /// Records that a user deleted a session or its episode. While sharing is off, this is
    /// recorded, too, because a later comparison of all sessions keeps episodes that this machine
    /// lacks.
    pub fn note_deletion(&self, session: SessionKey) {
        self.lock().mark_deleted(session);
        self.changed.notify_one();
    }

    /// Waits until the graph is up to date, or cannot be updated at present.
    pub async fn wait_until_settled(&self) {
        let end = *self.store.outbox_ends().borrow();
        // The senders are in `self`, so the channels cannot close meanwhile.
        let _ = self.followed.subscribe().wait_for(|followed| followed.position >= end).await;
        let is_settled = |status: &ShareStatus| {
            let pending = self.lock();
            // Before the first success, the work may not have begun.
            let is_idle = status.last_success.is_some() && pending.is_idle();
            !status.is_on || status.error.is_some() || is_idle
        };
        // The sender of this channel is in `self`, too.
        let _ = self.status.subscribe().wait_for(is_settled).await;
    }

    fn mark_changed(&self, session: SessionKey) {
        if self.target().is_on() {
            self.lock().mark_changed(session, false);
            self.changed.notify_one();
        }
    }

    fn author(&self, config: &Config) -> Author {
        Author {
            name: config.name.clone().unwrap_or_default(),
            machine: self.machine.clone(),
            home: self.home.clone(),
        }
    }

    fn mapper<'m>(
        &'m self,
        author: &'m Author,
        is_shared: &'m dyn Fn(&ProjectIdentity) -> bool,
    ) -> SessionMapper<'m> {
        SessionMapper {
            store: self.store.as_ref(),
            projects: &self.projects,
            redactor: self.redactor.clone(),
            author,
            is_shared,
            groups: Default::default(),
            episodes: Default::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, PendingSessions> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the write of the note which records that a user deleted an episode. Unlike an evicted
/// episode, a deleted episode is also removed from the shared graph.
pub fn deletion(session: SessionKey) -> Write {
    Write::Note(Note {
        namespace: NoteNamespace::SharePending,
        name: session.0.to_be_bytes().to_vec(),
        content: Some(vec![pending::DELETED]),
    })
}
