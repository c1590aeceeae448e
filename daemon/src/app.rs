//! The daemon from start to end.

use std::{path::PathBuf, sync::Arc};

use anyhow::Context;
use tokio::sync::{mpsc, watch};

use crate::{
    api::{self, Administration, Daemon},
    capture::{filter::Filter, format::Surroundings},
    clock,
    engine::{Engine, Places, Settings, follow, pipeline::Means},
    lifecycle::{
        home::Home,
        ready,
        signals::{self, Signal},
    },
    redact::Redactor,
    session::Policy,
    store::{Store, sled::SledStore},
};
use graphiti_proto::methods::Reloaded;

/// How the daemon is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its home.
    pub home: PathBuf,
}

/// Runs the daemon until it is told to stop.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let home = Home::take(&options.home)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("start the runtime")?;
    runtime.block_on(serve(&home))?;
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    Ok(())
}

async fn serve(home: &Home) -> anyhow::Result<()> {
    let mut signals = signals::listen().context("listen for signals")?;
    let store: Arc<dyn Store> =
        Arc::new(SledStore::open(&home.path().join("db")).context("open the database")?);
    let follower = follow::open(&follow::folder(home.path()), store.clone())
        .context("open the search index")?;
    let index = follower.index().clone();
    let (followed, reached) = watch::channel(0);
    let (stop, stopping) = watch::channel(false);
    let follower = tokio::spawn(follower.run(followed, stopping.clone()));

    let settings = Settings {
        policy: Policy::default(),
        means: Arc::new(Means {
            filter: Filter::default(),
            redactor: Redactor::new(),
            learned: Default::default(),
        }),
        excluded: Vec::new(),
        keep_days: None,
    };
    let user_home = std::env::home_dir().context("find the user's home folder")?;
    let surroundings =
        Surroundings { home: &user_home, variable: &|name| std::env::var(name).ok() };
    let places = Places::usual(&surroundings, &[]);
    let watched = places.roots.clone();
    let running = Engine::start(store, settings, places, reached).context("start the engine")?;

    let (administration, mut requests) = mpsc::channel(4);
    let daemon = Arc::new(Daemon {
        engine: running.engine.clone(),
        index,
        home: home.path().to_owned(),
        watched,
        started_at: clock::now(),
        administration,
    });
    let socket = graphiti_proto::endpoint::usual_socket(home.path());
    let listener = api::server::listen(&socket).with_context(|| format!("listen at {socket}"))?;
    home.announce(&socket).context("say where it listens")?;
    let server = tokio::spawn(api::server::serve(listener, daemon, stopping));
    tracing::info!(home = %home.path().display(), socket, "graphitid is ready");
    ready::ready();

    loop {
        tokio::select! {
            signal = signals.recv() => match signal {
                Some(Signal::Reload) => {}
                Some(Signal::Stop) | None => break,
            },
            request = requests.recv() => match request {
                Some(Administration::Reload(reply)) => drop(reply.send(Reloaded::default())),
                Some(Administration::Stop) | None => break,
            },
        }
    }
    tracing::info!("graphitid is stopping");
    ready::stopping();
    // Callers first, then the work in hand, then the index, then the database.
    stop.send_replace(true);
    drop(server.await);
    running.stop().await;
    drop(follower.await);
    tracing::info!("graphitid has stopped");
    Ok(())
}
