//! Who makes vectors, and of which model.

use std::{path::PathBuf, time::Duration};

use crate::llm::config::KeySource;

/// Where vectors come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub provider: EmbeddingProvider,
    /// The model's name; `None` for the provider's usual one.
    pub model: Option<String>,
    /// Where the provider listens; `None` for its own address.
    pub base_url: Option<String>,
    /// Where its key comes from.
    pub key: KeySource,
    /// The model's folder, for [`EmbeddingProvider::Local`].
    pub path: Option<PathBuf>,
    /// The length of a vector; `None` for the model's own.
    pub dimensions: Option<u32>,
    /// How long a search waits for its question's vector.
    pub query_timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmbeddingProvider {
    /// No one: full text only.
    None,
    /// OpenAI's embeddings API, or a server that speaks it.
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
