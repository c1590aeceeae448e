//! Opens a file, and decides from where its lines are read.
//!
//! Some agents truncate a transcript after an error. The stored messages are then the only copy, so
//! they are kept as those of a deleted file are. The known lines at the start of the rest are
//! skipped, and the lines after them continue the session.

use std::{collections::HashSet, path::Path};

use super::{ReadError, SourceReader, forks, unreadable};
use crate::{
    capture::{
        format::Format,
        salvage,
        tail::{FileCursor, Resumed, Tail},
    },
    engine::{
        forgotten,
        pipeline::{BeforeTruncation, SourceState},
    },
    model::{Message, transcript::RecordUuid},
    store::Source,
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
struct Kept {
    /// The number of the last line whose record is stored; 0 if there is none.
    known: u64,
    /// The number after the last stored message. After a crash, it may be higher than that of the
    /// saved state.
    next_seq: u32,
}

impl SourceReader {
    /// Opens a file for reading. `state` is changed if the file was truncated, or if a truncated file
    /// was restored.
    pub(super) fn open(
        &self,
        format: &dyn Format,
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
            state.shared = before.shared;
            // The lines after the truncation have used the next numbers.
            let line = state.cursor.line;
            state.cursor.clone_from(&before.cursor);
            state.cursor.line = line;
            state.before_truncation = None;
        }
        let (tail, resumed) = open(&state.cursor)?;
        if was_truncated && resumed == Resumed::Continued {
            // The agent may write the lines that it keeps in several steps.
            let rest = self.kept(format, source, state, false)?;
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
                let rest = self.kept(format, source, state, has_same_start)?;
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
                state.rules = format.rules_version();
                Ok((tail, ReadStart::Continued))
            }
            Resumed::Continued if from_start => {
                Ok((open(&FileCursor::default())?.0, ReadStart::Requested))
            }
            Resumed::Continued => Ok((tail, ReadStart::Continued)),
        }
    }

    /// Compares the lines after the cursor with the stored messages. Without ids of records, all
    /// lines of a file that begins as before are known.
    fn kept(
        &self,
        format: &dyn Format,
        source: &Source,
        state: &SourceState,
        has_same_start: bool,
    ) -> Result<Kept, ReadError> {
        let path = Path::new(&source.path);
        let (mut stored, mut next_seq): (HashSet<RecordUuid>, _) = (HashSet::new(), 0);
        let add = &mut |message: &Message| {
            stored.extend(message.uuid);
            next_seq = message.seq + 1;
        };
        forgotten::visit_messages_of(self.store.as_ref(), source.key, add)?;
        let (mut known, mut has_ids) = (0, false);
        let visit = &mut |line, record: &RecordUuid| {
            has_ids = true;
            if stored.contains(record) {
                known = line;
            }
            true
        };
        forks::each_record(format, path, &state.cursor, visit).map_err(unreadable(source))?;
        // Evicted messages are known, too.
        if has_same_start && (!has_ids || stored.is_empty()) {
            let (mut tail, _) = Tail::open(path, &state.cursor).map_err(unreadable(source))?;
            while tail.next_line(&salvage::is_whole).map_err(unreadable(source))?.is_some() {}
            known = tail.cursor().line;
        }
        Ok(Kept { known, next_seq })
    }
}
