//! The statements of an episode as JSON, for an export to another machine. Entities, facts and
//! subjects have the same ids on all machines, because the ids are hashes. Kinds are names, and
//! times are microseconds since the epoch.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::model::{
    Namespace, Timestamp,
    graph::{
        Certainty, Claim, EntityId, EntityKind, FactKey, Mark, Mention, Observation, Relation,
        Rename, Stance, Statements, Subject, Watch,
    },
};

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct PortableStatements {
    mentions: Vec<PortableMention>,
    claims: Vec<PortableClaim>,
    marks: Vec<PortableMark>,
    /// The old name, the new name and the time of each renaming.
    renames: Vec<(Uuid, Uuid, i64)>,
}

#[derive(Serialize, Deserialize)]
struct PortableMention {
    entity: Uuid,
    kind: String,
    namespace: String,
    name: String,
    at: i64,
}

#[derive(Serialize, Deserialize)]
struct PortableClaim {
    key: Uuid,
    namespace: String,
    relation: String,
    source: Uuid,
    target: Uuid,
    #[serde(default)]
    others: Vec<Uuid>,
    sentence: String,
    at: i64,
    certainty: String,
    #[serde(default)]
    watches: Vec<(Uuid, PortableStance)>,
    #[serde(default)]
    details: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
struct PortableMark {
    subject: Uuid,
    at: i64,
    observation: PortableObservation,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PortableStance {
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
#[serde(rename_all = "snake_case")]
enum PortableObservation {
    Value(u64),
    Seen,
    Solved,
    Succeeded,
    Ran { command: u64, total: u32, failed: Vec<u64> },
    Chosen(Vec<u64>),
    PassedOver(Vec<u64>),
    Words(Vec<u64>),
}

/// Returns the statements as JSON, without their time of creation and without the positions of
/// their sources in the transcript.
pub(super) fn to_json(statements: &Statements) -> Value {
    let portable = PortableStatements {
        mentions: statements.mentions.iter().map(PortableMention::of).collect(),
        claims: statements.claims.iter().map(PortableClaim::of).collect(),
        marks: statements.marks.iter().map(PortableMark::of).collect(),
        renames: (statements.renames.iter())
            .map(|rename| (rename.from.0, rename.to.0, rename.at.micros()))
            .collect(),
    };
    serde_json::to_value(portable).unwrap_or_default()
}

/// Returns the statements in `json`; `None` if they are missing, or if any of them cannot be
/// parsed, for example because this version does not know its kind.
pub(super) fn from_json(json: &Value) -> Option<Statements> {
    if json.is_null() {
        return None;
    }
    let portable: PortableStatements = serde_json::from_value(json.clone()).ok()?;
    let renames = portable.renames.into_iter().map(|(from, to, at)| Rename {
        from: EntityId(from),
        to: EntityId(to),
        at: Timestamp::from_micros(at),
    });
    Some(Statements {
        created_at: Timestamp::default(),
        mentions: (portable.mentions.into_iter().map(PortableMention::read))
            .collect::<Option<_>>()?,
        claims: portable.claims.into_iter().map(PortableClaim::read).collect::<Option<_>>()?,
        marks: portable.marks.into_iter().map(PortableMark::read).collect(),
        renames: renames.collect(),
    })
}

impl PortableMention {
    fn of(mention: &Mention) -> PortableMention {
        PortableMention {
            entity: mention.entity.0,
            kind: mention.kind.as_str().to_owned(),
            namespace: mention.namespace.to_string(),
            name: mention.name.clone(),
            at: mention.at.micros(),
        }
    }

    fn read(self) -> Option<Mention> {
        Some(Mention {
            entity: EntityId(self.entity),
            kind: EntityKind::parse(&self.kind)?,
            namespace: Namespace::parse(&self.namespace)?,
            name: self.name,
            at: Timestamp::from_micros(self.at),
        })
    }
}

impl PortableClaim {
    fn of(claim: &Claim) -> PortableClaim {
        let watches = claim.watches.iter();
        let uuid = |subject: Subject| Uuid::from_bytes(subject.0);
        PortableClaim {
            key: claim.key.0,
            namespace: claim.namespace.to_string(),
            relation: claim.relation.as_str().to_owned(),
            source: claim.source.0,
            target: claim.target.0,
            others: claim.others.iter().map(|other| other.0).collect(),
            sentence: claim.sentence.clone(),
            at: claim.at.micros(),
            certainty: claim.certainty.as_str().to_owned(),
            watches: watches
                .map(|watch| (uuid(watch.subject), PortableStance::of(&watch.stance)))
                .collect(),
            details: claim.details.clone(),
        }
    }

    fn read(self) -> Option<Claim> {
        let watches = self.watches.into_iter();
        Some(Claim {
            key: FactKey(self.key),
            namespace: Namespace::parse(&self.namespace)?,
            relation: Relation::parse(&self.relation)?,
            source: EntityId(self.source),
            target: EntityId(self.target),
            others: self.others.into_iter().map(EntityId).collect(),
            sentence: self.sentence,
            at: Timestamp::from_micros(self.at),
            certainty: Certainty::parse(&self.certainty)?,
            watches: watches
                .map(|(subject, stance)| Watch {
                    subject: Subject(subject.into_bytes()),
                    stance: stance.read(),
                })
                .collect(),
            origins: Vec::new(),
            details: self.details,
        })
    }
}

impl PortableMark {
    fn of(mark: &Mark) -> PortableMark {
        PortableMark {
            subject: Uuid::from_bytes(mark.subject.0),
            at: mark.at.micros(),
            observation: PortableObservation::of(&mark.observation),
        }
    }

    fn read(self) -> Mark {
        Mark {
            subject: Subject(self.subject.into_bytes()),
            at: Timestamp::from_micros(self.at),
            observation: self.observation.read(),
        }
    }
}

impl PortableStance {
    fn of(stance: &Stance) -> PortableStance {
        match stance.clone() {
            Stance::Value(value) => PortableStance::Value(value),
            Stance::Gone => PortableStance::Gone,
            Stance::Broken => PortableStance::Broken,
            Stance::Fails { test, command, total } => {
                PortableStance::Fails { test, command, total }
            }
            Stance::Chosen(about) => PortableStance::Chosen(about),
            Stance::PassedOver(about) => PortableStance::PassedOver(about),
            Stance::Supposed => PortableStance::Supposed,
            Stance::Words(words) => PortableStance::Words(words),
            Stance::NamedBy(words) => PortableStance::NamedBy(words),
        }
    }

    fn read(self) -> Stance {
        match self {
            PortableStance::Value(value) => Stance::Value(value),
            PortableStance::Gone => Stance::Gone,
            PortableStance::Broken => Stance::Broken,
            PortableStance::Fails { test, command, total } => {
                Stance::Fails { test, command, total }
            }
            PortableStance::Chosen(about) => Stance::Chosen(about),
            PortableStance::PassedOver(about) => Stance::PassedOver(about),
            PortableStance::Supposed => Stance::Supposed,
            PortableStance::Words(words) => Stance::Words(words),
            PortableStance::NamedBy(words) => Stance::NamedBy(words),
        }
    }
}

impl PortableObservation {
    fn of(observation: &Observation) -> PortableObservation {
        match observation.clone() {
            Observation::Value(value) => PortableObservation::Value(value),
            Observation::Seen => PortableObservation::Seen,
            Observation::Solved => PortableObservation::Solved,
            Observation::Succeeded => PortableObservation::Succeeded,
            Observation::Ran { command, total, failed } => {
                PortableObservation::Ran { command, total, failed }
            }
            Observation::Chosen(about) => PortableObservation::Chosen(about),
            Observation::PassedOver(about) => PortableObservation::PassedOver(about),
            Observation::Words(words) => PortableObservation::Words(words),
        }
    }

    fn read(self) -> Observation {
        match self {
            PortableObservation::Value(value) => Observation::Value(value),
            PortableObservation::Seen => Observation::Seen,
            PortableObservation::Solved => Observation::Solved,
            PortableObservation::Succeeded => Observation::Succeeded,
            PortableObservation::Ran { command, total, failed } => {
                Observation::Ran { command, total, failed }
            }
            PortableObservation::Chosen(about) => Observation::Chosen(about),
            PortableObservation::PassedOver(about) => Observation::PassedOver(about),
            PortableObservation::Words(words) => Observation::Words(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::contract;

    #[test]
    fn exported_statements_are_read_as_they_were_without_their_positions() {
        let mut statements = contract::statements(10);
        let json: Value = serde_json::from_str(&to_json(&statements).to_string()).unwrap();
        statements.claims[0].origins.clear();
        statements.created_at = Timestamp::default();
        assert_eq!(from_json(&json), Some(statements));
    }

    #[test]
    fn statements_of_an_unknown_kind_are_not_read() {
        let mut json = to_json(&contract::statements(10));
        json["claims"][0]["relation"] = "INVENTED".into();
        assert_eq!(from_json(&json), None);
        assert_eq!(from_json(&Value::Null), None);
    }
}
