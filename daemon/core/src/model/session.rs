//! Whose transcript it is, and how far its indexing is.

use std::fmt;

use crate::model::{episode_id::EpisodeId, project::Project, time::Timestamp};

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

/// The number that the store gives a session when it is first seen; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub u64);

/// SHA-256 of the filtered messages of a session. Two states of a transcript with the same messages
/// have the same hash, whatever else differs in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl fmt::Display for ContentHash {
    /// The first sixteen hex digits, as the hybrid-close document shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(8).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::LowerHex for ContentHash {
    /// All of its hex digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The state of a session, without its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// The store's number of it.
    pub key: SessionKey,
    /// The agent's id of it.
    pub id: SessionId,
    /// The directory where it started, when a record has named it.
    pub project: Option<Project>,
    /// The transcript's path.
    pub file: String,
    /// How far its indexing is.
    pub state: State,
    /// The content that was read so far; `None` before the first read.
    pub content: Option<Content>,
    /// The content that was indexed last.
    pub indexed: Option<Indexed>,
    /// When the first message was written.
    pub started_at: Option<Timestamp>,
    /// When the transcript was last written to.
    pub last_activity: Timestamp,
}

impl Session {
    /// Whether it has messages or an error to show; lists omit all others.
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

/// The episode that a session was last turned into.
#[derive(Clone, Debug, PartialEq)]
pub struct Indexed {
    pub episode: EpisodeId,
    /// The content that it was made from.
    pub hash: ContentHash,
    /// When it was made.
    pub at: Timestamp,
    /// Why.
    pub reason: CloseReason,
}

/// The state of a session (hybrid-close, section 6).
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Being written to.
    Active,
    /// Not written to for `check_interval`, but not over.
    Inactive,
    /// Being turned into an episode.
    Indexing(Indexing),
    /// Turned into an episode, and not written to since.
    Indexed,
    /// Turning it into an episode failed.
    Failed(Failure),
    /// Over, but not turned into an episode yet.
    Unindexed(Unindexed),
}

/// A running or due job.
#[derive(Clone, Debug, PartialEq)]
pub struct Indexing {
    /// Why.
    pub reason: CloseReason,
    /// Since when.
    pub since: Timestamp,
    /// Attempts that failed before this one.
    pub attempts: u32,
    /// Whether the transcript was written to since: the session is active again afterwards.
    pub written_since: bool,
    /// Why it was asked to be closed again since: perhaps for something that the running job has
    /// not read, so that another job follows.
    pub again: Option<CloseReason>,
}

/// A failed job.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub error: String,
    /// Failed attempts in a row.
    pub attempts: u32,
    /// When to retry without a request; `None` when never.
    pub retry_at: Option<Timestamp>,
    /// Why it was being indexed.
    pub reason: CloseReason,
}

/// Why a session is over without an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unindexed {
    /// Its agent has exited.
    AgentGone {
        /// When that was noticed.
        since: Timestamp,
    },
    /// It was already old when it was first seen.
    History,
    /// It is inactive, and the inactivity timeout is disabled.
    NoTimeout,
}

impl State {
    /// The name in documents and on screen.
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
    /// A caller requested it, perhaps with a note.
    Explicit(Option<String>),
    /// The agent's hook reported the end of the session, with the agent's reason.
    Hook(String),
    /// The agent is about to compact its context.
    PreCompact,
    /// A search needed it.
    LazyQuery,
    /// Nothing was written for the inactivity timeout.
    InactivityTimeout,
    /// The agent's process has exited.
    AgentExited,
    /// It is part of the imported history.
    HistorySync,
}

impl CloseReason {
    /// The name in documents: `explicit`, `hook_clear`, `lazy_query`, ….
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

    /// The note of the caller, if there is one.
    pub fn note(&self) -> Option<&str> {
        match self {
            CloseReason::Explicit(note) => note.as_deref(),
            _ => None,
        }
    }

    /// Reads [`CloseReason::name`]; anything else is someone's own word.
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

    /// The reason behind the `reason` argument of `session_tracking_close`: a hook's own
    /// `hook_clear`, or words of the caller's.
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

    /// Whether a caller or an agent requested it, as opposed to our own timers.
    pub fn is_asked(&self) -> bool {
        matches!(self, CloseReason::Explicit(_) | CloseReason::Hook(_) | CloseReason::PreCompact)
    }
}
