//! Detects forks and copies: transcripts that start with the records of another transcript.
//!
//! An agent that forks a session copies its records, with their ids, into a new file. People copy
//! transcripts, too. A record belongs to the first session in which it was read. The copied records
//! of a fork are skipped, except for metadata such as the working directory.
//!
//! If the folder of a project is moved or copied, a sub-agent's file may exist twice, too.
//!
//! Two files are related when the first record of one file is a [fork key](Write::ForkKeys) of the
//! other file. The fork keys of a session are its first record and the records that mark its
//! compactions, because a fork may start at a compaction.

use std::{
    collections::{HashMap, HashSet},
    io,
    path::Path,
};

use serde::{Deserialize, Serialize};

use crate::{
    capture::{
        format::{Format, Memory},
        salvage,
        tail::{FileCursor, Tail, TailLine},
    },
    engine::{
        forgotten::{self, Fingerprints},
        reading::{ReadError, SourceReader},
        record_locks::RecordLock,
    },
    model::{SessionId, SessionKey, transcript::RecordUuid},
    store::{
        NoteNamespace, Source, SourceKey, Store, StoreError, Tally, Write, damaged::skip_damaged,
    },
};

/// Maximum number of lines that are read to find the first record with an id.
const MAX_LINES_BEFORE_RECORD: u64 = 64;
/// The effect of a damaged record.
const STORED_TWICE: &str = "copies of its messages may be stored twice";

/// The records that the start of a session shares with another session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The other session; `None` if it was forgotten before this session was read.
    pub of: Option<SessionId>,
    /// The number of shared records.
    pub records: u64,
}

/// The form on disk.
#[derive(Serialize, Deserialize)]
struct ForkRecord {
    version: u32,
    of: Option<(String, String)>,
    records: u64,
}

const VERSION: u32 = 1;

/// Returns the records that a session shares with the session from which it was forked; `None` if
/// the session is not a fork.
pub fn fork_of(store: &dyn Store, session: SessionKey) -> Result<Option<Fork>, StoreError> {
    let note = store.note(NoteNamespace::Forks, &session.0.to_be_bytes())?;
    let saved = note.and_then(|note| serde_json::from_slice::<ForkRecord>(&note).ok());
    let saved = saved.filter(|saved| saved.version == VERSION);
    Ok(saved.map(|ForkRecord { of, records, .. }| Fork {
        of: of.map(|(agent, id)| SessionId { agent, id }),
        records,
    }))
}

/// Returns the other sessions that have a fork key in common with `session`.
pub fn relatives(store: &dyn Store, session: SessionKey) -> Result<Vec<SessionKey>, StoreError> {
    let mut found = Vec::new();
    for fork_key in store.fork_keys_of(session)? {
        found.extend(store.sessions_with_fork_key(fork_key)?);
    }
    found.sort_unstable();
    found.dedup();
    found.retain(|relative| *relative != session);
    Ok(found)
}

/// The lines of a file, after its cursor, that are also in another session, or in another file of
/// the same session.
pub(super) struct SharedPrefix<'c> {
    /// The number of the last shared line; 0 if no line is shared.
    pub(super) until: u64,
    /// The write that saves the fork.
    pub(super) note: Option<Write>,
    /// Held until the messages of the file are in the store.
    pub(super) _lock: RecordLock<'c>,
}

/// The lines of a file that belong to other sessions or files.
#[derive(Debug, Default)]
struct SharedLines {
    /// The number of the last of these lines; 0 if there are no such lines.
    until: u64,
    records: u64,
    /// The session that owns the last of these lines; `None` if this session was forgotten.
    of: Option<SessionId>,
}

impl SharedLines {
    /// Adds a line if its record has an owner. `owner` is the result of [`RecordOwners::of`].
    fn note(&mut self, line: u64, owner: Option<Option<SessionId>>) {
        if let Some(of) = owner {
            *self = SharedLines { until: line, records: self.records + 1, of };
        }
    }

    /// Returns the fork with these lines of `source`. Adds the number of records of `before`, the
    /// fork that was found earlier. Returns `None` if no line is shared, or if the file is not the
    /// first file of its session.
    fn fork(self, source: SourceKey, before: Option<Fork>) -> Option<Fork> {
        let records = self.records + before.map_or(0, |before| before.records);
        (self.until > 0 && source.number == 0).then_some(Fork { of: self.of, records })
    }
}

/// The owners of records. The owner of a record is an index of `ids`, or a forgotten session.
struct RecordOwners {
    ids: Vec<SessionId>,
    records: HashMap<RecordUuid, usize>,
    forgotten: Vec<Fingerprints>,
}

impl SourceReader {
    /// Whether the sub-agent of `source` has other files in the session.
    pub(super) fn has_several_files(&self, source: &Source) -> Result<bool, StoreError> {
        let others = self.store.sources_of(source.key.session)?;
        let is_namesake =
            |other: &Source| other.key != source.key && other.sub_agent == source.sub_agent;
        Ok(others.iter().any(is_namesake))
    }

    /// Finds the lines of `source` after `cursor` that belong to other sessions or files. `first`
    /// is the first record of the file, if it is known. Returns `None` while no record has an id.
    pub(super) fn shared_prefix(
        &self,
        format: &dyn Format,
        source: &Source,
        cursor: &FileCursor,
        first: Option<RecordUuid>,
    ) -> Result<Option<SharedPrefix<'_>>, ReadError> {
        let path = Path::new(&source.path);
        let fail = |error| ReadError::File { path: source.path.clone(), error };
        let first = match first {
            Some(first) => Some(first),
            None => first_record(format, path, cursor).map_err(fail)?,
        };
        let Some(first) = first else { return Ok(None) };
        let lock = self.locks.lock(first);
        let owners = self.owners(format, source, &first)?;
        let mut shared = SharedLines::default();
        if !owners.is_empty() {
            // A file that is read again, for example after a crash, keeps its stored records.
            let mut own: HashSet<RecordUuid> = HashSet::new();
            let add = &mut |record: &RecordUuid| {
                own.insert(*record);
            };
            forgotten::visit_records_of(self.store.as_ref(), source.key, add)?;
            let visit = &mut |line, record: &RecordUuid| {
                if !own.contains(record) {
                    shared.note(line, owners.of(record));
                }
                true
            };
            each_record(format, path, cursor, visit).map_err(fail)?;
        }
        // Records before the cursor may be shared, too.
        let before = match cursor.line {
            0 => None,
            _ => fork_of(self.store.as_ref(), source.key.session)?,
        };
        let until = shared.until;
        let note = shared.fork(source.key, before).map(|fork| write(source.key.session, &fork));
        Ok(Some(SharedPrefix { until, note, _lock: lock }))
    }

    fn owners(
        &self,
        format: &dyn Format,
        source: &Source,
        first: &RecordUuid,
    ) -> Result<RecordOwners, ReadError> {
        let store = self.store.as_ref();
        let mut owners =
            RecordOwners { ids: Vec::new(), records: HashMap::new(), forgotten: Vec::new() };
        for id in self.forgotten.with_fork_key(first) {
            owners.forgotten.push(Fingerprints::load(store, &id)?);
        }
        let mut files: Vec<(Source, usize)> = Vec::new();
        let sessions = match source.sub_agent {
            None => store.sessions_with_fork_key(*first)?,
            Some(_) => vec![source.key.session],
        };
        for key in sessions {
            // Without a damaged record, copied messages are stored twice, which is better than not
            // at all.
            let session = skip_damaged(store.session(key), STORED_TWICE)?;
            let Some(session) = session else { continue };
            let number = owners.ids.len();
            owners.ids.push(session.id);
            for other in skip_damaged(store.sources_of(key), STORED_TWICE)? {
                if other.key == source.key || other.sub_agent != source.sub_agent {
                    continue;
                }
                let own = &mut |record: &RecordUuid| owners.add(*record, number);
                forgotten::visit_records_of(store, other.key, own)?;
                // If two files of a session share new records, the records belong to the file with
                // the lower number.
                if key != source.key.session || other.key.number < source.key.number {
                    files.push((other, number));
                }
            }
        }
        // The unread records of another file, after its last checkpoint, belong to that file.
        for (other, number) in files {
            let state = self.load(&other)?;
            let own = &mut |line, record: &RecordUuid| {
                if line > state.shared {
                    owners.add(*record, number);
                }
                true
            };
            // A file that cannot be read owns no new records.
            let _ = each_record(format, Path::new(&other.path), &state.cursor, own);
        }
        Ok(owners)
    }
}

impl RecordOwners {
    /// Sets the owner of a record, unless the record has an owner.
    fn add(&mut self, record: RecordUuid, owner: usize) {
        self.records.entry(record).or_insert(owner);
    }

    fn is_empty(&self) -> bool {
        self.records.is_empty() && self.forgotten.is_empty()
    }

    /// Returns the owner of a record; `Some(None)` if the owner is a forgotten session.
    fn of(&self, record: &RecordUuid) -> Option<Option<SessionId>> {
        if let Some(owner) = self.records.get(record) {
            return Some(self.ids.get(*owner).cloned());
        }
        self.forgotten.iter().any(|known| known.has(record)).then_some(None)
    }
}

/// Returns the id of the first record after `cursor`.
fn first_record(
    format: &dyn Format,
    path: &Path,
    cursor: &FileCursor,
) -> io::Result<Option<RecordUuid>> {
    let mut first = None;
    let last = cursor.line + MAX_LINES_BEFORE_RECORD;
    let visit = &mut |line, record: &RecordUuid| {
        first = (line <= last).then_some(*record);
        false
    };
    each_record_until(format, path, cursor, last, visit)?;
    Ok(first)
}

/// Calls `visit` with the number and the record id of each line after `cursor`, until `visit`
/// returns `false`. Lines without a record id are skipped.
pub(super) fn each_record(
    format: &dyn Format,
    path: &Path,
    cursor: &FileCursor,
    visit: &mut dyn FnMut(u64, &RecordUuid) -> bool,
) -> io::Result<()> {
    each_record_until(format, path, cursor, u64::MAX, visit)
}

fn each_record_until(
    format: &dyn Format,
    path: &Path,
    cursor: &FileCursor,
    last: u64,
    visit: &mut dyn FnMut(u64, &RecordUuid) -> bool,
) -> io::Result<()> {
    let (mut tail, _) = match Tail::open(path, cursor) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let (mut memory, mut tally) = (Memory::default(), Tally::default());
    let mut line_number = tail.cursor().line;
    while line_number < last
        && let Some(line) = tail.next_line(&salvage::is_whole)?
    {
        line_number += 1;
        let TailLine::Whole(line) = line else { continue };
        let mut record = None;
        salvage::read_line(format, line, &mut memory, &mut tally, &mut |entry| {
            record = record.or(entry.uuid);
        });
        if record.is_some_and(|record| !visit(line_number, &record)) {
            break;
        }
    }
    Ok(())
}

fn write(session: SessionKey, fork: &Fork) -> Write {
    let of = fork.of.clone().map(|id| (id.agent, id.id));
    let saved = ForkRecord { version: VERSION, of, records: fork.records };
    Write::note(NoteNamespace::Forks, &session.0.to_be_bytes(), &saved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::format::Formats;

    fn id(id: &str) -> SessionId {
        SessionId { agent: "claude".to_owned(), id: id.to_owned() }
    }

    #[test]
    fn a_record_belongs_to_the_first_session_in_which_it_was_read() {
        let (ids, forgotten) = (vec![id("a"), id("b")], Vec::new());
        let mut owners = RecordOwners { ids, records: HashMap::new(), forgotten };
        assert!(owners.is_empty());
        owners.add([1; 16], 0);
        owners.add([1; 16], 1);
        owners.add([2; 16], 1);
        assert_eq!(owners.of(&[1; 16]), Some(Some(id("a"))));
        assert_eq!(owners.of(&[2; 16]), Some(Some(id("b"))));
        assert_eq!(owners.of(&[3; 16]), None);
        owners.forgotten.push(Fingerprints::of(&[[1; 16], [3; 16]]));
        assert_eq!(owners.of(&[3; 16]), Some(None));
        // A session that exists takes precedence.
        assert_eq!(owners.of(&[1; 16]), Some(Some(id("a"))));
        assert_eq!(owners.of(&[4; 16]), None);
    }

    #[test]
    fn a_session_is_a_fork_only_if_its_own_file_shares_a_line() {
        let key = |number| SourceKey { session: SessionKey(1), number };
        let shared = || {
            let mut shared = SharedLines::default();
            shared.note(1, Some(Some(id("a"))));
            shared.note(2, None);
            shared.note(4, Some(Some(id("b"))));
            shared.note(5, None);
            shared
        };
        assert_eq!(shared().until, 4);
        let fork = |records| Some(Fork { of: Some(id("b")), records });
        assert_eq!(shared().fork(key(0), None), fork(2));
        assert_eq!(shared().fork(key(0), fork(7)), fork(9));
        assert_eq!(shared().fork(key(1), None), None);
        let mut new = SharedLines::default();
        new.note(1, None);
        assert_eq!(new.until, 0);
        assert_eq!(new.fork(key(0), fork(7)), None);
    }

    #[test]
    fn the_fork_of_a_forgotten_session_has_no_original() {
        let mut shared = SharedLines::default();
        shared.note(3, Some(None));
        let key = SourceKey { session: SessionKey(1), number: 0 };
        assert_eq!(shared.fork(key, None), Some(Fork { of: None, records: 1 }));
    }

    #[test]
    fn the_first_record_is_searched_only_in_the_first_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let format = Formats::default().of_agent("claude").unwrap();
        let record = r#"{"type":"user","uuid":"00000000-0000-4000-8000-000000000007","message":{"role":"user","content":"one"}}"#;
        let title = r#"{"type":"summary","summary":"A title","leafUuid":"00000000-0000-4000-8000-000000000008"}"#;
        let mut wanted = [0; 16];
        (wanted[6], wanted[8], wanted[15]) = (0x40, 0x80, 7);
        for (before, found) in
            [(0, true), (MAX_LINES_BEFORE_RECORD - 1, true), (MAX_LINES_BEFORE_RECORD, false)]
        {
            let lines = format!("{}{record}\n", format!("{title}\n").repeat(before as usize));
            std::fs::write(&path, lines).unwrap();
            let first = first_record(&*format, &path, &FileCursor::default()).unwrap();
            assert_eq!(first, found.then_some(wanted), "{before}");
        }
    }
}
