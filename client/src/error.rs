//! The errors of requests and of starting the daemon, with messages for users.

use std::{io, path::PathBuf, process::ExitStatus, time::Duration};

use graphiti_proto::{PROTOCOL, rpc};
use serde_json::Value;

/// Why a request or a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    /// A file that the user gave cannot be used.
    #[error("{path}: {what}")]
    File {
        path: String,
        /// What is wrong with the file.
        what: String,
    },
    /// An argument or a setting is wrong, or a check found problems.
    #[error("{0}")]
    InvalidInput(String),
    /// The home folder is unknown.
    #[error("your home folder is not known; set GRAPHITI_HOME")]
    NoHome,
    #[error("graphitid is not running for {}: nothing answers at {socket}\nStart it with: graphiti up", .home.display())]
    NotRunning {
        home: PathBuf,
        /// The address at which the daemon would listen.
        socket: String,
    },
    /// The client cannot connect to the address, for example because the user has no access.
    #[error("cannot reach graphitid at {socket}: {error}")]
    Unreachable { socket: String, error: io::Error },
    /// The daemon accepts connections but does not answer.
    #[error("graphitid{} does not answer; `graphiti stop --force` ends it, `graphiti up` starts it again", pid(.0))]
    NoAnswer(Option<u32>),
    #[error("graphitid{} responds, but did not answer this request in {} s; the end of its log may show the reason; `graphiti stop` and `graphiti up` restart it", pid(.process), .waited.as_secs())]
    RequestTimeout {
        process: Option<u32>,
        /// How long the client waited.
        waited: Duration,
    },
    #[error("no usable answer from graphitid: {0}")]
    InvalidAnswer(String),
    /// The daemon uses another protocol version.
    #[error(
        "graphitid {version} uses protocol {daemon}, but this graphiti ({}) uses {PROTOCOL}: {}",
        env!("CARGO_PKG_VERSION"),
        update_hint(*.daemon)
    )]
    OtherProtocol { version: String, daemon: u32 },
    /// The daemon would ignore a part of the request.
    #[error(
        "graphitid {version} is older than this graphiti and would ignore {part}, so nothing was done; run graphiti stop and graphiti up to start the installed graphitid; if the error stays, update graphitid"
    )]
    OlderDaemon {
        version: String,
        /// The option or step that the daemon does not know.
        part: &'static str,
    },
    /// Any other problem on this machine.
    #[error("{0}")]
    Failed(String),
    #[error(transparent)]
    NotStarted(#[from] StartError),
    /// A file or a folder cannot be written.
    #[error("cannot write {}: {error}", .path.display())]
    NotWritten { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Refused(#[from] rpc::Error),
    #[error("{message}")]
    Tool {
        /// What went wrong, and what to do.
        message: String,
        details: Value,
    },
}

/// Returns which of the two programs to update, given the daemon's protocol version.
pub(crate) fn update_hint(daemon: u32) -> &'static str {
    if daemon < PROTOCOL {
        "update graphitid, then run graphiti stop and graphiti up"
    } else {
        "update graphiti to the version of the daemon"
    }
}

fn pid(process: &Option<u32>) -> String {
    process.map_or(String::new(), |pid| format!(" (pid {pid})"))
}

impl AskError {
    /// Returns the details of the daemon's error; null if the error has no details.
    pub(crate) fn details(&self) -> &Value {
        match self {
            AskError::Tool { details, .. } => details,
            AskError::Refused(error) => error.data.as_ref().unwrap_or(&Value::Null),
            _ => &Value::Null,
        }
    }

    pub(crate) fn file(path: &std::path::Path, what: &dyn std::fmt::Display) -> AskError {
        AskError::File { path: path.display().to_string(), what: what.to_string() }
    }
}

/// Why the daemon could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(
        "graphitid is neither in the folder of this program nor on PATH; install it (see README), or put its folder on PATH"
    )]
    NotFound,
    #[error("cannot start {}: {error}", .program.display())]
    SpawnFailed { program: PathBuf, error: io::Error },
    /// The home folder is not writable.
    #[error("cannot write to {}: {error}; set GRAPHITI_HOME to a folder that can be written to", .home.display())]
    Home { home: PathBuf, error: io::Error },
    /// The process exited before it answered.
    #[error("graphitid ended with {status}\n{output}")]
    Ended { status: ExitStatus, output: String },
    /// The process runs, but did not answer in time.
    #[error("graphitid (pid {pid}) has started but does not answer yet; its log: {}; `graphiti stop --force` ends it", .log.display())]
    NoAnswer { pid: u32, log: PathBuf },
}
