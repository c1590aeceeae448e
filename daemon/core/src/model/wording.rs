//! Fixed phrases of summaries, such as those for missing values and for the sources of statements.
//!
//! The code that writes summaries uses these phrases, and the code that reads summaries recognises
//! them.

/// The cause, fix or reason is not known.
pub const NOT_STATED: &str = "not stated";
/// The reason for a decision is not known.
pub const NO_REASON: &str = "Reason not stated";
/// The session does not show that an error is gone.
pub const NOT_VERIFIED: &str = "not verified in the session";
/// Stands in place of the verification of a fix if the only source for the fix is the recap that
/// the agent wrote when its context was compacted.
pub const FROM_RECAP: &str = "as the agent's own recap tells it";
/// Begins the rationale of a decision for the approach of an accepted plan.
pub const PLAN: &str = "Plan: ";
/// Ends a rationale that states only that the user decided, as in [`CHOSEN`].
pub const BY_THE_USER: &str = "by the user";
/// The user chose one of several options.
pub const CHOSEN: &str = "Chosen by the user";
/// The beginning of a decision by which the user drops a request.
pub const DROPPED: &str = "Dropped: ";
/// Begins the rationale of a decision that quotes the user.
pub const USERS_WORDS: &str = "The user's words";
/// The new value of a removed setting.
pub const REMOVED: &str = "(removed)";
/// Ends the path of a file that the session deleted.
pub const DELETED: &str = " (deleted)";

/// In the state of the repository: files are not committed.
pub const NOT_COMMITTED: &str = "not committed";
/// In the state of the repository: commits are not pushed. The distance from the upstream may
/// follow in brackets.
pub const NOT_PUSHED: &str = "not pushed";
/// Begins the completed task that lists the changes of databases, clusters and other systems.
pub const CHANGED_OUTSIDE: &str = "Changed outside of the repository: ";
/// In the state of the repository: the last commit is not pushed. The number of commits since the
/// last push may follow in brackets.
pub const LAST_COMMIT_NOT_PUSHED: &str = "last commit not pushed";
/// In the state of the repository: begins the list of the checks that passed.
pub const CHECKS_PASSED: &str = "checks passed";
/// Begins the list of the checks that passed only before the last change of a file.
pub const BEFORE_LAST_CHANGE: &str = "before the last change: ";
/// Begins the list of the checks that failed.
pub const CHECKS_FAILED: &str = "failed: ";
/// Begins the failed checks of the forge for one pull request. The number of the request follows.
pub const CHECKS_OF_PULL_REQUEST: &str = "checks of PR #";

/// Separates the last words of a session from the text of an earlier report.
pub const BEFORE_THAT: &str = " Before that: ";
/// Begins the step about the user's last request, if no reply followed it. One of
/// [`REQUEST_STATES`], a colon and the request follow.
pub const ASKED_LAST: &str = "Asked last, ";
/// Begins the step about findings of a review that no later work fixed.
pub const NOT_FIXED: &str = "Not fixed in this session: ";
/// Begins a discovery that quotes a problem that the user reported.
pub const USER_REPORTED: &str = "User reported: ";
/// Begins a discovery that the agent noted in its own memory for later sessions.
pub const REMEMBERED: &str = "Noted in the agent's memory: ";
/// Begins a step that a report suggests and that was not done.
pub const SUGGESTED: &str = "Suggested, not done: ";
/// In the state of the repository: files were changed, and no tests ran.
pub const NO_TEST_RUN: &str = "no test run seen";
/// Follows [`CHOSEN`] if the user changed the chosen option in their answer.
pub const AND_CHANGED: &str = " and changed: ";
/// The states of a last request without a reply: nothing was done, or work was not reported.
pub const REQUEST_STATES: [&str; 2] = ["not answered", "worked on, not reported"];

/// Begins the last words if the agent changed something afterwards and wrote nothing about it.
pub const BEFORE_THE_CHANGE: &str = "Before the last change: ";

/// Begins a cause that the agent stated before it changed the files.
pub const CAUSE_BEFORE_CHANGE: &str = "Before the change: ";

/// Ends a statement about a test command that succeeded but ran no tests.
pub const RAN_NO_TESTS: &str = " found no tests, although it ended without an error";

/// Begins a preference of the user for all projects.
pub const EVERYWHERE: &str = "Everywhere: ";
/// Begins the words with which the user withdrew a preference.
pub const WITHDRAWN: &str = "Withdrawn: ";

/// Whether a text is about a command that failed and worked in another form: `` `a` failed (why);
/// `b` worked``.
pub fn is_retry(text: &str) -> bool {
    retry_parts(text).is_some()
}

/// The parts of a text about a command that failed and worked in another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryParts<'t> {
    pub failed: &'t str,
    /// The error message, which may be shortened; empty if it is not known.
    pub message: &'t str,
    pub worked: &'t str,
}

/// Returns the parts of a text for which [`is_retry`] returns true.
pub fn retry_parts(text: &str) -> Option<RetryParts<'_>> {
    let (failed, rest) = text.strip_prefix('`')?.split_once("` failed")?;
    let (message, rest) = rest.split_once("; `")?;
    let message = message.strip_prefix(" (").and_then(|message| message.strip_suffix(')'));
    let (worked, _) = rest.split_once("` worked")?;
    Some(RetryParts { failed, message: message.unwrap_or_default(), worked })
}

/// Returns a discovery without [`REMEMBERED`], for the comparison with other texts.
pub fn without_source(discovery: &str) -> &str {
    discovery.strip_prefix(REMEMBERED).unwrap_or(discovery)
}

/// Whether a text is only a phrase for a missing value or for a source.
pub fn is_filler(text: &str) -> bool {
    [NOT_STATED, NO_REASON, NOT_VERIFIED, FROM_RECAP, USERS_WORDS].contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_about_a_retry_has_parts() {
        let text =
            "`rtk bun x` failed (error: no command (`x`); see help); `bun x` worked. It is new";
        let parts = RetryParts {
            failed: "rtk bun x",
            message: "error: no command (`x`); see help",
            worked: "bun x",
        };
        assert!(is_retry(text));
        assert_eq!(retry_parts(text), Some(parts));
        let without = retry_parts("`a` failed; `b` worked").unwrap();
        assert_eq!((without.message, without.worked), ("", "b"));
        assert_eq!(retry_parts("`a` failed"), None);
    }

    #[test]
    fn a_rationale_about_the_users_choice_ends_with_the_user() {
        assert!(CHOSEN.ends_with(BY_THE_USER));
    }
}
