//! The spool: events of hooks that found no daemon, or whose session is not known yet.
//!
//! It is gone through at the start, whenever something is put in, and, while something waits there
//! for its session to be found, now and then.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use graphiti_proto::methods::hook::{self, Event, LONGEST_EVENT};
use tokio::sync::Notify;

use crate::{
    api::{
        Daemon, Shared,
        methods::hook::{Acted, act},
    },
    clock,
    engine::AskError,
    fault,
    model::Timestamp,
};

/// Between two looks for the session of an event.
const PAUSE: Duration = Duration::from_secs(5);
/// A session that is not known after this time says nothing that could be remembered.
const GIVE_UP: Duration = Duration::from_secs(3600);
/// The same where the transcript of the session cannot be seen from here.
const UNSEEN: Duration = Duration::from_secs(60);

/// Lets no more than so many bytes wait in the spool of `home`, whoever puts them there.
pub fn limit(home: &Path, bytes: u64) -> io::Result<()> {
    hook::limit_spool(home, bytes)
}

/// Bytes that wait.
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
pub async fn go_through(daemon: Shared, changed: Arc<Notify>) {
    loop {
        take_all(&daemon).await;
        if count(&daemon.home) == 0 {
            changed.notified().await;
        } else {
            // Either way it is looked again.
            drop(tokio::time::timeout(PAUSE, changed.notified()).await);
        }
    }
}

/// Events that wait.
pub(super) fn count(home: &Path) -> usize {
    waiting(home).map_or(0, |files| files.len())
}

/// The files of events that are about one of these sessions, by the agents' ids.
pub(super) fn files_of(home: &Path, sessions: &[String]) -> Vec<PathBuf> {
    let mut files = waiting(home).unwrap_or_default();
    files.retain(|file| read(file).is_some_and(|event| sessions.contains(&event.session_id)));
    files
}

/// How long an event may wait for its session to be known; no time at all for one of an agent that
/// is not followed.
pub(super) fn patience(daemon: &Daemon, event: &Event) -> Duration {
    let Some(path) = event.transcript_path.as_deref().map(Path::new) else { return GIVE_UP };
    let Ok(real) = path.canonicalize() else { return UNSEEN };
    let holds = |root: &PathBuf| {
        path.starts_with(root) || root.canonicalize().is_ok_and(|root| real.starts_with(root))
    };
    if daemon.watched.iter().any(holds) { GIVE_UP } else { Duration::ZERO }
}

/// Does what the events in the spool ask for, the oldest first.
pub(super) async fn take_all(daemon: &Daemon) {
    let files = match waiting(&daemon.home) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            tracing::warn!(%error, "cannot look into the spool");
            return;
        }
    };
    for file in files {
        if take(daemon, &file).await.is_err() {
            // The engine is stopping: the next daemon goes on.
            return;
        }
    }
}

/// Puts an event in the spool.
pub(super) fn keep(home: &Path, event: &Event) -> io::Result<()> {
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
    fs::write(&unfinished, text)?;
    fault::point("spool: written");
    fs::rename(unfinished, folder.join(format!("{name}.json")))?;
    fault::point("spool: kept");
    Ok(())
}

async fn take(daemon: &Daemon, file: &Path) -> Result<(), AskError> {
    let done = match read(file) {
        Some(event) if daemon.hooks().enabled => match act(daemon, &event).await {
            Ok(Acted::Done) => true,
            Ok(Acted::TooEarly) => age(file) >= patience(daemon, &event),
            Err(AskError::Stopping) => return Err(AskError::Stopping),
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
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        } else if age(&path) > GIVE_UP {
            // Its writer died before it was whole.
            drop(fs::remove_file(path));
        }
    }
    files.sort();
    Ok(files)
}

/// `None` for what no hook of ours wrote.
fn read(file: &Path) -> Option<Event> {
    let is_small = fs::metadata(file).ok()?.len() <= LONGEST_EVENT as u64;
    is_small
        .then(|| fs::read(file).ok())
        .flatten()
        .and_then(|text| serde_json::from_slice(&text).ok())
}

/// How long a file has been lying there.
fn age(file: &Path) -> Duration {
    let written = fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
    let written = written.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    written.map_or(Duration::ZERO, |written| {
        clock::now().since(Timestamp::from_micros(i64::try_from(written.as_micros()).unwrap_or(0)))
    })
}
