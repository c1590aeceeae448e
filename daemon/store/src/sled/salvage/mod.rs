//! Copies the readable records of a damaged database into another one.
//!
//! To open a database, sled reads the settings (`conf`), the positions of pages (`snap.…`), and the
//! log (`db`) up to its first damaged entry. sled may panic if `conf` or `snap.…` is damaged. So
//! this module opens a copy with fewer and fewer of these files, and copies record by record.

mod files;
mod notes;
mod sources;

use std::{
    collections::{HashSet, VecDeque},
    sync::atomic::Ordering,
};

pub use self::files::open_damaged;
use super::{
    SledStore, envelope,
    keys::{self, Layout},
    pieces::Joiner,
    reading::{self, read},
    records::SessionRecord,
    statements,
};
use crate::{
    NoteNamespace, NoteStore, PendingWrite, Store, StoreError, Write,
    model::{
        Episode, EpisodeId, SessionId, SessionKey,
        session::{Session, State, Unindexed},
    },
    notes::name_of,
};

/// The numbers of records that were copied, existed already, were deleted, or are unreadable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Sessions that were missing and have been copied, or restored from their episodes.
    pub sessions: u64,
    /// Sessions that existed already, or that the user deleted with `graphiti forget`.
    pub known: u64,
    /// Sessions that existed although they had been forgotten, and have been deleted.
    pub forgotten: u64,
    pub messages: u64,
    /// Messages that were not copied, because their file belongs to another session.
    pub lost: u64,
    pub episodes: u64,
    /// Records that could not be read.
    pub unreadable: u64,
}

/// Maximum number of lists of writes that are queued and not on disk yet.
const MAX_PENDING: usize = 16;

impl SledStore {
    /// Returns the number of records in envelopes, and the number of damaged records among them.
    /// Vectors and totals of agents are not counted, because they can be computed again.
    ///
    /// # Errors
    ///
    /// When a page of the database cannot be read.
    pub fn examine(&self) -> Result<(u64, u64), StoreError> {
        let (mut records, mut unreadable) = (0, 0);
        let mut joiner = Joiner::default();
        // The key of a value whose last piece was not found yet.
        let mut incomplete: Option<Vec<u8>> = None;
        for entry in &self.tree {
            let (key, value) = entry?;
            let record = &key[..key.len().saturating_sub(2)];
            if incomplete.take_if(|incomplete| incomplete != record).is_some() {
                records += 1;
                unreadable += 1;
            }
            let sealed = match key.first().map_or(Layout::Plain, |table| keys::layout(*table)) {
                Layout::Plain => continue,
                Layout::Sealed => Some(value.to_vec()),
                Layout::Pieces => {
                    let joined = joiner.take(&key, &value);
                    incomplete = joined.is_none().then(|| record.to_vec());
                    joined
                }
            };
            if let Some(sealed) = sealed {
                records += 1;
                unreadable += u64::from(envelope::unpack(&sealed).is_err());
            }
        }
        let unfinished = u64::from(incomplete.is_some());
        Ok((records + unfinished, unreadable + unfinished))
    }

    /// Copies the readable sessions of `from` that this store lacks, with their files, messages and
    /// episodes, and some notes. Deletes the sessions of this store that were forgotten.
    ///
    /// # Errors
    ///
    /// When this store cannot be read or written; unreadable records of `from` are counted.
    pub fn salvage(&self, from: &SledStore) -> Result<Salvaged, StoreError> {
        let mut salvaged = Salvaged::default();
        let tickets = VecDeque::new();
        let paths = HashSet::new();
        let mut work = Transfer { from, into: self, salvaged: &mut salvaged, tickets, paths };
        work.notes()?;
        work.compare_redaction()?;
        // `forget` reads the copied notes from the disk.
        work.wait_for_writes()?;
        work.forget()?;
        work.wait_for_writes()?;
        for session in work.sessions() {
            work.session(session)?;
        }
        // `restore_session` looks for the copied sessions on the disk.
        work.wait_for_writes()?;
        for episode in work.episodes() {
            work.restore_session(episode)?;
        }
        work.wait_for_writes()?;
        Ok(salvaged)
    }
}

struct Transfer<'a> {
    from: &'a SledStore,
    into: &'a SledStore,
    salvaged: &'a mut Salvaged,
    tickets: VecDeque<PendingWrite>,
    /// The paths of the files that were found in `from`.
    paths: HashSet<String>,
}

impl Transfer<'_> {
    fn sessions(&mut self) -> Vec<Session> {
        let mut found = Vec::new();
        let mut next = 0;
        for entry in self.from.tree.scan_prefix([keys::table::SESSIONS]) {
            let Ok((key, value)) = entry else {
                // A scan does not advance past an unreadable page, but returns the same error
                // forever. So the other sessions are read by their numbers.
                let end = self.from.counters.next_session.load(Ordering::Relaxed);
                found.extend((next..end).filter_map(|number| self.session_numbered(number)));
                break;
            };
            next = keys::session_in(&key).map_or(next, |key| key.0 + 1);
            found.extend(self.readable(read::<SessionRecord, Session>(&key, &value)));
        }
        found
    }

    fn session_numbered(&mut self, number: u64) -> Option<Session> {
        self.readable(reading::session(&self.from.tree, SessionKey(number))).flatten()
    }

    fn episodes(&mut self) -> Vec<Episode> {
        let mut ids = self.episodes_in(keys::table::EPISODES, 1);
        ids.extend(self.episodes_in(keys::table::BY_PROJECT, 5));
        // An episode may have several pieces, and is in both tables.
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter()
            .filter_map(|id| self.readable(reading::episode(&self.from.tree, id)).flatten())
            .collect()
    }

    /// Returns the episodes in the keys of a table, up to the first page that cannot be read.
    fn episodes_in(&mut self, table: u8, at: usize) -> Vec<EpisodeId> {
        let mut ids = Vec::new();
        for key in self.from.tree.scan_prefix([table]).keys() {
            let Some(key) = self.readable(key.map_err(StoreError::from)) else { break };
            ids.extend(keys::episode_in(&key, at));
        }
        ids
    }

    fn session(&mut self, mut session: Session) -> Result<(), StoreError> {
        if self.is_known(&session.id)? {
            self.salvaged.known += 1;
            return Ok(());
        }
        let before = session.key;
        session.key = self.into.next_session_key()?;
        let episode = session.indexed.as_ref().map(|indexed| indexed.episode);
        let episode =
            episode.and_then(|id| self.readable(reading::episode(&self.from.tree, id)).flatten());
        if episode.is_none() && session.indexed.take().is_some() {
            session.state = State::Unindexed(Unindexed::History);
        }
        let key = session.key;
        self.write(Write::Session(Box::new(session)))?;
        self.salvaged.sessions += 1;
        let is_whole = self.copy_session_notes(before, key)?;
        self.sources(before, key, is_whole)?;
        match episode {
            Some(episode) => self.episode(episode, key),
            None => Ok(()),
        }
    }

    /// Whether a session exists in this store, or was forgotten.
    fn is_known(&self, id: &SessionId) -> Result<bool, StoreError> {
        let forgotten = self.into.note(NoteNamespace::Forgotten, &name_of(id))?;
        Ok(forgotten.is_some() || self.into.find_session(id)?.is_some())
    }

    /// Restores a session from its episode if the session itself could not be read.
    fn restore_session(&mut self, episode: Episode) -> Result<(), StoreError> {
        if self.is_known(&episode.session_id)? {
            return Ok(());
        }
        let key = self.into.next_session_key()?;
        let session = episode.to_session(key);
        self.write(Write::Session(Box::new(session)))?;
        self.salvaged.sessions += 1;
        let before = episode.session;
        let is_whole = self.copy_session_notes(before, key)?;
        self.sources(before, key, is_whole)?;
        self.episode(episode, key)
    }

    fn episode(&mut self, mut episode: Episode, session: SessionKey) -> Result<(), StoreError> {
        let id = episode.id;
        episode.session = session;
        let found = self.readable(statements::read(&self.from.tree, id));
        let mut writes = vec![Write::Episode(Box::new(episode))];
        if let Some(found) = found {
            writes.push(Write::Statements { episode: id, statements: Box::new(found) });
        }
        self.salvaged.episodes += 1;
        self.write_all(writes)
    }

    fn write(&mut self, write: Write) -> Result<(), StoreError> {
        self.write_all(vec![write])
    }

    fn write_all(&mut self, writes: Vec<Write>) -> Result<(), StoreError> {
        self.tickets.push_back(self.into.write(writes));
        let late = self.tickets.len() > MAX_PENDING;
        late.then(|| self.tickets.pop_front()).flatten().map_or(Ok(()), |one| one.wait().map(drop))
    }

    fn wait_for_writes(&mut self) -> Result<(), StoreError> {
        self.tickets.drain(..).try_for_each(|ticket| ticket.wait().map(drop))
    }

    fn readable<T>(&mut self, read: Result<T, StoreError>) -> Option<T> {
        if read.is_err() {
            self.salvaged.unreadable += 1;
        }
        read.ok()
    }
}

#[cfg(test)]
mod tests;
