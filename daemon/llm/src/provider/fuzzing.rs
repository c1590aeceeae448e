//! Entry points for the tests that feed arbitrary input to all parsers.

use crate::{
    http::Response,
    provider::{anthropic, openai},
    secret::Secret,
};

/// Parses a response as each provider does.
pub(crate) fn read(response: &Response) {
    let key =
        Secret::new("a-key-of-some-length").expect("the key consists of visible ASCII characters");
    // Any input must give data or an error, never a panic.
    let _ = openai::read(response, Some(&key));
    let _ = anthropic::read(response, &key);
}
