//! Disk use of a store and its limits, as a port of its own: code that reads and writes data does
//! not need it. The engine's evictor does.

use tokio::sync::watch;

use crate::{StoreError, model::SessionKey};

/// How much disk space a store uses, and how much it may use.
pub trait DiskQuota {
    /// Bytes of the files on disk.
    fn disk_bytes(&self) -> u64;

    /// Bytes of all records with their keys. Reads everything.
    fn content_bytes(&self) -> Result<u64, StoreError>;

    /// Bytes of the records that hold the text of a session.
    fn text_bytes(&self, session: SessionKey) -> Result<u64, StoreError>;

    /// Sets the bytes that the store may use on disk.
    fn set_limit(&self, bytes: u64);

    /// Whether the files are so close to the limit that content should be evicted.
    fn is_near_limit(&self) -> bool;

    /// The bytes of content down to which content should be evicted.
    fn content_target(&self) -> u64;

    /// Whether the file becomes smaller if a store with `content` bytes of content is compacted.
    fn would_shrink(&self, content: u64) -> bool;

    /// Refuses text until the store is opened again; `reason` contains the remedy.
    fn refuse_text(&self, reason: &str);

    /// Why text would be refused at present; `None` when there is space for it.
    fn shortage(&self) -> Option<String>;

    /// Whether the store can be written, as it changes.
    fn health(&self) -> watch::Receiver<StoreHealth>;
}

/// Whether a store can be written.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum StoreHealth {
    /// Everything can be written.
    #[default]
    Normal,
    /// Everything can be written, but content should be evicted.
    NearLimit,
    /// Text and checkpoints are refused until the store is opened again; all else is written. Holds
    /// the reason and what the user can do.
    TextRefused(String),
    /// Nothing can be written until the store is opened again. Acknowledged data are safe.
    Failed(String),
}
