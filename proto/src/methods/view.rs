//! `graphiti/view`: opens the viewer, a page for the user's browser.
//!
//! From this request on, the daemon listens at a port of the loopback interface. It closes the port
//! when the page has not been used for some time. The address in the answer contains a token that
//! is valid once.

use serde::{Deserialize, Serialize};

/// The name of the method. The answer is [`ViewAddress`].
pub const VIEW: &str = "graphiti/view";

/// The answer to [`VIEW`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewAddress {
    /// The address to open in a browser.
    pub url: String,
    /// Number of seconds within which the address must be used.
    pub valid_seconds: u64,
}
