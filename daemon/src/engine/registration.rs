//! Registers new files: assigns to each file a session, and a number within the session.
//!
//! The decisions depend only on [`KnownFiles`]. Each file is also compared with the files that were
//! added before, so that no path is registered twice and no number is assigned twice.

use crate::{
    model::{
        SessionId, SessionKey, Timestamp,
        session::{Session, State},
    },
    store::{FileStamp, Source, SourceKey, StoreError, Tally},
};

/// An identified file that has to be registered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NewFile {
    pub(super) path: String,
    pub(super) session: SessionId,
    /// The id of the sub-agent, for a sub-agent's file.
    pub(super) sub_agent: Option<String>,
    /// The paths from which the agent may have moved the file.
    pub(super) other_paths: Vec<OtherPath>,
    /// When the file was last written.
    pub(super) modified: Timestamp,
    /// The state that the session gets if it is new.
    pub(super) first_state: State,
}

/// A path at which the same transcript may be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OtherPath {
    pub(super) path: String,
    pub(super) exists: bool,
}

/// The registered files and sessions.
pub(super) trait KnownFiles {
    /// Returns the key of the file that is registered under `path`.
    fn source_at(&self, path: &str) -> Result<Option<SourceKey>, StoreError>;
    fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError>;
    fn sources_of(&self, session: SessionKey) -> Result<Vec<Source>, StoreError>;
    /// Returns a key for a new session.
    fn next_session_key(&self) -> Result<SessionKey, StoreError>;
}

/// Files that are registered together, with their sessions.
pub(super) struct Registration<'k> {
    known: &'k dyn KnownFiles,
    sessions: Vec<Session>,
    sources: Vec<Source>,
}

impl<'k> Registration<'k> {
    pub(super) fn new(known: &'k dyn KnownFiles) -> Registration<'k> {
        Registration { known, sessions: Vec::new(), sources: Vec::new() }
    }

    /// Adds a file, unless it is registered already.
    pub(super) fn add(&mut self, file: NewFile) -> Result<(), StoreError> {
        let is_known = self.sources.iter().any(|source| source.path == file.path)
            || self.known.source_at(&file.path)?.is_some();
        if is_known {
            return Ok(());
        }
        let at = self.session(&file)?;
        let key = self.sessions[at].key;
        let mut of_session = self.known.sources_of(key)?;
        let added = self.sources.iter().filter(|source| source.key.session == key);
        of_session.extend(added.cloned());
        if let Some(known) = registered_at_other_path(&of_session, &file.other_paths) {
            self.update_path(known, file.path, at);
            return Ok(());
        }
        let taken: Vec<u32> = of_session.iter().map(|source| source.key.number).collect();
        let number = match file.sub_agent {
            None if !taken.contains(&0) => 0,
            _ => taken.iter().max().map_or(1, |highest| highest + 1),
        };
        if number == 0 {
            self.sessions[at].file.clone_from(&file.path);
        }
        self.sources.push(Source {
            key: SourceKey { session: key, number },
            path: file.path,
            sub_agent: file.sub_agent,
            stamp: FileStamp::default(),
            offset: 0,
            tally: Tally::default(),
        });
        Ok(())
    }

    /// Updates the path of a registered file that its agent moved. Does nothing while the old path
    /// still exists.
    fn update_path(&mut self, known: KnownPath, to: String, at: usize) {
        let KnownPath { mut source, exists } = known;
        if exists {
            return;
        }
        if source.key.number == 0 {
            self.sessions[at].file.clone_from(&to);
        }
        source.path = to;
        self.sources.push(source);
    }

    /// Returns the new and the moved files, with their sessions.
    pub(super) fn finish(mut self) -> (Vec<Session>, Vec<Source>) {
        // A session without a registered file is not stored.
        let sources = &self.sources;
        let has_file =
            |session: &Session| sources.iter().any(|source| source.key.session == session.key);
        self.sessions.retain(has_file);
        (self.sessions, self.sources)
    }

    /// Returns the index of a file's session in the list.
    fn session(&mut self, file: &NewFile) -> Result<usize, StoreError> {
        if let Some(at) = self.sessions.iter().position(|session| session.id == file.session) {
            return Ok(at);
        }
        let session = match self.known.session(&file.session)? {
            Some(session) => session,
            None => Session {
                key: self.known.next_session_key()?,
                id: file.session.clone(),
                project: None,
                file: String::new(),
                state: file.first_state.clone(),
                content: None,
                indexed: None,
                started_at: None,
                last_activity: file.modified,
            },
        };
        self.sessions.push(session);
        Ok(self.sessions.len() - 1)
    }
}

/// A registered file whose path is one of a new file's `other_paths`.
struct KnownPath {
    source: Source,
    exists: bool,
}

fn registered_at_other_path(known: &[Source], other_paths: &[OtherPath]) -> Option<KnownPath> {
    let at = |path: &str| other_paths.iter().find(|other| other.path == path);
    known.iter().find_map(|source| {
        let exists = at(&source.path)?.exists;
        Some(KnownPath { source: source.clone(), exists })
    })
}
