//! The settings for summaries of sessions.

use std::path::PathBuf;

use crate::model::ActivityVector;

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Whether a model writes summaries; otherwise they are derived from evidence on this machine.
    pub auto_summarize: bool,
    /// The template to use; `None` selects one from the detected activity.
    pub template: Option<String>,
    pub detection: Detection,
    /// The vector of every session when [`Detection::Manual`] is set.
    pub activity_vector: Option<ActivityVector>,
    /// Minimum priority, from 0 to 1, of a field that is requested from a model, or that a summary
    /// from evidence shows in full.
    pub extraction_threshold: f64,
    pub include_decisions: bool,
    pub include_errors_resolved: bool,
    /// Whether the agent's own summary replaces a summary by a model, if no prompt of the user
    /// follows the agent's summary.
    pub recap_suffices: bool,
    /// A JSON file with classifications of tools, read at each start; `None` for
    /// `tool_classification_cache.json` in the home folder.
    pub tool_classification_cache: Option<PathBuf>,
}

/// The source of a session's activity vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detection {
    /// Computed from the session's messages and tool calls.
    Auto,
    /// [`Config::activity_vector`], for every session.
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
    /// Returns the configured activity vector for [`Detection::Manual`]; otherwise `None`.
    pub fn manual_vector(&self) -> Option<ActivityVector> {
        match self.detection {
            Detection::Auto => None,
            Detection::Manual => self.activity_vector,
        }
    }
}
