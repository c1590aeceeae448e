//! Queries about entities and facts.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap, HashSet},
};

use crate::{
    graph::{extract::file_key, fact_validity},
    model::{
        EpisodeId, Namespace, Project, Timestamp,
        graph::{
            Claim, Entity, EntityId, EntityKind, EntityOrFact, Fact, FactId, FactKey, Relation,
        },
    },
    store::{
        GraphStore, StoreError,
        graph::{ClaimPlace, ClaimRow, RenameEnd},
    },
};

/// Answers queries about the entities and facts of all episodes in a store.
#[derive(Clone, Copy)]
pub struct Graph<'s> {
    store: &'s dyn GraphStore,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FactFilter {
    /// Only facts with these relations; all facts if the list is empty.
    pub relations: Vec<Relation>,
    /// Only facts that are true at this time; `None` for all facts.
    pub at: Option<Timestamp>,
    pub limit: usize,
}

/// The entities and facts that an episode states. Their names, times and certainty are derived from
/// all episodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntitiesAndFacts {
    pub entities: Vec<Entity>,
    pub facts: Vec<Fact>,
}

/// Maximum number of renames that are followed for one file, and of names that one file may have.
const MAX_NAMES: usize = 32;
/// Maximum number of facts that are read after as many facts as the limit were found: the first
/// number times the limit, but at most the second number. Some of these facts may have begun after
/// the facts that were found first.
const MORE_FACTS: (usize, usize) = (4, 200);
/// Maximum number of facts in the description of an entity.
const MAX_DESCRIBED_FACTS: usize = 6;

impl<'s> Graph<'s> {
    pub fn of(store: &'s dyn GraphStore) -> Graph<'s> {
        Graph { store }
    }

    pub(super) fn store(&self) -> &'s dyn GraphStore {
        self.store
    }

    /// Returns an entity; `None` if no episode mentions the entity.
    pub fn entity(&self, id: EntityId) -> Result<Option<Entity>, StoreError> {
        let id = self.latest_name(id)?;
        let mut mentions = Vec::new();
        for name in self.names(id)? {
            mentions.extend(self.store.mentions(name)?);
        }
        mentions.sort_by_key(|attributed| {
            (attributed.what.entity == id, attributed.what.at, attributed.episode)
        });
        let Some(last) = mentions.last() else { return Ok(None) };
        let mut aliases: Vec<String> = Vec::new();
        for attributed in mentions.iter().rev() {
            if attributed.what.name != last.what.name && !aliases.contains(&attributed.what.name) {
                aliases.push(attributed.what.name.clone());
            }
        }
        let episodes: BTreeSet<EpisodeId> =
            mentions.iter().map(|attributed| attributed.episode).collect();
        let times = || mentions.iter().map(|attributed| attributed.what.at);
        Ok(Some(Entity {
            id,
            kind: last.what.kind,
            namespace: last.what.namespace,
            name: last.what.name.clone(),
            aliases,
            first_at: times().min().unwrap_or(last.what.at),
            last_at: times().max().unwrap_or(last.what.at),
            created_at: mentions
                .iter()
                .map(|attributed| attributed.created_at)
                .min()
                .unwrap_or_default(),
            episodes: episodes.len(),
        }))
    }

    /// Returns the key of a file in a project: its path relative to the project, or its whole path
    /// if the file is outside of it. Returns `None` for files that are not part of the work, such
    /// as scratch files.
    pub fn file_key(project: &Project, path: &str) -> Option<String> {
        file_key(project, path)
    }

    /// Returns the id of the file with this key after all renames, if an episode mentions the file.
    pub fn file(&self, namespace: Namespace, key: &str) -> Result<Option<EntityId>, StoreError> {
        let id = EntityId::of(EntityKind::File, namespace, key);
        Ok(self.entity(id)?.map(|entity| entity.id))
    }

    pub fn fact(&self, id: FactId) -> Result<Option<Fact>, StoreError> {
        Ok(self.spans(id.key())?.into_iter().find(|fact| fact.id == id))
    }

    /// Returns the facts of `key`, one for each period in which the claim was true, the earliest
    /// first.
    pub fn spans(&self, key: FactKey) -> Result<Vec<Fact>, StoreError> {
        let claims = self.store.claims(key)?;
        let Some(since) = claims.iter().map(|attributed| attributed.what.at).min() else {
            return Ok(Vec::new());
        };
        let mut marks = Vec::new();
        let subjects: BTreeSet<_> = claims
            .iter()
            .flat_map(|attributed| &attributed.what.watches)
            .map(|watch| watch.subject)
            .collect();
        for subject in subjects {
            marks.extend(self.store.marks(subject, since)?);
        }
        let mut facts =
            fact_validity::facts(key, &claims, &marks, self.store.correction(key)?.as_ref());
        for fact in &mut facts {
            self.apply_renames(fact)?;
        }
        Ok(facts)
    }

    pub fn of_episode(&self, episode: EpisodeId) -> Result<EntitiesAndFacts, StoreError> {
        let mut found = EntitiesAndFacts::default();
        let mut seen = HashSet::new();
        for thing in self.store.entities_and_facts_of(episode)? {
            match thing {
                EntityOrFact::Entity(id) => {
                    let entity = self.entity(id)?.filter(|entity| seen.insert(entity.id));
                    found.entities.extend(entity);
                }
                EntityOrFact::Fact(key) => {
                    let spans = self.spans(key)?.into_iter();
                    found.facts.extend(spans.filter(|fact| fact.episodes.contains(&episode)));
                }
            }
        }
        found.facts.sort_by_key(|fact| (fact.valid_at, fact.id));
        Ok(found)
    }

    /// Returns the facts about an entity, the latest first.
    pub fn around(&self, entity: EntityId, wanted: &FactFilter) -> Result<Vec<Fact>, StoreError> {
        let names = self.names(self.latest_name(entity)?)?;
        self.facts_in(names.into_iter().map(ClaimPlace::Around), wanted)
    }

    /// Returns the facts of projects, the latest first.
    pub fn facts(
        &self,
        projects: &[Namespace],
        wanted: &FactFilter,
    ) -> Result<Vec<Fact>, StoreError> {
        self.facts_in(projects.iter().copied().map(ClaimPlace::In), wanted)
    }

    /// Returns the entities of these kinds in projects, the most recently mentioned first.
    pub fn entities(
        &self,
        projects: &[Namespace],
        kinds: &[EntityKind],
        limit: usize,
    ) -> Result<Vec<Entity>, StoreError> {
        let mut found: Vec<Entity> = Vec::new();
        let mut seen = HashSet::new();
        for (namespace, kind) in
            projects.iter().flat_map(|namespace| kinds.iter().map(move |kind| (*namespace, *kind)))
        {
            let mut ids = Vec::new();
            self.store.visit_mentions(namespace, kind, &mut |row| {
                if seen.insert(row.entity) {
                    ids.push(row.entity);
                }
                ids.len() < limit
            })?;
            for id in ids {
                if let Some(entity) = self.entity(id)?
                    && !found.iter().any(|known| known.id == entity.id)
                {
                    found.push(entity);
                }
            }
        }
        found.sort_by_key(|entity| (Reverse(entity.last_at), entity.id));
        found.truncate(limit);
        Ok(found)
    }

    /// Describes an entity by the sentences of some of its latest facts: first the current facts,
    /// then those that have ended.
    pub fn description(&self, entity: EntityId) -> Result<String, StoreError> {
        let wanted = FactFilter { relations: Vec::new(), at: None, limit: MAX_DESCRIBED_FACTS * 2 };
        let mut facts = self.around(entity, &wanted)?;
        facts.sort_by_key(|fact| fact.invalid_at.is_some());
        let sentences = facts.iter().take(MAX_DESCRIBED_FACTS).map(|fact| fact.sentence.as_str());
        Ok(sentences.collect::<Vec<_>>().join(" "))
    }

    /// Returns the latest statements about an entity, current or ended, for the full-text index.
    pub fn statements_about(&self, entity: EntityId) -> Result<String, StoreError> {
        let mut keys: Vec<FactKey> = Vec::new();
        for name in self.names(self.latest_name(entity)?)? {
            let full = keys.len() + MAX_DESCRIBED_FACTS * 2;
            self.store.visit_claims(ClaimPlace::Around(name), &mut |row| {
                if !keys.contains(&row.fact) {
                    keys.push(row.fact);
                }
                keys.len() < full
            })?;
        }
        let mut sentences = Vec::new();
        for key in keys {
            sentences.extend(self.last_claim(key)?.map(|claim| claim.sentence));
        }
        Ok(sentences.join(" "))
    }

    /// Returns the latest claim with this key; `None` if no session states the fact.
    pub fn last_claim(&self, key: FactKey) -> Result<Option<Claim>, StoreError> {
        let claims = self.store.claims(key)?.into_iter();
        Ok(claims
            .max_by_key(|attributed| (attributed.what.at, attributed.episode))
            .map(|attributed| attributed.what))
    }

    /// Returns the facts in `places` that began last, the latest first.
    ///
    /// Statements are read from the latest to the earliest, but facts are ordered by the times at
    /// which they began, which may be much earlier. A place is therefore read until `limit` facts
    /// are known that began after its next statement. Reading also ends when [`MORE_FACTS`] more
    /// facts were read in all places.
    fn facts_in(
        &self,
        places: impl Iterator<Item = ClaimPlace>,
        wanted: &FactFilter,
    ) -> Result<Vec<Fact>, StoreError> {
        let mut found: Vec<Fact> = Vec::new();
        let mut seen: HashSet<FactKey> = HashSet::new();
        // The times at which the latest facts began, at most `limit`; the earliest is on top.
        let mut latest: BinaryHeap<Reverse<Timestamp>> = BinaryHeap::new();
        let most = wanted.limit.saturating_mul(MORE_FACTS.0).min(MORE_FACTS.1);
        let mut more = 0;
        for place in places {
            let mut failed = None;
            self.store.visit_claims(place, &mut |row: ClaimRow| {
                let is_full = latest.len() >= wanted.limit;
                let is_before = |earliest: &Reverse<Timestamp>| row.at < earliest.0;
                if is_full && (more >= most || latest.peek().is_none_or(is_before)) {
                    return false;
                }
                let is_wanted =
                    wanted.relations.is_empty() || wanted.relations.contains(&row.relation);
                if !is_wanted || !seen.insert(row.fact) {
                    return true;
                }
                more += usize::from(is_full);
                match self.spans(row.fact) {
                    Ok(spans) => {
                        let holds = |fact: &Fact| wanted.at.is_none_or(|at| fact.holds_at(at));
                        for fact in spans.into_iter().filter(holds) {
                            latest.push(Reverse(fact.valid_at));
                            found.push(fact);
                        }
                        while latest.len() > wanted.limit {
                            latest.pop();
                        }
                    }
                    Err(error) => failed = Some(error),
                }
                failed.is_none()
            })?;
            if let Some(error) = failed {
                return Err(error);
            }
        }
        found.sort_by_key(|fact| (Reverse(fact.valid_at), fact.id));
        found.truncate(wanted.limit);
        Ok(found)
    }

    /// Returns the id of the current name of a file after all renames. Any other entity has only
    /// one id.
    fn latest_name(&self, id: EntityId) -> Result<EntityId, StoreError> {
        let (mut name, mut since) = (id, None);
        for _ in 0..MAX_NAMES {
            let renames = self.store.renames(name, RenameEnd::From)?.into_iter();
            let later = renames.filter(|rename| since.is_none_or(|since| rename.at > since));
            let Some(rename) = later.max_by_key(|rename| (rename.at, rename.to)) else { break };
            (name, since) = (rename.to, Some(rename.at));
        }
        Ok(name)
    }

    /// Returns `latest` and the ids of the earlier names of the file.
    fn names(&self, latest: EntityId) -> Result<Vec<EntityId>, StoreError> {
        let mut names = vec![latest];
        let mut next = 0;
        while next < names.len() && names.len() < MAX_NAMES {
            for rename in self.store.renames(names[next], RenameEnd::To)? {
                if !names.contains(&rename.from) && self.latest_name(rename.from)? == latest {
                    names.push(rename.from);
                }
            }
            next += 1;
        }
        Ok(names)
    }

    fn apply_renames(&self, fact: &mut Fact) -> Result<(), StoreError> {
        fact.source = self.latest_name(fact.source)?;
        fact.target = self.latest_name(fact.target)?;
        for other in &mut fact.others {
            *other = self.latest_name(*other)?;
        }
        fact.others.sort_unstable();
        fact.others.dedup();
        Ok(())
    }
}
