//! The engine connects the stages of the daemon (`capture`, `session`, `activity`, `summarize`,
//! `graph`, `search` and `share`). No other module knows their order.
//!
//! Everything that the engine reacts to is a variant of [`EngineEvent`]. [`state::EngineState`]
//! makes the decisions: it handles one event after another, reads the store and other shared data
//! but does not write to them, and returns effects. The [`executor::Executor`] performs the
//! effects, and returns their results as events. Slow work (reading transcripts, making episodes,
//! requests to models) runs outside of the event loop, for example as a [`job::Job`]. Other modules
//! use the engine through an [`Engine`].

pub mod backfill;
mod command;
pub mod corrections;
pub mod crash_tracker;
mod defect;
mod discovery;
pub mod document;
mod duplicates;
pub mod embedding;
pub mod entities;
pub mod episode;
mod executor;
mod exited;
pub mod figures;
pub mod file_check;
mod files;
pub mod follow;
mod forget;
pub mod forgotten;
mod handle;
pub mod imported;
pub mod imported_statements;
pub mod indexes;
pub mod job;
pub mod job_result;
pub mod memory_use;
pub mod model_queue;
mod new_episode;
mod outdated;
pub mod parse_context;
pub mod pipeline;
mod portable_statements;
pub mod projects;
pub mod quota;
pub mod reading;
pub mod record_locks;
pub mod redaction;
mod registration;
mod remake;
mod remake_permit;
mod rereads;
mod schedule;
pub mod sharing;
mod snapshots;
mod start;
mod state;
mod transcript_folders;
pub mod trial;
pub mod truncated_messages;

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use tokio::sync::oneshot;

pub use self::reading::forks;
pub use self::{
    backfill::BackfillCandidate,
    command::{
        CloseOutcome, Closed, EngineError, IndexLag, ModelStatus, PendingEpisode,
        RequestedEpisodes, Scope, StartError, Status,
    },
    files::transcript_path,
    forgotten::ForgottenSession,
    handle::Engine,
    start::{EngineLoop, LastRun},
    transcript_folders::TranscriptFolders,
};
use self::{
    command::EngineCommand,
    files::{FileObservation, IdentifiedFile, IdentifyResult},
    job_result::JobResult,
    model_queue::Summarizer,
    parse_context::ParseContext,
    state::{AgentObservation, ModelAnswer, RegisteredFiles, SettleWaiter},
};
pub use crate::capture::{
    liveness::Process,
    storage::exists as transcript_exists,
    watch::{Mode, PollingReason},
};
use crate::{
    capture::{format::Formats, watch::Notice},
    model::SessionKey,
    session,
    store::StoreError,
};

/// Whether the sessions of an agent are followed without an entry in the configuration.
pub fn is_built_in(agent: &str) -> bool {
    Formats::default().of_agent(agent).is_some()
}

/// The settings of the engine. They may change while it runs.
#[derive(Clone)]
pub struct Settings {
    /// The rules that decide when a session is over.
    pub session: session::Config,
    /// The settings for parsing transcripts.
    pub parse_context: Arc<ParseContext>,
    pub summarizer: Arc<Summarizer>,
    /// The excluded folders. Transcripts in these folders are ignored, and so are sessions whose
    /// project is in one of these folders.
    pub excluded: Vec<PathBuf>,
    /// The maximum age of a transcript that is imported; `None` for any age.
    pub max_age: Option<Duration>,
}

/// The input of the engine's decisions.
enum EngineEvent {
    /// Files that an older version registered twice were searched for and repaired.
    DuplicatesRepaired(Result<Vec<PathBuf>, StoreError>),
    Started,
    /// The watch of the transcripts reported changed files, the end of a scan, or the method by
    /// which it detects changes.
    Notice(Notice),
    /// The list of running sessions of an agent may have changed, or an agent's process has ended.
    Liveness,
    /// New files were matched to their sessions.
    Identified(IdentifyResult),
    JobDone(Box<JobResult>),
    /// Old files have to be ingested, regardless of their age.
    Backfill {
        found: Vec<IdentifiedFile>,
        reply: oneshot::Sender<()>,
    },
    /// The requests to a model about a session have ended, with or without an answer.
    ModelAnswered(Box<ModelAnswer>),
    Command(EngineCommand),
    /// Files were observed, because a decision requested it.
    FilesObserved(Vec<FileObservation>),
    /// The sessions whose files have to be read again by newer rules were found.
    OutdatedFound(Result<BTreeSet<SessionKey>, StoreError>),
    /// New files were saved.
    Registered(RegisteredFiles),
    /// Agents were observed, because a decision requested it.
    AgentsObserved(AgentObservation),
    /// The executor has requested the scan that a caller waits for.
    RescanRequested(SettleWaiter),
    /// The event that woke the engine is handled: deadlines may have passed.
    DeadlinesDue,
    /// The received events are handled: work may start, and waiting callers may get their reply.
    TurnEnded,
}

#[cfg(test)]
mod tests;
