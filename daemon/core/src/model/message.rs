//! A stored message: filtered, redacted and searchable.

use std::fmt;

use crate::model::{
    time::Timestamp,
    transcript::{Origin, RecordUuid},
};

/// One message as it is stored, hashed and searched.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The number of the message in its file, from 0.
    pub seq: u32,
    /// The position in the transcript.
    pub origin: Origin,
    /// The id of the message's record. The record has the same id in forks and copies.
    pub uuid: Option<RecordUuid>,
    /// The speaker.
    pub role: Role,
    /// The time, if the transcript states it.
    pub at: Option<Timestamp>,
    /// The text, filtered and redacted.
    pub text: String,
    /// The tool's name, for a call or a result.
    pub tool: Option<String>,
    /// The files that the message concerns, by their paths in the transcript.
    pub files: Vec<String>,
    /// The branch that was checked out at that time.
    pub branch: Option<String>,
}

/// Separates a call from its outcome in the first line of a result.
pub const BEFORE_OUTCOME: &str = " → ";
/// Marks a removed line in the text of a call that changes files.
pub const REMOVED_LINE: char = '-';
/// Marks an added line in the text of a call that changes files.
pub const ADDED_LINE: char = '+';

impl Message {
    /// Whether the message is a call that changed lines of files, by a tool of any name. After its
    /// first line, the text of a call that changes files has only removed and added lines.
    pub fn edits_files(&self) -> bool {
        let mut lines = self.text.lines();
        let is_call = lines.next().is_some_and(|line| !line.contains(BEFORE_OUTCOME));
        let mut changes = lines.peekable();
        self.role == Role::Tool
            && !self.files.is_empty()
            && is_call
            && changes.peek().is_some()
            && changes.all(|line| line.starts_with([REMOVED_LINE, ADDED_LINE]))
    }
}

/// The speaker of a [`Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    User,
    /// The agent's own words.
    Agent,
    /// A tool: its call or its result.
    Tool,
    /// A summary of the session by the agent.
    Recap,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 4] = [Role::User, Role::Agent, Role::Tool, Role::Recap];

    /// Returns the name in filters, in the content hash and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Agent => "assistant",
            Role::Tool => "tool",
            Role::Recap => "recap",
        }
    }

    /// Parses a name as [`Role::as_str`] returns it, or `agent`.
    pub fn parse(word: &str) -> Option<Role> {
        if word == "agent" {
            return Some(Role::Agent);
        }
        Role::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_change_lines_of_files_are_edits() {
        let edits = |role: Role, text: &str, file: Option<&str>| {
            let message = Message {
                seq: 0,
                origin: Origin::default(),
                uuid: None,
                role,
                at: None,
                text: text.to_owned(),
                tool: text.split_once(':').map(|(tool, _)| tool.to_owned()),
                files: file.map(str::to_owned).into_iter().collect(),
                branch: None,
            };
            message.edits_files()
        };
        let file = Some("src/a.rs");
        for tool in ["Edit", "Write", "apply_patch", "exec_command", "shell", "my_tool"] {
            let text = format!("{tool}: src/a.rs (+1 -1)\n-fn a() {{}}\n+fn b() {{}}");
            assert!(edits(Role::Tool, &text, file), "{tool}");
        }
        for (text, file) in [
            ("github_create_issue: title=a\n- fn a()", None),
            ("exec_command: cat <<'EOF'\n- fn a()", None),
            ("mcp__files__write_file: path=a\n- fn a()", None),
            ("Edit: src/a.rs (deleted)", file),
            ("Edit: src/a.rs (+1 -1) → failed: String to replace not found: fn a()", file),
            ("Edit: src/a.rs (+1 -1) → ok\n-fn a() {}\n+fn b() {}", file),
            ("Read: src/a.yml → ok\n- one\n- two", file),
        ] {
            assert!(!edits(Role::Tool, text, file), "{text}");
        }
        assert!(!edits(Role::User, "src/a.rs\n- one", file));
    }
}
