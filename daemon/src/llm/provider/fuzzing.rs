//! What of this the tests of all parsers may call.

use crate::llm::{
    http::Response,
    provider::{anthropic, openai},
    secret::Secret,
};

/// Reads a response as each provider does.
pub(in crate::llm) fn read(response: &Response) {
    let key = Secret::new("a-key-of-some-length").expect("it can be sent");
    // Whatever it is, it is data or an error.
    drop(openai::read(response, Some(&key)));
    drop(anthropic::read(response, &key));
}
