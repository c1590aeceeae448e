//! The statements of one episode, as they are stored.

use crate::model::{
    episode_id::EpisodeId,
    graph::{Certainty, EntityId, EntityKind, FactKey, Relation, Subject},
    project::Namespace,
    time::Timestamp,
    transcript::Origin,
};

/// All that one episode says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statements {
    /// When the episode was created.
    pub created_at: Timestamp,
    /// The entities that it mentions, each once.
    pub mentions: Vec<Mention>,
    pub claims: Vec<Claim>,
    /// Events that affect claims.
    pub marks: Vec<Mark>,
    /// Files that were renamed.
    pub renames: Vec<Rename>,
}

/// The mention of an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    pub entity: EntityId,
    pub kind: EntityKind,
    /// Its project; [`Namespace::default`] for entities that are the same in all projects.
    pub namespace: Namespace,
    pub name: String,
    /// When it was last mentioned.
    pub at: Timestamp,
}

/// A claim that something is true from some time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The content of the claim.
    pub key: FactKey,
    /// The project of the claim.
    pub namespace: Namespace,
    /// The kind of fact.
    pub relation: Relation,
    /// The subject of the relation.
    pub source: EntityId,
    /// The object of the relation.
    pub target: EntityId,
    /// The other entities that it names.
    pub others: Vec<EntityId>,
    /// The claim in words.
    pub sentence: String,
    /// Since when.
    pub at: Timestamp,
    /// How sure the session was.
    pub certainty: Certainty,
    /// How later marks end or confirm it.
    pub watches: Vec<Watch>,
    /// The positions of its sources in the transcript.
    pub origins: Vec<Origin>,
    /// Attributes by name.
    pub details: Vec<(String, String)>,
}

impl Claim {
    /// Returns the entities that it names, each once.
    pub fn entities(&self) -> Vec<EntityId> {
        let mut all = vec![self.source, self.target];
        all.extend(&self.others);
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Something happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub subject: Subject,
    /// When.
    pub at: Timestamp,
    /// The event.
    pub says: Observation,
}

/// The events of a [`Mark`]. Texts are fingerprints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The subject has this value from now on.
    Value(u64),
    /// The error was seen.
    Seen,
    /// The error went away.
    Solved,
    /// The command, or all tests, succeeded.
    Succeeded,
    /// Tests were run.
    Ran {
        command: u64,
        /// How many tests.
        total: u32,
        /// The tests that failed.
        failed: Vec<u64>,
    },
    /// It was chosen, in a decision about these words.
    Chosen(Vec<u64>),
    /// Something else was chosen instead, in a decision about these words.
    PassedOver(Vec<u64>),
    /// A sentence with these words, in order of their numbers, deals with something of its kind.
    Words(Vec<u64>),
}

/// How the marks of a subject affect a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    pub subject: Subject,
    /// How.
    pub stance: Stance,
}

/// How a claim takes a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stance {
    /// Another value ends it.
    Value(u64),
    /// The error occurs again: the claim ends.
    Gone,
    /// The error is solved, or its command succeeds: the claim ends.
    Broken,
    /// A run of the tests that holds this one and does not see it fail ends it.
    Fails {
        test: u64,
        /// The command that it failed in.
        command: u64,
        /// How many tests that ran.
        total: u32,
    },
    /// It is rejected in a decision about the same subject: the claim ends.
    Chosen(Vec<u64>),
    /// It is chosen in a decision about the same subject: the claim ends.
    PassedOver(Vec<u64>),
    /// Success confirms it.
    Supposed,
    /// A sentence with most of these words ends it.
    Words(Vec<u64>),
    /// A sentence whose words are mostly among these ends it.
    NamedBy(Vec<u64>),
}

/// A file got another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The old name.
    pub from: EntityId,
    /// The new name.
    pub to: EntityId,
    /// When.
    pub at: Timestamp,
}

/// Something that an episode says, and which.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributed<T> {
    pub episode: EpisodeId,
    /// When it was made.
    pub created_at: Timestamp,
    /// The content.
    pub what: T,
}
