//! `graphiti.config.json`: found, read, explained and written.
//!
//! Each stage defines what can be configured of it, with defaults, in its own `config.rs`; here
//! they are put together into one [`Config`]. One table (`table`) ties every key of the file to
//! a field, and everything else follows from it: what [`load`] reads, what [`init_text`] writes, what
//! [`check()`] explains and what [`schema()`] describes.
//!
//! The file belongs to Graphiti too. Ours is its section `session_tracking`; other sections that
//! Graphiti knows are ignored. A file with a wrong value is refused, and all problems are reported
//! together; an unknown key is ignored with a notice; an older spelling is read with a notice.

mod change;
mod check;
mod codec;
mod consistency;
mod file;
mod init;
mod limits;
mod log;
mod migrate;
mod nearest;
mod problem;
mod read;
mod schema;
mod search;
mod table;

use std::{collections::BTreeMap, path::PathBuf};

use crate::{
    api::config as api, capture::config as capture, graph::config as graph, llm::config as llm,
    prompt::config as prompt, search::config as search_stage, session::config as session,
    summarize::config as summarize,
};

pub use self::{
    change::changes,
    check::{CheckReport, check},
    init::{Existing, InitError, init_text, write_default},
    limits::Limits,
    log::{Level, Log},
    problem::{ConfigProblem, FilePosition, Notice, Problems},
    read::read,
    schema::schema,
    search::{FILE_NAME, FileSearch, load},
};

/// Everything that can be configured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Which transcripts are followed.
    pub capture: capture::Config,
    /// When a session is over.
    pub session: session::Config,
    /// How it is summarised.
    pub summarize: summarize::Config,
    /// The prompts for single messages.
    pub prompt: prompt::Config,
    /// The model that is asked.
    pub llm: llm::Config,
    pub graph: graph::Config,
    /// What a search sees.
    pub search: search_stage::Config,
    pub api: api::Config,
    pub log: Log,
    pub limits: Limits,
}

/// A configuration and how it came about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    pub config: Config,
    /// The file that it was read from, if any.
    pub file: Option<PathBuf>,
    /// Notices about the file: older spellings, unknown keys.
    pub notices: Vec<Notice>,
    /// The line of each key that the file sets; all others have their defaults.
    pub origins: BTreeMap<&'static str, usize>,
}

#[cfg(test)]
mod tests;
