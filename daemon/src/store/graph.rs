//! What episodes say of things and facts, as a port of its own: rows as they were written. What
//! they come to together is worked out elsewhere.

use crate::{
    model::{
        EpisodeId, Namespace, Timestamp,
        graph::{
            Attributed, Claim, EntityId, EntityKind, EntityOrFact, FactKey, Mark, Mention,
            Relation, Rename, Subject,
        },
    },
    store::StoreError,
};

/// Reading what episodes say. Rows of one episode come and go together with it, in one step.
pub trait GraphStore {
    /// The things that an episode mentions and the facts that it states.
    fn things_of(&self, episode: EpisodeId) -> Result<Vec<EntityOrFact>, StoreError>;

    /// What every episode says that states a fact, the earliest session first.
    fn claims(&self, fact: FactKey) -> Result<Vec<Attributed<Claim>>, StoreError>;

    /// What episodes say of a subject whose sessions ended at `since` or later: nothing that
    /// happened since then is left out, some of what happened before is.
    fn marks(
        &self,
        subject: Subject,
        since: Timestamp,
    ) -> Result<Vec<Attributed<Mark>>, StoreError>;

    /// Where a thing is mentioned, the earliest session first.
    fn mentions(&self, entity: EntityId) -> Result<Vec<Attributed<Mention>>, StoreError>;

    /// The names that a file was given after `entity`, and those it had before.
    fn renames(&self, entity: EntityId, end: RenameEnd) -> Result<Vec<Rename>, StoreError>;

    /// Calls `visit` for the claims in `place`, the latest first, until it returns `false`. A fact
    /// that several episodes state comes several times.
    fn visit_claims(
        &self,
        place: ClaimPlace,
        visit: &mut dyn FnMut(ClaimRow) -> bool,
    ) -> Result<(), StoreError>;

    /// Calls `visit` for the mentions of things of a kind in a project, the latest first, until it
    /// returns `false`. A thing that several episodes mention comes several times.
    fn visit_mentions(
        &self,
        namespace: Namespace,
        kind: EntityKind,
        visit: &mut dyn FnMut(MentionRow) -> bool,
    ) -> Result<(), StoreError>;

    /// The fact whose key begins with `number`.
    fn fact_numbered(&self, number: u64) -> Result<Option<FactKey>, StoreError>;

    /// The thing whose id begins with `number`.
    fn entity_numbered(&self, number: u64) -> Result<Option<EntityId>, StoreError>;

    /// Calls `visit` for every thing and fact, each once, until it returns `false`.
    fn visit_things(&self, visit: &mut dyn FnMut(EntityOrFact) -> bool) -> Result<(), StoreError>;
}

/// Which end of a [`Rename`] a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenameEnd {
    /// It got another name.
    From,
    /// It had another name.
    To,
}

/// Where claims are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimPlace {
    /// Those that name a thing.
    Around(EntityId),
    /// Those of a project.
    In(Namespace),
}

/// A claim, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimRow {
    pub fact: FactKey,
    /// What kind of fact it is.
    pub relation: Relation,
    /// Since when it is said to be true.
    pub at: Timestamp,
}

/// A mention, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MentionRow {
    pub entity: EntityId,
    /// When it is mentioned.
    pub at: Timestamp,
}
