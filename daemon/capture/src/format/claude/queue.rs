//! Tracks prompts that the user typed while the agent worked.
//!
//! The transcript records when a prompt was added to the queue and when a prompt left the queue. A
//! prompt that starts a turn is followed by its own record. A prompt that is delivered within a
//! turn has a record only in newer versions; in older versions, the text of the prompt is only in
//! the queue.

use serde::{Deserialize, Serialize};

use super::{content_text, user_text::is_typed};
use crate::{
    format::{Memory, RecordVerdict, json::Object, limits::TEXT_KEPT},
    model::transcript::without_middle,
};

/// Maximum number of prompts in each list of [`PromptQueue`]; the oldest is evicted.
const PROMPTS: usize = 16;
/// Maximum length, in bytes, of a stored prompt. The middle of a longer prompt is left out.
const PROMPT: usize = 16 * 1024;

/// The state that the format keeps for a file.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct ClaudeMemory {
    queue: PromptQueue,
    /// The id of the last record of a warm-up; see [`warm_up`].
    warm_up: String,
    /// Whether the file is the session's own file, not the file of a sub-agent. `false` if an older
    /// version began to read the file.
    is_session_file: bool,
}

pub(super) fn set_session_file(memory: &mut Memory, is_session_file: bool) {
    memory.own::<ClaudeMemory>().is_session_file = is_session_file;
}

pub(super) fn is_session_file(memory: &mut Memory) -> bool {
    memory.own::<ClaudeMemory>().is_session_file
}

/// Returns the id of the last record of a warm-up: a request by which Claude Code only fills the
/// cache of the model's service. The agent that gets this request does no work. The records of
/// other agents may be between the records of a warm-up.
pub(super) fn warm_up(memory: &mut Memory) -> &mut String {
    &mut memory.own::<ClaudeMemory>().warm_up
}

/// Whether a record follows the last record of a warm-up.
pub(super) fn follows_warm_up(record: &Object<'_>, memory: &mut Memory) -> bool {
    let last = warm_up(memory);
    let follows = !last.is_empty() && record.string("parentUuid").as_deref() == Some(last.as_str());
    if follows {
        *last = record.string("uuid").unwrap_or_default().into_owned();
    }
    follows
}

/// Returns the queue of the file's session.
pub(super) fn of(memory: &mut Memory) -> &mut PromptQueue {
    &mut memory.own::<ClaudeMemory>().queue
}

/// Reads a change of the prompt queue, without emitting anything. A prompt is emitted with its own
/// record or, if no such record follows, before the agent's next reply.
pub(super) fn operation(record: &Object<'_>, memory: &mut Memory) -> RecordVerdict {
    match record.string("operation").as_deref() {
        Some("enqueue") => {
            let text = content_text(record.raw("content").unwrap_or("\"\""), TEXT_KEPT);
            of(memory).enqueue(&text, is_typed(&text));
        }
        Some("dequeue") => of(memory).dequeue(),
        Some("remove") => of(memory).mark_delivered_in_turn(),
        _ => of(memory).clear(),
    }
    RecordVerdict::Skipped("queue-operation".to_owned())
}

/// The prompts that the user typed while the agent worked. In each list, the oldest is first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PromptQueue {
    /// The waiting texts; empty for an entry that is not a prompt.
    waiting: Vec<String>,
    /// The prompts that left the queue within a turn; a record may follow.
    delivered_in_turn: Vec<String>,
    /// The prompts that were emitted from the queue because no record followed.
    read: Vec<String>,
    /// Whether a prompt left the queue to start a turn, and its record has not been read yet.
    begins_turn: bool,
}

impl PromptQueue {
    /// Adds an entry. `typed` states whether the user typed the entry.
    pub(super) fn enqueue(&mut self, text: &str, typed: bool) {
        let kept = without_middle(text.trim(), PROMPT);
        push(&mut self.waiting, if typed { &kept } else { "" });
    }

    /// Removes the next entry, whose record follows.
    pub(super) fn dequeue(&mut self) {
        self.take();
        self.begins_turn = true;
    }

    /// Moves the next entry to the prompts that were delivered within a turn.
    pub(super) fn mark_delivered_in_turn(&mut self) {
        let text = self.take();
        if !text.is_empty() {
            push(&mut self.delivered_in_turn, &text);
        }
    }

    /// Clears the queue, because the user withdrew all entries.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Handles the record of a prompt; returns whether the prompt was already read from the queue.
    pub(super) fn delivered(&mut self, text: &str, in_turn: bool) -> bool {
        let text = without_middle(text.trim(), PROMPT);
        self.delivered_in_turn.retain(|known| *known != text);
        let was_queued = std::mem::take(&mut self.begins_turn) || in_turn;
        let known = self.read.iter().position(|known| *known == text);
        known.filter(|_| was_queued).map(|at| self.read.remove(at)).is_some()
    }

    /// Returns the delivered prompts without a record. Must be called when the agent writes again.
    pub(super) fn without_record(&mut self) -> Vec<String> {
        let prompts = std::mem::take(&mut self.delivered_in_turn);
        prompts.iter().for_each(|text| push(&mut self.read, text));
        prompts
    }

    /// Removes the next entry. The user's prompts leave the queue before notices of the program.
    fn take(&mut self) -> String {
        let typed = self.waiting.iter().position(|text| !text.is_empty());
        if self.waiting.is_empty() {
            String::new()
        } else {
            self.waiting.remove(typed.unwrap_or(0))
        }
    }
}

fn push(list: &mut Vec<String>, text: &str) {
    list.push(text.to_owned());
    if list.len() > PROMPTS {
        list.remove(0);
    }
}
