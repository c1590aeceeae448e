//! Options of the commands about models, tools and prompts.

use clap::{Args, Subcommand};

use crate::cli::Output;

#[derive(Debug, Args)]
pub(crate) struct UsageOptions {
    /// Number of days to show, including today
    #[arg(long, default_value_t = 30)]
    pub(crate) days: u32,
    /// Show the tokens and the cost of agents instead, as their transcripts record them: by day,
    /// model, project and session
    #[arg(long)]
    pub(crate) agents: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Tools {
    #[command(subcommand)]
    pub(crate) command: ToolsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools that a model or you classified
    List(Output),
    /// Classify a tool; your classification has priority
    Set {
        /// Tool name such as `mcp__linear__get_issue`, or `bash:make` for a shell command
        tool: String,
        /// create, modify, delete, read, search, execute, configure, communicate, validate or transform
        intent: String,
        /// filesystem, code, database, network, process, version_control, package, documentation, testing, memory or unknown
        #[arg(default_value = "unknown")]
        domain: String,
    },
    /// Remove your classification of a tool
    Unset {
        /// Name of the tool, as `list` shows it
        tool: String,
    },
    /// Print all classifications as JSON
    Export,
    /// Import classifications from a file
    Import {
        /// File with the output of `graphiti tools export`
        file: std::path::PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Prompts {
    #[command(subcommand)]
    pub(crate) command: PromptsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PromptsCommand {
    /// List the prompts in effect in this directory and their origins
    List(Output),
    /// Print the text of a prompt
    Show {
        /// Prompt name: tool_results, user_messages, agent_messages, session_summary or tool_classification
        kind: String,
    },
    /// Check all prompts in effect here, or one file before you install it
    Check {
        /// File with the text of a prompt
        file: Option<std::path::PathBuf>,
        /// Check the file as this prompt [default: the name of the file]
        #[arg(long, requires = "file")]
        kind: Option<String>,
    },
}
