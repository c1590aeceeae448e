//! What survives a restart, as a port: [`Store`] says what is kept and how it changes, a backend
//! keeps it. There is one backend, [`sled`]; `contract.rs` is what any other must pass.
//!
//! Reads may happen on any thread. Writes go through one writer, in order: a [`Write`] list is
//! applied whole or not at all, and acknowledged only when it would survive a power cut. What the
//! search index must follow is put in the same step into an outbox.

pub mod clean;
#[cfg(test)]
pub mod contract;
pub mod graph;
pub mod notes;
pub mod quota;
pub mod sled;
pub mod vectors;

use tokio::sync::{oneshot, watch};

pub use self::{
    clean::{Cleaner, TextStore},
    graph::GraphStore,
    notes::{Note, NoteNamespace, NoteStore},
    quota::{DiskQuota, StoreHealth},
    vectors::VectorStore,
};
use crate::model::{
    Episode, EpisodeId, Message, Namespace, SessionId, SessionKey,
    graph::{EntityOrFact, Statements},
    session::Session,
    transcript::RecordUuid,
    vector::Vectors,
};

/// What survives a restart.
pub trait Store: GraphStore + NoteStore + TextStore + VectorStore + Send + Sync {
    /// Queues `writes` to be applied together and returns at once; blocks only while the writer
    /// is more than a few lists behind.
    ///
    /// The ticket resolves when the list would survive a power cut.
    fn write(&self, writes: Vec<Write>) -> PendingWrite;

    /// A number never given before, for a new session.
    fn next_session_key(&self) -> Result<SessionKey, StoreError>;

    /// A session by its key, as it was written last, even if that is still queued.
    fn session(&self, key: SessionKey) -> Result<Option<Session>, StoreError>;

    /// A session by what its agent calls it.
    fn find_session(&self, id: &SessionId) -> Result<Option<SessionKey>, StoreError>;

    /// Sessions whose agent's id begins with `prefix`, at most `limit`.
    fn sessions_with_prefix(
        &self,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<SessionKey>, StoreError>;

    /// Calls `visit` for every session, in the order of their keys, until it returns `false`.
    fn visit_sessions(&self, visit: &mut dyn FnMut(Session) -> bool) -> Result<(), StoreError>;

    /// Every session that is not indexed and quiet.
    fn live_sessions(&self) -> Result<Vec<Session>, StoreError>;

    /// The file that is known under `path`.
    fn source_at(&self, path: &str) -> Result<Option<Source>, StoreError>;

    /// Calls `visit` for every file of every session, until it returns `false`.
    fn visit_sources(&self, visit: &mut dyn FnMut(Source) -> bool) -> Result<(), StoreError>;

    /// The sessions that have `record` as a landmark, in the order of their keys.
    fn sessions_with_fork_key(&self, record: RecordUuid) -> Result<Vec<SessionKey>, StoreError>;

    /// The landmarks of a session.
    fn fork_keys_of(&self, session: SessionKey) -> Result<Vec<RecordUuid>, StoreError>;

    /// The files of a session, the session's own first.
    fn sources_of(&self, session: SessionKey) -> Result<Vec<Source>, StoreError>;

    /// What was saved beside a file's cursor.
    fn checkpoint(&self, source: SourceKey) -> Result<Option<Vec<u8>>, StoreError>;

    /// At most `limit` messages of a file, from number `from` on, in order.
    fn messages(
        &self,
        source: SourceKey,
        from: u32,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError>;

    /// An episode by its id.
    fn episode(&self, id: EpisodeId) -> Result<Option<Episode>, StoreError>;

    /// At most `limit` episodes, of one project or of all, the latest sessions first; those before
    /// `before` when it is given, for paging.
    fn newest_episodes(
        &self,
        project: Option<Namespace>,
        before: Option<EpisodeId>,
        limit: usize,
    ) -> Result<Vec<Episode>, StoreError>;

    /// At most `limit` entries of the outbox after position `after`.
    fn outbox(&self, after: u64, limit: usize) -> Result<Vec<OutboxEntry>, StoreError>;

    /// The position of the last entry that was ever put into the outbox.
    fn outbox_end(&self) -> u64;

    /// The same as it changes; it moves on when the entries are safe.
    fn outbox_ends(&self) -> watch::Receiver<u64>;

    /// Totals for the status display.
    fn totals(&self) -> Totals;

    /// The disk use of this store, and its limits.
    fn quota(&self) -> &dyn DiskQuota;
}

/// Which file of which session. Number 0 is the session's own file, the others are its
/// sub-agents' in the order they were first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceKey {
    pub session: SessionKey,
    /// The file's number in it.
    pub number: u32,
}

/// A transcript file that is followed.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub key: SourceKey,
    pub path: String,
    /// For a sub-agent's file, the sub-agent's id.
    pub sub_agent: Option<String>,
    /// What the file system said of it at the checkpoint.
    pub stamp: FileStamp,
    /// How far the checkpoint reaches, in bytes.
    pub offset: u64,
    /// What became of its records so far.
    pub tally: Tally,
}

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FileStamp {
    /// Its number on its device (inode, or file index on Windows).
    pub file: u64,
    /// Its length in bytes.
    pub length: u64,
    /// When it was last modified, in microseconds since the epoch.
    pub modified: i64,
}

/// What became of a file's records.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// Records that were read.
    pub read: u64,
    /// Records that hold nothing anyone needs, by type.
    pub skipped: std::collections::BTreeMap<String, u64>,
    /// Broken records of which something could be read after all.
    pub repaired: u64,
    /// Broken pieces that were given up.
    pub broken: u64,
    /// Bytes of these pieces.
    pub broken_bytes: u64,
    /// Times the file was cut or replaced and read again from its beginning.
    pub restarts: u64,
}

/// One change of what is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// A session is new or another than before.
    Session(Box<Session>),
    /// A file is new or was read further, with what is saved beside its cursor. Without effect when
    /// its path is that of another file by now: each path stands once.
    Source {
        source: Source,
        /// The saved state; `None` leaves the one before.
        checkpoint: Option<Vec<u8>>,
    },
    /// Messages of a file, consecutive, in order. They replace any of the same or higher number, and
    /// begin where an earlier list of the file began or ended.
    Messages { source: SourceKey, messages: Vec<Message> },
    /// Records that forks and copies of a session may begin with. They go with the session.
    ForkKeys {
        session: SessionKey,
        /// The ids of the records.
        records: Vec<RecordUuid>,
    },
    /// Some messages of a file are told in other words. One that does not say any more what it
    /// said, or is not there, is left as it is.
    Reword { source: SourceKey, words: Vec<Reworded> },
    /// Everything that was read of a file is void: it was replaced.
    ClearSource(SourceKey),
    /// A file is to go, with everything that was read of it.
    DropSource(SourceKey),
    /// The messages of a file are let go, for they take too much room. What is saved beside its
    /// cursor stays, so that reading goes on behind them.
    DropText(SourceKey),
    /// A session's new episode, in the place of its old one.
    Episode(Box<Episode>),
    /// What an episode says of things and facts, in the place of what it said before. It goes
    /// with the episode.
    Statements { episode: EpisodeId, statements: Box<Statements> },
    /// An episode is to go.
    DropEpisode(EpisodeId),
    /// A session is to go, with everything of it.
    DropSession(SessionKey),
    /// A note is new or another than before, or is to go.
    Note(Note),
    /// Vectors that were made, in the place of any before. Without effect when what they were
    /// made of is gone by now.
    Vectors(Box<Vectors>),
    /// The search index has taken everything up to this position for good.
    OutboxConsumed(u64),
}

/// A message in other words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reworded {
    pub seq: u32,
    pub was: String,
    /// What it says from now on.
    pub is: String,
}

/// Something that the search index has to take over, in the order of its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// Its position; the first is 1.
    pub position: u64,
    pub what: OutboxChange,
}

/// What the search index has to take over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutboxChange {
    Messages {
        source: SourceKey,
        /// From this number on.
        from: u32,
        count: u32,
        /// Whether messages of these numbers, or some of them, were there before.
        overwrites: bool,
    },
    /// A session is new, or belongs to another project than was known.
    Session(SessionKey),
    /// A file's messages are gone.
    SourceCleared(SourceKey),
    /// A session has a new episode.
    Episode(EpisodeId),
    /// An episode is gone.
    EpisodeDropped {
        id: EpisodeId,
        /// Its session, which may have another one by now.
        session: SessionKey,
    },
    /// A session is gone, with its messages.
    SessionDropped(SessionKey),
    /// Something else is said of these things and facts, or nothing any more.
    Things(Vec<EntityOrFact>),
}

/// Totals for the status display.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Totals {
    pub sessions: u64,
    pub messages: u64,
    pub episodes: u64,
}

/// Resolves when a list of writes would survive a power cut.
pub struct PendingWrite(oneshot::Receiver<Result<u64, StoreError>>);

impl PendingWrite {
    /// A ticket and the other end of it.
    pub fn new() -> (oneshot::Sender<Result<u64, StoreError>>, PendingWrite) {
        let (resolve, ticket) = oneshot::channel();
        (resolve, PendingWrite(ticket))
    }

    /// Waits on this thread; not for use inside the async runtime. Returns the position of the
    /// last outbox entry.
    pub fn wait(self) -> Result<u64, StoreError> {
        self.0.blocking_recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Waits without holding a thread. Returns the position of the last outbox entry.
    pub async fn done(self) -> Result<u64, StoreError> {
        self.0.await.unwrap_or(Err(StoreError::Closed))
    }
}

/// What can go wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A record cannot be read.
    #[error("record {key} is damaged: {what}; run `graphiti repair`")]
    Damaged {
        /// The record's key, for people.
        key: String,
        /// What is wrong with it.
        what: String,
    },
    #[error("the database failed: {0}")]
    Backend(String),
    /// The database cannot be opened at all.
    #[error("the database is damaged: {0}; run `graphiti repair`")]
    Unreadable(String),
    /// The store was written by a newer version.
    #[error("the data is of version {found}, this program knows up to {known}: update graphitid")]
    TooNew {
        found: u32,
        /// The newest version known.
        known: u32,
    },
    /// There is no room for more text.
    #[error("{0}")]
    Full(String),
    /// The store is shutting down.
    #[error("the database is closed")]
    Closed,
}
