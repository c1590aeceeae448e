//! The data that survives a restart, as a port: [`Store`] defines what is stored and how it
//! changes, and a backend implements it. The only backend is [`sled`]. Every backend has to
//! pass the tests in `contract`.
//!
//! Any thread may read. One writer applies lists of [`Write`]s in order. A list is applied
//! completely or not at all, and is acknowledged only when it would survive a power cut. Changes
//! that followers such as the search index need are added to an outbox in the same step. The disk
//! use of a store has its own port ([`DiskQuota`]).

use graphitid_core::{fault, files, model, sync};

pub mod clean;
#[cfg(any(test, feature = "testing"))]
pub mod contract;
pub mod corrections;
pub mod damaged;
pub mod graph;
pub mod notes;
pub mod quota;
mod session_head;
pub mod sled;
pub mod totals;
pub mod vectors;

use tokio::sync::{oneshot, watch};

pub use self::{
    clean::{Cleaner, TextStore},
    graph::GraphStore,
    notes::{Note, NoteNamespace, NoteStore},
    quota::{DiskQuota, EvictionProgress, SpaceStep, StoreHealth},
    session_head::SessionHead,
    totals::{AgentTotals, SessionCounts, Totals, TotalsByAgent},
    vectors::VectorStore,
};
use crate::model::{
    Episode, EpisodeId, Message, Namespace, SessionId, SessionKey,
    graph::{EntityOrFact, Statements},
    session::Session,
    transcript::RecordUuid,
    vector::Vectors,
};

/// The data that survives a restart. Reads do not see queued writes, except where stated.
pub trait Store: GraphStore + NoteStore + TextStore + VectorStore + Send + Sync {
    /// Queues `writes` to be applied together. Does not wait for them, but blocks while the queue
    /// is full.
    ///
    /// The returned [`PendingWrite`] resolves when the list would survive a power cut.
    fn write(&self, writes: Vec<Write>) -> PendingWrite;

    /// Returns a key that was never used before, for a new session.
    fn next_session_key(&self) -> Result<SessionKey, StoreError>;

    /// Returns a session by its key. Changes of the session that are still queued are included, but
    /// a queued deletion has no effect.
    fn session(&self, key: SessionKey) -> Result<Option<Session>, StoreError>;

    /// Returns the key of the session that has this id.
    fn find_session(&self, id: &SessionId) -> Result<Option<SessionKey>, StoreError>;

    /// Returns the id of a session, even if the record of the session is damaged.
    fn id_of(&self, session: SessionKey) -> Result<Option<SessionId>, StoreError>;

    /// Returns at most `limit` sessions whose ids, without the name of the agent, begin with
    /// `prefix`.
    fn sessions_with_prefix(
        &self,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<SessionKey>, StoreError>;

    /// Calls `visit` for every session, in the order of the keys, until `visit` returns `false`.
    ///
    /// # Errors
    ///
    /// If a record is damaged, the first such error is returned after all other sessions were
    /// visited.
    fn visit_sessions(&self, visit: &mut dyn FnMut(Session) -> bool) -> Result<(), StoreError>;

    /// Same as [`visit_sessions`](Store::visit_sessions), for work that must continue without the
    /// sessions whose records are damaged: logs a warning about them.
    fn visit_undamaged_sessions(
        &self,
        visit: &mut dyn FnMut(Session) -> bool,
    ) -> Result<(), StoreError> {
        match self.visit_sessions(visit) {
            Err(error @ StoreError::Damaged { .. }) => {
                tracing::warn!(%error, "sessions with damaged records are skipped");
                Ok(())
            }
            visited => visited,
        }
    }

    /// Calls `visit` for the head of every session except added memories, in the order of the keys.
    /// The heads are in memory after the first call.
    fn visit_session_heads(
        &self,
        visit: &mut dyn FnMut(SessionKey, &SessionHead),
    ) -> Result<(), StoreError>;

    /// Returns the sessions whose written state is not `Indexed`. Queued changes of these sessions
    /// are included, so that the state of a returned session may be `Indexed`. Skips damaged
    /// records, and logs a warning about each of them.
    fn live_sessions(&self) -> Result<Vec<Session>, StoreError>;

    /// Returns the file that is registered under `path`.
    fn source_at(&self, path: &str) -> Result<Option<Source>, StoreError>;

    /// Same as [`visit_sessions`](Store::visit_sessions), for every file of every session.
    fn visit_sources(&self, visit: &mut dyn FnMut(Source) -> bool) -> Result<(), StoreError>;

    /// Returns the sessions that have `record` as a fork key (see [`Write::ForkKeys`]), in the
    /// order of their session keys.
    fn sessions_with_fork_key(&self, record: RecordUuid) -> Result<Vec<SessionKey>, StoreError>;

    fn fork_keys_of(&self, session: SessionKey) -> Result<Vec<RecordUuid>, StoreError>;

    /// Returns the files of a session, beginning with the session's own file.
    fn sources_of(&self, session: SessionKey) -> Result<Vec<Source>, StoreError>;

    /// Returns the saved state of reading a file.
    fn checkpoint(&self, source: SourceKey) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns at most `limit` messages of a file, in order, beginning with number `from`.
    fn messages(
        &self,
        source: SourceKey,
        from: u32,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError>;

    /// Calls `visit` for every message of a session, file by file, or only for the messages of the
    /// file with the given number. Returns the errors of [`visit_sessions`](Store::visit_sessions).
    fn visit_messages(
        &self,
        session: SessionKey,
        number: Option<u32>,
        visit: &mut dyn FnMut(Message),
    ) -> Result<(), StoreError>;

    /// Returns an episode by its id, even if it is still queued.
    fn episode(&self, id: EpisodeId) -> Result<Option<Episode>, StoreError>;

    /// Returns the episode of `session`; `None` if the session has none, or if it was deleted.
    fn episode_of(&self, session: &Session) -> Result<Option<Episode>, StoreError> {
        session.indexed.as_ref().map_or(Ok(None), |indexed| self.episode(indexed.episode))
    }

    /// Same as [`episode_of`](Store::episode_of), for the stored state of a session.
    fn stored_episode_of(&self, session: SessionKey) -> Result<Option<Episode>, StoreError> {
        self.session(session)?.map_or(Ok(None), |session| self.episode_of(&session))
    }

    /// Returns at most `limit` episodes of one project, or of all projects. Episodes of later
    /// sessions come first. For paging, `before` is the last episode of the previous page.
    fn newest_episodes(
        &self,
        project: Option<Namespace>,
        before: Option<EpisodeId>,
        limit: usize,
    ) -> Result<Vec<Episode>, StoreError>;

    /// Returns at most `limit` entries of the outbox after position `after`.
    fn outbox(&self, after: u64, limit: usize) -> Result<Vec<OutboxEntry>, StoreError>;

    /// Returns the position of the last entry that was ever added to the outbox.
    fn outbox_end(&self) -> u64;

    /// Returns a receiver of the position of the last outbox entry that would survive a power cut.
    fn outbox_ends(&self) -> watch::Receiver<u64>;

    /// Returns totals for the status display.
    fn totals(&self) -> Totals;

    /// Returns the totals of each agent, without added memories. They are updated with each write,
    /// so that reading them does not take longer with more sessions.
    fn totals_by_agent(&self) -> TotalsByAgent;

    /// Returns the port for the disk use of this store and its limits.
    fn quota(&self) -> &dyn DiskQuota;
}

/// The key of a transcript file. Number 0 is the session's own file. Higher numbers are the files
/// of its sub-agents, and further files of the session itself, in the order in which they were
/// found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceKey {
    pub session: SessionKey,
    /// The file's number in the session.
    pub number: u32,
}

/// A transcript file that is followed.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub key: SourceKey,
    pub path: String,
    /// For a sub-agent's file, the sub-agent's id.
    pub sub_agent: Option<String>,
    /// The state of the file in the file system at the checkpoint.
    pub stamp: FileStamp,
    /// The number of bytes that were read up to the checkpoint.
    pub offset: u64,
    /// Counts of the file's records so far.
    pub tally: Tally,
}

/// Distinguishes states of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FileStamp {
    /// The file's inode number; 0 on Windows. If an agent stores its sessions in a database, a
    /// checksum of the session's state.
    pub file: u64,
    /// The file's length in bytes; 0 if the file itself does not contain the lines that are read,
    /// for example because it is compressed.
    pub length: u64,
    /// The time of the last modification, in microseconds since the epoch.
    pub modified: i64,
}

/// Counts of a file's records.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// Records that were read.
    pub read: u64,
    /// Records without useful content, by type.
    pub skipped: std::collections::BTreeMap<String, u64>,
    /// Broken records that could be read in part.
    pub repaired: u64,
    /// Broken records that could not be read.
    pub broken: u64,
    /// Bytes of the records that could not be read.
    pub broken_bytes: u64,
    /// Number of times that the file was truncated or replaced, and then read again from its
    /// beginning.
    pub restarts: u64,
}

/// One change of the stored data.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Adds or replaces a session.
    Session(Box<Session>),
    /// Adds or replaces a file and the saved state of reading it. Has no effect when another
    /// [`SourceKey`] has the same path already.
    Source {
        source: Source,
        /// The saved state; `None` keeps the old one.
        checkpoint: Option<Vec<u8>>,
    },
    /// Adds consecutive messages of a file. They replace all messages with the same or a higher
    /// number. The first of them must have the number of the first message of an earlier write to
    /// this file, or follow the last message of an earlier write.
    Messages {
        source: SourceKey,
        messages: Vec<Message>,
    },
    /// Adds records with which forks and copies of a session may begin. They are deleted with the
    /// session.
    ForkKeys {
        session: SessionKey,
        /// The ids of the records.
        records: Vec<RecordUuid>,
    },
    /// Replaces the text of some messages of a file. A message is not changed if its text differs
    /// from the expected text.
    Reword {
        source: SourceKey,
        words: Vec<Reworded>,
    },
    /// Deletes the messages of a file and the saved state of reading it, so that the next read
    /// begins at its start.
    ClearSource(SourceKey),
    /// Deletes a file, and everything that was read from it.
    DropSource(SourceKey),
    /// Evicts the messages of a file. The saved state of reading the file stays, so that reading
    /// continues after these messages.
    DropText(SourceKey),
    /// Adds the episode of a session, or replaces it.
    Episode(Box<Episode>),
    /// Replaces the statements of an episode about entities and facts. They are deleted with the
    /// episode.
    Statements {
        episode: EpisodeId,
        statements: Box<Statements>,
    },
    DropEpisode(EpisodeId),
    /// Deletes a session with all its stored data, and its notes in each [`NoteNamespace`] that is
    /// deleted with the session. Data that the same list adds are not deleted.
    DropSession(SessionKey),
    /// Adds, replaces or deletes a note.
    Note(Note),
    /// Deletes all notes of a namespace, also damaged notes.
    DropNotes(NoteNamespace),
    /// Replaces the vectors of an owner. The old vectors are always deleted. The new vectors are
    /// stored only if the owner exists. Vectors of a session must also be made from the session's
    /// current episode.
    Vectors(Box<Vectors>),
    /// Deletes the outbox entries up to this position, because every follower has durably applied
    /// them.
    OutboxConsumed(u64),
}

/// A new text of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reworded {
    pub seq: u32,
    /// The expected old text.
    pub was: String,
    /// The new text.
    pub is: String,
}

/// A change with its position in the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// The position of the entry; the first is 1.
    pub position: u64,
    pub what: OutboxChange,
}

/// A change of the stored data that followers apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutboxChange {
    Messages {
        source: SourceKey,
        /// The number of the first message.
        from: u32,
        count: u32,
        /// Whether older messages with these or higher numbers were replaced.
        overwrites: bool,
    },
    /// A session was added, or its project has changed.
    Session(SessionKey),
    /// All messages of a file were deleted.
    SourceCleared(SourceKey),
    /// An episode was added or replaced.
    Episode(EpisodeId),
    /// An episode was deleted.
    EpisodeDropped {
        id: EpisodeId,
        /// The session, which may have another episode by now.
        session: SessionKey,
    },
    /// A session was deleted, with its messages.
    SessionDropped(SessionKey),
    /// The statements about these entities and facts have changed.
    EntitiesAndFacts(Vec<EntityOrFact>),
}

/// Resolves when a list of writes would survive a power cut.
pub struct PendingWrite(oneshot::Receiver<Result<u64, StoreError>>);

impl PendingWrite {
    /// Returns a pending write, and the sender that resolves it.
    pub fn new() -> (oneshot::Sender<Result<u64, StoreError>>, PendingWrite) {
        let (resolve, ticket) = oneshot::channel();
        (resolve, PendingWrite(ticket))
    }

    /// Blocks this thread until the write is done; not for use inside the async runtime. Returns
    /// the position of the last outbox entry.
    pub fn wait(self) -> Result<u64, StoreError> {
        self.0.blocking_recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Waits without blocking a thread. Returns the position of the last outbox entry.
    pub async fn done(self) -> Result<u64, StoreError> {
        self.0.await.unwrap_or(Err(StoreError::Closed))
    }
}

/// Why a store cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A record cannot be read.
    #[error("record {key} is damaged: {what}; run `graphiti repair`")]
    Damaged {
        /// The record's key, as printable text.
        key: String,
        /// What is wrong with the record.
        what: String,
    },
    #[error("the database failed: {0}")]
    Backend(String),
    /// The files of the database are damaged.
    #[error("the database is damaged: {0}; run `graphiti repair`")]
    Unreadable(String),
    /// The store was written by a newer version. Contains the version or the table that is unknown.
    #[error("the data were written by a newer version of graphitid ({0}): update graphitid")]
    TooNew(String),
    /// The disk is too full, or the database or the search index has reached its limit.
    #[error("{0}")]
    Full(String),
    /// The thread that writes has ended.
    #[error("the database is closed")]
    Closed,
}
