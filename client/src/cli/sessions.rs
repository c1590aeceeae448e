//! Options of the commands about sessions.

use clap::{Args, ValueEnum};

use crate::cli::{Output, Project, at_least_one};

#[derive(Debug, Default, Args)]
pub(crate) struct Status {
    /// Wait until all existing transcripts are imported
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Only sessions in this state. The table shows the outcome of indexed sessions, such as
    /// `completed`, instead of the state
    #[arg(long, value_enum)]
    pub(crate) state: Option<SessionState>,
    /// Only sessions of this agent, such as codex
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Include sessions without messages
    #[arg(long)]
    pub(crate) empty: bool,
    /// Show at most this many sessions; 0 shows only the total
    #[arg(long, short = 'n', default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SessionState {
    /// With recent activity
    Active,
    /// Without recent activity, but not ended
    Inactive,
    /// A summary is being written
    Indexing,
    /// Has a summary
    Indexed,
    /// Its summary could not be created
    Failed,
    /// Without a summary: the agent exited, the session was already old when it was first seen,
    /// or summaries after inactivity are disabled
    Unindexed,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Session id, its first characters, or an episode id [default: the session that runs this
    /// command]
    pub(crate) session: Option<String>,
    /// Show the messages instead of the summary; calls of tools and their results count as messages
    /// in --from and --limit
    #[arg(long, short)]
    pub(crate) messages: bool,
    /// Show the overview, topics, decisions, code references and key points
    #[arg(long, short, conflicts_with = "messages")]
    pub(crate) conversation: bool,
    /// Show the whole summary, the ids and the transcript files
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Number of the first message to show
    #[arg(long, default_value_t = 0, requires = "messages")]
    pub(crate) from: u32,
    /// Show the messages of this sub-agent's file; 0 is the session's own file
    #[arg(long, default_value_t = 0, requires = "messages", value_name = "NUMBER")]
    pub(crate) source: u32,
    /// Show at most this many messages
    #[arg(long, short = 'n', default_value_t = 40, value_parser = at_least_one)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// Session id, its first characters, or words to search for [default: choose a session, on a
    /// terminal]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) project: Project,
    /// Only sessions of this agent
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Print the command for a shell instead of running it
    #[arg(long)]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Handoff {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Number of last sessions to include
    #[arg(long, short = 'n', default_value_t = 5)]
    pub(crate) sessions: usize,
    /// Maximum length of the text, in characters
    #[arg(long, default_value_t = 4_000, value_name = "CHARS")]
    pub(crate) max_chars: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Close {
    /// Session id or its first characters [default: the session that runs this command]
    pub(crate) session: Option<String>,
    /// Reason to record with the summary
    #[arg(long, short)]
    pub(crate) reason: Option<String>,
    /// Return before the summary is written
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Create the summary again even if the session did not change, for example after a change of
    /// the model, the prompts or the settings
    #[arg(long, conflicts_with_all = ["no_wait", "reason"])]
    pub(crate) again: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct ViewOptions {
    /// Print the address instead of opening the browser
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Unindexed {
    #[command(flatten)]
    pub(crate) project: Project,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Sync {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Only sessions of the last DAYS days; 0 for all
    #[arg(long, default_value_t = 7, value_name = "DAYS")]
    pub(crate) days: u32,
    /// Index at most this many sessions, latest first
    #[arg(long, short = 'n', default_value_t = 100)]
    pub(crate) limit: usize,
    /// Index the sessions instead of only showing them
    #[arg(long)]
    pub(crate) run: bool,
    /// Select the sessions whose requests to the model failed, instead of sessions to index; with
    /// --run, request their summaries again
    #[arg(long)]
    pub(crate) again: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
