//! Finds old sessions without a current episode, including sessions that are too old for the
//! automatic import.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crate::{
    capture::{format::Formats, storage, watch::scan::FolderScanner},
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

/// An old session without a current episode.
#[derive(Clone, Debug, PartialEq)]
pub struct BackfillCandidate {
    pub id: SessionId,
    /// The key of the session, if it is registered.
    pub session: Option<SessionKey>,
    /// The path of the transcript.
    pub path: String,
    /// When the transcript was last written; for a registered session, its last activity.
    pub modified: Timestamp,
    /// The size of the transcript, in bytes. For an unregistered session, the transcripts of its
    /// sub-agents are included.
    pub bytes: u64,
    /// The number of messages; 0 if the transcript was not read.
    pub messages: u32,
    pub project: Option<Project>,
    /// The unregistered files of the session's sub-agents.
    pub(super) sub_agents: Vec<PathBuf>,
}

/// The state of the engine that the search for candidates needs.
pub(super) struct BackfillContext {
    pub(super) live: Vec<Session>,
    pub(super) formats: Formats,
    /// Folders with transcripts.
    pub(super) roots: Vec<PathBuf>,
    /// Folders that are ignored.
    pub(super) excluded: Vec<PathBuf>,
    pub(super) forgotten: Arc<Forgotten>,
    /// Whether closed sessions get episodes.
    pub(super) makes_episodes: bool,
}

impl BackfillCandidate {
    /// Returns the namespace of the project, if the project is known.
    pub fn namespace(&self) -> Option<Namespace> {
        self.project.as_ref().map(Project::namespace)
    }
}

/// Finds the candidates that were written at `since` or later (`None` for all), the latest first.
/// Reads folders and the starts of files.
pub(super) fn find(
    known: &BackfillContext,
    store: &dyn Store,
    since: Option<Timestamp>,
) -> Vec<BackfillCandidate> {
    let is_over =
        |session: &&Session| matches!(session.state, State::Unindexed(_) | State::Failed(_));
    let mut closed = match known.makes_episodes {
        true => closed_without_episode(store),
        false => Vec::new(),
    };
    closed.retain(|session| known.live.iter().all(|live| live.key != session.key));
    let sessions = known.live.iter().filter(is_over).chain(&closed);
    let mut candidates: Vec<BackfillCandidate> =
        sessions.map(|session| of_session(session, store, &known.formats)).collect();
    candidates.extend(unregistered(known, store, since));
    candidates.retain(|one| since.is_none_or(|since| one.modified >= since));
    candidates
        .sort_unstable_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    candidates
}

/// Returns the time `age` before `now`; `None` without an age.
pub(super) fn since(age: Option<Duration>, now: Timestamp) -> Option<Timestamp> {
    age.map(|age| now.minus(age))
}

/// Returns the sessions that were closed while the settings turned episodes off. A session that
/// cannot be read is left out.
pub(super) fn closed_without_episode(store: &dyn Store) -> Vec<Session> {
    let mut closed = Vec::new();
    let visit = &mut |session: Session| {
        let has_content = session.content.is_some() && !session.file.is_empty();
        if session.state == State::Indexed && session.indexed.is_none() && has_content {
            closed.push(session);
        }
        true
    };
    if let Err(error) = store.visit_undamaged_sessions(visit) {
        tracing::warn!(%error, "failed to find closed sessions without an episode");
    }
    closed
}

fn of_session(session: &Session, store: &dyn Store, formats: &Formats) -> BackfillCandidate {
    let path = files::transcript_path(store, session).unwrap_or_else(|_| session.file.clone());
    let project = session.project.clone().or_else(|| {
        let mut files = files::identify(vec![PathBuf::from(&path)], formats);
        let found = files.found.pop()?;
        found.identity.directory.map(|directory| Project::new(&redaction::text(&directory)))
    });
    BackfillCandidate {
        id: session.id.clone(),
        session: Some(session.key),
        modified: session.last_activity,
        bytes: fs::metadata(&path).map_or(0, |metadata| metadata.len()),
        messages: session.content.map_or(0, |content| content.messages),
        path,
        project,
        sub_agents: Vec::new(),
    }
}

/// Returns the candidates among the sessions whose files are not registered. Most of these sessions
/// were too old for the automatic import.
fn unregistered(
    known: &BackfillContext,
    store: &dyn Store,
    since: Option<Timestamp>,
) -> Vec<BackfillCandidate> {
    let mut paths = Vec::new();
    let mut scanner = {
        let formats = known.formats.clone();
        FolderScanner::new(Arc::new(move |path: &Path| formats.claim(path)))
    };
    for root in &known.roots {
        scanner.scan(root, &mut paths);
    }
    let is_excluded = |path: &Path| known.excluded.iter().any(|folder| path.starts_with(folder));
    let is_known = |path: &Path| !matches!(store.source_at(&path.to_string_lossy()), Ok(None));
    let is_old = |path: &Path| {
        let modified = storage::stamp(path).map(|stamp| Timestamp::from_micros(stamp.modified));
        modified.is_ok_and(|at| since.is_some_and(|since| at < since))
    };
    paths.retain(|path| !is_excluded(path) && !is_known(path) && !is_old(path));
    let mut sessions: BTreeMap<(String, String), Vec<IdentifiedFile>> = BTreeMap::new();
    for file in files::identify(paths, &known.formats).found {
        let is_excluded =
            file.identity.directory.as_deref().map(Path::new).is_some_and(is_excluded);
        if !is_excluded {
            let name = (file.format.agent().to_owned(), file.identity.session.clone());
            sessions.entry(name).or_default().push(file);
        }
    }
    let found = sessions.into_values().filter_map(|files| of_files(files, store));
    found.filter(|candidate| !known.forgotten.has(&candidate.id)).collect()
}

/// Returns the candidate for the files of one session. Without the session's own file, the file of
/// a sub-agent takes its place, unless the session is known: then, the files belong to a session
/// that is imported already.
fn of_files(files: Vec<IdentifiedFile>, store: &dyn Store) -> Option<BackfillCandidate> {
    let (mut own, mut sub_agents): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.identity.sub_agent.is_none());
    let bytes = own.iter().chain(&sub_agents).map(|file| file.stamp.length).sum();
    let has_own = !own.is_empty();
    let own = if has_own { own.swap_remove(0) } else { sub_agents.remove(0) };
    let id = SessionId { agent: own.format.agent().to_owned(), id: own.identity.session.clone() };
    if !has_own && !matches!(store.find_session(&id), Ok(None)) {
        return None;
    }
    Some(BackfillCandidate {
        id,
        session: None,
        path: own.path.to_string_lossy().into_owned(),
        modified: Timestamp::from_micros(own.stamp.modified),
        bytes,
        messages: 0,
        project: own.identity.directory.map(|directory| Project::new(&redaction::text(&directory))),
        sub_agents: sub_agents.into_iter().map(|file| file.path).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{ContentHash, session::Content},
        store::{Write, contract, sled::SledStore},
    };

    fn close_without_episode(store: &SledStore, key: u64) {
        let mut session = contract::session(SessionKey(key), &format!("aaaa-{key}"));
        (session.state, session.indexed) = (State::Indexed, None);
        session.content = Some(Content { hash: ContentHash([0; 32]), messages: 1 });
        store.write(vec![Write::Session(Box::new(session))]).wait().unwrap();
    }

    #[test]
    fn a_damaged_session_excludes_no_other_session() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        (1..=3).for_each(|key| close_without_episode(&store, key));
        store.damage_session(SessionKey(2));
        let found: Vec<u64> =
            closed_without_episode(&store).iter().map(|session| session.key.0).collect();
        assert_eq!(found, [1, 3]);
    }

    #[test]
    fn a_session_is_found_by_the_file_of_its_sub_agent_unless_it_is_known() {
        const REVIEW: &str = r#"{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"0197a000-0000-7000-8000-000000000002","parent_thread_id":"parent","cwd":"/app","source":{"subagent":"review"}}}"#;
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(&folder.path().join("db")).unwrap();
        let root = folder.path().join("sessions");
        fs::create_dir_all(root.join("2026/01/02")).unwrap();
        let path = root.join(
            "2026/01/02/rollout-2026-01-02T03-04-05-0197a000-0000-7000-8000-000000000002.jsonl",
        );
        fs::write(&path, format!("{REVIEW}\n")).unwrap();
        let context = || BackfillContext {
            live: Vec::new(),
            formats: Formats::default(),
            roots: vec![root.clone()],
            excluded: Vec::new(),
            forgotten: Arc::default(),
            makes_episodes: true,
        };
        let found = find(&context(), &store, None);
        let found: Vec<_> = found.iter().map(|one| (one.id.id.as_str(), &*one.path)).collect();
        assert_eq!(found, [("parent", path.to_str().unwrap())]);
        let mut session = contract::session(store.next_session_key().unwrap(), "parent");
        session.id.agent = "codex".to_owned();
        store.write(vec![Write::Session(Box::new(session))]).wait().unwrap();
        assert_eq!(find(&context(), &store, None), []);
    }

    #[test]
    fn closed_sessions_are_offered_only_if_they_get_episodes() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        close_without_episode(&store, 1);
        for makes_episodes in [false, true] {
            let context = BackfillContext {
                live: Vec::new(),
                formats: Formats::default(),
                roots: Vec::new(),
                excluded: Vec::new(),
                forgotten: Arc::default(),
                makes_episodes,
            };
            let found = find(&context, &store, None);
            assert_eq!(found.len(), usize::from(makes_episodes));
        }
    }
}
