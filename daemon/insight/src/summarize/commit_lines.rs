//! Formats the lines about commits on the page of a session.

use crate::model::summary::EnhancedSessionSummary;

/// Returns `done` without the line of its only commit, if this line contains only the subject and
/// the hash, and the state of the repository shows this commit as the last one.
pub(super) fn without_last_commit(
    done: &[String],
    summary: &EnhancedSessionSummary,
) -> Vec<String> {
    let state = summary.repository.as_deref().unwrap_or_default();
    let is_single = done.iter().filter(|line| line.contains(" (commit `")).count() == 1;
    let is_in_state = |line: &str| {
        bare_commit(line).is_some_and(|(subject, hash)| {
            state.contains(&format!("last commit `{hash}` {subject}"))
        })
    };
    done.iter().filter(|line| !(is_single && is_in_state(line))).cloned().collect()
}

/// Returns the subject and the hash of a line that contains nothing else.
fn bare_commit(line: &str) -> Option<(&str, &str)> {
    let (subject, hash) = line.strip_suffix("`)")?.split_once(" (commit `")?;
    (!hash.contains('`')).then_some((subject, hash))
}

/// Maximum length, in bytes, of a line with several commits.
const MAX_COMMIT_LINE_BYTES: usize = 320;

/// Joins successive lines that contain only the subject and the hash of a commit.
pub(super) fn with_joined_commits(done: Vec<String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut was_bare = false;
    for line in done {
        let is_bare = bare_commit(&line).is_some();
        match lines.last_mut() {
            Some(last)
                if was_bare && is_bare && last.len() + line.len() < MAX_COMMIT_LINE_BYTES =>
            {
                last.extend(["; ", &line]);
            }
            _ => lines.push(line),
        }
        was_bare = is_bare;
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
        let described =
            ["Read it (commit `1a2b3c4`): the unit (`ms`)", "Show it (commit `2b3c4d5`)"];
        assert_eq!(with_joined_commits(described.map(str::to_owned).to_vec()), described);
    }
}
