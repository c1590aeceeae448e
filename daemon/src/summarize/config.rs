//! How a session is summarised (intelligent-session-summarization, section 8).

use std::path::PathBuf;

use crate::model::ActivityVector;

/// What a summary holds and who writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Whether a model writes summaries; otherwise they are made here, from evidence.
    pub auto_summarize: bool,
    /// The template to use; `None` for one that follows from what the session was about.
    pub template: Option<String>,
    /// Where the activity vector comes from.
    pub detection: Detection,
    /// The vector of every session, for [`Detection::Manual`].
    pub activity_vector: Option<ActivityVector>,
    /// The priority from which on a field is asked for, from 0 to 1.
    pub extraction_threshold: f64,
    /// Whether decisions are asked for.
    pub include_decisions: bool,
    /// Whether resolved errors are asked for.
    pub include_errors_resolved: bool,
    /// Whether no model is asked when the agent's own summary ends the session.
    pub recap_suffices: bool,
    /// A file with classifications of tools as JSON, taken in at each start; `None` for
    /// `tool_classification_cache.json` in the home folder.
    pub tool_classification_cache: Option<PathBuf>,
}

/// Where the activity vector of a session comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detection {
    /// From its messages and tool calls.
    Auto,
    /// From the configuration, the same for each session.
    Manual,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            auto_summarize: false,
            template: None,
            detection: Detection::Auto,
            activity_vector: None,
            extraction_threshold: 0.3,
            include_decisions: true,
            include_errors_resolved: true,
            recap_suffices: false,
            tool_classification_cache: None,
        }
    }
}

impl Config {
    /// The vector to use instead of a detected one.
    pub fn manual_vector(&self) -> Option<ActivityVector> {
        match self.detection {
            Detection::Auto => None,
            Detection::Manual => self.activity_vector,
        }
    }
}
