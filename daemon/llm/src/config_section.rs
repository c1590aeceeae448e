//! The configuration section of a setting, so that error messages contain its full name.

use std::fmt::Display;

/// A section below `session_tracking`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConfigSection(&'static str);

impl ConfigSection {
    pub(crate) const LLM: ConfigSection = ConfigSection("llm");
    pub(crate) const EMBEDDINGS: ConfigSection = ConfigSection("embeddings");

    /// Returns the full name of a setting, for messages.
    pub(crate) fn key(self, name: impl Display) -> String {
        format!("`session_tracking.{}.{name}`", self.0)
    }

    /// Returns the remedy for a model that the server does not have.
    pub(crate) fn check_model(self) -> String {
        format!("check {} and {}", self.key("model"), self.key("base_url"))
    }
}
