//! The attempts whose failures and successes are compared.

use serde::{Deserialize, Serialize};

use crate::summarize::evidence::test_runs::TestScope;

/// The identity of a failed attempt, to recognise its later success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Attempt {
    /// A command, identified by [`CommandLine::attempt`](crate::summarize::evidence::shell::CommandLine).
    Command(String),
    Tests {
        framework: String,
        /// The failed tests, by shortened names.
        names: Vec<String>,
        /// Number of tests that passed or failed in the run.
        total: u32,
        /// The part of the tests that ran.
        #[serde(default)]
        scope: TestScope,
    },
    /// A call of a tool, identified by the tool and its target.
    Tool(String),
}
