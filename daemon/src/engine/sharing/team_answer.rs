//! The answers to queries of the shared graph.

use crate::{model::Timestamp, share::read::FoundFact};

/// A shared project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamGroup {
    pub group: String,
    /// The project's name.
    pub name: String,
}

/// The author of an episode or a fact in the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamAuthor {
    /// Empty when the name is not known.
    pub name: String,
    pub machine: String,
}

/// An episode of another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamEpisode {
    pub id: String,
    pub project: TeamGroup,
    pub author: TeamAuthor,
    pub agent: String,
    pub session_id: String,
    pub name: String,
    /// The summary as Markdown.
    pub content: String,
    pub at: Timestamp,
}

/// A fact of another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamFact {
    pub project: TeamGroup,
    pub author: TeamAuthor,
    pub session_id: String,
    pub fact: FoundFact,
}

/// An answer from the shared graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamAnswer<T> {
    pub rows: Vec<T>,
    /// Why rows may be missing, as a sentence.
    pub problem: Option<String>,
}

impl<T> TeamAnswer<T> {
    /// Returns an answer without rows. `problem` is the reason.
    pub(super) fn nothing(problem: impl Into<String>) -> TeamAnswer<T> {
        TeamAnswer { rows: Vec::new(), problem: Some(problem.into()) }
    }
}
