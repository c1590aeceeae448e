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
