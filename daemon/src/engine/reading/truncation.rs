//! Opens a file, and decides from where its lines are read.
//!
//! Some agents truncate a transcript after an error. The stored messages are then the only copy, so
//! they are kept as those of a deleted file are. The known lines at the start of the rest are
//! skipped, and the lines after them continue the session.

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

/// What is stored of the lines that an agent kept.
struct KeptLines {
    /// The number of the last line whose record is stored; 0 if no record is stored.
    known: u64,
    /// The number after the last stored message. After a crash, it may be higher than that of the
    /// saved state.
    next_seq: u32,
}

/// Continues after the position before the truncation.
fn restore(state: &mut SourceState) {
    let Some(before) = state.before_truncation.take() else { return };
    // The lines after the truncation have used the next numbers.
    let line = state.cursor.line;
    (state.cursor, state.shared) = (before.cursor, before.shared);
    state.cursor.line = line;
}

impl SourceReader {
    /// Opens a file for reading. `state` is changed if the file was truncated, or if a truncated file
    /// was restored.
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
        // Without ids, the rest of a file with another start cannot be compared with the messages.
        let is_kept = |has_same_start| has_same_start || state.first_record.is_some();
        match resumed {
            Resumed::Truncated { has_same_start }
                if state.next_seq > 0 && is_kept(has_same_start) =>
            {
                tracing::warn!(
                    file = source.path,
                    "the transcript was truncated; its stored messages are kept"
                );
                let before =
                    BeforeTruncation { cursor: state.cursor.clone(), shared: state.shared };
                state.before_truncation.get_or_insert(before);
                state.cursor = state.cursor.restarted();
                let rest = self.kept(context, source, state, has_same_start)?;
                state.shared = state.shared.max(rest.known);
                state.next_seq = state.next_seq.max(rest.next_seq);
                Ok((open(&state.cursor)?.0, ReadStart::Truncated))
            }
            Resumed::Truncated { .. } | Resumed::FromStart => {
                tracing::info!(
                    file = source.path,
                    "the transcript was replaced; reading it from the start"
                );
                Ok((tail, ReadStart::Replaced))
            }
            // The file no longer contains all stored messages.
            Resumed::Continued if from_start && state.before_truncation.is_some() => {
                state.rules = context.format.rules_version();
                Ok((tail, ReadStart::Continued))
            }
            Resumed::Continued if from_start => {
                Ok((open(&FileCursor::default())?.0, ReadStart::Requested))
            }
            Resumed::Continued => Ok((tail, ReadStart::Continued)),
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

/// Returns what distinguishes a message from others of its file if its record has no id.
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
