//! The structured summary of a session.

use serde::{Deserialize, Serialize};

use crate::model::activity::{ActivityVector, Segment};

/// A decision with its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// The decision: "Used RS256 over HS256 for JWT signing".
    pub decision: String,
    /// Why: "RS256 is more secure for production".
    pub rationale: String,
    /// The alternatives that were considered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Vec<String>>,
}

/// An error and how it was resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorResolution {
    /// The error message, for example "ImportError: No module named 'foo'".
    pub error: String,
    /// For example "Missing dependency in requirements.txt".
    pub root_cause: String,
    /// For example "Added foo==1.2.3 to requirements.txt".
    pub fix: String,
    /// How the fix was verified, for example "Ran tests, all passing".
    pub verification: String,
}

/// A setting that was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigChange {
    /// The path, for example ".env".
    pub file: String,
    /// The key, for example "JWT_EXPIRY".
    pub setting: String,
    /// For example "60"; `None` if the setting did not exist.
    #[serde(default)]
    pub old_value: Option<String>,
    /// For example "3600", or "(removed)".
    pub new_value: String,
    /// For example "Fix timeout - was minutes, now seconds".
    pub reason: String,
}

/// A relation between two entities, in a model's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelationRecord {
    /// The subject, for example "src/login.rs".
    pub source: String,
    /// For example "depends on".
    pub relation: String,
    /// The object, for example "session store".
    pub target: String,
    /// For example "Logins depend on the session store for their expiry".
    pub sentence: String,
}

/// The final result of a session's main test suite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TestSummary {
    /// For example "pytest".
    pub framework: String,
    /// The number of tests that were run.
    pub total: u32,
    /// The number that passed.
    pub passed: u32,
    /// The number that failed.
    pub failed: u32,
    /// The number that were skipped.
    #[serde(default)]
    pub skipped: u32,
    /// The folder or package of the tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The options, names or files that limited the run to a part of the tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_to: Option<String>,
    /// The number of tests that were left out, if the output reports it.
    #[serde(default, skip_serializing_if = "super::test_run::is_zero")]
    pub not_run: u32,
    /// Later events that may have made the result outdated, and the date of an old run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<String>,
    /// Coverage in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage_pct: Option<f64>,
    /// Names of the failed tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_tests: Option<Vec<String>>,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The request is done.
    Completed,
    /// Work is blocked.
    Blocked,
    /// Work continues.
    InProgress,
    /// Work was abandoned.
    Abandoned,
}

impl Outcome {
    /// Returns the name in documents and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Blocked => "blocked",
            Outcome::InProgress => "in_progress",
            Outcome::Abandoned => "abandoned",
        }
    }

    /// Parses a name as [`Outcome::as_str`] returns it.
    pub fn parse(word: &str) -> Option<Outcome> {
        [Outcome::Completed, Outcome::Blocked, Outcome::InProgress, Outcome::Abandoned]
            .into_iter()
            .find(|outcome| outcome.as_str() == word)
    }
}

/// The summary of a session in a few hundred words, divided into fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnhancedSessionSummary {
    /// The activities of the session.
    #[serde(default)]
    pub activity_vector: ActivityVector,
    /// The objective, in one or two sentences.
    pub objective: String,
    /// How the session ended.
    pub outcome: Outcome,
    /// The reason for the outcome, in a phrase: "waits for an answer", "cut off in a call".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome_reason: Option<String>,
    /// The phases of the work, if there are at least two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Vec<Segment>>,

    /// The part of the agent's last words that describes the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
    /// The final state of the repository: branch, last commit, pushed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Lasting instructions of the user, in the user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Vec<String>>,
    /// Failures whose causes are not part of the session's work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_failures: Option<Vec<String>>,

    /// Tasks that were accomplished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_tasks: Option<Vec<String>>,
    /// Decisions with their reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_decisions: Option<Vec<DecisionRecord>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_steps: Option<Vec<String>>,

    /// Errors and how they were resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors_resolved: Option<Vec<ErrorResolution>>,
    /// The causes of failures, if the session found causes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_cause_analysis: Option<String>,
    /// Settings that were changed, with the old and the new values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_changes: Option<Vec<ConfigChange>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discoveries: Option<Vec<String>>,
    /// The topics, if a model listed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<String>>,
    /// The relations between entities, if a model listed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relations: Option<Vec<RelationRecord>>,
    /// The final result of the main test suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_results: Option<TestSummary>,

    /// Files that were created, changed or deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_modified: Option<Vec<String>>,
    /// MCP tools that were used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_tools_used: Option<Vec<String>>,

    /// The path of the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// Number of messages in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_count: Option<u32>,
    /// Minutes from the first to the last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_minutes: Option<u32>,
}
