//! Reads what is new in one file and stores it.
//!
//! Messages are stored as they come; the state behind them only now and then. After a crash
//! reading goes on from the last saved state and comes to the same messages with the same numbers
//! again, which take the place of the ones already there.

use std::{
    collections::VecDeque,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize};

use crate::{
    capture::{
        format::Format,
        salvage,
        tail::{self, FileCursor, Resumed, Tail, TailLine},
    },
    engine::{
        crash_tracker::CrashTracker,
        forgotten::Forgotten,
        forks::SharedPrefix,
        pipeline::{LinePosition, ParseContext, SourceState},
        record_locks::RecordLocks,
        redaction::StoredRedactor,
    },
    fault,
    model::{Message, transcript::Origin},
    store::{Cleaner as _, FileStamp, PendingWrite, Source, SourceKey, Store, StoreError, Write},
};

/// Messages are stored together up to so many.
const MESSAGES: usize = 512;
/// Messages are stored together up to so many bytes.
const MESSAGE_BYTES: usize = 256 << 10;
/// So many lists of messages may be on their way to the disk while the next is being read.
const ON_THE_WAY: usize = 2;
/// After so many new bytes the state is saved, so that a crash costs no more reading than that.
const SAVE_EVERY: u64 = 256 << 10;
/// The same while a long file is read in one go.
const SAVE_WITHIN: u64 = 64 << 20;
/// The version of the saved state.
const STATE_VERSION: u32 = 1;

/// What all reading shares.
pub struct SourceReader {
    /// Where messages go.
    pub store: Arc<dyn Store>,
    /// Set when the daemon is to end: reading stops before the next line.
    pub stop: AtomicBool,
    /// Bytes read since the start.
    pub bytes: AtomicU64,
    /// Who reads which files that may be forks of one another.
    pub claims: RecordLocks,
    /// Which sessions are worked on.
    pub(super) crash_tracker: CrashTracker,
    /// What is not read again.
    pub(super) forgotten: Arc<Forgotten>,
}

/// A file to be read on.
pub struct ReadRequest {
    /// Its agent's format.
    pub format: &'static dyn Format,
    /// What is kept of it.
    pub parse_context: Arc<ParseContext>,
    /// The file.
    pub source: Source,
    /// Its state when it is at hand; else it is loaded.
    pub state: Option<Box<SourceState>>,
    /// Whether it is read from its beginning, if it is there.
    pub anew: bool,
    /// When the state is saved.
    pub save: SavePolicy,
}

/// When the state of a file is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavePolicy {
    /// When much was read.
    WhenDue,
    /// In any case, unless nothing was read since.
    Now,
}

/// How far reading came.
pub struct ReadProgress {
    /// The file.
    pub source: Source,
    /// Its state.
    pub state: Box<SourceState>,
    /// Messages that came in.
    pub new_messages: usize,
    /// Whether anything was read at all.
    pub moved: bool,
    /// Whether the file is there.
    pub there: bool,
    /// Whether it was cut or replaced, so that what it said before is gone.
    pub was_replaced: bool,
    /// Whether the state is saved.
    pub saved: bool,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file system failed.
    #[error("cannot read {path}: {error}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The job hit a defect of the program.
    #[error("working on the session failed for a defect in graphitid: {0}")]
    Defect(String),
    /// The session is left alone.
    #[error(
        "graphitid died {deaths} times while it worked on session {session}; this one is left alone for {hours} h, or until `graphiti close {session}` asks for it"
    )]
    Quarantine {
        /// The session's id.
        session: String,
        /// So often.
        deaths: u32,
        /// So long, in hours.
        hours: u64,
    },
}

#[derive(Serialize, Deserialize)]
struct CheckpointRecord<S> {
    version: u32,
    state: S,
}

impl SourceReader {
    /// Reads on to the end of the file. Blocks; for a thread of its own.
    pub fn read(&self, request: ReadRequest) -> Result<ReadProgress, ReadError> {
        let ReadRequest { format, parse_context, mut source, state, anew, save } = request;
        let mut state = match state {
            Some(state) => state,
            None => Box::new(self.load(&source)?),
        };
        let path = source.path.clone();
        let fail = |error| ReadError::File { path: path.clone(), error };
        let cursor = if anew { FileCursor::default() } else { state.cursor.clone() };
        let (mut tail, resumed) = match Tail::open(Path::new(&path), &cursor) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let saved = self.save(&mut source, &state, save)?;
                return Ok(ReadProgress {
                    source,
                    state,
                    new_messages: 0,
                    moved: false,
                    there: false,
                    was_replaced: false,
                    saved,
                });
            }
            Err(error) => return Err(fail(error)),
        };
        let mut batch = Batch::new(source.key);
        let was_replaced = resumed == Resumed::FromStart;
        if was_replaced {
            tracing::info!(file = path, "the transcript was cut or replaced: reading it anew");
            source.tally.restarts += 1;
        }
        let from_start = anew || was_replaced;
        if from_start {
            source.offset = 0;
            source.stamp = FileStamp::default();
            *state = SourceState::new(source.key.number);
            batch.clear();
        }
        let shared = self.find_shared(format, &source, &state)?;
        // Other files must find out at once what this one leaves to them.
        let shares_more = shared.as_ref().is_some_and(|shared| shared.until > state.shared);
        if let Some(shared) = &shared {
            state.shared = state.shared.max(shared.until);
            shared.note.iter().for_each(|note| batch.add(note.clone()));
        }
        let from = state.cursor.offset;
        let stamp = tail.stamp().map_err(fail)?;
        let mut at = tail.cursor().offset;
        while !self.stop.load(Ordering::Relaxed)
            && let Some(line) = tail.next_line(&salvage::is_whole).map_err(fail)?
        {
            // The line itself moves the cursor on; its number is the one after.
            let origin = Origin { source: source.key.number, line: state.cursor.line + 1 };
            state.cursor.line = origin.line;
            match line {
                TailLine::Whole(line) => {
                    self.bytes.fetch_add(line.len() as u64 + 1, Ordering::Relaxed);
                    let tally = &mut source.tally;
                    let place = LinePosition { origin, at };
                    state.take_line(
                        (format, &parse_context),
                        (line, place),
                        tally,
                        &mut batch.messages,
                    );
                }
                TailLine::TooLong(bytes) => {
                    source.tally.broken += 1;
                    source.tally.broken_bytes += bytes;
                }
            }
            if source.sub_agent.is_none() {
                batch.add_landmarks(&mut state);
            }
            at = tail.cursor().offset;
            if batch.is_full() {
                let reached = tail.cursor().offset;
                let save = (reached - source.offset >= SAVE_WITHIN).then(|| tail.mark());
                if let Some(cursor) = save.transpose().map_err(fail)? {
                    state.cursor = cursor;
                    batch.add(self.checkpoint(&mut source, &state));
                }
                batch.send(self.store.as_ref())?;
            }
        }
        state.cursor = tail.mark().map_err(fail)?;
        let moved = state.cursor.offset != from || from_start;
        // A file that was not read to its end must look changed.
        if !self.stop.load(Ordering::Relaxed) {
            source.stamp = stamp;
        }
        let due = state.cursor.offset - source.offset >= SAVE_EVERY
            || save == SavePolicy::Now && moved
            || shares_more
            || from_start;
        if due {
            batch.add(self.checkpoint(&mut source, &state));
        }
        let new_messages = batch.finish(self.store.as_ref())?;
        fault::point("read: to the end");
        let saved = due || self.save(&mut source, &state, save)?;
        Ok(ReadProgress { source, state, new_messages, moved, there: true, was_replaced, saved })
    }

    /// How far what comes next in a file stands in other sessions, too; `None` where that was found
    /// out before.
    fn find_shared(
        &self,
        format: &dyn Format,
        source: &Source,
        state: &SourceState,
    ) -> Result<Option<SharedPrefix<'_>>, ReadError> {
        // A copy may still be one when it has grown as its original did.
        let is_copy = state.shared > 0 && state.shared == state.cursor.line;
        let is_open = state.first_record.is_none() || is_copy;
        if !is_open || source.sub_agent.is_some() && !self.has_namesakes(source)? {
            return Ok(None);
        }
        self.shared(format, source, (&state.cursor, state.first_record))
    }

    /// Loads the saved state of a file, or makes a new one.
    pub fn load(&self, source: &Source) -> Result<SourceState, StoreError> {
        let Some(bytes) = self.store.checkpoint(source.key)? else {
            return Ok(SourceState::new(source.key.number));
        };
        match serde_json::from_slice::<CheckpointRecord<SourceState>>(&bytes) {
            Ok(saved) if saved.version == STATE_VERSION => Ok(saved.state),
            // Of another version: the transcript is read anew, which costs only time.
            _ => Ok(SourceState::new(source.key.number)),
        }
    }

    /// Saves the state when it is wished and not yet saved; says whether it is saved now.
    fn save(
        &self,
        source: &mut Source,
        state: &SourceState,
        save: SavePolicy,
    ) -> Result<bool, StoreError> {
        let is_saved = source.offset == state.cursor.offset;
        if save == SavePolicy::WhenDue || is_saved {
            return Ok(is_saved);
        }
        let write = self.checkpoint(source, state);
        self.store.write(vec![write]).wait()?;
        Ok(true)
    }

    fn checkpoint(&self, source: &mut Source, state: &SourceState) -> Write {
        source.offset = state.cursor.offset;
        let saved = CheckpointRecord { version: STATE_VERSION, state };
        let checkpoint = serde_json::to_vec(&saved).expect("the state has only string keys");
        Write::Source { source: source.clone(), checkpoint: Some(checkpoint) }
    }
}

/// Redacts a saved state again. Of one that nobody reads any more nothing is left: its transcript is
/// read anew in any case.
pub(super) fn redact_again(
    checkpoint: &mut Vec<u8>,
    again: &mut StoredRedactor,
    before: &dyn Fn(u32) -> Result<Vec<Message>, StoreError>,
) -> Result<bool, StoreError> {
    let saved = serde_json::from_slice::<CheckpointRecord<SourceState>>(checkpoint).ok();
    let Some(mut saved) = saved.filter(|saved| saved.version == STATE_VERSION) else {
        let is_changed = !checkpoint.is_empty();
        checkpoint.clear();
        return Ok(is_changed);
    };
    let mut is_changed = saved.state.redact_again(again);
    // The hash is saved with the last bytes that it took, as they are.
    let mut last = before(saved.state.next_seq)?;
    let mut apart = StoredRedactor::default();
    if is_changed || last.iter_mut().any(|message| apart.message(message)) {
        saved.state.hasher.condense();
        is_changed = true;
    }
    if is_changed {
        *checkpoint = serde_json::to_vec(&saved).expect("the state has only string keys");
    }
    Ok(is_changed)
}

/// Messages on their way to the store.
struct Batch {
    source: SourceKey,
    messages: Vec<Message>,
    others: Vec<Write>,
    sent: usize,
    tickets: VecDeque<PendingWrite>,
}

impl Batch {
    fn new(source: SourceKey) -> Batch {
        Batch {
            source,
            messages: Vec::new(),
            others: Vec::new(),
            sent: 0,
            tickets: VecDeque::new(),
        }
    }

    /// What was stored of the file is void, from the next list on.
    fn clear(&mut self) {
        self.others.push(Write::ClearSource(self.source));
    }

    fn add(&mut self, write: Write) {
        self.others.push(write);
    }

    /// Takes over what the file may be known by.
    fn add_landmarks(&mut self, state: &mut SourceState) {
        if !state.landmarks.is_empty() {
            let records = std::mem::take(&mut state.landmarks);
            self.others.push(Write::ForkKeys { session: self.source.session, records });
        }
    }

    fn is_full(&self) -> bool {
        self.messages.len() >= MESSAGES
            || self.messages.iter().map(|message| message.text.len()).sum::<usize>()
                >= MESSAGE_BYTES
    }

    fn send(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        let mut writes = Vec::with_capacity(3);
        // A file is cleared before its new messages come in; its state is saved behind them.
        let (clear, rest): (Vec<Write>, Vec<Write>) = std::mem::take(&mut self.others)
            .into_iter()
            .partition(|write| matches!(write, Write::ClearSource(_)));
        writes.extend(clear);
        if !self.messages.is_empty() {
            self.sent += self.messages.len();
            let messages = std::mem::take(&mut self.messages);
            writes.push(Write::Messages { source: self.source, messages });
        }
        writes.extend(rest);
        if !writes.is_empty() {
            self.tickets.push_back(store.write(writes));
            fault::point("read: messages queued");
        }
        while self.tickets.len() > ON_THE_WAY {
            self.wait_for_one()?;
        }
        Ok(())
    }

    fn finish(mut self, store: &dyn Store) -> Result<usize, StoreError> {
        self.send(store)?;
        while !self.tickets.is_empty() {
            self.wait_for_one()?;
        }
        Ok(self.sent)
    }

    fn wait_for_one(&mut self) -> Result<(), StoreError> {
        match self.tickets.pop_front() {
            Some(ticket) => ticket.wait().map(drop),
            None => Ok(()),
        }
    }
}

/// Whether the file looks as it did when it was last read to its end.
pub fn is_untouched(source: &Source) -> bool {
    std::fs::symlink_metadata(&source.path)
        .is_ok_and(|metadata| tail::stamp(&metadata) == source.stamp)
}
