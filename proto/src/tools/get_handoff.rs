//! `get_handoff`: returns what the next agent in a project needs to know about the last sessions.

use serde::{Deserialize, Serialize};

use super::SessionRow;

/// The name of the tool.
pub const NAME: &str = "get_handoff";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetHandoffArguments {
    /// A directory in the project, its remote, name or namespace; by default your project.
    pub project: Option<String>,
    /// Maximum number of last sessions.
    pub sessions: usize,
    /// Maximum length of the text, in characters.
    pub max_chars: usize,
}

impl Default for GetHandoffArguments {
    fn default() -> GetHandoffArguments {
        GetHandoffArguments { project: None, sessions: 5, max_chars: 4_000 }
    }
}

/// The answer of the tool. Every list begins with the newest item.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GetHandoffAnswer {
    /// A message for people, for example about sessions that were indexed for this request or are
    /// pending.
    pub message: String,
    /// The project's directory; empty when it is unknown.
    pub project: String,
    /// The project's namespace.
    pub project_namespace: String,
    /// The following members as Markdown, the most important first, and the open work of colleagues
    /// if the setting `team_handoff` is true; empty when there is nothing to report.
    pub text: String,
    /// The sessions that the handoff is about.
    pub sessions: Vec<HandoffSession>,
    /// The permanent wishes of the user.
    pub preferences: Vec<String>,
    /// The state of the repository: branch, commit, pull request, pushed or not.
    pub repository: Vec<HandoffItem>,
    /// Steps that are left. As far as known, no later session has done them.
    pub open_ends: Vec<HandoffItem>,
    /// Test suites whose last run failed.
    pub failing_tests: Vec<FailingSuite>,
    /// Decisions, with the reason where it is known.
    pub decisions: Vec<HandoffItem>,
    /// Errors that were fixed.
    pub errors: Vec<HandoffItem>,
    /// The last value of each setting that was changed.
    pub settings: Vec<HandoffItem>,
    /// Files that were changed.
    pub files: Vec<String>,
    /// Other sessions that are running in the project.
    pub ongoing: Vec<OngoingSession>,
    /// Number of sessions that are still being indexed, or whose summaries a model still writes.
    pub pending: usize,
}

/// A session that is running in the project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct OngoingSession {
    /// The session.
    #[serde(flatten)]
    pub session: SessionRow,
    /// What the user asked first, and what the user asked last.
    pub asked: Vec<String>,
    /// The files that the session changed, the latest first.
    pub changed_files: Vec<String>,
}

impl OngoingSession {
    /// Describes the session on one line: its agent, its times, what was asked, and the changed
    /// files.
    pub fn description(&self) -> String {
        let session = &self.session;
        let minute = |text: &str| text.chars().take(16).collect::<String>().replace('T', " ");
        let mut text = format!("{} `{}`", session.agent, session.shown_id());
        if !session.started_at.is_empty() {
            text.push_str(&format!(", since {} UTC", minute(&session.started_at)));
        }
        let last = minute(&session.last_activity);
        let last = last.get(11..).filter(|last| !last.is_empty());
        text.extend(last.map(|last| format!(", last active {last}")));
        for (at, asked) in self.asked.iter().enumerate() {
            text.push_str(if at == 0 { ", asked " } else { ", and last " });
            text.push_str(&format!("“{asked}”"));
        }
        if !self.changed_files.is_empty() {
            let files: Vec<String> =
                self.changed_files.iter().map(|file| format!("`{file}`")).collect();
            text.push_str(&format!("; changes {}", files.join(", ")));
        }
        text
    }
}

/// An earlier session in a handoff.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HandoffSession {
    /// The agent's id of the session.
    pub session_id: String,
    /// The title of the session.
    pub name: String,
    /// The objective of the session.
    pub objective: String,
    /// `completed`, `blocked`, `in_progress` or `abandoned`.
    pub outcome: String,
    /// The reason for this outcome; may be empty.
    pub reason: String,
    /// The last words of the agent; may be empty.
    pub last_words: String,
    /// When the session ended, RFC 3339.
    pub ended_at: String,
    /// The Git branches of the session.
    pub branches: Vec<String>,
    /// The tasks that were completed.
    pub done: Vec<String>,
}

/// An item of a handoff, and the session from which it comes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HandoffItem {
    /// The text of the item.
    pub text: String,
    /// The id of the session.
    pub session_id: String,
}

/// A test suite whose last run failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FailingSuite {
    /// The test framework, such as "pytest".
    pub framework: String,
    /// Number of tests that failed.
    pub failed: u32,
    /// Number of tests that ran.
    pub total: u32,
    /// Names of some tests that failed.
    pub names: Vec<String>,
    /// The id of the session.
    pub session_id: String,
}
