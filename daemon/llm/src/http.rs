//! Sends one HTTP request and classifies the result, for all providers that use HTTP.

use std::{error::Error as _, time::Duration};

use reqwest::Url;
use serde_json::Value;

use crate::{
    config_section::ConfigSection,
    error::{Again, Bill, Error, Failure},
    model::Timestamp,
    secret::Secret,
};

/// An HTTP client that reuses connections.
pub(crate) struct Http {
    client: reqwest::Client,
}

pub(crate) struct HttpRequest<'r> {
    pub(crate) url: &'r Url,
    /// The headers except the one with the key.
    pub(crate) headers: &'r [(&'static str, &'static str)],
    /// The name of the key's header, the prefix of its value, and the key.
    pub(crate) key: Option<(&'static str, &'static str, &'r Secret)>,
    /// The body of a `POST`; `None` for a `GET`.
    pub(crate) body: Option<&'r Value>,
    pub(crate) now: Timestamp,
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    /// `Null` when the body is not JSON.
    pub(crate) body: Value,
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum length, in bytes, of a response.
const LONGEST: usize = 8 << 20;

impl Http {
    /// Creates a client for the server at `url`. A server on this machine is never reached through
    /// a proxy.
    pub(crate) fn new(url: &Url) -> Result<Http, Error> {
        // Fails if a provider was installed already. That provider can be used, too.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder();
        let builder = if is_local(url) { builder.no_proxy() } else { builder };
        let client = builder
            .connect_timeout(CONNECT_TIMEOUT)
            // A redirect must not carry the key to another server.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("graphitid/", env!("CARGO_PKG_VERSION")))
            .build();
        let client = client.map_err(|error| {
            Error::misconfigured(
                describe(error),
                "install your system's certificates (ca-certificates)",
            )
        })?;
        Ok(Http { client })
    }

    pub(crate) async fn send(&self, given: HttpRequest<'_>) -> Result<Response, Failure> {
        let mut response = self.request(&given).send().await.map_err(not_sent)?;
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers(), given.now);
        let mut bytes = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| Failure::lost(describe(error)))?
        {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LONGEST {
                return Err(Failure::bad_reply("the response is far too long", None));
            }
        }
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok(Response { status, retry_after, body })
    }

    fn request(&self, given: &HttpRequest<'_>) -> reqwest::RequestBuilder {
        let mut request = match given.body {
            None => self.client.get(given.url.clone()),
            Some(body) => {
                let body = serde_json::to_vec(body).expect("JSON values can be written");
                let request = self.client.post(given.url.clone());
                request.header("content-type", "application/json").body(body)
            }
        };
        for (name, value) in given.headers {
            request = request.header(*name, *value);
        }
        if let Some((name, before, key)) = given.key {
            let mut value =
                reqwest::header::HeaderValue::from_str(&format!("{before}{}", key.expose()))
                    .expect("a secret contains only characters that are valid in a header");
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        request
    }
}

impl Response {
    /// Returns the status and the error message in the body, if any, without the key.
    pub(crate) fn message(&self, key: Option<&Secret>) -> String {
        let body = &self.body;
        let places = [&body["error"]["message"], &body["error"], &body["message"], &body["detail"]];
        let words = places.into_iter().find_map(Value::as_str);
        let text = match words {
            Some(words) => format!("HTTP {}: {words}", self.status),
            None => format!("HTTP {}", self.status),
        };
        key.map_or(text.clone(), |key| key.out_of(&text))
    }

    /// Returns the failure for a status that needs no further inspection; `None` when the provider
    /// has to look at the body.
    pub(crate) fn plain_failure(
        &self,
        key: Option<&Secret>,
        section: ConfigSection,
    ) -> Option<Failure> {
        let message = || self.message(key);
        let misconfigured =
            |remedy: String| Some(Failure::lasting(Error::misconfigured(message(), remedy)));
        match self.status {
            300..=399 => misconfigured(format!(
                "set {} to the address to which the server redirects",
                section.key("base_url")
            )),
            401 | 403 => misconfigured("check the key and its permissions".to_owned()),
            402 => misconfigured("there is no credit left: top up the account".to_owned()),
            404 | 405 => misconfigured(section.check_model()),
            // The model did not answer in time, and may have processed the request.
            504 | 524 => {
                let failure = Failure::unavailable(message(), self.retry_after);
                Some(Failure { again: Again::Once, bill: Bill::Expected, ..failure })
            }
            413 => Some(Failure::lasting(Error::TooLong { reason: message() })),
            // 408 and 522: the server did not get the whole request.
            408 | 409 | 425 | 429 | 500..=599 => {
                Some(Failure::unavailable(message(), self.retry_after))
            }
            _ => None,
        }
    }
}

/// Parses a configured base URL.
pub(crate) fn base(text: &str, section: ConfigSection) -> Result<Url, Error> {
    let url = Url::parse(text.trim_end_matches('/')).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| {
        let what = format!("{} is not an address", section.key("base_url"));
        Error::misconfigured(what, "write one such as http://localhost:11434/v1")
    })
}

/// Whether the server is on this machine.
pub(crate) fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Classifies the error of a request without a response. If the connection failed, the model did
/// not process the request.
fn not_sent(error: reqwest::Error) -> Failure {
    if error.is_builder() {
        let remedy = "check the configured `base_url`";
        return Failure::lasting(Error::misconfigured(describe(error), remedy));
    }
    if error.is_connect() {
        return Failure::unavailable(describe(error), None);
    }
    Failure::lost(describe(error))
}

/// Formats an error with its causes but without the URL, which may contain a password.
fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}

/// Returns the pause that the server asks for. `retry-after-ms` contains milliseconds, and
/// `retry-after` contains seconds or a date.
fn retry_after(headers: &reqwest::header::HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name| {
        let number: Option<f64> = text(name)?.parse().ok();
        number.filter(|number| (0.0..=1e9).contains(number))
    };
    if let Some(millis) = number("retry-after-ms") {
        return Some(Duration::from_secs_f64(millis / 1e3));
    }
    if let Some(seconds) = number("retry-after") {
        return Some(Duration::from_secs_f64(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(text("retry-after")?).ok()?;
    Some(Timestamp::from_micros(date.timestamp().as_microsecond()).since(now))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;

    use super::*;

    #[test]
    fn the_requested_pause_is_parsed_in_every_form() {
        let now = Timestamp::parse("2026-11-21T10:00:00Z").unwrap();
        for (name, value, expected) in [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", " 1.5 ", Some(1_500)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "Sat, 21 Nov 2026 10:02:00 GMT", Some(120_000)),
            ("retry-after", "Sat, 21 Nov 2026 09:00:00 GMT", Some(0)),
            ("retry-after", "-3", None),
            ("retry-after", "soon", None),
            ("retry-after", "1e300", None),
            ("other", "1", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let read = retry_after(&headers, now);
            assert_eq!(read, expected.map(Duration::from_millis), "{value}");
        }
    }

    #[test]
    fn a_server_on_this_machine_is_recognised() {
        for (text, expected) in [
            ("http://localhost:11434/v1/", true),
            ("http://127.0.0.1", true),
            ("http://[::1]:8080/v1", true),
            ("https://api.openai.com/v1", false),
            ("http://localhost.example.com", false),
            ("http://192.168.1.5:11434", false),
        ] {
            assert_eq!(is_local(&base(text, ConfigSection::LLM).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn the_message_of_the_server_is_found_and_the_key_is_removed() {
        let key = Secret::new("abc123");
        for (body, expected) in [
            (r#"{"error": {"message": "bad abc123"}}"#, "HTTP 400: bad [key]"),
            (r#"{"error": "plain"}"#, "HTTP 400: plain"),
            (r#"{"detail": "vllm"}"#, "HTTP 400: vllm"),
            ("null", "HTTP 400"),
        ] {
            let body = serde_json::from_str(body).unwrap();
            let response = Response { status: 400, retry_after: None, body };
            assert_eq!(response.message(key.as_ref()), expected);
        }
    }
}
