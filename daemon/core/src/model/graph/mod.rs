//! Entities and facts. A fact records when it began to be true and when it ceased to be true.
//!
//! The [`Statements`] of an episode are the entities that the episode mentions, its claims, and
//! marks of events that affect claims of other episodes. An [`Entity`] and a [`Fact`] combine the
//! statements of all episodes. They are computed on request, so that the result does not depend on
//! the order in which episodes are added, replaced or deleted.

mod correction;
mod id;
mod statement;

pub use self::{
    correction::{CorrectedFact, Correction, CorrectionAuthor, Verdict},
    id::{EntityId, FactId, FactKey, Subject, fingerprint},
    statement::{Attributed, Claim, Mark, Mention, Observation, Rename, Stance, Statements, Watch},
};
use crate::model::{
    episode_id::EpisodeId, project::Namespace, time::Timestamp, transcript::Origin,
};

/// Defines an enum with a name and a number for each of its values. The numbers are on disk, so a
/// new value needs a new number.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $number:literal $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$value_doc])* $value,)* }

        impl $name {
            /// All values.
            pub const ALL: &'static [$name] = &[$($name::$value,)*];

            /// Returns the name in documents and on screen.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$value => $text,)* }
            }

            /// Returns the number on disk.
            pub const fn number(self) -> u8 {
                match self { $($name::$value => $number,)* }
            }

            /// Returns the value with this number.
            pub fn from_number(number: u8) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.number() == number)
            }

            /// Parses a name, ignoring case.
            pub fn parse(text: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.as_str().eq_ignore_ascii_case(text))
            }
        }
    };
}

named! {
    EntityKind {
        /// A directory in which sessions run.
        Project = 0 "Project",
        /// A file; its name is the path in the project.
        File = 1 "File",
        /// A function, type or module.
        Symbol = 2 "Symbol",
        /// A setting in a file.
        Setting = 3 "Setting",
        /// An MCP server, a test framework.
        Tool = 4 "Tool",
        /// Something that went wrong.
        Error = 5 "Error",
        Test = 6 "Test",
        /// Something that was decided.
        Decision = 7 "Decision",
        /// The topic of work: a commit's scope, a branch.
        Topic = 8 "Topic",
        Person = 9 "Person",
        /// A ticket or issue.
        Ticket = 10 "Ticket",
        PullRequest = 11 "PullRequest",
        /// The purpose of a session.
        Task = 12 "Task",
        /// A lasting preference of the user.
        Preference = 13 "Preference",
    }
}

named! {
    /// The kind of a fact.
    Relation {
        /// A decision.
        Decided = 0 "DECIDED",
        /// An error with its cause, its fix and the evidence that it is fixed.
        Resolved = 1 "RESOLVED",
        /// An error occurs.
        Occurs = 2 "OCCURS",
        /// The cause of a failure.
        CausedBy = 3 "CAUSED_BY",
        /// A setting has a value.
        SetTo = 4 "SET_TO",
        /// A file was changed for a task.
        ChangedFor = 5 "CHANGED_FOR",
        /// A file was renamed.
        RenamedTo = 6 "RENAMED_TO",
        /// A test fails.
        Fails = 7 "FAILS",
        /// The result of a test run.
        TestResult = 8 "TEST_RESULT",
        TaskState = 9 "TASK_STANDS",
        /// Something was done for a task.
        Did = 10 "DID",
        /// A task is not done yet.
        LeftOpen = 11 "LEFT_OPEN",
        /// A discovery.
        FoundOut = 12 "FOUND_OUT",
        /// An attempt that was abandoned.
        DeadEnd = 13 "DEAD_END",
        /// A task is about a ticket.
        Concerns = 14 "CONCERNS",
        /// A pull request that belongs to a task.
        Produced = 15 "PRODUCED",
        /// A relation between two entities, in a model's words.
        RelatesTo = 16 "RELATES_TO",
        /// The user wants something from now on.
        Prefers = 17 "PREFERS",
    }
}

named! {
    /// How certain a fact is.
    Certainty {
        /// The session only assumed the fact.
        Hypothesis = 0 "hypothesis",
        /// There is evidence for the fact: a test that passed, a command that succeeded, a file
        /// that was written, or a statement of the user.
        Verified = 1 "verified",
        /// There is evidence that the fact is not true.
        Refuted = 2 "refuted",
    }
}

impl Relation {
    /// Whether facts of this kind only repeat the history of the repository or the list of
    /// sessions. They are listed only on request.
    pub fn repeats_history(self) -> bool {
        match self {
            Relation::ChangedFor
            | Relation::RenamedTo
            | Relation::TestResult
            | Relation::TaskState
            | Relation::Did
            | Relation::Concerns
            | Relation::Produced => true,
            Relation::Decided
            | Relation::Resolved
            | Relation::Occurs
            | Relation::CausedBy
            | Relation::SetTo
            | Relation::Fails
            | Relation::LeftOpen
            | Relation::FoundOut
            | Relation::DeadEnd
            | Relation::RelatesTo
            | Relation::Prefers => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// The id; for a renamed file, the id of its latest name.
    pub id: EntityId,
    pub kind: EntityKind,
    /// The project; [`Namespace::default`] for entities that are the same in all projects.
    pub namespace: Namespace,
    /// The name in the latest session.
    pub name: String,
    /// The other names.
    pub aliases: Vec<String>,
    /// When the entity was first mentioned.
    pub first_at: Timestamp,
    /// When the entity was last mentioned.
    pub last_at: Timestamp,
    /// When the first episode that mentions the entity was created.
    pub created_at: Timestamp,
    /// Number of episodes that mention the entity.
    pub episodes: usize,
}

/// A statement that is true from one time to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub id: FactId,
    /// The project of the fact.
    pub namespace: Namespace,
    pub relation: Relation,
    /// The subject of the relation.
    pub source: EntityId,
    /// The object of the relation.
    pub target: EntityId,
    /// The other entities in the fact.
    pub others: Vec<EntityId>,
    /// The fact in words, from the latest session.
    pub sentence: String,
    /// How certain the fact is.
    pub certainty: Certainty,
    /// The time from which the fact is true.
    pub valid_at: Timestamp,
    /// When the fact ceased to be true.
    pub invalid_at: Option<Timestamp>,
    /// When the fact was first stored on this machine.
    pub created_at: Timestamp,
    /// When the end of the fact was stored on this machine.
    pub expired_at: Option<Timestamp>,
    /// The episodes that state the fact, the earliest session first.
    pub episodes: Vec<EpisodeId>,
    /// The transcript lines from which the fact was read.
    pub origins: Vec<(EpisodeId, Origin)>,
    /// Attributes by name: an error's cause, a setting's value.
    pub details: Vec<(String, String)>,
}

impl Fact {
    /// Whether the fact was true at `time`.
    pub fn holds_at(&self, time: Timestamp) -> bool {
        self.valid_at <= time && self.invalid_at.is_none_or(|end| time < end)
    }
}

/// Identifies an entity or a fact where both can occur, for example in a search index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntityOrFact {
    Entity(EntityId),
    /// A fact in all periods in which it held.
    Fact(FactKey),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_entities_have_equal_ids() {
        let here = Namespace::from_number(1);
        let id = EntityId::of(EntityKind::File, here, "src/main.rs");
        assert_eq!(id, EntityId::of(EntityKind::File, here, "src/main.rs"));
        for other in [
            EntityId::of(EntityKind::File, here, "src/lib.rs"),
            EntityId::of(EntityKind::Topic, here, "src/main.rs"),
            EntityId::of(EntityKind::File, Namespace::from_number(2), "src/main.rs"),
        ] {
            assert_ne!(id, other);
        }
        assert_eq!(EntityId::parse(&id.to_string()), Some(id));
    }

    #[test]
    fn a_fact_has_an_id_for_each_span_and_one_key() {
        let end = EntityId::of(EntityKind::File, Namespace::default(), "a");
        let key = FactKey::of(Relation::SetTo, end, end, "1");
        assert_eq!(key.in_span(0).key(), key);
        assert_eq!(key.in_span(3).key(), key);
        assert_ne!(key.in_span(0), key.in_span(3));
        assert_eq!(FactId::parse(&key.in_span(3).to_string()), Some(key.in_span(3)));
    }

    #[test]
    fn names_and_numbers_are_read_back() {
        for kind in EntityKind::ALL {
            assert_eq!(EntityKind::from_number(kind.number()), Some(*kind));
            assert_eq!(EntityKind::parse(&kind.as_str().to_lowercase()), Some(*kind));
        }
        assert_eq!(Relation::from_number(200), None);
    }
}
