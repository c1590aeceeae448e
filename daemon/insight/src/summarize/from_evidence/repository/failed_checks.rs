//! Describes the checks of the forge that failed.

use crate::model::{
    evidence::{Evidence, ForgeChecks, GitStep, GitView},
    wording::CHECKS_OF_PULL_REQUEST,
};

/// Maximum number of failed checks that are listed by name.
const CHECKS: usize = 3;
/// Maximum number of failed tests that are listed with the failed checks.
const TESTS: usize = 2;

/// Returns a phrase with the checks of the forge that failed when they were last seen.
pub(crate) fn failed_checks(evidence: &Evidence) -> Option<String> {
    let seen = evidence.checkout.checks.as_ref()?;
    let failed = &seen.value.failed;
    let is_closed =
        seen.value.pull_request.is_some_and(|number| evidence.checkout.closed.contains(&number));
    if failed.is_empty() || is_closed {
        return None;
    }
    let named: Vec<String> = failed.iter().take(CHECKS).map(|name| format!("`{name}`")).collect();
    let more = failed.len().saturating_sub(CHECKS);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    // `a.spec.ts:2:3 › Login › Bob sees it` becomes `Bob sees it`.
    let tests = seen.value.tests.iter().map(|test| test.rsplit(" › ").next().unwrap_or(test));
    let tests: Vec<&str> = tests.take(TESTS).collect();
    let tests = if tests.is_empty() { String::new() } else { format!(" ({})", tests.join("; ")) };
    // If there are several pull requests, the last push may have been to another branch.
    let number = seen.value.pull_request;
    let is_only = evidence.pull_requests.len() <= 1;
    let age =
        if is_only && is_pushed_since(evidence, seen) { ", before the last push" } else { "" };
    let checks =
        number.map_or("checks".to_owned(), |number| format!("{CHECKS_OF_PULL_REQUEST}{number}"));
    Some(format!("{checks} that failed when last seen{age}: {}{more}{tests}", named.join(", ")))
}

fn is_pushed_since(evidence: &Evidence, seen: &GitView<ForgeChecks>) -> bool {
    evidence.git_events.iter().any(|event| {
        event.step == GitStep::Push
            && event.succeeded
            && event.origin.is_after(event.at, seen.origin, seen.at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{time::Timestamp, transcript::Outcome},
        summarize::evidence::scenarios::Script,
    };

    #[test]
    fn failed_checks_are_listed_with_their_age() {
        let mut script = Script::default();
        script.prompt("Mend the browser tests");
        script.run(
            "a",
            "gh pr checks 7 2>&1 | head",
            Outcome::Failed(Some(1)),
            "E2E\tfail\t3m\thttps://x.org\nBuild\tpass\t47s\thttps://x.org\n",
        );
        let failed = |script: &Script| failed_checks(&script.collect());
        let mut closed = script.collect();
        closed.checkout.closed.push(7);
        assert_eq!(failed_checks(&closed), None);
        assert_eq!(failed(&script).unwrap(), "checks of PR #7 that failed when last seen: `E2E`");
        let pushed = "To https://x.org/a\n   1a2b3c4..5d6e7f8  fix -> fix\n";
        script.run("b", "git push", Outcome::Succeeded, pushed);
        assert_eq!(
            failed(&script).unwrap(),
            "checks of PR #7 that failed when last seen, before the last push: `E2E`"
        );
        let mut evidence = script.collect();
        let push = evidence.git_events.last_mut().unwrap();
        (push.origin.source, push.at) = (1, Some(Timestamp::default()));
        assert_eq!(
            failed_checks(&evidence).unwrap(),
            "checks of PR #7 that failed when last seen: `E2E`",
            "a sub-agent pushed before the checks were seen"
        );
        script.run(
            "log",
            "gh run view 12 --log-failed | tail -80",
            Outcome::Succeeded,
            "E2E\tRun\t2026-02-22T01:41:26.49Z   1 failed\nE2E\tRun\t2026-02-22T01:41:26.49Z     [x] › a.spec.ts:2:3 › 4.2 Bob sees it\nE2E\tRun\t2026-02-22T01:41:26.49Z   80 passed (1.9m)\n",
        );
        assert_eq!(
            failed(&script).unwrap(),
            "checks of PR #7 that failed when last seen: `E2E` (4.2 Bob sees it)"
        );
        script.run("c", "gh pr checks 7", Outcome::Succeeded, "E2E\tpass\t3m\thttps://x.org\n");
        assert_eq!(failed(&script), None);
    }
}
