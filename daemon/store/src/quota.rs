//! A port for the disk use of a store and its limits. The engine's evictor needs this port; code
//! that reads and writes data does not.

use tokio::sync::watch;

use crate::{StoreError, model::SessionKey};

/// The disk space that a store uses, and its limits.
pub trait DiskQuota {
    /// Returns the size of the files on disk, in bytes.
    fn disk_bytes(&self) -> u64;

    /// Returns the size of all records and their keys, in bytes. Reads the whole database.
    fn content_bytes(&self) -> Result<u64, StoreError>;

    /// Returns the size of the records with the text of a session, in bytes.
    fn text_bytes(&self, session: SessionKey) -> Result<u64, StoreError>;

    /// Sets the maximum size of the files on disk, in bytes.
    fn set_limit(&self, bytes: u64);

    /// Whether the files are so close to the limit that they should become smaller.
    fn is_near_limit(&self) -> bool;

    /// Returns the size, in bytes, to which eviction should reduce the content.
    fn content_target(&self) -> u64;

    /// Returns the next step to make the files smaller, if the store has `content` bytes of
    /// content.
    fn next_step(&self, content: u64, progress: EvictionProgress) -> SpaceStep;

    /// Refuses text until the store is opened again; `reason` contains the remedy.
    fn refuse_text(&self, reason: &str);

    /// Returns why there is too little space for text, or `None` if there is enough. Text may be
    /// refused even then (see [`StoreHealth::TextRefused`]).
    fn shortage(&self) -> Option<String>;

    /// Returns a receiver of the store's health.
    fn health(&self) -> watch::Receiver<StoreHealth>;
}

/// A step to make the files of a store smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceStep {
    /// The files are not near their limit.
    Nothing,
    /// The store should be opened again, which compacts it.
    Compact,
    /// Content should be evicted down to [`DiskQuota::content_target`].
    Evict,
    /// Neither an eviction nor a compaction helps now: too much content cannot be evicted, the
    /// disk has no free space for a compacted copy, or a copy would hardly be smaller.
    Wait,
}

/// What was evicted in an attempt to make the files smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvictionProgress {
    NotTried,
    /// Content was evicted. Either enough was evicted, or nothing more can be evicted.
    Evicted,
    /// Nothing can be evicted.
    NothingEvicted,
}

/// Whether a store can be written.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum StoreHealth {
    /// Everything can be written.
    #[default]
    Normal,
    /// Everything can be written, but the files should become smaller.
    NearLimit,
    /// Lists with text, checkpoints or vectors are refused until the store is opened again. All
    /// other lists are written. Contains the reason and a remedy.
    TextRefused(String),
    /// Nothing can be written until the store is opened again. No acknowledged write is lost.
    Failed(String),
}
