//! Which sessions are worked on, noted in a file: by it the next start knows in whose work this one
//! died.
//!
//! Panics are survived; a stack or a memory that is used up is not. A transcript that brings that
//! about does so again at each start, as long as its session is due. So one in whose work the daemon
//! died [`DEATHS`] times without coming any further is left alone for a while. Someone who closes it
//! by name has it tried once more, another version of the program has a fresh start.
//!
//! Only the end of the process counts, and for that the file need not reach the disk. Where it
//! cannot be written the daemon works as it would without it.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, Write},
    path::Path,
    sync::PoisonError,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    model::{SessionId, Timestamp},
    sync::{Mutex, MutexGuard},
};

/// After so many deaths in its work a session is left alone.
const DEATHS: u32 = 3;
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
pub struct AtWork {
    noted: Mutex<Noted>,
}

/// A session is worked on, until this is dropped.
pub(super) struct Begun<'w> {
    at_work: &'w AtWork,
    session: SessionId,
    /// Whether the work came to an end, and not just to a stop.
    is_done: bool,
}

/// Why a session is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeftAlone {
    /// So often the daemon died.
    pub(super) deaths: u32,
    /// So long it is left alone since it last did.
    pub(super) pause: Duration,
}

struct Noted {
    notes: Notes,
    file: Option<File>,
    /// Bytes of the file.
    length: usize,
}

#[derive(Debug, Default, PartialEq)]
struct Notes(BTreeMap<SessionId, Note>);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Note {
    /// How many bytes of the session's files were known when the work began.
    from: u64,
    at_work: bool,
    /// How often the daemon died without coming any further.
    deaths: u32,
    /// When that was last noticed, in microseconds since the Unix epoch.
    last: i64,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    /// The version of the program.
    program: String,
    sessions: Vec<SavedNote>,
}

#[derive(Serialize, Deserialize)]
struct SavedNote {
    agent: String,
    id: String,
    #[serde(flatten)]
    note: Note,
}

impl AtWork {
    /// Takes over what the last run noted in `file`: what was worked on then was cut short.
    pub fn open(file: &Path, now: Timestamp) -> AtWork {
        let noted = open(file).unwrap_or_else(|error| {
            let file = file.display();
            tracing::warn!(%error, %file, "what is worked on cannot be noted");
            Noted { notes: Notes::default(), file: None, length: 0 }
        });
        let at_work = AtWork { noted: Mutex::new(noted) };
        at_work.change(|notes| notes.died(now));
        at_work
    }

    /// Notes that a session is worked on of whose files `from` bytes are known.
    pub(super) fn begin(&self, session: &SessionId, from: u64) -> Begun<'_> {
        self.change(|notes| notes.begin(session, from));
        Begun { at_work: self, session: session.clone(), is_done: false }
    }

    /// Whether a session is left alone, and why.
    pub(super) fn left_alone(&self, session: &SessionId, now: Timestamp) -> Option<LeftAlone> {
        self.noted().notes.left_alone(session, now)
    }

    /// The sessions in whose work the daemon may have died.
    pub(super) fn suspects(&self) -> Vec<SessionId> {
        self.noted().notes.0.keys().cloned().collect()
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

    fn change(&self, change: impl FnOnce(&mut Notes)) {
        let mut noted = self.noted();
        change(&mut noted.notes);
        if let Err(error) = noted.save() {
            tracing::debug!(%error, "what is worked on cannot be noted");
        }
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Begun<'_> {
    /// The work came to its end.
    pub(super) fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        // A defect that is survived is none that ends the daemon.
        let is_done = self.is_done || std::thread::panicking();
        self.at_work.change(|notes| notes.end(&self.session, is_done));
    }
}

impl Noted {
    fn save(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut text = self.notes.to_text();
        // One write and no other length: whoever is killed in between leaves nothing half written.
        let length = text.len();
        text.resize(length.max(self.length), b' ');
        file.rewind()?;
        file.write_all(&text)?;
        self.length = text.len();
        Ok(())
    }
}

impl Notes {
    fn begin(&mut self, session: &SessionId, from: u64) {
        let new = Note { from, at_work: true, deaths: 0, last: 0 };
        let note = self.0.entry(session.clone()).or_insert(new);
        // It came further than the last time.
        if from > note.from {
            *note = new;
        }
        note.at_work = true;
    }

    fn end(&mut self, session: &SessionId, is_done: bool) {
        match self.0.get_mut(session) {
            Some(note) if !is_done && note.deaths > 0 => note.at_work = false,
            _ => drop(self.0.remove(session)),
        }
    }

    /// The process ended in the midst of what was worked on.
    fn died(&mut self, now: Timestamp) {
        for note in self.0.values_mut().filter(|note| note.at_work) {
            *note = Note {
                at_work: false,
                deaths: note.deaths.saturating_add(1),
                last: now.micros(),
                ..*note
            };
        }
        self.0.retain(|_, note| now.since(Timestamp::from_micros(note.last)) < OLD);
    }

    fn left_alone(&self, session: &SessionId, now: Timestamp) -> Option<LeftAlone> {
        let note = self.0.get(session).filter(|note| note.deaths >= DEATHS)?;
        let doubled = 1_u32.checked_shl(note.deaths - DEATHS).unwrap_or(u32::MAX);
        let pause = FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE);
        let last = Timestamp::from_micros(note.last);
        // A clock that was set back would leave it alone for longer.
        let is_over = last > now || now.since(last) >= pause;
        (!is_over).then_some(LeftAlone { deaths: note.deaths, pause })
    }

    fn to_text(&self) -> Vec<u8> {
        let sessions = self.0.iter().map(|(session, note)| {
            let SessionId { agent, id } = session.clone();
            SavedNote { agent, id, note: *note }
        });
        let program = env!("CARGO_PKG_VERSION").to_owned();
        let saved = Saved { version: VERSION, program, sessions: sessions.collect() };
        serde_json::to_vec(&saved).expect("notes have only string keys")
    }

    /// Nothing, where another program wrote it: it may fare better.
    fn of_text(text: &[u8]) -> Notes {
        let saved = serde_json::from_slice::<Saved>(text).ok();
        let ours =
            |saved: &Saved| saved.version == VERSION && saved.program == env!("CARGO_PKG_VERSION");
        let sessions = saved.filter(ours).map(|saved| saved.sessions).unwrap_or_default();
        let named = |SavedNote { agent, id, note }| (SessionId { agent, id }, note);
        Notes(sessions.into_iter().map(named).collect())
    }
}

fn open(path: &Path) -> io::Result<Noted> {
    let mut file =
        File::options().create(true).truncate(false).read(true).write(true).open(path)?;
    let mut text = Vec::new();
    (&mut file).take(LONGEST).read_to_end(&mut text)?;
    if file.metadata()?.len() > LONGEST {
        file.set_len(0)?;
    }
    let (notes, length) = (Notes::of_text(&text), text.len());
    Ok(Noted { notes, file: Some(file), length })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_000_000);
    const HOUR: Duration = Duration::from_secs(60 * 60);

    fn session(id: &str) -> SessionId {
        SessionId { agent: "claude".to_owned(), id: id.to_owned() }
    }

    /// One run: `ids` are worked on from those bytes on when the process ends.
    fn dies(file: &Path, works: &[(&str, u64)], now: Timestamp) {
        let at_work = AtWork::open(file, now);
        let begun: Vec<_> =
            works.iter().map(|(id, from)| at_work.begin(&session(id), *from)).collect();
        begun.into_iter().for_each(std::mem::forget);
    }

    fn left_alone(file: &Path, id: &str, now: Timestamp) -> Option<LeftAlone> {
        AtWork::open(file, now).left_alone(&session(id), now)
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
        assert_eq!(found, Some(LeftAlone { deaths: DEATHS, pause: HOUR }));
        assert_eq!(left_alone(&file, "a", NOW.minus(HOUR)), None, "the clock was set back");

        // It is tried again, and left alone for longer.
        let later = NOW.plus(HOUR);
        assert_eq!(left_alone(&file, "a", later), None);
        dies(&file, &[("a", 7)], later);
        let found = left_alone(&file, "a", later.plus(HOUR));
        assert_eq!(found, Some(LeftAlone { deaths: DEATHS + 1, pause: 2 * HOUR }));
        (0..100).for_each(|_| dies(&file, &[("a", 7)], later));
        assert_eq!(left_alone(&file, "a", later).map(|left| left.pause), Some(LONGEST_PAUSE));
        assert_eq!(AtWork::open(&file, later.plus(OLD)).suspects(), []);
    }

    #[test]
    fn work_that_ended_counts_no_deaths() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("at_work.json");
        (0..DEATHS).for_each(|_| dies(&file, &[("a", 7), ("b", 7)], NOW));
        let at_work = AtWork::open(&file, NOW);
        assert_eq!(at_work.suspects(), [session("a"), session("b")]);
        at_work.begin(&session("a"), 7).done();
        drop(at_work.begin(&session("b"), 7));
        assert_eq!(left_alone(&file, "a", NOW), None);
        assert!(left_alone(&file, "b", NOW).is_some(), "it was broken off by a stop");
        let at_work = AtWork::open(&file, NOW);
        at_work.try_again(&session("b"));
        assert_eq!(at_work.left_alone(&session("b"), NOW), None);
        std::mem::forget(at_work.begin(&session("b"), 7));
        assert!(left_alone(&file, "b", NOW).is_some());
        let at_work = AtWork::open(&file, NOW);
        at_work.forget(&session("b"));
        assert_eq!(AtWork::open(&file, NOW).suspects(), []);
    }

    #[test]
    fn the_file_is_read_as_it_was_written_and_what_cannot_be_read_is_nothing() {
        let text = format!(
            r#"{{"version":1,"program":"{}","sessions":[{{"agent":"claude","id":"a","from":7,"at_work":true,"deaths":2,"last":5}}]}}"#,
            env!("CARGO_PKG_VERSION")
        );
        let note = Note { from: 7, at_work: true, deaths: 2, last: 5 };
        let notes = Notes(BTreeMap::from([(session("a"), note)]));
        assert_eq!(Notes::of_text(text.as_bytes()), notes);
        assert_eq!(notes.to_text(), text.as_bytes());
        let others = [
            text.replace("\"version\":1", "\"version\":2"),
            text.replace("\"program\":\"", "\"program\":\"0"),
            text[..text.len() / 2].to_owned(),
            String::new(),
        ];
        for other in others {
            assert_eq!(Notes::of_text(other.as_bytes()), Notes::default(), "{other}");
        }
        let folder = tempfile::tempdir().unwrap();
        let at_work = AtWork::open(&folder.path().join("no/such"), NOW);
        at_work.begin(&session("a"), 0).done();
    }
}
