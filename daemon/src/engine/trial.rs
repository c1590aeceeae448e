//! Reads a file as a transcript without storing anything, to show what the engine would read.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    path::Path,
};

use crate::{
    capture::{
        format::{Format, Identity},
        salvage,
        tail::{FileCursor, Tail, TailLine},
    },
    clock,
    engine::{
        files,
        parse_context::ParseContext,
        pipeline::{LineContext, LinePosition, SourceState},
        redaction,
    },
    model::{Evidence, Message, Role, transcript::Origin},
    store::Tally,
};

/// Maximum number of messages that are returned from the start, and from the end, of a file.
const MAX_SHOWN: usize = 3;

/// The result of reading a file.
pub struct FileTrial {
    pub identity: Identity,
    pub tally: Tally,
    pub evidence: Evidence,
    /// The number of messages by role.
    pub messages: BTreeMap<Role, usize>,
    pub first: Vec<Message>,
    /// The last messages, without the messages in `first`.
    pub last: VecDeque<Message>,
}

/// Reads the file at `path` with `format`; `None` if the file is not a transcript of the format's
/// agent.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub fn read(
    path: &Path,
    format: &dyn Format,
    parse_context: &ParseContext,
) -> io::Result<Option<FileTrial>> {
    let Some(identity) = files::identity(path, format)? else { return Ok(None) };
    let (mut state, mut tally) = (SourceState::new(0), Tally::default());
    let mut trial = FileTrial {
        identity,
        tally: Tally::default(),
        evidence: Evidence::default(),
        messages: BTreeMap::new(),
        first: Vec::new(),
        last: VecDeque::new(),
    };
    state.known_secrets = redaction::known::empty();
    state.begin(format, path);
    let (mut tail, _) = Tail::open(path, &FileCursor::default())?;
    let context = LineContext { format, parse_context, now: clock::now() };
    let mut messages = Vec::new();
    let mut at = 0;
    while let Some(line) = tail.next_line(&salvage::is_whole)? {
        state.cursor.line += 1;
        let origin = Origin { source: 0, line: state.cursor.line };
        match line {
            TailLine::Whole(line) => {
                let position = LinePosition { origin, at };
                state.take_line(context, line, position, &mut tally, &mut messages);
            }
            TailLine::TooLong(bytes) => {
                tally.broken += 1;
                tally.broken_bytes += bytes;
            }
        }
        messages.drain(..).for_each(|message| trial.add(message));
        state.fork_keys.clear();
        at = tail.cursor().offset;
    }
    Ok(Some(FileTrial { tally, evidence: state.evidence().clone(), ..trial }))
}

impl FileTrial {
    fn add(&mut self, message: Message) {
        *self.messages.entry(message.role).or_default() += 1;
        if self.first.len() < MAX_SHOWN {
            self.first.push(message);
            return;
        }
        self.last.push_back(message);
        if self.last.len() > MAX_SHOWN {
            self.last.pop_front();
        }
    }
}
