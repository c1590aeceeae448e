//! The methods other than tools, for the command line and for hooks.

pub mod corrections;
pub mod files;
pub mod forget;
pub mod hook;
pub mod models;
pub mod share;
pub mod static_copy;
pub mod stats;
pub mod transfer;
pub mod view;

use serde::{Deserialize, Serialize};

/// `graphiti/hello`: returns the versions of the daemon and of its protocol.
pub const HELLO: &str = "graphiti/hello";
/// `graphiti/close`: records the intent to close a session, and answers when the record is on disk.
/// The session is indexed later.
pub const CLOSE: &str = "graphiti/close";
/// `graphiti/settle`: answers when all transcripts were read, all sessions whose indexing is
/// pending are indexed, all text is in the search index, and all vectors were computed or computing
/// them failed.
pub const SETTLE: &str = "graphiti/settle";
/// `graphiti/reload`: reloads the configuration.
pub const RELOAD: &str = "graphiti/reload";
/// `graphiti/stop`: stops the daemon. The daemon answers at once, or exits without an answer. When
/// the daemon releases the lock of its home directory, all data are saved.
pub const STOP: &str = "graphiti/stop";

/// A request of [`corrections::CORRECTIONS`] can check corrections without storing them
/// ([`corrections::CorrectionsRequest::dry_run`]).
pub const CHECK_CORRECTIONS: &str = "check_corrections";
/// The close tool can create a summary again ([`crate::tools::close::CloseArguments::again`]).
pub const CLOSE_AGAIN: &str = "close_again";
/// The sync tool can request summaries of the model again
/// ([`crate::tools::sync_history::SyncHistoryArguments::again`]).
pub const SYNC_AGAIN: &str = "sync_again";

/// The capabilities that some older version with the same protocol version lacks. A capability is
/// listed if the older version would ignore the request's member for the capability, and would then
/// do something that the client did not request.
pub const CAPABILITIES: &[&str] = &[CHECK_CORRECTIONS, CLOSE_AGAIN, SYNC_AGAIN];

/// The parameters of [`HELLO`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hello {
    /// The version of the client's protocol.
    pub protocol: u32,
    /// The version of the client.
    pub version: String,
}

/// The answer to [`HELLO`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Welcome {
    /// The version of the daemon's protocol.
    pub protocol: u32,
    /// The version of the daemon.
    pub version: String,
    /// The process id of the daemon.
    pub pid: u32,
    /// The home folder of the daemon.
    pub home: String,
    /// The [`CAPABILITIES`] of the daemon; empty in versions up to 0.2.0.
    pub capabilities: Vec<String>,
}

/// The parameters of [`SETTLE`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settle {
    /// Whether to wait also for all sessions that close automatically, by a timeout or because the
    /// agent has exited.
    pub sessions: bool,
}

/// The parameters of [`CLOSE`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Close {
    /// The id of the session, a prefix of it, or an episode id; by default the caller's session.
    pub session_id: Option<String>,
    /// The path of the transcript. The daemon ignores this path at present.
    pub transcript_path: Option<String>,
    /// The reason, as in [`crate::tools::close::CloseArguments::reason`].
    pub reason: Option<String>,
}

/// The answer to [`RELOAD`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reloaded {
    /// Descriptions of the changes, for people.
    pub changes: Vec<String>,
    /// The problems of the configuration file. If there are problems, the old settings are kept.
    pub problems: Vec<String>,
    /// Remarks about a valid configuration file, such as unknown or deprecated keys.
    pub notices: Vec<String>,
}
