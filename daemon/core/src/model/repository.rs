//! Evidence of a session's work on its repository, its forge and other systems.

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
    /// Whether the action succeeded.
    pub succeeded: bool,
    /// The branch of the action, if it is known. For a merge: the branch that was merged. For a
    /// push to a branch with another name: `local:remote`, where `local` may be `HEAD`.
    pub branch: Option<String>,
    /// The line with the error, or `Everything up-to-date` for a push without commits.
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
    /// A branch was merged into the current one, also by `pull`.
    Merge,
    /// Commits were rebased, also by `pull --rebase`.
    Rebase,
    /// Commits or changes were discarded (`reset`, `checkout -- file`, `restore`).
    Reset,
    /// Changes were stashed.
    Stash,
    /// A pull request was opened.
    OpenPullRequest,
    /// A pull request was merged. Older versions, which chose the stored name, also recorded pull
    /// requests that were closed.
    #[serde(rename = "close_pull_request")]
    MergePullRequest,
    /// A pull request was closed without a merge.
    #[serde(rename = "close_unmerged_pull_request")]
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

/// A pull request that was opened or mentioned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PullRequest {
    /// The address.
    pub url: String,
    /// The number, when known.
    pub number: Option<u64>,
}

/// The state of the repository in git's latest output. People or other sessions may have changed
/// the state since then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckoutState {
    /// The branch that was checked out.
    pub branch: Option<GitView<String>>,
    /// The commit that was checked out.
    pub head: Option<GitView<HeadCommit>>,
    /// How far the branch was ahead of or behind its upstream: `2 ahead of origin/main`.
    pub upstream: Option<GitView<String>>,
    /// The files that git listed as changed.
    pub files: Option<GitView<ChangedFiles>>,
    /// The checks of the forge on a pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<GitView<ForgeChecks>>,
    /// Branches that were deleted.
    pub deleted: Vec<String>,
    /// Paths that git reported as ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// The branches of the recorded stashes that git still has, the newest last. The text is empty
    /// for a stash whose changes were applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stashes: Vec<String>,
    /// The numbers of pull requests that git or the forge showed as merged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<u64>,
    /// The numbers of the pull requests that were closed without a merge and not reopened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<u64>,
}

/// Something that git or a tool of the forge printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GitView<T> {
    pub value: T,
    /// The position in the transcript.
    pub origin: Origin,
    /// When the value was printed.
    pub at: Option<Timestamp>,
}

/// The commit at the head of a branch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeadCommit {
    /// The abbreviated hash.
    pub hash: String,
    /// The first line of the message; empty where it was not printed.
    pub subject: String,
}

/// The files that git listed as changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedFiles {
    /// Paths as git prints them; empty when the working tree is clean.
    pub paths: Vec<String>,
    /// Whether files may be missing from the list.
    pub is_part: bool,
}

/// The checks that the forge runs on a pull request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForgeChecks {
    /// The number of the pull request, if this or an earlier command contained it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<u64>,
    /// The names of the checks that failed.
    pub failed: Vec<String>,
    /// The names of the tests that failed in these checks, if the logs of the checks were printed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
}

impl CheckoutState {
    /// Merges `other`, for example the state that a sub-agent saw in the same checkout: later
    /// values replace earlier ones, and the deleted branches and the merged and closed pull
    /// requests of `other` are added.
    pub fn update(&mut self, other: &CheckoutState) {
        replace_older(&mut self.branch, other.branch.as_ref());
        replace_older(&mut self.head, other.head.as_ref());
        replace_older(&mut self.upstream, other.upstream.as_ref());
        replace_older(&mut self.files, other.files.as_ref());
        replace_older(&mut self.checks, other.checks.as_ref());
        let deleted = other.deleted.iter().filter(|name| !self.deleted.contains(name));
        let deleted: Vec<String> = deleted.cloned().collect();
        self.deleted.extend(deleted);
        let merged = other.merged.iter().filter(|number| !self.merged.contains(number));
        let merged: Vec<u64> = merged.copied().collect();
        self.merged.extend(merged);
        let closed = other.closed.iter().filter(|number| !self.closed.contains(number));
        let closed: Vec<u64> = closed.copied().collect();
        self.closed.extend(closed);
    }
}

fn replace_older<T: Clone>(known: &mut Option<GitView<T>>, other: Option<&GitView<T>>) {
    let is_later = |other: &&GitView<T>| known.as_ref().is_none_or(|known| other.at > known.at);
    if let Some(other) = other.filter(is_later) {
        *known = Some(other.clone());
    }
}

/// A successful command that changed something outside of the repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutsideChange {
    pub kind: OutsideKind,
    /// What was changed. A later change of the same object replaces this change.
    pub object: String,
    /// The command or the statement without its details, or what was done, for example `Approved
    /// pull request #12`.
    pub text: String,
    pub origin: Origin,
    pub at: Option<Timestamp>,
}

/// What a command changed outside of the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutsideKind {
    /// A system: a database, a cluster, a service, an account of a cloud provider.
    System,
    /// The verdict of a review, or an issue.
    Forge,
}
