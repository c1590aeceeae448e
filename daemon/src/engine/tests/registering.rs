//! Tests discovery and registration with a simulated file system. File operations, announcements
//! and the steps of the work are in random order.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use proptest::prelude::*;

use crate::{
    engine::{
        discovery::Discovery,
        registration::{KnownFiles, NewFile, Registration},
    },
    model::{
        SessionId, SessionKey, Timestamp,
        session::{Session, State},
    },
    store::{Source, SourceKey, StoreError},
};

/// Paths, each with the session and the sub-agent of a file at this path.
const PATHS: [(&str, &str, Option<&str>); 6] = [
    ("/p/a", "a", None),
    ("/p/a/1", "a", Some("1")),
    ("/p/a/2", "a", Some("2")),
    ("/p/b", "b", None),
    ("/q/a", "a", None),
    ("/q/a/1", "a", Some("1")),
];

#[derive(Clone, Copy, Debug)]
enum RegistrationStep {
    Create(usize),
    Delete(usize),
    Announce(usize),
    /// The next batch is taken from the queue.
    Take(usize),
    /// A batch is identified.
    Identify,
    /// The identified files are registered.
    Register,
    /// Another caller registers a file meanwhile.
    RegisterAlone(usize),
}

fn step() -> impl Strategy<Value = RegistrationStep> {
    let path = 0..PATHS.len();
    prop_oneof![
        3 => path.clone().prop_map(RegistrationStep::Create),
        1 => path.clone().prop_map(RegistrationStep::Delete),
        6 => path.clone().prop_map(RegistrationStep::Announce),
        3 => (1usize..4).prop_map(RegistrationStep::Take),
        3 => Just(RegistrationStep::Identify),
        3 => Just(RegistrationStep::Register),
        1 => path.prop_map(RegistrationStep::RegisterAlone),
    ]
}

proptest! {
    #[test]
    fn each_path_is_registered_once_in_any_order_of_steps(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut model = RegistrationModel::default();
        steps.into_iter().for_each(|step| model.step(step));
        model.drain();
        let known = &model.known;
        let paths: BTreeSet<&str> =
            known.sources.iter().map(|source| source.path.as_str()).collect();
        prop_assert_eq!(paths.len(), known.sources.len(), "a path is registered twice");
        let keys: BTreeSet<SourceKey> = known.sources.iter().map(|source| source.key).collect();
        prop_assert_eq!(keys.len(), known.sources.len(), "a number is assigned twice");
        let is_registered = |path: &usize| paths.contains(PATHS[*path].0);
        prop_assert!(model.existing.iter().all(is_registered), "a file is not registered");
        let ids: BTreeSet<&SessionId> = known.sessions.values().map(|session| &session.id).collect();
        prop_assert_eq!(ids.len(), known.sessions.len(), "a session is registered twice");
    }
}

#[derive(Default)]
struct RegistrationModel {
    /// The paths at which a file exists.
    existing: BTreeSet<usize>,
    discovery: Discovery,
    taken: Option<Vec<PathBuf>>,
    identified: Option<Vec<usize>>,
    known: RegisteredFiles,
}

#[derive(Default)]
struct RegisteredFiles {
    sessions: BTreeMap<u64, Session>,
    sources: Vec<Source>,
    keys: Cell<u64>,
}

impl RegistrationModel {
    fn step(&mut self, step: RegistrationStep) {
        match step {
            RegistrationStep::Create(path) => {
                self.existing.insert(path);
            }
            RegistrationStep::Delete(path) => {
                self.existing.remove(&path);
            }
            RegistrationStep::Announce(path) => self.announce(Path::new(PATHS[path].0)),
            RegistrationStep::Take(limit) => {
                let batch = self.discovery.next_batch(limit);
                if !batch.is_empty() {
                    self.taken = Some(batch);
                }
            }
            RegistrationStep::Identify => {
                let existing_at = |path: &PathBuf| {
                    self.existing.iter().copied().find(|at| Path::new(PATHS[*at].0) == path)
                };
                if let Some(batch) = self.taken.take() {
                    self.identified = Some(batch.iter().filter_map(existing_at).collect());
                }
            }
            RegistrationStep::Register => {
                if let Some(found) = self.identified.take() {
                    self.register(&found);
                    let changed = self.discovery.batch_done();
                    changed.iter().for_each(|path| self.announce(path));
                }
            }
            RegistrationStep::RegisterAlone(path) if self.existing.contains(&path) => {
                self.register(&[path]);
            }
            RegistrationStep::RegisterAlone(_) => {}
        }
    }

    fn announce(&mut self, path: &Path) {
        let is_there = self.existing.iter().any(|at| Path::new(PATHS[*at].0) == path);
        let is_known = self.known.sources.iter().any(|source| Path::new(&source.path) == path);
        if is_there && !is_known {
            self.discovery.announce(path);
        }
    }

    fn register(&mut self, found: &[usize]) {
        let mut registration = Registration::new(&self.known);
        for path in found {
            let (path, id, sub_agent) = PATHS[*path];
            let file = NewFile {
                path: path.to_owned(),
                session: SessionId { agent: "claude".to_owned(), id: id.to_owned() },
                sub_agent: sub_agent.map(str::to_owned),
                other_paths: Vec::new(),
                modified: Timestamp::default(),
                first_state: State::Active,
            };
            registration.add(file).unwrap();
        }
        let (sessions, sources) = registration.finish();
        self.known.sessions.extend(sessions.into_iter().map(|session| (session.key.0, session)));
        self.known.sources.extend(sources);
    }

    /// Announces the existing files, as a scan does, and does all work.
    fn drain(&mut self) {
        for path in 0..PATHS.len() {
            self.step(RegistrationStep::Announce(path));
        }
        while !self.discovery.is_empty() {
            for step in
                [RegistrationStep::Take(2), RegistrationStep::Identify, RegistrationStep::Register]
            {
                self.step(step);
            }
        }
    }
}

impl KnownFiles for RegisteredFiles {
    fn source_at(&self, path: &str) -> Result<Option<SourceKey>, StoreError> {
        Ok(self.sources.iter().find(|source| source.path == path).map(|source| source.key))
    }

    fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        Ok(self.sessions.values().find(|session| session.id == *id).cloned())
    }

    fn sources_of(&self, session: SessionKey) -> Result<Vec<Source>, StoreError> {
        let of_session = self.sources.iter().filter(|source| source.key.session == session);
        Ok(of_session.cloned().collect())
    }

    fn next_session_key(&self) -> Result<SessionKey, StoreError> {
        self.keys.set(self.keys.get() + 1);
        Ok(SessionKey(self.keys.get()))
    }
}
