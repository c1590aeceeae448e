//! The spool: hook events that could not be delivered, or whose session is not known yet.
//!
//! The spool is processed at the start, after each new event, and at intervals while events wait
//! for their session.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use graphiti_proto::methods::hook::{self, HookEvent, LONGEST_EVENT};
use tokio::sync::Notify;

use crate::{
    api::{
        DaemonState, SharedDaemon,
        blocking::allow_blocking,
        client_context::ClientContext,
        current::{self, ResolveError},
    },
    clock,
    engine::EngineError,
    fault,
    model::{CloseReason, SessionId, Timestamp},
};

/// Interval at which the spool is processed while events wait.
const PAUSE: Duration = Duration::from_secs(5);
/// An event is dropped if its session is still unknown after this time.
const MAX_WAIT: Duration = Duration::from_secs(3600);
/// Same as [`MAX_WAIT`], if the daemon cannot access the session's transcript.
const MAX_WAIT_WITHOUT_TRANSCRIPT: Duration = Duration::from_secs(60);

/// The result of processing an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventOutcome {
    Done,
    /// The session is not known yet.
    SessionUnknown,
}

/// Writes the maximum size of the spool to a file for the hooks, because hooks do not read the
/// configuration.
pub fn limit(home: &Path, bytes: u64) {
    if let Err(error) = hook::limit_spool(home, bytes) {
        tracing::warn!(%error, "failed to write the limit of the spool for hooks");
    }
}

pub(super) fn bytes(home: &Path) -> u64 {
    let files = waiting(home).unwrap_or_default();
    files.iter().filter_map(|file| fs::metadata(file).ok()).map(|file| file.len()).sum()
}

/// Returns the folder of the spool of `home`. Creates the folder if necessary.
pub fn open(home: &Path) -> io::Result<PathBuf> {
    let folder = hook::spool(home);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// If the event ends or compacts a session, closes the session. Other events need no action.
pub(super) async fn apply_event(
    daemon: &DaemonState,
    event: &HookEvent,
) -> Result<EventOutcome, EngineError> {
    if !event.kind().ends() || event.session_id.is_empty() {
        return Ok(EventOutcome::Done);
    }
    let session =
        current::resolve(daemon, Some(&event.session_id), &ClientContext::default()).await;
    let session = match session {
        Ok(session) => session,
        Err(ResolveError::Failed(error)) => return Err(EngineError::Failed(error)),
        // A forgotten session does not become known later, so the event is dropped.
        Err(_) if daemon.engine.forgotten().iter().any(|one| one.id.id == event.session_id) => {
            return Ok(EventOutcome::Done);
        }
        Err(_) => return Ok(EventOutcome::SessionUnknown),
    };
    let reason = CloseReason::from_argument(Some(&event.close_reason()));
    match daemon.engine.close_later(session, reason).await {
        Err(EngineError::NoSuchSession) => Ok(EventOutcome::SessionUnknown),
        done => done.map(|()| EventOutcome::Done),
    }
}

/// Processes the spool immediately, at each `changed` notification, and every [`PAUSE`] while
/// events wait. Never returns.
pub async fn process_spool(daemon: SharedDaemon, changed: Arc<Notify>) {
    let mut reported = HashSet::new();
    loop {
        fault::point("spool: turn");
        allow_blocking(process_all(&daemon)).await;
        for path in foreign_entries(&daemon.home) {
            if reported.insert(path.clone()) {
                let what = format!("{} is not the file of an event; remove it", path.display());
                daemon.engine.note_problem(what).await;
            }
        }
        if count(&daemon.home) == 0 {
            changed.notified().await;
        } else {
            // The spool is processed after a notification and after a timeout.
            let _ = tokio::time::timeout(PAUSE, changed.notified()).await;
        }
    }
}

pub(super) fn count(home: &Path) -> usize {
    waiting(home).map_or(0, |files| files.len())
}

/// Returns the files of the events of the sessions with these ids.
pub(super) fn files_of(home: &Path, sessions: &[String]) -> io::Result<Vec<PathBuf>> {
    let files = match waiting(home) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    let is_about = |event: &HookEvent| sessions.contains(&event.session_id);
    let mut found = Vec::new();
    for file in files {
        match read(&file) {
            Ok(event) if event.as_ref().is_some_and(is_about) => found.push(file),
            Ok(_) => {}
            // The event was processed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Removes the waiting events of sessions that were forgotten. A session whose deletion failed
/// keeps its events.
pub(super) fn remove_events(
    home: &Path,
    sessions: &[SessionId],
    is_forgotten: impl Fn(&SessionId) -> bool,
) -> io::Result<()> {
    let gone = sessions.iter().filter(|id| is_forgotten(id)).map(|id| id.id.clone());
    for file in files_of(home, &gone.collect::<Vec<_>>())? {
        // The file may have been processed and removed in the meantime.
        let _ = fs::remove_file(file);
    }
    Ok(())
}

/// Returns how long an event may wait for its session to become known; zero for an agent that is
/// not followed, and for a transcript outside of the watched folders.
pub(super) fn max_wait(daemon: &DaemonState, event: &HookEvent) -> Duration {
    if event.agent.as_deref().is_some_and(|agent| !daemon.engine.follows(agent)) {
        return Duration::ZERO;
    }
    let Some(path) = event.transcript_path.as_deref().map(Path::new) else { return MAX_WAIT };
    let Ok(real) = path.canonicalize() else { return MAX_WAIT_WITHOUT_TRANSCRIPT };
    let holds = |root: &PathBuf| {
        path.starts_with(root) || root.canonicalize().is_ok_and(|root| real.starts_with(root))
    };
    if daemon.watched().roots.iter().any(holds) { MAX_WAIT } else { Duration::ZERO }
}

/// Processes all events in the spool, the oldest first.
pub(super) async fn process_all(daemon: &DaemonState) {
    let files = match waiting(&daemon.home) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            tracing::warn!(%error, "cannot read the spool");
            return;
        }
    };
    for file in files {
        let read = {
            let file = file.clone();
            tokio::task::spawn_blocking(move || read(&file))
        };
        let event = match read.await.unwrap_or_else(|panic| Err(io::Error::other(panic))) {
            Ok(Some(event)) => Some(event),
            Ok(None) => {
                tracing::warn!(file = %file.display(), "dropping a file that is not an event");
                None
            }
            // A later attempt may succeed.
            Err(_) if age(&file) <= MAX_WAIT => continue,
            Err(error) => {
                tracing::warn!(%error, file = %file.display(), "dropping an unreadable event");
                None
            }
        };
        if process_file(daemon, &file, event).await.is_err() {
            // The engine is stopping. The next daemon processes the remaining events.
            return;
        }
    }
}

pub(super) fn store_event(home: &Path, event: &HookEvent) -> io::Result<()> {
    let folder = open(home)?;
    let text = serde_json::to_vec(&event.to_spool())?;
    if text.len() > LONGEST_EVENT {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the event is too long"));
    }
    if !hook::has_spool_space(home)? {
        let what = "the spool is full; session_tracking.limits.spool_bytes limits it";
        return Err(io::Error::new(io::ErrorKind::StorageFull, what));
    }
    let now = clock::now().micros();
    // Hooks put their process ids into the names of their files; the daemon puts a random id there.
    let name = format!("{now:020}-{}", uuid::Uuid::new_v4().simple());
    let unfinished = folder.join(format!("{name}.new"));
    hook::write_unfinished(&unfinished, &text)?;
    fault::point("spool: written");
    graphiti_proto::files::rename_durably(&unfinished, &folder.join(format!("{name}.json")))?;
    fault::point("spool: kept");
    Ok(())
}

async fn process_file(
    daemon: &DaemonState,
    file: &Path,
    event: Option<HookEvent>,
) -> Result<(), EngineError> {
    let done = match event {
        Some(event) if daemon.hooks().enabled => match apply_event(daemon, &event).await {
            Ok(EventOutcome::Done) => true,
            Ok(EventOutcome::SessionUnknown) => age(file) >= max_wait(daemon, &event),
            Err(EngineError::Stopping) => return Err(EngineError::Stopping),
            Err(_) if age(file) <= MAX_WAIT => false,
            Err(error) => {
                tracing::warn!(%error, file = %file.display(), "dropping an event that fails");
                true
            }
        },
        _ => true,
    };
    fault::point("spool: acted");
    if done && let Err(error) = fs::remove_file(file) {
        tracing::warn!(%error, file = %file.display(), "cannot remove an event from the spool");
    }
    Ok(())
}

/// Returns the files of the events in the spool, the oldest first. Removes other files, which are
/// incomplete, if they are older than [`MAX_WAIT`].
fn waiting(home: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(hook::spool(home))? {
        let entry = entry?;
        let path = entry.path();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_event(&path) && is_file {
            files.push(path);
        } else if is_file && age(&path) > MAX_WAIT {
            // The writer died before the file was complete. If the file cannot be removed, it is
            // ignored.
            let _ = fs::remove_file(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the entries that have the extension of an event, but are not regular files, such as
/// pipes.
fn foreign_entries(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(hook::spool(home)).into_iter().flatten().flatten();
    let others = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_file()));
    others.map(|entry| entry.path()).filter(|path| is_event(path)).collect()
}

fn is_event(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// Reads an event; `None` if the file is not an event: it is not a regular file, too long, or not
/// valid JSON.
fn read(path: &Path) -> io::Result<Option<HookEvent>> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // The file may have been replaced by a pipe, and opening a pipe would block.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > LONGEST_EVENT as u64 {
        return Ok(None);
    }
    let mut text = Vec::new();
    file.take(LONGEST_EVENT as u64).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).ok())
}

fn age(file: &Path) -> Duration {
    let written = fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
    let written = written.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    written.map_or(Duration::ZERO, |written| {
        clock::now().since(Timestamp::from_micros(i64::try_from(written.as_micros()).unwrap_or(0)))
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn entries_that_are_not_regular_files_are_ignored() {
        let home = tempfile::tempdir().unwrap();
        let folder = open(home.path()).unwrap();
        let event = HookEvent { session_id: "s".to_owned(), ..HookEvent::default() };
        store_event(home.path(), &event).unwrap();
        let pipe = folder.join("0.json");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink(&pipe, folder.join("1.json")).unwrap();
        fs::create_dir(folder.join("2.json")).unwrap();
        assert_eq!(count(home.path()), 1);
        assert_eq!(foreign_entries(home.path()).len(), 3);
        assert_eq!(files_of(home.path(), &["s".to_owned()]).unwrap().len(), 1);
        for name in ["0.json", "1.json", "2.json"] {
            assert!(!matches!(read(&folder.join(name)), Ok(Some(_))), "{name}");
        }
    }

    #[test]
    fn the_events_of_a_session_whose_deletion_failed_stay() {
        let home = tempfile::tempdir().unwrap();
        let sessions =
            ["gone", "kept"].map(|id| SessionId { agent: "claude".to_owned(), id: id.to_owned() });
        for SessionId { id, .. } in &sessions {
            let event = HookEvent { session_id: id.clone(), ..HookEvent::default() };
            store_event(home.path(), &event).unwrap();
        }
        remove_events(home.path(), &sessions, |id| id.id == "gone").unwrap();
        let left =
            ["gone", "kept"].map(|id| files_of(home.path(), &[id.to_owned()]).unwrap().len());
        assert_eq!(left, [0, 1]);
    }
}
