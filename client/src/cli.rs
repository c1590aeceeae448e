//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Search and manage the memory of your coding agents
///
/// The daemon `graphitid` follows the transcripts that agents write, and turns each finished
/// session into a summary that can be searched. This program asks it.
#[derive(Debug, Parser)]
#[command(name = "graphiti", version, max_term_width = 100, propagate_version = true)]
pub(crate) struct Cli {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what the daemon is doing and how much it knows
    Status(Status),
    /// List sessions, the latest first
    List(List),
    /// Show one session: its summary, or its messages
    Show(Show),
    /// Search messages and summaries
    Search(Search),
    /// Close a session and make its summary now
    Close(Close),
    /// List sessions that have no summary yet
    Unindexed(Unindexed),
    /// Make the daemon read its configuration again
    Reload,
    /// Stop the daemon
    Stop,
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page
    Man,
}

/// Which project is meant.
#[derive(Debug, Default, Args)]
pub(crate) struct Project {
    /// Only this project: its directory (`.` for this one) or its eight-digit namespace
    #[arg(long, short, value_name = "DIR")]
    pub(crate) project: Option<String>,
}

/// How the answer is printed.
#[derive(Debug, Default, Args)]
pub(crate) struct Output {
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Wait until everything there is has been imported
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Only sessions in this state
    #[arg(long, value_enum)]
    pub(crate) state: Option<State>,
    /// Sessions in which nothing was said, too
    #[arg(long)]
    pub(crate) empty: bool,
    /// At most so many
    #[arg(long, short = 'n', default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// How far a session is.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum State {
    /// Being written to
    Active,
    /// Quiet, but not over
    Inactive,
    /// Being summarised
    Indexing,
    /// Summarised
    Indexed,
    /// Could not be summarised
    Failed,
    /// Over, but not summarised yet
    Unindexed,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The session's id or its beginning, or its episode's id; the session this is run in when
    /// missing
    pub(crate) session: Option<String>,
    /// Show the messages instead of the summary
    #[arg(long, short)]
    pub(crate) messages: bool,
    /// Begin with this message
    #[arg(long, default_value_t = 0, requires = "messages")]
    pub(crate) from: u32,
    /// Messages of this sub-agent's file instead of the session's own
    #[arg(long, default_value_t = 0, requires = "messages", value_name = "NUMBER")]
    pub(crate) source: u32,
    /// At most so many messages
    #[arg(long, short = 'n', default_value_t = 40)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Words, "phrases", prefix*, -not, field:value, or a question
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) project: Project,
    /// Only sessions of this agent
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only work on this branch
    #[arg(long)]
    pub(crate) branch: Option<String>,
    /// Only what touches this file
    #[arg(long)]
    pub(crate) file: Option<String>,
    /// Only calls of this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only what this side says: user, assistant, tool or recap
    #[arg(long)]
    pub(crate) role: Option<String>,
    /// Only from this day on, such as 2026-03-01
    #[arg(long, value_name = "DATE")]
    pub(crate) after: Option<String>,
    /// Only before this day
    #[arg(long, value_name = "DATE")]
    pub(crate) before: Option<String>,
    /// At most so many sessions
    #[arg(long, short = 'n', default_value_t = 10)]
    pub(crate) limit: usize,
    /// Say why each session ranks where it does
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Close {
    /// The session's id or its beginning; the session this is run in when missing
    pub(crate) session: Option<String>,
    /// Why, for the record
    #[arg(long, short)]
    pub(crate) reason: Option<String>,
    /// Do not wait for the summary
    #[arg(long)]
    pub(crate) no_wait: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Unindexed {
    #[command(flatten)]
    pub(crate) project: Project,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
