//! Reads the known lines of a file again, without storing anything.

use std::path::Path;

use super::{ReadError, ReadProgress, SourceReader, unreadable};
use crate::{
    capture::{
        format::Format,
        salvage,
        tail::{Resumed, Tail, TailLine},
    },
    clock,
    engine::{
        parse_context::ParseContext,
        pipeline::{LineContext, LinePosition, SourceState},
        redaction::known,
    },
    model::transcript::Origin,
    store::{Source, Tally},
};

impl SourceReader {
    /// Parses the known lines of a file (the lines before the saved cursor) again, by the current
    /// rules. Returns the state after these lines; if the daemon stops, the state after some of
    /// them. If the file cannot be opened, was truncated or was replaced, returns the saved state.
    /// Blocks: call it on a separate thread.
    pub(in crate::engine) fn replay(
        &self,
        format: &dyn Format,
        parse_context: &ParseContext,
        source: Source,
    ) -> Result<ReadProgress, ReadError> {
        let saved = Box::new(self.load(&source)?);
        let path = Path::new(&source.path);
        let Ok((mut tail, Resumed::Continued)) = Tail::open_whole(path, &saved.cursor) else {
            return Ok(ReadProgress::of_missing(source, saved, true));
        };
        if saved.before_truncation.is_some() {
            return Ok(ReadProgress::of_missing(source, saved, true));
        }
        tail.rewind().map_err(unreadable(&source))?;
        let mut state = Box::new(SourceState::new(source.key.number));
        state.shared = saved.shared;
        state.known_secrets = known::load(self.store.as_ref(), source.key.session)?;
        state.begin(format, path);
        let (mut messages, mut tally) = (Vec::new(), Tally::default());
        let context = LineContext { format, parse_context, now: clock::now() };
        let mut at = 0;
        while at < saved.cursor.offset
            && !self.is_stopping()
            && let Some(line) = tail.next_line(&salvage::is_whole).map_err(unreadable(&source))?
        {
            state.cursor.line += 1;
            let origin = Origin { source: source.key.number, line: state.cursor.line };
            if let TailLine::Whole(line) = line {
                let position = LinePosition { origin, at };
                state.take_line(context, line, position, &mut tally, &mut messages);
            }
            messages.clear();
            state.fork_keys.clear();
            at = tail.cursor().offset;
        }
        Ok(ReadProgress { exists: true, ..ReadProgress::of_missing(source, state, true) })
    }
}
