//! The settings of capture: which transcripts are followed, and which parts are stored.

use std::{path::PathBuf, time::Duration};

use crate::format::mapped::FormatMapping;

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Whether sessions are tracked.
    pub enabled: bool,
    /// The folders with transcripts that are followed, instead of the folders of the built-in
    /// agents. If the list is empty, the folders of the built-in agents are followed.
    pub watch_directories: Vec<PathBuf>,
    /// Agents that are not built in, and how their transcripts are read.
    pub watch_formats: Vec<FormatMapping>,
    /// Folders of projects and of transcripts that are not tracked, including their subfolders.
    pub excluded_paths: Vec<PathBuf>,
    /// The maximum age of a transcript that is imported; `None` is unlimited.
    pub keep: Option<Duration>,
    pub filter: Filter,
}

/// The stored form of each part of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Whether the tools and arguments of calls are kept.
    pub tool_calls: bool,
    /// How much of the output of tools is kept.
    pub tool_content: Keep,
    pub user_messages: Keep,
    pub agent_messages: Keep,
    /// Maximum length, in bytes, of a text that is kept unchanged although a summary is configured.
    pub long: usize,
}

/// The default of [`Filter::long`].
const LONG: usize = 1_000;

/// How much of a message is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    Full,
    Omit,
    /// A summary that a model makes with the template of this name.
    Template(String),
    /// A summary that a model makes with this prompt.
    Prompt(String),
}

impl Default for Config {
    fn default() -> Config {
        Config {
            enabled: true,
            watch_directories: Vec::new(),
            watch_formats: Vec::new(),
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
