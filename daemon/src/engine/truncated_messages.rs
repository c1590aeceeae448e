//! Messages that are kept in short although they say much, and where all of it stands.
//!
//! What a summary is to be kept of is kept as one line while a transcript is read, and hashed as
//! that line: a summary that comes later changes no content hash. Where the whole of it stands is
//! noted here, the messages that say most first to stay, and it is read again when a model is
//! asked about it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    capture::{
        filter::{PendingCalls, words},
        format::{Format, Memory},
        salvage, tail,
    },
    engine::pipeline::{self, OUTPUT, ParseContext},
    model::{
        Role,
        transcript::{Item, Outcome},
    },
    store::{SourceKey, Tally},
};

/// A message that is kept in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TruncatedMessage {
    /// Its number in its file.
    pub seq: u32,
    /// The byte of the file that its line begins with.
    at: u64,
    /// For a tool's result, the call.
    call: Option<String>,
    /// A checksum over what is kept of it.
    kept: u64,
    rank: Rank,
    /// How long it is.
    bytes: u64,
}

/// The messages of one file that are kept in short.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TruncatedMessages(Vec<TruncatedMessage>);

/// A long message in one of the files of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedMessage {
    /// The file.
    pub source: SourceKey,
    /// Where it lies.
    pub path: String,
    /// The message.
    pub long: TruncatedMessage,
}

/// What an item says beside others of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Relevance {
    /// As much as they do.
    Usual,
    /// Little: it was only read or searched for, and can be so again.
    Little,
}

/// What is worth a summary, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Rank {
    Read,
    Output,
    Agent,
    Failure,
    User,
}

/// So many of a file are noted; those that are worth less give way.
const MOST: usize = 64;

impl TruncatedMessage {
    /// Notes `item`, message number `seq` in the line at byte `at`, of which `text` is kept.
    pub(in crate::engine) fn new(
        (seq, at): (u32, u64),
        (item, worth): (&Item<'_>, Relevance),
        (role, text): (Role, &str),
    ) -> TruncatedMessage {
        let (call, rank, bytes) = match item {
            Item::Result(result) => {
                let rank = match (result.outcome, worth) {
                    (Outcome::Failed(_), _) => Rank::Failure,
                    (_, Relevance::Usual) => Rank::Output,
                    (_, Relevance::Little) => Rank::Read,
                };
                (Some(result.call.to_string()), rank, result.content.raw_len())
            }
            item => {
                let rank = if role == Role::User { Rank::User } else { Rank::Agent };
                (None, rank, words(item).map_or(0, |(_, text)| text.len()))
            }
        };
        TruncatedMessage { seq, at, call, kept: checksum(text), rank, bytes: bytes as u64 }
    }

    /// The more it is, the sooner a model is asked; of two that are alike, about the earlier one.
    pub fn worth(&self) -> impl Ord + use<> {
        (self.rank, self.bytes, std::cmp::Reverse(self.seq))
    }

    /// Whether `text` is what was kept of it.
    pub fn is(&self, text: &str) -> bool {
        self.kept == checksum(text)
    }
}

impl TruncatedMessages {
    pub(in crate::engine) fn note(&mut self, long: TruncatedMessage) {
        self.0.push(long);
        if self.0.len() > MOST {
            let least = (0..self.0.len()).min_by_key(|at| self.0[*at].worth());
            least.map(|at| self.0.remove(at));
        }
    }

    /// All of them, in their order in the file.
    pub fn iter(&self) -> impl Iterator<Item = &TruncatedMessage> {
        self.0.iter()
    }
}

impl LocatedMessage {
    /// The whole of it, without secrets; `None` when it does not stand in the file any more.
    pub fn content(&self, format: &dyn Format, parse_context: &ParseContext) -> Option<String> {
        let line = tail::line_at(Path::new(&self.path), self.long.at);
        let line = line.inspect_err(|error| tracing::debug!(%error, "cannot be read again"));
        let line = line.ok().flatten()?;
        let mut content = None;
        let (mut memory, mut tally) = (Memory::default(), Tally::default());
        salvage::read_line(format, &line, &mut memory, &mut tally, &mut |mut entry| {
            if content.is_none() {
                content = self.content_of(&mut entry.item, parse_context);
            }
        });
        content
    }

    fn content_of(&self, item: &mut Item<'_>, parse_context: &ParseContext) -> Option<String> {
        match item {
            Item::Result(result) if self.long.call.as_deref() == Some(&*result.call) => {
                let output = result.content.decode(OUTPUT);
                Some(parse_context.redactor.redact(&output).text.into_owned())
            }
            Item::Result(_) | Item::Call(_) => None,
            item if self.long.call.is_none() => {
                pipeline::redact(item, &parse_context.redactor);
                let kept = parse_context.filter.keep(item, &mut PendingCalls::default())?;
                let (_, text) = words(item).filter(|_| self.long.is(&kept.text))?;
                Some(text.trim().to_owned())
            }
            _ => None,
        }
    }
}

fn checksum(text: &str) -> u64 {
    let hash = Sha256::digest(text);
    u64::from_be_bytes(*hash.first_chunk().expect("it is longer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(seq: u32, rank: Rank, bytes: u64) -> TruncatedMessage {
        TruncatedMessage { seq, at: 0, call: None, kept: 0, rank, bytes }
    }

    #[test]
    fn those_that_say_most_stay() {
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
