//! Which transcripts are followed and what of them is kept.

use std::{path::PathBuf, time::Duration};

/// What is watched and what is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Whether sessions are tracked at all.
    pub enabled: bool,
    /// Folders with transcripts; empty for those of the agents that are installed.
    pub watch_directories: Vec<PathBuf>,
    /// Projects that are not tracked, with all that lies in them.
    pub excluded_paths: Vec<PathBuf>,
    /// How old a transcript may be that is imported; `None` for any age.
    pub keep: Option<Duration>,
    /// What of a session is kept.
    pub filter: Filter,
}

/// What of each part of a session is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Whether it is kept which tools were called and with what.
    pub tool_calls: bool,
    /// What tools returned.
    pub tool_content: Keep,
    /// What the user wrote.
    pub user_messages: Keep,
    /// What the agent wrote.
    pub agent_messages: Keep,
    /// Where a summary is to be kept, what is not longer than this is kept as it is, in bytes.
    pub long: usize,
}

/// The usual [`Filter::long`].
const LONG: usize = 1_000;

/// How much of a message is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All of it.
    Full,
    /// None of it.
    Omit,
    /// A summary by the template of this name.
    Template(String),
    /// A summary by this prompt.
    Prompt(String),
}

impl Default for Config {
    fn default() -> Config {
        Config {
            enabled: true,
            watch_directories: Vec::new(),
            excluded_paths: Vec::new(),
            keep: None,
            filter: Filter::default(),
        }
    }
}

impl Default for Filter {
    fn default() -> Filter {
        Filter {
            tool_calls: true,
            tool_content: Keep::Template("default-tool-content.md".to_owned()),
            user_messages: Keep::Full,
            agent_messages: Keep::Full,
            long: LONG,
        }
    }
}
