//! Entry points for the tests that feed arbitrary input to all parsers.

use crate::{embed, http::Response, provider};

/// Parses the body of a server's response as each provider does.
pub fn read_response(body: &[u8]) {
    let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    for status in [200, 302, 400, 401, 429, 500, 529] {
        let response = Response { status, retry_after: None, body: body.clone() };
        provider::fuzzing::read(&response);
    }
    embed::read_vectors(&body);
}
