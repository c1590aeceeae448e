//! The daemon from start to end.

mod aside;
mod models;
pub mod redact;
pub mod repair;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
    time::Duration,
};

use anyhow::Context;
use graphiti_proto::{endpoint, methods::Reloaded};
use tokio::sync::{Notify, mpsc, watch};

use self::models::Models;
use crate::{
    allocator,
    api::{self, Administration, Daemon},
    capture::{
        config::Filter,
        format::Surroundings,
        watch::{Method, Notice, Watch, Watched},
    },
    clock,
    config::{self, Config},
    engine::{
        Engine, Places, Settings,
        at_work::AtWork,
        embedding::Embedding,
        follow,
        pipeline::Means,
        room::{self, IndexRoom, Keeper},
    },
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
pub struct Options {
    /// Its home.
    pub home: PathBuf,
    /// The directory that it is started in, where a configuration may lie.
    pub directory: PathBuf,
}

/// What a stop may take before the process ends all the same.
const LAST_RESORT: Duration = Duration::from_secs(30);
/// After this time it is tried again to open a database that could not be opened anew.
const TRY_AGAIN: Duration = Duration::from_secs(30);
/// Between two looks whether somebody still holds a database.
const CLOSING: Duration = Duration::from_millis(10);
/// Between two looks into the spool, where the file system reports no changes.
const SPOOL_POLL: Duration = Duration::from_secs(5);

/// Runs the daemon until it is told to stop.
///
/// # Errors
///
/// When the home is taken or cannot be used, the configuration is wrong, or the database, the
/// index or the socket cannot be opened; the message says what to do.
pub fn run(options: &Options) -> anyhow::Result<()> {
    allocator::be_frugal();
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
    let wiring = Wiring {
        home,
        search,
        config: loaded.config,
        log,
        redactor: Redactor::new(),
        listener: None,
        started_at: clock::now(),
    };
    let served = runtime.block_on(wiring.serve());
    runtime.shutdown_timeout(LAST_RESORT);
    served
}

/// Where the configuration is looked for.
pub fn search(options: &Options) -> config::Search {
    config::Search {
        directory: Some(options.directory.clone()),
        home: options.home.clone(),
        user_home: std::env::home_dir(),
    }
}

struct Wiring {
    home: Home,
    search: config::Search,
    config: Config,
    log: logging::Handle,
    redactor: Redactor,
    /// Where callers are let in, while nobody serves them.
    listener: Option<(api::server::Listener, String)>,
    started_at: Timestamp,
}

/// Why the daemon came to the end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It was told to stop.
    Stopped,
    /// The database is to be opened anew: it failed and may work again, or it can be made smaller.
    Again,
}

impl Wiring {
    /// Serves in rounds. A round has one opened database, and everything that works with it: what
    /// cannot be written any more is not to be believed in memory either.
    async fn serve(mut self) -> anyhow::Result<()> {
        let mut signals = signals::listen().context("listen for signals")?;
        let mut end = self.round(&mut signals, true).await?;
        while end == End::Again {
            tracing::info!("the database is opened anew");
            end = match self.round(&mut signals, false).await {
                Ok(end) => end,
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::error!(error, "tried again in a moment");
                    self.turn_away(&mut signals, &error).await
                }
            };
        }
        tracing::info!("graphitid has stopped");
        Ok(())
    }

    /// Tells callers why they are not served, until it is time to try again or to stop.
    async fn turn_away(&self, signals: &mut mpsc::Receiver<Signal>, error: &str) -> End {
        let why = format!(
            "{error}; this is tried again every {} seconds; what was acknowledged is safe",
            TRY_AGAIN.as_secs()
        );
        let told = async {
            match &self.listener {
                Some((listener, _)) => api::server::turn_away(listener, &why).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            signal = signals.recv() => match signal {
                Some(Signal::Stop) | None => End::Stopped,
                Some(Signal::Reload) => End::Again,
            },
            () = tokio::time::sleep(TRY_AGAIN) => End::Again,
            () = told => End::Again,
        }
    }

    async fn round(
        &mut self,
        signals: &mut mpsc::Receiver<Signal>,
        is_first: bool,
    ) -> anyhow::Result<End> {
        let home = self.home.path().to_owned();
        let limits = self.limits();
        let (store, problem) = open_store(&home, limits.database)?;
        let opened = Arc::downgrade(&store);
        // What was opened to be made smaller, and is not, would not be the next time.
        let can_shrink = is_first || !store.is_tight();
        let mut models = Models::new(&home, store.clone(), self.redactor.clone(), &self.config);
        let embeddings = models.embeddings(&self.config);
        let embedding = Arc::new(Embedding::new(store.clone(), embeddings));
        let (limits, in_force) = watch::channel(limits);
        let room = IndexRoom::new(in_force);
        let follower = follow::open(&follow::folder(&home), store.clone(), room, embedding.clone())
            .context("open the search index")?;
        let indexes = follower.indexes().clone();
        let (followed, reached) = watch::channel(0);
        let (stop, stopping) = watch::channel(false);
        let follower = tokio::spawn(follower.run(followed, stopping.clone()));

        let embedder = tokio::spawn(embedding.clone().run(stopping.clone()));
        let places = places(&self.config);
        let watched = places.roots.clone();
        let at_work = AtWork::open(&home.join("at_work.json"), clock::now());
        let settings = self.settings(&mut models);
        let running = Engine::start(store, settings, places, (reached, at_work))
            .context("start the engine")?;
        if let Some(problem) = problem {
            running.engine.note_problem(problem).await;
        }
        let keeper = Keeper::new(running.engine.clone(), indexes.clone(), limits, can_shrink);
        let keeper = Arc::new(keeper);
        let keeping = tokio::spawn(keeper.clone().run());
        let (administration, requests) = mpsc::channel(4);
        let daemon = Arc::new(Daemon {
            engine: running.engine.clone(),
            indexes,
            embedding,
            keeper,
            home: home.clone(),
            query_timeout: self.config.api.query_timeout,
            hooks: RwLock::new(self.config.api.hooks.clone()),
            ears: api::methods::hook::Ears::default(),
            watched,
            started_at: self.started_at,
            administration,
        });
        if let Err(error) = api::spool::limit(&home, self.config.limits.spool_bytes) {
            tracing::warn!(%error, "hooks cannot be told how much may wait in the spool");
        }
        let server = self.listen(daemon.clone(), stopping);
        let heard = server.and_then(|server| Ok((server, follow_spool(daemon.clone())?)));
        let (server, (spool, spool_watch)) = match heard {
            Ok(heard) => heard,
            // A job that is cut short would be taken for one that ends the daemon.
            Err(error) => {
                running.stop().await;
                return Err(error);
            }
        };
        tracing::info!(home = %home.display(), "graphitid is ready");
        ready::ready();

        let ended = self.administer((&daemon, &mut models), signals, (requests, keeping)).await;

        tracing::info!("graphitid is stopping");
        if ended == End::Stopped {
            ready::stopping();
        }
        // Callers first, then the work in hand, then the index, and the database with the last of
        // those who hold it.
        stop.send_replace(true);
        if let Some((server, socket)) = server {
            self.listener = server.await.ok().map(|listener| (listener, socket));
        }
        drop(spool_watch);
        spool.abort();
        drop(spool.await);
        drop(daemon);
        running.stop().await;
        drop(models);
        drop(embedder.await);
        drop(follower.await);
        if ended == End::Again {
            closed(&opened).await;
        }
        Ok(ended)
    }

    fn limits(&self) -> room::Limits {
        let limits = &self.config.limits;
        room::Limits {
            database: limits.database_bytes,
            index: limits.index_bytes,
            spool: limits.spool_bytes,
            log: limits.log_bytes,
        }
    }

    fn listen(
        &mut self,
        daemon: api::Shared,
        stopping: watch::Receiver<bool>,
    ) -> anyhow::Result<Option<(tokio::task::JoinHandle<api::server::Listener>, String)>> {
        let hooks = &self.config.api.hooks;
        if !hooks.socket_enabled {
            tracing::warn!("hooks.socket_enabled is false: nobody can ask anything");
            return Ok(None);
        }
        let (listener, socket) = match self.listener.take() {
            Some(listener) => listener,
            None => match api::server::handed_over().context("take over the service's socket")? {
                Some(handed_over) => handed_over,
                None => self.open_socket()?,
            },
        };
        self.home.announce(&socket).context("say where it listens")?;
        Ok(Some((tokio::spawn(api::server::serve(listener, daemon, stopping)), socket)))
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

    /// Reloads when asked, until asked to stop or the database is to be opened anew.
    async fn administer(
        &mut self,
        (daemon, models): (&Daemon, &mut Models),
        signals: &mut mpsc::Receiver<Signal>,
        (mut requests, mut keeping): (mpsc::Receiver<Administration>, tokio::task::JoinHandle<()>),
    ) -> End {
        let end = loop {
            tokio::select! {
                signal = signals.recv() => match signal {
                    Some(Signal::Reload) => drop(self.reload(daemon, models).await),
                    Some(Signal::Stop) | None => break End::Stopped,
                },
                _ = &mut keeping => return End::Again,
                request = requests.recv() => match request {
                    Some(Administration::Reload(reply)) => {
                        drop(reply.send(self.reload(daemon, models).await));
                    }
                    Some(Administration::Stop) | None => break End::Stopped,
                },
            }
        };
        keeping.abort();
        drop(keeping.await);
        end
    }

    /// Reads the configuration again. What is wrong with it leaves the old one in force.
    async fn reload(&mut self, daemon: &Daemon, models: &mut Models) -> Reloaded {
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

impl Wiring {
    fn settings(&self, models: &mut Models) -> Settings {
        let capture = &self.config.capture;
        let means = Arc::new(Means {
            filter: Filter { long: long(&self.config), ..capture.filter.clone() },
            redactor: self.redactor.clone(),
            learned: models.lessons.shared(),
            summarize: self.config.summarize.clone(),
        });
        Settings {
            session: self.config.session,
            means: means.clone(),
            asker: models.asker(&self.config, means),
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
            let moved = aside::put_aside(&folder)?;
            aside::remove_old(&folder, &mut |said| tracing::warn!("{said}"));
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

/// Takes events out of the spool as they come. A hook that a daemon that hangs did not answer leaves
/// its event there, too, so what lies there at the start is not all.
fn follow_spool(daemon: api::Shared) -> anyhow::Result<(tokio::task::JoinHandle<()>, Watch)> {
    let folder = api::spool::open(&daemon.home).context("open the spool")?;
    let changed = Arc::new(Notify::new());
    let notify = changed.clone();
    let watched = Watched {
        roots: vec![folder],
        wanted: |path| path.extension().is_some_and(|extension| extension == "json"),
        method: Method::Automatic,
        poll_every: SPOOL_POLL,
    };
    let report = move |notice| {
        if let Notice::Files(_) = notice {
            notify.notify_one();
        }
        true
    };
    let watch = Watch::start(watched, report).context("watch the spool")?;
    Ok((tokio::spawn(api::spool::go_through(daemon, changed)), watch))
}

/// Where transcripts are looked for: nowhere when tracking is switched off.
fn places(config: &Config) -> Places {
    let Some(home) = std::env::home_dir().filter(|_| config.capture.enabled) else {
        return Places::nowhere();
    };
    let surroundings = Surroundings { home: &home, variable: &|name| std::env::var(name).ok() };
    Places::usual(&surroundings, &config.capture.watch_directories)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::SessionKey,
        store::{Write, contract},
    };

    #[tokio::test(start_paused = true)]
    async fn indexes_that_are_left_alone_come_to_rest_and_wake_up_again() {
        let home = tempfile::tempdir().unwrap();
        let (store, _) = open_store(home.path(), u64::MAX).unwrap();
        let config = Config::default();
        let models = Models::new(home.path(), store.clone(), Redactor::new(), &config);
        let embedding = Arc::new(Embedding::new(store.clone(), models.embeddings(&config)));
        let limits = room::Limits { database: u64::MAX, index: u64::MAX, spool: 0, log: 0 };
        let room = IndexRoom::new(watch::channel(limits).1);
        let follower =
            follow::open(&follow::folder(home.path()), store.clone(), room, embedding).unwrap();
        let indexes = follower.indexes().clone();
        let (followed, mut reached) = watch::channel(0);
        let (stop, stopping) = watch::channel(false);
        let follower = tokio::spawn(follower.run(followed, stopping));

        for key in [SessionKey(1), SessionKey(2)] {
            let session = contract::session(key, &key.0.to_string());
            let position = store.write(vec![Write::Session(Box::new(session))]).done().await;
            let position = position.unwrap();
            reached.wait_for(|reached| *reached >= position).await.unwrap();
            // Time passes when nothing else happens.
            tokio::time::sleep(Duration::from_secs(600)).await;
            assert!(indexes.sessions.is_at_rest());
            assert!(store.outbox(0, 1).unwrap().is_empty(), "it is not on disk");
        }
        stop.send_replace(true);
        follower.await.unwrap();
    }
}
