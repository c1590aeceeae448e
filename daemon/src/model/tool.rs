//! What a tool call is for and where it works.

use serde::{Deserialize, Serialize};

use crate::model::activity::Signals;

/// What a tool call tries to accomplish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolIntent {
    /// Making new things.
    Create,
    /// Changing existing things.
    Modify,
    /// Removing things.
    Delete,
    /// Inspecting or retrieving information.
    Read,
    /// Finding things.
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

/// The area that a tool works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolDomain {
    /// Files and folders as such.
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
    /// Documentation.
    Documentation,
    /// Tests.
    Testing,
    /// The agent's own memory and plans.
    Memory,
    /// None of these, or not known.
    Unknown,
}

/// How a tool call was classified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolClassification {
    /// The tool's name as the agent has it.
    pub tool_name: String,
    /// What it is for.
    pub intent: ToolIntent,
    /// Where it works.
    pub domain: ToolDomain,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Why, in a few words.
    pub reasoning: String,
    /// What the call says about the session.
    pub activity_signals: Signals,
}

/// One simple command of a shell command line, parsed and classified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BashCommandClassification {
    /// The command as written.
    pub raw_command: String,
    /// The program, without its directory.
    pub base_command: String,
    /// Its subcommand, for programs that have them.
    pub subcommand: Option<String>,
    /// Its options.
    pub flags: Vec<String>,
    /// What it is applied to.
    pub targets: Vec<String>,
    /// What it is for.
    pub intent: ToolIntent,
    /// Where it works.
    pub domain: ToolDomain,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Why, in a few words.
    pub reasoning: String,
    /// What the command says about the session.
    pub activity_signals: Signals,
}
