//! Options of the search commands.

use clap::Args;

use crate::cli::{Output, Project, at_least_one};

/// The filters that a query can contain.
pub(crate) const FILTERS: &str = "Excluded words: write -word, or '-\"word\"' in single quotes. Only the second form excludes words
of one or two letters, and words with capital letters or with other characters than letters,
digits and _ (such as -next.js). If the whole query is one quoted text, -word excludes only at the
end of the text, and -\"word\" anywhere. In a command line such as 'go test -run', -run is an
ordinary word. -p is an option of this command: write '-postgres' as '-\"postgres\"'.

Filters in the query (a - before a filter negates it):
  project:  the end of its path, or a word of its name
  agent:    its whole name, such as codex
  branch:   its name, or a part of the name between slashes
  file:     the end of its path, or the name of a folder in the path
  tool:     its name, or a word of the name
  role:     user, assistant, tool or recap (the agent's own summary of the session)
  in:       decisions, errors, files, titles, objective, prompts, recaps, summary, episodes or messages
  date:, before:, after:   a day or a time, such as 2026-03-01 or \"last week\"";

#[derive(Debug, Args)]
pub(crate) struct SearchOptions {
    /// Words, "phrases", prefix*, -excluded, field:value, or a question [default: search while you
    /// type, on a terminal]
    pub(crate) query: Vec<String>,
    /// Show the best result as `graphiti show` does, with the messages that match
    #[arg(long)]
    pub(crate) open: bool,
    /// Show this many messages before and after each message that matches
    #[arg(long, short = 'C', value_name = "COUNT")]
    pub(crate) context: Option<u32>,
    #[command(flatten)]
    pub(crate) project: Project,
    /// Only sessions of this agent
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only messages and summaries of work on this Git branch
    #[arg(long)]
    pub(crate) branch: Option<String>,
    /// Only sessions that touch this file
    #[arg(long)]
    pub(crate) file: Option<String>,
    /// Only calls of this tool and their results
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only messages of this role: user, assistant, tool or recap (the agent's own summary)
    #[arg(long)]
    pub(crate) role: Option<String>,
    /// Only on or after this date, such as 2026-03-01
    #[arg(long, value_name = "DATE")]
    pub(crate) after: Option<String>,
    /// Only before this date
    #[arg(long, value_name = "DATE")]
    pub(crate) before: Option<String>,
    /// Show at most this many sessions
    #[arg(long, short = 'n', default_value_t = 10, value_parser = at_least_one)]
    pub(crate) limit: usize,
    /// Skip this many of the best results
    #[arg(long, default_value_t = 0, value_name = "COUNT")]
    pub(crate) offset: usize,
    /// Search what colleagues shared, too
    #[arg(long)]
    pub(crate) team: bool,
    /// Explain the rank of each session
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Facts {
    /// Words, "phrases", prefix*, -excluded, or a question [default: the latest facts]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) project: Project,
    /// Show the facts that were true at the end of this day, such as 2026-03-01, or at this time
    #[arg(long, value_name = "DATE")]
    pub(crate) as_of: Option<String>,
    /// Include facts that are no longer true
    #[arg(long)]
    pub(crate) ended: bool,
    /// Only this kind, such as DECIDED, RESOLVED, SET_TO, FAILS, LEFT_OPEN or PREFERS; can be
    /// repeated. Kinds that repeat the history, such as DID or CHANGED_FOR, are shown only if they
    /// are given here
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<String>,
    /// Show at most this many facts
    #[arg(long, short = 'n', default_value_t = 10, value_parser = at_least_one)]
    pub(crate) limit: usize,
    /// Mark this fact as wrong: it was never true
    #[arg(long, value_name = "ID", conflicts_with_all = ["done", "keep", "query"])]
    pub(crate) wrong: Option<String>,
    /// Mark this fact as ended, for example an open task that is done
    #[arg(long, value_name = "ID", conflicts_with_all = ["keep", "query"])]
    pub(crate) done: Option<String>,
    /// Mark this fact as still true, and remove an earlier mark
    #[arg(long, value_name = "ID", conflicts_with = "query")]
    pub(crate) keep: Option<String>,
    /// Search what colleagues shared, too
    #[arg(long)]
    pub(crate) team: bool,
    /// Explain the rank of each fact
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Remember {
    /// The preference, such as "never push to main"
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// Only for this project: a directory in it, its remote, its name, or its namespace
    /// (`project_namespace` in `graphiti list --json`) [default: the current directory]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) project: Option<String>,
    /// For all projects
    #[arg(long, conflicts_with = "project")]
    pub(crate) everywhere: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}
