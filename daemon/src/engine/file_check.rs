//! Checks that every path is registered once, and that every complete line of a file is stored if
//! the file has not changed for a while (a *quiet* file).

use std::{
    collections::{HashMap, HashSet},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    time::Duration,
};

use crate::{
    capture::storage::{self, OpenTranscript},
    model::{
        SessionKey, Timestamp,
        session::{State, Unindexed},
    },
    store::{Source, SourceKey, Store, StoreError},
};

/// Minimum time since the last write of a quiet file. A file that was written more recently may
/// still wait to be read.
const QUIET: Duration = Duration::from_secs(60);
/// Number of bytes that are read at a time to find the last newline.
const CHUNK: u64 = 16 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCheck {
    /// The number of registered files.
    pub files: u64,
    /// Paths that are registered more than once.
    pub twice: Vec<String>,
    /// Files with lines that are not stored.
    pub behind: Vec<FileBehind>,
}

/// A file with lines that are not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBehind {
    pub path: String,
    pub session: SessionKey,
    /// The offset up to which the file was read.
    pub read: u64,
    /// The offset after the file's last complete line.
    pub complete: u64,
}

/// Checks every file. `open_files` contains the states that are in memory. They are newer than the
/// stored states of the same files. Blocks.
pub fn check(
    store: &dyn Store,
    open_files: &[Source],
    now: Timestamp,
) -> Result<FileCheck, StoreError> {
    let open_files: HashMap<SourceKey, &Source> =
        open_files.iter().map(|source| (source.key, source)).collect();
    let mut checked = FileCheck::default();
    let mut paths: HashSet<String> = HashSet::new();
    store.visit_sources(&mut |source| {
        checked.files += 1;
        checked.behind.extend(lines_left(&source, open_files.get(&source.key).copied(), now));
        if !paths.insert(source.path.clone()) {
            checked.twice.push(source.path);
        }
        true
    })?;
    // The files of a session that waits for its import or is being indexed will be read.
    let mut failed = None;
    checked.behind.retain(|file| match store.session(file.session) {
        Ok(session) => session.is_some_and(|session| !will_be_read(&session.state)),
        Err(error) => {
            failed = Some(error);
            false
        }
    });
    failed.map_or(Ok(checked), Err)
}

fn will_be_read(state: &State) -> bool {
    match state {
        State::Indexing(_) | State::Unindexed(Unindexed::History) => true,
        State::Active
        | State::Inactive
        | State::Indexed
        | State::Failed(_)
        | State::Unindexed(Unindexed::AgentGone { .. } | Unindexed::NoTimeout) => false,
    }
}

/// Returns the file if it is quiet and has unread lines.
fn lines_left(source: &Source, open_file: Option<&Source>, now: Timestamp) -> Option<FileBehind> {
    // Files that cannot be opened are reported when they are read.
    let path = Path::new(&source.path);
    let stamp = storage::stamp(path).ok()?;
    let is_quiet = now.since(Timestamp::from_micros(stamp.modified)) >= QUIET;
    let is_read = match open_file {
        Some(open_file) => open_file.stamp == stamp,
        None => source.offset >= stamp.length && source.stamp == stamp,
    };
    if is_read || !is_quiet {
        return None;
    }
    let complete = end_of_last_line(&mut storage::open(path).ok()?, stamp.length).ok()?;
    let read = open_file.map_or(source.offset, |open_file| open_file.stamp.length);
    let (path, session) = (source.path.clone(), source.key.session);
    (read < complete).then_some(FileBehind { path, session, read, complete })
}

/// Returns the offset after the last newline before `length`; 0 without a newline.
fn end_of_last_line(file: &mut OpenTranscript, length: u64) -> io::Result<u64> {
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.take(end - start).read_to_end(&mut bytes)?;
        if let Some(at) = memchr::memrchr(b'\n', &bytes) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
