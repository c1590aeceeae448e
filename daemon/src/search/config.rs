//! Whose sessions a search sees, and whether vectors help it.

use crate::{llm::embed::config::Config as Embeddings, model::Namespace};

/// The bounds and helpers of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Whether a search sees sessions of other projects than the caller's.
    pub cross_project_search: bool,
    /// The projects whose sessions it sees then; `None` for all.
    pub trusted_namespaces: Option<Vec<Namespace>>,
    /// Vectors beside full text.
    pub embeddings: Embeddings,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            cross_project_search: true,
            trusted_namespaces: None,
            embeddings: Embeddings::default(),
        }
    }
}
