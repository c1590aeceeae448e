//! The content of a transcript, independent of the agent: one [`Entry`] at a time, in file order.
//!
//! A format converts its agent's records into these types. All later stages (filter, hash,
//! evidence, activity) use only these types. The format also interprets the agent's tool names: a
//! [`Call`] has the [`Action`] that it performs.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::action::{
    Action, ChangeKind, FileChange, Replacement, Task, TaskState, UserQuestion,
};
use crate::model::time::Timestamp;

/// A position in a session: a file and a line.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Origin {
    /// The number of the file: 0 for the session's own file, higher numbers for the files of its
    /// sub-agents and for further files of the session itself, in the order in which the files were
    /// found.
    pub source: u32,
    /// The line, counted from 1.
    pub line: u64,
}

impl Origin {
    /// Whether this position comes after `other` in the same file.
    pub fn follows(self, other: Origin) -> bool {
        self.source == other.source && self.line > other.line
    }

    /// Whether an event at this position and the time `at` came after an event at `other` and
    /// `other_at`. In the same file, compares the lines; otherwise, compares the times, and returns
    /// `false` if a time is missing.
    pub fn is_after(
        self,
        at: Option<Timestamp>,
        other: Origin,
        other_at: Option<Timestamp>,
    ) -> bool {
        if self.source == other.source {
            return self.line > other.line;
        }
        at.zip(other_at).is_some_and(|(at, other_at)| at > other_at)
    }
}

/// A message's own id in the transcript. It is the same in forks and copies of a session.
pub type RecordUuid = [u8; 16];

/// One item of a transcript.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The time that the agent recorded. Later entries may have earlier times.
    pub at: Option<Timestamp>,
    /// The id of the record that contains the entry.
    pub uuid: Option<RecordUuid>,
    /// The sub-agent of the entry, if the session's own file contains entries of sub-agents. Such
    /// an entry is evidence about the session, but not part of its conversation.
    pub sub_agent: Option<Cow<'a, str>>,
    /// The id of the session's call that started the sub-agent, if the record contains it.
    pub caller: Option<Cow<'a, str>>,
    /// The content.
    pub item: Item<'a>,
}

/// The kinds of content.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// Text that the user typed (or queued).
    Prompt(Cow<'a, str>),
    /// A command of the user for the agent program itself, such as `/init`. The name `!` means a
    /// shell command.
    Command {
        /// The command's name, with the leading mark.
        name: Cow<'a, str>,
        /// The arguments that the user typed; may be empty.
        args: Cow<'a, str>,
    },
    /// The task that an agent gave to a sub-agent.
    Instruction(Cow<'a, str>),
    /// Text that the agent wrote. Pieces of one message have the same `message`.
    Reply {
        /// The agent's id of the whole message, when it has one.
        message: Option<Cow<'a, str>>,
        /// This piece of the message's text.
        text: Cow<'a, str>,
    },
    /// The agent used a tool.
    Call(Call<'a>),
    /// The result of a call, in the record of the call or in a later one.
    Result(ToolResult<'a>),
    /// The key of an added task.
    TaskKey {
        /// The [`Call::id`] of the call that added the task.
        call: Cow<'a, str>,
        key: Cow<'a, str>,
    },
    /// The user answered one question of a call.
    Answer {
        /// The [`Call::id`] of the call with the question.
        call: Cow<'a, str>,
        question: Cow<'a, str>,
        /// The choice.
        answer: Cow<'a, str>,
    },
    /// A summary of the session that the agent itself wrote.
    Recap {
        /// The occasion on which it was written.
        kind: RecapKind,
        text: Cow<'a, str>,
    },
    /// A name for the session.
    Title {
        /// The author.
        by: TitleSource,
        /// The name.
        text: Cow<'a, str>,
    },
    /// The agent's context was compacted here, and no longer contains the entries before.
    Boundary,
    /// The user stopped the agent in the middle of its work.
    Interrupted,
    /// The environment of the session changed. A value that is `None` did not change.
    Context(SessionContext<'a>),
    /// The tokens that one message of the agent used so far. The last value for a message is final.
    Usage {
        /// The agent's id of the message.
        message: Option<Cow<'a, str>>,
        tokens: Tokens,
    },
    /// The session produced or concerns a pull request.
    PullRequest {
        /// The address.
        url: Cow<'a, str>,
        number: Option<u64>,
    },
    /// The output of a shell command that the user ran.
    ShellOutput(Cow<'a, str>),
    /// A background task, of a sub-agent or a command, has ended.
    TaskEnded(TaskEnded<'a>),
    /// The agent recorded that the session is over.
    SessionEnded,
    /// The service that runs the agent's model failed.
    ServiceError(Cow<'a, str>),
}

/// The end of a task in the background.
#[derive(Clone, Debug)]
pub struct TaskEnded<'a> {
    /// The task's id.
    pub task: Cow<'a, str>,
    /// The [`Call::id`] of the call that began the task, when it is known.
    pub call: Option<Cow<'a, str>>,
    /// How the task ended.
    pub outcome: Outcome,
    /// The report or output; may be empty.
    pub text: Cow<'a, str>,
}

/// Use of a tool.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The id, which the result repeats.
    pub id: Cow<'a, str>,
    /// The agent's id of the message that this call is part of.
    pub message: Option<Cow<'a, str>>,
    /// The agent's name of the tool, such as `Bash` or `mcp__linear__get_issue`.
    pub tool: Cow<'a, str>,
    /// The arguments. Long strings are cut.
    pub input: Value,
    /// The action of the call, independent of the agent.
    pub action: Action,
}

/// The result of a tool call.
#[derive(Clone, Debug)]
pub struct ToolResult<'a> {
    /// The [`Call::id`] of the call.
    pub call: Cow<'a, str>,
    /// How the call ended.
    pub outcome: Outcome,
    /// The output, decoded only on request.
    pub content: LazyText<'a>,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The call succeeded.
    Succeeded,
    /// The call failed. Contains the exit code of a command, if it is known.
    Failed(Option<i32>),
    /// The user did not allow the call.
    Rejected,
    /// The call was interrupted.
    Interrupted,
}

impl Outcome {
    /// Whether the call succeeded.
    pub fn succeeded(self) -> bool {
        self == Outcome::Succeeded
    }
}

/// Text that is decoded only when it is needed, and only as far as it is needed, because most bytes
/// of a transcript are tool output that is not stored.
#[derive(Clone, Copy)]
pub struct LazyText<'a> {
    raw: &'a str,
    decode: fn(&'a str, usize) -> Cow<'a, str>,
}

impl<'a> LazyText<'a> {
    /// Creates a text whose raw form is `raw`. `decode` converts the raw form to text, and cuts the
    /// text to about the given number of bytes.
    pub fn new(raw: &'a str, decode: fn(&'a str, usize) -> Cow<'a, str>) -> LazyText<'a> {
        LazyText { raw, decode }
    }

    /// Wraps text that is already decoded.
    pub fn plain(text: &'a str) -> LazyText<'a> {
        LazyText { raw: text, decode: without_middle }
    }

    /// Returns the text. A longer text is cut to about `limit` bytes, usually without its middle.
    pub fn decode(&self, limit: usize) -> Cow<'a, str> {
        (self.decode)(self.raw, limit)
    }

    /// Returns the length of the raw form, in bytes: an upper bound of the text's length.
    pub fn raw_len(&self) -> usize {
        self.raw.len()
    }
}

impl std::fmt::Debug for LazyText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LazyText({} bytes)", self.raw.len())
    }
}

/// The occasions at which an agent summarises its own session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecapKind {
    /// The context was compacted; the text is a full summary.
    Compaction,
    /// A recap for the user after an absence.
    Away,
}

/// The beginning of the text that holds the summary of a compaction. In transcripts of early
/// versions of Claude Code, such as 0.2.105, nothing else distinguishes the text from a prompt of
/// the user.
pub const COMPACTION_START: &str = "This session is being continued from a previous conversation";

/// The author of a session's title. Later variants take precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleSource {
    /// The agent, as a one-line summary.
    Summary,
    /// A model, without a request of the user.
    Model,
    User,
}

/// The environment of the session.
#[derive(Clone, Debug, Default)]
pub struct SessionContext<'a> {
    /// The working directory.
    pub cwd: Option<Cow<'a, str>>,
    /// The branch that is checked out in the working directory.
    pub branch: Option<Cow<'a, str>>,
    /// The agent's version.
    pub version: Option<Cow<'a, str>>,
    /// The model that answers.
    pub model: Option<Cow<'a, str>>,
}

/// Tokens as the agent's provider counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Input tokens that were not in the provider's cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens from the provider's cache.
    pub cache_read: u64,
    /// Input tokens that were written to the provider's cache.
    pub cache_write: u64,
}

impl Tokens {
    /// Adds `other`, saturating.
    pub fn add(&mut self, other: Tokens) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}

/// Returns `text`, with its middle replaced by a mark if it has more than `limit` bytes. The mark
/// contains the number of omitted bytes. The kept end is longer than the kept beginning, because a
/// tool reports its result at the end.
pub fn without_middle(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(limit / 3);
    let tail = text.ceil_char_boundary(text.len() - (limit - head));
    let left_out = tail - head;
    Cow::Owned(format!("{}\n[... {left_out} bytes left out ...]\n{}", &text[..head], &text[tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_in_different_files_are_compared_by_time() {
        let at = |second: i64| Some(Timestamp::from_seconds(second));
        let origin = |source, line| Origin { source, line };
        for ((one, one_at), (other, other_at), wanted) in [
            ((origin(0, 5), at(1)), (origin(0, 4), at(9)), true),
            ((origin(0, 4), None), (origin(0, 4), None), false),
            ((origin(1, 5), at(1)), (origin(0, 4), at(9)), false),
            ((origin(0, 2), at(10)), (origin(1, 4), at(9)), true),
            ((origin(1, 5), None), (origin(0, 4), at(9)), false),
        ] {
            assert_eq!(one.is_after(one_at, other, other_at), wanted, "{one:?} {other:?}");
        }
    }

    #[test]
    fn short_text_is_kept_whole() {
        assert_eq!(without_middle("héllo", 6), "héllo");
    }

    #[test]
    fn long_text_keeps_both_ends_and_shows_the_omitted_length() {
        let text = "a".repeat(50) + &"é".repeat(50);
        let cut = without_middle(&text, 30);
        assert!(cut.starts_with("aaaaaaaaaa\n[... 120 bytes left out ...]\né"), "{cut}");
        assert!(cut.ends_with("éé"));
    }
}
