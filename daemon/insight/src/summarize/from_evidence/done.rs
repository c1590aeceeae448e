//! What was accomplished: pull requests, commits, tasks, and what the agent reports as done.

use crate::{
    model::{
        evidence::{Commit, Evidence, FileWork, PublicationKind},
        transcript::TaskState,
    },
    summarize::{
        from_evidence::{
            entries::{ENTRY, Entries, cut_at_clause, push},
            quotable::is_row_of_numbers,
            refuted, reported, transient,
        },
        report::{Form, passages},
        text::{cut, one_line, pattern, sentences, without_full_stop},
    },
};

/// Maximum number of entries. If reports have more entries, the latest are kept.
const ENTRIES: usize = 26;
/// Maximum numbers of commits that are listed from the start and from the end of the session.
const COMMITS: (usize, usize) = (4, 11);
/// Maximum number of tasks that are listed.
const TASKS: usize = 8;
/// Maximum length, in characters, of the text that is taken from a commit's body.
const POINT: usize = 560;

/// Returns what was accomplished: pull requests, then commits, then the results that reports
/// describe. Without any of these, returns the completed tasks, or else, if files were changed, the
/// first statement of the last reply.
pub(super) fn completed_tasks(entries: &Entries<'_>) -> Vec<String> {
    let evidence = entries.evidence;
    let mut list: Vec<String> = Vec::new();
    pull_requests(evidence, &mut list);
    commits(entries, &mut list);
    if can_have_changed(evidence) {
        let deeds = reported::deeds(entries);
        let extra = (list.len() + deeds.len()).saturating_sub(ENTRIES).min(deeds.len());
        deeds.into_iter().skip(extra).for_each(|line| push(&mut list, line));
    }
    // Reports and commits describe the results that tasks only announce.
    if list.is_empty() {
        tasks(entries, &mut list);
    }
    if list.is_empty() && evidence.files.values().any(FileWork::changed) {
        list.extend(entries.first_words());
    }
    list.truncate(ENTRIES);
    list
}

/// Adds the completed tasks. Mere steps towards a result are added only if there is nothing else.
fn tasks(entries: &Entries<'_>, list: &mut Vec<String>) {
    let all = entries.evidence.tasks.iter();
    let done = all.filter(|task| task.state == TaskState::Completed);
    let (work, steps): (Vec<_>, Vec<_>) = done.partition(|task| !is_step(&task.subject));
    // Of too many tasks, the first and the latest are kept.
    let room = TASKS.saturating_sub(list.len());
    let left_out = room / 3..(room / 3 + work.len().saturating_sub(room));
    for (at, task) in work.into_iter().enumerate() {
        if !left_out.contains(&at) {
            push(list, entries.tidy(&task.subject));
        }
    }
    if list.is_empty() {
        steps.into_iter().for_each(|task| push(list, entries.tidy(&task.subject)));
    }
}

/// Whether the session can have changed something. If not, a text that sounds like a result
/// describes the work of others.
fn can_have_changed(evidence: &Evidence) -> bool {
    evidence.files.values().any(FileWork::changed)
        || !evidence.commits.is_empty()
        || evidence.tools.keys().any(|tool| tool.starts_with("mcp__"))
}

/// Adds the pull requests, each with its title if that is known.
fn pull_requests(evidence: &Evidence, list: &mut Vec<String>) {
    // A session that changed nothing only looked at the pull request.
    if evidence.commits.is_empty() && !evidence.files.values().any(FileWork::changed) {
        return;
    }
    let published = evidence.publications.iter();
    let published = published.filter(|one| one.kind == PublicationKind::PullRequest);
    let titles: Vec<&str> = published.filter_map(|one| one.title.as_deref()).collect();
    let are_paired = titles.len() == evidence.pull_requests.len();
    for (at, request) in evidence.pull_requests.iter().enumerate() {
        let number = request.number.map_or(String::new(), |number| format!(" #{number}"));
        let title = titles.get(at).filter(|_| are_paired);
        let title = title.map_or(String::new(), |title| format!(" {}", one_line(title)));
        list.push(format!("Pull request{number}{title}: {}", request.url));
    }
}

/// Adds the commits that are not bookkeeping. Of many, the first and the latest are kept.
fn commits(entries: &Entries<'_>, list: &mut Vec<String>) {
    let commits = &entries.evidence.commits;
    let work: Vec<&Commit> = commits.iter().filter(|commit| !is_bookkeeping(commit)).collect();
    let spans = refuted::spans(entries.evidence);
    let left_out = COMMITS.0..work.len().saturating_sub(COMMITS.1).max(COMMITS.0);
    for (at, commit) in work.into_iter().enumerate() {
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
        if refuted::is_superseded_plan(entries.evidence, commit) {
            push(list, format!("{subject}{hash} (superseded: the plan was given up later)"));
            continue;
        }
        let failed = if refuted::did_not_fix(entries.evidence, &spans, commit) {
            " (did not fix it)"
        } else {
            ""
        };
        push(list, format!("{subject}{hash}{failed}{point}"));
    }
}

/// Whether a commit only records the state of the work: plans, status files, todo lists.
pub(super) fn is_bookkeeping(commit: &Commit) -> bool {
    pattern!(
        r"(?i)^(?:docs|chore|wip)(?:\([^)]*\))?: (?:start work on|begin |complete |completed |finish |close |capture |add todo|(?:re)?move todo|mark |record |update (?:the )?(?:state|status|progress|plan|roadmap|todo)|.{0,40}\b(?:state\.md|roadmap\.md|todos?|handoff|checkpoint)\b)|^(?:wip|checkpoint)\b"
    )
    .is_match(&commit.subject)
}

/// Returns the subject of a commit and the part of its body that the list shows.
pub(super) fn told(commit: &Commit) -> String {
    format!("{}. {}", commit.subject, point(&commit.body).unwrap_or_default())
}

/// Returns the first passages of a commit's body, up to [`POINT`] characters; `None` if they say
/// little.
fn point(body: &str) -> Option<String> {
    let mut line = String::new();
    for passage in passages(body) {
        // A table in a commit message compares or checks something and describes no change.
        if passage.form == Form::Row {
            continue;
        }
        let label = passage.label.map_or(String::new(), |label| format!("{label}: "));
        let text = format!("{label}{}", passage.text);
        let text = without_empty_words(&text);
        if text.is_empty() {
            continue;
        }
        let text = without_full_stop(&text);
        let is_listed = passage.form != Form::Paragraph;
        let joined = match (line.is_empty(), is_listed) {
            (true, _) => text.to_owned(),
            (false, true) => format!("{line}; {text}"),
            (false, false) => format!("{line}. {text}"),
        };
        if joined.chars().count() > POINT {
            let is_short = line.len() * 2 < POINT;
            line = if is_short { cut_at_clause(&joined, POINT) } else { line };
            break;
        }
        line = joined;
    }
    let line = without_full_stop(&line).to_owned();
    (line.len() >= 20).then_some(line)
}

/// Returns a passage of a commit's body without sentences that praise the commit, that give
/// numbers, or that describe what it did not change.
fn without_empty_words(passage: &str) -> String {
    let is_empty = |sentence: &&str| {
        transient::is_boast(sentence)
            || transient::claims_effect(sentence)
            || is_row_of_numbers(sentence)
            || pattern!(r"(?i)\balready (?:present|correct|configured|in place|there|handled|done)\b|^[A-Za-z0-9_ /-]{0,40}\b(?:verified|confirmed):")
                .is_match(sentence)
    };
    let told: Vec<&str> = sentences(passage).into_iter().filter(|one| !is_empty(one)).collect();
    told.join(" ")
}

/// Whether a task is a step towards a result rather than a result.
fn is_step(subject: &str) -> bool {
    pattern!(r"(?i)^(?:run|verify|check|navigate|discover|offer|user|read|explore|investigate|look|understand|examine|analy[sz]e|search|find|locate|identify|review|test that|confirm|gather|ask|clarify|propose|present|mark|commit|push|plan|study|inspect|discuss|get|fetch)\b")
        .is_match(subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        evidence::{Commit, PullRequest, TurnReport},
        transcript::Task,
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
                origin: crate::model::transcript::Origin::default(),
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
            ["Pull request #7: https://x/pull/7", "Fix the date parser (commit `1a2b3c4`)",]
        );
    }

    fn commit(hash: &str, subject: &str, body: &str) -> Commit {
        Commit {
            hash: hash.to_owned(),
            subject: subject.to_owned(),
            body: body.to_owned(),
            at: None,
            origin: crate::model::transcript::Origin::default(),
        }
    }

    #[test]
    fn commits_that_only_keep_books_are_left_out_and_bodies_stay_whole() {
        let body = "- Add a guard (for empty lists; see the test)\n- Drop the cast\n";
        let evidence = Evidence {
            commits: vec![
                commit("aaaaaaa", "docs: start work on todo - Guard the list", ""),
                commit("bbbbbbb", "docs(14): complete plan 3", ""),
                commit("ccccccc", "fix: guard the list view", body),
            ],
            ..Evidence::default()
        };
        assert_eq!(
            completed(&evidence),
            [
                "fix: guard the list view (commit `ccccccc`): Add a guard (for empty lists; see the test); Drop the cast"
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
