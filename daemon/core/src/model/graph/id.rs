//! Names of things and facts, made of what they are: whoever meets the same thing makes the same
//! name of it.

use std::fmt;

use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::model::{
    graph::{EntityKind, Relation},
    project::Namespace,
};

/// A thing's name: the same for the same thing in every session, for it is made of the thing's
/// kind, its project and its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityId(pub Uuid);

/// What a fact says, whenever it holds: the same for the same claim of several sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FactKey(pub Uuid);

/// A fact's name: what it says, and which of the times that it held. Something that was true, then
/// not, and then again is two facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FactId(pub Uuid);

/// What claims and marks are about: a setting, a test suite, an error. All that is said of it is
/// looked at together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject(pub [u8; 16]);

impl EntityId {
    /// The thing of `kind` in `namespace` that `key` names.
    pub fn of(kind: EntityKind, namespace: Namespace, key: &str) -> EntityId {
        EntityId(uuid(digest(&["entity", kind.as_str(), &namespace.to_string(), key])))
    }

    /// Reads the usual text form.
    pub fn parse(text: &str) -> Option<EntityId> {
        Uuid::try_parse(text).ok().map(EntityId)
    }

    /// Its beginning as a number, for the search index.
    pub fn number(self) -> u64 {
        number(self.0)
    }
}

impl FactKey {
    /// What `relation` says between these things; `detail` tells claims apart that are otherwise
    /// alike.
    pub fn of(relation: Relation, (source, target): (EntityId, EntityId), detail: &str) -> FactKey {
        let ends = [source.0.to_string(), target.0.to_string()];
        let mut bytes = digest(&["fact", relation.as_str(), &ends[0], &ends[1], detail]);
        bytes[15] = 0;
        FactKey(uuid(bytes))
    }

    /// The fact that it is in the `span`th of the times that it held, from 0.
    pub fn in_span(self, span: usize) -> FactId {
        let mut bytes = self.0.into_bytes();
        bytes[15] = u8::try_from(span).unwrap_or(u8::MAX);
        FactId(Uuid::from_bytes(bytes))
    }

    /// Its beginning as a number, for the search index.
    pub fn number(self) -> u64 {
        number(self.0)
    }
}

impl FactId {
    /// What it says.
    pub fn key(self) -> FactKey {
        let mut bytes = self.0.into_bytes();
        bytes[15] = 0;
        FactKey(Uuid::from_bytes(bytes))
    }

    /// Reads the usual text form.
    pub fn parse(text: &str) -> Option<FactId> {
        Uuid::try_parse(text).ok().map(FactId)
    }
}

impl Subject {
    /// The subject of `kind` in `namespace` that `key` names.
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

/// A number that stands for `text` wherever two texts are only compared.
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
