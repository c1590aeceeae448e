//! Reads the new lines of one file and stores their messages.
//!
//! Messages are stored in batches. The state is saved less often. After a crash, reading continues
//! from the last saved state. The messages after this state are produced again. They get the same
//! numbers, so they overwrite the stored messages.

mod batch;
mod checkpoint;
pub mod forks;
mod redact;
mod replay;
mod truncation;

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

pub use self::checkpoint::agent_version;
use self::{batch::Batch, checkpoint::checkpoint, truncation::ReadStart};
pub(super) use self::{
    checkpoint::{saved_evidence, saved_messages},
    redact::redact_again,
};
use crate::{
    capture::{
        format::{Format, FormatHandle},
        salvage,
        tail::{Tail, TailLine},
    },
    clock,
    engine::{
        crash_tracker::CrashTracker,
        defect,
        forgotten::Forgotten,
        forks::SharedPrefix,
        memory_use::MemoryUse,
        parse_context::ParseContext,
        pipeline::{LineContext, LinePosition, SourceState},
        projects::Projects,
        record_locks::RecordLocks,
        redaction::known,
        rereads,
    },
    fault,
    model::{Timestamp, transcript::Origin},
    redact::KnownSecrets,
    store::{FileStamp, Source, Store, StoreError, damaged::skip_damaged},
};

/// Number of new bytes after which the state is saved at the end of a read.
const SAVE_EVERY: u64 = 256 << 10;
/// Number of new bytes after which the state is saved while a long file is read. After a crash, at
/// most about this many bytes are read again.
const SAVE_WITHIN: u64 = 64 << 20;

/// Reads transcript files. All jobs share one reader.
pub struct SourceReader {
    pub store: Arc<dyn Store>,
    /// Set when the daemon stops: reading ends before the next line.
    pub stop: AtomicBool,
    /// The number of bytes that were read since the engine started.
    pub bytes: AtomicU64,
    /// Locks for files that may be forks of each other.
    pub locks: RecordLocks,
    /// The sessions that are being worked on.
    pub(super) crash_tracker: CrashTracker,
    /// The forgotten sessions, whose records are not read again.
    pub(super) forgotten: Arc<Forgotten>,
    pub(super) projects: Arc<Projects>,
    /// The counts of the lines that sessions got from the memory, and of the lines that they used.
    pub(super) memory_use: Arc<MemoryUse>,
}

pub struct ReadRequest {
    pub format: FormatHandle,
    pub parse_context: Arc<ParseContext>,
    pub source: Source,
    /// The state of the file; `None` to load the saved state.
    pub state: Option<Box<SourceState>>,
    /// Whether the file is read from its start, if it exists.
    pub from_start: bool,
    pub save: SavePolicy,
}

/// When the state of a file is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavePolicy {
    /// When many bytes were read since the last save.
    WhenDue,
    /// Always, unless the state is saved already.
    Now,
}

impl SavePolicy {
    /// Whether the state is saved after a read. `unsaved` is the number of bytes since the last
    /// save, and `moved` means that this read changed the state.
    fn is_due(self, unsaved: u64, moved: bool) -> bool {
        unsaved >= SAVE_EVERY || self == SavePolicy::Now && moved
    }
}

/// The result of reading a file.
pub struct ReadProgress {
    pub source: Source,
    pub state: Box<SourceState>,
    /// The number of messages that were written to the store.
    pub new_messages: usize,
    /// Whether a line was read, or reading started from the start of the file again.
    pub moved: bool,
    /// Whether the file exists.
    pub exists: bool,
    /// Whether the file was truncated or replaced, so that its earlier content no longer exists.
    pub was_replaced: bool,
    pub is_saved: bool,
}

/// Why a job did not read its files.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read {path}: {error}")]
    File { path: String, error: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The format of the agent's transcripts was removed from the configuration.
    #[error(
        "no format for the transcripts of `{agent}` is configured: add it to `session_tracking.watch_formats` again, or forget the session"
    )]
    UnknownFormat { agent: String },
    /// The job panicked.
    #[error("working on the session failed: {}", defect::PANIC)]
    Defect,
    #[error(
        "graphitid died {deaths} times while it worked on session {session}; the session is quarantined for {hours} h, or until `graphiti close {session}`"
    )]
    Quarantined {
        session: String,
        deaths: u32,
        /// The length of the quarantine.
        hours: u64,
    },
}

/// A file that is being read.
struct OpenSource<'r> {
    reader: &'r SourceReader,
    format: FormatHandle,
    parse_context: Arc<ParseContext>,
    source: Source,
    state: Box<SourceState>,
    tail: Tail,
    batch: Batch,
    /// The secrets of the session that are saved.
    saved_secrets: KnownSecrets,
    now: Timestamp,
}

impl SourceReader {
    /// Reads a file to its end. Blocks: call it on a separate thread.
    pub fn read(&self, request: ReadRequest) -> Result<ReadProgress, ReadError> {
        let ReadRequest { format, parse_context, mut source, state, from_start, save } = request;
        let mut state = match state {
            Some(state) => state,
            None => {
                let state = self.load(&source)?;
                // Without a usable checkpoint, the file is read from its start.
                source.offset = state.cursor.offset;
                Box::new(state)
            }
        };
        state.known_secrets = known::load(self.store.as_ref(), source.key.session)?;
        let context =
            LineContext { format: &*format, parse_context: &parse_context, now: clock::now() };
        let opened = self.open(context, &source, &mut state, from_start);
        let (tail, start) = match opened {
            Ok(opened) => opened,
            Err(ReadError::File { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                let is_saved = self.save(&mut source, &state, save)?;
                return Ok(ReadProgress::of_missing(source, state, is_saved));
            }
            Err(error) => return Err(error),
        };
        let was_replaced = start == ReadStart::Replaced;
        start.count(&mut source.tally);
        let batch = Batch::new(source.key);
        let saved_secrets = state.known_secrets.clone();
        let reader = self;
        let mut open = OpenSource {
            reader,
            format,
            parse_context,
            source,
            state,
            tail,
            batch,
            saved_secrets,
            now: clock::now(),
        };
        match start {
            ReadStart::Continued => {}
            ReadStart::Truncated => open.source.offset = 0,
            ReadStart::Requested => open.reset(),
            ReadStart::Replaced => {
                open.reset();
                open.request_rereads()?;
            }
        }
        let progress = open.read_to_end(save, start != ReadStart::Continued)?;
        Ok(ReadProgress { was_replaced, ..progress })
    }

    /// Determines how many of the next lines are also in another session or another file of the
    /// session. Returns `None` if the file already has lines of its own, if the file is the only
    /// file of its sub-agent, or while no record has an id.
    fn find_shared(
        &self,
        format: &dyn Format,
        source: &Source,
        state: &SourceState,
    ) -> Result<Option<SharedPrefix<'_>>, ReadError> {
        let is_candidate = may_be_copied(state);
        if !is_candidate || source.sub_agent.is_some() && !self.has_several_files(source)? {
            return Ok(None);
        }
        let shared = self.shared_prefix(format, source, &state.cursor, state.first_record)?;
        // The copied records of a truncated fork were counted before.
        Ok(shared.map(|shared| SharedPrefix {
            note: shared.note.filter(|_| !is_cut_fork(state)),
            ..shared
        }))
    }

    fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl OpenSource<'_> {
    /// Drops the state of the file. The stored messages of the file are deleted with the next list
    /// of writes.
    fn reset(&mut self) {
        self.source.offset = 0;
        self.source.stamp = FileStamp::default();
        let known_secrets = std::mem::take(&mut self.state.known_secrets);
        *self.state = SourceState::new(self.source.key.number);
        self.state.known_secrets = known_secrets;
        self.batch.clear();
    }

    /// Adds to the batch that the copies of the session have to be read again.
    fn request_rereads(&mut self) -> Result<(), StoreError> {
        let copies = rereads::copies_of(self.reader.store.as_ref(), self.source.key.session);
        for copy in skip_damaged(copies, "copies of its session are not read again")? {
            self.batch.add(rereads::write(copy, 0));
        }
        Ok(())
    }

    fn read_to_end(
        mut self,
        save: SavePolicy,
        from_start: bool,
    ) -> Result<ReadProgress, ReadError> {
        // `shared` contains a lock, which is held until the messages of this file are stored.
        let shared = self.reader.find_shared(&*self.format, &self.source, &self.state)?;
        // If more lines are shared than before, the state is saved after this read, so that the
        // readers of other files know which lines this file skips.
        let shares_more = shared.as_ref().is_some_and(|shared| shared.until > self.state.shared);
        if let Some(shared) = &shared {
            self.state.shared = self.state.shared.max(shared.until);
            shared.note.iter().for_each(|note| self.batch.add(note.clone()));
        }
        let start = self.state.cursor.offset;
        let stamp = self.tail.stamp().map_err(unreadable(&self.source))?;
        self.read_lines()?;
        self.state.cursor = self.tail.mark();
        let moved = self.state.cursor.offset != start || from_start;
        // If reading was stopped early, the old stamp stays, so that the file counts as changed.
        if !self.reader.is_stopping() {
            self.source.stamp = stamp;
        }
        let is_due = save.is_due(self.state.cursor.offset - self.source.offset, moved)
            || shares_more
            || from_start;
        self.save_secrets();
        let OpenSource { reader, mut source, state, mut batch, .. } = self;
        if is_due {
            batch.add(checkpoint(&mut source, &state));
        }
        let new_messages = batch.finish(reader.store.as_ref())?;
        fault::point("read: to the end");
        let is_saved = is_due || reader.save(&mut source, &state, save)?;
        let (exists, was_replaced) = (true, false);
        Ok(ReadProgress { source, state, new_messages, moved, exists, was_replaced, is_saved })
    }

    /// Reads line by line to the end of the file, and stores full batches.
    fn read_lines(&mut self) -> Result<(), ReadError> {
        let mut at = self.tail.cursor().offset;
        if at == 0 {
            self.state.begin(&*self.format, Path::new(&self.source.path));
        }
        while !self.reader.is_stopping()
            && let Some(line) =
                self.tail.next_line(&salvage::is_whole).map_err(unreadable(&self.source))?
        {
            let origin =
                Origin { source: self.source.key.number, line: self.state.cursor.line + 1 };
            self.state.cursor.line = origin.line;
            match line {
                TailLine::Whole(line) => {
                    self.reader.bytes.fetch_add(line.len() as u64 + 1, Ordering::Relaxed);
                    let context = LineContext {
                        format: &*self.format,
                        parse_context: &self.parse_context,
                        now: self.now,
                    };
                    let position = LinePosition { origin, at };
                    let tally = &mut self.source.tally;
                    self.state.take_line(context, line, position, tally, &mut self.batch.messages);
                }
                TailLine::TooLong(bytes) => {
                    self.source.tally.broken += 1;
                    self.source.tally.broken_bytes += bytes;
                }
            }
            if self.source.sub_agent.is_none() {
                self.batch.add_fork_keys(&mut self.state);
            }
            at = self.tail.cursor().offset;
            if self.batch.is_full() {
                self.send_batch(at)?;
            }
        }
        Ok(())
    }

    /// Stores the batch. Also saves the state if many bytes were read since the last save.
    fn send_batch(&mut self, reached: u64) -> Result<(), ReadError> {
        if reached - self.source.offset >= SAVE_WITHIN {
            self.state.cursor = self.tail.mark();
            self.save_secrets();
            self.batch.add(checkpoint(&mut self.source, &self.state));
        }
        self.batch.send(self.reader.store.as_ref())?;
        Ok(())
    }

    /// Adds the secrets of the session to the batch if they changed.
    fn save_secrets(&mut self) {
        let known = &self.state.known_secrets;
        if *known != self.saved_secrets && !known.is_empty() {
            self.batch.add(known::write(self.source.key.session, known));
            self.saved_secrets = known.clone();
        }
    }
}

impl ReadProgress {
    fn of_missing(source: Source, state: Box<SourceState>, is_saved: bool) -> ReadProgress {
        let (new_messages, moved, exists, was_replaced) = (0, false, false, false);
        ReadProgress { source, state, new_messages, moved, exists, was_replaced, is_saved }
    }
}

/// Whether the next lines of a file may be copies of lines of another file.
fn may_be_copied(state: &SourceState) -> bool {
    // If all lines so far are copies, new lines may be copies of new lines of the original.
    let is_copy = state.shared > 0 && state.shared == state.cursor.line;
    state.first_record.is_none() || is_copy || is_cut_fork(state)
}

/// Whether the file is a truncated fork. An agent that truncates such a file keeps the copied
/// lines. These lines then have new line numbers.
fn is_cut_fork(state: &SourceState) -> bool {
    state.before_truncation.as_ref().is_some_and(|before| before.shared > 0)
}

fn unreadable(source: &Source) -> impl Fn(io::Error) -> ReadError {
    |error| ReadError::File { path: source.path.clone(), error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{capture::tail::FileCursor, engine::pipeline::BeforeTruncation};

    #[test]
    fn a_state_is_saved_after_many_bytes_or_if_a_caller_needs_it() {
        for (policy, unsaved, moved, wanted) in [
            (SavePolicy::WhenDue, SAVE_EVERY - 1, true, false),
            (SavePolicy::WhenDue, SAVE_EVERY, true, true),
            (SavePolicy::Now, 1, true, true),
            (SavePolicy::Now, 0, false, false),
            // Bytes of earlier reads.
            (SavePolicy::Now, SAVE_EVERY, false, true),
        ] {
            assert_eq!(policy.is_due(unsaved, moved), wanted, "{policy:?} {unsaved} {moved}");
        }
    }

    #[test]
    fn lines_may_be_copied_until_the_file_has_a_line_of_its_own() {
        let state = |shared, line, has_record: bool| {
            let mut state = SourceState::new(0);
            (state.shared, state.cursor.line) = (shared, line);
            state.first_record = has_record.then_some([1; 16]);
            state
        };
        for (shared, line, has_record, wanted) in [
            (0, 0, false, true),
            // Lines without ids.
            (0, 9, false, true),
            (0, 9, true, false),
            (9, 9, true, true),
            (8, 9, true, false),
        ] {
            let state = state(shared, line, has_record);
            assert_eq!(may_be_copied(&state), wanted, "{shared} {line} {has_record}");
        }
        for (shared, wanted) in [(3, true), (0, false)] {
            let mut truncated = state(0, 9, true);
            let cursor = FileCursor::default();
            truncated.before_truncation = Some(BeforeTruncation { cursor, shared });
            assert_eq!(may_be_copied(&truncated), wanted, "{shared}");
        }
    }
}
