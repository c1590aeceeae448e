//! Files that appear, grow and vanish.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::State;
use crate::{
    capture::watch::{self, Notice, Watch, Watched},
    engine::{
        Event,
        files::{self, Identified},
        job,
        schedule::Queue,
    },
    model::{
        SessionId, SessionKey, Timestamp,
        session::{Session, State as SessionState, Unindexed},
    },
    session::{Event as SessionEvent, machine},
    store::{FileStamp, Source, SourceKey, StoreError, Tally, Write},
};

/// Files whose session is looked up in one go.
const IDENTIFY: usize = 64;

impl State {
    pub(super) fn start_watches(&mut self) {
        let events = self.engine.events.clone();
        let transcripts = Watched {
            roots: self.places.roots.clone(),
            wanted: files::is_wanted,
            method: self.places.method,
            poll_every: watch::POLL_EVERY,
        };
        let report = move |notice| events.blocking_send(Event::Notice(notice)).is_ok();
        self.add_watch(Watch::start(transcripts, report));
        let events = self.engine.events.clone();
        let liveness = Watched {
            roots: self.places.liveness.iter().map(|(_, folder)| folder.clone()).collect(),
            wanted: |path| path.extension().is_some_and(|extension| extension == "json"),
            method: self.places.method,
            poll_every: watch::POLL_EVERY,
        };
        let report = move |notice| match notice {
            Notice::Mode(_) => true,
            Notice::Files(_) | Notice::Complete { .. } => {
                events.blocking_send(Event::Liveness).is_ok()
            }
        };
        self.add_watch(Watch::start(liveness, report));
    }

    pub(super) fn end_watches(&mut self) {
        // A watch that is reporting waits for the loop that this runs in: it ends on its own.
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
                Ok(None) if path.exists() => self.unidentified.push_back(path),
                Ok(None) => {}
                Err(error) => self.note_problem(format!("{}: {error}", path.display())),
            }
        }
    }

    fn file_changed(&mut self, source: &Source, now: Timestamp) {
        let session = source.key.session;
        if !Path::new(&source.path).exists() {
            // The agent deleted it; nothing more will come.
            if source.key.number == 0 {
                self.session_event(session, SessionEvent::AgentGone, now);
            }
            return;
        }
        let at_hand = self.states.source(source.key);
        if job::needs_reading(at_hand.unwrap_or(source)) {
            self.schedule.add(session, self.queue_of(session), |due| {
                due.files.insert(source.key.number);
            });
        }
    }

    /// A session of history is read when its turn comes, all its files at once.
    fn queue_of(&self, session: SessionKey) -> Queue {
        match self.tracker.get(session).map(|session| &session.state) {
            Some(SessionState::Unindexed(Unindexed::History)) => Queue::History,
            _ => Queue::Live,
        }
    }

    pub(super) fn identify_some(&mut self) {
        if self.identifying || self.unidentified.is_empty() {
            return;
        }
        self.identifying = true;
        let count = self.unidentified.len().min(IDENTIFY);
        let paths: Vec<PathBuf> = self.unidentified.drain(..count).collect();
        let events = self.engine.events.clone();
        tokio::spawn(async move {
            let looked = tokio::task::spawn_blocking(move || files::identify(paths)).await;
            drop(events.send(Event::Identified(looked.unwrap_or_default())).await);
        });
    }

    /// Takes new files in that are not older than `keep`.
    pub(super) async fn identified(
        &mut self,
        found: Vec<Identified>,
        keep: Option<Duration>,
        now: Timestamp,
    ) {
        let found = found.into_iter().filter(|file| {
            let modified = Timestamp::from_micros(file.stamp.modified);
            keep.is_none_or(|keep| now.since(modified) <= keep)
        });
        let mut writes = Vec::new();
        let mut new: Vec<Source> = Vec::new();
        for file in found {
            match self.register(&file, &new, now) {
                Ok(Some((session, source))) => {
                    writes.push(Write::Session(Box::new(session.clone())));
                    writes.push(Write::Source { source: source.clone(), checkpoint: None });
                    self.tracker.hold(session);
                    new.push(source);
                }
                Ok(None) => {}
                Err(error) => self.note_problem(format!("{}: {error}", file.path.display())),
            }
        }
        if writes.is_empty() {
            return;
        }
        // The next files of these sessions must find them in the store.
        if let Err(error) = self.engine.store.write(writes).done().await {
            self.note_problem(error.to_string());
        }
        for source in &new {
            if self.queue_of(source.key.session) == Queue::Live {
                self.file_changed(source, now);
            }
        }
    }

    /// The session of a new file, and the file's place in it. `None` when the file belongs to an
    /// excluded project or a forgotten session, or is known by now.
    fn register(
        &self,
        file: &Identified,
        new: &[Source],
        now: Timestamp,
    ) -> Result<Option<(Session, Source)>, StoreError> {
        let store = &self.engine.store;
        let path = text(&file.path);
        let modified = Timestamp::from_micros(file.stamp.modified);
        let is_excluded = file.identity.directory.as_deref().map(Path::new);
        let is_excluded = is_excluded.is_some_and(|directory| self.is_excluded(directory));
        if is_excluded || store.source_at(&path)?.is_some() {
            return Ok(None);
        }
        let agent = file.format.agent().to_owned();
        let id = SessionId { agent, id: file.identity.session.clone() };
        if self.reader.forgotten.has(&id) {
            return Ok(None);
        }
        let mut session = match self.known_session(&id)? {
            Some(session) => session,
            None => Session {
                key: store.next_session_key()?,
                id,
                project: None,
                file: String::new(),
                state: machine::first_state(modified, now, self.tracker.config()),
                content: None,
                indexed: None,
                started_at: None,
                last_activity: modified,
            },
        };
        let known = store.sources_of(session.key)?;
        let of_session = new.iter().filter(|source| source.key.session == session.key);
        let taken: Vec<u32> =
            known.iter().chain(of_session).map(|source| source.key.number).collect();
        let number = match file.identity.sub_agent {
            None if !taken.contains(&0) => 0,
            _ => taken.iter().max().map_or(1, |highest| highest + 1),
        };
        if number == 0 {
            session.file.clone_from(&path);
        }
        let source = Source {
            key: SourceKey { session: session.key, number },
            path,
            sub_agent: file.identity.sub_agent.clone(),
            stamp: FileStamp::default(),
            offset: 0,
            tally: Tally::default(),
        };
        Ok(Some((session, source)))
    }

    fn known_session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        // One that was registered a moment ago is live, and perhaps not in the store yet.
        if let Some(session) = self.tracker.find(id) {
            return Ok(Some(session.clone()));
        }
        match self.engine.store.find_session(id)? {
            Some(key) => self.engine.store.session(key),
            None => Ok(None),
        }
    }

    fn is_excluded(&self, path: &Path) -> bool {
        self.settings.excluded.iter().any(|excluded| path.starts_with(excluded))
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
