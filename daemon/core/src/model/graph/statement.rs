//! What one episode says, in the form in which it is kept.

use crate::model::{
    episode::EpisodeId,
    graph::{Certainty, EntityId, EntityKind, FactKey, Relation, Subject},
    project::Namespace,
    time::Timestamp,
    transcript::Origin,
};

/// All that one episode says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statements {
    /// When the episode was made.
    pub created_at: Timestamp,
    /// Things that it mentions, each once.
    pub mentions: Vec<Mention>,
    /// What it claims.
    pub claims: Vec<Claim>,
    /// What happened that bears on claims.
    pub marks: Vec<Mark>,
    /// Files that were renamed.
    pub renames: Vec<Rename>,
}

/// A thing is mentioned.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// The thing.
    pub entity: EntityId,
    /// What it is.
    pub kind: EntityKind,
    /// Its project; [`Namespace::default`] for what is the same in all projects.
    pub namespace: Namespace,
    /// What it is called.
    pub name: String,
    /// When it was last mentioned.
    pub at: Timestamp,
}

/// Something is said to be true from some time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What is said.
    pub key: FactKey,
    /// The project that it is said of.
    pub namespace: Namespace,
    /// What kind of fact it is.
    pub relation: Relation,
    /// What it is about.
    pub source: EntityId,
    /// What that stands in relation to.
    pub target: EntityId,
    /// Whatever else it names.
    pub others: Vec<EntityId>,
    /// The same in words.
    pub sentence: String,
    /// Since when.
    pub at: Timestamp,
    /// How sure the session was.
    pub certainty: Certainty,
    /// What can end or confirm it.
    pub watches: Vec<Watch>,
    /// Where in the transcript it was read.
    pub origins: Vec<Origin>,
    /// What belongs to it by name.
    pub details: Vec<(String, String)>,
}

impl Claim {
    /// The things that it names, each once.
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
    /// What it is about.
    pub subject: Subject,
    /// When.
    pub at: Timestamp,
    /// What.
    pub says: Observation,
}

/// What a [`Mark`] says. Texts are fingerprints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// It has this value from now on.
    Value(u64),
    /// The error was seen.
    Seen,
    /// The error went away.
    Solved,
    /// The command, or all tests, succeeded.
    Succeeded,
    /// Tests were run.
    Ran {
        /// The command.
        command: u64,
        /// How many tests.
        total: u32,
        /// Those that failed.
        failed: Vec<u64>,
    },
    /// It was chosen, in a decision about these words.
    Chosen(Vec<u64>),
    /// Something else was chosen instead, in a decision about these words.
    PassedOver(Vec<u64>),
}

/// How a claim takes what is marked of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The subject.
    pub subject: Subject,
    /// How.
    pub stance: Stance,
}

/// How a claim takes a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stance {
    /// Another value ends it.
    Value(u64),
    /// That the error is seen again ends it.
    Gone,
    /// That the error is solved, or its command succeeds, ends it.
    Broken,
    /// A run of the tests that holds this one and does not see it fail ends it.
    Fails {
        /// The test.
        test: u64,
        /// The command that it failed in.
        command: u64,
        /// How many tests that ran.
        total: u32,
    },
    /// That it is passed over in a decision about the same ends it.
    Chosen(Vec<u64>),
    /// That it is chosen in a decision about the same ends it.
    PassedOver(Vec<u64>),
    /// Success confirms it.
    Supposed,
}

/// A file got another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rename {
    /// Its name before.
    pub from: EntityId,
    /// Its name after.
    pub to: EntityId,
    /// When.
    pub at: Timestamp,
}

/// Something that an episode says, and which.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributed<T> {
    /// The episode.
    pub episode: EpisodeId,
    /// When it was made.
    pub created_at: Timestamp,
    /// What it says.
    pub what: T,
}
