//! The commands that the engine takes, and their replies.

use std::{sync::Arc, time::Duration};

use tokio::sync::oneshot;

use crate::{
    capture::{format::RunningSession, watch::Mode},
    engine::{
        Settings, TranscriptFolders, backfill::BackfillContext, model_queue::Summarizer,
        new_episode::NewEpisode, remake_permit::RemakePermit,
    },
    model::{CloseReason, EpisodeId, Namespace, Project, SessionKey, Timestamp, session::Session},
    store::{Source, Store, StoreError, StoreHealth},
};

/// A command, with the channel for its reply.
pub(super) enum EngineCommand {
    Close {
        session: SessionKey,
        reason: CloseReason,
        reply: oneshot::Sender<Result<Closed, EngineError>>,
    },
    /// Like `Close`, but the episode is created again even if the session did not change, and the
    /// model is asked again.
    CloseAgain {
        session: SessionKey,
        reply: oneshot::Sender<Result<Closed, EngineError>>,
    },
    /// Requests the sessions whose requests to the model failed and are not repeated.
    Abandoned(oneshot::Sender<Vec<SessionKey>>),
    CloseLater {
        session: SessionKey,
        reason: CloseReason,
        reply: oneshot::Sender<Result<(), EngineError>>,
    },
    RequestEpisodes {
        scope: Scope,
        reply: oneshot::Sender<RequestedEpisodes>,
    },
    Live(oneshot::Sender<Vec<Session>>),
    Running(oneshot::Sender<Vec<RunningSession>>),
    AgentRuns(RunningSession),
    AgentEnded(String),
    OpenSources(oneshot::Sender<Vec<Source>>),
    BackfillContext(oneshot::Sender<BackfillContext>),
    Status(oneshot::Sender<Status>),
    /// Requests the pending answer of the model about a session that was just closed.
    Pending {
        session: SessionKey,
        reply: oneshot::Sender<Option<PendingAnswer>>,
    },
    Summarizer(oneshot::Sender<Arc<Summarizer>>),
    Settle {
        until_no_timeouts: bool,
        reply: oneshot::Sender<()>,
    },
    /// Requests a summary by a model for an old session.
    RequestSummary {
        session: SessionKey,
        reply: oneshot::Sender<Result<(), EngineError>>,
    },
    PendingSummaries {
        scope: Scope,
        reply: oneshot::Sender<usize>,
    },
    /// Stops tracking sessions that will be removed. The reply is sent when no job and no request
    /// to a model uses these sessions.
    Release {
        sessions: Vec<SessionKey>,
        reply: oneshot::Sender<()>,
    },
    /// The sessions of a `Release` were removed from the store, or their removal failed.
    ReleaseEnded {
        sessions: Vec<SessionKey>,
        reply: oneshot::Sender<()>,
    },
    /// Requests the permission to create the summary of a session again by newer rules.
    PermitRemake {
        session: SessionKey,
        episode: EpisodeId,
        reply: oneshot::Sender<RemakePermit>,
    },
    /// Stores an episode that was created again, if it is still wanted. The reply says whether the
    /// episode was stored.
    StoreRemade {
        made: Box<NewEpisode>,
        reply: oneshot::Sender<bool>,
    },
    NoteProblem(String),
    Reload {
        settings: Box<Settings>,
        folders: TranscriptFolders,
        reply: oneshot::Sender<()>,
    },
    Stop(oneshot::Sender<()>),
}

impl EngineCommand {
    /// Whether the engine answers the command while it waits for the disk. Such a command does not
    /// decide what happens to files, and its caller cannot afford to wait for the disk.
    pub(super) fn is_query(&self) -> bool {
        match self {
            EngineCommand::RequestEpisodes { .. }
            | EngineCommand::Abandoned(_)
            | EngineCommand::Live(_)
            | EngineCommand::Running(_)
            | EngineCommand::OpenSources(_)
            | EngineCommand::Status(_)
            | EngineCommand::Summarizer(_)
            | EngineCommand::PendingSummaries { .. } => true,
            EngineCommand::Close { .. }
            | EngineCommand::CloseAgain { .. }
            | EngineCommand::CloseLater { .. }
            | EngineCommand::AgentRuns(_)
            | EngineCommand::AgentEnded(_)
            | EngineCommand::BackfillContext(_)
            | EngineCommand::Pending { .. }
            | EngineCommand::Settle { .. }
            | EngineCommand::RequestSummary { .. }
            | EngineCommand::Release { .. }
            | EngineCommand::ReleaseEnded { .. }
            | EngineCommand::PermitRemake { .. }
            | EngineCommand::StoreRemade { .. }
            | EngineCommand::NoteProblem(_)
            | EngineCommand::Reload { .. }
            | EngineCommand::Stop(_) => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    pub session: SessionKey,
    /// The episode of the session; `None` when the session has no episode.
    pub episode: Option<EpisodeId>,
    pub how: CloseOutcome,
    /// The outbox position after the close; 0 for a session without a transcript.
    pub position: u64,
}

/// The result of closing a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseOutcome {
    /// The session got its first episode.
    Indexed,
    /// The episode was replaced, because the content of the session changed.
    Replaced,
    /// The content did not change, so the episode was kept.
    Unchanged,
    /// The session has no content yet.
    Empty,
    /// The settings turn episodes off.
    NotWanted,
}

/// Why the engine did not carry out a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    #[error("there is no such session")]
    NoSuchSession,
    #[error("{0}")]
    Failed(String),
    #[error("graphitid is stopping")]
    Stopping,
}

/// Why the engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("failed to start the threads that jobs run on: {0}")]
    Threads(#[from] std::io::Error),
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> EngineError {
        EngineError::Failed(error.to_string())
    }
}

/// The sessions that a search covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The projects; empty for all.
    pub projects: Vec<Namespace>,
    /// The session that is left out: the caller's own session, which is still active.
    pub except: Option<SessionKey>,
    /// If set, the scope covers only this session, and `projects` and `except` are ignored.
    pub only: Option<SessionKey>,
    /// The maximum number of sessions whose episodes are requested.
    pub limit: usize,
    /// The maximum number of history sessions (sessions that were old when they were first seen).
    /// If there are more, none of them is requested. `None` treats them like other sessions.
    pub history_limit: Option<usize>,
}

impl Scope {
    /// Whether the scope covers a session.
    pub(super) fn has(&self, session: &Session) -> bool {
        if let Some(only) = self.only {
            return session.key == only;
        }
        let namespace = session.project.as_ref().map(Project::namespace);
        Some(session.key) != self.except
            && (self.projects.is_empty()
                || namespace.is_some_and(|namespace| self.projects.contains(&namespace)))
    }
}

/// The sessions whose episodes a search needs.
pub struct RequestedEpisodes {
    pub pending: Vec<PendingEpisode>,
    /// The number of history sessions that were not requested, because there are more of them than
    /// [`Scope::history_limit`]. The import indexes them.
    pub left_out: usize,
}

/// A session whose episode is being created because a search needs it.
pub struct PendingEpisode {
    pub session: SessionKey,
    /// Resolves when the episode is stored or has failed.
    pub done: oneshot::Receiver<Result<Closed, EngineError>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The numbers of live sessions by state.
    pub active: usize,
    pub inactive: usize,
    pub indexing: usize,
    pub failed: usize,
    /// The number of sessions that have ended but are not indexed, including history.
    pub unindexed: usize,
    /// The number of sessions of history that wait for their import.
    pub history_left: usize,
    /// The number of sessions of history whose import succeeded or failed since the engine started.
    pub history_done: usize,
    /// The number of sessions whose files were found and not read yet, without history.
    pub unread: usize,
    /// The number of new files that are not yet matched to a session.
    pub unidentified: usize,
    pub jobs: usize,
    /// Whether the first scan is complete.
    pub scanned: bool,
    /// How changes are detected.
    pub mode: Option<Mode>,
    /// The number of bytes of transcripts that were read since the engine started.
    pub bytes_read: u64,
    /// The latest problems, newest last.
    pub problems: Vec<String>,
    pub model: ModelStatus,
}

/// How far the search index is behind the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexLag {
    /// The number of changes that are stored but cannot be found yet.
    pub changes: u64,
    /// Whether the index accepts no changes, or takes too long to apply them.
    pub is_stalled: bool,
}

/// The state of the model and of the requests to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelStatus {
    /// Whether a model is configured.
    pub is_on: bool,
    /// Whether the model writes summaries.
    pub writes_summaries: bool,
    /// The number of sessions that wait for the model.
    pub awaiting: usize,
    /// When the next request to the model is due.
    pub next_attempt: Option<Timestamp>,
    /// The number of sessions whose requests failed and are not repeated.
    pub abandoned: usize,
    /// The error of one of the sessions that `abandoned` counts.
    pub abandoned_error: Option<String>,
    /// The number of sessions with a running request.
    pub running_requests: usize,
    /// Why no requests are sent to the model at present.
    pub outage: Option<String>,
    /// The last error of a session that waits for the model.
    pub last_error: Option<String>,
}

/// A model's answer about a closed session.
pub(super) struct PendingAnswer {
    /// Resolves when the answer is part of the episode, or the request was postponed; `None` when
    /// no answer is pending.
    pub(super) done: Option<oneshot::Receiver<Result<(), EngineError>>>,
    /// How long a caller should wait.
    pub(super) patience: Duration,
}

/// If the store refuses text or all writes, returns an error that says what to do.
pub(super) fn check_writable(store: &dyn Store) -> Result<(), EngineError> {
    match &*store.quota().health().borrow() {
        StoreHealth::TextRefused(why) | StoreHealth::Failed(why) => {
            Err(EngineError::Failed(why.clone()))
        }
        StoreHealth::Normal | StoreHealth::NearLimit => Ok(()),
    }
}

pub(super) fn failed(error: impl std::fmt::Display) -> EngineError {
    EngineError::Failed(error.to_string())
}
