//! A port for statements of episodes about entities and facts. The store returns rows as they were
//! written; the engine combines them.

use crate::{
    StoreError,
    model::{
        EpisodeId, Namespace, Timestamp,
        graph::{
            Attributed, Claim, CorrectedFact, Correction, EntityId, EntityKind, EntityOrFact,
            FactKey, Mark, Mention, Relation, Rename, Statements, Subject,
        },
    },
};

/// Reads statements of episodes. All rows of an episode's statements are added in one step, and are
/// deleted in the same step as the episode.
pub trait GraphStore {
    /// Returns the entities that an episode mentions, and the facts that it states.
    fn entities_and_facts_of(&self, episode: EpisodeId) -> Result<Vec<EntityOrFact>, StoreError>;

    /// Returns all statements of an episode.
    fn statements_of(&self, episode: EpisodeId) -> Result<Statements, StoreError>;

    /// Returns the claims of all episodes that state a fact, the earliest session first.
    fn claims(&self, fact: FactKey) -> Result<Vec<Attributed<Claim>>, StoreError>;

    /// Returns all marks of a subject since `since`, and possibly some earlier marks.
    fn marks(
        &self,
        subject: Subject,
        since: Timestamp,
    ) -> Result<Vec<Attributed<Mark>>, StoreError>;

    /// Returns the mentions of an entity, the earliest session first.
    fn mentions(&self, entity: EntityId) -> Result<Vec<Attributed<Mention>>, StoreError>;

    /// Returns the renamings with `entity` as the old or the new name, as `end` specifies.
    fn renames(&self, entity: EntityId, end: RenameEnd) -> Result<Vec<Rename>, StoreError>;

    /// Calls `visit` for the claims in `place`, the latest first, until `visit` returns `false`. A
    /// fact that several episodes state is visited several times.
    fn visit_claims(
        &self,
        place: ClaimPlace,
        visit: &mut dyn FnMut(ClaimRow) -> bool,
    ) -> Result<(), StoreError>;

    /// Calls `visit` for the mentions of a project's entities of one kind, the latest first, until
    /// `visit` returns `false`. An entity that several episodes mention is visited several times.
    fn visit_mentions(
        &self,
        namespace: Namespace,
        kind: EntityKind,
        visit: &mut dyn FnMut(MentionRow) -> bool,
    ) -> Result<(), StoreError>;

    /// Returns the stored correction of a fact by the user or an agent.
    fn correction(&self, fact: FactKey) -> Result<Option<Correction>, StoreError>;

    fn corrections(&self) -> Result<Vec<CorrectedFact>, StoreError>;

    /// Returns at most `limit` facts whose keys begin with `prefix`.
    fn facts_with_prefix(&self, prefix: &[u8], limit: usize) -> Result<Vec<FactKey>, StoreError>;

    /// Returns the projects that have episodes.
    fn projects(&self) -> Result<Vec<Namespace>, StoreError>;

    /// Returns the fact whose key begins with the bytes of `number`.
    fn fact_numbered(&self, number: u64) -> Result<Option<FactKey>, StoreError>;

    /// Returns the entity whose id begins with the bytes of `number`.
    fn entity_numbered(&self, number: u64) -> Result<Option<EntityId>, StoreError>;

    /// Calls `visit` once for every entity and fact, until `visit` returns `false`.
    fn visit_entities_and_facts(
        &self,
        visit: &mut dyn FnMut(EntityOrFact) -> bool,
    ) -> Result<(), StoreError>;
}

/// The two sides of a [`Rename`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenameEnd {
    From,
    To,
}

/// The claims to visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimPlace {
    /// The claims about an entity.
    Around(EntityId),
    /// The claims of a project.
    In(Namespace),
}

/// A claim without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimRow {
    pub fact: FactKey,
    /// The kind of the fact.
    pub relation: Relation,
    /// The time from which the fact holds.
    pub at: Timestamp,
}

/// A mention without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MentionRow {
    pub entity: EntityId,
    /// The time of the mention.
    pub at: Timestamp,
}
