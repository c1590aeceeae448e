//! A model in a folder on this machine: `model.safetensors` with its `tokenizer.json`.
//!
//! Two kinds of models are supported. Static embeddings (model2vec and others) contain a vector for
//! each token, and the vector of a text is the sum of its token vectors; these models are small and
//! fast. Small encoders of the BERT family (all-MiniLM-L6-v2, bge-small, e5-small) give better
//! vectors and are several thousand times slower.

mod encoder;
#[doc(hidden)]
pub mod fuzzing;
mod tensors;
mod token_table;
mod vocabulary;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;
use sha2::{Digest, Sha256};

use self::{encoder::Encoder, tensors::Tensors, token_table::TokenTable, vocabulary::Vocabulary};
use crate::{
    config_section::ConfigSection,
    embed::{Embedded, Embedder, config::Config},
    error::{Error, Failure},
    model::{Timestamp, hex},
    ports::BoxFuture,
    price::Tariff,
};

const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const CONFIG: &str = "config.json";
const POOLING: &str = "1_Pooling/config.json";
/// Maximum size, in bytes, of the weights. The weights of small models are not larger.
const LARGEST: u64 = 1 << 30;
const LARGEST_JSON: u64 = 64 << 20;

pub struct Local {
    name: String,
    identity: String,
    model: Arc<LoadedModel>,
}

struct LoadedModel {
    words: Vocabulary,
    kind: ModelWeights,
    dimensions: Option<usize>,
}

enum ModelWeights {
    Static(TokenTable),
    Encoder(Box<Encoder>),
}

impl Local {
    /// Reads the model, which takes a moment. The error contains the file and the defect.
    pub fn read(config: &Config) -> Result<Local, Error> {
        let folder = config.path.as_deref().ok_or_else(|| {
            let remedy = format!("set {} to its folder", ConfigSection::EMBEDDINGS.key("path"));
            Error::misconfigured("there is no model", remedy)
        })?;
        let files = ModelFolder { folder };
        let weights = files.read(WEIGHTS, LARGEST)?;
        let hash = Sha256::digest(&weights);
        let tensors = Tensors::read(weights).map_err(|what| files.wrong(WEIGHTS, &what))?;
        let tokenizer = files.json(TOKENIZER)?;
        let words = Vocabulary::read(&tokenizer).map_err(|what| files.wrong(TOKENIZER, &what))?;
        let kind = match TokenTable::read(&tensors).map_err(|what| files.wrong(WEIGHTS, &what))? {
            Some(table) => ModelWeights::Static(table),
            None => {
                let config = files.json(CONFIG)?;
                let pooling = files.json_if_exists(POOLING)?;
                let encoder = Encoder::read(&tensors, &config, pooling.as_ref());
                ModelWeights::Encoder(Box::new(
                    encoder.map_err(|what| files.wrong(WEIGHTS, &what))?,
                ))
            }
        };
        let dimensions = config.dimensions.and_then(|length| usize::try_from(length).ok());
        let name = folder.file_name().map_or_else(String::new, |name| name.display().to_string());
        let length = dimensions.map_or(String::new(), |length| format!(" {length}"));
        let short = hex::encode(&hash[..8]);
        Ok(Local {
            identity: format!("local {short}{length}"),
            name,
            model: Arc::new(LoadedModel { words, kind, dimensions }),
        })
    }
}

impl Local {
    /// Returns the vector of a text. Only the first tokens of a long text count.
    pub fn vector(&self, text: &str) -> Vec<f32> {
        self.model.vector(text)
    }
}

impl Embedder for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    fn model(&self) -> String {
        self.name.clone()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn tariff(&self) -> Option<Tariff> {
        Some(Tariff::FREE)
    }

    fn reach(&self, _: Timestamp) -> BoxFuture<'_, Result<String, Error>> {
        Box::pin(async { Ok(format!("{} was read", self.name)) })
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        _: Timestamp,
    ) -> BoxFuture<'a, Result<Embedded, Failure>> {
        Box::pin(async move {
            let (model, texts) = (self.model.clone(), texts.to_vec());
            let work = move || texts.iter().map(|text| model.vector(text)).collect();
            let vectors = tokio::task::spawn_blocking(work).await;
            let failed =
                |_| Failure::unavailable("the computation of the vectors was interrupted", None);
            Ok(Embedded { vectors: vectors.map_err(failed)?, usage: None })
        })
    }
}

impl LoadedModel {
    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = match &self.kind {
            ModelWeights::Static(table) => {
                table.vector(&self.words.pieces(text, token_table::PIECES))
            }
            ModelWeights::Encoder(encoder) => {
                encoder.vector(&self.words.enclosed(text, encoder.most_pieces()))
            }
        };
        if let Some(dimensions) = self.dimensions {
            vector.truncate(dimensions);
        }
        vector
    }
}

struct ModelFolder<'f> {
    folder: &'f Path,
}

impl ModelFolder<'_> {
    fn read(&self, name: &str, largest: u64) -> Result<Vec<u8>, Error> {
        let path = self.path(name);
        let size = fs::metadata(&path).map_err(|error| self.wrong(name, &error.to_string()))?.len();
        if size > largest {
            return Err(self.wrong(name, "it is far too large for a small model"));
        }
        fs::read(&path).map_err(|error| self.wrong(name, &error.to_string()))
    }

    fn json(&self, name: &str) -> Result<Value, Error> {
        let bytes = self.read(name, LARGEST_JSON)?;
        serde_json::from_slice(&bytes).map_err(|error| self.wrong(name, &error.to_string()))
    }

    fn json_if_exists(&self, name: &str) -> Result<Option<Value>, Error> {
        let exists = self.path(name).try_exists();
        let exists = exists.map_err(|error| self.wrong(name, &error.to_string()))?;
        exists.then(|| self.json(name)).transpose()
    }

    fn wrong(&self, name: &str, what: &str) -> Error {
        let remedy = format!(
            "set {} to the folder of a model with {WEIGHTS} and {TOKENIZER}",
            ConfigSection::EMBEDDINGS.key("path")
        );
        Error::misconfigured(format!("{}: {what}", self.path(name).display()), remedy)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optional_file_may_be_missing_but_not_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let files = ModelFolder { folder: folder.path() };
        assert_eq!(files.json_if_exists("config.json").unwrap(), None);
        fs::write(folder.path().join("config.json"), "{}").unwrap();
        assert_eq!(files.json_if_exists("config.json").unwrap(), Some(serde_json::json!({})));
        fs::write(folder.path().join("config.json"), "{").unwrap();
        assert!(files.json_if_exists("config.json").is_err());
    }
}
