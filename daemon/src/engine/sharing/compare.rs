//! Compares the sessions of this machine with the ledger, which records what the graph contains.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{
    ShareTarget, Sharing,
    ledger::{LedgerEntry, LedgerPart},
    map::DesiredState,
    pending::{PendingBatch, PendingSession},
};
use crate::{
    model::{SessionKey, graph::EntityId},
    share::node::SharedSession,
    store::{NoteNamespace, StoreError, Write, damaged::skip_damaged, graph::ClaimPlace},
};

/// Maximum number of entities of a changed session, and of facts about an entity, for which other
/// sessions are compared, too.
const MAX_NEIGHBOURS: usize = 32;
/// The effect of a damaged record.
const NOT_COMPARED: &str = "a session with facts about the same things is not compared";

/// A session to write or to remove: its data differ from the ledger, or the fill is forced.
pub(super) struct Comparison {
    pub(super) key: SessionKey,
    pub(super) wanted: Option<SharedSession>,
    pub(super) part: Option<LedgerPart>,
    pub(super) before: LedgerEntry,
    pub(super) hash: u64,
}

impl Comparison {
    /// Returns the write that updates the ledger after the graph was changed.
    pub(super) fn finished(&self) -> Write {
        let entry = LedgerEntry { hash: self.hash, parts: self.part.iter().cloned().collect() };
        entry.save(self.key)
    }
}

/// The result of comparing a batch.
pub(super) struct BatchComparison {
    /// The sessions to write or to remove.
    pub(super) comparisons: Vec<Comparison>,
    /// The sessions with facts that the changed sessions of the batch may have ended.
    pub(super) neighbours: BTreeSet<SessionKey>,
    /// Sessions to write again, with their ledger entries: they mention entities whose summaries
    /// will be cleared, because these summaries may quote a session that was removed.
    pub(super) cleared: BTreeMap<SessionKey, LedgerEntry>,
    /// Sessions that have to be removed from the graph, but whose ledger entries are damaged, so
    /// that their data in the graph are unknown.
    pub(super) unremovable: Vec<SessionKey>,
}

impl Sharing {
    pub(super) fn compare(
        &self,
        target: &ShareTarget,
        batch: &PendingBatch,
    ) -> Result<BatchComparison, StoreError> {
        let author = self.author(&target.config);
        let is_shared = |project: &_| target.is_shared(project);
        let mut mapper = self.mapper(&author, &is_shared);
        let (mut comparisons, mut neighbours) = (Vec::new(), BTreeSet::new());
        let mut unremovable = Vec::new();
        for (key, PendingSession { is_deleted, is_neighbour, .. }) in &batch.sessions {
            let before = LedgerEntry::read(self.store.as_ref(), *key);
            let wanted = match mapper.session(*key) {
                Ok(DesiredState::Session { session, subjects }) => {
                    if !is_neighbour {
                        self.add_neighbours(&mut neighbours, &subjects)?;
                    }
                    Some(*session)
                }
                Ok(DesiredState::Nothing) => None,
                Ok(DesiredState::Unchanged) if *is_deleted => None,
                Ok(DesiredState::Unchanged) => continue,
                // A damaged record must not prevent the other sessions from being shared.
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::warn!(%error, "a session is not shared");
                    continue;
                }
                Err(error) => return Err(error),
            };
            if let (Err(error @ StoreError::Damaged { .. }), None) = (&before, &wanted) {
                tracing::warn!(session = key.0, %error, "a session stays in the shared graph");
                unremovable.push(*key);
                continue;
            }
            let before = skip_damaged(before, "the session is shared again")?.unwrap_or_default();
            let part = wanted.as_ref().map(LedgerPart::of);
            let hash = wanted.as_ref().map_or(0, hash_of);
            let is_same = match &part {
                Some(_) => hash == before.hash && before.parts.len() == 1 && !batch.is_forced,
                None => before.parts.is_empty(),
            };
            if !is_same {
                comparisons.push(Comparison { key: *key, wanted, part, before, hash });
            }
        }
        neighbours.retain(|key| !batch.sessions.iter().any(|(one, _)| one == key));
        let cleared = self.cleared_by(&comparisons)?;
        Ok(BatchComparison { comparisons, neighbours, cleared, unremovable })
    }

    /// For each entity whose summary will be cleared, returns a session that mentions the entity,
    /// if there is such a session.
    fn cleared_by(
        &self,
        comparisons: &[Comparison],
    ) -> Result<BTreeMap<SessionKey, LedgerEntry>, StoreError> {
        let removals = comparisons.iter().flat_map(|one| one.before.removals(one.part.as_ref()));
        let forgotten = removals.filter(|(_, removal)| removal.is_forgotten);
        let mut entities: BTreeSet<Uuid> =
            forgotten.flat_map(|(_, removal)| removal.entities).collect();
        for part in comparisons.iter().filter_map(|comparison| comparison.part.as_ref()) {
            part.entities.iter().for_each(|id| {
                entities.remove(id);
            });
        }
        let mut cleared = BTreeMap::new();
        if entities.is_empty() {
            return Ok(cleared);
        }
        for (name, content) in self.store.undamaged_notes(NoteNamespace::Shared)? {
            let key = name.first_chunk().map(|key| SessionKey(u64::from_be_bytes(*key)));
            let (Some(key), Some(entry)) = (key, LedgerEntry::decode(&content)) else { continue };
            if comparisons.iter().any(|one| one.key == key) {
                continue;
            }
            let mut mentioned = entry.parts.iter().flat_map(|part| &part.entities);
            if mentioned.any(|id| entities.contains(id)) && self.has_episode(key)? {
                entry.parts.iter().flat_map(|part| &part.entities).for_each(|id| {
                    entities.remove(id);
                });
                cleared.insert(key, LedgerEntry { hash: 0, ..entry });
            }
        }
        Ok(cleared)
    }

    /// Whether a session can be written: it has an episode that was not evicted.
    fn has_episode(&self, key: SessionKey) -> Result<bool, StoreError> {
        let episode = self.store.stored_episode_of(key);
        Ok(skip_damaged(episode, "the session is not written again")?.is_some())
    }

    /// Adds the sessions with facts about these entities.
    fn add_neighbours(
        &self,
        neighbours: &mut BTreeSet<SessionKey>,
        subjects: &[EntityId],
    ) -> Result<(), StoreError> {
        for subject in subjects.iter().take(MAX_NEIGHBOURS) {
            let mut facts = BTreeSet::new();
            self.store.visit_claims(ClaimPlace::Around(*subject), &mut |row| {
                facts.insert(row.fact);
                facts.len() < MAX_NEIGHBOURS
            })?;
            for fact in facts {
                for claim in skip_damaged(self.store.claims(fact), NOT_COMPARED)? {
                    let episode = skip_damaged(self.store.episode(claim.episode), NOT_COMPARED)?;
                    neighbours.extend(episode.map(|episode| episode.session));
                }
            }
        }
        Ok(())
    }
}

/// Returns a hash of the content of a session, without the summaries of its entities. A summary
/// also changes with other sessions, and is written with the next change of a session that mentions
/// the entity.
fn hash_of(session: &SharedSession) -> u64 {
    let mut hash = Sha256::new();
    hash.update(session.episode_row().to_string());
    for entity in &session.entities {
        hash.update(entity.uuid.as_bytes());
        hash.update(&entity.name);
    }
    for fact in &session.facts {
        hash.update(session.fact_row(fact).to_string());
    }
    let hash = u64::from_be_bytes(*hash.finalize().first_chunk().expect("SHA-256 has 32 bytes"));
    // In a ledger entry, 0 means that the content is unknown.
    hash.max(1)
}
