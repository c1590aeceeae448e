//! Anthropic's messages API: `POST /v1/messages`.
//!
//! To get JSON, the model is forced to call a tool whose input is the answer. For a model that does
//! not support this, the schema is put into the prompt.

use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::Url;
use serde_json::{Value, json};

use crate::{
    config::Config,
    config_section::ConfigSection,
    error::{Error, Failure},
    http::{Http, HttpRequest, Response, base},
    key::Keys,
    model::Timestamp,
    ports::{BoxFuture, Ports},
    price::Tariff,
    provider::{Call, Provider},
    reach::Listing,
    reply::{Completion, Ending, TokenUsage},
    secret::Secret,
};

pub struct Anthropic {
    http: Http,
    url: Url,
    model: String,
    tariff: Option<Tariff>,
    keys: Keys,
    /// Whether the prompt contains the schema, because the model cannot be forced to call a tool.
    schema_in_prompt: AtomicBool,
}

/// The path of the endpoint, relative to the versioned base URL.
const ENDPOINT_PATH: &str = "/messages";
const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com/";
const DEFAULT_KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";
/// The API version that this file implements.
const VERSION: &str = "2023-06-01";
/// The default model. It is cheap and writes good summaries.
const MODEL: &str = "claude-haiku-4-5";

impl Anthropic {
    /// Creates the client without sending anything.
    pub fn new(config: &Config, ports: &Ports) -> Result<Anthropic, Error> {
        let model = config.model.clone().unwrap_or_else(|| MODEL.to_owned());
        let url = url(config.base_url.as_deref().unwrap_or(ANTHROPIC_BASE_URL))?;
        Ok(Anthropic {
            http: Http::new(&url)?,
            url,
            tariff: Tariff::configured(&config.price, Some(&model)),
            model,
            keys: Keys::new(&config.key, ports, ConfigSection::LLM),
            schema_in_prompt: AtomicBool::new(false),
        })
    }

    async fn message(&self, call: &Call<'_>) -> Result<Completion, Failure> {
        let key = self.key().await?;
        let schema_in_prompt = self.schema_in_prompt.load(Ordering::Relaxed);
        let mut response = self.post(call, schema_in_prompt, &key).await?;
        if call.schema.is_some() && !schema_in_prompt && rejects_tool_choice(&response) {
            self.schema_in_prompt.store(true, Ordering::Relaxed);
            response = self.post(call, true, &key).await?;
        }
        if matches!(response.status, 401 | 403) {
            self.keys.forget().await;
        }
        read(&response, &key)
    }

    /// Returns the key. The key in the default variable is sent only to Anthropic.
    async fn key(&self) -> Result<Secret, Error> {
        let usual =
            self.url.as_str().starts_with(ANTHROPIC_BASE_URL).then_some(DEFAULT_KEY_VARIABLE);
        self.keys.get(usual).await?.ok_or_else(|| self.keys.missing(DEFAULT_KEY_VARIABLE))
    }

    async fn post(
        &self,
        call: &Call<'_>,
        schema_in_prompt: bool,
        key: &Secret,
    ) -> Result<Response, Failure> {
        let (body, now) = (Some(&self.body(call, schema_in_prompt)), call.now);
        let headers = &[("anthropic-version", VERSION)];
        let key = Some(("x-api-key", "", key));
        self.http.send(HttpRequest { url: &self.url, headers, key, body, now }).await
    }

    async fn list_models(&self, now: Timestamp) -> Result<String, Error> {
        let key = self.key().await?;
        let listing = Listing {
            http: &self.http,
            url: &self.url,
            call: ENDPOINT_PATH,
            headers: &[("anthropic-version", VERSION)],
            key: Some(("x-api-key", "", &key)),
            model: Some(&self.model),
            section: ConfigSection::LLM,
            now,
        };
        listing.list_models().await
    }

    fn body(&self, call: &Call<'_>, schema_in_prompt: bool) -> Value {
        let mut body = json!({
            "model": self.model,
            "max_tokens": call.max_output_tokens,
            "system": call.system,
            "messages": [{ "role": "user", "content": call.prompt }],
        });
        match call.schema {
            Some(_) if schema_in_prompt => {
                body["messages"][0]["content"] = Value::String(call.prompt_with_schema());
            }
            Some(schema) => {
                body["tools"] = json!([{
                    "name": schema.name(),
                    "description": "Takes the answer.",
                    "input_schema": schema.value(),
                }]);
                body["tool_choice"] = json!({
                    "type": "tool", "name": schema.name(), "disable_parallel_tool_use": true,
                });
            }
            None => {}
        }
        body
    }
}

impl Provider for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn model(&self) -> Option<&str> {
        Some(&self.model)
    }

    fn tariff(&self) -> Option<Tariff> {
        self.tariff
    }

    fn reach(&self, now: Timestamp) -> BoxFuture<'_, Result<String, Error>> {
        Box::pin(self.list_models(now))
    }

    fn ask<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<Completion, Failure>> {
        Box::pin(self.message(call))
    }
}

/// Returns the endpoint for a base URL with or without `/v1`.
fn url(configured: &str) -> Result<Url, Error> {
    let mut url = base(configured, ConfigSection::LLM)?;
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix(ENDPOINT_PATH).unwrap_or(path);
    let path = format!("{}/v1{ENDPOINT_PATH}", path.strip_suffix("/v1").unwrap_or(path));
    url.set_path(&path);
    Ok(url)
}

fn rejects_tool_choice(response: &Response) -> bool {
    response.status == 400 && response.message(None).contains("tool_choice")
}

pub(super) fn read(response: &Response, key: &Secret) -> Result<Completion, Failure> {
    if response.status != 200 {
        return Err(failure(response, key));
    }
    let body = &response.body;
    let usage = usage(&body["usage"]);
    let Some(blocks) = body["content"].as_array() else {
        return Err(Failure::bad_reply("the response is not a message", usage));
    };
    let ending = match body["stop_reason"].as_str() {
        Some("end_turn" | "stop_sequence" | "tool_use") => Ending::Done,
        Some("max_tokens") => Ending::CutOff,
        Some("refusal") => return Err(refused(body, usage)),
        Some("model_context_window_exceeded") => {
            let reason = "there is no space for an answer".to_owned();
            return Err(Failure::charged(Error::TooLong { reason }, usage));
        }
        _ => return Err(Failure::bad_reply("the message has no end", usage)),
    };
    let model = body["model"].as_str().map(str::to_owned);
    Ok(Completion { text: text(blocks), ending, usage, model })
}

/// Returns the tool's input if the model called the tool, otherwise the text of the answer.
fn text(blocks: &[Value]) -> String {
    let of_type = |name: &'static str| blocks.iter().filter(move |block| block["type"] == name);
    match of_type("tool_use").next() {
        Some(call) => call["input"].to_string(),
        None => of_type("text").filter_map(|block| block["text"].as_str()).collect(),
    }
}

fn refused(body: &Value, usage: Option<TokenUsage>) -> Failure {
    let explanation = body["stop_details"]["explanation"].as_str();
    let reason = explanation.unwrap_or("a filter stopped the model").to_owned();
    Failure::charged(Error::Refused { reason }, usage)
}

fn usage(usage: &Value) -> Option<TokenUsage> {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let cached = count("cache_read_input_tokens");
    Some(TokenUsage {
        input: usage["input_tokens"].as_u64()? + count("cache_creation_input_tokens") + cached,
        output: usage["output_tokens"].as_u64()?,
        cached,
        reported: None,
    })
}

fn failure(response: &Response, key: &Secret) -> Failure {
    if let Some(failure) = response.plain_failure(Some(key), ConfigSection::LLM) {
        return failure;
    }
    let message = response.message(Some(key));
    let lower = message.to_lowercase();
    Failure::lasting(if lower.contains("too long") || lower.contains("context") {
        Error::TooLong { reason: message }
    } else if lower.contains("credit balance") {
        Error::misconfigured(message, "top up the credit")
    } else {
        Error::misconfigured(message, "check `session_tracking.llm.model`")
    })
}
