//! Derives the ids in the shared graph from the content. Therefore, all machines use the same ids,
//! and writing the same content again changes nothing.
//!
//! Like the ids of local entities and facts, these are name-based UUIDs of version 8 with SHA-256.
//! Episodes keep their own ids.

use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

/// Returns the id of an entity. The id does not depend on the session or the machine.
pub fn entity(group: &str, label: &str, name: &str) -> Uuid {
    named(&["entity", group, label, name])
}

pub struct FactIdentity<'f> {
    pub group: &'f str,
    /// The first session that states the fact.
    pub session: &'f str,
    pub relation: &'f str,
    pub source: Uuid,
    pub target: Uuid,
    /// Distinguishes facts that are otherwise equal.
    pub detail: &'f str,
}

pub fn fact(of: &FactIdentity<'_>) -> Uuid {
    let ends = [of.source.to_string(), of.target.to_string()];
    named(&["fact", of.group, of.session, of.relation, &ends[0], &ends[1], of.detail])
}

/// Returns the id of the edge from an episode to an entity.
pub fn mention(episode: Uuid, entity: Uuid) -> Uuid {
    named(&["mention", &episode.to_string(), &entity.to_string()])
}

fn named(parts: &[&str]) -> Uuid {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let bytes = *hash.finalize().first_chunk().expect("SHA-256 has 32 bytes");
    Builder::from_custom_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_entity_depends_on_group_label_and_name() {
        let one = entity("app", "File", "src/main.rs");
        assert_eq!(one, entity("app", "File", "src/main.rs"));
        // Shared graphs store the ids, so they must not change between versions.
        assert_eq!(one.to_string(), "651876f6-2065-85de-910e-5dc70c8ef4c1");
        for other in [
            entity("other", "File", "src/main.rs"),
            entity("app", "Topic", "src/main.rs"),
            entity("app", "File", "src/lib.rs"),
            entity("appF", "ile", "src/main.rs"),
        ] {
            assert_ne!(one, other);
        }
    }
}
