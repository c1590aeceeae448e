//! Decides whether the statements that another machine exported with an episode are used.
//!
//! Ids of entities and facts are hashes, so an export could contain the ids of another project.
//! Statements with such ids would change facts that the import did not bring, so they are rejected.
//! A mark (an observation that can end or confirm facts) names its subject only by a hash. The
//! project cannot be read from this hash, so a forged mark can end facts of another project, if its
//! author knows the directory of that project.

use std::collections::HashSet;

use crate::{
    engine::portable_statements,
    model::{
        EpisodeId, Namespace, Timestamp,
        episode::Episode,
        graph::{Claim, EntityId, EntityKind, FactId, Mention, Rename, Statements},
    },
    store::{GraphStore, StoreError},
};

/// Returns the statements that another machine exported with `episode`; `None` if they do not fit
/// the episode, or have ids that belong to other content. Then statements have to be derived from
/// the summary.
pub fn exported_statements(
    store: &dyn GraphStore,
    episode: &Episode,
    exported: &serde_json::Value,
) -> Result<Option<Statements>, StoreError> {
    match fitting_statements(episode, exported) {
        Some(statements) if have_own_ids(store, episode.id, &statements)? => Ok(Some(statements)),
        _ => Ok(None),
    }
}

/// Returns the exported statements; `None` if they have an unknown form, belong to another
/// directory, are later than the episode, or use entities without a mention in `exported`.
pub fn fitting_statements(episode: &Episode, exported: &serde_json::Value) -> Option<Statements> {
    let own =
        [episode.project.namespace(), episode.project.root().namespace(), Namespace::default()];
    let mut statements = portable_statements::from_json(exported)?;
    statements.created_at = episode.created_at;
    let latest = episode.ended_at.max(episode.created_at);
    let fits = namespaces(&statements).all(|namespace| own.contains(&namespace))
        && are_connected(&statements)
        && times(&statements).all(|at| at <= latest);
    fits.then_some(statements)
}

fn namespaces(statements: &Statements) -> impl Iterator<Item = Namespace> {
    (statements.mentions.iter().map(|mention| mention.namespace))
        .chain(statements.claims.iter().map(|claim| claim.namespace))
}

/// Whether `statements` mentions the entities of all claims and renames, and the key of each claim
/// is the key of a fact.
fn are_connected(statements: &Statements) -> bool {
    let known: HashSet<EntityId> =
        statements.mentions.iter().map(|mention| mention.entity).collect();
    let is_known = |claim: &Claim| {
        let has_key = FactId(claim.key.0).key() == claim.key;
        has_key && claim.entities().iter().all(|entity| known.contains(entity))
    };
    let is_renaming = |rename: &Rename| known.contains(&rename.from) && known.contains(&rename.to);
    statements.claims.iter().all(is_known) && statements.renames.iter().all(is_renaming)
}

fn times(statements: &Statements) -> impl Iterator<Item = Timestamp> {
    (statements.mentions.iter().map(|mention| mention.at))
        .chain(statements.claims.iter().map(|claim| claim.at))
        .chain(statements.marks.iter().map(|mark| mark.at))
        .chain(statements.renames.iter().map(|rename| rename.at))
}

/// Whether the stored statements of other episodes use each id for the same kind of entity or fact,
/// and for the same project. An id that is not stored is accepted. The ids cannot be derived again,
/// because the texts from which they were derived are not exported completely.
fn have_own_ids(
    store: &dyn GraphStore,
    episode: EpisodeId,
    statements: &Statements,
) -> Result<bool, StoreError> {
    for mention in statements.mentions.iter().filter(|mention| !is_derived(mention)) {
        let is_other =
            |known: &Mention| (known.kind, known.namespace) != (mention.kind, mention.namespace);
        let stored = store.mentions(mention.entity)?;
        if stored.iter().any(|known| known.episode != episode && is_other(&known.what)) {
            return Ok(false);
        }
    }
    for claim in &statements.claims {
        let is_other =
            |known: &Claim| (known.relation, known.namespace) != (claim.relation, claim.namespace);
        let stored = store.claims(claim.key)?;
        if stored.iter().any(|known| known.episode != episode && is_other(&known.what)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the id of an entity is the id that is derived from its name. The stored mentions of such
/// an entity need not be read. An entity such as the project can have thousands of mentions.
fn is_derived(mention: &Mention) -> bool {
    let key = match mention.kind {
        EntityKind::Project => "",
        EntityKind::File | EntityKind::Tool => mention.name.as_str(),
        _ => return false,
    };
    mention.entity == EntityId::of(mention.kind, mention.namespace, key)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        model::{
            Project, SessionKey,
            graph::{FactKey, Relation},
        },
        store::{Store as _, Write, contract, sled::SledStore},
    };

    /// The episode of the tests, and a store that contains statements of another project.
    struct Fixture {
        _folder: tempfile::TempDir,
        store: SledStore,
        episode: Episode,
        foreign: Statements,
    }

    impl Fixture {
        async fn new() -> Fixture {
            let folder = tempfile::tempdir().unwrap();
            let store = SledStore::open(folder.path()).unwrap();
            let mut episode = contract::episode(&contract::session(SessionKey(1), "aaaa-1"), 5_000);
            episode.project = Project::new("/home/ann/app");
            let session = contract::session(SessionKey(2), "bbbb-2");
            let other = contract::episode(&session, 6_000);
            let namespace = Project::new("/home/ann/other").namespace();
            let mut foreign = contract::statements(10);
            let entity = EntityId::of(EntityKind::File, namespace, "a");
            foreign.renames.clear();
            foreign.mentions.truncate(1);
            (foreign.mentions[0].entity, foreign.mentions[0].namespace) = (entity, namespace);
            let claim = &mut foreign.claims[0];
            claim.namespace = namespace;
            (claim.source, claim.target, claim.others) = (entity, entity, Vec::new());
            claim.key = FactKey::of(Relation::Resolved, entity, entity, "1");
            let statements = Box::new(foreign.clone());
            store
                .write(vec![
                    Write::Episode(Box::new(other.clone())),
                    Write::Statements { episode: other.id, statements },
                ])
                .done()
                .await
                .unwrap();
            Fixture { _folder: folder, store, episode, foreign }
        }

        fn accepts(&self, change: impl FnOnce(&mut Statements)) -> bool {
            let mut statements = contract::statements(10);
            change(&mut statements);
            let json = portable_statements::to_json(&statements);
            exported_statements(&self.store, &self.episode, &json).unwrap().is_some()
        }
    }

    #[tokio::test]
    async fn exported_statements_that_do_not_fit_their_episode_are_not_used() {
        let fixture = Fixture::new().await;
        let other = EntityId::of(EntityKind::File, Namespace::default(), "other");
        let episode = &fixture.episode;
        let later = episode.ended_at.max(episode.created_at).plus(Duration::from_micros(1));
        assert!(fixture.accepts(|_| {}));
        assert!(!fixture.accepts(|statements| statements.claims[0].at = later));
        let last = Timestamp::from_micros(i64::MAX);
        assert!(!fixture.accepts(|statements| statements.marks[0].at = last));
        assert!(!fixture.accepts(|statements| statements.claims[0].others = vec![other]));
        assert!(!fixture.accepts(|statements| statements.renames[0].from = other));
        assert!(!fixture.accepts(|statements| {
            statements.claims[0].key.0 = statements.claims[0].key.in_span(1).0;
        }));
        assert!(!fixture.accepts(|statements| statements.mentions.clear()));
    }

    #[tokio::test]
    async fn statements_with_ids_of_another_project_are_not_used() {
        let fixture = Fixture::new().await;
        let foreign = &fixture.foreign;
        assert!(!fixture.accepts(|statements| statements.claims[0].key = foreign.claims[0].key));
        let entity = foreign.mentions[0].entity;
        assert!(!fixture.accepts(|statements| {
            statements.mentions.push(Mention { entity, ..statements.mentions[0].clone() });
        }));
    }
}
