//! The engine connects the stages: no other module knows their order.
//!
//! Everything that can wake the daemon is a variant of [`EngineEvent`]. One task
//! ([`state::EngineState`]) handles the events one after the other and owns all mutable state. Slow
//! work (reading transcripts, making episodes, asking models) runs beside it as a [`job::Job`] and
//! returns as an event. Other modules use the engine through an [`Engine`].

pub mod backfill;
mod command;
pub mod crash_tracker;
mod defect;
mod discovery;
pub mod document;
mod duplicates;
pub mod embedding;
pub mod entities;
pub mod episode;
pub mod file_check;
mod files;
pub mod follow;
mod forget;
pub mod forgotten;
pub mod forks;
mod handle;
pub mod imported;
pub mod indexes;
pub mod job;
pub mod model_queue;
pub mod pipeline;
pub mod quota;
pub mod reading;
pub mod record_locks;
pub mod redaction;
mod registration;
mod remake;
mod schedule;
mod snapshots;
mod state;
mod transcript_folders;
pub mod truncated_messages;

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio::sync::oneshot;

pub use self::{
    backfill::BackfillCandidate,
    command::{
        CloseOutcome, Closed, EngineError, IndexLag, ModelStatus, PendingEpisode, Scope, Status,
    },
    forgotten::ForgottenSession,
    handle::{Engine, EngineLoop, LastRun, StartError},
    transcript_folders::TranscriptFolders,
};
use self::{
    command::EngineCommand,
    files::{IdentifiedFile, IdentifyResult},
    job::JobResult,
    model_queue::Summarizer,
    pipeline::ParseContext,
    state::ModelAnswer,
};
pub use crate::capture::{
    liveness::Process,
    watch::{Mode, PollingReason},
};
use crate::{capture::watch::Notice, session};

/// Whether the engine follows the sessions of an agent.
pub fn follows(agent: &str) -> bool {
    files::format_of(agent).is_some()
}

/// The settings of the engine. They may change while it runs.
#[derive(Clone)]
pub struct Settings {
    /// When a session is over.
    pub session: session::Config,
    /// What is kept of transcripts.
    pub parse_context: Arc<ParseContext>,
    /// Asks models.
    pub summarizer: Arc<Summarizer>,
    /// Folders that are ignored, both as places of transcripts and as project directories.
    pub excluded: Vec<PathBuf>,
    /// The maximum age of a transcript that is imported; `None` for any age.
    pub max_age: Option<Duration>,
}

/// What can wake the engine.
enum EngineEvent {
    /// Transcript files changed.
    Notice(Notice),
    /// An agent updated its list of running sessions.
    Liveness,
    /// New files were matched to their sessions.
    Identified(IdentifyResult),
    JobDone(Box<JobResult>),
    /// Old files are to be ingested, whatever their age.
    Backfill {
        found: Vec<IdentifiedFile>,
        reply: oneshot::Sender<()>,
    },
    /// A model was asked about a session.
    ModelAnswered(Box<ModelAnswer>),
    Command(EngineCommand),
}

#[cfg(test)]
mod tests;
