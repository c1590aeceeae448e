//! Looks for traces of a repository in a session, and lists its changed files.

use crate::{
    model::evidence::Evidence, summarize::from_evidence::repository::branch, text::pattern,
};

/// Maximum number of uncommitted files that are listed by name.
const UNCOMMITTED: usize = 4;

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

/// Lists the first files by name, and adds the number of the others.
pub(super) fn file_list(files: &[&str]) -> String {
    let named: Vec<String> =
        files.iter().take(UNCOMMITTED).map(|file| format!("`{file}`")).collect();
    let more = files.len().saturating_sub(UNCOMMITTED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", named.join(", "))
}
