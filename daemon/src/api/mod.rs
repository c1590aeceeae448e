//! The external interface: a socket with [`tools`] for all clients and [`methods`] for the command
//! line and hooks.
//!
//! [`server`] accepts connections, [`connection`] reads their lines, and [`mcp`] serves clients of
//! the Model Context Protocol. [`client_context`] identifies clients, [`current`] determines the
//! session that a request is about, and [`progress`] reports the progress of a request. [`spool`]
//! processes the hook events that could not be delivered. [`in_process`] answers the viewer, which
//! runs in this process and does not use the socket. [`convert`] converts types of the model to
//! types of the protocol.

mod agents;
mod blocking;
mod catch_up;
pub mod client_context;
pub mod config;
pub mod connection;
mod connection_slots;
mod convert;
mod current;
mod errors;
#[doc(hidden)]
pub mod fuzzing;
mod handoff;
pub mod in_process;
mod input;
mod mcp;
pub mod methods;
mod ongoing;
mod parameters;
mod peer;
pub mod progress;
mod projects;
pub mod recall;
mod request_limits;
pub mod server;
pub mod spool;
mod team_handoff;
pub mod tools;

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use tokio::sync::{Notify, mpsc};

use crate::{
    engine::{
        Engine, TranscriptFolders, embedding::EmbeddingService, indexes::Indexes,
        quota::QuotaKeeper, sharing::Sharing,
    },
    model::Timestamp,
    store::StoreHealth,
};

/// The shared state of all request handlers.
pub struct DaemonState {
    /// The engine, which also gives access to the store.
    pub engine: Engine,
    pub indexes: Indexes,
    pub embedding: Arc<EmbeddingService>,
    /// The graph that is shared with others.
    pub sharing: Arc<Sharing>,
    pub keeper: Arc<QuotaKeeper>,
    pub home: PathBuf,
    pub config: RwLock<config::Config>,
    pub hook_stats: methods::hook::HookStats,
    /// A cache of the errors, decisions and preferences of earlier sessions, which are compared
    /// with prompts.
    pub recall: recall::RecallCache,
    pub watched: RwLock<WatchedFolders>,
    pub started_at: Timestamp,
    pub admin_requests: mpsc::Sender<AdminRequest>,
    pub stop_requested: Arc<Notify>,
}

/// The folders with transcripts.
#[derive(Clone, Default)]
pub struct WatchedFolders {
    /// The watched folders. There are none if tracking is disabled, or the home folder of the user
    /// is not known.
    pub roots: Vec<PathBuf>,
    /// The unwatched folders of built-in agents. The daemon does not watch them, because the
    /// configuration names other folders.
    pub left_out: Vec<PathBuf>,
}

impl WatchedFolders {
    pub fn of(folders: &TranscriptFolders) -> WatchedFolders {
        WatchedFolders { roots: folders.roots.clone(), left_out: folders.left_out.clone() }
    }
}

impl DaemonState {
    pub fn watched(&self) -> WatchedFolders {
        self.watched.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the folders, and returns the former folders.
    pub fn set_watched(&self, folders: WatchedFolders) -> WatchedFolders {
        let mut watched = self.watched.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *watched, folders)
    }

    pub fn set_config(&self, config: &config::Config) {
        self.config.write().unwrap_or_else(PoisonError::into_inner).clone_from(config);
        self.notify_hooks();
    }

    /// Records in the home folder whether hooks send prompts, because hooks do not read the
    /// configuration.
    pub fn notify_hooks(&self) {
        let hooks = self.hooks();
        let wanted = hooks.enabled && hooks.recall;
        if let Err(error) = graphiti_proto::methods::hook::set_prompts_requested(&self.home, wanted)
        {
            tracing::warn!(%error, "failed to notify the hooks whether to send prompts");
        }
    }

    fn listed_tools(&self) -> config::ListedTools {
        self.config().listed_tools.clone()
    }

    fn hooks(&self) -> config::Hooks {
        self.config().hooks.clone()
    }

    /// Returns why new text is not stored at present, with the remedy; `None` if new text is
    /// stored.
    fn refusal(&self) -> Option<String> {
        let quota = self.engine.store().quota();
        match &*quota.health().borrow() {
            StoreHealth::TextRefused(why) | StoreHealth::Failed(why) => Some(why.clone()),
            // If space is short now, the next text will be refused, although no text was refused
            // yet.
            StoreHealth::Normal | StoreHealth::NearLimit => quota.shortage(),
        }
    }

    /// If new text is not stored at present, appends a note to `message` that says why. A search
    /// cannot find such text.
    fn with_refusal(&self, message: String) -> String {
        let Some(why) = self.refusal() else { return message };
        let gap = if message.is_empty() { "" } else { " " };
        format!("{message}{gap}New sessions are incomplete here: {why}.")
    }

    /// Whether documents of episodes contain the paths of their projects.
    fn includes_paths(&self) -> bool {
        self.config().answers.include_project_path
    }

    /// Returns how long a search waits until pending sessions are indexed.
    fn query_timeout(&self) -> std::time::Duration {
        self.config().query_timeout
    }

    fn config(&self) -> RwLockReadGuard<'_, config::Config> {
        self.config.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request about the daemon itself.
pub enum AdminRequest {
    Reload(tokio::sync::oneshot::Sender<graphiti_proto::methods::Reloaded>),
    /// Open the viewer and return the address of its page, or the reason why the viewer cannot be
    /// opened.
    View(tokio::sync::oneshot::Sender<Result<graphiti_proto::methods::view::ViewAddress, String>>),
    /// Render a part of a static copy of the viewer.
    StaticCopy(
        graphiti_proto::methods::static_copy::StaticCopyRequest,
        tokio::sync::oneshot::Sender<CopyAnswer>,
    ),
}

/// The answer to a request for a part of a static copy.
pub type CopyAnswer =
    Result<graphiti_proto::methods::static_copy::StaticCopyPart, graphiti_proto::rpc::Error>;

pub type SharedDaemon = Arc<DaemonState>;
