//! How a session ended: the agent's last words, and the state of the repository.

use crate::{
    model::evidence::{Evidence, GitEvent, GitStep},
    summarize::{
        from_evidence::entries::{Entries, is_scratch},
        text::cut,
    },
};

/// Characters of the last words.
const LAST_WORDS: usize = 400;
/// Files named as not committed.
const UNCOMMITTED: usize = 4;

/// The lead of the last report, and of the one before it that says more where the last says little.
pub(super) fn last_words(entries: &Entries<'_>) -> Option<String> {
    let reports = &entries.reports.reports;
    let last = reports.last()?;
    let lead = last.lead.as_ref().map(|lead| cut(&entries.tidy_line(lead), LAST_WORDS));
    let lead = lead.map(|lead| lead.trim_end_matches(':').to_owned());
    if last.has_substance() {
        return lead;
    }
    let before = reports
        .iter()
        .rev()
        .skip(1)
        .take(2)
        .find(|report| report.changed && report.has_substance());
    let before = before.and_then(|report| report.lead.as_ref());
    let before = before.map(|lead| cut(entries.tidy_line(lead).trim_end_matches(':'), LAST_WORDS));
    match (lead, before) {
        (Some(lead), Some(before)) => Some(format!("{lead} Before that: {before}")),
        (lead, before) => lead.or(before),
    }
}

/// The state of the repository in one line: branch, last commit, pushed or not, what is not
/// committed. `None` where the session did nothing to it.
pub(super) fn repository(entries: &Entries<'_>) -> Option<String> {
    let evidence = entries.evidence;
    let mut parts = Vec::new();
    if let Some(commit) = evidence.commits.last() {
        let hash =
            if commit.hash.is_empty() { String::new() } else { format!("`{}` ", commit.hash) };
        let on = other_branch(evidence).map_or(String::new(), |on| format!(" (on `{on}`)"));
        parts.push(format!("last commit {hash}{}{on}", entries.tidy_line(&commit.subject)));
    }
    if other_branch(evidence).is_none() {
        parts.extend(pushed(evidence));
    }
    parts.extend(uncommitted(entries));
    if parts.is_empty() {
        return None;
    }
    if let Some(branch) = branch(evidence) {
        parts.insert(0, format!("branch `{branch}`"));
    }
    Some(parts.join("; "))
}

/// The branch that the last commit was made on, where it is another one than the present.
fn other_branch(evidence: &Evidence) -> Option<&str> {
    let last = evidence.commits.last()?;
    let made = evidence
        .git_events
        .iter()
        .rev()
        .find(|event| event.step == GitStep::Commit && event.succeeded);
    let on = made.filter(|event| event.origin == last.origin)?.branch.as_deref()?;
    branch(evidence).filter(|present| *present != on).map(|_| on)
}

fn branch(evidence: &Evidence) -> Option<&str> {
    let noted = evidence.git_events.iter().rev().find_map(|event| event.branch.as_deref());
    noted
        .or(evidence.branches.last().map(String::as_str))
        .filter(|branch| !branch.is_empty() && *branch != "HEAD")
}

/// Whether the commits of the session were pushed.
fn pushed(evidence: &Evidence) -> Option<String> {
    let last = |step: GitStep| evidence.git_events.iter().rev().find(|event| event.step == step);
    let committed = evidence.commits.last().map(|commit| commit.origin);
    let Some(push) = last(GitStep::Push) else {
        return committed.map(|_| "not pushed".to_owned());
    };
    if !push.succeeded {
        return Some(failed("push", push));
    }
    let is_behind =
        committed.is_some_and(|commit| commit.source == push.origin.source && commit > push.origin);
    Some(if is_behind { "last commit not pushed".to_owned() } else { "pushed".to_owned() })
}

/// What was changed after the last commit, or a commit that failed.
fn uncommitted(entries: &Entries<'_>) -> Option<String> {
    let evidence = entries.evidence;
    let tried = evidence.git_events.iter().rev().find(|event| event.step == GitStep::Commit);
    if let Some(event) = tried.filter(|event| !event.succeeded) {
        return Some(failed("commit", event));
    }
    let committed = evidence.commits.last().map(|commit| commit.origin);
    let changed = evidence.files.iter().filter(|(path, work)| {
        let is_later =
            committed.is_none_or(|commit| commit.source == work.last.source && work.last > commit);
        work.changed() && is_later && !is_scratch(path)
    });
    let files: Vec<&str> = changed.map(|(path, _)| entries.path(path)).collect();
    if files.is_empty() {
        return None;
    }
    let named: Vec<String> =
        files.iter().take(UNCOMMITTED).map(|file| format!("`{file}`")).collect();
    let more = files.len().saturating_sub(UNCOMMITTED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(format!("not committed: {}{more}", named.join(", ")))
}

fn failed(what: &str, event: &GitEvent) -> String {
    let why = event.error.as_deref().map_or(String::new(), |error| format!(" ({error})"));
    format!("the last {what} failed{why}")
}
