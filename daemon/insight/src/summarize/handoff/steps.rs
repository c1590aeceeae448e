//! Decides which steps of a summary are not work for the next session.

use crate::{
    model::wording::{ASKED_LAST, SUGGESTED},
    summarize::from_evidence::PLAN_NOT_CARRIED_OUT,
    text::{lacks_number, pattern, same_words, share_of_words, task_words},
};

/// Whether a step is not work for a later session. Such steps are: unchecked boxes of a pull
/// request, tests that were changed and not run, untouched files of a plan, possible improvements,
/// and waiting.
pub(super) fn is_no_work(step: &str) -> bool {
    pattern!(
        r"(?i)^(?:unchecked in|tests were changed|planned, not changed|you.ll need to wait)|\bcan (?:add|be \w+|enhance|extend|improve)\b.*\b(?:if|later)\b"
    )
    .is_match(step)
}

/// Whether a step is an offer or a suggestion of the last report, or lists the unchecked items of a
/// plan.
pub(super) fn is_in_report(step: &str) -> bool {
    const BEGINNINGS: &[&str] = &["Offered", SUGGESTED, "Not shown as checked"];
    BEGINNINGS.iter().any(|beginning| step.starts_with(beginning))
}

/// Returns the path of the todo file in which a step is noted.
pub(super) fn note(step: &str) -> Option<&str> {
    let path = pattern!(r"(?:\(todo `|^Todo saved: `)([^`]+)`").captures(step)?.get(1)?;
    Some(path.as_str())
}

/// Whether a step no longer matters after another session has worked. Such steps are: the last
/// request, something in the last report, a plan that was not carried out, a failed or interrupted
/// call, a stash, and a routine such as a commit.
pub(super) fn is_short_lived(step: &str) -> bool {
    is_in_report(step)
        || step.starts_with(PLAN_NOT_CARRIED_OUT)
        // Summaries of older versions.
        || step.starts_with("Plan shown, not approved:")
        || step.starts_with(ASKED_LAST)
        || step.starts_with("Cut off in")
        || step.starts_with("Stashed on")
        || step.starts_with("Resolve `")
        || pattern!(r"(?i)^(?:#\d+ )?(?:run|rerun|re-run|commit|push|address|review) ").is_match(step)
        || pattern!(r"(?i)^(?:#\d+ )?(?:verify|check) ").is_match(step) && is_routine(step)
}

/// Whether a check is a routine after a change: it is about a run, a pull request or the change
/// itself.
fn is_routine(step: &str) -> bool {
    pattern!(
        r"(?i)\b(?:tests?|suite|builds?|ci|checks|pipelines?|workflows?|lint\w*|pull requests?|prs?|diff|change[sd]?|fix(?:es)?|commits?|it|that|this|them|everything|whether|if|again)\b|#\d"
    )
    .is_match(step)
}

/// Whether a completed task covers a step: the task contains most words of the step, in any
/// inflection, and no other number: `Merged PR #41` does not cover `Merge PR #42`.
pub(super) fn covers(done: &str, step: &str) -> bool {
    let asked = task_words(step);
    let is_similar = same_words(done, step)
        || asked.len() > 2 && share_of_words(&asked, &task_words(done)) >= 0.7;
    is_similar && !lacks_number(done, step)
}

/// Same as [`covers`], but the task contains almost all words of the step: `Described the PDF
/// export` does not cover `Describe the CSV export`. The verb at the beginning of the step may
/// differ.
pub(super) fn covers_whole(done: &str, step: &str) -> bool {
    let object = step.split_once(' ').map_or(step, |(_, object)| object);
    let asked = task_words(object);
    // A test, a release or the like of a thing is not done when the thing is.
    let is_further = pattern!(
        r"(?i)^(?:test|try|check|verify|deploy|release|publish|review|migrate|measure|enable|run|use|remove|delete|revert)\b"
    );
    let is_same_act = !is_further.is_match(step) || covers(done, step);
    let is_similar =
        is_same_act && asked.len() > 1 && share_of_words(&asked, &task_words(done)) >= 0.9
            || same_words(done, step) && asked.len() < 2;
    is_similar && !lacks_number(done, step)
}

/// Whether a step is about failing tests of the main suite, which the handoff lists in a separate
/// section. Failing tests of other suites are only in steps.
pub(super) fn is_about_tests(step: &str) -> bool {
    let step = step.to_ascii_lowercase();
    step.starts_with("fix ")
        && step.contains("failing test")
        && !pattern!(r"^fix \d+ failing tests? of ").is_match(&step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failing_tests_of_the_main_suite_are_listed_separately() {
        for (step, wanted) in [
            ("Fix 2 failing tests: a, b", true),
            ("Fix the failing tests", true),
            ("Fix 2 failing tests of pytest: a, b", false),
            ("Fix 1 failing test of jest", false),
            ("Fix the list of tests", false),
        ] {
            assert_eq!(is_about_tests(step), wanted, "{step}");
        }
    }

    #[test]
    fn a_task_covers_a_step_in_another_inflection_but_not_with_another_number() {
        for (done, step, wanted) in [
            ("Updated the changelog", "Update the changelog", true),
            ("Removed the old flag", "Remove the old flag", true),
            ("Renamed the signer", "Rename the signer", true),
            ("Deleted the temp files", "Delete the temp file", true),
            ("Updated the changelog", "Update the catalogue", false),
            ("Described the old flag", "Remove the old flag", false),
            ("Implemented phase 2 of the plan", "Implement phase 3 of the plan", false),
            ("Fixed issue #12", "Fix issue #13", false),
            ("Reviewed PR #41", "Review PR #42", false),
            ("Merged PR #41", "Merge PRs #41 and #42", false),
            ("Fixed issue #12", "Fix issue #12", true),
            ("Fixed issues #12 and #13", "Fix issue #12", true),
            ("Implemented phase 2 of the plan", "Implement the plan of the phase", true),
        ] {
            assert_eq!((covers(done, step), covers_whole(done, step)), (wanted, wanted), "{step}");
        }
    }

    #[test]
    fn only_checks_that_are_a_routine_are_short_lived() {
        for (step, wanted) in [
            ("Check the time zones of the scheduler", false),
            ("Verify the certificate chain on the mirror host", false),
            ("Check that the tests pass on Windows", true),
            ("Verify the build", true),
            ("Check whether it works", true),
            ("Run the linter", true),
        ] {
            assert_eq!(is_short_lived(step), wanted, "{step}");
        }
    }
}
