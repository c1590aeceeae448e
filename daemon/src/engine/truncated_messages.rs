//! Records the positions of truncated messages in their transcript.
//!
//! If the configuration requires a summary of a message, only a part of the message is stored and
//! hashed, so that a later summary does not change the content hash. This module records the
//! positions of the most relevant of these messages, so that they can be read again for a model.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    capture::{
        filter::{PendingCalls, words},
        format::{Format, Memory},
        salvage, tail,
    },
    engine::parse_context::{self, OUTPUT, ParseContext},
    model::{
        Role,
        transcript::{Item, Outcome},
    },
    redact::KnownSecrets,
    store::{SourceKey, Tally},
};

/// A message of which only a part is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TruncatedMessage {
    /// The number of the message in its file.
    pub seq: u32,
    /// The offset of the message's line in the file.
    at: u64,
    /// The id of the call, for a tool's result.
    call: Option<String>,
    /// A checksum of the kept text.
    kept: u64,
    rank: Rank,
    /// The length, in bytes, of the whole message. For the result of a tool: an upper bound.
    bytes: u64,
}

/// The truncated messages of one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TruncatedMessages(Vec<TruncatedMessage>);

/// A truncated message in one of the files of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedMessage {
    pub source: SourceKey,
    pub path: String,
    pub message: TruncatedMessage,
}

/// The relevance of a tool's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Relevance {
    Normal,
    /// The output of a read or a search, which can be repeated.
    Low,
}

/// The kinds of messages, the least relevant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Rank {
    Read,
    Output,
    Agent,
    Failure,
    User,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct MessagePosition {
    /// The number of the message in its file.
    pub(in crate::engine) seq: u32,
    /// The offset of the message's line in the file.
    pub(in crate::engine) at: u64,
}

/// The stored part of a message.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct KeptText<'t> {
    pub(in crate::engine) role: Role,
    pub(in crate::engine) text: &'t str,
}

/// Maximum number of messages per file; the least relevant are dropped.
const MAX_MESSAGES: usize = 64;

impl TruncatedMessage {
    /// Creates the record of `item`. `kept` is the stored part of the item.
    pub(in crate::engine) fn new(
        position: MessagePosition,
        item: &Item<'_>,
        relevance: Relevance,
        kept: KeptText<'_>,
    ) -> TruncatedMessage {
        let (call, rank, bytes) = match item {
            Item::Result(result) => {
                let rank = match (result.outcome, relevance) {
                    (Outcome::Failed(_), _) => Rank::Failure,
                    (_, Relevance::Normal) => Rank::Output,
                    (_, Relevance::Low) => Rank::Read,
                };
                (Some(result.call.to_string()), rank, result.content.raw_len())
            }
            item => {
                let rank = if kept.role == Role::User { Rank::User } else { Rank::Agent };
                (None, rank, words(item).map_or(0, |(_, text)| text.len()))
            }
        };
        let MessagePosition { seq, at } = position;
        TruncatedMessage { seq, at, call, kept: checksum(kept.text), rank, bytes: bytes as u64 }
    }

    /// Returns a key by which messages are sorted, the most relevant last. Of equally relevant
    /// messages, the earlier one has the higher key.
    pub fn relevance(&self) -> impl Ord + use<> {
        (self.rank, self.bytes, std::cmp::Reverse(self.seq))
    }

    /// Whether `text` is the kept text of this message.
    pub fn matches(&self, text: &str) -> bool {
        self.kept == checksum(text)
    }
}

impl TruncatedMessages {
    pub(in crate::engine) fn note(&mut self, message: TruncatedMessage) {
        self.0.push(message);
        if self.0.len() > MAX_MESSAGES {
            let least = (0..self.0.len()).min_by_key(|at| self.0[*at].relevance());
            least.map(|at| self.0.remove(at));
        }
    }

    /// Returns the messages in their order in the file.
    pub fn iter(&self) -> impl Iterator<Item = &TruncatedMessage> {
        self.0.iter()
    }
}

impl LocatedMessage {
    /// Reads the whole message again, and returns it without secrets. `known` contains the secrets
    /// of its session. Returns `None` if the file cannot be read or no longer contains the message.
    pub fn content(
        &self,
        format: &dyn Format,
        parse_context: &ParseContext,
        known: &mut KnownSecrets,
    ) -> Option<String> {
        let line = match tail::line_at(Path::new(&self.path), self.message.at) {
            Ok(line) => line?,
            Err(error) => {
                tracing::debug!(%error, file = self.path, "failed to read a message again");
                return None;
            }
        };
        let mut content = None;
        let (mut memory, mut tally) = (Memory::default(), Tally::default());
        salvage::read_line(format, &line, &mut memory, &mut tally, &mut |mut entry| {
            if content.is_none() {
                content = self.content_of(&mut entry.item, parse_context, known);
            }
        });
        content
    }

    fn content_of(
        &self,
        item: &mut Item<'_>,
        parse_context: &ParseContext,
        known: &mut KnownSecrets,
    ) -> Option<String> {
        match item {
            Item::Result(result) if self.message.call.as_deref() == Some(&*result.call) => {
                let output = result.content.decode(OUTPUT);
                let redacted = parse_context.redactor.redact_of_session(&output, known);
                Some(redacted.text.into_owned())
            }
            Item::Result(_) | Item::Call(_) => None,
            item if self.message.call.is_none() => {
                parse_context::redact(item, &parse_context.redactor, known);
                let kept = parse_context.filter.keep(item, &mut PendingCalls::default())?;
                let (_, text) = words(item).filter(|_| self.message.matches(&kept.text))?;
                Some(text.trim().to_owned())
            }
            _ => None,
        }
    }
}

fn checksum(text: &str) -> u64 {
    let hash = Sha256::digest(text);
    u64::from_be_bytes(*hash.first_chunk().expect("a digest has 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(seq: u32, rank: Rank, bytes: u64) -> TruncatedMessage {
        TruncatedMessage { seq, at: 0, call: None, kept: 0, rank, bytes }
    }

    #[test]
    fn the_most_relevant_messages_are_kept() {
        let mut truncated = TruncatedMessages::default();
        truncated.note(long(0, Rank::User, 5));
        truncated.note(long(1, Rank::Output, 1_000_000));
        for seq in 2..200 {
            truncated.note(long(seq, Rank::Agent, u64::from(seq)));
        }
        let kept: Vec<u32> = truncated.iter().map(|long| long.seq).collect();
        let wanted: Vec<u32> = [0].into_iter().chain(137..200).collect();
        assert_eq!(kept, wanted);
    }
}
