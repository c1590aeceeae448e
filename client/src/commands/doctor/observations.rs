//! The observations about a machine, as plain values.

use std::path::PathBuf;

use graphiti_proto::{
    methods::{
        Welcome, files::FileCheckReport, hook::HookCounts, models::Reach, share::ShareAnswer,
    },
    tools::{SessionRow, health},
};
use jiff::Timestamp;

use crate::setup::Wiring;

pub(super) struct Observations {
    pub(super) now: Timestamp,
    pub(super) home: PathBuf,
    /// Whether other users have access to the home folder.
    pub(super) home_access: Access,
    /// Why no files can be created in the home folder, with the path of the folder.
    pub(super) unwritable: Option<String>,
    pub(super) socket: Socket,
    pub(super) program: Option<PathBuf>,
    /// The error with which the daemon rejects the configuration.
    pub(super) misconfigured: Option<String>,
    /// What the daemon reports about a valid configuration, for example an unknown setting.
    pub(super) config_notice: Option<String>,
    pub(super) daemon: DaemonProbe,
    /// Number of hook events that wait for the daemon.
    pub(super) spooled: usize,
    pub(super) agents: Vec<ObservedAgent>,
    pub(super) folders: Vec<Folder>,
    /// The transcript folders of agents that the daemon does not watch, because
    /// `watch_directories` names other folders.
    pub(super) unwatched: Vec<Folder>,
    /// The maximum number of watched folders for a user, where the system has such a limit.
    pub(super) watch_limit: Option<u64>,
    /// Free bytes on the file system of the home folder, where the system reports them.
    pub(super) free_bytes: Option<u64>,
    /// Databases that the daemon set aside as damaged.
    pub(super) damaged: Vec<PathBuf>,
}

/// The access of other users to a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// The file does not exist.
    Absent,
    /// The system has no file modes, or does not report them.
    Unknown,
    Mode(u32),
}

/// The file at the address of the daemon.
pub(super) struct Socket {
    /// The path of a socket, or the name of a pipe.
    pub(super) path: String,
    /// The default path.
    pub(super) usual: String,
    /// Whether other users may connect.
    pub(super) access: Access,
    pub(super) is_socket: bool,
}

/// The result of querying the daemon.
pub(super) enum DaemonProbe {
    Down,
    /// A process listens but does not answer. Contains its id, if it is known.
    Silent(Option<u32>),
    /// The daemon cannot be queried, for another reason.
    Failing(String),
    /// The daemon uses another protocol version.
    OtherProtocol(Welcome),
    Answers(Box<DaemonAnswers>),
}

pub(super) struct DaemonAnswers {
    pub(super) welcome: Welcome,
    pub(super) health: health::HealthAnswer,
    /// The hook events that the daemon received.
    pub(super) hook_counts: HookCounts,
    /// Whether models are reachable; `None` if the request failed, as with an older daemon.
    pub(super) reach: Option<Reach>,
    /// Whether the daemon has registered and read all transcript files correctly; `None` if the
    /// request failed, as with an older daemon.
    pub(super) files: Option<FileCheckReport>,
    /// The check of the shared graph; `None` if the request failed, as with an older daemon.
    pub(super) share: Option<ShareAnswer>,
    /// The session with the latest activity.
    pub(super) latest: Option<SessionRow>,
}

/// An agent on this machine.
pub(super) struct ObservedAgent {
    /// The name on the command line.
    pub(super) name: &'static str,
    /// The name for people.
    pub(super) title: &'static str,
    /// The state of the agent's settings.
    pub(super) wiring: Wiring,
    /// A text that names a settings file of the user or the project, and the events for which the
    /// file has graphiti's hooks in an old form; `None` if there are no such hooks.
    pub(super) old_hooks: Option<String>,
    /// Whether our hooks do not run yet, because the user must first trust them in the agent.
    pub(super) awaits_trust: bool,
    /// The parts that setup adds to the agent's settings, as a text for people.
    pub(super) parts: &'static str,
    /// Whether the plugin is installed. It makes setup unnecessary.
    pub(super) has_plugin: bool,
}

/// A folder with transcripts, or the database of an agent.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// Number of readable folders: this folder and its subfolders. 0 for a database.
    pub(super) folders: u64,
    pub(super) transcripts: u64,
    /// Why the folder or the database is not readable.
    pub(super) error: Option<String>,
}

impl Observations {
    /// Returns the daemon's answers, if the daemon answered.
    pub(super) fn answers(&self) -> Option<&DaemonAnswers> {
        match &self.daemon {
            DaemonProbe::Answers(answers) => Some(answers),
            DaemonProbe::Down
            | DaemonProbe::Silent(_)
            | DaemonProbe::Failing(_)
            | DaemonProbe::OtherProtocol(_) => None,
        }
    }
}

impl Access {
    /// Whether no other user is known to have access.
    pub(super) fn is_private(self) -> bool {
        match self {
            Access::Absent | Access::Unknown => true,
            Access::Mode(mode) => mode & 0o077 == 0,
        }
    }
}
