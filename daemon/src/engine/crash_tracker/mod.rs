//! Keeps a file with the ids of the sessions that are being worked on, so that the next start of
//! the daemon knows which work was in progress when the daemon died.
//!
//! Panics are caught, but an exhausted stack or memory ends the process. If the cause is a
//! transcript, the process would end again at each start. So a session is quarantined for a while
//! after the daemon died [`QUARANTINE_DEATHS`] times while it worked on the session and made no
//! progress. If a user closes the quarantined session, one more attempt is allowed. Another version
//! of the program starts with no quarantines.
//!
//! A daemon that is killed from outside may die during the work on a session, too, and by chance
//! several times during the work on the same session. So a session is tested after [`TEST_DEATHS`]
//! deaths: it is processed alone, and only when the daemon has run for [`TEST_DELAY`]. A kill
//! before this time never interrupts a test. A kill at a random moment of a minute interrupts a
//! test of 0.1 s with a probability of 1 in 600. A quarantine needs two deaths and then two
//! interrupted tests. By chance, this happens with a probability of 1 in 360,000 (1 in 3,600 for
//! tests of one second). A successful test removes the session from the file.
//!
//! Crashes of the machine do not count, only crashes of the process. So the file is not synced to
//! disk. If the file cannot be written, the daemon works without it.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, Write},
    path::Path,
    sync::{OnceLock, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    model::{SessionId, Timestamp},
    sync::{Mutex, MutexGuard},
};

/// Number of deaths after which a session is quarantined.
const QUARANTINE_DEATHS: u32 = 4;
/// Number of deaths after which a session is tested.
const TEST_DEATHS: u32 = 2;
/// Minimum age of the daemon before it tests a session.
pub(super) const TEST_DELAY: Duration = Duration::from_secs(60);
/// The length of the first quarantine; each further death doubles the length.
const FIRST_PAUSE: Duration = Duration::from_secs(60 * 60);
/// Maximum length of a quarantine.
const MAX_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum age of the last death of a session; older notes are dropped.
const MAX_NOTE_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The version of the file.
const VERSION: u32 = 1;
/// Maximum size of the file, in bytes. Its usual size is a few hundred bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The sessions that are being worked on, and those that were being worked on when the daemon died.
pub struct CrashTracker {
    state: Mutex<TrackerState>,
}

/// Marks a session as being worked on, until the guard is dropped.
pub(super) struct WorkGuard<'w> {
    crash_tracker: &'w CrashTracker,
    session: SessionId,
    /// Whether the work was completed; `false` if it was interrupted.
    is_done: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quarantine {
    /// How often the daemon died while it worked on the session.
    pub(super) deaths: u32,
    /// The length of the quarantine, from the last death on.
    pub(super) pause: Duration,
}

/// A session that was being worked on when the daemon died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    pub(super) session: SessionId,
    /// Whether the session has to be tested.
    pub(super) is_tested: bool,
}

#[derive(Default)]
struct TrackerState {
    notes: CrashNotes,
    /// The name of this process.
    process: String,
    file: Option<File>,
    /// The number of bytes in the file that the next write has to cover.
    length: usize,
}

#[derive(Debug, Default, PartialEq)]
struct CrashNotes(BTreeMap<SessionId, CrashNote>);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct CrashNote {
    /// The number of bytes of the session's files that were read before the work began.
    from: u64,
    #[serde(rename = "at_work")]
    in_progress: bool,
    /// How often the daemon died while it worked on the session without any progress.
    deaths: u32,
    /// When the last death was noticed, in microseconds since the Unix epoch.
    last: i64,
}

#[derive(Serialize, Deserialize)]
struct CrashFile {
    version: u32,
    /// The version of the program.
    program: String,
    /// A random name of the process that wrote the file. A process id is no replacement, because
    /// ids are reused.
    #[serde(default)]
    process: String,
    sessions: Vec<CrashRecord>,
}

#[derive(Serialize, Deserialize)]
struct CrashRecord {
    agent: String,
    id: String,
    #[serde(flatten)]
    note: CrashNote,
}

impl CrashTracker {
    /// Opens `file` with the notes of the last run. Work that was in progress at the end of that
    /// run counts as interrupted.
    pub fn open(file: &Path, now: Timestamp) -> CrashTracker {
        CrashTracker::open_in(file, now, this_process())
    }

    fn open_in(file: &Path, now: Timestamp, process: &str) -> CrashTracker {
        let (mut state, writer) = open(file, process).unwrap_or_else(|error| {
            let file = file.display();
            tracing::warn!(%error, %file, "failed to track the sessions that are worked on");
            (TrackerState::default(), String::new())
        });
        // If this process wrote the file, the daemon did not die: it has only reopened its
        // database.
        match writer == process {
            true => state.notes.end_work_in_progress(),
            false => state.notes.count_deaths(now),
        }
        let crash_tracker = CrashTracker { state: Mutex::new(state) };
        crash_tracker.change(|_| {});
        crash_tracker
    }

    /// Records the start of work on a session. `from` is the number of bytes of the session's files
    /// that were read before.
    pub(super) fn begin(&self, session: &SessionId, from: u64) -> WorkGuard<'_> {
        self.change(|notes| notes.begin(session, from));
        WorkGuard { crash_tracker: self, session: session.clone(), is_done: false }
    }

    /// Returns the quarantine of a session, if it is quarantined.
    pub(super) fn quarantine(&self, session: &SessionId, now: Timestamp) -> Option<Quarantine> {
        self.lock().notes.quarantine(session, now)
    }

    /// Returns the sessions that were being worked on when the daemon died.
    pub(super) fn suspects(&self) -> Vec<Suspect> {
        let state = self.lock();
        let suspect = |(session, note): (&SessionId, &CrashNote)| Suspect {
            session: session.clone(),
            is_tested: note.deaths >= TEST_DEATHS,
        };
        state.notes.0.iter().map(suspect).collect()
    }

    /// Allows one more attempt for a quarantined session.
    pub(super) fn try_again(&self, session: &SessionId) {
        let mut state = self.lock();
        if let Some(note) = state.notes.0.get_mut(session) {
            note.deaths = note.deaths.min(QUARANTINE_DEATHS - 1);
        }
    }

    pub(super) fn forget(&self, session: &SessionId) {
        if self.lock().notes.0.contains_key(session) {
            self.change(|notes| notes.0.retain(|known, _| known != session));
        }
    }

    fn change(&self, change: impl FnOnce(&mut CrashNotes)) {
        let mut state = self.lock();
        change(&mut state.notes);
        if let Err(error) = state.save() {
            tracing::debug!(%error, "failed to track the sessions that are worked on");
        }
    }

    fn lock(&self) -> MutexGuard<'_, TrackerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkGuard<'_> {
    /// Records that the work was completed.
    pub(super) fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for WorkGuard<'_> {
    fn drop(&mut self) {
        // A panic is caught and does not end the daemon.
        let is_done = self.is_done || std::thread::panicking();
        self.crash_tracker.change(|notes| notes.end(&self.session, is_done));
    }
}

impl TrackerState {
    fn save(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut text = self.notes.to_text(&self.process);
        // The text is written with a single write. Spaces cover the rest of a longer earlier text,
        // because a kill between the write and a truncation would leave the rest in the file.
        let length = text.len();
        text.resize(length.max(self.length), b' ');
        file.rewind()?;
        file.write_all(&text)?;
        self.length = text.len();
        Ok(())
    }
}

impl CrashNotes {
    fn begin(&mut self, session: &SessionId, from: u64) {
        let new = CrashNote { from, in_progress: true, deaths: 0, last: 0 };
        let note = self.0.entry(session.clone()).or_insert(new);
        // If more bytes were read before this attempt than before the last one, there was progress.
        if from > note.from {
            *note = new;
        }
        note.in_progress = true;
    }

    fn end(&mut self, session: &SessionId, is_done: bool) {
        match self.0.get_mut(session) {
            Some(note) if !is_done && note.deaths > 0 => note.in_progress = false,
            _ => {
                self.0.remove(session);
            }
        }
    }

    /// Ends all work in progress without counting a death.
    fn end_work_in_progress(&mut self) {
        self.0.retain(|_, note| note.deaths > 0);
        self.0.values_mut().for_each(|note| note.in_progress = false);
    }

    /// Counts a death for all work in progress, and drops old notes.
    fn count_deaths(&mut self, now: Timestamp) {
        for note in self.0.values_mut().filter(|note| note.in_progress) {
            *note = CrashNote {
                in_progress: false,
                deaths: note.deaths.saturating_add(1),
                last: now.micros(),
                ..*note
            };
        }
        self.0.retain(|_, note| now.since(Timestamp::from_micros(note.last)) < MAX_NOTE_AGE);
    }

    fn quarantine(&self, session: &SessionId, now: Timestamp) -> Option<Quarantine> {
        let note = self.0.get(session).filter(|note| note.deaths >= QUARANTINE_DEATHS)?;
        let doubled = 1_u32.checked_shl(note.deaths - QUARANTINE_DEATHS).unwrap_or(u32::MAX);
        let pause = FIRST_PAUSE.saturating_mul(doubled).min(MAX_PAUSE);
        let last = Timestamp::from_micros(note.last);
        // If the clock was set back, the quarantine would last too long, so it ends.
        let is_over = last > now || now.since(last) >= pause;
        (!is_over).then_some(Quarantine { deaths: note.deaths, pause })
    }

    fn to_text(&self, process: &str) -> Vec<u8> {
        let sessions = self.0.iter().map(|(session, note)| {
            let SessionId { agent, id } = session.clone();
            CrashRecord { agent, id, note: *note }
        });
        let program = env!("CARGO_PKG_VERSION").to_owned();
        let (process, sessions) = (process.to_owned(), sessions.collect());
        let saved = CrashFile { version: VERSION, program, process, sessions };
        serde_json::to_vec(&saved).expect("notes have only string keys")
    }

    /// Parses the text of a file; returns the notes and the process that wrote them. Notes of
    /// another version of the program are dropped, because this version may not have the defect.
    fn of_text(text: &[u8]) -> (CrashNotes, String) {
        let saved = serde_json::from_slice::<CrashFile>(text)
            // A new file is empty.
            .inspect_err(|error| {
                if !text.is_empty() {
                    tracing::warn!(%error, "the notes of crashes are damaged and are dropped");
                }
            })
            .ok();
        let is_current = |saved: &CrashFile| {
            saved.version == VERSION && saved.program == env!("CARGO_PKG_VERSION")
        };
        let Some(CrashFile { process, sessions, .. }) = saved.filter(is_current) else {
            return (CrashNotes::default(), String::new());
        };
        let named = |CrashRecord { agent, id, note }| (SessionId { agent, id }, note);
        (CrashNotes(sessions.into_iter().map(named).collect()), process)
    }
}

/// Returns a unique name of this process.
fn this_process() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| uuid::Uuid::new_v4().simple().to_string())
}

/// Opens the file for `process`; also returns the process that wrote it.
fn open(path: &Path, process: &str) -> io::Result<(TrackerState, String)> {
    let mut file =
        File::options().create(true).truncate(false).read(true).write(true).open(path)?;
    let mut text = Vec::new();
    (&mut file).take(MAX_BYTES).read_to_end(&mut text)?;
    let is_too_long = file.metadata()?.len() > MAX_BYTES;
    if is_too_long {
        file.set_len(0)?;
    }
    let (notes, writer) = CrashNotes::of_text(&text);
    let length = if is_too_long { 0 } else { text.trim_ascii_end().len() };
    Ok((TrackerState { notes, process: process.to_owned(), file: Some(file), length }, writer))
}

#[cfg(test)]
mod tests;
