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
    model::transcript::RecordUuid,
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
        if let Some(before) = &state.before_truncation
            && open(&before.cursor)?.1 == Resumed::Continued
        {
            tracing::info!(file = source.path, "the truncated transcript was restored");
            (state.cursor, state.shared) = (before.cursor.clone(), before.shared);
            state.before_truncation = None;
        }
        let (tail, resumed) = open(&state.cursor)?;
        match resumed {
            Resumed::Truncated { has_same_start } if state.next_seq > 0 => {
                tracing::warn!(
                    file = source.path,
                    "the transcript was truncated; its stored messages are kept"
                );
                let before =
                    BeforeTruncation { cursor: state.cursor.clone(), shared: state.shared };
                state.before_truncation.get_or_insert(before);
                state.cursor = state.cursor.restarted();
                let known = self.known_until(format, source, state, has_same_start)?;
                state.shared = state.shared.max(known);
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

    /// Returns the number of the last line whose record is stored; 0 if there is none. Without ids of
    /// records, all lines of a file that begins as before are known.
    fn known_until(
        &self,
        format: &dyn Format,
        source: &Source,
        state: &SourceState,
        has_same_start: bool,
    ) -> Result<u64, ReadError> {
        let path = Path::new(&source.path);
        let mut stored: HashSet<RecordUuid> = HashSet::new();
        let add = &mut |record: &RecordUuid| {
            stored.insert(*record);
        };
        forgotten::visit_records_of(self.store.as_ref(), source.key, add)?;
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
        if (has_ids && !stored.is_empty()) || !has_same_start {
            return Ok(known);
        }
        let (mut tail, _) = Tail::open(path, &state.cursor).map_err(unreadable(source))?;
        while tail.next_line(&salvage::is_whole).map_err(unreadable(source))?.is_some() {}
        Ok(tail.cursor().line)
    }
}
