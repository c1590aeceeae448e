//! What others see: a socket, [`tools`] for everyone and a few [`methods`] for the command line
//! and hooks.
//!
//! [`server`] lets callers in, [`connection`] reads their lines, [`caller`] knows who they are and
//! [`current`] which session they mean. The only user of `proto`; [`convert`] turns the model's
//! words into those of the wire.

pub mod caller;
pub mod config;
pub mod connection;
mod convert;
mod current;
mod methods;
pub mod server;
pub mod tools;

use std::{path::PathBuf, sync::Arc};

use tokio::sync::mpsc;

use crate::{engine::Engine, model::Timestamp, search::index::Index};

/// What requests are answered with.
pub struct Daemon {
    /// The way to the engine, and through it to the store.
    pub engine: Engine,
    /// What is searched.
    pub index: Arc<Index>,
    /// The home folder.
    pub home: PathBuf,
    /// Folders that are watched.
    pub watched: Vec<PathBuf>,
    /// When the daemon was started.
    pub started_at: Timestamp,
    /// Where requests about the daemon itself go.
    pub administration: mpsc::Sender<Administration>,
}

/// A request about the daemon itself.
pub enum Administration {
    /// Read the configuration again.
    Reload(tokio::sync::oneshot::Sender<graphiti_proto::methods::Reloaded>),
    /// Come to an end.
    Stop,
}

/// The daemon as connections share it.
pub type Shared = Arc<Daemon>;
