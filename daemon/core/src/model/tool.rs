//! The purpose and the domain of a tool call.

use serde::{Deserialize, Serialize};

use crate::model::activity::Signals;

/// The purpose of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolIntent {
    /// Creating something new.
    Create,
    /// Changing something.
    Modify,
    /// Removing something.
    Delete,
    /// Inspecting or retrieving information.
    Read,
    Search,
    /// Running processes, tests, builds.
    Execute,
    /// Setting up environment, configuration.
    Configure,
    /// External services, notifications.
    Communicate,
    /// Checking correctness, linting, testing.
    Validate,
    /// Converting formats, processing data.
    Transform,
}

impl ToolIntent {
    /// All values.
    pub const ALL: [ToolIntent; 10] = [
        ToolIntent::Create,
        ToolIntent::Modify,
        ToolIntent::Delete,
        ToolIntent::Read,
        ToolIntent::Search,
        ToolIntent::Execute,
        ToolIntent::Configure,
        ToolIntent::Communicate,
        ToolIntent::Validate,
        ToolIntent::Transform,
    ];

    /// Returns the name in documents, replies and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolIntent::Create => "create",
            ToolIntent::Modify => "modify",
            ToolIntent::Delete => "delete",
            ToolIntent::Read => "read",
            ToolIntent::Search => "search",
            ToolIntent::Execute => "execute",
            ToolIntent::Configure => "configure",
            ToolIntent::Communicate => "communicate",
            ToolIntent::Validate => "validate",
            ToolIntent::Transform => "transform",
        }
    }

    /// Parses a name as [`ToolIntent::as_str`] returns it.
    pub fn parse(word: &str) -> Option<ToolIntent> {
        ToolIntent::ALL.into_iter().find(|one| one.as_str() == word)
    }
}

/// The area in which a tool works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolDomain {
    /// Files and folders, regardless of their content.
    Filesystem,
    /// Source code.
    Code,
    /// Databases.
    Database,
    /// The network and services on it.
    Network,
    /// Processes and the shell.
    Process,
    /// Version control and forges.
    VersionControl,
    /// Packages and dependencies.
    Package,
    Documentation,
    Testing,
    /// The agent's own memory and plans.
    Memory,
    /// Another domain, or an unknown one.
    Unknown,
}

impl ToolDomain {
    /// All values.
    pub const ALL: [ToolDomain; 11] = [
        ToolDomain::Filesystem,
        ToolDomain::Code,
        ToolDomain::Database,
        ToolDomain::Network,
        ToolDomain::Process,
        ToolDomain::VersionControl,
        ToolDomain::Package,
        ToolDomain::Documentation,
        ToolDomain::Testing,
        ToolDomain::Memory,
        ToolDomain::Unknown,
    ];

    /// Returns the name in documents, replies and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolDomain::Filesystem => "filesystem",
            ToolDomain::Code => "code",
            ToolDomain::Database => "database",
            ToolDomain::Network => "network",
            ToolDomain::Process => "process",
            ToolDomain::VersionControl => "version_control",
            ToolDomain::Package => "package",
            ToolDomain::Documentation => "documentation",
            ToolDomain::Testing => "testing",
            ToolDomain::Memory => "memory",
            ToolDomain::Unknown => "unknown",
        }
    }

    /// Parses a name as [`ToolDomain::as_str`] returns it.
    pub fn parse(word: &str) -> Option<ToolDomain> {
        ToolDomain::ALL.into_iter().find(|one| one.as_str() == word)
    }
}

/// The classification of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolClassification {
    /// The agent's name of the tool.
    pub tool_name: String,
    /// The purpose.
    pub intent: ToolIntent,
    pub domain: ToolDomain,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The reason, in a few words.
    pub reasoning: String,
    /// The signals of the call about the session's activity.
    pub activity_signals: Signals,
}

/// One simple command of a shell command line, parsed and classified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BashCommandClassification {
    /// The command with its quotes, cut when it is long.
    pub raw_command: String,
    /// The program, without its directory.
    pub base_command: String,
    /// The subcommand, for programs that have them.
    pub subcommand: Option<String>,
    /// The options.
    pub flags: Vec<String>,
    pub targets: Vec<String>,
    /// The purpose.
    pub intent: ToolIntent,
    pub domain: ToolDomain,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The reason, in a few words.
    pub reasoning: String,
    /// The signals of the command about the session's activity.
    pub activity_signals: Signals,
    /// Whether the command is inside the words of another command, for example in `$(...)`.
    #[serde(default)]
    pub nested: bool,
}

impl BashCommandClassification {
    /// The confidence of an unknown command, whose intent and domain mean nothing.
    pub const UNKNOWN: f64 = 0.0;

    /// Whether the command is known.
    pub fn is_known(&self) -> bool {
        self.confidence > BashCommandClassification::UNKNOWN
    }
}
