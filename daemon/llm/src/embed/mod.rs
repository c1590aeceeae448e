//! Computes embedding vectors of texts: texts with similar meaning have vectors of similar
//! direction.
//!
//! [`Embeddings`] returns a vector of length one for each text. As with requests to a language
//! model, secrets are redacted before a text is sent, a circuit breaker guards the server, and
//! the calls to a server are recorded. `openai` calls a server, and `local` reads a model from a
//! folder. Nothing is downloaded.

pub mod config;

pub mod local;
mod openai;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::{OnceCell, watch};

use crate::{
    breaker::Breaker,
    embed::config::{Config, EmbeddingProvider},
    error::{Error, Failure},
    model::Timestamp,
    ports::{BoxFuture, Ports, RequestOutcome, UsageRecord},
    price::Tariff,
    reply::TokenUsage,
    request::Purpose,
    tokens,
};

/// Computes vectors. [`Embedder::embed`] makes one attempt.
trait Embedder: Send + Sync {
    /// The provider's name in the configuration.
    fn name(&self) -> &'static str;

    fn model(&self) -> String;

    /// Returns an identifier of the vector space. Only vectors with equal identifiers can be
    /// compared.
    fn identity(&self) -> String;

    fn tariff(&self) -> Option<Tariff>;

    /// Checks whether vectors can be computed, without computing any. Returns a description of the
    /// result for people.
    fn reach(&self, now: Timestamp) -> BoxFuture<'_, Result<String, Error>>;

    /// Returns a vector for each text.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Embedded, Failure>>;
}

struct Embedded {
    vectors: Vec<Vec<f32>>,
    usage: Option<TokenUsage>,
}

/// Parses the vectors in a response, for the tests of all parsers.
pub(crate) fn read_vectors(body: &serde_json::Value) {
    let _ = openai::read(body, 2);
}

/// The configured embedding model. When the configuration changes, the old model is
/// [stopped](Embeddings::stop) and a new model is created.
pub struct Embeddings {
    config: Config,
    ports: Ports,
    /// The embedder, which is created on first use, because reading a local model takes a while. If
    /// the creation fails, the next use tries again: the files of the model may be complete then.
    embedder: OnceCell<Arc<dyn Embedder>>,
    breaker: Mutex<Breaker>,
    stopped: watch::Sender<bool>,
}

impl Embeddings {
    /// Creates the model of `config` without reading or sending anything.
    pub fn new(config: Config, ports: Ports) -> Embeddings {
        Embeddings {
            config,
            ports,
            embedder: OnceCell::new(),
            breaker: Mutex::default(),
            stopped: watch::Sender::new(false),
        }
    }

    /// Whether a provider is configured.
    pub fn is_on(&self) -> bool {
        self.config.provider != EmbeddingProvider::None
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns an identifier of the vector space. On first use, reads a local model.
    pub async fn identity(&self) -> Result<String, Error> {
        Ok(self.embedder().await?.identity())
    }

    /// Returns a vector of length one for each text, all with the same dimension. A text without
    /// known tokens gets the zero vector. Makes one attempt within `limit`; reading a local model
    /// on first use is not limited.
    pub async fn embed(&self, texts: &[String], limit: Duration) -> Result<Vec<Vec<f32>>, Error> {
        let embedder = self.embedder().await?;
        let texts: Vec<String> =
            texts.iter().map(|text| (self.ports.redact)(text).into_owned()).collect();
        let now = self.ports.clock.now();
        self.breaker().admit(now)?;
        let mut stopped = self.stopped.subscribe();
        let answer = tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return Err(Error::stopping()),
            answer = embedder.embed(&texts, now) => answer,
            () = self.ports.clock.sleep(limit) => Err(Failure::lost("no answer in time")),
        };
        let usage = answer.as_ref().ok().and_then(|embedded| embedded.usage);
        let vectors = answer
            .map_err(|failure| failure.error)
            .and_then(|embedded| validate_and_normalize(embedded.vectors, texts.len()))
            .map_err(|error| error.redacted(|text| (self.ports.redact)(text).into_owned()));
        match &vectors {
            Ok(_) => self.breaker().answered(),
            Err(error) => self.breaker().failed(error, self.ports.clock.now()),
        }
        if self.config.provider != EmbeddingProvider::Local {
            let usage = usage.unwrap_or_else(|| estimated(&texts));
            self.record(embedder.as_ref(), usage, vectors.as_ref().err());
        }
        vectors
    }

    /// Checks within `limit` whether vectors can be computed, without computing any. Returns a
    /// description of the result for people.
    pub async fn reach(&self, limit: Duration) -> Result<String, Error> {
        let embedder = self.embedder().await?;
        let found = tokio::select! {
            found = embedder.reach(self.ports.clock.now()) => found,
            () = self.ports.clock.sleep(limit) => Err(Failure::lost("no answer in time").error),
        };
        found.map_err(|error| error.redacted(|text| (self.ports.redact)(text).into_owned()))
    }

    /// Cancels the running calls of [`Embeddings::embed`] and refuses new ones.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    async fn embedder(&self) -> Result<Arc<dyn Embedder>, Error> {
        self.embedder.get_or_try_init(|| self.make()).await.cloned()
    }

    async fn make(&self) -> Result<Arc<dyn Embedder>, Error> {
        match self.config.provider {
            EmbeddingProvider::None => Err(Error::Off),
            EmbeddingProvider::OpenAi => {
                Ok(Arc::new(openai::OpenAi::new(&self.config, &self.ports)?))
            }
            EmbeddingProvider::Local => {
                let config = self.config.clone();
                let read = tokio::task::spawn_blocking(move || local::Local::read(&config));
                let model = read.await.map_err(|_| Error::stopping())??;
                Ok(Arc::new(model))
            }
        }
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, embedder: &dyn Embedder, usage: TokenUsage, error: Option<&Error>) {
        let end =
            error.map_or(RequestOutcome::Answered, |error| RequestOutcome::Failed(error.kind()));
        let usage = if error.is_some() { TokenUsage::default() } else { usage };
        self.ports.journal.record(&UsageRecord {
            at: self.ports.clock.now(),
            purpose: Purpose::Embeddings,
            project: None,
            provider: embedder.name(),
            model: embedder.model(),
            end,
            calls: 1,
            usage,
            cost: embedder.tariff().map(|tariff| tariff.cost(&usage)),
            saved_tokens: 0,
        });
    }
}

/// Checks the number, the dimensions and the values of the vectors, and normalises them.
fn validate_and_normalize(
    mut vectors: Vec<Vec<f32>>,
    wanted: usize,
) -> Result<Vec<Vec<f32>>, Error> {
    let dimension = vectors.first().map_or(0, Vec::len);
    let is_valid = |vector: &Vec<f32>| {
        vector.len() == dimension && vector.iter().all(|number| number.is_finite())
    };
    if vectors.len() != wanted || dimension == 0 || !vectors.iter().all(is_valid) {
        let reason = "the response has the wrong number of vectors, or vectors with different dimensions or with values that are not finite".to_owned();
        return Err(Error::BadReply { reason });
    }
    for vector in &mut vectors {
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if length > f32::EPSILON {
            vector.iter_mut().for_each(|number| *number /= length);
        }
    }
    Ok(vectors)
}

fn estimated(texts: &[String]) -> TokenUsage {
    let input = texts.iter().map(|text| u64::from(tokens::estimate(text))).sum();
    TokenUsage { input, ..TokenUsage::default() }
}
