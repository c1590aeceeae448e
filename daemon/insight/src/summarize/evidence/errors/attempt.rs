//! The attempts whose failures and successes are compared.

use serde::{Deserialize, Serialize};

use crate::{model::evidence::is_same_place, summarize::evidence::test_runs::TestScope};

/// The identity of a failed attempt, to recognise its later success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Attempt {
    /// A command, identified by
    /// [`CommandLine::attempt`](crate::summarize::evidence::shell::CommandLine).
    Command(String),
    Tests {
        framework: String,
        /// The names of the failed tests. Long names are shortened.
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

impl Attempt {
    /// Whether both attempts are equal, or run tests of one framework in the same place.
    pub(super) fn is_same(&self, other: &Attempt) -> bool {
        match (self, other) {
            (
                Attempt::Tests { framework: one, scope: of_one, .. },
                Attempt::Tests { framework: other, scope: of_other, .. },
            ) => one == other && is_same_place(&of_one.place, &of_other.place),
            (one, other) => one == other,
        }
    }
}
