//! The settings of the log.

use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// The least severe level that is logged.
    pub level: Level,
    /// The log file. `None` means standard error if that is a terminal or the journal of systemd,
    /// otherwise `graphitid.log` in the home folder.
    pub file: Option<PathBuf>,
    /// The file size at which a new log file is started, in bytes.
    pub max_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    Error,
    /// A problem that does not stop the daemon.
    Warn,
    /// An event that matters to a user.
    Info,
    /// A decision of the daemon, with the reason.
    Debug,
    Trace,
}

impl Default for Log {
    fn default() -> Log {
        Log { level: Level::Info, file: None, max_bytes: 8 << 20 }
    }
}
