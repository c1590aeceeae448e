//! Evidence of a session's work on its repository and its forge.

use serde::{Deserialize, Serialize};

use crate::model::{time::Timestamp, transcript::Origin};

/// A text that was published with a command, such as the description of a pull request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    /// The title, if there is one.
    pub title: Option<String>,
    /// The text, shortened when long.
    pub body: String,
    pub kind: PublicationKind,
    /// The position in the transcript.
    pub origin: Origin,
}

/// The kinds of a [`Publication`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PublicationKind {
    /// The description of a pull or merge request.
    PullRequest,
    /// A comment on a pull request, an issue or a review thread.
    Comment,
    /// An issue that was opened.
    Issue,
    /// The notes of a release.
    Release,
}

/// Something that happened to the repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GitEvent {
    /// The action.
    pub step: GitStep,
    /// Whether it worked.
    pub succeeded: bool,
    /// The branch that was changed, or that was checked out, where known.
    pub branch: Option<String>,
    /// The line with the error of git or the forge.
    pub error: Option<String>,
    /// The position in the transcript.
    pub origin: Origin,
    pub at: Option<Timestamp>,
}

/// The steps that determine the state in which a session leaves the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitStep {
    /// Changes were staged.
    Stage,
    /// A commit was made.
    Commit,
    /// Commits were pushed.
    Push,
    /// Another branch was checked out or created.
    Switch,
    /// A branch was merged into this one.
    Merge,
    /// Commits were rebased, also by `pull --rebase`.
    Rebase,
    /// Commits or changes were discarded (`reset`, `checkout -- file`, `restore`).
    Reset,
    /// Changes were stashed.
    Stash,
    /// A pull request was opened.
    OpenPullRequest,
    /// A pull request was merged or closed.
    ClosePullRequest,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// The abbreviated hash.
    pub hash: String,
    /// The first line of the message.
    pub subject: String,
    /// The message without its first line and trailers, cut when long.
    #[serde(default)]
    pub body: String,
    /// The position in the transcript.
    pub origin: Origin,
    #[serde(default)]
    pub at: Option<Timestamp>,
}

/// A pull request that was opened or named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PullRequest {
    /// The address.
    pub url: String,
    /// The number, when known.
    pub number: Option<u64>,
}
