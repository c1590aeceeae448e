//! Checks whether a model is available without sending a prompt. The server's list of models is
//! free of charge, shows whether the key is accepted, and reveals a wrong model name before a
//! session depends on it.

use reqwest::Url;
use serde_json::Value;

use crate::{
    config_section::ConfigSection,
    error::{Error, Failure},
    http::{Http, HttpRequest, Response},
    model::Timestamp,
    secret::Secret,
};

/// Maximum number of models that a message lists.
const NAMED: usize = 5;

/// A request for a server's list of models.
pub(crate) struct Listing<'l> {
    pub(crate) http: &'l Http,
    /// The endpoint for prompts.
    pub(crate) url: &'l Url,
    /// The part of the path that `/models` replaces.
    pub(crate) call: &'static str,
    pub(crate) headers: &'l [(&'static str, &'static str)],
    pub(crate) key: Option<(&'static str, &'static str, &'l Secret)>,
    /// The configured model. With `None`, the only check is whether the server responds.
    pub(crate) model: Option<&'l str>,
    pub(crate) section: ConfigSection,
    pub(crate) now: Timestamp,
}

impl Listing<'_> {
    /// Checks that the server has the configured model, and returns a description of the result for
    /// people. A server that responds but does not list its models passes, too.
    pub(crate) async fn list_models(&self) -> Result<String, Error> {
        let host = self.host();
        let response = self.ask().await.map_err(|failure| failure.error)?;
        match response.status {
            200 => self.read(&response.body),
            // Many compatible servers do not list their models.
            404 | 405 | 501 => Ok(format!("{host} answers, and does not list its models")),
            _ => {
                let key = self.key.map(|(_, _, key)| key);
                let failure = response.plain_failure(key, self.section);
                let message = response.message(key);
                let answered = format!("GET {} was answered with {message}", self.list_url());
                let unclear = || Failure::unavailable(answered, None);
                Err(failure.unwrap_or_else(unclear).error)
            }
        }
    }

    async fn ask(&self) -> Result<Response, Failure> {
        let mut url = self.list_url();
        // Anthropic's list is paged; other servers ignore the parameter.
        url.set_query(Some("limit=1000"));
        let Listing { headers, key, now, .. } = *self;
        self.http.send(HttpRequest { url: &url, headers, key, body: None, now }).await
    }

    fn list_url(&self) -> Url {
        let mut url = self.url.clone();
        let path = url.path().strip_suffix(self.call).unwrap_or_default();
        url.set_path(&format!("{path}/models"));
        url
    }

    fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
    }

    fn read(&self, body: &Value) -> Result<String, Error> {
        let host = self.host();
        let rows = body["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
        let Some(wanted) = self.model else { return Ok(format!("{host} answers")) };
        if names.is_empty() {
            return Ok(format!("{host} answers, and does not list its models"));
        }
        if names.iter().any(|name| is_the_same(name, wanted)) {
            return Ok(format!("{host} has {wanted}"));
        }
        let more = if names.len() > NAMED { ", …" } else { "" };
        let listed = names[..names.len().min(NAMED)].join(", ");
        Err(Error::misconfigured(
            format!("{host} has no model {wanted}, only {listed}{more}"),
            format!("set {} to one of the server's models", self.section.key("model")),
        ))
    }
}

/// Whether a listed name denotes the configured model. The listed name may have a folder before it.
/// After `-`, it may have a date, a revision such as `001`, or `latest`. After `:` or `@`, it may
/// have any suffix, or lack the configured suffix. Another suffix after `-`, such as `-mini` in
/// `gpt-5-mini`, denotes another model.
fn is_the_same(listed: &str, wanted: &str) -> bool {
    let is_more = |long: &str, short: &str, signs: &[char]| {
        long.strip_prefix(short).is_some_and(|rest| rest.starts_with(signs))
    };
    let is_dated = |name: &str| {
        let suffix = name.strip_prefix(wanted).and_then(|rest| rest.strip_prefix('-'));
        suffix.is_some_and(|suffix| {
            // A shorter number is the number of another model: `claude-opus-4-5`.
            let begins_with_long_number =
                suffix.split('-').next().is_some_and(|part| part.len() >= 3);
            // The month and the year: `command-r-08-2024`.
            let is_month = suffix
                .split_once('-')
                .is_some_and(|(month, year)| month.len() == 2 && year.len() == 4);
            let is_number = suffix.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            suffix == "latest" || ((begins_with_long_number || is_month) && is_number)
        })
    };
    let bare = listed.rsplit('/').next().unwrap_or(listed);
    [listed, bare]
        .iter()
        .any(|name| *name == wanted || is_dated(name) || is_more(name, wanted, &[':', '@']))
        || is_more(wanted, listed, &[':', '@'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models_are_compared_as_servers_mean_them() {
        for (listed, wanted, expected) in [
            ("gpt-5.4-mini", "gpt-5.4-mini", true),
            ("gpt-5.4-mini-2026-03-01", "gpt-5.4-mini", true),
            ("qwen3:latest", "qwen3", true),
            ("models/gemini-3-flash", "gemini-3-flash", true),
            ("openai/gpt-5.4-mini", "openai/gpt-5.4-mini:free", true),
            ("claude-haiku-4-5-20251001", "claude-haiku-4-5", true),
            ("claude-sonnet-5-latest", "claude-sonnet-5", true),
            ("gpt-4-0613", "gpt-4", true),
            ("command-r-08-2024", "command-r", true),
            ("command-r-plus-08-2024", "command-r", false),
            ("qwen3-30-2", "qwen3", false),
            ("gemini-2.5-pro-001", "gemini-2.5-pro", true),
            ("claude-haiku-4-5-20251001", "claude-haiku-4", false),
            ("claude-opus-4-5", "claude-opus-4", false),
            ("qwen3-30", "qwen3", false),
            ("gpt-5-mini", "gpt-5", false),
            ("gpt-5-mini-2026-03-01", "gpt-5", false),
            ("qwen30", "qwen3", false),
            ("gpt-5.4", "gpt-5.4-mini", false),
            ("llama3", "qwen3", false),
        ] {
            assert_eq!(is_the_same(listed, wanted), expected, "{listed} {wanted}");
        }
    }
}
