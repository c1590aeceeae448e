//! Decides on transcript files that are created, changed, moved or deleted.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::{EngineEffect, EngineState, View};
use crate::{
    engine::{
        files::{FileObservation, IdentifiedFile},
        registration::{KnownFiles, NewFile, Registration},
        schedule::Queue,
    },
    model::{
        SessionId, SessionKey, Timestamp,
        session::{Session, State as SessionState, Unindexed},
    },
    session::{SessionEvent, Tracker, machine},
    store::{FileStamp, Source, SourceKey, StoreError},
};

/// Maximum number of new files that are identified in one batch.
const BATCH: usize = 64;

impl EngineState {
    pub(super) fn start_watches(&mut self) {
        self.effects.push(EngineEffect::Watch(self.folders.clone()));
    }

    /// Requests an observation of files that may have been created, changed or deleted.
    pub(super) fn observe_files(&mut self, mut paths: Vec<PathBuf>) {
        paths.retain(|path| !self.is_excluded(path));
        if !paths.is_empty() {
            self.effects.push(EngineEffect::ObserveFiles(paths));
        }
    }

    pub(super) fn files_observed(&mut self, files: Vec<FileObservation>, now: Timestamp) {
        for file in files {
            match self.view.source_at(&text(&file.path)) {
                Ok(Some(source)) => self.source_observed(&source, &file, now),
                Ok(None) if file.exists => self.discovery.announce(&file.path),
                Ok(None) => {}
                Err(error) => self.note_problem(format!("{}: {error}", file.path.display())),
            }
        }
    }

    fn source_observed(&mut self, source: &Source, file: &FileObservation, now: Timestamp) {
        let session = source.key.session;
        if !file.exists {
            self.find_moved(session, &file.path);
            // The agent deleted or archived the file, so the session has ended.
            if source.key.number == 0 {
                self.session_event(session, SessionEvent::AgentGone, now);
            }
            return;
        }
        let is_changed = |known: &Source| file.stamp != Some(known.stamp);
        let needs_reading = match self.source_states.source(source.key) {
            Some(cached) => is_changed(cached),
            // An interrupted read may have saved the stamp of the whole file.
            None => is_changed(source) || source.offset < source.stamp.length,
        };
        if needs_reading && !self.waits_for_import(session, file, now) {
            self.schedule.add(session, self.queue_of(session), |due| {
                due.files.insert(source.key.number);
            });
        }
    }

    /// Whether the import of a session of history will read this file. Other causes, such as the
    /// scan after the database was reopened, must not read such a file earlier: its text could not
    /// be evicted until the import.
    fn waits_for_import(
        &self,
        session: SessionKey,
        file: &FileObservation,
        now: Timestamp,
    ) -> bool {
        let history = SessionState::Unindexed(Unindexed::History);
        let is_old = |stamp: FileStamp| {
            let modified = Timestamp::from_micros(stamp.modified);
            machine::first_state(modified, now, self.tracker.config()) == history
        };
        // A file that was just written does not wait, because its session is live again.
        self.queue_of(session) == Queue::History && file.stamp.is_some_and(is_old)
    }

    /// Announces, as new files, the paths to which the agent may have moved a file.
    fn find_moved(&mut self, session: SessionKey, path: &Path) {
        let Some(session) = self.session(session) else { return };
        let format = self.formats().of_agent(&session.id.agent);
        let others = format.map(|format| format.other_paths(path)).unwrap_or_default();
        others.iter().for_each(|other| self.discovery.announce(other));
    }

    /// Returns the queue of a session. The files of a session of history are read together when the
    /// import of the session starts.
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
        self.effects.push(EngineEffect::Identify(paths));
    }

    /// Registers new files that are not older than `max_age`.
    pub(super) fn identified(
        &mut self,
        found: Vec<IdentifiedFile>,
        max_age: Option<Duration>,
        now: Timestamp,
    ) {
        let (sessions, sources) = self.register(found, max_age, now);
        if sources.is_empty() {
            return;
        }
        sessions.iter().for_each(|session| self.tracker.track(session.clone()));
        sources.iter().for_each(|source| self.source_states.move_to(source.key, &source.path));
        self.registering = sources.len();
        self.effects.push(EngineEffect::Register { sessions, sources });
    }

    /// Schedules the reading of new files, except files of history. If the files could not be
    /// saved, they are known only in memory.
    pub(super) fn registered(&mut self, registered: RegisteredFiles, now: Timestamp) {
        let RegisteredFiles { files, saved } = registered;
        self.registering = 0;
        if let Err(error) = saved {
            self.note_problem(error.to_string());
        }
        for (source, file) in files {
            if self.queue_of(source.key.session) == Queue::Live {
                self.source_observed(&source, &file, now);
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
        let known = KnownSources { tracker: &self.tracker, view: &self.view };
        let mut registration = Registration::new(&known);
        for IdentifiedFile { path, format, identity, stamp, other_paths } in found {
            let modified = Timestamp::from_micros(stamp.modified);
            let is_old = max_age.is_some_and(|age| now.since(modified) > age);
            let directory = identity.directory.as_deref().map(Path::new);
            let is_excluded = directory.is_some_and(|directory| self.is_excluded(directory));
            let session = SessionId { agent: format.agent().to_owned(), id: identity.session };
            if is_old || is_excluded || self.view.is_forgotten(&session) {
                continue;
            }
            let first_state = machine::first_state(modified, now, self.tracker.config());
            let path_text = text(&path);
            let file = NewFile {
                path: path_text,
                session,
                sub_agent: identity.sub_agent,
                other_paths,
                modified,
                first_state,
            };
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

/// The result of [`EngineEffect::Register`].
pub(in crate::engine) struct RegisteredFiles {
    /// The new files, with their current observations.
    pub(in crate::engine) files: Vec<(Source, FileObservation)>,
    pub(in crate::engine) saved: Result<(), StoreError>,
}

/// The registered files and sessions. Live sessions are read from memory, other sessions from the
/// store.
struct KnownSources<'s> {
    tracker: &'s Tracker,
    view: &'s View,
}

impl KnownFiles for KnownSources<'_> {
    fn source_at(&self, path: &str) -> Result<Option<SourceKey>, StoreError> {
        Ok(self.view.source_at(path)?.map(|source| source.key))
    }

    fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        // A session that was registered a moment ago may not be in the store yet.
        if let Some(session) = self.tracker.find(id) {
            return Ok(Some(session.clone()));
        }
        match self.view.find_session(id)? {
            Some(key) => self.view.session(key),
            None => Ok(None),
        }
    }

    fn sources_of(&self, session: SessionKey) -> Result<Vec<Source>, StoreError> {
        self.view.sources_of(session)
    }

    fn next_session_key(&self) -> Result<SessionKey, StoreError> {
        self.view.next_session_key()
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
