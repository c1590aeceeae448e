//! The ledger records the data of each session that this machine has written to the shared graph.
//!
//! Before the graph is changed, an entry with the old and the new parts is saved. After the change,
//! an entry with the new part replaces it. So even after a crash, the ledger contains all data that
//! this machine has written to the graph.

use uuid::Uuid;

use crate::{
    model::SessionKey,
    share::{node::SharedSession, write::Removal},
    store::{Note, NoteNamespace, Store, StoreError, Write},
};

/// The version of the form on disk.
const VERSION: u8 = 1;

/// The parts of a session in the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LedgerEntry {
    /// A hash of the written data; 0 when the graph may contain other data.
    pub(super) hash: u64,
    pub(super) parts: Vec<LedgerPart>,
}

/// An episode in the graph, with the entities and facts that it supports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LedgerPart {
    pub(super) group: String,
    pub(super) episode: Uuid,
    pub(super) entities: Vec<Uuid>,
    pub(super) facts: Vec<Uuid>,
}

impl LedgerPart {
    pub(super) fn of(session: &SharedSession) -> LedgerPart {
        let mut entities: Vec<Uuid> = session.entities.iter().map(|entity| entity.uuid).collect();
        let mut facts: Vec<Uuid> = session.facts.iter().map(|fact| fact.uuid).collect();
        for ids in [&mut entities, &mut facts] {
            ids.sort_unstable();
            ids.dedup();
        }
        let (group, episode) = (session.group.clone(), session.episode.uuid);
        LedgerPart { group, episode, entities, facts }
    }

    /// Returns the data of this part that have to be removed from the graph, so that only `wanted`
    /// is left of the session.
    fn removal(&self, wanted: Option<&LedgerPart>) -> Removal {
        let is_left = |part: &LedgerPart| part.group == self.group;
        let left = wanted.filter(|part| is_left(part));
        let is_same = left.is_some_and(|part| part.episode == self.episode);
        let without = |mine: &[Uuid], theirs: Option<&Vec<Uuid>>| -> Vec<Uuid> {
            let is_kept = |id: &Uuid| theirs.is_some_and(|ids| ids.binary_search(id).is_ok());
            mine.iter().filter(|id| !is_kept(id)).copied().collect()
        };
        Removal {
            episode: self.episode,
            removes_episode: !is_same,
            is_forgotten: left.is_none(),
            // The edges of the old episode are removed, even if the new episode mentions the same
            // entities.
            entities: match is_same {
                true => without(&self.entities, left.map(|part| &part.entities)),
                false => self.entities.clone(),
            },
            facts: without(&self.facts, left.map(|part| &part.facts)),
        }
    }
}

impl LedgerEntry {
    pub(super) fn read(
        store: &dyn Store,
        session: SessionKey,
    ) -> Result<Option<LedgerEntry>, StoreError> {
        let note = store.note(NoteNamespace::Shared, &session.0.to_be_bytes())?;
        Ok(note.and_then(|content| LedgerEntry::decode(&content)))
    }

    /// Returns the write that saves the entry. If the entry is empty, the write deletes it.
    pub(super) fn save(&self, session: SessionKey) -> Write {
        Write::Note(Note {
            namespace: NoteNamespace::Shared,
            name: session.0.to_be_bytes().to_vec(),
            content: (!self.parts.is_empty()).then(|| self.encode()),
        })
    }

    /// Returns the removals in each group that leave only `wanted`.
    pub(super) fn removals(&self, wanted: Option<&LedgerPart>) -> Vec<(String, Removal)> {
        let removals = self.parts.iter().map(|part| (part.group.clone(), part.removal(wanted)));
        let is_needed = |removal: &Removal| {
            removal.removes_episode || !removal.entities.is_empty() || !removal.facts.is_empty()
        };
        removals.filter(|(_, removal)| is_needed(removal)).collect()
    }

    /// Returns the entry for the time during which the graph is changed to `wanted`. The entry has
    /// the old and the new parts.
    pub(super) fn during_change(&self, wanted: Option<&LedgerPart>) -> LedgerEntry {
        let mut parts = self.parts.clone();
        if let Some(wanted) = wanted {
            let same = parts
                .iter_mut()
                .find(|part| part.group == wanted.group && part.episode == wanted.episode);
            match same {
                Some(part) => {
                    for (ids, new) in
                        [(&mut part.entities, &wanted.entities), (&mut part.facts, &wanted.facts)]
                    {
                        ids.extend(new);
                        ids.sort_unstable();
                        ids.dedup();
                    }
                }
                None => parts.push(wanted.clone()),
            }
        }
        LedgerEntry { hash: 0, parts }
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend(self.hash.to_be_bytes());
        for part in &self.parts {
            write_length(&mut bytes, part.group.len());
            bytes.extend(part.group.as_bytes());
            bytes.extend(part.episode.as_bytes());
            for ids in [&part.entities, &part.facts] {
                write_length(&mut bytes, ids.len());
                ids.iter().for_each(|id| bytes.extend(id.as_bytes()));
            }
        }
        bytes
    }

    /// Decodes an entry; `None` if it is damaged or of another version. The next comparison of the
    /// session then writes the session to the graph again, if it still has an episode.
    pub(super) fn decode(bytes: &[u8]) -> Option<LedgerEntry> {
        let (VERSION, mut rest) = bytes.split_first().map(|(version, rest)| (*version, rest))?
        else {
            return None;
        };
        let hash = u64::from_be_bytes(*take::<8>(&mut rest)?);
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let length = read_length(&mut rest)?;
            let group = String::from_utf8(rest.split_off(..length)?.to_vec()).ok()?;
            let episode = Uuid::from_bytes(*take::<16>(&mut rest)?);
            let mut ids = || -> Option<Vec<Uuid>> {
                let count = read_length(&mut rest)?;
                (0..count).map(|_| take::<16>(&mut rest).map(|id| Uuid::from_bytes(*id))).collect()
            };
            let (entities, facts) = (ids()?, ids()?);
            parts.push(LedgerPart { group, episode, entities, facts });
        }
        Some(LedgerEntry { hash, parts })
    }
}

fn write_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend(u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
}

fn read_length(rest: &mut &[u8]) -> Option<usize> {
    usize::try_from(u32::from_be_bytes(*take::<4>(rest)?)).ok()
}

fn take<'b, const N: usize>(rest: &mut &'b [u8]) -> Option<&'b [u8; N]> {
    let (first, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    fn part(episode: u128, entities: &[u128], facts: &[u128]) -> LedgerPart {
        LedgerPart {
            group: "app".to_owned(),
            episode: id(episode),
            entities: entities.iter().copied().map(id).collect(),
            facts: facts.iter().copied().map(id).collect(),
        }
    }

    #[test]
    fn an_entry_is_decoded_unless_it_is_damaged() {
        let entry = LedgerEntry { hash: 7, parts: vec![part(1, &[2, 3], &[4]), part(5, &[], &[])] };
        let bytes = entry.encode();
        assert_eq!(LedgerEntry::decode(&bytes), Some(entry));
        assert_eq!(LedgerEntry::decode(&bytes[..bytes.len() - 1]), None);
        assert_eq!(LedgerEntry::decode(&[2; 40]), None);
    }

    #[test]
    fn replacing_an_episode_keeps_the_facts_of_the_new_one() {
        let entry = LedgerEntry { hash: 7, parts: vec![part(1, &[2, 3], &[4, 5])] };
        let wanted = part(9, &[3], &[5, 6]);
        let removals = entry.removals(Some(&wanted));
        assert_eq!(
            removals,
            [(
                "app".to_owned(),
                Removal {
                    episode: id(1),
                    removes_episode: true,
                    is_forgotten: false,
                    entities: vec![id(2), id(3)],
                    facts: vec![id(4)],
                }
            )]
        );
        let changing = entry.during_change(Some(&wanted));
        assert_eq!(changing, LedgerEntry { hash: 0, parts: vec![entry.parts[0].clone(), wanted] });
        // After a crash in the middle, the same removals follow from the entry.
        let again = part(9, &[3], &[5, 6]);
        assert_eq!(changing.removals(Some(&again)), removals);
        assert_eq!(entry.removals(Some(&entry.parts[0])), []);
        let forgotten = &entry.removals(None)[0].1;
        assert!(forgotten.removes_episode && forgotten.is_forgotten);
    }
}
