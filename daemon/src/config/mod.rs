//! Finds, reads, explains and writes `graphiti.config.json`.
//!
//! Each stage defines its settings and their defaults in its own `config.rs`; this module assembles
//! them into one [`Config`]. The module `table` maps every key of the file to a field; [`load`],
//! [`init_text`], [`check()`] and [`schema()`] all use this table.
//!
//! The file is shared with Graphiti, a separate program. `graphitid` uses the section
//! `session_tracking` and ignores the sections of Graphiti. A file with an invalid value is
//! rejected, and all problems are reported together. An unknown key is ignored with a notice, and a
//! deprecated spelling is read with a notice.

mod change;
mod check;
mod codec;
mod consistency;
mod file;
mod init;
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
    api::config as api, capture::config as capture, engine::quota::DiskLimits,
    graph::config as graph, llm::config as llm, prompt::config as prompt,
    search::config as search_stage, session::config as session, share::config as share,
    summarize::config as summarize,
};

pub use self::{
    change::changes,
    check::{CheckReport, check},
    init::{Existing, InitError, init_text, write_default},
    log::{Level, Log},
    problem::{ConfigProblem, FilePosition, Notice, Problems},
    read::read,
    schema::schema,
    search::{FILE_NAME, FileSearch, load},
};

/// The configuration of all stages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Which transcripts are followed, and which parts of them are stored.
    pub capture: capture::Config,
    /// When a session ends.
    pub session: session::Config,
    /// How a session is summarized.
    pub summarize: summarize::Config,
    /// The prompts for single messages.
    pub prompt: prompt::Config,
    pub llm: llm::Config,
    pub graph: graph::Config,
    /// The embedding model, for searches by meaning.
    pub search: search_stage::Config,
    /// The graph that is shared with others.
    pub share: share::Config,
    pub api: api::Config,
    pub log: Log,
    pub limits: DiskLimits,
}

/// A configuration and its origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    pub config: Config,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
    /// Notices about the file, such as deprecated spellings and unknown keys.
    pub notices: Vec<Notice>,
    /// The line of each key that the file sets; all other keys have their defaults.
    pub origins: BTreeMap<&'static str, usize>,
}

#[cfg(test)]
mod tests;
