//! Sessions: their identity, and the state of their indexing.

use std::fmt;

use crate::model::{episode_id::EpisodeId, hex, project::Project, time::Timestamp};

/// An agent's id of a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId {
    /// The agent, by the name of its format: `claude`, `codex`, ….
    pub agent: String,
    /// The agent's own id of the session.
    pub id: String,
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

/// The number that the store assigns to a new session. A number is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub u64);

/// The SHA-256 of the filtered messages of a session. Two states of a transcript with the same
/// messages have the same hash, even if the files differ in other ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl fmt::Display for ContentHash {
    /// Writes the first sixteen hex digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0[..8]))
    }
}

impl fmt::LowerHex for ContentHash {
    /// Writes all hex digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

/// A session without its messages: its identity, and the progress of reading and indexing it.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// The store's number of the session.
    pub key: SessionKey,
    /// The agent's id of the session.
    pub id: SessionId,
    /// The directory where the session started, if a record contains it.
    pub project: Option<Project>,
    /// The transcript's path.
    pub file: String,
    pub state: State,
    /// The content that was read so far; `None` before the first read.
    pub content: Option<Content>,
    /// The last indexing; `None` if the session was never indexed.
    pub indexed: Option<Indexed>,
    /// When the first message was written.
    pub started_at: Option<Timestamp>,
    /// When the transcript was last written to.
    pub last_activity: Timestamp,
}

impl Session {
    /// Whether the session has messages or an error to show. Lists omit all other sessions.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.content.is_some() || matches!(self.state, State::Failed(_))
    }
}

/// The progress of reading a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The hash of the content.
    pub hash: ContentHash,
    pub messages: u32,
}

/// The last indexing of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Indexed {
    pub episode: EpisodeId,
    /// The hash of the summarised content.
    pub hash: ContentHash,
    /// When the episode was created.
    pub at: Timestamp,
    /// Why the session was closed.
    pub reason: CloseReason,
}

/// The state of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// The transcript is being written.
    Active,
    /// The transcript was not written for `check_interval`, but the session is not over.
    Inactive,
    /// An episode is being created.
    Indexing(Indexing),
    /// An episode was created, and the transcript was not written since then.
    Indexed,
    /// Creating an episode failed.
    Failed(Failure),
    /// The session is over, but has no episode yet.
    Unindexed(Unindexed),
}

/// A running or due job that creates an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Indexing {
    /// Why the session was closed.
    pub reason: CloseReason,
    /// When the job became due.
    pub since: Timestamp,
    /// Attempts that failed before this one.
    pub attempts: u32,
    /// Whether the transcript was written since the job became due. If `true`, the session becomes
    /// active again when the job ends, unless the job failed and a requested close must be retried.
    pub written_since: bool,
    /// Why the session was closed again after the job became due; `None` if it was not closed
    /// again. Another job follows such a close, because the running job may not have read
    /// everything.
    pub again: Option<CloseReason>,
}

/// A failed job.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub error: String,
    /// Failed attempts in a row.
    pub attempts: u32,
    /// When to retry without a request; `None` means never.
    pub retry_at: Option<Timestamp>,
    /// Why the session was closed.
    pub reason: CloseReason,
}

/// Why a session is over without an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unindexed {
    /// The session's agent has exited.
    AgentGone {
        /// The time at which the exit was noticed.
        since: Timestamp,
    },
    /// The session was already old when it was first seen.
    History,
    /// The session is inactive, and the inactivity timeout is disabled.
    NoTimeout,
}

impl State {
    /// Returns the name in documents and on screen.
    pub fn as_str(&self) -> &'static str {
        match self {
            State::Active => "active",
            State::Inactive => "inactive",
            State::Indexing(_) => "indexing",
            State::Indexed => "indexed",
            State::Failed(_) => "failed",
            State::Unindexed(_) => "unindexed",
        }
    }
}

/// Why a session was closed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// A caller requested the close, perhaps with a note.
    Explicit(Option<String>),
    /// The agent's hook reported the end of the session, with the agent's reason.
    Hook(String),
    /// The agent is about to compact its context.
    PreCompact,
    /// A search needed the session's episode.
    LazyQuery,
    /// The transcript was not written for the duration of the inactivity timeout.
    InactivityTimeout,
    /// The agent's process has exited.
    AgentExited,
    /// The session is part of the imported history.
    HistorySync,
}

impl CloseReason {
    /// Returns the name in documents: `explicit`, `hook_clear`, `lazy_query`, ….
    pub fn name(&self) -> String {
        match self {
            CloseReason::Explicit(_) => "explicit".to_owned(),
            CloseReason::Hook(reason) => format!("hook_{reason}"),
            CloseReason::PreCompact => "pre_compact".to_owned(),
            CloseReason::LazyQuery => "lazy_query".to_owned(),
            CloseReason::InactivityTimeout => "inactivity_timeout".to_owned(),
            CloseReason::AgentExited => "agent_exited".to_owned(),
            CloseReason::HistorySync => "history_sync".to_owned(),
        }
    }

    /// Returns the note of the caller, if there is one.
    pub fn note(&self) -> Option<&str> {
        match self {
            CloseReason::Explicit(note) => note.as_deref(),
            _ => None,
        }
    }

    /// Parses a name as [`CloseReason::name`] returns it. Any other text is the note of a caller.
    pub fn from_name(name: &str) -> CloseReason {
        let all = [
            CloseReason::LazyQuery,
            CloseReason::InactivityTimeout,
            CloseReason::AgentExited,
            CloseReason::HistorySync,
        ];
        let found = all.into_iter().find(|reason| reason.name() == name);
        found.unwrap_or_else(|| CloseReason::from_argument(Some(name)))
    }

    /// Returns the reason for the `reason` argument of `session_tracking_close`. The argument is
    /// `explicit`, `pre_compact`, the name of a hook's reason, such as `hook_clear`, or a note of
    /// the caller.
    pub fn from_argument(argument: Option<&str>) -> CloseReason {
        match argument.map(str::trim).filter(|reason| !reason.is_empty()) {
            None | Some("explicit") => CloseReason::Explicit(None),
            Some("pre_compact") => CloseReason::PreCompact,
            Some(reason) => match reason.strip_prefix("hook_") {
                Some(hook) => CloseReason::Hook(hook.to_owned()),
                None => CloseReason::Explicit(Some(reason.to_owned())),
            },
        }
    }

    /// Whether a caller or an agent requested the close. Otherwise, the daemon closed the session
    /// by itself.
    pub fn is_requested(&self) -> bool {
        matches!(self, CloseReason::Explicit(_) | CloseReason::Hook(_) | CloseReason::PreCompact)
    }
}
