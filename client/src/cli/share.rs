//! Options of `graphiti share`.

use clap::{Args, Subcommand};

use crate::cli::{Output, Project};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Share {
    #[command(subcommand)]
    pub(crate) action: Option<ShareCommand>,
    /// Print all data of a project that would be sent from this machine
    #[arg(long)]
    pub(crate) preview: bool,
    #[command(flatten)]
    pub(crate) project: Project,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ShareCommand {
    /// Share a project [default: the project of this directory]
    Enable(ShareProject),
    /// Stop sharing a project, and remove the data that this machine sent [default: the project of
    /// this directory]
    Disable(ShareProject),
    /// Show the graph database, the shared projects, and the sessions that are not sent yet
    Status(Output),
    /// Write all shared sessions to the graph again
    ///
    /// Runs in the background, and continues after an interruption. No session is in the graph twice
    /// afterwards.
    Fill,
}

#[derive(Debug, Args)]
pub(crate) struct ShareProject {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Change the settings without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}
