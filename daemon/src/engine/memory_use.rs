//! Counts the lines that sessions receive from the memory, and how many of these lines they use.
//! Such a line is a line of a handoff or a hit of a search.
//!
//! A line is *used* when the session that received it opens the session from which the line comes,
//! or when the summary of the receiving session contains most words of the line. The counts stay
//! on the machine. They show how useful the memory is, and break ties when a handoff selects its
//! lines.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{
    model::Episode,
    store::{NoteNamespace, Store, StoreError, Write},
    summarize::handoff::{HandoffLine, repeats},
};

/// The version of the form on disk.
const VERSION: u32 = 1;
/// The name of the note.
const NAME: &[u8] = b"counts";
/// Maximum number of sessions with unused lines; the oldest sessions are dropped.
const MAX_OFFERS: usize = 64;
/// Maximum number of unused lines per session; the oldest lines are dropped.
const MAX_LINES: usize = 24;
/// Maximum number of topics.
const MAX_TOPICS: usize = 16;

/// Counts the lines that sessions get, and the lines that they use.
pub struct MemoryUse {
    store: Arc<dyn Store>,
    state: Mutex<MemoryUseRecord>,
}

/// How often lines of a topic were offered and used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseCount {
    pub offered: u64,
    pub used: u64,
}

/// The form on disk.
#[derive(Default, Serialize, Deserialize)]
struct MemoryUseRecord {
    version: u32,
    counts: BTreeMap<String, UseCount>,
    offers: VecDeque<Offer>,
}

/// The lines that a session got and has not used yet.
#[derive(Serialize, Deserialize)]
struct Offer {
    session: String,
    lines: Vec<OfferedLine>,
}

#[derive(Serialize, Deserialize)]
struct OfferedLine {
    topic: String,
    text: String,
    /// The session from which the line comes.
    from: String,
}

impl MemoryUse {
    /// Loads the counts. If they cannot be parsed, they start at zero.
    pub(super) fn load(store: Arc<dyn Store>) -> Result<MemoryUse, StoreError> {
        let note = store.note(NoteNamespace::MemoryUse, NAME)?;
        let record = note.and_then(|content| serde_json::from_slice(&content).ok());
        let record = record.filter(|record: &MemoryUseRecord| record.version == VERSION);
        Ok(MemoryUse { store, state: Mutex::new(record.unwrap_or_default()) })
    }

    /// Notes that a session got these lines.
    pub fn offer(&self, session: &str, lines: Vec<HandoffLine>) {
        if session.is_empty() || lines.is_empty() {
            return;
        }
        let mut state = self.lock();
        for line in &lines {
            if let Some(count) = state.count(&line.topic) {
                count.offered += 1;
            }
        }
        let lines = lines.into_iter();
        let lines = lines.map(|line| OfferedLine {
            topic: line.topic,
            text: line.text,
            from: line.session_id,
        });
        match state.offers.iter_mut().find(|offer| offer.session == session) {
            Some(offer) => offer.lines.extend(lines),
            None => {
                let offer = Offer { session: session.to_owned(), lines: lines.collect() };
                state.offers.push_back(offer);
            }
        }
        state.limit();
        self.save(&mut state);
    }

    /// Notes that `session` opened the session `opened`: the lines from the opened session are
    /// used.
    pub fn opened(&self, session: &str, opened: &str) {
        self.used(session, |line| line.from == opened);
    }

    /// Notes that the session of `episode` used the lines that the episode repeats.
    pub(super) fn ended(&self, episode: &Episode) {
        self.used(&episode.session_id.id, |line| repeats(episode, &line.text));
    }

    /// Drops the lines that a forgotten session got, and the lines that other sessions got from it.
    pub(super) fn forget(&self, session: &str) {
        let mut state = self.lock();
        let before = state.offers.len();
        state.offers.retain(|offer| offer.session != session);
        let mut is_changed = state.offers.len() < before;
        for offer in &mut state.offers {
            is_changed |= offer.lines.extract_if(.., |line| line.from == session).count() > 0;
        }
        if is_changed {
            self.save(&mut state);
        }
    }

    /// Returns the counts by topic.
    pub fn counts(&self) -> BTreeMap<String, UseCount> {
        self.lock().counts.clone()
    }

    /// Returns the share of the offered lines of a topic that was used.
    pub fn rate(&self, topic: &str) -> f64 {
        let state = self.lock();
        let count = state.counts.get(topic).copied().unwrap_or_default();
        count.used as f64 / count.offered.max(1) as f64
    }

    fn used(&self, session: &str, is_used: impl Fn(&OfferedLine) -> bool) {
        let mut state = self.lock();
        let offers = state.offers.iter_mut();
        let Some(offer) = offers.into_iter().find(|offer| offer.session == session) else { return };
        let used: Vec<OfferedLine> = offer.lines.extract_if(.., |line| is_used(line)).collect();
        if used.is_empty() {
            return;
        }
        for line in used {
            if let Some(count) = state.count(&line.topic) {
                count.used += 1;
            }
        }
        self.save(&mut state);
    }

    fn save(&self, state: &mut MemoryUseRecord) {
        state.version = VERSION;
        // If the write fails, only statistics are lost.
        let _ = self.store.write(vec![Write::note(NoteNamespace::MemoryUse, NAME, state)]);
    }

    fn lock(&self) -> MutexGuard<'_, MemoryUseRecord> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryUseRecord {
    fn count(&mut self, topic: &str) -> Option<&mut UseCount> {
        let has_capacity = self.counts.len() < MAX_TOPICS || self.counts.contains_key(topic);
        has_capacity.then(|| self.counts.entry(topic.to_owned()).or_default())
    }

    fn limit(&mut self) {
        while self.offers.len() > MAX_OFFERS {
            self.offers.pop_front();
        }
        for offer in &mut self.offers {
            offer.lines.drain(..offer.lines.len().saturating_sub(MAX_LINES));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{contract, sled::SledStore};

    fn line(topic: &str, text: &str) -> HandoffLine {
        HandoffLine {
            topic: topic.to_owned(),
            text: text.to_owned(),
            session_id: "earlier".to_owned(),
        }
    }

    #[test]
    fn opened_and_repeated_lines_are_counted_once_and_survive_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SledStore::open(&folder.path().join("db")).unwrap());
        let uses = MemoryUse::load(store.clone()).unwrap();
        let lines = vec![
            line("open", "Rotate the signing key on staging"),
            line("open", "Tell the mobile team about it"),
            line("decided", "Sign with RS256"),
        ];
        uses.offer("next", lines);
        let session = contract::session(crate::model::SessionKey(1), "next");
        let mut episode = contract::episode(&session, 5_000);
        episode.summary.objective = "Rotate the signing keys on staging now".to_owned();
        uses.ended(&episode);
        uses.ended(&episode);
        uses.opened("other", "earlier");
        let wanted = |open: u64, decided: u64| {
            BTreeMap::from([
                ("decided".to_owned(), UseCount { offered: 1, used: decided }),
                ("open".to_owned(), UseCount { offered: 2, used: open }),
            ])
        };
        assert_eq!(uses.counts(), wanted(1, 0));
        store.write(Vec::new()).wait().unwrap();
        let uses = MemoryUse::load(store).unwrap();
        uses.opened("next", "earlier");
        uses.opened("next", "earlier");
        assert_eq!(uses.counts(), wanted(2, 1));
    }

    #[test]
    fn lines_of_a_forgotten_session_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SledStore::open(&folder.path().join("db")).unwrap());
        let uses = MemoryUse::load(store.clone()).unwrap();
        uses.offer("next", vec![line("open", "the codename is quokka")]);
        uses.forget("earlier");
        store.write(Vec::new()).wait().unwrap();
        let note = store.note(NoteNamespace::MemoryUse, NAME).unwrap().unwrap();
        assert!(!String::from_utf8(note).unwrap().contains("quokka"));
    }

    #[test]
    fn the_numbers_of_sessions_and_lines_are_limited() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SledStore::open(&folder.path().join("db")).unwrap());
        let uses = MemoryUse::load(store).unwrap();
        for number in 0..2 * MAX_OFFERS {
            uses.offer(&number.to_string(), vec![line("open", "x"); 2 * MAX_LINES]);
        }
        let state = uses.lock();
        assert_eq!(state.offers.len(), MAX_OFFERS);
        assert!(state.offers.iter().all(|offer| offer.lines.len() == MAX_LINES));
    }
}
