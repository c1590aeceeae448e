//! The limits on disk space.

/// Limits in bytes. Near a limit, the oldest data is evicted (see `engine/quota`); beyond it,
/// writes are refused. Both are reported.
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
