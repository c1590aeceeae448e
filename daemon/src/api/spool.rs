//! The spool: events of hooks that found no daemon, or whose session is not known yet.
//!
//! It is gone through at the start, whenever something is put in, and, while something waits there
//! for its session to be found, now and then.

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
        methods::hook::{EventOutcome, apply_event},
    },
    clock,
    engine::EngineError,
    fault,
    model::Timestamp,
};

/// Between two looks for the session of an event.
const PAUSE: Duration = Duration::from_secs(5);
/// A session that is not known after this time says nothing that could be remembered.
const GIVE_UP: Duration = Duration::from_secs(3600);
/// The same where the transcript of the session cannot be seen from here.
const UNSEEN: Duration = Duration::from_secs(60);

/// Limits the size of the spool of `home`.
pub fn limit(home: &Path, bytes: u64) -> io::Result<()> {
    hook::limit_spool(home, bytes)
}

pub(super) fn bytes(home: &Path) -> u64 {
    let files = waiting(home).unwrap_or_default();
    files.iter().filter_map(|file| fs::metadata(file).ok()).map(|file| file.len()).sum()
}

/// The spool of `home`, which is made.
pub fn open(home: &Path) -> io::Result<PathBuf> {
    let folder = hook::spool(home);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Goes through the spool when `changed` says so, for as long as the daemon serves.
pub async fn process_spool(daemon: SharedDaemon, changed: Arc<Notify>) {
    let mut reported = HashSet::new();
    loop {
        fault::point("spool: turn");
        allow_blocking(process_all(&daemon)).await;
        for path in foreign_entries(&daemon.home) {
            if reported.insert(path.clone()) {
                let what = format!("{} is no file of an event; remove it", path.display());
                daemon.engine.note_problem(what).await;
            }
        }
        if count(&daemon.home) == 0 {
            changed.notified().await;
        } else {
            // Either way it is looked again.
            let _ = tokio::time::timeout(PAUSE, changed.notified()).await;
        }
    }
}

pub(super) fn count(home: &Path) -> usize {
    waiting(home).map_or(0, |files| files.len())
}

/// The files of events that are about one of these sessions, by the agents' ids.
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
            // It was processed in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// How long an event may wait for its session to be known; zero for an agent that is not followed.
pub(super) fn max_wait(daemon: &DaemonState, event: &HookEvent) -> Duration {
    let Some(path) = event.transcript_path.as_deref().map(Path::new) else { return GIVE_UP };
    let Ok(real) = path.canonicalize() else { return UNSEEN };
    let holds = |root: &PathBuf| {
        path.starts_with(root) || root.canonicalize().is_ok_and(|root| real.starts_with(root))
    };
    if daemon.watched.iter().any(holds) { GIVE_UP } else { Duration::ZERO }
}

/// Does what the events in the spool ask for, the oldest first.
pub(super) async fn process_all(daemon: &DaemonState) {
    let files = match waiting(&daemon.home) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            tracing::warn!(%error, "cannot look into the spool");
            return;
        }
    };
    for file in files {
        let read = {
            let file = file.clone();
            tokio::task::spawn_blocking(move || read(&file))
        };
        let event = match read.await {
            Ok(Ok(event)) => event,
            // It may be read the next time.
            Ok(Err(_)) | Err(_) if age(&file) <= GIVE_UP => continue,
            Ok(Err(_)) | Err(_) => None,
        };
        if process_file(daemon, &file, event).await.is_err() {
            // The engine is stopping: the next daemon continues.
            return;
        }
    }
}

/// Puts an event in the spool.
pub(super) fn store_event(home: &Path, event: &HookEvent) -> io::Result<()> {
    let folder = open(home)?;
    let text = serde_json::to_vec(&event.to_spool())?;
    if text.len() > LONGEST_EVENT {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the event is too long"));
    }
    if !hook::has_room(home)? {
        let what = "no more events may wait: session_tracking.limits.spool_bytes";
        return Err(io::Error::new(io::ErrorKind::StorageFull, what));
    }
    let now = clock::now().micros();
    // A hook's own files are named after its process; this one after nothing.
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
            Err(_) => age(file) > GIVE_UP,
        },
        _ => true,
    };
    fault::point("spool: acted");
    if done && let Err(error) = fs::remove_file(file) {
        tracing::warn!(%error, file = %file.display(), "cannot take an event out of the spool");
    }
    Ok(())
}

/// The events in the spool, the oldest first.
fn waiting(home: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(hook::spool(home))? {
        let entry = entry?;
        let path = entry.path();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_event(&path) && is_file {
            files.push(path);
        } else if is_file && age(&path) > GIVE_UP {
            // Its writer died before it was whole; if it stays, it is in nobody's way.
            let _ = fs::remove_file(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What is named as an event and is something else: a pipe, for instance.
fn foreign_entries(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(hook::spool(home)).into_iter().flatten().flatten();
    let others = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_file()));
    others.map(|entry| entry.path()).filter(|path| is_event(path)).collect()
}

fn is_event(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// `None` for what no hook of ours wrote.
fn read(path: &Path) -> io::Result<Option<HookEvent>> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // It may be something else by now, and opening a pipe waits for a writer.
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

/// How long ago a file was written.
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
    fn what_is_no_file_is_neither_waited_for_nor_read() {
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
}
