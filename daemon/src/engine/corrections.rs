//! Stores the corrections of facts that users and agents make.

use std::collections::HashSet;

use crate::{
    engine::{Engine, EngineError, projects::Projects},
    model::{
        EpisodeId, Namespace,
        graph::{CorrectedFact, Correction, FactKey},
    },
    store::{Store, StoreError, Write, corrections},
};

/// The facts that the corrections of an import may change: the facts that a session of the import
/// states, and all facts of the projects of these sessions.
pub struct CorrectionScope {
    episodes: HashSet<EpisodeId>,
    projects: HashSet<Namespace>,
}

impl CorrectionScope {
    fn of(
        store: &dyn Store,
        projects: &Projects,
        imported: &[EpisodeId],
    ) -> Result<CorrectionScope, StoreError> {
        let mut scope = CorrectionScope { episodes: HashSet::new(), projects: HashSet::new() };
        for id in imported {
            let Some(episode) = store.episode(*id)? else { continue };
            scope.episodes.insert(*id);
            let root = episode.project.root().namespace();
            if scope.projects.insert(root) {
                scope.projects.extend(projects.of_namespace(root));
            }
        }
        Ok(scope)
    }

    fn contains(&self, store: &dyn Store, fact: FactKey) -> Result<bool, StoreError> {
        let claims = store.claims(fact)?;
        Ok(claims.iter().any(|claim| {
            self.episodes.contains(&claim.episode) || self.projects.contains(&claim.what.namespace)
        }))
    }
}

impl Engine {
    /// Stores corrections in one list of writes: all or none are stored.
    pub async fn correct(&self, corrected: &[CorrectedFact]) -> Result<(), EngineError> {
        let write = |one: &CorrectedFact| corrections::write_of(one.fact, Some(&one.correction));
        self.check_writable()?;
        let writes: Vec<Write> = corrected.iter().map(write).collect();
        self.store.write(writes).done().await?;
        Ok(())
    }

    /// Whether a correction may be stored: the fact has no correction yet, or the new correction
    /// may replace the stored one.
    pub fn may_correct(&self, one: &CorrectedFact) -> Result<bool, EngineError> {
        let known: Option<Correction> = self.store.correction(one.fact)?;
        Ok(known.is_none_or(|known| one.correction.replaces(&known)))
    }

    /// Returns the facts that a correction may change if the correction was imported with these
    /// episodes.
    pub fn correction_scope(&self, imported: &[EpisodeId]) -> Result<CorrectionScope, EngineError> {
        Ok(CorrectionScope::of(self.store.as_ref(), &self.projects, imported)?)
    }

    pub fn is_in_scope(&self, fact: FactKey, scope: &CorrectionScope) -> Result<bool, EngineError> {
        Ok(scope.contains(self.store.as_ref(), fact)?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        model::{Project, SessionKey},
        store::{contract, sled::SledStore},
    };

    #[tokio::test]
    async fn imported_corrections_apply_only_to_facts_of_the_projects_of_the_import() {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SledStore::open(folder.path()).unwrap());
        let projects = Projects::load(store.clone(), None).unwrap();
        let mut episodes = Vec::new();
        for (number, folder) in [(1, "/home/ann/app"), (2, "/home/ann/app"), (3, "/home/ann/other")]
        {
            let session = contract::session(SessionKey(number), &format!("aaaa-{number}"));
            let at = 5_000 + i64::try_from(number).unwrap();
            let mut episode = contract::episode(&session, at);
            episode.project = Project::new(folder);
            let statements = match number {
                1 => vec![],
                _ => {
                    let mut statements = contract::statements(10);
                    statements.claims[0].key.0 = uuid::Uuid::from_u128(u128::from(number) << 8);
                    statements.claims[0].namespace = episode.project.namespace();
                    vec![Write::Statements {
                        episode: episode.id,
                        statements: Box::new(statements),
                    }]
                }
            };
            let write = vec![Write::Episode(Box::new(episode.clone()))];
            store.write([write, statements].concat()).done().await.unwrap();
            episodes.push(episode.id);
        }
        let facts = [2, 3, 4].map(|number| FactKey(uuid::Uuid::from_u128(number << 8)));
        let within = |imported: &[EpisodeId]| {
            let scope = CorrectionScope::of(store.as_ref(), &projects, imported).unwrap();
            facts.map(|fact| scope.contains(store.as_ref(), fact).unwrap())
        };
        assert_eq!(within(&episodes[..1]), [true, false, false]);
        assert_eq!(within(&episodes[2..]), [false, true, false]);
        assert_eq!(within(&[]), [false; 3]);
    }
}
