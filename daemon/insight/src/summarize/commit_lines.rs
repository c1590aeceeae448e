//! Writes the commits of a session on its page.

use crate::model::summary::EnhancedSessionSummary;

/// Returns `done` without the line of its only commit, if that line has nothing but the subject and
/// the hash, and the state of the repository names the same commit.
pub(super) fn without_last_commit(
    done: &[String],
    summary: &EnhancedSessionSummary,
) -> Vec<String> {
    let state = summary.repository.as_deref().unwrap_or_default();
    let commit = |line: &str| {
        let (subject, hash) = line.strip_suffix("`)")?.split_once(" (commit `")?;
        Some(format!("last commit `{hash}` {subject}"))
    };
    let is_single = done.iter().filter(|line| line.contains(" (commit `")).count() == 1;
    let is_named = |line: &str| commit(line).is_some_and(|commit| state.contains(&commit));
    done.iter().filter(|line| !(is_single && is_named(line))).cloned().collect()
}

/// Maximum length, in bytes, of a line with several commits.
const COMMITS: usize = 320;

/// Joins successive lines that have nothing but the subject and the hash of a commit.
pub(super) fn with_joined_commits(done: Vec<String>) -> Vec<String> {
    let is_bare = |line: &str| line.ends_with("`)") && line.contains(" (commit `");
    let mut lines: Vec<String> = Vec::new();
    for line in done {
        match lines.last_mut() {
            Some(last) if is_bare(last) && is_bare(&line) && last.len() + line.len() < COMMITS => {
                last.extend(["; ", &line]);
            }
            _ => lines.push(line),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_without_a_description_share_a_line() {
        let done = ["Read it (commit `1a2b3c4`)", "Show it (commit `2b3c4d5`)", "Read the unit"];
        assert_eq!(
            with_joined_commits(done.map(str::to_owned).to_vec()),
            ["Read it (commit `1a2b3c4`); Show it (commit `2b3c4d5`)", "Read the unit"]
        );
    }
}
