//! The daemon from start to end.

mod models;
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
    api::{self, Administration, Daemon},
    capture::{
        config::Filter,
        format::Surroundings,
        watch::{Method, Notice, Watch, Watched},
    },
    clock,
    config::{self, Config},
    engine::{Engine, Places, Settings, embedding::Embedding, follow, pipeline::Means},
    lifecycle::{
        home::Home,
        ready,
        signals::{self, Signal},
    },
    logging,
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
/// Between two looks into the spool, where the file system reports no changes.
const SPOOL_POLL: Duration = Duration::from_secs(5);

/// Runs the daemon until it is told to stop.
///
/// # Errors
///
/// When the home is taken or cannot be used, the configuration is wrong, or the database, the
/// index or the socket cannot be opened; the message says what to do.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let home = Home::take(&options.home)?;
    let search = search(options);
    let loaded = config::load(&search)?;
    let log = logging::start(&loaded.config.log, home.path()).context("start the log")?;
    for notice in &loaded.notices {
        tracing::warn!("{notice}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("graphitid")
        .enable_all()
        .build()
        .context("start the runtime")?;
    let wiring = Wiring { home, search, config: loaded.config, log, redactor: Redactor::new() };
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
}

impl Wiring {
    async fn serve(mut self) -> anyhow::Result<()> {
        let mut signals = signals::listen().context("listen for signals")?;
        let home = self.home.path().to_owned();
        let (store, problem) = open_store(&home)?;
        let mut models = Models::new(&home, store.clone(), self.redactor.clone(), &self.config);
        let embeddings = models.embeddings(&self.config);
        let embedding = Arc::new(Embedding::new(store.clone(), embeddings));
        let follower = follow::open(&follow::folder(&home), store.clone(), embedding.clone())
            .context("open the search index")?;
        let indexes = follower.indexes().clone();
        let (followed, reached) = watch::channel(0);
        let (stop, stopping) = watch::channel(false);
        let follower = tokio::spawn(follower.run(followed, stopping.clone()));

        let embedder = tokio::spawn(embedding.clone().run(stopping.clone()));
        let places = places(&self.config);
        let watched = places.roots.clone();
        let running = Engine::start(store, self.settings(&mut models), places, reached)
            .context("start the engine")?;
        if let Some(problem) = problem {
            running.engine.note_problem(problem).await;
        }
        let (administration, requests) = mpsc::channel(4);
        let daemon = Arc::new(Daemon {
            engine: running.engine.clone(),
            indexes,
            embedding,
            home: home.clone(),
            query_timeout: self.config.api.query_timeout,
            hooks: RwLock::new(self.config.api.hooks.clone()),
            ears: api::methods::hook::Ears::default(),
            watched,
            started_at: clock::now(),
            administration,
        });
        let server = self.listen(daemon.clone(), stopping)?;
        let (spool, spool_watch) = follow_spool(daemon.clone())?;
        tracing::info!(home = %home.display(), "graphitid is ready");
        ready::ready();

        self.administer((&daemon, &mut models), &mut signals, requests).await;

        tracing::info!("graphitid is stopping");
        ready::stopping();
        // Callers first, then the work in hand, then the index, and the database with the last of
        // those who hold it.
        stop.send_replace(true);
        if let Some(server) = server {
            drop(server.await);
        }
        drop(spool_watch);
        spool.abort();
        drop(spool.await);
        drop(daemon);
        running.stop().await;
        drop(models);
        drop(embedder.await);
        drop(follower.await);
        tracing::info!("graphitid has stopped");
        Ok(())
    }

    fn listen(
        &self,
        daemon: api::Shared,
        stopping: watch::Receiver<bool>,
    ) -> anyhow::Result<Option<tokio::task::JoinHandle<()>>> {
        let hooks = &self.config.api.hooks;
        if !hooks.socket_enabled {
            tracing::warn!("hooks.socket_enabled is false: nobody can ask anything");
            return Ok(None);
        }
        let handed_over = api::server::handed_over().context("take over the service's socket")?;
        let (listener, socket) = match handed_over {
            Some(handed_over) => handed_over,
            None => self.open_socket()?,
        };
        self.home.announce(&socket).context("say where it listens")?;
        Ok(Some(tokio::spawn(api::server::serve(listener, daemon, stopping))))
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

    /// Reloads when asked, until asked to stop.
    async fn administer(
        &mut self,
        (daemon, models): (&Daemon, &mut Models),
        signals: &mut mpsc::Receiver<Signal>,
        mut requests: mpsc::Receiver<Administration>,
    ) {
        loop {
            tokio::select! {
                signal = signals.recv() => match signal {
                    Some(Signal::Reload) => drop(self.reload(daemon, models).await),
                    Some(Signal::Stop) | None => return,
                },
                request = requests.recv() => match request {
                    Some(Administration::Reload(reply)) => {
                        drop(reply.send(self.reload(daemon, models).await));
                    }
                    Some(Administration::Stop) | None => return,
                },
            }
        }
    }

    /// Reads the configuration again. What is wrong with it leaves the old one in force.
    async fn reload(&mut self, daemon: &Daemon, models: &mut Models) -> Reloaded {
        let loaded = match config::load(&self.search) {
            Ok(loaded) => loaded,
            Err(problems) => {
                tracing::warn!("the old settings stay in force: {problems}");
                let problems = problems.to_string().lines().map(str::to_owned).collect();
                return Reloaded { changes: Vec::new(), problems };
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
        models.renew(&daemon.embedding, &self.config);
        drop(daemon.engine.reload(self.settings(models), places(&self.config)).await);
        Reloaded { changes, problems: Vec::new() }
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
fn open_store(home: &Path) -> anyhow::Result<(Arc<dyn Store>, Option<String>)> {
    let folder = database(home);
    let open = || SledStore::open(&folder);
    let (store, problem) = match open() {
        Err(StoreError::Unreadable(what)) => {
            let aside = put_aside(&folder)?;
            let problem = format!(
                "{what}; it was moved to {}, and a new one is made from the transcripts that are still there; `graphiti repair` brings back what can be read of it",
                aside.display()
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

/// The folder of the database.
fn database(home: &Path) -> PathBuf {
    home.join("db")
}

/// What the extension of a database begins with that was moved aside.
const DAMAGED: &str = "damaged-";

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

/// Moves a damaged database out of the way, to be looked at later.
fn put_aside(folder: &Path) -> anyhow::Result<PathBuf> {
    let aside = folder.with_extension(format!("{DAMAGED}{}", clock::now().micros() / 1_000_000));
    std::fs::rename(folder, &aside)
        .with_context(|| format!("move {} to {}", folder.display(), aside.display()))?;
    Ok(aside)
}

/// Where transcripts are looked for: nowhere when tracking is switched off.
fn places(config: &Config) -> Places {
    let Some(home) = std::env::home_dir().filter(|_| config.capture.enabled) else {
        return Places::nowhere();
    };
    let surroundings = Surroundings { home: &home, variable: &|name| std::env::var(name).ok() };
    Places::usual(&surroundings, &config.capture.watch_directories)
}
