//! The limits on disk space.

/// Limits in bytes. Near the limit of the database or the index, the oldest data is evicted (see
/// `engine/quota`). At the other limits, further hook events are refused and the oldest log files
/// are deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The database of sessions and episodes.
    pub database_bytes: u64,
    pub index_bytes: u64,
    /// The hook events that wait for the daemon.
    pub spool_bytes: u64,
    /// All log files together.
    pub log_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            database_bytes: 4 << 30,
            index_bytes: 2 << 30,
            spool_bytes: 64 << 20,
            log_bytes: 32 << 20,
        }
    }
}
