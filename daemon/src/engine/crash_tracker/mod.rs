//! Which sessions are worked on, noted in a file: by it the next start knows in whose work this one
//! died.
//!
//! Panics are survived; a stack or a memory that is used up is not. A transcript that brings that
//! about does so again at each start, as long as its session is due. So one in whose work the daemon
//! died [`DEATHS`] times without coming any further is left alone for a while. Someone who closes it
//! by name has it tried once more, another version of the program has a fresh start.
//!
//! A daemon that is killed from outside dies in somebody's work, too, and by chance in the same one's
//! again. So a session in whose work it died [`TESTED_FROM`] times is put to the test: it is worked on
//! with nothing beside it, and not before the daemon has lived for [`QUIET`]. A kill that comes by
//! chance in a shorter life never hits a test, and in a life of a minute one that takes 0.1 s with a
//! chance of 1 in 600. Two tests in a row have to be hit, which is 1 in 360,000 (1 in 3,600 for a test
//! of 1 s), after the two deaths before; a test that is not hit clears the session.
//!
//! Only the end of the process counts, and for that the file need not reach the disk. Where it
//! cannot be written the daemon works as it would without it.

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

/// After so many deaths in its work a session is left alone.
const DEATHS: u32 = 4;
/// After so many it is put to the test.
const TESTED_FROM: u32 = 2;
/// A test begins when the daemon has lived for so long.
pub(super) const QUIET: Duration = Duration::from_secs(60);
/// So long at first; twice as long after each death more.
const FIRST_PAUSE: Duration = Duration::from_secs(60 * 60);
/// So long at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);
/// What was not tried again for so long is forgotten.
const OLD: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The version of the file.
const VERSION: u32 = 1;
/// Bytes of the file at most; it has a few hundred.
const LONGEST: u64 = 1 << 20;

/// The sessions that are worked on, and those in whose work the daemon died.
pub struct CrashTracker {
    noted: Mutex<TrackerState>,
}

/// A session is worked on, until this is dropped.
pub(super) struct WorkGuard<'w> {
    crash_tracker: &'w CrashTracker,
    session: SessionId,
    /// Whether the work came to an end, and not just to a stop.
    is_done: bool,
}

/// Why a session is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quarantine {
    /// So often the daemon died.
    pub(super) deaths: u32,
    /// So long it is left alone since it last did.
    pub(super) pause: Duration,
}

#[derive(Default)]
struct TrackerState {
    notes: CrashNotes,
    /// Who notes.
    process: String,
    file: Option<File>,
    /// Bytes of the file.
    length: usize,
}

#[derive(Debug, Default, PartialEq)]
struct CrashNotes(BTreeMap<SessionId, CrashNote>);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct CrashNote {
    /// How many bytes of the session's files were known when the work began.
    from: u64,
    #[serde(rename = "at_work")]
    in_progress: bool,
    /// How often the daemon died without coming any further.
    deaths: u32,
    /// When that was last noticed, in microseconds since the Unix epoch.
    last: i64,
}

#[derive(Serialize, Deserialize)]
struct CrashFile {
    version: u32,
    /// The version of the program.
    program: String,
    /// Which process wrote it: a name by chance, for numbers come again.
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
    /// Takes over what the last run noted in `file`: what was worked on then was cut short.
    pub fn open(file: &Path, now: Timestamp) -> CrashTracker {
        CrashTracker::open_in(file, now, this_process())
    }

    fn open_in(file: &Path, now: Timestamp, process: &str) -> CrashTracker {
        let (mut noted, writer) = open(file, process).unwrap_or_else(|error| {
            let file = file.display();
            tracing::warn!(%error, %file, "what is worked on cannot be noted");
            (TrackerState::default(), String::new())
        });
        // A daemon that opens its database anew has not died.
        match writer == process {
            true => noted.notes.broken_off(),
            false => noted.notes.died(now),
        }
        let crash_tracker = CrashTracker { noted: Mutex::new(noted) };
        crash_tracker.change(|_| {});
        crash_tracker
    }

    /// Notes that a session is worked on of whose files `from` bytes are known.
    pub(super) fn begin(&self, session: &SessionId, from: u64) -> WorkGuard<'_> {
        self.change(|notes| notes.begin(session, from));
        WorkGuard { crash_tracker: self, session: session.clone(), is_done: false }
    }

    /// Whether a session is left alone, and why.
    pub(super) fn left_alone(&self, session: &SessionId, now: Timestamp) -> Option<Quarantine> {
        self.noted().notes.left_alone(session, now)
    }

    /// The sessions in whose work the daemon died, and whether they are to be put to the test.
    pub(super) fn suspects(&self) -> Vec<(SessionId, bool)> {
        let noted = self.noted();
        let suspects = noted.notes.0.iter();
        suspects.map(|(session, note)| (session.clone(), note.deaths >= TESTED_FROM)).collect()
    }

    /// Has a session that is left alone tried once more.
    pub(super) fn try_again(&self, session: &SessionId) {
        let mut noted = self.noted();
        if let Some(note) = noted.notes.0.get_mut(session) {
            note.deaths = note.deaths.min(DEATHS - 1);
        }
    }

    /// Forgets what is noted of a session.
    pub(super) fn forget(&self, session: &SessionId) {
        if self.noted().notes.0.contains_key(session) {
            self.change(|notes| notes.0.retain(|noted, _| noted != session));
        }
    }

    fn change(&self, change: impl FnOnce(&mut CrashNotes)) {
        let mut noted = self.noted();
        change(&mut noted.notes);
        if let Err(error) = noted.save() {
            tracing::debug!(%error, "what is worked on cannot be noted");
        }
    }

    fn noted(&self) -> MutexGuard<'_, TrackerState> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkGuard<'_> {
    /// The work came to its end.
    pub(super) fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for WorkGuard<'_> {
    fn drop(&mut self) {
        // A defect that is survived is none that ends the daemon.
        let is_done = self.is_done || std::thread::panicking();
        self.crash_tracker.change(|notes| notes.end(&self.session, is_done));
    }
}

impl TrackerState {
    fn save(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut text = self.notes.to_text(&self.process);
        // One write and no other length: whoever is killed in between leaves nothing half written.
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
        // It came further than the last time.
        if from > note.from {
            *note = new;
        }
        note.in_progress = true;
    }

    fn end(&mut self, session: &SessionId, is_done: bool) {
        match self.0.get_mut(session) {
            Some(note) if !is_done && note.deaths > 0 => note.in_progress = false,
            _ => drop(self.0.remove(session)),
        }
    }

    /// What was worked on came to an end with its round, one way or the other.
    fn broken_off(&mut self) {
        self.0.retain(|_, note| note.deaths > 0);
        self.0.values_mut().for_each(|note| note.in_progress = false);
    }

    /// The process ended in the midst of what was worked on.
    fn died(&mut self, now: Timestamp) {
        for note in self.0.values_mut().filter(|note| note.in_progress) {
            *note = CrashNote {
                in_progress: false,
                deaths: note.deaths.saturating_add(1),
                last: now.micros(),
                ..*note
            };
        }
        self.0.retain(|_, note| now.since(Timestamp::from_micros(note.last)) < OLD);
    }

    fn left_alone(&self, session: &SessionId, now: Timestamp) -> Option<Quarantine> {
        let note = self.0.get(session).filter(|note| note.deaths >= DEATHS)?;
        let doubled = 1_u32.checked_shl(note.deaths - DEATHS).unwrap_or(u32::MAX);
        let pause = FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE);
        let last = Timestamp::from_micros(note.last);
        // A clock that was set back would leave it alone for longer.
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

    /// What stands in a file, and which process wrote it. Nothing, where another program did: this
    /// one may fare better.
    fn of_text(text: &[u8]) -> (CrashNotes, String) {
        let saved = serde_json::from_slice::<CrashFile>(text).ok();
        let ours = |saved: &CrashFile| {
            saved.version == VERSION && saved.program == env!("CARGO_PKG_VERSION")
        };
        let Some(CrashFile { process, sessions, .. }) = saved.filter(ours) else {
            return (CrashNotes::default(), String::new());
        };
        let named = |CrashRecord { agent, id, note }| (SessionId { agent, id }, note);
        (CrashNotes(sessions.into_iter().map(named).collect()), process)
    }
}

/// A name of this process that no other one has.
fn this_process() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| uuid::Uuid::new_v4().simple().to_string())
}

/// Opens the file for `process`; tells, too, which one wrote it.
fn open(path: &Path, process: &str) -> io::Result<(TrackerState, String)> {
    let mut file =
        File::options().create(true).truncate(false).read(true).write(true).open(path)?;
    let mut text = Vec::new();
    (&mut file).take(LONGEST).read_to_end(&mut text)?;
    if file.metadata()?.len() > LONGEST {
        file.set_len(0)?;
    }
    let ((notes, writer), length) = (CrashNotes::of_text(&text), text.len());
    Ok((TrackerState { notes, process: process.to_owned(), file: Some(file), length }, writer))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_000_000);
    const HOUR: Duration = Duration::from_secs(60 * 60);

    fn session(id: &str) -> SessionId {
        SessionId { agent: "claude".to_owned(), id: id.to_owned() }
    }

    /// A run that is another one than the last.
    fn started(file: &Path, now: Timestamp) -> CrashTracker {
        CrashTracker::open_in(file, now, &uuid::Uuid::new_v4().to_string())
    }

    /// One run: `ids` are worked on from those bytes on when the process ends.
    fn dies(file: &Path, works: &[(&str, u64)], now: Timestamp) {
        let crash_tracker = started(file, now);
        let begun: Vec<_> =
            works.iter().map(|(id, from)| crash_tracker.begin(&session(id), *from)).collect();
        begun.into_iter().for_each(std::mem::forget);
    }

    fn left_alone(file: &Path, id: &str, now: Timestamp) -> Option<Quarantine> {
        started(file, now).left_alone(&session(id), now)
    }

    #[test]
    fn a_session_in_whose_work_the_daemon_dies_again_and_again_is_left_alone_for_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("at_work.json");
        for deaths in 1..=DEATHS {
            dies(&file, &[("a", 7), ("b", u64::from(deaths))], NOW);
            let found = left_alone(&file, "a", NOW);
            assert_eq!(found.is_some(), deaths == DEATHS, "{deaths}");
            // Reading it comes further each time.
            assert_eq!(left_alone(&file, "b", NOW), None);
        }
        let found = left_alone(&file, "a", NOW.plus(HOUR / 2));
        assert_eq!(found, Some(Quarantine { deaths: DEATHS, pause: HOUR }));
        assert_eq!(left_alone(&file, "a", NOW.minus(HOUR)), None, "the clock was set back");

        // It is tried again, and left alone for longer.
        let later = NOW.plus(HOUR);
        assert_eq!(left_alone(&file, "a", later), None);
        dies(&file, &[("a", 7)], later);
        let found = left_alone(&file, "a", later.plus(HOUR));
        assert_eq!(found, Some(Quarantine { deaths: DEATHS + 1, pause: 2 * HOUR }));
        (0..100).for_each(|_| dies(&file, &[("a", 7)], later));
        assert_eq!(left_alone(&file, "a", later).map(|left| left.pause), Some(LONGEST_PAUSE));
        assert_eq!(started(&file, later.plus(OLD)).suspects(), []);
    }

    #[test]
    fn a_session_in_whose_work_the_daemon_died_twice_is_to_be_put_to_the_test() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("at_work.json");
        dies(&file, &[("a", 7)], NOW);
        assert_eq!(started(&file, NOW).suspects(), [(session("a"), false)]);
        dies(&file, &[("a", 7)], NOW);
        // However often it is killed meanwhile: it was not in this work.
        (0..100).for_each(|_| dies(&file, &[], NOW));
        assert_eq!(left_alone(&file, "a", NOW), None);
        let crash_tracker = started(&file, NOW);
        assert_eq!(crash_tracker.suspects(), [(session("a"), true)]);
        crash_tracker.begin(&session("a"), 7).done();
        assert_eq!(crash_tracker.suspects(), [], "one test that ends well is enough");
    }

    #[test]
    fn a_round_that_ends_in_the_midst_of_work_is_no_death() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("at_work.json");
        dies(&file, &[("a", 7)], NOW);
        for _ in 0..=DEATHS {
            let crash_tracker = CrashTracker::open(&file, NOW);
            std::mem::forget(crash_tracker.begin(&session("a"), 7));
            std::mem::forget(crash_tracker.begin(&session("b"), 7));
        }
        assert_eq!(CrashTracker::open(&file, NOW).suspects(), [(session("a"), false)]);
    }

    #[test]
    fn work_that_ended_counts_no_deaths() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("at_work.json");
        (0..DEATHS).for_each(|_| dies(&file, &[("a", 7), ("b", 7)], NOW));
        let crash_tracker = started(&file, NOW);
        assert_eq!(crash_tracker.suspects(), [(session("a"), true), (session("b"), true)]);
        crash_tracker.begin(&session("a"), 7).done();
        drop(crash_tracker.begin(&session("b"), 7));
        assert_eq!(left_alone(&file, "a", NOW), None);
        assert!(left_alone(&file, "b", NOW).is_some(), "it was broken off by a stop");
        let crash_tracker = started(&file, NOW);
        crash_tracker.try_again(&session("b"));
        assert_eq!(crash_tracker.left_alone(&session("b"), NOW), None);
        std::mem::forget(crash_tracker.begin(&session("b"), 7));
        assert!(left_alone(&file, "b", NOW).is_some());
        let crash_tracker = started(&file, NOW);
        crash_tracker.forget(&session("b"));
        assert_eq!(started(&file, NOW).suspects(), []);
    }

    #[test]
    fn the_file_is_read_as_it_was_written_and_what_cannot_be_read_is_nothing() {
        let text = format!(
            r#"{{"version":1,"program":"{}","process":"p","sessions":[{{"agent":"claude","id":"a","from":7,"at_work":true,"deaths":2,"last":5}}]}}"#,
            env!("CARGO_PKG_VERSION")
        );
        let note = CrashNote { from: 7, in_progress: true, deaths: 2, last: 5 };
        let notes = CrashNotes(BTreeMap::from([(session("a"), note)]));
        assert_eq!(notes.to_text("p"), text.as_bytes());
        // Earlier ones did not say who they are.
        for (text, process) in [(text.clone(), "p"), (text.replace(r#""process":"p","#, ""), "")] {
            let read = CrashNotes::of_text(text.as_bytes());
            assert_eq!(read, (CrashNotes(notes.0.clone()), process.to_owned()));
        }
        let others = [
            text.replace("\"version\":1", "\"version\":2"),
            text.replace("\"program\":\"", "\"program\":\"0"),
            text[..text.len() / 2].to_owned(),
            String::new(),
        ];
        for other in others {
            let nothing = (CrashNotes::default(), String::new());
            assert_eq!(CrashNotes::of_text(other.as_bytes()), nothing, "{other}");
        }
        let folder = tempfile::tempdir().unwrap();
        let crash_tracker = CrashTracker::open(&folder.path().join("no/such"), NOW);
        crash_tracker.begin(&session("a"), 0).done();
    }
}
