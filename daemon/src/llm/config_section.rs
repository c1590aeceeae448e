//! Which section of the configuration a setting stands in, so that a remedy names the right one.

use std::fmt::Display;

/// A section below `session_tracking`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::llm) struct ConfigSection(&'static str);

impl ConfigSection {
    /// The model that is asked.
    pub(in crate::llm) const LLM: ConfigSection = ConfigSection("llm");
    /// The model that makes vectors.
    pub(in crate::llm) const EMBEDDINGS: ConfigSection = ConfigSection("embeddings");

    /// A setting in it, as messages name it.
    pub(in crate::llm) fn key(self, name: impl Display) -> String {
        format!("`session_tracking.{}.{name}`", self.0)
    }

    /// What to do when a server does not know what it is asked for.
    pub(in crate::llm) fn check_model(self) -> String {
        format!("check {} and {}", self.key("model"), self.key("base_url"))
    }
}
