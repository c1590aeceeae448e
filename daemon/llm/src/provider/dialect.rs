//! The parts of the chat completions protocol that a server supports, as learned from its errors.

use serde_json::{Value, json};

use crate::{http::Response, provider::Call};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::provider) struct Dialect {
    json: Json,
    limit: Limit,
}

/// How JSON is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Json {
    /// With a schema that the server enforces.
    Schema,
    /// As any object; the schema is in the prompt.
    Object,
    /// Only in the prompt.
    Prompt,
}

/// The parameter that limits the length of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    MaxCompletionTokens,
    MaxTokens,
    Nothing,
}

impl Dialect {
    pub(in crate::provider) const OWN: Dialect =
        Dialect { json: Json::Schema, limit: Limit::MaxCompletionTokens };
    /// The first dialect for servers other than OpenAI's own.
    pub(in crate::provider) const OTHERS: Dialect =
        Dialect { json: Json::Schema, limit: Limit::MaxTokens };

    /// Returns the prompt, with the schema at its end if the server does not accept the schema
    /// itself.
    pub(in crate::provider) fn prompt(self, call: &Call<'_>) -> String {
        match self.json {
            Json::Schema => call.prompt.to_owned(),
            Json::Object | Json::Prompt => call.prompt_with_schema(),
        }
    }

    /// Adds the parameters that differ between servers to a request.
    pub(in crate::provider) fn write(self, body: &mut Value, call: &Call<'_>) {
        match self.limit {
            Limit::MaxCompletionTokens => {
                body["max_completion_tokens"] = json!(call.max_output_tokens);
            }
            Limit::MaxTokens => body["max_tokens"] = json!(call.max_output_tokens),
            Limit::Nothing => {}
        }
        match (call.schema, self.json) {
            (Some(schema), Json::Schema) => {
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": {
                        "name": schema.name(),
                        "strict": schema.is_strict(),
                        "schema": schema.value(),
                    },
                });
            }
            (Some(_), Json::Object) => body["response_format"] = json!({ "type": "json_object" }),
            (Some(_), Json::Prompt) | (None, _) => {}
        }
    }

    /// Returns the dialect to try after a server rejected a parameter of this dialect; `None` if
    /// `response` is not such a rejection, or if no other dialect is left.
    pub(in crate::provider) fn after(self, response: &Response, is_json: bool) -> Option<Dialect> {
        if !matches!(response.status, 400 | 404 | 422 | 500 | 501) {
            return None;
        }
        let complaint = response.message(None).to_lowercase();
        let parameter = response.body["error"]["param"].as_str().unwrap_or_default();
        let mentions = |words: &[&str]| {
            words.iter().any(|word| complaint.contains(word) || parameter == *word)
        };
        if is_json && mentions(&["response_format", "json_schema", "json_object", "grammar"]) {
            let json = match self.json {
                Json::Schema => Json::Object,
                Json::Object => Json::Prompt,
                Json::Prompt => return None,
            };
            return Some(Dialect { json, ..self });
        }
        if response.status == 400 || response.status == 422 {
            let limit = match self.limit {
                Limit::MaxCompletionTokens if mentions(&["max_completion_tokens"]) => {
                    Limit::MaxTokens
                }
                Limit::MaxTokens if mentions(&["max_completion_tokens"]) => {
                    Limit::MaxCompletionTokens
                }
                Limit::MaxTokens if parameter == "max_tokens" => Limit::Nothing,
                _ => return None,
            };
            return Some(Dialect { limit, ..self });
        }
        None
    }
}
