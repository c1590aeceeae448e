//! The effects of a decision, for the executor.

use std::{path::PathBuf, sync::Arc};

use tokio::sync::oneshot;

use crate::{
    capture::{format::FormatHandle, liveness::Process},
    engine::{
        TranscriptFolders,
        job::Job,
        model_queue::{ModelQuestion, Summarizer},
        parse_context::ParseContext,
        remake_permit::RemakePermit,
    },
    model::{Namespace, SessionId, SessionKey, session::Session},
    store::{Source, StoreError, Write},
};

/// An action that a decision requires. The executor performs effects in their order. The
/// documentation of a variant states the event that it returns, if any. An event that is returned
/// at once is handled before the next effect.
pub(in crate::engine) enum EngineEffect {
    /// Queues writes. After a failed write, the store reports its failure in its health, and the
    /// database is reopened.
    Write(Vec<Write>),
    /// Saves new files and their sessions, because the next batch looks them up in the store.
    /// Returns `Registered` at once.
    Register {
        sessions: Vec<Session>,
        sources: Vec<Source>,
    },
    /// Starts a job. Returns `JobDone` later.
    RunJob {
        thread: usize,
        job: Box<Job>,
    },
    /// Starts to identify new files. Returns `Identified` later.
    Identify(Vec<PathBuf>),
    /// Reads whether files exist, and their stamps. Returns `FilesObserved` at once.
    ObserveFiles(Vec<PathBuf>),
    /// Determines which agents run. Returns `AgentsObserved` at once.
    ObserveAgents {
        folders: Vec<(FormatHandle, PathBuf)>,
        /// The processes that hooks or liveness files reported.
        known: Vec<Process>,
        /// The sessions whose deadlines are handled afterwards.
        due: Vec<SessionKey>,
    },
    /// Returns `Liveness` when the process ends, because an agent that is killed does not delete
    /// its liveness file.
    AwaitExit(Process),
    /// Starts the requests to a model about a session. Returns `ModelAnswered` later.
    Ask {
        summarizer: Arc<Summarizer>,
        generation: u64,
        question: Box<ModelQuestion>,
    },
    /// Records in the usage statistics that a request was avoided, because the session had not
    /// changed.
    CountAvoided(Option<Namespace>),
    /// Replies with the permission to create the summary of a session again, and with the data from
    /// which it is created.
    PermitRemake {
        session: Box<Session>,
        parse_context: Arc<ParseContext>,
        reply: oneshot::Sender<RemakePermit>,
    },
    /// Finds the sessions whose files have to be read again by newer rules. Returns
    /// `OutdatedFound` at once.
    FindOutdated,
    /// Watches these folders instead of the earlier folders. Returns `Notice`s and `Liveness`
    /// later. If this fails, returns `Command` with the problem at once.
    Watch(TranscriptFolders),
    /// Requests a scan of all folders, for a caller that waits for the scan. Returns
    /// `RescanRequested` at once.
    Rescan {
        until_no_timeouts: bool,
        reply: oneshot::Sender<()>,
    },
    /// Allows one more attempt for a quarantined session.
    LiftQuarantine(SessionId),
    /// Forgets the crashes of sessions.
    ForgetCrashes(Vec<SessionId>),
    Reply(Box<dyn FnOnce() + Send>),
    /// Sends a reply, with the position of the outbox, when all writes so far are durable.
    ReplyWhenSaved(Box<dyn FnOnce(Result<u64, StoreError>) + Send>),
    /// Sends a reply when searches find all writes so far.
    ReplyWhenFound(oneshot::Sender<()>),
    /// Stops readers, model calls and watches.
    StopWork,
    /// Reaches a point at which a test may kill the daemon.
    FaultPoint(&'static str),
}
