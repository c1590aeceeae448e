//! Evidence of open work: notes in files, and tickets.

use serde::{Deserialize, Serialize};

use crate::model::transcript::Origin;

/// A file with open work, such as a todo list or a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkNote {
    /// The file.
    pub path: String,
    /// Whether the file contains planned or postponed work.
    pub purpose: NotePurpose,
    /// The text, shortened when long.
    pub text: String,
    /// The position where the file was written.
    pub origin: Origin,
}

/// The purpose of a [`WorkNote`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotePurpose {
    /// Work for later.
    Todo,
    /// The steps of work that begins next.
    Plan,
}

/// A ticket of an issue tracker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// The id: `ABC-12`.
    pub key: String,
    pub title: String,
    /// The description, shortened when long.
    pub description: String,
}
