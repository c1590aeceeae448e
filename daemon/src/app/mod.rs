//! The daemon from start to end.

mod models;
mod quarantine;
pub mod redact;
pub mod repair;
mod reserve;
mod round;
mod tasks;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use graphiti_proto::{endpoint, methods::Reloaded};
use tokio::sync::mpsc;

use self::{
    models::Models,
    round::{Round, RoundEnd},
    tasks::Defects,
};
use crate::{
    allocator,
    api::{self, AdminRequest},
    capture::{config::Filter, format::Surroundings},
    clock,
    config::{self, Config},
    engine::{Settings, TranscriptFolders, pipeline::ParseContext, quota},
    lifecycle::{
        home::Home,
        ready,
        signals::{self, Signal},
    },
    logging,
    model::Timestamp,
    redact::Redactor,
    store::{Store, StoreError, sled::SledStore},
};

/// How the daemon is started.
#[derive(Clone, Debug)]
pub struct DaemonOptions {
    /// Its home.
    pub home: PathBuf,
    /// The directory that it is started in, where a configuration may lie.
    pub directory: PathBuf,
}

/// What a stop may take before the process ends all the same.
const LAST_RESORT: Duration = Duration::from_secs(30);
/// And what threads may take after that which are in the midst of something.
const LAST_THREADS: Duration = Duration::from_secs(5);
/// After this time it is tried again to open a database that could not be opened anew.
const TRY_AGAIN: Duration = Duration::from_secs(30);
/// Between two looks whether somebody still holds a database.
const CLOSING: Duration = Duration::from_millis(10);

/// Runs the daemon until it is told to stop.
///
/// # Errors
///
/// When the home is taken or cannot be used, the configuration is wrong, or the database, the
/// index or the socket cannot be opened; the message says what to do.
pub fn run(options: &DaemonOptions) -> anyhow::Result<()> {
    allocator::be_frugal();
    reserve::release_when_full(&options.home);
    let home = Home::take(&options.home)?;
    let search = search(options);
    let loaded = config::load(&search)?;
    let log = logging::start(&loaded.config.log, loaded.config.limits.log_bytes, home.path())
        .context("start the log")?;
    for notice in &loaded.notices {
        tracing::warn!("{notice}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("graphitid")
        .enable_all()
        .build()
        .context("start the runtime")?;
    let wiring = Supervisor {
        home,
        search,
        config: loaded.config,
        log,
        redactor: Redactor::new(),
        listener: None,
        problem: None,
        started_at: clock::now(),
    };
    let served = runtime.block_on(wiring.serve());
    runtime.shutdown_timeout(LAST_THREADS);
    served
}

/// Where the configuration is looked for.
pub fn search(options: &DaemonOptions) -> config::FileSearch {
    config::FileSearch {
        directory: Some(options.directory.clone()),
        home: options.home.clone(),
        user_home: std::env::home_dir(),
    }
}

struct Supervisor {
    home: Home,
    search: config::FileSearch,
    config: Config,
    log: logging::Handle,
    redactor: Redactor,
    /// Where callers are let in, from one round to the next.
    listener: Option<(Arc<api::server::Listener>, String)>,
    /// What the last round ended with, to be told in the next one.
    problem: Option<String>,
    started_at: Timestamp,
}

impl Supervisor {
    /// Serves in rounds. A round has one opened database, and everything that works with it: what
    /// cannot be written any more is not to be believed in memory either.
    async fn serve(mut self) -> anyhow::Result<()> {
        let mut signals = signals::listen().context("listen for signals")?;
        let mut defects = Defects::default();
        let mut end = self.round(&mut signals, true).await?;
        loop {
            match end {
                RoundEnd::Stopped => break,
                RoundEnd::Again => tracing::info!("the database is opened anew"),
                RoundEnd::Broken(task) => {
                    ensure!(
                        defects.survives(Instant::now()),
                        "{task} ended again and again for a defect in graphitid; its log says where"
                    );
                    self.problem = Some(format!(
                        "{task} ended for a defect in graphitid; everything was started anew, and the log says where it was"
                    ));
                }
            }
            end = match self.round(&mut signals, false).await {
                Ok(end) => end,
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::error!(error, "tried again in a moment");
                    self.reject_all(&mut signals, &error).await
                }
            };
        }
        tracing::info!("graphitid has stopped");
        Ok(())
    }

    async fn round(
        &mut self,
        signals: &mut mpsc::Receiver<Signal>,
        is_first: bool,
    ) -> anyhow::Result<RoundEnd> {
        let mut round = self.open_round(is_first).await?;
        tracing::info!(home = %self.home.path().display(), "graphitid is ready");
        ready::ready();
        let end = self.administer(&mut round, signals).await;
        tracing::info!("graphitid is stopping");
        if end == RoundEnd::Stopped {
            ready::stopping();
        }
        let opened = round.opened();
        round.end(LAST_RESORT).await;
        if end != RoundEnd::Stopped {
            closed(&opened).await;
        }
        Ok(end)
    }

    /// Tells callers why they are not served, until it is time to try again or to stop.
    async fn reject_all(&self, signals: &mut mpsc::Receiver<Signal>, error: &str) -> RoundEnd {
        let why = format!(
            "{error}; this is tried again every {} seconds; what was acknowledged is safe",
            TRY_AGAIN.as_secs()
        );
        let told = async {
            match &self.listener {
                Some((listener, _)) => api::server::reject_all(listener, &why).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            signal = signals.recv() => match signal {
                Some(Signal::Stop) | None => RoundEnd::Stopped,
                Some(Signal::Reload) => RoundEnd::Again,
            },
            () = tokio::time::sleep(TRY_AGAIN) => RoundEnd::Again,
            () = told => RoundEnd::Again,
        }
    }

    fn limits(&self) -> quota::DiskLimits {
        let limits = &self.config.limits;
        quota::DiskLimits {
            database: limits.database_bytes,
            index: limits.index_bytes,
            spool: limits.spool_bytes,
            log: limits.log_bytes,
        }
    }

    /// Opens the socket, or takes up the one of the round before, and says where it is. `None` when
    /// nobody may ask anything.
    fn listen(&mut self) -> anyhow::Result<Option<Arc<api::server::Listener>>> {
        if !self.config.api.hooks.socket_enabled {
            tracing::warn!("hooks.socket_enabled is false: nobody can ask anything");
            return Ok(None);
        }
        let (listener, socket) = match self.listener.take() {
            Some(listener) => listener,
            None => {
                let inherited_listener = api::server::inherited_listener();
                let (listener, socket) =
                    match inherited_listener.context("take over the service's socket")? {
                        Some(inherited_listener) => inherited_listener,
                        None => self.open_socket()?,
                    };
                (Arc::new(listener), socket)
            }
        };
        // It outlives the round, whatever becomes of that.
        self.listener = Some((listener.clone(), socket.clone()));
        self.home.announce(&socket).context("say where it listens")?;
        Ok(Some(listener))
    }

    fn open_socket(&self) -> anyhow::Result<(api::server::Listener, String)> {
        let socket = match &self.config.api.hooks.socket_path {
            Some(path) => path.to_string_lossy().into_owned(),
            None => endpoint::usual_socket(self.home.path()),
        };
        let listener = api::server::listen(&socket).with_context(|| {
            format!("listen at {socket}; session_tracking.hooks.socket_path sets another place")
        })?;
        Ok((listener, socket))
    }

    /// Reloads when asked, until asked to stop, or until the round has to end.
    async fn administer(
        &mut self,
        round: &mut Round,
        signals: &mut mpsc::Receiver<Signal>,
    ) -> RoundEnd {
        loop {
            tokio::select! {
                signal = signals.recv() => match signal {
                    Some(Signal::Reload) => {
                        let _changes_are_logged = self.reload(round).await;
                    }
                    Some(Signal::Stop) | None => return RoundEnd::Stopped,
                },
                ended = round.tasks.next() => {
                    if let Some(end) = round.end_after(ended) {
                        return end;
                    }
                },
                request = round.requests.recv() => match request {
                    Some(AdminRequest::Reload(reply)) => {
                        // Whoever asked may have hung up.
                        let _ = reply.send(self.reload(round).await);
                    }
                    Some(AdminRequest::Stop) | None => return RoundEnd::Stopped,
                },
            }
        }
    }

    /// Reads the configuration again. What is wrong with it leaves the old one in force.
    async fn reload(&mut self, round: &mut Round) -> Reloaded {
        let loaded = match config::load(&self.search) {
            Ok(loaded) => loaded,
            Err(problems) => {
                tracing::warn!("the old settings stay in force: {problems}");
                let problems = problems.to_string().lines().map(str::to_owned).collect();
                return Reloaded { problems, ..Reloaded::default() };
            }
        };
        for notice in &loaded.notices {
            tracing::warn!("{notice}");
        }
        let changes = config::changes(&self.config, &loaded.config);
        for change in &changes {
            tracing::info!("{change}");
        }
        self.config = loaded.config;
        self.log.set_level(&self.config.log);
        let Round { daemon, models, .. } = round;
        daemon.set_hooks(&self.config.api.hooks);
        let limits = self.limits();
        daemon.keeper.set_limits(limits);
        if let Err(error) = api::spool::limit(self.home.path(), limits.spool) {
            tracing::warn!(%error, "hooks cannot be told how much may wait in the spool");
        }
        models.renew(&daemon.embedding, &self.config);
        drop(daemon.engine.reload(self.settings(models), places(&self.config)).await);
        // An older spelling does what it says; the log has it.
        let mistakes = loaded.notices.iter().filter(|notice| !notice.is_migration());
        let notices = mistakes.map(ToString::to_string).collect();
        Reloaded { changes, notices, ..Reloaded::default() }
    }
}

impl Supervisor {
    fn settings(&self, models: &mut Models) -> Settings {
        let capture = &self.config.capture;
        let parse_context = Arc::new(ParseContext {
            filter: Filter { long: long(&self.config), ..capture.filter.clone() },
            redactor: self.redactor.clone(),
            learned: models.learned_tools.shared(),
            summarize: self.config.summarize.clone(),
        });
        Settings {
            session: self.config.session,
            parse_context: parse_context.clone(),
            summarizer: models.summarizer(&self.config, parse_context),
            excluded: [capture.excluded_paths.clone(), models.excluded()].concat(),
            keep: capture.keep,
        }
    }
}

/// From how many bytes on a message is long: a summary is to be half of it at most.
fn long(config: &Config) -> usize {
    usize::try_from(config.prompt.max_summary_chars).unwrap_or(usize::MAX).saturating_mul(2)
}

/// Opens the database. One that is damaged is put aside, or goes on with what is left of it; what
/// is then to be said of it comes back beside it.
fn open_store(home: &Path, limit: u64) -> anyhow::Result<(Arc<dyn Store>, Option<String>)> {
    let folder = database(home);
    let open = || SledStore::open_within(&folder, limit);
    let (store, problem) = match open() {
        Err(StoreError::Unreadable(what)) => {
            let moved = quarantine::put_aside(&folder)?;
            quarantine::remove_old(&folder, &mut |said| tracing::warn!("{said}"));
            let problem = format!(
                "{what}; it was moved to {}, and a new one is made from the transcripts that are still there; `graphiti repair` brings back what can be read of it",
                moved.display()
            );
            (open(), Some(problem))
        }
        opened => (opened, None),
    };
    let store = store.with_context(|| format!("open {}", folder.display()))?;
    let lost = match store.lost() {
        0 => None,
        lost => Some(format!(
            "{} was damaged: the last {lost} changes in it are gone; transcripts that are still there are read again",
            folder.display()
        )),
    };
    Ok((Arc::new(store), problem.or(lost)))
}

/// Waits until nobody holds a store any more; one that hangs is left behind.
async fn closed(store: &std::sync::Weak<dyn Store>) {
    let is_closed = async {
        while store.strong_count() > 0 {
            tokio::time::sleep(CLOSING).await;
        }
    };
    if tokio::time::timeout(LAST_RESORT, is_closed).await.is_err() {
        tracing::warn!("something still holds the database");
    }
}

/// The folder of the database.
fn database(home: &Path) -> PathBuf {
    home.join("db")
}

/// Where transcripts are looked for: nowhere when tracking is switched off.
fn places(config: &Config) -> TranscriptFolders {
    let Some(home) = std::env::home_dir().filter(|_| config.capture.enabled) else {
        return TranscriptFolders::nowhere();
    };
    let surroundings = Surroundings { home: &home, variable: &|name| std::env::var(name).ok() };
    TranscriptFolders::usual(&surroundings, &config.capture.watch_directories)
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch;

    use super::*;
    use crate::{
        engine::{follow, quota::IndexQuota},
        model::SessionKey,
        store::{Write, contract},
    };

    /// A follower of the database of a home, which runs until it is told to stop.
    struct RunningFollower {
        indexes: crate::engine::indexes::Indexes,
        reached: watch::Receiver<follow::FollowerProgress>,
        stop: watch::Sender<bool>,
        task: tokio::task::JoinHandle<()>,
    }

    fn following(home: &Path, store: &Arc<dyn Store>) -> RunningFollower {
        let positions = follow::OutboxPositions::new(store.clone());
        let limits = quota::DiskLimits { database: u64::MAX, index: u64::MAX, spool: 0, log: 0 };
        let room = IndexQuota::new(watch::channel(limits).1);
        let follower =
            follow::open(&follow::folder(home), store.clone(), room, &positions).unwrap();
        let indexes = follower.target().indexes().clone();
        let (followed, reached) = watch::channel(follow::FollowerProgress::default());
        let (stop, stopping) = watch::channel(false);
        RunningFollower {
            indexes,
            reached,
            stop,
            task: tokio::spawn(follower.run(followed, stopping)),
        }
    }

    fn session(key: SessionKey) -> Vec<Write> {
        vec![Write::Session(Box::new(contract::session(key, &key.0.to_string())))]
    }

    #[tokio::test(start_paused = true)]
    async fn indexes_that_are_left_alone_come_to_rest_and_wake_up_again() {
        let home = tempfile::tempdir().unwrap();
        let (store, _) = open_store(home.path(), u64::MAX).unwrap();
        let mut running = following(home.path(), &store);
        for key in [SessionKey(1), SessionKey(2)] {
            let position = store.write(session(key)).done().await.unwrap();
            running.reached.wait_for(|reached| reached.position >= position).await.unwrap();
            // Time passes when nothing else happens.
            tokio::time::sleep(Duration::from_secs(600)).await;
            assert!(running.indexes.sessions.is_at_rest());
            assert!(store.outbox(0, 1).unwrap().is_empty(), "it is not on disk");
        }
        running.stop.send_replace(true);
        running.task.await.unwrap();
    }

    #[tokio::test]
    async fn a_change_that_cannot_be_read_keeps_no_others_from_being_followed() {
        let home = tempfile::tempdir().unwrap();
        let (store, _) = open_store(home.path(), u64::MAX).unwrap();
        let mut end = 0;
        for key in 1..=3 {
            end = store.write(session(SessionKey(key))).done().await.unwrap();
        }
        drop(store);
        // The envelope of the second one is broken.
        let raw = sled::Config::default().path(database(home.path())).segment_size(2 << 20);
        let raw = raw.flush_every_ms(None).open().unwrap();
        let (key, _) = raw.scan_prefix(b"o").nth(1).unwrap().unwrap();
        raw.insert(key, b"damaged").unwrap();
        raw.flush().unwrap();
        drop(raw);
        let (store, _) = open_store(home.path(), u64::MAX).unwrap();
        let mut running = following(home.path(), &store);
        running.reached.wait_for(|reached| reached.position >= end).await.unwrap();
        running.stop.send_replace(true);
        running.task.await.unwrap();
    }
}
