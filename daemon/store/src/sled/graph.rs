//! Reads the statements of episodes, on any thread.

use std::time::Duration;

use super::{
    SledStore, envelope,
    keys::{self, Key, table},
    pieces::Joiner,
    reading::damaged,
    records::RenameRecord,
    statements,
};
use crate::{
    StoreError, corrections,
    graph::{ClaimPlace, ClaimRow, GraphStore, MentionRow, RenameEnd},
    model::{
        EpisodeId, Namespace, Timestamp,
        graph::{
            Attributed, Claim, CorrectedFact, Correction, EntityId, EntityKind, EntityOrFact,
            FactKey, Mark, Mention, Relation, Rename, Statements, Subject,
        },
    },
};

/// Maximum time between the end of a session and its last statement. Lines without a known time get
/// times that are a microsecond apart, so the last statements may be after the end of the session.
const MARGIN: Duration = Duration::from_secs(60);

impl GraphStore for SledStore {
    fn entities_and_facts_of(&self, episode: EpisodeId) -> Result<Vec<EntityOrFact>, StoreError> {
        Ok(statements::read_episode_index(&self.tree, episode)?.entities_and_facts())
    }

    fn statements_of(&self, episode: EpisodeId) -> Result<Statements, StoreError> {
        statements::read(&self.tree, episode)
    }

    fn claims(&self, fact: FactKey) -> Result<Vec<Attributed<Claim>>, StoreError> {
        let mut found = Vec::new();
        let prefix = keys::claims_of(fact);
        self.joined(&prefix, prefix.clone(), &mut |key, sealed| {
            found.extend(statements::claims(key, sealed)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn marks(
        &self,
        subject: Subject,
        since: Timestamp,
    ) -> Result<Vec<Attributed<Mark>>, StoreError> {
        let mut found = Vec::new();
        // The id of an episode begins with the end of its session.
        let first = EpisodeId::new(since.minus(MARGIN), [0; 10]);
        self.joined(&keys::marks_of(subject), keys::marks(subject, first), &mut |key, sealed| {
            found.extend(statements::marks(key, sealed)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn mentions(&self, entity: EntityId) -> Result<Vec<Attributed<Mention>>, StoreError> {
        let mut found = Vec::new();
        for entry in self.tree.scan_prefix(keys::mentions_of(entity)) {
            let (key, sealed) = entry?;
            found.push(statements::mention(&key, &sealed)?);
        }
        Ok(found)
    }

    fn renames(&self, entity: EntityId, end: RenameEnd) -> Result<Vec<Rename>, StoreError> {
        let prefix = match end {
            RenameEnd::From => keys::renames_from(entity),
            RenameEnd::To => keys::renames_to(entity),
        };
        let mut found = Vec::new();
        for entry in self.tree.scan_prefix(prefix) {
            let (key, sealed) = entry?;
            let RenameRecord(at) = envelope::open(&sealed).map_err(|what| damaged(&key, what))?;
            let Some(other) = keys::uuid_in(&key, 17).map(EntityId) else { continue };
            let (from, to) = match end {
                RenameEnd::From => (entity, other),
                RenameEnd::To => (other, entity),
            };
            found.push(Rename { from, to, at: Timestamp::from_micros(at) });
        }
        Ok(found)
    }

    fn visit_claims(
        &self,
        place: ClaimPlace,
        visit: &mut dyn FnMut(ClaimRow) -> bool,
    ) -> Result<(), StoreError> {
        let prefix = match place {
            ClaimPlace::Around(entity) => keys::claims_by_entity(entity),
            ClaimPlace::In(namespace) => keys::claims_by_project(namespace),
        };
        for entry in self.tree.scan_prefix(&prefix).rev() {
            let (key, value) = entry?;
            let at = keys::time_in(&key, prefix.len());
            let fact = keys::uuid_in(&key, prefix.len() + 8).map(FactKey);
            let relation = value.first().copied().and_then(Relation::from_number);
            if let (Some(at), Some(fact), Some(relation)) = (at, fact, relation)
                && !visit(ClaimRow { fact, relation, at })
            {
                break;
            }
        }
        Ok(())
    }

    fn visit_mentions(
        &self,
        namespace: Namespace,
        kind: EntityKind,
        visit: &mut dyn FnMut(MentionRow) -> bool,
    ) -> Result<(), StoreError> {
        let prefix = keys::mentions_by_kind(namespace, kind);
        for key in self.tree.scan_prefix(&prefix).keys().rev() {
            let key = key?;
            let at = keys::time_in(&key, prefix.len());
            let entity = keys::uuid_in(&key, prefix.len() + 8).map(EntityId);
            if let (Some(at), Some(entity)) = (at, entity)
                && !visit(MentionRow { entity, at })
            {
                break;
            }
        }
        Ok(())
    }

    fn correction(&self, fact: FactKey) -> Result<Option<Correction>, StoreError> {
        corrections::correction(self, fact)
    }

    fn corrections(&self) -> Result<Vec<CorrectedFact>, StoreError> {
        corrections::corrections(self)
    }

    fn facts_with_prefix(&self, prefix: &[u8], limit: usize) -> Result<Vec<FactKey>, StoreError> {
        let mut found: Vec<FactKey> = Vec::new();
        for key in self.tree.scan_prefix([&[table::CLAIMS], prefix].concat()).keys() {
            let Some(fact) = keys::uuid_in(&key?, 1).map(FactKey) else { continue };
            if found.last() == Some(&fact) {
                continue;
            }
            if found.len() == limit {
                break;
            }
            found.push(fact);
        }
        Ok(found)
    }

    fn projects(&self) -> Result<Vec<Namespace>, StoreError> {
        let mut found = Vec::new();
        let mut next = vec![table::BY_PROJECT];
        // Each step skips the other episodes of a project.
        while let Some(entry) =
            self.tree.range(next..=vec![table::BY_PROJECT, 0xff, 0xff, 0xff, 0xff, 0xff]).next()
        {
            let (key, _) = entry?;
            let number = key.get(1..5).and_then(|bytes| bytes.try_into().ok());
            let Some(number) = number.map(u32::from_be_bytes) else { break };
            found.push(Namespace::from_number(number));
            let Some(after) = number.checked_add(1) else { break };
            next = [&[table::BY_PROJECT], after.to_be_bytes().as_slice()].concat();
        }
        Ok(found)
    }

    fn fact_numbered(&self, number: u64) -> Result<Option<FactKey>, StoreError> {
        Ok(self.numbered(table::CLAIMS, number)?.map(FactKey))
    }

    fn entity_numbered(&self, number: u64) -> Result<Option<EntityId>, StoreError> {
        Ok(self.numbered(table::MENTIONS, number)?.map(EntityId))
    }

    fn visit_entities_and_facts(
        &self,
        visit: &mut dyn FnMut(EntityOrFact) -> bool,
    ) -> Result<(), StoreError> {
        for table in [table::MENTIONS, table::CLAIMS] {
            let mut last = None;
            for key in self.tree.scan_prefix([table]).keys() {
                let found = keys::uuid_in(&key?, 1);
                if found == last {
                    continue;
                }
                last = found;
                let entity_or_fact = found.map(|uuid| match table {
                    table::MENTIONS => EntityOrFact::Entity(EntityId(uuid)),
                    _ => EntityOrFact::Fact(FactKey(uuid)),
                });
                if entity_or_fact.is_some_and(|entity_or_fact| !visit(entity_or_fact)) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// A function that takes a key without the number of a piece, and the whole value of this key.
type VisitRow<'r> = &'r mut dyn FnMut(&[u8], &[u8]) -> Result<(), StoreError>;

impl SledStore {
    /// Joins the pieces of each value whose key begins with `prefix`, from the key `start` on.
    /// Calls `read` with the value and its key, which ends before the number of the piece.
    fn joined(&self, prefix: &Key, start: Key, read: VisitRow<'_>) -> Result<(), StoreError> {
        let mut joiner = Joiner::default();
        for entry in self.tree.range(start..) {
            let (key, stored) = entry?;
            if !key.starts_with(prefix) {
                break;
            }
            if let Some(sealed) = joiner.take(&key, &stored) {
                read(&key[..key.len() - 2], &sealed)?;
            }
        }
        Ok(())
    }

    fn numbered(&self, table: u8, number: u64) -> Result<Option<uuid::Uuid>, StoreError> {
        let mut prefix = vec![table];
        prefix.extend_from_slice(&number.to_be_bytes());
        let first = self.tree.scan_prefix(prefix).keys().next().transpose()?;
        Ok(first.and_then(|key| keys::uuid_in(&key, 1)))
    }
}
