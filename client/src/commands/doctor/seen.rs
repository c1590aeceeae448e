//! What there is to be seen on a machine, as plain values.

use std::path::PathBuf;

use graphiti_proto::{
    methods::{Welcome, files::FileCheckReport, hook::HookCounts, models::Reach},
    tools::{SessionRow, health},
};
use jiff::Timestamp;

use crate::setup::Wiring;

/// Everything that is looked at.
pub(super) struct Observations {
    pub(super) now: Timestamp,
    pub(super) home: PathBuf,
    /// Whether others may enter it.
    pub(super) home_access: Access,
    /// What stands where the daemon listens.
    pub(super) socket: Socket,
    pub(super) program: Option<PathBuf>,
    /// Why the configuration is refused, in the daemon's words.
    pub(super) misconfigured: Option<String>,
    /// How the daemon answers.
    pub(super) daemon: DaemonProbe,
    /// Events of hooks that wait for the daemon.
    pub(super) spooled: usize,
    /// The agents on this machine.
    pub(super) agents: Vec<AgentSeen>,
    pub(super) folders: Vec<Folder>,
    /// How many folders may be watched for one user, where there is such a limit.
    pub(super) watch_limit: Option<u64>,
    /// Free bytes where the home is, where the system tells.
    pub(super) free_bytes: Option<u64>,
    /// Damaged databases that were put aside.
    pub(super) damaged: Vec<PathBuf>,
}

/// Whether other users may do something with a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// It is not there.
    Absent,
    /// The system has no modes, or does not tell.
    Unknown,
    Mode(u32),
}

/// What stands where the daemon listens.
pub(super) struct Socket {
    /// The path of a socket, or the name of a pipe.
    pub(super) path: String,
    /// Where it is unless configured otherwise.
    pub(super) usual: String,
    /// Whether others may connect.
    pub(super) access: Access,
    /// Whether what is there is a socket.
    pub(super) is_socket: bool,
}

/// How the daemon answers.
pub(super) enum DaemonProbe {
    Down,
    /// Somebody listens and says nothing; the process, as far as it is known.
    Silent(Option<u32>),
    /// It lets us in and fails, or does not let us in: why.
    Failing(String),
    /// It speaks another protocol.
    Foreign(Welcome),
    Answers(Box<DaemonAnswers>),
}

/// What the daemon says.
pub(super) struct DaemonAnswers {
    pub(super) welcome: Welcome,
    pub(super) health: health::HealthAnswer,
    /// Which hooks it heard of.
    pub(super) heard: HookCounts,
    /// Whether models can be reached; none when an older daemon does not know that question.
    pub(super) reach: Option<Reach>,
    /// Whether its files are followed as they should be; none when an older daemon does not know
    /// that question.
    pub(super) files: Option<FileCheckReport>,
    /// The session that something happened in last.
    pub(super) latest: Option<SessionRow>,
}

/// An agent on this machine.
pub(super) struct AgentSeen {
    /// What it is called on the command line.
    pub(super) name: &'static str,
    /// What people call it.
    pub(super) title: &'static str,
    /// What setup has done.
    pub(super) wiring: Wiring,
    /// Hooks, the user's or the project's, in a form that older versions of the agent run without
    /// the argument.
    pub(super) old_hooks: Option<String>,
    /// Whether it can have hooks.
    pub(super) has_hooks: bool,
    /// Whether it has our plugin, which does the same as setup.
    pub(super) has_plugin: bool,
}

/// A folder with transcripts.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// Folders in it, with itself.
    pub(super) folders: u64,
    pub(super) transcripts: u64,
    /// Why it cannot be read.
    pub(super) error: Option<String>,
}

impl Observations {
    /// What the daemon says, if it does.
    pub(super) fn answers(&self) -> Option<&DaemonAnswers> {
        match &self.daemon {
            DaemonProbe::Answers(answers) => Some(answers),
            DaemonProbe::Down
            | DaemonProbe::Silent(_)
            | DaemonProbe::Failing(_)
            | DaemonProbe::Foreign(_) => None,
        }
    }
}

impl Access {
    /// Whether only the user may do anything.
    pub(super) fn is_private(self) -> bool {
        match self {
            Access::Absent | Access::Unknown => true,
            Access::Mode(mode) => mode & 0o077 == 0,
        }
    }
}
