//! How a session ended: the agent's last words, and the state of the repository.

use crate::{
    model::evidence::{Evidence, GitEvent, GitStep},
    summarize::{
        from_evidence::{
            done,
            entries::{Entries, cut_at_clause, is_scratch},
        },
        report::{Claim, Report, Topic, topic_of_heading},
        text::{pattern, sentences, without_full_stop},
    },
};

/// Characters of the last words.
const LAST_WORDS: usize = 400;
/// Characters of an opening that needs no items of the list behind it.
const ENOUGH: usize = 110;
/// Characters of last words that say something.
const SAYS: usize = 8;
/// Items told of that list, at most.
const ITEMS: usize = 4;
/// Files named as not committed.
const UNCOMMITTED: usize = 4;

/// What the last report comes to, and the one before it that says more where the last says little.
pub(super) fn last_words(entries: &Entries<'_>) -> Option<String> {
    let reports = &entries.reports.reports;
    let last = reports.last()?;
    let words = gist(entries, last);
    if last.has_substance() && words.is_some() {
        return words;
    }
    let before = reports
        .iter()
        .rev()
        .skip(1)
        .take(2)
        .find(|report| report.changed && report.has_substance());
    let before = before.and_then(|report| gist(entries, report));
    match (words, before) {
        (Some(words), Some(before)) => Some(format!("{words} Before that: {before}")),
        (words, before) => words.or(before),
    }
}

/// The opening of a report without what only announces; where that introduces a list, its items.
fn gist(entries: &Entries<'_>, report: &Report) -> Option<String> {
    let opening = report.opening.as_deref().unwrap_or_default();
    let first = report.claims.iter().find(|claim| claim.listed && !claim.nested);
    // A short line that ends in a colon was read as the heading of the list behind it.
    let heading = first.and_then(|claim| claim.section.as_deref());
    let heading =
        heading.filter(|text| text.split(' ').count() >= 4 && topic_of_heading(text).is_none());
    let heading = heading.map_or(String::new(), |text| format!(" {text}:"));
    let opening = entries.tidy_line(&format!("{opening}{heading}"));
    let mut told: Vec<&str> =
        sentences(&opening).into_iter().filter(|sentence| !is_announcement(sentence)).collect();
    let introduction = told.pop_if(|last| last.ends_with(':'));
    let words = cut_at_clause(&told.join(" "), LAST_WORDS);
    if words.len() >= ENOUGH || report.asks || report.proposes() {
        return (words.len() >= SAYS).then_some(words);
    }
    let listed = listed(entries, report, introduction, LAST_WORDS.saturating_sub(words.len()));
    let words = match (words.is_empty(), listed) {
        (true, listed) => listed?,
        (false, Some(listed)) => format!("{words} {listed}"),
        (false, None) => words,
    };
    (words.len() >= SAYS).then_some(words)
}

/// The items of the list that an opening introduces: what was done, or whatever the introduction
/// says that they are.
fn listed(
    entries: &Entries<'_>,
    report: &Report,
    introduction: Option<&str>,
    room: usize,
) -> Option<String> {
    let items = report.claims.iter().filter(|claim| claim.listed && !claim.nested);
    let items: Vec<&Claim> = items.collect();
    let section = items.first()?.section.as_deref();
    let is_told = |claim: &&&Claim| match introduction {
        Some(_) => claim.section.as_deref() == section && claim.topic != Some(Topic::Proposal),
        None => report.changed && done::is_deed(entries, report, claim),
    };
    let mut line = String::new();
    for item in items.iter().filter(is_told).filter_map(|claim| entries.claim(claim)).take(ITEMS) {
        let first = sentences(&item).first().copied().unwrap_or_default().to_owned();
        let first = without_full_stop(&first);
        if line.len() + first.len() > room {
            break;
        }
        line = if line.is_empty() { first.to_owned() } else { format!("{line}; {first}") };
    }
    let introduction = introduction.map_or(String::new(), |text| format!("{text} "));
    (!line.is_empty()).then(|| format!("{introduction}{line}."))
}

/// `Here's what changed:` and `Let me run the tests` say nothing about how it ended.
fn is_announcement(sentence: &str) -> bool {
    sentence.ends_with(':') && sentence.split(' ').count() < 6
        || pattern!(
            r"(?i)^(?:here(?:'s| is| are)|let me|now (?:let|i)|i'll (?:now )?(?:write|run|check|start|look|create|update|read|add)|let's|next,? i|good (?:plan|question|point)|great|perfect|excellent|done|looks good|all good|got it|sure|ok(?:ay)?|no response requested)\b(?:[^.!?]{0,12}[.!:]|[^.!?]*[.:!]$)"
        )
        .is_match(sentence)
            && !pattern!(r"(?i)\b(?:pass|passed|fixed|pushed|committed|complete|merged|wait)\b").is_match(sentence)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::evidence::TurnReport, summarize::report::Reports};

    fn words(text: &str) -> Option<String> {
        let report = TurnReport { text: text.to_owned(), changed: true, ..TurnReport::default() };
        let evidence = Evidence { reports: vec![report], ..Evidence::default() };
        last_words(&Entries {
            evidence: &evidence,
            reports: &Reports::of(&evidence),
            project: None,
        })
    }

    #[test]
    fn an_introduction_is_told_with_its_list_and_an_announcement_is_not() {
        let text = "Updated. The todo now asks for a migration with two readers of the format:\n\n- **Dual read**: old files stay readable\n- **Lazy write**: new ones carry the key\n";
        assert_eq!(
            words(text).unwrap(),
            "Updated. The todo now asks for a migration with two readers of the format: Dual read: old files stay readable; Lazy write: new ones carry the key."
        );
        let text = "All four comments are addressed. Here's what changed:\n\n- Added a guard to the list\n- the list is shorter\n";
        assert_eq!(
            words(text).unwrap(),
            "All four comments are addressed. Added a guard to the list; The list is shorter."
        );
        assert_eq!(words("Good plan. Let me write it up and present it for approval."), None);
    }
}
