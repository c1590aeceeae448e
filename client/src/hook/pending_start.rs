//! Keeps the start event of a session whose handoff was not ready in time, because the daemon was
//! down or busy. The hooks of the session's next prompts send the event again until the handoff is
//! ready, at most [`ATTEMPTS`] times. An agent without a hook for prompts (`EventKind::Prompt`)
//! gets no late handoff.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use graphiti_proto::methods::hook::HookEvent;
use serde::{Deserialize, Serialize};

/// Maximum number of start events that are kept. When this number is reached, all kept events are
/// removed before the next event is stored.
const STARTS: usize = 64;
/// Maximum age of a start event. An older event belongs to a session without a prompt.
const GIVE_UP: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum number of prompts whose hooks send a start event again. Each attempt delays a prompt.
const ATTEMPTS: u32 = 5;

/// A start event that is sent again.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingStart {
    #[serde(flatten)]
    pub(super) event: HookEvent,
    /// How often the event was sent again without a handoff in the answer.
    #[serde(default)]
    attempts: u32,
}

/// Keeps the start event of a session.
pub(super) fn keep(start: &HookEvent, home: &Path) {
    let start = PendingStart { event: start.without_prompt(), attempts: 0 };
    // A hook reports no errors.
    let _ = try_keep(&start, home);
}

/// Keeps a start event whose handoff was late again, unless this was the last attempt.
pub(super) fn keep_again(start: PendingStart, home: &Path) {
    let attempts = start.attempts + 1;
    if attempts < ATTEMPTS {
        // A hook reports no errors.
        let _ = try_keep(&PendingStart { attempts, ..start }, home);
    }
}

/// Removes and returns the start event of the session that `event` belongs to, if it was kept.
pub(super) fn take(event: &HookEvent, home: &Path) -> Option<PendingStart> {
    let file = file_of(event, home)?;
    let text = fs::read(&file).ok()?;
    // A start event that cannot be removed would repeat the handoff with each prompt.
    fs::remove_file(&file).ok()?;
    serde_json::from_slice(&text).ok()
}

fn try_keep(start: &PendingStart, home: &Path) -> io::Result<()> {
    let Some(file) = file_of(&start.event, home) else { return Ok(()) };
    let folder = folder(home);
    fs::create_dir_all(&folder)?;
    remove_old(&folder)?;
    // The hook of a prompt may read the file at any time, so the file must be complete.
    let unfinished = file.with_extension(format!("{}.new", process::id()));
    fs::write(&unfinished, serde_json::to_vec(start)?)?;
    fs::rename(unfinished, file)
}

fn remove_old(folder: &Path) -> io::Result<()> {
    let files: Vec<fs::DirEntry> = fs::read_dir(folder)?.flatten().collect();
    let is_full = files.len() >= STARTS;
    for file in files {
        let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
        let age = modified.and_then(|modified| modified.elapsed().ok());
        if is_full || age.is_some_and(|age| age > GIVE_UP) {
            // Another hook may have removed the file first. Another error must not prevent that the
            // new event is kept.
            let _ = fs::remove_file(file.path());
        }
    }
    Ok(())
}

/// Returns the file for a session; `None` if its id cannot be the name of a file.
fn file_of(event: &HookEvent, home: &Path) -> Option<PathBuf> {
    let id = &event.session_id;
    let is_name = (1..=128).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    is_name.then(|| folder(home).join(format!("{id}.json")))
}

fn folder(home: &Path) -> PathBuf {
    home.join("handoffs-due")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(session: &str) -> HookEvent {
        HookEvent {
            hook_event_name: "SessionStart".to_owned(),
            session_id: session.to_owned(),
            ..HookEvent::default()
        }
    }

    #[test]
    fn a_kept_start_is_returned_once_and_only_to_its_session() {
        let home = tempfile::tempdir().unwrap();
        keep(&start("a"), home.path());
        assert_eq!(take(&start("b"), home.path()), None);
        assert_eq!(take(&start("a"), home.path()).unwrap().event, start("a"));
        assert_eq!(take(&start("a"), home.path()), None);
    }

    #[test]
    fn a_start_is_sent_again_for_a_limited_number_of_prompts() {
        let home = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            keep(&start("a"), home.path());
            for attempt in 0..ATTEMPTS {
                let kept = take(&start("a"), home.path());
                keep_again(kept.unwrap_or_else(|| panic!("attempt {attempt}")), home.path());
            }
            assert_eq!(take(&start("a"), home.path()), None);
        }
    }

    #[test]
    fn a_start_that_an_earlier_version_kept_is_sent_again() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(folder(home.path())).unwrap();
        let text = serde_json::to_vec(&start("a")).unwrap();
        fs::write(file_of(&start("a"), home.path()).unwrap(), text).unwrap();
        let kept = PendingStart { event: start("a"), attempts: 0 };
        assert_eq!(take(&start("a"), home.path()), Some(kept));
    }

    #[test]
    fn a_start_is_not_kept_if_the_session_id_is_not_a_file_name() {
        let home = tempfile::tempdir().unwrap();
        for id in ["../a", "a/b", "", "a.b"] {
            keep(&start(id), home.path());
            assert_eq!(take(&start(id), home.path()), None);
        }
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_start_is_kept_even_if_an_old_entry_cannot_be_removed() {
        let home = tempfile::tempdir().unwrap();
        for number in 0..STARTS {
            fs::create_dir_all(folder(home.path()).join(number.to_string())).unwrap();
        }
        keep(&start("a"), home.path());
        assert!(take(&start("a"), home.path()).is_some());
    }

    #[test]
    fn only_complete_files_have_the_name_of_a_session() {
        let home = tempfile::tempdir().unwrap();
        keep(&start("a"), home.path());
        let file = file_of(&start("a"), home.path()).unwrap();
        let before = fs::File::open(&file).unwrap();
        let length = before.metadata().unwrap().len();
        keep(&HookEvent { cwd: Some("/app".to_owned()), ..start("a") }, home.path());
        assert!(fs::metadata(&file).unwrap().len() > length);
        assert_eq!(before.metadata().unwrap().len(), length, "the first file was not changed");
        assert_eq!(fs::read_dir(folder(home.path())).unwrap().count(), 1);
    }

    #[test]
    fn the_number_of_kept_starts_is_limited() {
        let home = tempfile::tempdir().unwrap();
        for number in 0..3 * STARTS {
            keep(&start(&number.to_string()), home.path());
        }
        assert!(fs::read_dir(folder(home.path())).unwrap().count() <= STARTS);
    }
}
