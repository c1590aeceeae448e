//! A round: one open database, and the tasks that use it.

use std::{
    path::Path,
    sync::{Arc, RwLock, Weak},
    time::Duration,
};

use anyhow::Context;
use tokio::sync::{Notify, mpsc, watch};

use super::{
    Supervisor,
    database::{self, OpenedDatabase},
    folders::{left_out_notice, transcript_folders},
    models::Models,
    reserve,
    tasks::{Ended, Task, Tasks},
};
use crate::{
    api::{self, AdminRequest, DaemonState, WatchedFolders},
    capture::watch::{Method, Notice, Watch, Watched},
    clock,
    engine::{
        Engine, LastRun, TranscriptFolders,
        crash_tracker::CrashTracker,
        embedding::EmbeddingService,
        follow::{self, OutboxPositions},
        quota::{IndexQuota, QuotaKeeper},
        sharing::{Pauses, ShareTarget, Sharing},
    },
    store::{Store, StoreHealth},
    view::Viewer,
};

/// Interval of the scans of the spool if the file system does not report changes.
const SPOOL_POLL: Duration = Duration::from_secs(5);

/// Everything that lives as long as the database is open.
pub(super) struct Round {
    pub(super) tasks: Tasks,
    pub(super) daemon: api::SharedDaemon,
    pub(super) models: Models,
    pub(super) requests: mpsc::Receiver<AdminRequest>,
    pub(super) viewer: Viewer,
    stop: watch::Sender<bool>,
    spool_watch: Watch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoundEnd {
    Stopped,
    /// The database must be reopened: it failed and may work again, or it can become smaller.
    Again,
    /// This task ended unexpectedly.
    Broken(Task),
}

impl Supervisor {
    /// Opens everything before any task starts.
    pub(super) async fn open_round(&mut self, is_first: bool) -> anyhow::Result<Round> {
        let home = self.home.path().to_owned();
        let OpenedDatabase { store, problem: damage } =
            database::open(&home, self.config.limits.database_bytes)?;
        // If reopening did not make the database smaller, reopening it again would not help.
        let can_shrink = is_first || !store.quota().is_near_limit();
        let models = Models::new(&home, store.clone(), self.redactor.clone(), &self.config);
        let mut models = models.context("read the classifications of tools")?;
        let embedding =
            Arc::new(EmbeddingService::new(store.clone(), models.embeddings(&self.config)));
        let (limits, in_force) = watch::channel(self.config.limits);
        let index_quota = IndexQuota::new(in_force);
        let positions = OutboxPositions::new(store.clone());
        let vectors = embedding.follower(&positions);
        let follower = follow::open(&follow::folder(&home), store.clone(), index_quota, &positions)
            .context("open the search index")?;
        let indexes = follower.target().indexes().clone();
        let (followed, reached) = watch::channel(follow::FollowerProgress::default());
        let folders = self.folders(is_first);
        let watched = WatchedFolders::of(&folders);
        let settings = self.settings(&mut models);
        let engine = Engine::new(store.clone(), settings, folders, last_run(&home, reached));
        let (engine, engine_loop) = engine.context("start the engine")?;
        let sharing = Arc::new(self.sharing(store, &engine));
        let shared = sharing.follower(&positions);
        self.report_problems(damage, &engine).await;
        let (admin_requests, requests) = mpsc::channel(4);
        let daemon = Arc::new(DaemonState {
            keeper: Arc::new(QuotaKeeper::new(engine.clone(), indexes.clone(), limits, can_shrink)),
            engine,
            indexes,
            embedding: embedding.clone(),
            sharing: sharing.clone(),
            home: home.clone(),
            config: RwLock::new(self.config.api.clone()),
            hook_stats: api::methods::hook::HookStats::default(),
            recall: api::recall::RecallCache::default(),
            watched: RwLock::new(watched),
            started_at: self.started_at,
            admin_requests,
            stop_requested: self.stop_requested.clone(),
        });
        daemon.notify_hooks();
        api::spool::limit(&daemon.home, self.config.limits.spool_bytes);
        let changed = Arc::new(Notify::new());
        let spool_watch = watch_spool(&home, changed.clone())?;
        let listener = self.listen()?;
        reserve::ensure_reserve(&home);
        let (stop, stopping) = watch::channel(false);
        let mut tasks = Tasks::default();
        tasks.spawn(Task::Follower, follower.run(followed, stopping.clone()));
        tasks.spawn(Task::Embedder, embedding.run(vectors, stopping.clone()));
        tasks.spawn(Task::Sharing, sharing.run(shared, stopping.clone()));
        tasks.spawn(Task::Engine, engine_loop.run());
        spawn_services(&mut tasks, &daemon, changed);
        if let Some(listener) = listener {
            tasks.spawn(Task::Server, api::server::serve(listener, daemon.clone(), stopping));
        }
        Ok(Round { tasks, daemon, models, requests, viewer: Viewer::default(), stop, spool_watch })
    }

    /// Returns the folders with transcripts. Warns once about folders that are not followed.
    fn folders(&self, is_first: bool) -> TranscriptFolders {
        let folders = transcript_folders(&self.config);
        if let Some(notice) = left_out_notice(&folders).filter(|_| is_first) {
            tracing::warn!("{notice}");
        }
        folders
    }

    async fn report_problems(&mut self, damage: Option<String>, engine: &Engine) {
        for problem in self.problem.take().into_iter().chain(damage) {
            engine.note_problem(problem).await;
        }
    }

    fn sharing(&self, store: Arc<dyn Store>, engine: &Engine) -> Sharing {
        Sharing::new(
            store,
            engine.projects().clone(),
            api::methods::transfer::host(),
            ShareTarget::new(&self.config.share),
            Pauses::default(),
        )
    }
}

fn last_run(home: &Path, followed: watch::Receiver<follow::FollowerProgress>) -> LastRun {
    let crash_tracker = CrashTracker::open(&home.join("at_work.json"), clock::now());
    LastRun { followed, crash_tracker }
}

/// Starts the tasks that send requests to the engine.
fn spawn_services(tasks: &mut Tasks, daemon: &api::SharedDaemon, spool_changed: Arc<Notify>) {
    tasks.spawn(Task::QuotaKeeper, daemon.keeper.clone().run());
    tasks.spawn(Task::Remaker, daemon.engine.clone().remake_summaries());
    tasks.spawn(Task::Spool, api::spool::process_spool(daemon.clone(), spool_changed));
}

impl Round {
    /// Returns a weak reference to the database, to detect when the database is no longer used.
    pub(super) fn opened(&self) -> Weak<dyn Store> {
        Arc::downgrade(self.daemon.engine.store())
    }

    /// Returns how the round ends after the end of a task, or `None` if the round continues.
    pub(super) fn round_end_after(&self, ended: Ended) -> Option<RoundEnd> {
        let Ended { task, is_defect } = ended;
        let condition = self.daemon.engine.store().quota().health();
        let is_store_broken = matches!(&*condition.borrow(), StoreHealth::Failed(_));
        match task {
            Task::QuotaKeeper if !is_defect => Some(RoundEnd::Again),
            // The round continues with searches in the existing index, until the quota keeper finds
            // that the database works again.
            Task::Follower | Task::Embedder | Task::Sharing if !is_defect && is_store_broken => {
                None
            }
            _ => {
                tracing::error!(is_defect, "{task} has ended");
                Some(RoundEnd::Broken(task))
            }
        }
    }

    /// Ends the tasks: first those that accept requests, then the engine, then those that follow
    /// the store. Tasks that do not end in time are aborted. The database closes when nothing uses
    /// it.
    pub(super) async fn end(self, limit: Duration) {
        let Round { mut tasks, daemon, models, mut viewer, stop, spool_watch, .. } = self;
        let ending = async {
            stop.send_replace(true);
            viewer.close().await;
            tasks.abort(Task::QuotaKeeper).await;
            tasks.wait_until_ended(Task::Server).await;
            drop(spool_watch);
            tasks.abort(Task::Spool).await;
            tasks.abort(Task::Remaker).await;
            let engine = daemon.engine.clone();
            drop(daemon);
            engine.stop().await;
            drop(engine);
            tasks.wait_until_ended(Task::Engine).await;
            drop(models);
            tasks.wait_until_ended(Task::Embedder).await;
            tasks.wait_until_ended(Task::Sharing).await;
            tasks.wait_until_ended(Task::Follower).await;
        };
        if tokio::time::timeout(limit, ending).await.is_err() {
            tracing::error!(running = ?tasks.running(), "some tasks did not end in time");
        }
    }
}

/// Watches for new events in the spool. While the daemon runs, hooks write to the spool if the
/// daemon does not answer in time.
fn watch_spool(home: &Path, changed: Arc<Notify>) -> anyhow::Result<Watch> {
    let folder = api::spool::open(home).context("open the spool")?;
    let watched = Watched {
        roots: vec![folder],
        wanted: Arc::new(|path: &Path| {
            path.extension().is_some_and(|extension| extension == "json")
        }),
        method: Method::Automatic,
        poll_every: SPOOL_POLL,
    };
    let report = move |notice| {
        if let Notice::Files(_) = notice {
            changed.notify_one();
        }
        true
    };
    Watch::start(watched, report).context("watch the spool")
}
