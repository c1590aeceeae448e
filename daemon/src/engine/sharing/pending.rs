//! The queue of sessions that have to be compared with the shared graph.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::state;
use crate::{
    model::SessionKey,
    store::{Note, NoteNamespace, Store, Write},
};

/// The possible contents of the note about a session.
pub(super) const CHANGED: u8 = 0;
pub(super) const DELETED: u8 = 1;

/// The name of the note about the fill.
const FILL: &[u8] = b"fill";
/// The version of the note about the fill.
const VERSION: u32 = 1;

/// The queue. `changed` and the progress of `fill` are also saved on disk.
#[derive(Default)]
pub(super) struct PendingSessions {
    changed: BTreeMap<SessionKey, PendingSession>,
    /// The sessions whose notes are not on disk yet.
    unsaved: BTreeSet<SessionKey>,
    /// The sessions that the engine rejected, or that cannot be removed from the graph because
    /// their ledger entries are damaged. They are not sent again until they change or a fill is
    /// requested. This set is not saved, so the sessions are also sent again after a restart.
    rejected: BTreeSet<SessionKey>,
    generation: u64,
    fill: Option<Fill>,
}

/// A session to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingSession {
    pub(super) generation: u64,
    /// Whether a user deleted the session or its episode.
    pub(super) is_deleted: bool,
    /// Whether the session is compared only because another session changed, or for a fill.
    pub(super) is_neighbour: bool,
}

/// A comparison of all sessions.
#[derive(Clone, Debug, Default)]
struct Fill {
    /// Distinguishes this fill from other fills of this run.
    number: u64,
    is_forced: bool,
    /// The last session that was compared.
    after: Option<SessionKey>,
    /// All sessions; `None` until the work begins.
    keys: Option<Vec<SessionKey>>,
    done: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FillProgress {
    pub(super) done: usize,
    pub(super) total: usize,
}

/// The next sessions to compare.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingBatch {
    pub(super) sessions: Vec<(SessionKey, PendingSession)>,
    /// Whether the sessions are written even if the graph contains them according to the ledger.
    pub(super) is_forced: bool,
    /// The number of the fill that these sessions belong to.
    pub(super) fill: Option<u64>,
}

impl PendingBatch {
    pub(super) fn is_fill(&self) -> bool {
        self.fill.is_some()
    }
}

/// The form of a fill on disk.
#[derive(Serialize, Deserialize)]
struct FillRecord {
    version: u32,
    anew: bool,
    #[serde(default)]
    after: Option<u64>,
}

impl PendingSessions {
    pub(super) fn load(store: &dyn Store) -> PendingSessions {
        let mut pending = PendingSessions::default();
        let notes = store.notes(NoteNamespace::SharePending).unwrap_or_else(|error| {
            tracing::warn!(%error, "failed to read the queue of sessions for the shared graph; all sessions are compared");
            pending.fill = Some(Fill::default());
            // The marks of deleted episodes are nowhere else.
            store.undamaged_notes(NoteNamespace::SharePending).unwrap_or_default()
        });
        for (name, content) in notes {
            let Some(key) = name.first_chunk().map(|key| SessionKey(u64::from_be_bytes(*key)))
            else {
                continue;
            };
            let is_deleted = content.first() == Some(&DELETED);
            let session = PendingSession { generation: 0, is_deleted, is_neighbour: false };
            pending.changed.insert(key, session);
        }
        let is_complete = pending.fill.is_none();
        let fill = state::read(store, FILL);
        let fill = fill.and_then(|content| serde_json::from_slice::<FillRecord>(&content).ok());
        if let Some(fill) = fill {
            // A session that lost its note may be one of those that were compared already.
            let after = fill.after.map(SessionKey).filter(|_| is_complete);
            pending.fill = Some(Fill { is_forced: fill.anew, after, ..Fill::default() });
        }
        pending
    }

    pub(super) fn mark_changed(&mut self, session: SessionKey, is_neighbour: bool) {
        self.generation += 1;
        let before = self.changed.get(&session);
        let is_deleted = before.is_some_and(|before| before.is_deleted);
        // If the session itself changed before, its neighbours have to be compared, too.
        let is_neighbour = is_neighbour && before.is_none_or(|before| before.is_neighbour);
        let changed = PendingSession { generation: self.generation, is_deleted, is_neighbour };
        self.changed.insert(session, changed);
        self.unsaved.insert(session);
        self.rejected.remove(&session);
    }

    pub(super) fn mark_deleted(&mut self, session: SessionKey) {
        self.mark_changed(session, false);
        self.changed.entry(session).and_modify(|session| session.is_deleted = true);
    }

    /// Returns the writes of the notes that are not on disk yet.
    pub(super) fn save(&mut self) -> Vec<Write> {
        let unsaved = std::mem::take(&mut self.unsaved);
        let note = |session: SessionKey| {
            let changed = self.changed.get(&session)?;
            let content = if changed.is_deleted { DELETED } else { CHANGED };
            Some(note(session, Some(vec![content])))
        };
        unsaved.into_iter().filter_map(note).collect()
    }

    /// Returns the next sessions: the latest of the changed sessions, or the next sessions of a
    /// fill if no session has changed.
    pub(super) fn next(&self, limit: usize) -> PendingBatch {
        let changed = self.changed.iter().rev();
        let changed = changed.filter(|(key, _)| !self.rejected.contains(key));
        let sessions: Vec<_> = changed.take(limit).map(|(key, of)| (*key, *of)).collect();
        if !sessions.is_empty() {
            return PendingBatch { sessions, ..PendingBatch::default() };
        }
        let Some(Fill { number, is_forced, keys: Some(keys), done, .. }) = &self.fill else {
            return PendingBatch::default();
        };
        let of_fill = PendingSession { generation: 0, is_deleted: false, is_neighbour: true };
        let sessions = keys.iter().skip(*done).take(limit).map(|key| (*key, of_fill)).collect();
        PendingBatch { sessions, is_forced: *is_forced, fill: Some(*number) }
    }

    /// Records that the sessions of a batch were compared. Sessions that changed meanwhile stay in
    /// the queue. Returns the writes that save the new state of the queue.
    pub(super) fn finish(&mut self, batch: &PendingBatch) -> Vec<Write> {
        let mut writes = Vec::new();
        if batch.is_fill() {
            let last = batch.sessions.last().map(|(key, _)| *key);
            // A fill that was requested meanwhile has to compare these sessions, too.
            if let Some(fill) = self.fill.as_mut().filter(|fill| Some(fill.number) == batch.fill) {
                fill.done += batch.sessions.len();
                fill.after = last.or(fill.after);
            }
            writes.push(self.fill_note());
            return writes;
        }
        for (key, session) in &batch.sessions {
            let is_same =
                self.changed.get(key).is_some_and(|now| now.generation == session.generation);
            if is_same {
                self.changed.remove(key);
                self.unsaved.remove(key);
                writes.push(note(*key, None));
            }
        }
        writes
    }

    /// Ends a fill whose sessions were all compared.
    pub(super) fn end_fill(&mut self) -> Option<Write> {
        let fill = self.fill.as_ref()?;
        let is_done = fill.keys.as_ref().is_some_and(|keys| fill.done >= keys.len());
        is_done.then(|| {
            self.fill = None;
            self.fill_note()
        })
    }

    pub(super) fn reject(&mut self, session: SessionKey) {
        self.rejected.insert(session);
    }

    pub(super) fn rejected(&self) -> usize {
        self.rejected.len()
    }

    /// Starts a fill from the first session.
    pub(super) fn request_fill(&mut self, is_forced: bool) -> Write {
        // A fill that replaces a forced fill is forced, too.
        let is_forced = is_forced || self.fill.as_ref().is_some_and(|fill| fill.is_forced);
        self.generation += 1;
        self.fill = Some(Fill { number: self.generation, is_forced, ..Fill::default() });
        self.rejected.clear();
        self.fill_note()
    }

    /// Whether the sessions of a fill have to be listed.
    pub(super) fn needs_list(&self) -> bool {
        self.fill.as_ref().is_some_and(|fill| fill.keys.is_none())
    }

    /// Sets the sessions of the fill, in the order of their keys.
    pub(super) fn set_list(&mut self, keys: Vec<SessionKey>) {
        if let Some(fill) = &mut self.fill {
            fill.done = keys.partition_point(|key| Some(*key) <= fill.after);
            fill.keys = Some(keys);
        }
    }

    pub(super) fn len(&self) -> usize {
        let fill = self.fill_progress();
        self.changed.len() + fill.map_or(0, |fill| fill.total - fill.done)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.fill.is_none() && self.changed.keys().all(|key| self.rejected.contains(key))
    }

    pub(super) fn fill_progress(&self) -> Option<FillProgress> {
        let fill = self.fill.as_ref()?;
        let total = fill.keys.as_ref().map_or(0, Vec::len);
        Some(FillProgress { done: fill.done.min(total), total })
    }

    fn fill_note(&self) -> Write {
        let record = self.fill.as_ref().map(|fill| FillRecord {
            version: VERSION,
            anew: fill.is_forced,
            after: fill.after.map(|key| key.0),
        });
        let content = record
            .map(|record| serde_json::to_vec(&record).expect("numbers can be serialized as JSON"));
        Write::Note(Note { namespace: NoteNamespace::ShareState, name: FILL.to_vec(), content })
    }
}

pub(super) fn note(session: SessionKey, content: Option<Vec<u8>>) -> Write {
    let name = session.0.to_be_bytes().to_vec();
    Write::Note(Note { namespace: NoteNamespace::SharePending, name, content })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sled::SledStore;

    #[test]
    fn a_session_that_changes_during_its_comparison_is_compared_again() {
        let mut pending = PendingSessions::default();
        pending.mark_changed(SessionKey(1), false);
        pending.mark_changed(SessionKey(2), false);
        assert_eq!(pending.save().len(), 2);
        let batch = pending.next(10);
        pending.mark_changed(SessionKey(1), true);
        assert_eq!(pending.finish(&batch), [note(SessionKey(2), None)]);
        let left = pending.next(10).sessions;
        assert_eq!(left.len(), 1);
        assert!(!left[0].1.is_neighbour, "the session itself changed, too");
        assert_eq!(pending.save(), [note(SessionKey(1), Some(vec![CHANGED]))]);
    }

    #[test]
    fn a_fill_continues_where_it_stopped() {
        let mut pending = PendingSessions::default();
        let _ = pending.request_fill(true);
        assert!(pending.needs_list() && !pending.is_idle());
        pending.fill.as_mut().unwrap().after = Some(SessionKey(2));
        pending.set_list([1, 2, 3, 4].map(SessionKey).to_vec());
        assert_eq!(pending.fill_progress(), Some(FillProgress { done: 2, total: 4 }));
        let batch = pending.next(1);
        assert_eq!(batch.sessions[0].0, SessionKey(3));
        assert!(batch.is_fill() && batch.is_forced);
        let _ = pending.finish(&batch);
        assert!(pending.end_fill().is_none());
        let batch = pending.next(9);
        let _ = pending.finish(&batch);
        assert!(pending.end_fill().is_some() && pending.is_idle());
    }

    #[test]
    fn a_saved_fill_starts_again_if_the_note_of_a_session_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let fill = Fill { after: Some(SessionKey(2)), ..Fill::default() };
        let saved = PendingSessions { fill: Some(fill), ..PendingSessions::default() };
        let changed = [1, 3].map(|key| note(SessionKey(key), Some(vec![DELETED])));
        let mut writes = changed.to_vec();
        writes.push(saved.fill_note());
        store.write(writes).wait().unwrap();
        let fill_of = |pending: PendingSessions| pending.fill.unwrap().after;
        assert_eq!(fill_of(PendingSessions::load(&store)), Some(SessionKey(2)));
        store.damage_note(NoteNamespace::SharePending, &1u64.to_be_bytes());
        let pending = PendingSessions::load(&store);
        assert!(pending.changed[&SessionKey(3)].is_deleted);
        assert_eq!(fill_of(pending), None);
    }

    #[test]
    fn a_fill_that_is_requested_during_another_one_compares_all_sessions() {
        let mut pending = PendingSessions::default();
        let _ = pending.request_fill(false);
        pending.set_list([1, 2].map(SessionKey).to_vec());
        let batch = pending.next(1);
        let _ = pending.request_fill(true);
        pending.set_list([1, 2].map(SessionKey).to_vec());
        let _ = pending.finish(&batch);
        assert_eq!(pending.next(9).sessions.len(), 2);
        assert_eq!(pending.fill_progress(), Some(FillProgress { done: 0, total: 2 }));
    }

    #[test]
    fn a_rejected_session_waits_for_its_next_change() {
        let mut pending = PendingSessions::default();
        pending.mark_changed(SessionKey(1), false);
        pending.reject(SessionKey(1));
        assert!(pending.next(9).sessions.is_empty() && pending.is_idle());
        pending.mark_changed(SessionKey(1), true);
        assert_eq!(pending.next(9).sessions.len(), 1);
    }
}
