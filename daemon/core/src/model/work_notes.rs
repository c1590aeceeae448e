//! Evidence of work that is left: notes in files, and tickets.

use serde::{Deserialize, Serialize};

use crate::model::transcript::Origin;

/// A file of work that is left, such as a todo or a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkNote {
    /// The file.
    pub path: String,
    /// Whether it plans work or puts it off.
    pub purpose: NotePurpose,
    /// Its text, cut when long.
    pub text: String,
    /// Where it was written.
    pub origin: Origin,
}

/// What a [`WorkNote`] is for.
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
    /// Its id: `ABC-12`.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Its description, cut when long.
    pub description: String,
}
