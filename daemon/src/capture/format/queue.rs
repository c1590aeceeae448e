//! Prompts that the user typed while the agent worked.
//!
//! The transcript says when one was queued and when one left the queue. One that left to begin a
//! turn follows as a record of its own. One that was handed to the agent within a turn does so in
//! newer versions only: in older ones the queue alone knows what the user said.

use serde::{Deserialize, Serialize};

/// Prompts that wait, were handed over without a record, or were read from the queue.
const PROMPTS: usize = 16;
/// Bytes kept of a waiting prompt.
const PROMPT: usize = 4_096;

/// The prompts that wait for the agent, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PromptQueue {
    /// What waits; empty for what is no prompt.
    waiting: Vec<String>,
    /// Left the queue within a turn; a record of it may follow.
    handed_over: Vec<String>,
    /// Was read from the queue, since no record of it followed.
    read: Vec<String>,
    /// Whether the last one to leave the queue began a turn.
    begins_turn: bool,
}

impl PromptQueue {
    /// Something was queued; `typed` says whether the user typed it.
    pub(crate) fn enqueue(&mut self, text: &str, typed: bool) {
        push(&mut self.waiting, if typed { begin(text) } else { "" });
    }

    /// The oldest left the queue, and its record follows.
    pub(crate) fn dequeue(&mut self) {
        self.take();
        self.begins_turn = true;
    }

    /// The oldest was handed to the agent within its turn.
    pub(crate) fn hand_over(&mut self) {
        let text = self.take();
        if !text.is_empty() {
            push(&mut self.handed_over, &text);
        }
    }

    /// The user took everything back.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// A record of a prompt came; says whether it was read from the queue before.
    pub(crate) fn delivered(&mut self, text: &str, in_turn: bool) -> bool {
        let text = begin(text.trim());
        self.handed_over.retain(|known| known.trim() != text);
        let was_queued = std::mem::take(&mut self.begins_turn) || in_turn;
        let known = self.read.iter().position(|known| known.trim() == text);
        known.filter(|_| was_queued).map(|at| self.read.remove(at)).is_some()
    }

    /// The prompts that were handed over and have no record: the agent speaks again.
    pub(crate) fn without_record(&mut self) -> Vec<String> {
        let prompts = std::mem::take(&mut self.handed_over);
        prompts.iter().for_each(|text| push(&mut self.read, text));
        prompts
    }

    fn take(&mut self) -> String {
        if self.waiting.is_empty() { String::new() } else { self.waiting.remove(0) }
    }
}

fn begin(text: &str) -> &str {
    &text[..text.floor_char_boundary(PROMPT)]
}

fn push(list: &mut Vec<String>, text: &str) {
    list.push(text.to_owned());
    if list.len() > PROMPTS {
        list.remove(0);
    }
}
