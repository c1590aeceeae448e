//! The statements of one episode, as they are stored.

use crate::model::{
    episode_id::EpisodeId,
    graph::{Certainty, EntityId, EntityKind, FactKey, Relation, Subject},
    project::Namespace,
    time::Timestamp,
    transcript::Origin,
};

/// All statements of one episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statements {
    /// When the episode was created.
    pub created_at: Timestamp,
    /// The entities that the episode mentions, each once.
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
    /// The project; [`Namespace::default`] for entities that are the same in all projects.
    pub namespace: Namespace,
    pub name: String,
    /// When the entity was last mentioned.
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
    /// The other entities in the claim.
    pub others: Vec<EntityId>,
    /// The claim in words.
    pub sentence: String,
    /// The time from which the claim holds.
    pub at: Timestamp,
    /// How certain the claim is in the session.
    pub certainty: Certainty,
    /// How later marks end or confirm the claim.
    pub watches: Vec<Watch>,
    /// The positions in the transcript from which the claim was read.
    pub origins: Vec<Origin>,
    /// Attributes by name.
    pub details: Vec<(String, String)>,
}

impl Claim {
    /// Returns all entities in the claim, each once.
    pub fn entities(&self) -> Vec<EntityId> {
        let mut all = vec![self.source, self.target];
        all.extend(&self.others);
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// An event that affects claims about its subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub subject: Subject,
    pub at: Timestamp,
    /// The event.
    pub observation: Observation,
}

/// The events of a [`Mark`]. Texts are stored as fingerprints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The subject has this value from this time on.
    Value(u64),
    /// The error was seen.
    Seen,
    /// The error went away.
    Solved,
    /// The subject (a command, a test, all tests) succeeded, or its claims ended for another
    /// reason: a value was replaced, a note was moved, a decision was reversed.
    Succeeded,
    /// Tests were run.
    Ran {
        command: u64,
        /// Number of tests that ran; 0 if the output has no counts.
        total: u32,
        /// The tests that failed.
        failed: Vec<u64>,
    },
    /// A decision chose the subject. Contains the words of the decision outside of its options.
    Chosen(Vec<u64>),
    /// A decision chose an option other than the subject. Contains the words of the decision
    /// outside of its options.
    PassedOver(Vec<u64>),
    /// A sentence about the subject was written. These are its words, sorted by fingerprint.
    Words(Vec<u64>),
}

/// How the marks of a subject affect a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    pub subject: Subject,
    pub stance: Stance,
}

/// The reaction of a claim to marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stance {
    /// The claim states this value. Another value ends the claim.
    Value(u64),
    /// The claim ends when the error occurs again.
    Gone,
    /// The claim ends with [`Observation::Solved`] or [`Observation::Succeeded`].
    Broken,
    /// A run in which this test does not fail ends the claim, if the run has the same command or at
    /// least as many tests.
    Fails {
        test: u64,
        /// The command in which the test failed.
        command: u64,
        /// Number of tests that this command ran.
        total: u32,
    },
    /// The claim ends when a related decision rejects the chosen option. Two decisions are related
    /// if they share one of these words, or if one of them has no words.
    Chosen(Vec<u64>),
    /// The claim ends when a related decision chooses the rejected option; see [`Stance::Chosen`].
    PassedOver(Vec<u64>),
    /// A success confirms the claim.
    Supposed,
    /// A sentence with most of these words ends the claim.
    Words(Vec<u64>),
    /// A sentence ends the claim if most words of the sentence are among these words.
    NamedBy(Vec<u64>),
}

/// A renaming of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The old name.
    pub from: EntityId,
    /// The new name.
    pub to: EntityId,
    pub at: Timestamp,
}

/// A statement, and the episode that makes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributed<T> {
    pub episode: EpisodeId,
    /// When the episode was created.
    pub created_at: Timestamp,
    /// The statement.
    pub what: T,
}
