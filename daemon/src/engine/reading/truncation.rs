//! Opens a file, and decides from where its lines are read.
//!
//! Some agents truncate a transcript after an error. The stored messages are then the only copy, so
//! they are kept, like the messages of a deleted file. The lines that are left in the file may
//! begin with lines that are stored already. These lines are skipped, and the lines after them
//! continue the session.

use std::{collections::HashSet, io, path::Path};

use super::{ReadError, SourceReader, forks, unreadable};
use crate::{
    capture::{
        salvage,
        tail::{FileCursor, Resumed, Tail, TailLine},
    },
    engine::{
        forgotten,
        pipeline::{BeforeTruncation, LineContext, LinePosition, SourceState},
    },
    model::{
        Message, Role, Timestamp,
        transcript::{Origin, RecordUuid},
    },
    store::{Source, Tally},
};

/// From where a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadStart {
    /// From the cursor.
    Continued,
    /// From the start, because the file is to be read again.
    Requested,
    /// From the start, because the file was replaced.
    Replaced,
    /// From the start, because the file was truncated. The stored messages are kept.
    Truncated,
}

impl ReadStart {
    /// Decides from where a file is read, after its content was compared with the cursor of
    /// `state`.
    fn of(resumed: Resumed, state: &SourceState, from_start: bool) -> ReadStart {
        match resumed {
            // If the start of the file has changed and the records have no ids, the lines cannot be
            // compared with the stored messages.
            Resumed::Truncated { has_same_start }
                if state.next_seq > 0 && (has_same_start || state.first_record.is_some()) =>
            {
                ReadStart::Truncated
            }
            Resumed::Truncated { .. } | Resumed::FromStart => ReadStart::Replaced,
            // A truncated file no longer contains all stored messages.
            Resumed::Continued if from_start && state.before_truncation.is_none() => {
                ReadStart::Requested
            }
            Resumed::Continued => ReadStart::Continued,
        }
    }

    /// Adapts the counts of a file before it is read.
    pub(super) fn count(self, tally: &mut Tally) {
        match self {
            ReadStart::Continued => {}
            ReadStart::Requested => {
                *tally = Tally { restarts: tally.restarts, ..Tally::default() };
            }
            ReadStart::Replaced | ReadStart::Truncated => tally.restarts += 1,
        }
    }
}

/// The result of comparing the lines that an agent kept with the stored messages.
struct KeptLines {
    /// The number of the last line whose record is stored; 0 if no record is stored.
    known: u64,
    /// The number after the last stored message. After a crash, this number may be higher than
    /// `next_seq` in the saved state.
    next_seq: u32,
}

/// Sets the state to the position that was reached before the truncation.
fn restore(state: &mut SourceState) {
    let Some(before) = state.before_truncation.take() else { return };
    // The next line numbers were used for the lines that were read after the truncation.
    let line = state.cursor.line;
    (state.cursor, state.shared) = (before.cursor, before.shared);
    state.cursor.line = line;
}

impl SourceReader {
    /// Opens a file for reading. Changes `state` if the file was truncated, in this read or before.
    pub(super) fn open(
        &self,
        context: LineContext<'_>,
        source: &Source,
        state: &mut SourceState,
        from_start: bool,
    ) -> Result<(Tail, ReadStart), ReadError> {
        let path = Path::new(&source.path);
        let open = |cursor: &FileCursor| Tail::open(path, cursor).map_err(unreadable(source));
        let was_truncated = state.before_truncation.is_some();
        if let Some(before) = &state.before_truncation
            && open(&before.cursor)?.1 == Resumed::Continued
        {
            tracing::info!(file = source.path, "the truncated transcript was restored");
            restore(state);
        }
        let (tail, resumed) = open(&state.cursor)?;
        if was_truncated && resumed == Resumed::Continued {
            // The agent may write the lines that it keeps in several steps.
            let rest = self.kept(context, source, state, false)?;
            state.shared = state.shared.max(rest.known);
        }
        let start = ReadStart::of(resumed, state, from_start);
        match start {
            ReadStart::Truncated => {
                tracing::warn!(
                    file = source.path,
                    "the transcript was truncated; its stored messages are kept"
                );
                let before =
                    BeforeTruncation { cursor: state.cursor.clone(), shared: state.shared };
                state.before_truncation.get_or_insert(before);
                state.cursor = state.cursor.restarted();
                let has_same_start = resumed == Resumed::Truncated { has_same_start: true };
                let rest = self.kept(context, source, state, has_same_start)?;
                state.shared = state.shared.max(rest.known);
                state.next_seq = state.next_seq.max(rest.next_seq);
                Ok((open(&state.cursor)?.0, start))
            }
            ReadStart::Replaced => {
                tracing::info!(
                    file = source.path,
                    "the transcript was replaced; reading it from the start"
                );
                Ok((tail, start))
            }
            ReadStart::Requested => Ok((open(&FileCursor::default())?.0, start)),
            ReadStart::Continued => {
                if from_start {
                    // The lines are not read again, so the state must not count as older.
                    state.rules = context.format.rules_version();
                }
                Ok((tail, start))
            }
        }
    }

    /// Compares the lines after the cursor with the stored messages.
    fn kept(
        &self,
        context: LineContext<'_>,
        source: &Source,
        state: &SourceState,
        has_same_start: bool,
    ) -> Result<KeptLines, ReadError> {
        let path = Path::new(&source.path);
        let (mut stored, mut next_seq): (HashSet<RecordUuid>, _) = (HashSet::new(), 0);
        let mut signs = HashSet::new();
        let add = &mut |message: &Message| {
            stored.extend(message.uuid);
            signs.insert(sign(message));
            next_seq = message.seq + 1;
        };
        forgotten::visit_messages_of(self.store.as_ref(), source.key, add)?;
        if has_same_start && (signs.is_empty() || state.first_record.is_none()) {
            let known = known_by_signs(context, source, state, &signs);
            return Ok(KeptLines { known: known.map_err(unreadable(source))?, next_seq });
        }
        let mut known = 0;
        let visit = &mut |line, record: &RecordUuid| {
            if stored.contains(record) {
                known = line;
            }
            true
        };
        forks::each_record(context.format, path, &state.cursor, visit)
            .map_err(unreadable(source))?;
        Ok(KeptLines { known, next_seq })
    }
}

/// Returns the properties of a message that distinguish it from the other messages of its file.
/// These properties are used for records without an id.
fn sign(message: &Message) -> (Role, Option<Timestamp>, String) {
    let text = if message.at.is_some() { String::new() } else { message.text.clone() };
    (message.role, message.at, text)
}

/// Returns the number of the last line after the cursor with a stored message. If all messages were
/// evicted, all lines are known.
fn known_by_signs(
    context: LineContext<'_>,
    source: &Source,
    state: &SourceState,
    stored: &HashSet<(Role, Option<Timestamp>, String)>,
) -> io::Result<u64> {
    let path = Path::new(&source.path);
    let mut scratch = SourceState::new(source.key.number);
    scratch.known_secrets = state.known_secrets.clone();
    scratch.begin(context.format, path);
    let (mut tally, mut messages) = (Tally::default(), Vec::new());
    let (mut tail, _) = Tail::open(path, &state.cursor)?;
    let (mut line, mut known) = (state.cursor.line, 0);
    while let Some(content) = tail.next_line(&salvage::is_whole)? {
        line += 1;
        if let TailLine::Whole(content) = content {
            let origin = Origin { source: source.key.number, line };
            let position = LinePosition { origin, at: 0 };
            scratch.take_line(context, content, position, &mut tally, &mut messages);
        }
        if stored.is_empty() || messages.drain(..).any(|message| stored.contains(&sign(&message))) {
            known = line;
        }
        messages.clear();
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(next_seq: u32, has_record: bool) -> SourceState {
        let mut state = SourceState::new(0);
        state.next_seq = next_seq;
        state.first_record = has_record.then_some([1; 16]);
        state
    }

    #[test]
    fn a_shorter_file_keeps_its_messages_if_they_can_be_compared() {
        for (next_seq, has_record, has_same_start, wanted) in [
            (3, true, true, ReadStart::Truncated),
            (3, true, false, ReadStart::Truncated),
            (3, false, true, ReadStart::Truncated),
            (3, false, false, ReadStart::Replaced),
            // No message is stored.
            (0, true, true, ReadStart::Replaced),
        ] {
            let start = Resumed::Truncated { has_same_start };
            let start = ReadStart::of(start, &read(next_seq, has_record), false);
            assert_eq!(start, wanted, "{next_seq} {has_record} {has_same_start}");
        }
        assert_eq!(ReadStart::of(Resumed::FromStart, &read(3, true), false), ReadStart::Replaced);
    }

    #[test]
    fn a_truncated_file_is_not_read_again_on_request() {
        let mut state = read(3, true);
        let of =
            |state: &SourceState, from_start| ReadStart::of(Resumed::Continued, state, from_start);
        assert_eq!(of(&state, false), ReadStart::Continued);
        assert_eq!(of(&state, true), ReadStart::Requested);
        let cursor = FileCursor::default();
        state.before_truncation = Some(BeforeTruncation { cursor, shared: 0 });
        assert_eq!(of(&state, true), ReadStart::Continued);
    }

    #[test]
    fn the_counts_begin_again_only_on_request() {
        let before = Tally { read: 9, broken: 1, restarts: 2, ..Tally::default() };
        for (start, read, restarts) in [
            (ReadStart::Continued, 9, 2),
            (ReadStart::Requested, 0, 2),
            (ReadStart::Replaced, 9, 3),
            (ReadStart::Truncated, 9, 3),
        ] {
            let mut tally = before.clone();
            start.count(&mut tally);
            assert_eq!((tally.read, tally.restarts), (read, restarts), "{start:?}");
        }
    }

    #[test]
    fn a_restored_file_continues_after_its_earlier_position_with_new_line_numbers() {
        let mut state = read(3, true);
        (state.cursor.line, state.shared) = (7, 7);
        restore(&mut state);
        assert_eq!((state.cursor.line, state.shared), (7, 7));
        let mut cursor = FileCursor::default();
        (cursor.offset, cursor.line) = (500, 5);
        state.before_truncation = Some(BeforeTruncation { cursor, shared: 2 });
        restore(&mut state);
        assert_eq!((state.cursor.offset, state.cursor.line, state.shared), (500, 7, 2));
        assert_eq!(state.before_truncation, None);
    }
}
