//! The settings of search: which projects it covers, and whether it uses vectors.

use crate::{llm::embed::config::Config as Embeddings, model::Namespace};

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Whether a search covers projects other than the caller's.
    pub cross_project_search: bool,
    /// The other projects that a search covers in that case; `None` for all.
    pub trusted_namespaces: Option<Vec<Namespace>>,
    /// The embedding model, for ranking by meaning.
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
