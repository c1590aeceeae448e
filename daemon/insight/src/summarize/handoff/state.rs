//! Describes the state of the repository that the last session left.

use crate::{
    model::{
        summary::EnhancedSessionSummary,
        wording::{
            BEFORE_LAST_CHANGE, CHECKS_FAILED, CHECKS_OF_PULL_REQUEST, CHECKS_PASSED,
            LAST_COMMIT_NOT_PUSHED, NO_TEST_RUN, NOT_COMMITTED, NOT_PUSHED,
        },
    },
    summarize::handoff::MAX_ENTRY_CHARS,
    text::pattern,
};

/// The state of the repository at the end of a session, as far as it is about the session's work.
#[derive(Debug, Default, PartialEq)]
pub(super) struct LeftState {
    pub(super) text: Option<String>,
    /// The branch on which the session ended.
    pub(super) branch: Option<String>,
}

impl LeftState {
    /// `branches` are the branches that the agent recorded. Some agents record only the branch on
    /// which the session began.
    pub(super) fn of(summary: &EnhancedSessionSummary, branches: &[String]) -> LeftState {
        let Some(state) = summary.repository.as_deref() else { return LeftState::default() };
        let is_own = |branch: &str| branches.is_empty() || branches.iter().any(|own| own == branch);
        let branch = state.strip_prefix("branch `").and_then(|state| state.split('`').next());
        let is_known = branch.is_none_or(is_own);
        let made = pattern!(r"; last commit .*? \(on `([^`]+)`").captures(state);
        let made_on = made.as_ref().and_then(|made| made.get(1)).map(|branch| branch.as_str());
        let (text, branch) = match made_on.filter(|branch| !is_known && is_own(branch)) {
            // The other branch is a tag, or was read in another folder.
            Some(made_on) => (state.split_once("; ").map(|(_, rest)| rest), Some(made_on)),
            None if is_known || state.contains("; last commit ") => (Some(state), branch),
            // The state was read in another folder.
            None => (None, None),
        };
        LeftState { text: text.map(str::to_owned), branch: branch.map(str::to_owned) }
    }
}

/// Rewords a state of the repository as what the session saw, because others may have pushed or
/// committed since. Leaves out checks that passed, because their branch and folder are unknown.
/// With several branches (`has_one_branch` is false), leaves out the checks of pull requests, too.
/// With one branch and no test run, keeps the checks that passed, because the rest would read as if
/// nothing was checked. Adds the label `checks` to failed checks, because only the part about
/// passed checks had this label.
pub(super) fn as_seen(state: &str, has_one_branch: bool) -> String {
    let has_no_tests = has_one_branch && state.split("; ").any(|part| part == NO_TEST_RUN);
    let is_known = |part: &&str| {
        (has_no_tests || !part.starts_with(CHECKS_PASSED))
            && !part.starts_with(BEFORE_LAST_CHANGE)
            && (has_one_branch || !part.starts_with(CHECKS_OF_PULL_REQUEST))
    };
    let parts = state.split("; ").filter(is_known).map(|part| match part {
        part if part.starts_with(CHECKS_FAILED) => format!("checks {part}"),
        part if part.starts_with(NOT_PUSHED) => part.replacen(NOT_PUSHED, "no push seen", 1),
        part if part.starts_with(LAST_COMMIT_NOT_PUSHED) => {
            part.replacen(LAST_COMMIT_NOT_PUSHED, "no push of the last commit seen", 1)
        }
        part => part.replacen(&format!("{NOT_COMMITTED}: "), "changed, no commit seen: ", 1),
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// Returns the completed task about the last pull request of the session. With several branches,
/// only a task that the summarizer worded is clear.
pub(super) fn pull_request(summary: &EnhancedSessionSummary, has_one_branch: bool) -> Option<&str> {
    let is_about_it = |done: &&String| {
        done.starts_with("Pull request #")
            || has_one_branch
                && mentions_pull_request(done)
                && done.chars().count() <= MAX_ENTRY_CHARS
    };
    let done = || summary.completed_tasks.iter().flatten().rev().filter(is_about_it);
    // The verdict of a review is about a request of another person.
    let own = done().find(|done| !pattern!(r"^(?:Approved|Requested changes of) ").is_match(done));
    own.or_else(|| done().next()).map(String::as_str)
}

fn mentions_pull_request(done: &str) -> bool {
    let done = done.to_ascii_lowercase();
    let names = ["pull request", "/pull/"].iter().any(|name| done.contains(name));
    // The subject of a commit may mention another pull request.
    names && !done.contains("(commit `")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_that_may_belong_to_other_work_are_left_out() {
        let state =
            "branch `a`; checks of PR #7 that failed when last seen: `E2E`; checks passed: lint";
        assert_eq!(as_seen(state, false), "branch `a`");
        let several = "branch `a`; checks passed: build; before the last change: jest; failed: type check in api";
        assert_eq!(as_seen(several, true), "branch `a`; checks failed: type check in api");
        let untested = "branch `a`; checks passed: lint; no test run seen";
        assert_eq!(as_seen(untested, true), untested);
        assert_eq!(as_seen(untested, false), "branch `a`; no test run seen");
        let own = "branch `a`; checks of PR #7 that failed when last seen: `E2E`";
        assert_eq!(as_seen(state, true), own);
    }

    #[test]
    fn a_missing_push_is_worded_as_what_was_seen() {
        for (state, wanted) in [
            ("not pushed", "no push seen"),
            ("not pushed (1 ahead of `origin/a`)", "no push seen (1 ahead of `origin/a`)"),
            ("last commit not pushed", "no push of the last commit seen"),
        ] {
            assert_eq!(as_seen(state, true), wanted);
        }
    }

    #[test]
    fn a_state_of_a_branch_that_was_not_recorded_needs_a_commit() {
        let committed = "branch `ssh`; last commit `c2a8f3a` Fix it; not pushed";
        for (state, text, branch) in [
            ("branch `keys`; no files were changed", true, Some("keys")),
            ("branch `ssh`; no files were changed", false, None),
            (committed, true, Some("ssh")),
            ("no files were changed", true, None),
        ] {
            let summary = summary_with(state);
            let wanted = LeftState {
                text: text.then(|| state.to_owned()),
                branch: branch.map(str::to_owned),
            };
            assert_eq!(LeftState::of(&summary, &["keys".to_owned()]), wanted, "{state}");
        }
        let tagged = "branch `v0.4`; last commit `4b1db34` Sign it (on `keys`); pushed";
        let wanted = LeftState {
            text: Some("last commit `4b1db34` Sign it (on `keys`); pushed".to_owned()),
            branch: Some("keys".to_owned()),
        };
        assert_eq!(LeftState::of(&summary_with(tagged), &["keys".to_owned()]), wanted);
    }

    fn summary_with(state: &str) -> EnhancedSessionSummary {
        let text = serde_json::json!({
            "objective": "", "outcome": "completed", "repository": state
        });
        serde_json::from_value(text).unwrap()
    }
}
