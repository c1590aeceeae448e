//! Runs the daemon from start to end.

mod database;
mod folders;
mod models;
mod quarantine;
pub mod redact;
pub mod repair;
mod reserve;
mod round;
mod tasks;
pub mod trial;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, ensure};
use graphiti_proto::{endpoint, methods::Reloaded};
use tokio::sync::{Notify, mpsc};

use self::{
    folders::{left_out_notice, missing_folders, transcript_folders},
    models::Models,
    round::{Round, RoundEnd},
    tasks::Defects,
};
use crate::{
    allocator,
    api::{self, AdminRequest, WatchedFolders},
    capture::{config::Filter, format::Formats},
    clock,
    config::{self, Config},
    engine::{Settings, parse_context::ParseContext, sharing::ShareTarget},
    lifecycle::{
        home::Home,
        ready,
        signals::{self, Signal},
    },
    logging,
    model::Timestamp,
    redact::Redactor,
    view,
};

#[derive(Clone, Debug)]
pub struct DaemonOptions {
    pub home: PathBuf,
    /// The working directory, where the daemon searches for a configuration file.
    pub directory: PathBuf,
}

/// Time limit for tasks to stop.
const STOP_LIMIT: Duration = Duration::from_secs(30);
/// Time limit for blocking threads to stop after the tasks.
const THREAD_STOP_LIMIT: Duration = Duration::from_secs(5);
/// Pause before another attempt to reopen a database.
const REOPEN_PAUSE: Duration = Duration::from_secs(30);

/// Runs the daemon until a signal or a client requests its end.
///
/// # Errors
///
/// If the home is in use or unusable, the configuration is invalid, the database, the index or the
/// socket cannot be opened, or defects end tasks repeatedly.
pub fn run(options: &DaemonOptions) -> anyhow::Result<()> {
    allocator::limit_memory_use();
    let (home, is_reserve_released) = reserve::take_home(&options.home)?;
    let search = search(options);
    let loaded = config::load(&search)?;
    let log = logging::start(&loaded.config.log, loaded.config.limits.log_bytes, home.path())
        .context("start the log")?;
    if is_reserve_released {
        tracing::warn!("the disk is full: the reserved space was freed for this start");
    }
    for notice in &loaded.notices {
        tracing::warn!("{notice}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("graphitid")
        .enable_all()
        .build()
        .context("start the runtime")?;
    let supervisor = Supervisor {
        home,
        search,
        config: loaded.config,
        log,
        redactor: Redactor::new(),
        listener: None,
        problem: None,
        stop_requested: Arc::default(),
        started_at: clock::now(),
    };
    let served = runtime.block_on(supervisor.serve());
    runtime.shutdown_timeout(THREAD_STOP_LIMIT);
    served
}

/// Returns the folders in which the daemon searches for the configuration file.
pub fn search(options: &DaemonOptions) -> config::FileSearch {
    config::FileSearch {
        directory: Some(options.directory.clone()),
        home: options.home.clone(),
        user_home: std::env::home_dir(),
    }
}

/// Owns the home directory, and runs rounds until the daemon stops.
struct Supervisor {
    home: Home,
    search: config::FileSearch,
    config: Config,
    log: logging::Handle,
    redactor: Redactor,
    /// The listener of the socket, with its address. All rounds use the same listener.
    listener: Option<(Arc<api::server::Listener>, String)>,
    /// The defect that ended the last round, if any. The status of the next round shows this
    /// defect.
    problem: Option<String>,
    /// Notified when a client asks the daemon to stop. The notification outlives the rounds, so
    /// that a request that arrives at the end of a round is not lost.
    stop_requested: Arc<Notify>,
    started_at: Timestamp,
}

impl Supervisor {
    /// Serves in rounds. A round is one open database and the tasks that use it. Another round
    /// starts after a failed write or a panic of a task, because the state in memory may then be
    /// wrong. Another round also starts if the database must be reopened to become smaller.
    async fn serve(mut self) -> anyhow::Result<()> {
        let mut signals = signals::listen().context("listen for signals")?;
        let mut defects = Defects::default();
        let mut end = self.round(&mut signals, true).await?;
        loop {
            match end {
                RoundEnd::Stopped => break,
                RoundEnd::Again => tracing::info!("reopening the database"),
                RoundEnd::Broken(task) => {
                    ensure!(
                        defects.may_continue(Instant::now()),
                        "{task} ended repeatedly because of a defect in graphitid; the log shows where"
                    );
                    self.problem = Some(format!(
                        "{task} ended because of a defect in graphitid, and everything was restarted; see the log for the place of the defect"
                    ));
                }
            }
            end = match self.round(&mut signals, false).await {
                Ok(end) => end,
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::error!(error, "failed to reopen the database; retrying");
                    self.reject_requests(&mut signals, &error).await
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
        round.end(STOP_LIMIT).await;
        if end != RoundEnd::Stopped {
            database::wait_until_closed(&opened).await;
        }
        Ok(end)
    }

    /// Answers all requests with the error, until it is time to retry or to stop.
    async fn reject_requests(&self, signals: &mut mpsc::Receiver<Signal>, error: &str) -> RoundEnd {
        let why = format!(
            "{error}; this is retried every {} seconds; acknowledged data are safe",
            REOPEN_PAUSE.as_secs()
        );
        let answering = async {
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
            () = self.stop_requested.notified() => RoundEnd::Stopped,
            () = tokio::time::sleep(REOPEN_PAUSE) => RoundEnd::Again,
            () = answering => RoundEnd::Again,
        }
    }

    /// Opens the socket, or uses the socket of the last round or of the service manager, and
    /// publishes the address of the socket. Returns `None` if the socket is disabled.
    fn listen(&mut self) -> anyhow::Result<Option<Arc<api::server::Listener>>> {
        if !self.config.api.hooks.socket_enabled {
            tracing::warn!("hooks.socket_enabled is false: the daemon accepts no requests");
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
        // The next round reuses the listener.
        self.listener = Some((listener.clone(), socket.clone()));
        self.home.announce(&socket).context("publish the address of the socket")?;
        Ok(Some(listener))
    }

    fn open_socket(&self) -> anyhow::Result<(api::server::Listener, String)> {
        let socket = match &self.config.api.hooks.socket_path {
            Some(path) => path.to_string_lossy().into_owned(),
            None => endpoint::default_socket(self.home.path()),
        };
        let listener = api::server::listen(&socket)
            .map_err(|error| anyhow!(api::server::listen_error(&socket, &error)))?;
        Ok((listener, socket))
    }

    /// Handles signals and requests to the daemon itself, until the daemon must stop or the round
    /// ends.
    async fn administer(
        &mut self,
        round: &mut Round,
        signals: &mut mpsc::Receiver<Signal>,
    ) -> RoundEnd {
        let home = self.home.path().to_owned();
        loop {
            tokio::select! {
                () = reserve::wait_until_missing(&home) => {
                    let home = home.clone();
                    // If the reserve cannot be created, this is logged, and the next attempt
                    // follows after a pause.
                    drop(tokio::task::spawn_blocking(move || reserve::ensure_reserve(&home)));
                }
                signal = signals.recv() => match signal {
                    Some(Signal::Reload) => {
                        let _changes_are_logged = self.reload(round).await;
                    }
                    Some(Signal::Stop) | None => return RoundEnd::Stopped,
                },
                ended = round.tasks.next_ended() => {
                    if let Some(end) = round.round_end_after(ended) {
                        return end;
                    }
                },
                request = round.requests.recv() => match request {
                    Some(AdminRequest::Reload(reply)) => {
                        // The caller may have disconnected.
                        let _ = reply.send(self.reload(round).await);
                    }
                    Some(AdminRequest::View(reply)) => {
                        let opened = round.viewer.open(&round.daemon).await;
                        let opened = opened.map_err(|error| format!("cannot open a port for the viewer: {error}"));
                        // The caller may have disconnected.
                        let _ = reply.send(opened);
                    }
                    Some(AdminRequest::StaticCopy(request, reply)) => {
                        let daemon = round.daemon.clone();
                        // A separate task renders the pages, so that other requests are handled
                        // meanwhile.
                        tokio::spawn(async move {
                            // The caller may have disconnected.
                            let _ = reply.send(view::copied(&daemon, &request).await);
                        });
                    }
                    None => return RoundEnd::Stopped,
                },
                () = self.stop_requested.notified() => return RoundEnd::Stopped,
            }
        }
    }

    /// Reloads the configuration. If the file is invalid, the old settings stay in force.
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
        // The socket is opened once, so its path stays the path in use.
        let socket = self.config.api.hooks.socket_path.take();
        self.config = loaded.config;
        self.config.api.hooks.socket_path = socket;
        self.log.set_level(&self.config.log);
        let Round { daemon, models, .. } = round;
        daemon.set_config(&self.config.api);
        daemon.keeper.set_limits(self.config.limits);
        api::spool::limit(self.home.path(), self.config.limits.spool_bytes);
        reserve::ensure_reserve(self.home.path());
        models.update_embedding(&daemon.embedding, &self.config);
        daemon.sharing.set_target(ShareTarget::new(&self.config.share));
        let folders = transcript_folders(&self.config);
        let were_left_out = daemon.set_watched(WatchedFolders::of(&folders)).left_out;
        let left_out = Some(&folders).filter(|folders| folders.left_out != were_left_out);
        let left_out = left_out.and_then(left_out_notice);
        // The request fails only if the engine is stopping. Then the engine needs no settings.
        let _ = daemon.engine.reload(self.settings(models), folders).await;
        // Deprecated spellings and retired keys are no mistakes, so the notices about them are only
        // logged.
        let mistakes = loaded.notices.iter().filter(|notice| !notice.is_migration());
        let notices = mistakes.map(ToString::to_string);
        let notices = notices.chain(missing_folders(&self.config)).chain(left_out).collect();
        Reloaded { changes, notices, ..Reloaded::default() }
    }
}

impl Supervisor {
    fn settings(&self, models: &mut Models) -> Settings {
        let capture = &self.config.capture;
        let parse_context = Arc::new(ParseContext {
            filter: Filter { long: long_message_bytes(&self.config), ..capture.filter.clone() },
            redactor: self.redactor.clone(),
            learned: models.learned_tools.shared(),
            formats: Formats::new(&capture.watch_formats),
            summarize: self.config.summarize.clone(),
            makes_episodes: self.config.graph.store_in_graph,
        });
        Settings {
            session: self.config.session,
            parse_context: parse_context.clone(),
            summarizer: models.summarizer(&self.config, parse_context),
            excluded: [capture.excluded_paths.clone(), models.excluded_folders()].concat(),
            max_age: capture.keep,
        }
    }
}

/// Returns the value of [`Filter::long`]: twice the maximum number of characters of a summary.
fn long_message_bytes(config: &Config) -> usize {
    usize::try_from(config.prompt.max_summary_chars).unwrap_or(usize::MAX).saturating_mul(2)
}

#[cfg(test)]
mod tests;
