//! OpenAI's embeddings API, `POST …/embeddings`, which Ollama, llama.cpp, vLLM and LM Studio also
//! implement.

use reqwest::Url;
use serde_json::{Value, json};

use crate::{
    config_section::ConfigSection,
    embed::{Embedded, Embedder, config::Config},
    error::{Error, Failure},
    http::{Http, HttpRequest, is_local},
    key::Keys,
    model::Timestamp,
    ports::{BoxFuture, Ports},
    price::Tariff,
    provider::openai::{OPENAI_BASE_URL, default_key_variable, failure, is_openai, url},
    reach::Listing,
    reply::TokenUsage,
};

pub(super) struct OpenAi {
    http: Http,
    url: Url,
    model: Option<String>,
    dimensions: Option<u32>,
    tariff: Option<Tariff>,
    keys: Keys,
}

/// The path of the endpoint, relative to the base URL.
const ENDPOINT_PATH: &str = "/embeddings";
/// The default model for OpenAI's own server. The model is cheap, and good enough to compare the
/// subjects of sessions.
const MODEL: &str = "text-embedding-3-small";

impl OpenAi {
    /// Creates the client without sending anything.
    pub(super) fn new(config: &Config, ports: &Ports) -> Result<OpenAi, Error> {
        let base = config.base_url.as_deref().unwrap_or(OPENAI_BASE_URL);
        let url = url(base, ENDPOINT_PATH, ConfigSection::EMBEDDINGS)?;
        let model = config.model.clone().or(is_openai(&url).then(|| MODEL.to_owned()));
        let known = model.as_deref().and_then(Tariff::of);
        Ok(OpenAi {
            http: Http::new(&url)?,
            tariff: if is_local(&url) { Some(Tariff::FREE) } else { known },
            url,
            model,
            dimensions: config.dimensions,
            keys: Keys::new(&config.key, ports, ConfigSection::EMBEDDINGS),
        })
    }

    async fn list_models(&self, now: Timestamp) -> Result<String, Error> {
        let key = self.keys.get(default_key_variable(&self.url)).await?;
        let listing = Listing {
            http: &self.http,
            url: &self.url,
            call: ENDPOINT_PATH,
            headers: &[],
            key: key.as_ref().map(|key| ("authorization", "Bearer ", key)),
            model: self.model.as_deref(),
            section: ConfigSection::EMBEDDINGS,
            now,
        };
        listing.list_models().await
    }

    async fn ask(&self, texts: &[String], now: Timestamp) -> Result<Embedded, Failure> {
        let mut body = json!({ "input": texts });
        if let Some(model) = &self.model {
            body["model"] = json!(model);
        }
        if let Some(dimensions) = self.dimensions {
            body["dimensions"] = json!(dimensions);
        }
        let key = self.keys.get(default_key_variable(&self.url)).await?;
        let header = key.as_ref().map(|key| ("authorization", "Bearer ", key));
        let request =
            HttpRequest { url: &self.url, headers: &[], key: header, body: Some(&body), now };
        let response = self.http.send(request).await?;
        if matches!(response.status, 401 | 403) {
            self.keys.forget().await;
        }
        if response.status != 200 {
            return Err(failure(&response, key.as_ref(), ConfigSection::EMBEDDINGS));
        }
        read(&response.body, texts.len())
    }
}

impl Embedder for OpenAi {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn model(&self) -> String {
        self.model.clone().unwrap_or_else(|| "unnamed".to_owned())
    }

    fn identity(&self) -> String {
        let length = self.dimensions.map_or(String::new(), |length| format!(" {length}"));
        let host = self.url.host_str().unwrap_or_default();
        format!("openai {host} {}{length}", self.model())
    }

    fn tariff(&self) -> Option<Tariff> {
        self.tariff
    }

    fn reach(&self, now: Timestamp) -> BoxFuture<'_, Result<String, Error>> {
        Box::pin(self.list_models(now))
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Embedded, Failure>> {
        Box::pin(self.ask(texts, now))
    }
}

/// Returns the vectors in the order of the texts, which may differ from the order in the response.
pub(super) fn read(body: &Value, texts: usize) -> Result<Embedded, Failure> {
    let tokens = body["usage"]["prompt_tokens"].as_u64();
    let usage = tokens.map(|input| TokenUsage { input, ..TokenUsage::default() });
    let bad = |what: &str| Failure::bad_reply(what, usage);
    let rows = body["data"].as_array().ok_or_else(|| bad("the response has no vectors"))?;
    let mut vectors = vec![Vec::new(); texts];
    for (place, row) in rows.iter().enumerate() {
        let index = row["index"].as_u64().map_or(Some(place), |index| usize::try_from(index).ok());
        let vector = index.and_then(|index| vectors.get_mut(index));
        let numbers = row["embedding"].as_array();
        let (Some(vector), Some(numbers)) = (vector, numbers) else {
            return Err(bad("a vector has an invalid index or no list of numbers"));
        };
        *vector = numbers.iter().map(|number| number.as_f64().unwrap_or(f64::NAN) as f32).collect();
    }
    Ok(Embedded { vectors, usage })
}
