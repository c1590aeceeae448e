//! Ids of entities and facts. They are hashes of the content, so that the same entity has the same
//! id in every session.

use std::fmt;

use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::model::{
    graph::{EntityKind, Relation},
    project::Namespace,
};

/// The id of an entity: a hash of its kind, project and key, so it is the same in every session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityId(pub Uuid);

/// A hash of the content of a fact, without its times. Equal claims of several sessions have the
/// same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FactKey(pub Uuid);

/// The id of a fact: the key, and the number of the period in which the fact is true. A claim that
/// was true in two separate periods is two facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FactId(pub Uuid);

/// The subject of claims and marks: a setting, a test suite, an error. All statements about a
/// subject are evaluated together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject(pub [u8; 16]);

impl EntityId {
    /// Returns the id of the entity of `kind` in `namespace` with this `key`.
    pub fn of(kind: EntityKind, namespace: Namespace, key: &str) -> EntityId {
        EntityId(uuid(digest(&["entity", kind.as_str(), &namespace.to_string(), key])))
    }

    /// Parses the usual text form.
    pub fn parse(text: &str) -> Option<EntityId> {
        Uuid::try_parse(text).ok().map(EntityId)
    }

    /// Returns the first bytes as a number, for the search index.
    pub fn number(self) -> u64 {
        number(self.0)
    }
}

impl FactKey {
    /// Returns the key of `relation` between two entities; `detail` distinguishes claims that are
    /// otherwise equal.
    pub fn of(relation: Relation, source: EntityId, target: EntityId, detail: &str) -> FactKey {
        let ends = [source.0.to_string(), target.0.to_string()];
        let mut bytes = digest(&["fact", relation.as_str(), &ends[0], &ends[1], detail]);
        bytes[15] = 0;
        FactKey(uuid(bytes))
    }

    /// Returns the id of the fact in the period with number `span`, counted from 0. All periods
    /// from number 255 on have the same id.
    pub fn in_span(self, span: usize) -> FactId {
        let mut bytes = self.0.into_bytes();
        bytes[15] = u8::try_from(span).unwrap_or(u8::MAX);
        FactId(Uuid::from_bytes(bytes))
    }

    /// Returns the first bytes as a number, for the search index.
    pub fn number(self) -> u64 {
        number(self.0)
    }
}

impl FactId {
    /// Returns the key of the fact.
    pub fn key(self) -> FactKey {
        let mut bytes = self.0.into_bytes();
        bytes[15] = 0;
        FactKey(Uuid::from_bytes(bytes))
    }

    /// Parses the usual text form.
    pub fn parse(text: &str) -> Option<FactId> {
        Uuid::try_parse(text).ok().map(FactId)
    }
}

impl Subject {
    /// Returns the subject of `kind` in `namespace` with this `key`.
    pub fn of(kind: &str, namespace: Namespace, key: &str) -> Subject {
        Subject(digest(&["subject", kind, &namespace.to_string(), key]))
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl fmt::Display for FactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// Returns a fingerprint of `text`, for texts that are only compared.
pub fn fingerprint(text: &str) -> u64 {
    let digest = digest(&["text", text]);
    u64::from_be_bytes(*digest.first_chunk().expect("a digest has sixteen bytes"))
}

fn digest(parts: &[&str]) -> [u8; 16] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    *hash.finalize().first_chunk().expect("SHA-256 has 32 bytes")
}

fn uuid(bytes: [u8; 16]) -> Uuid {
    Builder::from_custom_bytes(bytes).into_uuid()
}

fn number(uuid: Uuid) -> u64 {
    u64::from_be_bytes(*uuid.as_bytes().first_chunk().expect("a UUID has sixteen bytes"))
}
