//! Sessions of the past that have no episode yet, also such as are too old to be imported by
//! themselves.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crate::{
    capture::watch::scan::FolderScanner,
    engine::{
        files::{self, IdentifiedFile},
        forgotten::Forgotten,
        redaction,
    },
    model::{
        Namespace, Project, SessionId, SessionKey, Timestamp,
        session::{Session, State},
    },
    store::Store,
};

/// A session of the past that has no episode.
#[derive(Clone, Debug, PartialEq)]
pub struct BackfillCandidate {
    /// What its agent calls it.
    pub id: SessionId,
    /// The store's number of it, where it is known.
    pub session: Option<SessionKey>,
    /// Its transcript.
    pub path: String,
    /// When that was last written.
    pub modified: Timestamp,
    /// Bytes of it and of its sub-agents' transcripts.
    pub bytes: u64,
    /// Messages in it; 0 when it has not been read.
    pub messages: u32,
    /// Where it took place, where that is known.
    pub project: Option<Project>,
    /// The files of its sub-agents that are not known yet.
    pub(super) sub_agents: Vec<PathBuf>,
}

/// What the engine knows that a look into the past needs.
pub(super) struct BackfillContext {
    /// The sessions that are not indexed and quiet.
    pub(super) live: Vec<Session>,
    /// Folders with transcripts.
    pub(super) roots: Vec<PathBuf>,
    /// Folders that nothing is captured of.
    pub(super) excluded: Vec<PathBuf>,
    /// Sessions that stay forgotten.
    pub(super) forgotten: Arc<Forgotten>,
}

impl BackfillCandidate {
    /// The project's short stable name, where it is known.
    pub fn namespace(&self) -> Option<Namespace> {
        self.project.as_ref().map(Project::namespace)
    }
}

/// Finds the sessions of the past, the latest first: those written since `since`, or all.
/// Reads folders and the beginnings of files.
pub(super) fn find(
    known: &BackfillContext,
    store: &dyn Store,
    since: Option<Timestamp>,
) -> Vec<BackfillCandidate> {
    let mut past: Vec<BackfillCandidate> = known.live.iter().filter_map(of_session).collect();
    past.extend(unknown(known, store, since));
    past.retain(|one| since.is_none_or(|since| one.modified >= since));
    past.sort_unstable_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    past
}

/// The instant that lies `age` before `now`.
pub(super) fn since(age: Option<Duration>, now: Timestamp) -> Option<Timestamp> {
    age.map(|age| now.minus(age))
}

fn of_session(session: &Session) -> Option<BackfillCandidate> {
    if !matches!(session.state, State::Unindexed(_) | State::Failed(_)) {
        return None;
    }
    let project = session.project.clone().or_else(|| {
        let found = files::identify(vec![PathBuf::from(&session.file)]).found.pop()?;
        found.identity.directory.map(|directory| Project::new(&redaction::text(&directory)))
    });
    Some(BackfillCandidate {
        id: session.id.clone(),
        session: Some(session.key),
        path: session.file.clone(),
        modified: session.last_activity,
        bytes: fs::metadata(&session.file).map_or(0, |metadata| metadata.len()),
        messages: session.content.map_or(0, |content| content.messages),
        project,
        sub_agents: Vec::new(),
    })
}

/// The sessions of files that the store does not know: they were too old.
fn unknown(
    known: &BackfillContext,
    store: &dyn Store,
    since: Option<Timestamp>,
) -> Vec<BackfillCandidate> {
    let mut paths = Vec::new();
    let mut scanner = FolderScanner::new(files::is_wanted);
    for root in &known.roots {
        scanner.scan(root, &mut paths);
    }
    let is_excluded = |path: &Path| known.excluded.iter().any(|folder| path.starts_with(folder));
    let is_known = |path: &Path| !matches!(store.source_at(&path.to_string_lossy()), Ok(None));
    let is_old = |path: &Path| {
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
        modified.is_ok_and(|at| since.is_some_and(|since| Timestamp::from(at) < since))
    };
    paths.retain(|path| !is_excluded(path) && !is_known(path) && !is_old(path));
    let mut sessions: BTreeMap<(&str, String), Vec<IdentifiedFile>> = BTreeMap::new();
    for file in files::identify(paths).found {
        let is_excluded =
            file.identity.directory.as_deref().map(Path::new).is_some_and(is_excluded);
        if !is_excluded {
            let name = (file.format.agent(), file.identity.session.clone());
            sessions.entry(name).or_default().push(file);
        }
    }
    let found = sessions.into_values().filter_map(of_files);
    found.filter(|past| !known.forgotten.has(&past.id)).collect()
}

/// The session of new files; `None` when its own is not among them.
fn of_files(files: Vec<IdentifiedFile>) -> Option<BackfillCandidate> {
    let (own, sub_agents): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.identity.sub_agent.is_none());
    let bytes = own.iter().chain(&sub_agents).map(|file| file.stamp.length).sum();
    let own = own.into_iter().next()?;
    let agent = own.format.agent().to_owned();
    Some(BackfillCandidate {
        id: SessionId { agent, id: own.identity.session },
        session: None,
        path: own.path.to_string_lossy().into_owned(),
        modified: Timestamp::from_micros(own.stamp.modified),
        bytes,
        messages: 0,
        project: own.identity.directory.map(|directory| Project::new(&redaction::text(&directory))),
        sub_agents: sub_agents.into_iter().map(|file| file.path).collect(),
    })
}
