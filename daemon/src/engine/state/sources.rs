//! Transcript files that appear, grow and vanish.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::EngineState;
use crate::{
    capture::watch::{self, Notice, Watch, Watched},
    engine::{
        EngineEvent,
        files::{self, IdentifiedFile},
        job,
        registration::{KnownFiles, NewFile, Registration},
        schedule::Queue,
    },
    model::{
        SessionId, SessionKey, Timestamp,
        session::{Session, State as SessionState, Unindexed},
    },
    session::{SessionEvent, Tracker, machine},
    store::{Source, SourceKey, Store, StoreError, Write},
};

/// New files identified in one batch.
const BATCH: usize = 64;

impl EngineState {
    pub(super) fn start_watches(&mut self) {
        let events = self.engine.events.clone();
        let transcripts = Watched {
            roots: self.folders.roots.clone(),
            wanted: files::is_wanted,
            method: self.folders.method,
            poll_every: watch::POLL_EVERY,
        };
        let report = move |notice| events.blocking_send(EngineEvent::Notice(notice)).is_ok();
        self.add_watch(Watch::start(transcripts, report));
        let events = self.engine.events.clone();
        let liveness = Watched {
            roots: self.folders.liveness.iter().map(|(_, folder)| folder.clone()).collect(),
            wanted: |path| path.extension().is_some_and(|extension| extension == "json"),
            method: self.folders.method,
            poll_every: watch::POLL_EVERY,
        };
        let report = move |notice| match notice {
            Notice::Mode(_) => true,
            Notice::Files(_) | Notice::Complete { .. } => {
                events.blocking_send(EngineEvent::Liveness).is_ok()
            }
        };
        self.add_watch(Watch::start(liveness, report));
    }

    pub(super) fn end_watches(&mut self) {
        // Dropping a watch waits for its report, which waits for this loop: so do it elsewhere.
        for watch in self.watches.drain(..) {
            tokio::task::spawn_blocking(move || drop(watch));
        }
    }

    fn add_watch(&mut self, watch: std::io::Result<Watch>) {
        match watch {
            Ok(watch) => self.watches.push(watch),
            Err(error) => self.note_problem(format!("cannot watch for changes: {error}")),
        }
    }

    pub(super) fn files_changed(&mut self, paths: Vec<PathBuf>, now: Timestamp) {
        for path in paths {
            if self.is_excluded(&path) {
                continue;
            }
            match self.engine.store.source_at(&text(&path)) {
                Ok(Some(source)) => self.file_changed(&source, now),
                Ok(None) if path.exists() => self.discovery.announce(&path),
                Ok(None) => {}
                Err(error) => self.note_problem(format!("{}: {error}", path.display())),
            }
        }
    }

    fn file_changed(&mut self, source: &Source, now: Timestamp) {
        let session = source.key.session;
        if !Path::new(&source.path).exists() {
            // The agent deleted the file: the session is over.
            if source.key.number == 0 {
                self.session_event(session, SessionEvent::AgentGone, now);
            }
            return;
        }
        let needs_reading = match self.source_states.source(source.key) {
            Some(cached) => job::needs_reading(cached),
            // A read that was interrupted may have saved the stamp of the whole file.
            None => job::needs_reading(source) || source.offset < source.stamp.length,
        };
        if needs_reading {
            self.schedule.add(session, self.queue_of(session), |due| {
                due.files.insert(source.key.number);
            });
        }
    }

    /// The queue of a session: all files of a session of history are read at once, in its turn.
    fn queue_of(&self, session: SessionKey) -> Queue {
        match self.tracker.get(session).map(|session| &session.state) {
            Some(SessionState::Unindexed(Unindexed::History)) => Queue::History,
            _ => Queue::Live,
        }
    }

    pub(super) fn identify_some(&mut self) {
        let paths = self.discovery.next_batch(BATCH);
        if paths.is_empty() {
            return;
        }
        let events = self.engine.events.clone();
        tokio::spawn(async move {
            let looked = tokio::task::spawn_blocking(move || files::identify(paths)).await;
            // An engine that has ended needs no result.
            let _ = events.send(EngineEvent::Identified(looked.unwrap_or_default())).await;
        });
    }

    /// Registers new files that are not older than `max_age`.
    pub(super) async fn identified(
        &mut self,
        found: Vec<IdentifiedFile>,
        max_age: Option<Duration>,
        now: Timestamp,
    ) {
        let (sessions, sources) = self.register(found, max_age, now);
        if sources.is_empty() {
            return;
        }
        let mut writes: Vec<Write> =
            sessions.iter().map(|session| Write::Session(Box::new(session.clone()))).collect();
        let unread = sources.iter().cloned();
        writes.extend(unread.map(|source| Write::Source { source, checkpoint: None }));
        sessions.into_iter().for_each(|session| self.tracker.hold(session));
        // The next batch looks these sessions up in the store.
        if let Err(error) = self.engine.store.write(writes).done().await {
            self.note_problem(error.to_string());
        }
        for source in &sources {
            if self.queue_of(source.key.session) == Queue::Live {
                self.file_changed(source, now);
            }
        }
    }

    /// Returns the new files and their sessions, to be stored. Skips files that are older than
    /// `max_age`, belong to an excluded project or a forgotten session, or are registered already.
    fn register(
        &mut self,
        found: Vec<IdentifiedFile>,
        max_age: Option<Duration>,
        now: Timestamp,
    ) -> (Vec<Session>, Vec<Source>) {
        let mut problems = Vec::new();
        let known = RegisteredFiles { tracker: &self.tracker, store: self.engine.store.as_ref() };
        let mut registration = Registration::new(&known);
        for IdentifiedFile { path, format, identity, stamp } in found {
            let modified = Timestamp::from_micros(stamp.modified);
            let is_old = max_age.is_some_and(|age| now.since(modified) > age);
            let directory = identity.directory.as_deref().map(Path::new);
            let is_excluded = directory.is_some_and(|directory| self.is_excluded(directory));
            let session = SessionId { agent: format.agent().to_owned(), id: identity.session };
            if is_old || is_excluded || self.reader.forgotten.has(&session) {
                continue;
            }
            let first_state = machine::first_state(modified, now, self.tracker.config());
            let (sub_agent, text) = (identity.sub_agent, text(&path));
            let file = NewFile { path: text, session, sub_agent, modified, first_state };
            if let Err(error) = registration.add(file) {
                problems.push(format!("{}: {error}", path.display()));
            }
        }
        let registered = registration.finish();
        problems.into_iter().for_each(|problem| self.note_problem(problem));
        registered
    }

    fn is_excluded(&self, path: &Path) -> bool {
        self.settings.excluded.iter().any(|excluded| path.starts_with(excluded))
    }
}

/// The registered files and sessions: live sessions from memory, all others from the store.
struct RegisteredFiles<'s> {
    tracker: &'s Tracker,
    store: &'s dyn Store,
}

impl KnownFiles for RegisteredFiles<'_> {
    fn source_at(&self, path: &str) -> Result<Option<SourceKey>, StoreError> {
        Ok(self.store.source_at(path)?.map(|source| source.key))
    }

    fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        // A session that was registered a moment ago may not be in the store yet.
        if let Some(session) = self.tracker.find(id) {
            return Ok(Some(session.clone()));
        }
        match self.store.find_session(id)? {
            Some(key) => self.store.session(key),
            None => Ok(None),
        }
    }

    fn numbers_of(&self, session: SessionKey) -> Result<Vec<u32>, StoreError> {
        Ok(self.store.sources_of(session)?.iter().map(|source| source.key.number).collect())
    }

    fn next_session_key(&self) -> Result<SessionKey, StoreError> {
        self.store.next_session_key()
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
