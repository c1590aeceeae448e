//! `graphiti/view`: opens the viewer, a page for the user's browser.
//!
//! The daemon listens at a port of the loopback interface only from this request on, until the page
//! was not used for some time. The address in the answer contains a token that is valid once.

use serde::{Deserialize, Serialize};

/// The method; answered with [`ViewAddress`].
pub const VIEW: &str = "graphiti/view";

/// The answer to [`VIEW`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewAddress {
    /// The address to open in a browser.
    pub url: String,
    /// Seconds after which the address has to be used.
    pub valid_seconds: u64,
}
