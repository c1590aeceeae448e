//! The methods beside the tools: for the command line and for hooks.

pub mod files;
pub mod forget;
pub mod hook;
pub mod models;
pub mod transfer;

use serde::{Deserialize, Serialize};

/// `graphiti/hello`: the versions of the daemon and of its protocol.
pub const HELLO: &str = "graphiti/hello";
/// `graphiti/close`: records the intent to close a session, and answers when that is on
/// disk; the session is indexed later.
pub const CLOSE: &str = "graphiti/close";
/// `graphiti/settle`: answer when everything there is has been read, indexed where due, and can be
/// found.
pub const SETTLE: &str = "graphiti/settle";
/// `graphiti/reload`: read the configuration again.
pub const RELOAD: &str = "graphiti/reload";
/// `graphiti/stop`: stop the daemon. Answered at once, if at all; everything is saved when the
/// daemon releases the lock of its home.
pub const STOP: &str = "graphiti/stop";

/// What a client says with [`HELLO`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hello {
    /// The version of the protocol that it speaks.
    pub protocol: u32,
    /// The version of the program.
    pub version: String,
}

/// What the daemon answers to [`HELLO`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Welcome {
    /// The version of the protocol that it speaks.
    pub protocol: u32,
    /// The version of the program.
    pub version: String,
    /// The process id of the daemon.
    pub pid: u32,
    /// The home folder of the daemon.
    pub home: String,
}

/// What a client says with [`SETTLE`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settle {
    /// Whether to wait, too, until every session is over that ends by itself: by a timeout, or
    /// because its agent is gone.
    pub sessions: bool,
}

/// What a client says with [`CLOSE`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Close {
    /// The agent's id of the session, or its beginning.
    pub session_id: Option<String>,
    /// The transcript, for a session not seen yet.
    pub transcript_path: Option<String>,
    /// Why, in the words of [`crate::tools::close::CloseArguments::reason`].
    pub reason: Option<String>,
}

/// What the daemon answers to [`RELOAD`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reloaded {
    /// What changed, for people.
    pub changes: Vec<String>,
    /// What is wrong with the file; the old settings hold when there is anything here.
    pub problems: Vec<String>,
    /// What of the file has no effect, or another one than it seems: a key that is not known.
    pub notices: Vec<String>,
}
