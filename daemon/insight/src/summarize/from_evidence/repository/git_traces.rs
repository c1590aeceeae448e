//! Looks for traces of a repository in a session.

use crate::{
    model::evidence::Evidence, summarize::from_evidence::repository::branch, text::pattern,
};

/// Whether anything shows that the session worked in a repository: a branch, a commit, or a command
/// that uses git or a forge.
pub(super) fn has_repository(evidence: &Evidence) -> bool {
    let uses_git = |line: &str| pattern!(r"(?:^|[\s;&|(])(?:git|gh|glab|jj)\s").is_match(line);
    branch(evidence).is_some()
        || !evidence.commits.is_empty()
        || !evidence.git_events.is_empty()
        || evidence.checkout.files.is_some()
        || evidence.commands.iter().any(|run| uses_git(&run.command))
}
