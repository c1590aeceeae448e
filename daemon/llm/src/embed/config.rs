//! The settings of the embedding model.

use std::{path::PathBuf, time::Duration};

use crate::config::KeySource;

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub provider: EmbeddingProvider,
    /// The model's name; `None` for the provider's default.
    pub model: Option<String>,
    /// The provider's address; `None` for the provider's default.
    pub base_url: Option<String>,
    pub key: KeySource,
    /// The model's folder, for [`EmbeddingProvider::Local`].
    pub path: Option<PathBuf>,
    /// The length of a vector; `None` for the model's default.
    pub dimensions: Option<u32>,
    /// The maximum time that a search waits for the vector of its query.
    pub query_timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmbeddingProvider {
    /// No vectors: search uses full text only.
    None,
    /// OpenAI's embeddings API, or a compatible server.
    OpenAi,
    /// A model in a folder on this machine.
    Local,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            provider: EmbeddingProvider::None,
            model: None,
            base_url: None,
            key: KeySource::default(),
            path: None,
            dimensions: None,
            query_timeout: Duration::from_millis(1_500),
        }
    }
}
