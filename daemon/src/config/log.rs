//! What the daemon writes about itself.

use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// The least important messages that are written.
    pub level: Level,
    /// The file; `None` for standard error when a terminal or a service manager reads that, else
    /// `graphitid.log` in the home folder.
    pub file: Option<PathBuf>,
    /// The file size at which a new log file is started, in bytes.
    pub max_bytes: u64,
}

/// How important a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    Error,
    /// Something is not as it should be.
    Warn,
    /// What a user would notice.
    Info,
    /// Which branch was taken.
    Debug,
    Trace,
}

impl Default for Log {
    fn default() -> Log {
        Log { level: Level::Info, file: None, max_bytes: 8 << 20 }
    }
}
