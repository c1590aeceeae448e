//! What was accomplished: pull requests, commits, tasks, and what the agent reports as done.

use crate::{
    model::{
        evidence::{Evidence, FileWork},
        transcript::{Outcome, TaskState},
    },
    summarize::{
        from_evidence::{
            entries::{ENTRY, Entries, cut_at_clause, push},
            overtaken,
            wording::begins_as_order,
        },
        report::{Claim, Report, Topic, passages},
        text::{cut, one_line, pattern},
    },
};

/// Entries at most.
const ENTRIES: usize = 18;
/// Commits listed from the beginning and from the end.
const COMMITS: (usize, usize) = (3, 7);
/// Tasks are named up to this number of entries: reports and commits tell the same better.
const TASKS: usize = 8;
/// Entries taken from one report.
const OF_A_REPORT: usize = 7;
/// Characters of a commit's body.
const POINT: usize = 320;

/// What was accomplished, what lasts longest first.
pub(super) fn completed_tasks(entries: &Entries<'_>) -> Vec<String> {
    let evidence = entries.evidence;
    let mut list: Vec<String> = Vec::new();
    pull_requests(evidence, &mut list);
    commits(entries, &mut list);
    if can_have_changed(evidence) {
        reported(entries, &mut list);
    }
    let done = evidence.tasks.iter().filter(|task| task.state == TaskState::Completed);
    let (work, steps): (Vec<_>, Vec<_>) = done.partition(|task| !is_step(&task.subject));
    // Of too many, the first ones and the latest: what lies between led to them.
    let room = TASKS.saturating_sub(list.len());
    let left_out = room / 3..(room / 3 + work.len().saturating_sub(room));
    for (at, task) in work.into_iter().enumerate() {
        if !left_out.contains(&at) {
            push(&mut list, entries.tidy(&task.subject));
        }
    }
    if list.is_empty() {
        steps.into_iter().for_each(|task| push(&mut list, entries.tidy(&task.subject)));
    }
    if list.is_empty() {
        let handed =
            evidence.delegations.iter().filter(|one| one.outcome == Some(Outcome::Succeeded));
        for delegation in handed {
            push(&mut list, entries.tidy(&format!("Delegated: {}", delegation.subject)));
        }
    }
    if list.is_empty() && evidence.files.values().any(FileWork::changed) {
        list.extend(entries.first_words());
    }
    list.truncate(ENTRIES);
    list
}

/// What reports of turns that changed something list: under headings of their own, or as done.
fn reported(entries: &Entries<'_>, list: &mut Vec<String>) {
    for report in entries.reports.reports.iter().filter(|report| report.changed) {
        let mut taken = 0;
        for claim in report.claims.iter().filter(|claim| is_deed(entries, report, claim)) {
            if taken < OF_A_REPORT
                && let Some(line) = entries.claim(claim)
            {
                push(list, line);
                taken += 1;
            }
        }
    }
}

/// Whether a claim tells something that was done and still holds.
fn is_deed(entries: &Entries<'_>, report: &Report, claim: &Claim) -> bool {
    let is_done = matches!(claim.topic, Some(Topic::Done | Topic::Fix))
        || (claim.topic.is_none() && claim.listed && !claim.nested);
    if !is_done
        || is_corrected(entries, claim)
        || overtaken::is_gone(entries, &claim.text, claim.origin)
    {
        return false;
    }
    let repeats_commit = !entries.evidence.commits.is_empty()
        && pattern!(r"(?i)^(?:committed|pushed|done|fixed and pushed|all \d+ tests)\b")
            .is_match(&claim.text);
    let is_option = report.asks && begins_as_order(&claim.text);
    !repeats_commit && !is_option
}

/// Whether the user quoted the claim in a later prompt: people paste what is to be otherwise.
fn is_corrected(entries: &Entries<'_>, claim: &Claim) -> bool {
    let mut later =
        entries.evidence.prompts.iter().filter(|prompt| prompt.origin.line > claim.origin.line);
    // A terminal shows the text without its back quotes, and so it is pasted.
    let plain = |text: &str| one_line(text).replace('`', "");
    let claimed = plain(&claim.text);
    claimed.len() >= 20 && later.any(|prompt| plain(&prompt.text).contains(&claimed))
}

/// Whether the session changed anything that it shows: else what sounds like a deed is a
/// description of what others did.
fn can_have_changed(evidence: &Evidence) -> bool {
    evidence.files.values().any(FileWork::changed)
        || !evidence.commits.is_empty()
        || evidence.tools.keys().any(|tool| tool.starts_with("mcp__"))
}

fn pull_requests(evidence: &Evidence, list: &mut Vec<String>) {
    // One that was only looked at was not accomplished here.
    if evidence.commits.is_empty() && !evidence.files.values().any(FileWork::changed) {
        return;
    }
    for request in &evidence.pull_requests {
        let number = request.number.map_or(String::new(), |number| format!(" #{number}"));
        push(list, format!("Pull request{number}: {}", request.url));
    }
}

/// Commits; of many, the first ones and the latest.
fn commits(entries: &Entries<'_>, list: &mut Vec<String>) {
    let commits = &entries.evidence.commits;
    let left_out = COMMITS.0..commits.len().saturating_sub(COMMITS.1).max(COMMITS.0);
    for (at, commit) in commits.iter().enumerate() {
        if left_out.contains(&at) {
            continue;
        }
        let hash = if commit.hash.is_empty() {
            String::new()
        } else {
            format!(" (commit `{}`)", commit.hash)
        };
        let subject = cut(&entries.tidy_line(&commit.subject), ENTRY);
        let point = point(&commit.body)
            .map_or(String::new(), |point| format!(": {}", entries.tidy_line(&point)));
        push(list, format!("{subject}{hash}{point}"));
    }
}

/// The first sentences of a commit's body.
fn point(body: &str) -> Option<String> {
    let passages = passages(body);
    let texts: Vec<&str> = passages.iter().take(4).map(|passage| passage.text.as_str()).collect();
    let line = texts.join(" ");
    (line.len() >= 20).then(|| cut_at_clause(&line, POINT))
}

/// A step of the way rather than a result.
fn is_step(subject: &str) -> bool {
    pattern!(r"(?i)^(?:run|verify|check|navigate|discover|offer|user|read|explore|investigate|look|understand|examine|analy[sz]e|search|find|locate|identify|review|test that|confirm|gather|ask|clarify|propose|present|mark|commit|push|plan|study|inspect|discuss|get|fetch)\b")
        .is_match(subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        evidence::{Commit, PullRequest, TurnReport},
        transcript::{Origin, Task},
    };
    use crate::summarize::report::Reports;

    fn completed(evidence: &Evidence) -> Vec<String> {
        completed_tasks(&Entries { evidence, reports: &Reports::of(evidence), project: None })
    }

    #[test]
    fn results_come_before_reports_and_steps_are_none() {
        let task =
            |subject: &str, state| Task { key: String::new(), subject: subject.to_owned(), state };
        let mut evidence = Evidence {
            commits: vec![Commit {
                body: String::new(),
                at: None,
                hash: "1a2b3c4".to_owned(),
                subject: "Fix the date parser".to_owned(),
                origin: Origin::default(),
            }],
            pull_requests: vec![PullRequest {
                url: "https://x/pull/7".to_owned(),
                number: Some(7),
            }],
            tasks: vec![
                task("Run the tests", TaskState::Completed),
                task("Add a test for leap days", TaskState::Completed),
                task("Fix date parser", TaskState::Completed),
                task("Update the docs", TaskState::Pending),
            ],
            ..Evidence::default()
        };
        evidence.reports = vec![TurnReport {
            text: "Replaced the old table of months. Run the tests again.".to_owned(),
            changed: true,
            ..TurnReport::default()
        }];
        assert_eq!(
            completed(&evidence),
            [
                "Pull request #7: https://x/pull/7",
                "Fix the date parser (commit `1a2b3c4`)",
                "Replaced the old table of months",
                "Add a test for leap days",
            ]
        );
    }

    #[test]
    fn steps_count_when_there_is_nothing_else() {
        let tasks = vec![Task {
            key: String::new(),
            subject: "Explore the cache".to_owned(),
            state: TaskState::Completed,
        }];
        assert_eq!(completed(&Evidence { tasks, ..Evidence::default() }), ["Explore the cache"]);
    }
}
