//! The settings of search.

use crate::llm::embed::config::Config as Embeddings;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The embedding model, for ranking by meaning.
    pub embeddings: Embeddings,
}
