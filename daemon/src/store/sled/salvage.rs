//! What can still be read of a damaged database, brought into another one.
//!
//! sled keeps what it needs to open a database in three places: its settings (`conf`), the pages'
//! places at some moment (`snap.…`) and the log (`db`). It may panic over what is damaged beside the
//! log although the log alone is enough, and reads that up to the damage. So a copy is opened with
//! less and less beside the log, and what can be read of it is written anew, record by record.

use std::{collections::VecDeque, fs, io, path::Path};

use super::{
    SledStore, envelope,
    keys::{self, Layout},
    open_database,
    pieces::Joiner,
    reading::{self, read},
    records::SessionRecord,
    statements,
};
use crate::{
    model::{
        Episode, EpisodeId, SessionId, SessionKey,
        session::{Content, Indexed, Session, State, Unindexed},
    },
    store::{
        Note, NoteStore, Shelf, Source, SourceKey, Store, StoreError, Ticket, Write, notes::name_of,
    },
};

/// What was brought over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Sessions that were missing.
    pub sessions: u64,
    /// Sessions that were there already.
    pub known: u64,
    /// Messages.
    pub messages: u64,
    /// Episodes.
    pub episodes: u64,
    /// Records that could not be read.
    pub unreadable: u64,
}

/// Lists of writes that may be on their way to the disk.
const ON_THE_WAY: usize = 16;

/// Opens what is left of the database in `damaged`, as a copy in `work`, which must not exist.
///
/// # Errors
///
/// When nothing of it can be read, or the copy cannot be written.
pub fn open_what_is_left(damaged: &Path, work: &Path) -> Result<SledStore, StoreError> {
    let copy = |what: fn(&str) -> bool| -> Result<(), StoreError> {
        let failed = |error: io::Error| {
            StoreError::Backend(format!(
                "copy {} to {}: {error}",
                damaged.display(),
                work.display()
            ))
        };
        if work.exists() {
            fs::remove_dir_all(work).map_err(failed)?;
        }
        copy_files(damaged, work, what).map_err(failed)
    };
    let attempts: [fn(&str) -> bool; 3] =
        [|_| true, |name| !name.starts_with("snap."), |name| name == "db" || name == "blobs"];
    let mut outcome = Err(StoreError::Unreadable("there is no database in it".to_owned()));
    if !damaged.join("db").is_file() {
        return outcome;
    }
    for kept in attempts {
        copy(kept)?;
        if !work.join("conf").exists() {
            // Settings are the same for all our databases: those of an empty one will do.
            settings_of_an_empty_one(work)?;
        }
        outcome = SledStore::open(work);
        match &outcome {
            Err(StoreError::Unreadable(_) | StoreError::Backend(_)) => {}
            Ok(_) | Err(_) => break,
        }
    }
    outcome
}

fn copy_files(from: &Path, to: &Path, kept: fn(&str) -> bool) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in from.read_dir()? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_file() && kept(&name.to_string_lossy()) {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}

fn settings_of_an_empty_one(folder: &Path) -> Result<(), StoreError> {
    let empty = folder.join("empty");
    drop(open_database(&empty)?);
    let failed = |error: io::Error| StoreError::Backend(format!("{}: {error}", folder.display()));
    fs::copy(empty.join("conf"), folder.join("conf")).map_err(failed)?;
    fs::remove_dir_all(&empty).map_err(failed)
}

impl SledStore {
    /// How many records there are, and how many of them cannot be read.
    ///
    /// # Errors
    ///
    /// When the database cannot be read at all.
    pub fn examine(&self) -> Result<(u64, u64), StoreError> {
        let (mut records, mut unreadable) = (0, 0);
        let mut joiner = Joiner::default();
        for entry in &self.tree {
            let (key, value) = entry?;
            let sealed = match key.first().map_or(Layout::Plain, |table| keys::layout(*table)) {
                Layout::Plain => continue,
                Layout::Sealed => Some(value.to_vec()),
                Layout::Pieces => joiner.take(&key, &value),
            };
            if let Some(sealed) = sealed {
                records += 1;
                unreadable += u64::from(envelope::unpack(&sealed).is_err());
            }
        }
        Ok((records, unreadable))
    }

    /// Brings everything that can be read of `from` and is not here yet over. What is known of a
    /// session here stays as it is.
    ///
    /// # Errors
    ///
    /// When this store cannot be read or written; what cannot be read of the other one is counted.
    pub fn salvage(&self, from: &SledStore) -> Result<Salvaged, StoreError> {
        let mut salvaged = Salvaged::default();
        let tickets = VecDeque::new();
        let mut work = Work { from, into: self, salvaged: &mut salvaged, tickets };
        work.notes()?;
        // Whether a session was forgotten is asked of the disk.
        work.saved()?;
        for session in work.sessions() {
            work.session(session)?;
        }
        // Whether a session is there is asked of the disk.
        work.saved()?;
        for episode in work.episodes() {
            work.session_of(episode)?;
        }
        work.saved()?;
        Ok(salvaged)
    }
}

struct Work<'a> {
    from: &'a SledStore,
    into: &'a SledStore,
    salvaged: &'a mut Salvaged,
    tickets: VecDeque<Ticket>,
}

impl Work<'_> {
    fn sessions(&mut self) -> Vec<Session> {
        let mut found = Vec::new();
        for entry in self.from.tree.scan_prefix([keys::table::SESSIONS]) {
            let session = entry
                .map_err(StoreError::from)
                .and_then(|(key, value)| read::<SessionRecord, Session>(&key, &value));
            found.extend(self.readable(session));
        }
        found
    }

    fn episodes(&mut self) -> Vec<Episode> {
        let mut ids: Vec<EpisodeId> = Vec::new();
        for key in self.from.tree.scan_prefix([keys::table::EPISODES]).keys() {
            let id = self.readable(key.map_err(StoreError::from));
            ids.extend(id.and_then(|key| keys::episode_in(&key, 1)));
        }
        // An episode has several pieces.
        ids.dedup();
        ids.into_iter()
            .filter_map(|id| self.readable(reading::episode(&self.from.tree, id)).flatten())
            .collect()
    }

    fn notes(&mut self) -> Result<(), StoreError> {
        // What a session awaits of a model is worked out anew.
        let shelves = [Shelf::Learned, Shelf::Usage, Shelf::Forgotten, Shelf::ForgottenRecords];
        for shelf in shelves {
            let notes = self.readable(self.from.notes(shelf)).unwrap_or_default();
            for (name, content) in notes {
                if self.into.note(shelf, &name)?.is_none() {
                    let note = Note { shelf, name, content: Some(content) };
                    self.write(Write::Note(note))?;
                }
            }
        }
        Ok(())
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
        self.relations(before, key)?;
        for source in self.sources(before) {
            self.source(source, key)?;
        }
        match episode {
            Some(episode) => self.episode(episode, key),
            None => Ok(()),
        }
    }

    /// Whether a session is here, or was forgotten.
    fn is_known(&self, id: &SessionId) -> Result<bool, StoreError> {
        let forgotten = self.into.note(Shelf::Forgotten, &name_of(id))?;
        Ok(forgotten.is_some() || self.into.find_session(id)?.is_some())
    }

    /// What a session is forked from, and what its own forks are known by.
    fn relations(&mut self, before: SessionKey, now: SessionKey) -> Result<(), StoreError> {
        let records = self.readable(reading::landmarks_of(&self.from.tree, before));
        let records = records.unwrap_or_default();
        self.write(Write::Landmarks { session: now, records })?;
        let fork = self.from.note(Shelf::Forks, &before.0.to_be_bytes());
        if let Some(content) = self.readable(fork).flatten() {
            let name = now.0.to_be_bytes().to_vec();
            self.write(Write::Note(Note { shelf: Shelf::Forks, name, content: Some(content) }))?;
        }
        Ok(())
    }

    /// An episode whose session cannot be read: it says enough to make that anew.
    fn session_of(&mut self, episode: Episode) -> Result<(), StoreError> {
        if self.is_known(&episode.session_id)? {
            return Ok(());
        }
        let key = self.into.next_session_key()?;
        let session = Session {
            key,
            id: episode.session_id.clone(),
            project: Some(episode.project.clone()),
            file: episode.file.clone(),
            state: State::Indexed,
            content: Some(Content {
                hash: episode.content_hash,
                messages: episode.summary.message_count.unwrap_or_default(),
            }),
            indexed: Some(Indexed {
                episode: episode.id,
                hash: episode.content_hash,
                at: episode.created_at,
                reason: episode.reason.clone(),
            }),
            started_at: Some(episode.started_at),
            last_activity: episode.ended_at,
        };
        self.write(Write::Session(Box::new(session)))?;
        self.salvaged.sessions += 1;
        let before = episode.session;
        for source in self.sources(before) {
            self.source(source, key)?;
        }
        self.episode(episode, key)
    }

    fn sources(&mut self, session: SessionKey) -> Vec<Source> {
        self.readable(reading::sources_of(&self.from.tree, session)).unwrap_or_default()
    }

    /// Block by block: one that is damaged does not cost the others.
    fn source(&mut self, mut source: Source, session: SessionKey) -> Result<(), StoreError> {
        let before = source.key;
        source.key = SourceKey { session, number: before.number };
        let blocks = self.readable(reading::blocks_of(&self.from.tree, before)).unwrap_or_default();
        for (at, first) in blocks.iter().enumerate() {
            let count = blocks.get(at + 1).map_or(u32::MAX, |next| next - first);
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let messages = self.readable(self.from.messages(before, *first, count));
            let messages = messages.unwrap_or_default();
            self.salvaged.messages += messages.len() as u64;
            self.write(Write::Messages { source: source.key, messages })?;
        }
        let checkpoint = self.readable(self.from.checkpoint(before)).flatten();
        self.write(Write::Source { source, checkpoint })
    }

    fn episode(&mut self, mut episode: Episode, session: SessionKey) -> Result<(), StoreError> {
        let id = episode.id;
        episode.session = session;
        let said = self.readable(statements::read(&self.from.tree, id));
        let mut writes = vec![Write::Episode(Box::new(episode))];
        if let Some(said) = said {
            writes.push(Write::Statements { episode: id, statements: Box::new(said) });
        }
        self.salvaged.episodes += 1;
        self.write_all(writes)
    }

    fn write(&mut self, write: Write) -> Result<(), StoreError> {
        self.write_all(vec![write])
    }

    fn write_all(&mut self, writes: Vec<Write>) -> Result<(), StoreError> {
        self.tickets.push_back(self.into.write(writes));
        let late = self.tickets.len() > ON_THE_WAY;
        late.then(|| self.tickets.pop_front()).flatten().map_or(Ok(()), |one| one.wait().map(drop))
    }

    fn saved(&mut self) -> Result<(), StoreError> {
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
mod tests {
    use super::*;
    use crate::store::contract;

    const SESSIONS: u64 = 5;
    const MESSAGES: u32 = 200;

    /// A store with sessions of some messages and an episode each, closed.
    fn filled(folder: &Path) {
        let store = SledStore::open(folder).unwrap();
        for number in 0..SESSIONS {
            let key = store.next_session_key().unwrap();
            let mut session = contract::session(key, &format!("session-{number}"));
            let source = contract::source_of(&session, 0);
            let messages: Vec<_> = (0..MESSAGES).map(|seq| contract::message(seq, 500)).collect();
            let episode = contract::episode(&session, 1);
            let writes = vec![
                Write::Messages { source: source.key, messages },
                Write::Source { source, checkpoint: Some(vec![7; 9_000]) },
            ];
            store.write(writes).wait().unwrap();
            contract::index_saying(&store, &mut session, &episode, contract::statements(1));
        }
        store.close();
    }

    fn salvaged(damaged: &Path) -> (SledStore, Salvaged, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let left = open_what_is_left(damaged, &folder.path().join("work")).unwrap();
        let store = SledStore::open(&folder.path().join("new")).unwrap();
        let salvaged = store.salvage(&left).unwrap();
        (store, salvaged, folder)
    }

    fn files(folder: &Path, prefix: &str) -> Vec<std::path::PathBuf> {
        let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let named = |path: &std::path::PathBuf| {
            path.file_name().unwrap().to_string_lossy().starts_with(prefix)
        };
        entries.filter(named).collect()
    }

    #[test]
    fn settings_and_places_of_pages_are_not_needed() {
        for broken in ["conf", "snap."] {
            let folder = tempfile::tempdir().unwrap();
            filled(folder.path());
            // sled notes where pages are when it opens what is there.
            SledStore::open(folder.path()).unwrap().close();
            let files = files(folder.path(), broken);
            assert!(!files.is_empty(), "{broken}");
            for file in files {
                fs::write(file, b"damaged").unwrap();
            }
            let (store, salvaged, _folder) = salvaged(folder.path());
            let messages = SESSIONS * u64::from(MESSAGES);
            let wanted = Salvaged { sessions: SESSIONS, messages, episodes: SESSIONS, ..salvaged };
            assert_eq!((salvaged, salvaged.unreadable), (wanted, 0), "{broken}");
            let mut sessions = Vec::new();
            store
                .visit_sessions(&mut |session| {
                    sessions.push(session);
                    true
                })
                .unwrap();
            for session in sessions {
                let source = &store.sources_of(session.key).unwrap()[0];
                assert_eq!(store.checkpoint(source.key).unwrap(), Some(vec![7; 9_000]));
                let messages = store.messages(source.key, 0, 1_000).unwrap();
                assert_eq!(messages.len(), MESSAGES as usize);
                let said = statements::read(&store.tree, session.indexed.as_ref().unwrap().episode);
                assert_eq!(said.unwrap(), contract::statements(1));
                let episode = store.episode(session.indexed.unwrap().episode).unwrap().unwrap();
                assert_eq!((episode.session, episode.session_id), (session.key, session.id));
            }
        }
    }

    #[test]
    fn a_record_that_cannot_be_read_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let store = SledStore::open(folder.path()).unwrap();
        let whole = store.examine().unwrap();
        assert_eq!(whole.1, 0);
        // A session, a block in the middle of another's messages, the episode of a third.
        let session = |number: u64| {
            let id = contract::session(SessionKey(0), &format!("session-{number}")).id;
            store.find_session(&id).unwrap().unwrap()
        };
        let source = SourceKey { session: session(1), number: 0 };
        let block = reading::blocks_of(&store.tree, source).unwrap()[1];
        let lost = store.session(session(2)).unwrap().unwrap().indexed.unwrap().episode;
        let keys = [
            keys::session(session(0)),
            [keys::messages(source, block), vec![0, 0]].concat(),
            [keys::episode(lost), vec![0, 0]].concat(),
        ];
        for key in keys {
            let mut value = store.tree.get(&key).unwrap().unwrap().to_vec();
            value[9] ^= 1;
            store.tree.insert(key, value).unwrap();
        }
        assert_eq!(store.examine().unwrap(), (whole.0, 3));
        store.close();
        let (store, salvaged, _folder) = salvaged(folder.path());
        assert_eq!(salvaged.unreadable, 3 + 1, "the episode is met twice");
        assert_eq!((salvaged.sessions, salvaged.episodes), (SESSIONS, SESSIONS - 1));
        let whole = SESSIONS * u64::from(MESSAGES);
        assert!((whole - 64..whole).contains(&salvaged.messages), "{salvaged:?}");
        // What lost its episode is due for another one.
        let id = contract::session(SessionKey(0), "session-2").id;
        let key = store.find_session(&id).unwrap().unwrap();
        let state = store.session(key).unwrap().unwrap().state;
        assert_eq!(state, State::Unindexed(Unindexed::History));
    }

    #[test]
    fn what_is_known_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let (store, _, _folder) = salvaged(folder.path());
        let work = tempfile::tempdir().unwrap();
        let left = open_what_is_left(folder.path(), &work.path().join("work")).unwrap();
        let again = store.salvage(&left).unwrap();
        assert_eq!(again, Salvaged { known: SESSIONS, ..Salvaged::default() });
        assert_eq!(store.totals().sessions, SESSIONS);
    }
}
