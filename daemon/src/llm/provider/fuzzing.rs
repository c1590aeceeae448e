//! What of this the tests of all parsers may call.

use crate::llm::{
    http::Response,
    provider::{anthropic, openai},
    secret::Secret,
};

/// Reads a response as each provider does.
pub(in crate::llm) fn read(response: &Response) {
    let key = Secret::new("a-key-of-some-length").expect("it can be sent");
    // Any input gives data or an error, and never a panic.
    let _ = openai::read(response, Some(&key));
    let _ = anthropic::read(response, &key);
}
