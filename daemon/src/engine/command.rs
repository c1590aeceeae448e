//! What others may ask of the engine, and what they get.

use std::{sync::Arc, time::Duration};

use tokio::sync::oneshot;

use crate::{
    capture::{format::RunningSession, watch::Mode},
    engine::{Settings, TranscriptFolders, backfill::BackfillContext, model_queue::Summarizer},
    model::{CloseReason, EpisodeId, Namespace, Project, SessionKey, session::Session},
    store::Source,
};

/// A question with the way back for its answer.
pub(super) enum Command {
    Close {
        session: SessionKey,
        reason: CloseReason,
        reply: oneshot::Sender<Result<Closed, EngineError>>,
    },
    CloseLater {
        session: SessionKey,
        reason: CloseReason,
        reply: oneshot::Sender<Result<(), EngineError>>,
    },
    Need {
        scope: Scope,
        reply: oneshot::Sender<Vec<PendingEpisode>>,
    },
    Live(oneshot::Sender<Vec<Session>>),
    Running(oneshot::Sender<Vec<RunningSession>>),
    AgentRuns(RunningSession),
    AgentLeft(String),
    AtHand(oneshot::Sender<Vec<Source>>),
    Known(oneshot::Sender<BackfillContext>),
    Status(oneshot::Sender<Status>),
    PendingAnswer {
        session: SessionKey,
        reply: oneshot::Sender<Option<PendingAnswer>>,
    },
    Summarizer(oneshot::Sender<Arc<Summarizer>>),
    Settled {
        sessions: bool,
        reply: oneshot::Sender<()>,
    },
    /// A model is to be asked about a session of the past.
    Summarise {
        session: SessionKey,
        reply: oneshot::Sender<Result<(), EngineError>>,
    },
    /// About how many sessions in the scope a model is being asked, or will be at once.
    Asking {
        scope: Scope,
        reply: oneshot::Sender<usize>,
    },
    /// These are to be forgotten: replies when nothing works on them any more.
    EvictionStats {
        sessions: Vec<SessionKey>,
        reply: oneshot::Sender<()>,
    },
    /// They are gone, or stay after all.
    LetGoEnded {
        sessions: Vec<SessionKey>,
        reply: oneshot::Sender<()>,
    },
    NoteProblem(String),
    Reload(Box<(Settings, TranscriptFolders)>, oneshot::Sender<()>),
    Stop(oneshot::Sender<()>),
}

/// How closing a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The session.
    pub session: SessionKey,
    /// Its episode; `None` when the session says nothing yet.
    pub episode: Option<EpisodeId>,
    /// What was done.
    pub how: CloseOutcome,
    /// The outbox position behind it.
    pub position: u64,
}

/// What closing a session did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseOutcome {
    /// It was turned into its first episode.
    Indexed,
    /// Its episode was replaced, for it says something else now.
    Replaced,
    /// Its episode still holds.
    Unchanged,
    /// It says nothing yet.
    Empty,
}

/// Why the engine cannot do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// There is no such session.
    #[error("there is no such session")]
    NoSuchSession,
    /// Making the episode failed.
    #[error("{0}")]
    Failed(String),
    /// The daemon is ending.
    #[error("graphitid is stopping")]
    Stopping,
}

/// Which sessions a search is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Projects; all when empty.
    pub projects: Vec<Namespace>,
    /// The caller's own session, which is going on.
    pub except: Option<SessionKey>,
    /// At most so many sessions.
    pub limit: usize,
}

impl Scope {
    /// Whether a session is in it.
    pub(super) fn has(&self, session: &Session) -> bool {
        let namespace = session.project.as_ref().map(Project::namespace);
        Some(session.key) != self.except
            && (self.projects.is_empty()
                || namespace.is_some_and(|namespace| self.projects.contains(&namespace)))
    }
}

/// A session whose episode is being made because a search needs it.
pub struct PendingEpisode {
    /// The session.
    pub session: SessionKey,
    /// Resolves when it is made, or failed.
    pub done: oneshot::Receiver<Result<Closed, EngineError>>,
}

/// What the engine is doing.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// Sessions by state; of the indexed ones only the store knows the number.
    pub active: usize,
    /// See above.
    pub inactive: usize,
    /// See above.
    pub indexing: usize,
    /// See above.
    pub failed: usize,
    /// Over, but not indexed, history included.
    pub unindexed: usize,
    /// Of these, sessions of history that wait to be imported.
    pub history_left: usize,
    /// Sessions of history imported since the start.
    pub history_done: usize,
    /// New files whose session is not known yet.
    pub unidentified: usize,
    /// Jobs running.
    pub jobs: usize,
    /// Whether all files that were there at the start have been seen.
    pub scanned: bool,
    /// How changes are noticed.
    pub mode: Option<Mode>,
    /// Bytes of transcripts read since the start.
    pub bytes_read: u64,
    /// The last few things that went wrong with files, newest last.
    pub problems: Vec<String>,
    /// The model.
    pub model: ModelStatus,
}

/// How far searches are behind what was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexLag {
    /// Changes that are stored and cannot be found.
    pub changes: u64,
    /// Nothing brings them into the search index, or that takes too long.
    pub is_stalled: bool,
}

/// What is going on with the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelStatus {
    /// Whether one is asked at all.
    pub is_on: bool,
    /// Whether it writes summaries.
    pub writes_summaries: bool,
    /// Sessions that it is still to be asked about.
    pub awaiting: usize,
    /// Of these, those that it is being asked about.
    pub asking: usize,
    /// Why it is not asked at present.
    pub outage: Option<String>,
    /// Why one of the sessions still waits.
    pub last_error: Option<String>,
}

/// A model is asked about sessions.
pub(super) struct PendingAnswer {
    /// Resolves when the answer is in the episode, or will not come for now; `None` when it is
    /// already, or nothing is asked about the session.
    pub(super) done: Option<oneshot::Receiver<Result<(), EngineError>>>,
    /// How long it is worth waiting.
    pub(super) patience: Duration,
}
