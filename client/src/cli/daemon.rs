//! Options of the commands about the daemon, the agents and the shell.

use clap::{Args, Subcommand};

use crate::cli::Output;

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Report that the daemon is down instead of starting it
    #[arg(long)]
    pub(crate) no_start: bool,
}

const STOP_HELP: &str = "The daemon starts again when an agent starts a session or uses a tool of \
graphiti. To prevent this, remove graphiti from the agents with `graphiti setup --remove`.";

#[derive(Debug, Args)]
#[command(after_help = STOP_HELP)]
pub(crate) struct Stop {
    /// Kill the daemon if it does not stop; no stored data is lost
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Update agent settings that an earlier version wrote, or that contain another path of graphiti
    #[arg(long)]
    pub(crate) fix: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Repair {
    /// Recover records from this database instead, for example from the database of another home
    #[arg(value_name = "DATABASE", value_hint = clap::ValueHint::DirPath)]
    pub(crate) database: Option<std::path::PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to print the script for
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Setup {
    #[command(subcommand)]
    pub(crate) what: Option<SetupWhat>,
    /// Only this agent, even if it is not installed; can be repeated
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(crate::setup::agent_names()))]
    pub(crate) agent: Vec<String>,
    /// Change the project settings in this directory instead of your user settings
    #[arg(long)]
    pub(crate) project: bool,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Do not add a permission to use graphiti's read-only tools
    #[arg(long)]
    pub(crate) no_allow: bool,
    /// Remove graphiti from the agents' settings
    #[arg(long)]
    pub(crate) remove: bool,
}

/// Optional parts that can be set up.
#[derive(Debug, Subcommand)]
pub(crate) enum SetupWhat {
    /// Add semantic search with a local embedding model
    ///
    /// Copies the model to graphiti's home and enables it. A model is a folder with
    /// model.safetensors and tokenizer.json. Models of model2vec are small and fast; models such as
    /// all-MiniLM-L6-v2 find more. Nothing is downloaded.
    Embeddings(SetupEmbeddings),
}

#[derive(Debug, Args)]
pub(crate) struct SetupEmbeddings {
    /// Folder of the model
    #[arg(required_unless_present = "remove")]
    pub(crate) folder: Option<std::path::PathBuf>,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Disable semantic search and remove the copy of the model
    #[arg(long, conflicts_with = "folder")]
    pub(crate) remove: bool,
}

/// The actions on the service.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum ServiceAction {
    /// Install the service files and start the daemon
    Install,
    /// Stop the daemon and remove the service files; the database is kept
    Uninstall,
    /// Start the installed service
    Start,
    /// Stop the running service
    Stop,
    /// Show the state of the service
    Status,
    /// Show the last lines of the log
    Logs,
}
