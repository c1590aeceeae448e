//! What others see: a socket, [`tools`] for everyone and a few [`methods`] for the command line
//! and hooks.
//!
//! [`server`] lets callers in, [`connection`] reads their lines, [`mcp`] serves those who speak the
//! Model Context Protocol. [`client_context`] knows who they are, [`current`] which session they mean, and
//! [`progress`] how far their request is. The only user of `proto`; [`convert`] turns the model's
//! words into those of the wire; [`spool`] takes what hooks left while nobody answered.

mod blocking;
mod catch_up;
pub mod client_context;
pub mod config;
pub mod connection;
mod connection_slots;
mod convert;
mod current;
#[doc(hidden)]
pub mod fuzzing;
mod handoff;
mod input;
mod mcp;
pub mod methods;
pub mod progress;
pub mod server;
pub mod spool;
pub mod tools;

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use tokio::sync::mpsc;

use crate::{
    engine::{Engine, embedding::Embedding, indexes::Indexes, quota::QuotaKeeper},
    model::Timestamp,
};

/// What requests are answered with.
pub struct DaemonState {
    /// The way to the engine, and through it to the store.
    pub engine: Engine,
    pub indexes: Indexes,
    pub embedding: Arc<Embedding>,
    /// What keeps the limits.
    pub keeper: Arc<QuotaKeeper>,
    pub home: PathBuf,
    /// How long a search waits for episodes that are due.
    pub query_timeout: std::time::Duration,
    /// What happens at agents' hooks.
    pub hooks: RwLock<config::Hooks>,
    /// How often each hook ran.
    pub hook_stats: methods::hook::HookStats,
    /// Folders that are watched.
    pub watched: Vec<PathBuf>,
    /// When the daemon was started.
    pub started_at: Timestamp,
    /// Where requests about the daemon itself go.
    pub admin_requests: mpsc::Sender<AdminRequest>,
}

impl DaemonState {
    /// Puts other settings for hooks in force.
    pub fn set_hooks(&self, hooks: &config::Hooks) {
        self.hooks.write().unwrap_or_else(PoisonError::into_inner).clone_from(hooks);
    }

    fn hooks(&self) -> config::Hooks {
        self.hooks.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A request about the daemon itself.
pub enum AdminRequest {
    /// Read the configuration again.
    Reload(tokio::sync::oneshot::Sender<graphiti_proto::methods::Reloaded>),
    /// Come to an end.
    Stop,
}

/// The daemon as connections share it.
pub type SharedDaemon = Arc<DaemonState>;
