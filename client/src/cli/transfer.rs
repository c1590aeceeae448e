//! Options of the commands that move or remove stored text.

use clap::{Args, ValueEnum};

use crate::cli::{Output, Project};

#[derive(Debug, Args)]
pub(crate) struct ExportOptions {
    /// Folder to write to
    pub(crate) folder: std::path::PathBuf,
    /// Format of the summaries
    #[arg(long, value_enum, default_value_t = ExportFormat::Markdown)]
    pub(crate) format: ExportFormat,
    /// Write web pages instead: a copy of the pages of `graphiti view` that needs no server
    #[arg(long, conflicts_with_all = ["format", "follow"])]
    pub(crate) html: bool,
    /// With --html: only sessions and facts since this day, such as 2026-03-01 or "last week"
    #[arg(long, value_name = "DATE", requires = "html")]
    pub(crate) since: Option<String>,
    #[command(flatten)]
    pub(crate) project: Project,
    #[command(flatten)]
    pub(crate) follow: Follow,
}

#[derive(Debug, Args)]
pub(crate) struct Follow {
    /// Repeat until interrupted, to exchange sessions with other machines through this folder
    #[arg(long)]
    pub(crate) follow: bool,
    /// Seconds between the rounds of --follow; 0 = only one round
    #[arg(long, requires = "follow", default_value_t = 30)]
    pub(crate) every: u64,
}

/// The format of exported summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// The JSON Lines file, and one Markdown file per summary, with the origin of the summary at the top
    Markdown,
    /// Only the JSON Lines file, with one summary per line; enough for `import`
    Jsonl,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Folder that `export` wrote, or one of its files: `*.jsonl`, `*.md`
    pub(crate) path: std::path::PathBuf,
    /// Only show what would be imported
    #[arg(long, conflicts_with = "follow")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) follow: Follow,
}

#[derive(Debug, Args)]
pub(crate) struct Forget {
    /// Session ids, their first characters, or episode ids; --project, --after and --before select
    /// among these sessions or, without ids, among all sessions
    pub(crate) sessions: Vec<String>,
    #[command(flatten)]
    pub(crate) project: Project,
    /// Only sessions with messages on or after this date, such as 2026-03-01
    #[arg(long, value_name = "DATE")]
    pub(crate) after: Option<String>,
    /// Only sessions with messages before this date
    #[arg(long, value_name = "DATE")]
    pub(crate) before: Option<String>,
    /// Remove the sessions instead of only showing them
    #[arg(long)]
    pub(crate) run: bool,
    /// Restore forgotten sessions from their transcripts; remembered texts and imported sessions
    /// have none
    #[arg(long, requires = "sessions", conflicts_with_all = ["project", "after", "before", "run"])]
    pub(crate) undo: bool,
    /// Withdraw a preference, or mark another fact as ended; takes effect immediately. `graphiti
    /// facts --keep` restores it
    #[arg(long, value_name = "ID", conflicts_with_all = ["sessions", "project", "after", "before", "run"])]
    pub(crate) fact: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Redact {
    /// Files and folders that `export` wrote; redacts these instead of the database
    #[arg(value_name = "FILE|FOLDER")]
    pub(crate) exports: Vec<std::path::PathBuf>,
    /// Redact text that is stored already; new text is always redacted
    #[arg(long, required = true)]
    pub(crate) again: bool,
    /// Redact instead of only showing the changes
    #[arg(long)]
    pub(crate) run: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
