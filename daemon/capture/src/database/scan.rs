//! Finds the sessions that changed in databases.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rusqlite::Connection;

use super::{DatabaseError, LastRows, SessionDatabase, open::Files, read};
use crate::{format::FORMATS, store::FileStamp};

/// Maximum number of recent sessions that are compared although they have no new row. An agent
/// changes existing rows only in running sessions, which had new rows recently.
const RECENT: usize = 16;
/// Minimum time between two reads of a database.
const PAUSE: Duration = Duration::from_millis(100);
/// The pause after a read is at least this multiple of the time that the read took.
const PAUSE_FACTOR: u32 = 20;

/// The states of the sessions in each known database.
#[derive(Default)]
pub struct DatabaseScanner {
    known: HashMap<PathBuf, KnownDatabase>,
}

/// The sessions to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Sessions with new rows, and sessions that changed recently. Of the other sessions, only
    /// their number is read.
    New,
    All,
}

struct KnownDatabase {
    database: &'static dyn SessionDatabase,
    /// `None` when the database must be read again even if its files did not change.
    files: Option<Files>,
    last: LastRows,
    sessions: HashMap<String, FileStamp>,
    /// The sessions that changed most recently, the latest one last.
    recent: VecDeque<String>,
    /// The earliest time of the next read.
    next: Option<Instant>,
    /// Whether a change of the database was reported and has not been read yet.
    is_pending: bool,
}

impl DatabaseScanner {
    /// Returns the paths of the sessions of the database at `path` that were added or changed, the
    /// newest first, and then those of the deleted sessions. All sessions of a deleted database
    /// count as deleted. If the database cannot be read, returns the path of the database. If the
    /// last read was a short time ago, [`Extent::New`] returns nothing and marks the database as
    /// pending.
    pub fn changed(&mut self, path: &Path, extent: Extent, now: Instant) -> Vec<PathBuf> {
        let Some((database, path)) = database_of(path) else { return Vec::new() };
        let known = self.known.entry(path.clone()).or_insert_with(|| KnownDatabase::new(database));
        if extent == Extent::New && known.next.is_some_and(|next| now < next) {
            known.is_pending = true;
            return Vec::new();
        }
        let began = Instant::now();
        let changed = known.compare(&path, extent);
        known.next = Some(now + PAUSE.max(began.elapsed() * PAUSE_FACTOR));
        known.is_pending = false;
        let ids = match changed {
            Ok(ids) => ids,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let gone = self.known.remove(&path);
                gone.into_iter().flat_map(|known| known.sessions.into_keys()).collect()
            }
            Err(error) => {
                tracing::debug!(%error, database = %path.display(), "cannot read a database");
                known.files = None;
                return vec![path];
            }
        };
        ids.into_iter().map(|id| path.join(id)).collect()
    }

    /// Returns the time until a database that changed may be read again.
    pub fn until_next(&self, now: Instant) -> Option<Duration> {
        let pending = self.known.values().filter(|known| known.is_pending);
        pending.filter_map(|known| Some(known.next?.saturating_duration_since(now))).min()
    }

    /// Returns the databases that changed and wait for their next read.
    pub fn pending(&self) -> Vec<PathBuf> {
        let pending = self.known.iter().filter(|(_, known)| known.is_pending);
        pending.map(|(path, _)| path.clone()).collect()
    }

    /// Returns the sessions of deleted databases.
    pub fn gone(&mut self) -> Vec<PathBuf> {
        let gone = self.known.extract_if(|path, _| !path.is_file());
        gone.flat_map(|(path, known)| {
            known.sessions.into_keys().map(move |id| path.join(id)).collect::<Vec<_>>()
        })
        .collect()
    }
}

impl KnownDatabase {
    fn new(database: &'static dyn SessionDatabase) -> KnownDatabase {
        KnownDatabase {
            database,
            files: None,
            last: LastRows::default(),
            sessions: HashMap::new(),
            recent: VecDeque::new(),
            next: None,
            is_pending: false,
        }
    }

    /// Returns the sessions that changed since the last call.
    fn compare(&mut self, path: &Path, extent: Extent) -> io::Result<Vec<String>> {
        let files = Files::of(path)?;
        if self.files == Some(files) {
            return Ok(Vec::new());
        }
        let is_new = self.files.is_none();
        let extent = if is_new { Extent::All } else { extent };
        let changes = read(path, |connection| self.changes(connection, extent))?;
        self.files = Some(files);
        self.last = changes.last;
        for id in &changes.gone {
            self.sessions.remove(id);
        }
        let mut changed = changes.changed;
        changed.sort_by_key(|(_, stamp)| std::cmp::Reverse(stamp.modified));
        for (id, stamp) in changed.iter().rev() {
            self.sessions.insert(id.clone(), *stamp);
            self.note_recent(id);
        }
        Ok(changed.into_iter().map(|(id, _)| id).chain(changes.gone).collect())
    }

    fn changes(&self, connection: &Connection, extent: Extent) -> io::Result<Changes> {
        let database = self.database;
        let last = database.last_rows(connection)?;
        let mut changes = Changes { last, changed: Vec::new(), gone: Vec::new() };
        let mut candidates: HashSet<String> = match extent {
            Extent::All => database.sessions(connection)?.into_iter().collect(),
            Extent::New => database.sessions_after(connection, &self.last)?.into_iter().collect(),
        };
        let is_new = |id: &&String| !self.sessions.contains_key(*id);
        let expected = self.sessions.len() + candidates.iter().filter(is_new).count();
        if expected as u64 != changes.last.sessions {
            let listed: HashSet<String> = database.sessions(connection)?.into_iter().collect();
            changes.gone =
                self.sessions.keys().filter(|id| !listed.contains(*id)).cloned().collect();
        }
        candidates.extend(self.recent.iter().cloned());
        for id in candidates {
            let stamp = match database.stamp(connection, &id) {
                // An unreadable row of one session must not prevent reading the others.
                Err(DatabaseError::Database(cause)) if cause.sqlite_error_code().is_none() => {
                    tracing::debug!(session = id, %cause, "a session in a database cannot be read");
                    continue;
                }
                stamp => stamp?,
            };
            match stamp {
                Some(stamp) if self.sessions.get(&id) != Some(&stamp) => {
                    changes.changed.push((id, stamp));
                }
                None if self.sessions.contains_key(&id) && !changes.gone.contains(&id) => {
                    changes.gone.push(id);
                }
                _ => {}
            }
        }
        Ok(changes)
    }

    fn note_recent(&mut self, id: &str) {
        self.recent.retain(|known| known != id);
        self.recent.push_back(id.to_owned());
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }
}

/// The result of comparing the sessions of a database.
struct Changes {
    last: LastRows,
    changed: Vec<(String, FileStamp)>,
    gone: Vec<String>,
}

/// Returns the database that changes when the file at `path` changes, and how to read it.
pub fn database_of(path: &Path) -> Option<(&'static dyn SessionDatabase, PathBuf)> {
    FORMATS.iter().find_map(|format| {
        let database = format.database()?;
        Some((database, database.database_of(path)?))
    })
}
