//! The statements of an episode about entities and facts, on disk. Kinds are stored as numbers, so
//! that a new kind needs no new version of a record.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Unknown;
use crate::model::{
    Namespace,
    graph::{
        Certainty, Claim, EntityId, EntityKind, EntityOrFact, FactKey, Mark, Mention, Observation,
        Relation, Rename, Stance, Subject, Watch,
    },
    transcript::Origin,
};

type IdBytes = [u8; 16];

/// The ids by which the rows with an episode's statements are found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct EpisodeIndexRecord {
    pub(crate) created_at: i64,
    pub(crate) entities: Vec<IdBytes>,
    pub(crate) facts: Vec<IdBytes>,
    pub(crate) subjects: Vec<IdBytes>,
    pub(crate) renames: Vec<(IdBytes, IdBytes, i64)>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct MentionRecord {
    entity: IdBytes,
    kind: u8,
    namespace: u32,
    name: String,
    at: i64,
    pub(crate) created_at: i64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ClaimRecord {
    key: IdBytes,
    namespace: u32,
    relation: u8,
    source: IdBytes,
    target: IdBytes,
    others: Vec<IdBytes>,
    sentence: String,
    at: i64,
    standing: u8,
    watches: Vec<(IdBytes, StanceRecord)>,
    origins: Vec<(u32, u64)>,
    details: Vec<(String, String)>,
    pub(crate) created_at: i64,
}

#[derive(Serialize, Deserialize)]
enum StanceRecord {
    Value(u64),
    Gone,
    Broken,
    Fails { test: u64, command: u64, total: u32 },
    Chosen(Vec<u64>),
    PassedOver(Vec<u64>),
    Supposed,
    Words(Vec<u64>),
    NamedBy(Vec<u64>),
}

#[derive(Serialize, Deserialize)]
pub(crate) struct MarkRecord {
    subject: IdBytes,
    at: i64,
    says: ObservationRecord,
    pub(crate) created_at: i64,
}

#[derive(Serialize, Deserialize)]
enum ObservationRecord {
    Value(u64),
    Seen,
    Solved,
    Succeeded,
    Ran { command: u64, total: u32, failed: Vec<u64> },
    Chosen(Vec<u64>),
    PassedOver(Vec<u64>),
    Words(Vec<u64>),
}

/// The time of a renaming. The ids of both entities are in the key.
#[derive(Serialize, Deserialize)]
pub(crate) struct RenameRecord(pub(crate) i64);

impl MentionRecord {
    pub(crate) fn new(mention: &Mention, created_at: i64) -> MentionRecord {
        MentionRecord {
            entity: mention.entity.0.into_bytes(),
            kind: mention.kind.number(),
            namespace: mention.namespace.number(),
            name: mention.name.clone(),
            at: mention.at.micros(),
            created_at,
        }
    }
}

impl TryFrom<MentionRecord> for Mention {
    type Error = Unknown;

    fn try_from(record: MentionRecord) -> Result<Mention, Unknown> {
        Ok(Mention {
            entity: entity(record.entity),
            kind: EntityKind::from_number(record.kind)
                .ok_or_else(|| format!("entity kind {}", record.kind))?,
            namespace: Namespace::from_number(record.namespace),
            name: record.name,
            at: super::time(record.at),
        })
    }
}

impl ClaimRecord {
    pub(crate) fn new(claim: &Claim, created_at: i64) -> ClaimRecord {
        let watches = claim.watches.iter();
        ClaimRecord {
            key: claim.key.0.into_bytes(),
            namespace: claim.namespace.number(),
            relation: claim.relation.number(),
            source: claim.source.0.into_bytes(),
            target: claim.target.0.into_bytes(),
            others: claim.others.iter().map(|id| id.0.into_bytes()).collect(),
            sentence: claim.sentence.clone(),
            at: claim.at.micros(),
            standing: claim.certainty.number(),
            watches: watches.map(|one| (one.subject.0, stance_record(&one.stance))).collect(),
            origins: claim.origins.iter().map(|one| (one.source, one.line)).collect(),
            details: claim.details.clone(),
            created_at,
        }
    }
}

impl TryFrom<ClaimRecord> for Claim {
    type Error = Unknown;

    fn try_from(record: ClaimRecord) -> Result<Claim, Unknown> {
        let watches = record.watches.into_iter();
        let origins = record.origins.into_iter();
        Ok(Claim {
            key: fact(record.key),
            namespace: Namespace::from_number(record.namespace),
            relation: Relation::from_number(record.relation)
                .ok_or_else(|| format!("relation {}", record.relation))?,
            source: entity(record.source),
            target: entity(record.target),
            others: record.others.into_iter().map(entity).collect(),
            sentence: record.sentence,
            at: super::time(record.at),
            certainty: Certainty::from_number(record.standing)
                .ok_or_else(|| format!("certainty {}", record.standing))?,
            watches: watches
                .map(|(subject, stance)| Watch {
                    subject: Subject(subject),
                    stance: stance_from_record(stance),
                })
                .collect(),
            origins: origins.map(|(source, line)| Origin { source, line }).collect(),
            details: record.details,
        })
    }
}

impl MarkRecord {
    pub(crate) fn new(mark: &Mark, created_at: i64) -> MarkRecord {
        let says = match &mark.observation {
            Observation::Value(value) => ObservationRecord::Value(*value),
            Observation::Seen => ObservationRecord::Seen,
            Observation::Solved => ObservationRecord::Solved,
            Observation::Succeeded => ObservationRecord::Succeeded,
            Observation::Ran { command, total, failed } => {
                ObservationRecord::Ran { command: *command, total: *total, failed: failed.clone() }
            }
            Observation::Chosen(about) => ObservationRecord::Chosen(about.clone()),
            Observation::PassedOver(about) => ObservationRecord::PassedOver(about.clone()),
            Observation::Words(words) => ObservationRecord::Words(words.clone()),
        };
        MarkRecord { subject: mark.subject.0, at: mark.at.micros(), says, created_at }
    }
}

impl From<MarkRecord> for Mark {
    fn from(record: MarkRecord) -> Mark {
        let says = match record.says {
            ObservationRecord::Value(value) => Observation::Value(value),
            ObservationRecord::Seen => Observation::Seen,
            ObservationRecord::Solved => Observation::Solved,
            ObservationRecord::Succeeded => Observation::Succeeded,
            ObservationRecord::Ran { command, total, failed } => {
                Observation::Ran { command, total, failed }
            }
            ObservationRecord::Chosen(about) => Observation::Chosen(about),
            ObservationRecord::PassedOver(about) => Observation::PassedOver(about),
            ObservationRecord::Words(words) => Observation::Words(words),
        };
        Mark { subject: Subject(record.subject), at: super::time(record.at), observation: says }
    }
}

impl EpisodeIndexRecord {
    pub(crate) fn entities_and_facts(&self) -> Vec<EntityOrFact> {
        entities_and_facts_from_ids(&self.entities, &self.facts)
    }

    pub(crate) fn subjects(&self) -> impl Iterator<Item = Subject> {
        self.subjects.iter().map(|bytes| Subject(*bytes))
    }

    pub(crate) fn renames(&self) -> impl Iterator<Item = Rename> {
        self.renames.iter().map(|(from, to, at)| Rename {
            from: entity(*from),
            to: entity(*to),
            at: super::time(*at),
        })
    }
}

pub(super) fn entity_and_fact_ids(
    entities_and_facts: &[EntityOrFact],
) -> (Vec<IdBytes>, Vec<IdBytes>) {
    let (mut entities, mut facts) = (Vec::new(), Vec::new());
    for entity_or_fact in entities_and_facts {
        match entity_or_fact {
            EntityOrFact::Entity(id) => entities.push(id.0.into_bytes()),
            EntityOrFact::Fact(key) => facts.push(key.0.into_bytes()),
        }
    }
    (entities, facts)
}

pub(super) fn entities_and_facts_from_ids(
    entities: &[IdBytes],
    facts: &[IdBytes],
) -> Vec<EntityOrFact> {
    let entities = entities.iter().map(|bytes| EntityOrFact::Entity(entity(*bytes)));
    entities.chain(facts.iter().map(|bytes| EntityOrFact::Fact(fact(*bytes)))).collect()
}

fn stance_record(stance: &Stance) -> StanceRecord {
    match stance {
        Stance::Value(value) => StanceRecord::Value(*value),
        Stance::Gone => StanceRecord::Gone,
        Stance::Broken => StanceRecord::Broken,
        Stance::Fails { test, command, total } => {
            StanceRecord::Fails { test: *test, command: *command, total: *total }
        }
        Stance::Chosen(about) => StanceRecord::Chosen(about.clone()),
        Stance::PassedOver(about) => StanceRecord::PassedOver(about.clone()),
        Stance::Supposed => StanceRecord::Supposed,
        Stance::Words(words) => StanceRecord::Words(words.clone()),
        Stance::NamedBy(words) => StanceRecord::NamedBy(words.clone()),
    }
}

fn stance_from_record(record: StanceRecord) -> Stance {
    match record {
        StanceRecord::Value(value) => Stance::Value(value),
        StanceRecord::Gone => Stance::Gone,
        StanceRecord::Broken => Stance::Broken,
        StanceRecord::Fails { test, command, total } => Stance::Fails { test, command, total },
        StanceRecord::Chosen(about) => Stance::Chosen(about),
        StanceRecord::PassedOver(about) => Stance::PassedOver(about),
        StanceRecord::Supposed => Stance::Supposed,
        StanceRecord::Words(words) => Stance::Words(words),
        StanceRecord::NamedBy(words) => Stance::NamedBy(words),
    }
}

fn entity(bytes: IdBytes) -> EntityId {
    EntityId(Uuid::from_bytes(bytes))
}

fn fact(bytes: IdBytes) -> FactKey {
    FactKey(Uuid::from_bytes(bytes))
}
