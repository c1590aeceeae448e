//! Options of the commands that show earlier work: `blame`, `fix`, `log` and `stats`.

use clap::{Args, ValueEnum};

use crate::cli::{Output, Project, at_least_one};

#[derive(Debug, Args)]
pub(crate) struct Blame {
    /// The file, optionally with the number of a line. With --project DIR, a path that does not
    /// exist in the current directory is relative to DIR
    #[arg(value_name = "FILE[:LINE]")]
    pub(crate) file: String,
    /// Only sessions whose edits contain this text
    #[arg(long)]
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) project: Project,
    /// Show at most this many changes
    #[arg(long, short = 'n', default_value_t = 10, value_parser = at_least_one)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Fix {
    /// The error, or the output that contains it [default: standard input]
    pub(crate) error: Vec<String>,
    #[command(flatten)]
    pub(crate) project: Project,
    /// Show at most this many errors
    #[arg(long, short = 'n', default_value_t = 5, value_parser = at_least_one)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Only this project: a directory in it (`.` for this one), its remote (also `owner/name`), its
    /// name, or its namespace (`project_namespace` in `graphiti list --json`). Begin the path of a
    /// removed directory with `./` or `/`, so that it is not taken for a remote
    pub(crate) project: Option<String>,
    /// Only since this day, such as 2026-03-01 or "last week"
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Show at most this many sessions
    #[arg(long, short = 'n', default_value_t = 20, value_parser = at_least_one)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct StatsOptions {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Only sessions of this agent
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only since this day, such as 2026-03-01 or "last week"; "all" for all days [default: the
    /// last 30 days]
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Show only this table
    #[arg(long, value_enum)]
    pub(crate) by: Option<StatsBy>,
    /// Print a bar chart of the hours of work as SVG
    #[arg(long, conflicts_with = "json")]
    pub(crate) svg: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The subject of the rows of a table.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum StatsBy {
    /// Days
    Day,
    /// Projects
    Project,
    /// Agents
    Agent,
}
