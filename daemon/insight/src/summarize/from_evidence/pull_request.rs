//! Finds the pull request that the session continued.

use crate::{
    model::evidence::{Evidence, GitStep},
    summarize::text::pattern,
};

/// Returns the number of an earlier pull request for the work on `branch`: the only one that the
/// session's commands name, if the session pushed and opened none.
pub(super) fn of_branch(evidence: &Evidence, branch: &str) -> Option<String> {
    let has_pushed =
        evidence.git_events.iter().any(|event| event.step == GitStep::Push && event.succeeded);
    if matches!(branch, "main" | "master" | "develop" | "trunk")
        || !has_pushed
        || !evidence.pull_requests.is_empty()
    {
        return None;
    }
    let named = pattern!(
        r"\bgh (?:pr (?:checks|view|merge|edit|ready|comment) #?|api \S*/pulls/)([0-9]+)\b"
    );
    let own = evidence.commands.iter().filter(|run| run.origin.source == 0);
    let mut numbers = own.filter_map(|run| Some(named.captures(&run.command)?[1].to_owned()));
    let first = numbers.next()?;
    numbers.all(|number| number == first).then_some(first)
}
