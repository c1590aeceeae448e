//! OpenAI's chat completions API, `POST …/chat/completions`, which OpenRouter, Ollama, llama.cpp,
//! vLLM and LM Studio also implement.
//!
//! The servers support different parts of the API. A parameter that a server rejects is replaced or
//! left out, until the daemon restarts or the settings of the model change.

use std::sync::{Mutex, PoisonError};

use reqwest::Url;
use serde_json::{Value, json};

use crate::{
    config::Config,
    config_section::ConfigSection,
    error::{Error, Failure},
    http::{Http, HttpRequest, Response, base, is_local},
    key::Keys,
    model::Timestamp,
    ports::{BoxFuture, Ports},
    price::{Money, Tariff},
    provider::{Call, Provider, dialect::Dialect},
    reach::Listing,
    reply::{Completion, Ending, TokenUsage},
    secret::Secret,
};

pub struct OpenAi {
    http: Http,
    url: Url,
    model: Option<String>,
    tariff: Option<Tariff>,
    keys: Keys,
    dialect: Mutex<Dialect>,
}

/// The path of the endpoint, relative to the base URL.
const ENDPOINT_PATH: &str = "/chat/completions";
pub(crate) const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";
/// The default model for OpenAI's own server. The model is cheap and writes good summaries.
const MODEL: &str = "gpt-5.4-mini";
/// Servers and the variables that usually contain their keys. Another server gets a key only if the
/// configuration contains the source of the key.
const KEYS: [(&str, &str); 2] =
    [("api.openai.com", "OPENAI_API_KEY"), ("openrouter.ai", "OPENROUTER_API_KEY")];
/// Maximum number of times that a request is repeated with other parameters, because the server
/// rejected some of them ([`Dialect`]).
const DIALECTS: usize = 4;

impl OpenAi {
    /// Creates the client without sending anything.
    pub fn new(config: &Config, ports: &Ports) -> Result<OpenAi, Error> {
        let base = config.base_url.as_deref().unwrap_or(OPENAI_BASE_URL);
        let url = url(base, ENDPOINT_PATH, ConfigSection::LLM)?;
        let is_openai = is_openai(&url);
        let model = config.model.clone().or(is_openai.then(|| MODEL.to_owned()));
        let configured = Tariff::configured(&config.price, model.as_deref());
        let dialect = if is_openai { Dialect::OWN } else { Dialect::OTHERS };
        Ok(OpenAi {
            http: Http::new(&url)?,
            tariff: if is_local(&url) { configured.or(Some(Tariff::FREE)) } else { configured },
            url,
            model,
            keys: Keys::new(&config.key, ports, ConfigSection::LLM),
            dialect: Mutex::new(dialect),
        })
    }

    async fn complete(&self, call: &Call<'_>) -> Result<Completion, Failure> {
        let key = self.keys.get(default_key_variable(&self.url)).await?;
        let mut dialect = *self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let mut response = self.post(call, dialect, key.as_ref()).await?;
        for _ in 0..DIALECTS {
            let Some(other) = dialect.after(&response, call.schema.is_some()) else { break };
            dialect = other;
            *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = other;
            response = self.post(call, dialect, key.as_ref()).await?;
        }
        if matches!(response.status, 401 | 403) {
            self.keys.forget().await;
        }
        read(&response, key.as_ref())
    }

    async fn post(
        &self,
        call: &Call<'_>,
        dialect: Dialect,
        key: Option<&Secret>,
    ) -> Result<Response, Failure> {
        let (body, now) = (Some(&self.body(call, dialect)), call.now);
        let key = key.map(|key| ("authorization", "Bearer ", key));
        self.http.send(HttpRequest { url: &self.url, headers: &[], key, body, now }).await
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
            section: ConfigSection::LLM,
            now,
        };
        listing.list_models().await
    }

    fn body(&self, call: &Call<'_>, dialect: Dialect) -> Value {
        let mut body = json!({
            "messages": [
                { "role": "system", "content": call.system },
                { "role": "user", "content": dialect.prompt(call) },
            ],
        });
        if let Some(model) = &self.model {
            body["model"] = json!(model);
        }
        dialect.write(&mut body, call);
        body
    }
}

impl Provider for OpenAi {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    fn tariff(&self) -> Option<Tariff> {
        self.tariff
    }

    fn reach(&self, now: Timestamp) -> BoxFuture<'_, Result<String, Error>> {
        Box::pin(self.list_models(now))
    }

    fn ask<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<Completion, Failure>> {
        Box::pin(self.complete(call))
    }
}

/// Returns the endpoint for a base URL such as `http://localhost:11434` or `…/v1`.
pub(crate) fn url(configured: &str, call: &str, section: ConfigSection) -> Result<Url, Error> {
    let mut url = base(configured, section)?;
    let path = match url.path() {
        "" | "/" => format!("/v1{call}"),
        path if path.ends_with(call) => path.to_owned(),
        path => format!("{path}{call}"),
    };
    url.set_path(&path);
    Ok(url)
}

/// Returns the variable that usually contains the key of the server at `url`.
pub(crate) fn default_key_variable(url: &Url) -> Option<&'static str> {
    let known = KEYS.iter().find(|(host, _)| url.host_str() == Some(host));
    known.map(|(_, name)| *name)
}

/// Whether the server is OpenAI's own.
pub(crate) fn is_openai(url: &Url) -> bool {
    url.host_str() == Some(KEYS[0].0)
}

pub(super) fn read(response: &Response, key: Option<&Secret>) -> Result<Completion, Failure> {
    if response.status != 200 {
        return Err(failure(response, key, ConfigSection::LLM));
    }
    let body = &response.body;
    // OpenRouter reports errors of its upstream servers in a response with status 200.
    if let Some(status) = body["error"]["code"].as_u64() {
        let status = u16::try_from(status).unwrap_or(500);
        return Err(failure(
            &Response { status, retry_after: response.retry_after, body: body.clone() },
            key,
            ConfigSection::LLM,
        ));
    }
    let usage = usage(&body["usage"]);
    let choice = &body["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err(Failure::bad_reply("the response has no message", usage));
    }
    if let Some(reason) = message["refusal"].as_str().filter(|reason| !reason.is_empty()) {
        return Err(Failure::charged(Error::Refused { reason: reason.to_owned() }, usage));
    }
    let ending = match choice["finish_reason"].as_str() {
        Some("length") => Ending::CutOff,
        Some("content_filter") => {
            let reason = "a filter stopped the model".to_owned();
            return Err(Failure::charged(Error::Refused { reason }, usage));
        }
        _ => Ending::Done,
    };
    let model = body["model"].as_str().map(str::to_owned);
    Ok(Completion { text: text(&message["content"]), ending, usage, model })
}

/// Returns a content's text, or the joined text of its parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn usage(usage: &Value) -> Option<TokenUsage> {
    Some(TokenUsage {
        input: usage["prompt_tokens"].as_u64()?,
        output: usage["completion_tokens"].as_u64().unwrap_or_default(),
        cached: usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or_default(),
        reported: usage["cost"].as_f64().map(Money::from_usd),
    })
}

/// Returns the failure for a response that reports an error.
pub(crate) fn failure(
    response: &Response,
    key: Option<&Secret>,
    section: ConfigSection,
) -> Failure {
    let message = response.message(key);
    let error = &response.body["error"];
    let code = error["code"].as_str().or(error["type"].as_str()).unwrap_or_default();
    let lower = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word) || code == *word);
    if says(&["insufficient_quota", "exceeded your current quota"]) {
        return Failure::lasting(Error::misconfigured(message, "top up the credit"));
    }
    let is_about_request = matches!(response.status, 400 | 422 | 500);
    if is_about_request && says(TOO_LONG) {
        return Failure::lasting(Error::TooLong { reason: message });
    }
    if is_about_request && says(&["content_filter", "content_policy_violation"]) {
        return Failure::lasting(Error::Refused { reason: message });
    }
    response
        .plain_failure(key, section)
        .unwrap_or_else(|| Failure::lasting(Error::misconfigured(message, section.check_model())))
}

/// How servers report that a prompt is too long.
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "context length",
    "context size",
    "context window",
    "maximum context",
    "too long",
];
