//! Lists what was accomplished: pull requests, commits, tasks, and results from reports.

use std::collections::BTreeSet;

use crate::{
    model::{
        evidence::{Commit, Evidence, GitStep, OutsideKind, PublicationKind},
        transcript::TaskState,
        wording::CHANGED_OUTSIDE,
    },
    summarize::from_evidence::{
        entries::{ENTRY, Entries, push},
        errors::refuted,
        reported::{ReportQuotes, overtaken, transient},
        repository::{
            commit_messages::{body_excerpt, is_bookkeeping, is_reverted},
            pull_request,
        },
    },
    text::{cut, one_line, pattern},
};

/// Maximum number of entries. If there are more, the oldest results from reports are left out.
const ENTRIES: usize = 26;
/// Maximum numbers of commits that are listed from the start and from the end of the session.
const COMMITS: (usize, usize) = (4, 11);
/// Maximum number of tasks that are listed, without mere steps.
const TASKS: usize = 8;
/// Maximum number of changes of systems that are listed. If there are more, the latest are kept.
const SYSTEMS: usize = 8;

/// Returns what was accomplished: pull requests, then commits, then changes outside of the
/// repository, then the results that reports describe. Without such entries, and if no report
/// describes changes, returns the completed tasks. If no task was completed, either, and files were
/// changed, returns the first statement of the last reply.
pub(super) fn completed_tasks(entries: &Entries<'_>, quotes: &ReportQuotes<'_>) -> Vec<String> {
    let evidence = entries.evidence;
    let mut list: Vec<String> = Vec::new();
    pull_requests(evidence, &mut list);
    commits(entries, &mut list);
    outside_changes(evidence, &mut list);
    if can_have_changed(evidence) {
        let results = quotes.results();
        let extra = (list.len() + results.len()).saturating_sub(ENTRIES).min(results.len());
        results.into_iter().skip(extra).for_each(|line| push(&mut list, line));
    }
    // Reports and commits describe the results that tasks only announce.
    let mut reports = entries.reports.reports.iter();
    if list.is_empty() && !reports.any(|report| report.changed && report.has_substance()) {
        tasks(entries, &mut list);
    }
    if list.is_empty() && evidence.changes_files() {
        list.extend(entries.first_words().filter(|words| !transient::is_boast(words)));
    }
    list.truncate(ENTRIES);
    list
}

/// Adds the completed tasks. Mere steps towards a result are added only if there is nothing else.
fn tasks(entries: &Entries<'_>, list: &mut Vec<String>) {
    let all = entries.evidence.tasks.iter();
    let done = all.filter(|task| task.state == TaskState::Completed);
    let (work, steps): (Vec<_>, Vec<_>) = done.partition(|task| !is_step(&task.subject));
    // If there are too many tasks, the first and the latest are kept.
    let limit = TASKS.saturating_sub(list.len());
    let left_out = limit / 3..(limit / 3 + work.len().saturating_sub(limit));
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
/// describes work of others.
fn can_have_changed(evidence: &Evidence) -> bool {
    evidence.changes_files()
        || !evidence.commits.is_empty()
        || evidence.outside_changes.iter().any(|change| change.kind == OutsideKind::System)
        || evidence.tools.keys().any(|tool| tool.starts_with("mcp__"))
}

/// Adds the pull requests that the session opened, each with its title if the title is known, and
/// other pull requests that the session closed or merged.
fn pull_requests(evidence: &Evidence, list: &mut Vec<String>) {
    // A session without changes and commits only viewed its pull requests, except those that it
    // closed or merged.
    let only_viewed = evidence.commits.is_empty() && !evidence.changes_files();
    let is_listed = |number: u64| {
        !only_viewed && evidence.pull_requests.iter().any(|one| one.number == Some(number))
    };
    let checkout = &evidence.checkout;
    for number in checkout.closed.iter().filter(|number| !is_listed(**number)) {
        list.push(format!("Closed pull request #{number} without a merge"));
    }
    let merges = evidence.git_events.iter().any(|event| {
        event.step == GitStep::MergePullRequest && event.succeeded && event.origin.source == 0
    });
    for number in checkout.merged.iter().filter(|number| merges && !is_listed(**number)) {
        list.push(format!("Merged pull request #{number}"));
    }
    if only_viewed {
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
        let end = match () {
            () if pull_request::is_merged(evidence, at) => " (merged)",
            () if pull_request::is_closed(evidence, at) => " (closed without a merge)",
            () => "",
        };
        list.push(format!("Pull request{number}{title}{end}: {}", request.url));
    }
}

/// Adds the commits that are neither bookkeeping nor the plan of later commits. If there are too
/// many, the first and the latest are kept.
fn commits(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    let commits = &evidence.commits;
    let is_plan =
        |commit: &Commit| pattern!(r"(?i)^docs(?:\([^)]*\))?: plan\b").is_match(&commit.subject);
    let last = commits.iter().rposition(|commit| !is_bookkeeping(commit) && !is_plan(commit));
    // The commits of the work say more than the commit of its plan.
    let work = commits.iter().enumerate().filter(|(at, commit)| {
        !(is_bookkeeping(commit) || is_plan(commit) && last.is_some_and(|last| last > *at))
    });
    let work: Vec<&Commit> = work.map(|(_, commit)| commit).collect();
    let spans = refuted::spans(evidence);
    let mut listed = BTreeSet::new();
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
        let point = body_excerpt(&commit.body)
            .map_or(String::new(), |point| format!(": {}", entries.tidy_line(&point)));
        // Two commits may have similar subjects, but a commit after a rebase has the same subject.
        let is_listed = !listed.insert(commit.subject.to_lowercase());
        let mut push = |text: String| match is_listed || hash.is_empty() {
            true => push(list, text),
            false => list.push(text),
        };
        if is_reverted(evidence, commit) {
            push(format!("{subject}{hash} (reverted later)"));
            continue;
        }
        if refuted::is_superseded_plan(evidence, commit) {
            push(format!("{subject}{hash} (superseded: the plan was given up later)"));
            continue;
        }
        let removed = overtaken::removed_thing(evidence, &commit.subject, commit.origin);
        if let Some(thing) = removed {
            // An update or a fix of something that was removed later needs no entry.
            if pattern!(r"(?i)^(?:update|bump|fix)\b").is_match(&commit.subject) {
                continue;
            }
            push(format!("{subject}{hash} (removed again later: {thing})"));
            continue;
        }
        let failed =
            if refuted::did_not_fix(evidence, &spans, commit) { " (did not fix it)" } else { "" };
        push(format!("{subject}{hash}{failed}{point}"));
    }
}

/// Adds the reviews and issues that the session published, then one entry with the last changes of
/// systems outside of the repository.
fn outside_changes(evidence: &Evidence, list: &mut Vec<String>) {
    let (systems, forge): (Vec<_>, Vec<_>) =
        evidence.outside_changes.iter().partition(|change| change.kind == OutsideKind::System);
    list.extend(forge.into_iter().map(|change| change.text.clone()));
    let earlier = systems.len().saturating_sub(SYSTEMS);
    let mut texts: Vec<String> =
        systems[earlier..].iter().map(|change| change.text.clone()).collect();
    if !texts.is_empty() {
        texts.extend((earlier > 0).then(|| format!("+{earlier} earlier")));
        list.push(format!("{CHANGED_OUTSIDE}{}", texts.join("; ")));
    }
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
    use crate::report::Reports;

    fn completed(evidence: &Evidence) -> Vec<String> {
        let reports = Reports::of(evidence);
        let entries = Entries { evidence, reports: &reports, project: None };
        completed_tasks(&entries, &ReportQuotes::of(&entries))
    }

    #[test]
    fn a_commit_hides_the_reports_and_tasks() {
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
    fn bookkeeping_commits_are_left_out_and_excerpts_of_bodies_are_complete() {
        let body = "- Add a guard (for empty lists; see the test)\n- Drop the cast\n";
        let evidence = Evidence {
            commits: vec![
                commit("aaaaaaa", "docs: start work on todo - Guard the list", ""),
                commit("bbbbbbb", "docs(14): complete plan 3", ""),
                commit("ddddddd", "docs(quick-7): plan the guard of the list view", body),
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
    fn commits_with_similar_subjects_are_all_listed() {
        let listed = |commits: &[(&str, &str)]| {
            let commits = commits.iter().map(|(hash, subject)| commit(hash, subject, ""));
            completed(&Evidence { commits: commits.collect(), ..Evidence::default() }).len()
        };
        let csv = "Add endpoint to export orders as CSV with filters by customer and date";
        let pdf = "Add endpoint to export orders as PDF with filters by customer and date";
        assert_eq!(listed(&[("aaaaaaa", csv), ("bbbbbbb", pdf)]), 2);
        // The second commit is the first one after a rebase.
        assert_eq!(listed(&[("aaaaaaa", csv), ("bbbbbbb", csv)]), 1);
        assert_eq!(listed(&[("", csv), ("", pdf)]), 1);
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
