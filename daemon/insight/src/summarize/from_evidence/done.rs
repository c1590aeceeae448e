//! What was accomplished: pull requests, commits, tasks, and what the agent reports as done.

use std::collections::BTreeSet;

use crate::{
    model::{
        evidence::{Commit, Evidence, FileWork},
        transcript::{Origin, TaskState},
    },
    summarize::{
        from_evidence::{
            entries::{ENTRY, Entries, cut_at_clause, push},
            overtaken, refuted, transient,
            wording::{begins_as_order, states},
        },
        report::{Claim, Form, Report, Topic, passages, topic_of_sentence},
        text::{
            capitalised, cut, one_line, pattern, sentences, share_of_words, without_full_stop,
            words,
        },
    },
};

/// Entries at most.
const ENTRIES: usize = 18;
/// Commits listed from the beginning and from the end.
const COMMITS: (usize, usize) = (4, 11);
/// With fewer entries than this, tasks are told, too.
const FEW: usize = 3;
/// Tasks are named up to this number of entries: reports and commits tell the same better.
const TASKS: usize = 8;
/// Entries taken from one report.
const OF_A_REPORT: usize = 7;
/// The share of its words by which a claim repeats a commit.
const COMMITTED: f64 = 0.75;
/// The same of a claim in the report of the turn that made the commit, when the commit has a body of
/// this many bytes.
const COMMITTED_IN_TURN: f64 = 0.45;
const BODY: usize = 80;
/// Characters of a commit's body.
const POINT: usize = 400;

/// What was accomplished, what lasts longest first.
pub(super) fn completed_tasks(entries: &Entries<'_>) -> Vec<String> {
    let evidence = entries.evidence;
    let mut list: Vec<String> = Vec::new();
    pull_requests(evidence, &mut list);
    commits(entries, &mut list);
    if can_have_changed(evidence) {
        reported(entries, &mut list);
    }
    // Reports and commits tell what tasks announce.
    if list.len() < FEW {
        tasks(entries, &mut list);
    }
    if list.is_empty() && evidence.files.values().any(FileWork::changed) {
        list.extend(entries.first_words());
    }
    list.truncate(ENTRIES);
    list
}

/// Tasks that were ticked off; steps on the way only where there is nothing else.
fn tasks(entries: &Entries<'_>, list: &mut Vec<String>) {
    let all = entries.evidence.tasks.iter();
    let done = all.filter(|task| task.state == TaskState::Completed);
    let (work, steps): (Vec<_>, Vec<_>) = done.partition(|task| !is_step(&task.subject));
    // Of too many, the first ones and the latest: what lies between led to them.
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

/// What reports of turns that changed something list: under headings of their own, or as done.
fn reported(entries: &Entries<'_>, list: &mut Vec<String>) {
    for report in entries.reports.reports.iter().filter(|report| report.changed) {
        let mut taken = 0;
        for claim in report.claims.iter().filter(|claim| is_deed(entries, report, claim)) {
            if taken < OF_A_REPORT
                && let Some(line) = entries.claim(claim)
                && !is_committed(entries, &line)
                && !is_committed_in_turn(entries, claim, &line)
            {
                push(list, without_doer(&line));
                taken += 1;
            }
        }
    }
}

/// Whether a claim tells something that was done and still holds.
pub(super) fn is_deed(entries: &Entries<'_>, report: &Report, claim: &Claim) -> bool {
    let is_done = match claim.topic {
        Some(Topic::Done | Topic::Fix) => !report.asks || says_done(claim) || claim.headed,
        None => {
            claim.listed
                && !claim.nested
                && !report.asks
                && (says_done(claim) || is_told_as_result(claim))
        }
        Some(_) => false,
    };
    if !is_done
        || is_feature(claim)
        || is_review_finding(claim)
        || is_step_of_code(claim)
        || is_step_of_plan(claim)
        || is_praise(claim)
        || is_search(claim)
        || is_transient(entries, claim)
        || repeats_a_field(entries, claim)
        || names_no_object(claim)
        || is_corrected(entries, claim)
        || overtaken::is_gone(entries, &claim.text, claim.origin)
        || overtaken::is_objected_to(entries.evidence, claim.origin)
        || overtaken::names_what_was_taken_back(
            entries,
            &format!("{} {}", claim.label.as_deref().unwrap_or_default(), claim.text),
        )
    {
        return false;
    }
    let repeats_commit = !entries.evidence.commits.is_empty()
        && pattern!(r"(?i)^(?:committed|pushed|done|fixed and pushed|all \d+ tests)\b")
            .is_match(&claim.text);
    let is_option = report.asks && begins_as_order(&claim.text);
    !repeats_commit && !is_option
}

/// Whether a claim is an item of a review that tells what is wrong rather than what was done.
fn is_review_finding(claim: &Claim) -> bool {
    let label = claim.label.as_deref().unwrap_or_default();
    pattern!(r"^(?:CRITICAL|HIGH|MEDIUM|LOW|SEV|[A-Z]{1,3})[- ]?\d+\b|^(?i:critical|high|medium|low)(?: severity)?$")
        .is_match(label)
        && !claim.text.split("; ").any(|part| topic_of_sentence(part) == Some(Topic::Done))
        && !says_done(claim)
}

/// `Walks the commits from HEAD` tells what code does that stands above it.
fn is_step_of_code(claim: &Claim) -> bool {
    claim.label.is_none()
        && pattern!(r"(?i)^(?:(?:first|then|only|also|finally) )?(?:checks|calculates|walks|sets|returns|calls|finds|reads|writes|runs|uses|looks|loads|parses|handles|tries|falls back)\b")
            .is_match(&claim.text)
}

/// `02: Backend module (8 endpoints)` and `Session 1: The user adds a file` number what a plan or a
/// scenario holds.
fn is_step_of_plan(claim: &Claim) -> bool {
    let label = claim.label.as_deref().unwrap_or_default();
    pattern!(r"(?i)^(?:(?:wave|session|step|phase|plan|stage|part|task|milestone|scenario|case|sprint|week|day)s? ?#?)?\d+(?:[-.,–/ ]+\d+)*[a-z]?$")
        .is_match(label)
        && topic_of_sentence(&claim.text) != Some(Topic::Done)
}

/// `Clean, modern layout` and `Use `--force` to skip it` tell what something is like or how it is
/// used, not what was done.
fn is_praise(claim: &Claim) -> bool {
    let text = claim.label.as_deref().unwrap_or(&claim.text);
    pattern!(r"(?i)^(?:comprehensive|custom|real-time|persistent|robust|clean|modern|professional|powerful|proper|beautiful|full(?:y)?|seamless|intuitive|responsive|visual|elegant|solid|complete|well-\w+|user-friendly|[a-z]+-style|component)\b [\w,`-]+")
        .is_match(text)
        && topic_of_sentence(text) != Some(Topic::Done)
        || pattern!(r"^(?:Use|Run|Try|Set|Call|Pass) ").is_match(text) && claim.label.is_none()
}

/// Whether a claim praises the result, or tells a state that later work ended.
fn is_transient(entries: &Entries<'_>, claim: &Claim) -> bool {
    let parts = [claim.label.as_deref(), Some(claim.text.as_str())];
    parts.into_iter().flatten().any(|part| {
        transient::is_past_state(entries.evidence, part, claim.origin) || transient::is_boast(part)
    })
}

/// `Identified the staged files` tells how something was looked for.
fn is_search(claim: &Claim) -> bool {
    let text = claim.label.as_deref().unwrap_or(&claim.text);
    pattern!(r"(?i)^(?:identified|located|investigated|examined|inspected|reviewed|analy[sz]ed)\b")
        .is_match(text)
}

/// Whether other fields tell the same: the files that changed, or how the tests went.
fn repeats_a_field(entries: &Entries<'_>, claim: &Claim) -> bool {
    let label = claim.label.as_deref().unwrap_or_default();
    let lists_files =
        pattern!(r"(?i)^(?:new|modified|changed|updated|created|deleted) files?$").is_match(label);
    let counts_tests = pattern!(r"(?i)^(?:all )?\d+(?:/\d+)? (?:[\w-]+ ){0,2}tests? (?:now )?pass")
        .is_match(&claim.text)
        && claim.label.is_none();
    let tells_a_commit = pattern!(r"(?i)^(?:created|committed|pushed|made)\b")
        .is_match(&claim.text)
        && entries
            .evidence
            .commits
            .iter()
            .any(|commit| commit.hash.get(..7).is_some_and(|hash| claim.text.contains(hash)));
    lists_files || tells_a_commit || counts_tests && !entries.evidence.tests.is_empty()
}

/// `Reverted back to `debug`` does not say what was.
fn names_no_object(claim: &Claim) -> bool {
    claim.label.is_none()
        && claim.parent.is_none()
        && claim.text.split_whitespace().count() <= 6
        && pattern!(r"(?i)^(?:I )?(?:reverted|changed|switched|moved|set|updated|went|put)(?: it| this| that)?(?: back)? (?:to|from) ")
            .is_match(&claim.text)
}

/// Whether a claim says by its own words that something was done: a verb, or the file it was done to.
fn says_done(claim: &Claim) -> bool {
    let text = claim.text.as_str();
    let label = claim.label.as_deref().unwrap_or_default();
    let is_file = pattern!(r"^`?[\w./@*-]+\.[A-Za-z0-9_]{1,5}`?(?: \(.*\))?$").is_match(label);
    let behind_dash = text.split_once(" — ").or_else(|| text.split_once(" - "));
    let verb = |text: &str| topic_of_sentence(text) == Some(Topic::Done);
    is_file || verb(text) || verb(label) || behind_dash.is_some_and(|(_, rest)| verb(rest))
}

/// Whether an item of a list is a sentence of its own rather than a step of how something runs.
fn is_told_as_result(claim: &Claim) -> bool {
    let words = claim.text.split_whitespace().count();
    let flows = claim.text.contains('→') && claim.label.is_none();
    words >= 4
        && !flows
        && !begins_as_order(&claim.text)
        && (claim.label.is_some() || states(&claim.text))
}

/// Whether an item below a heading such as `App complete` names a feature and no deed.
fn is_feature(claim: &Claim) -> bool {
    let is_file = claim.text.contains('`') || claim.text.contains('/');
    claim.topic == Some(Topic::Done)
        && claim.listed
        && claim.label.is_none()
        && !is_file
        && !says_done(claim)
        && !states(&claim.text)
        && !begins_as_order(&claim.text)
}

/// `I've added a test` is `Added a test`.
fn without_doer(line: &str) -> String {
    let plain = pattern!(r"^(?:I|We)(?:'ve| have)? (?:successfully |also |now |just )*(?-i:[a-z])");
    match plain.find(line) {
        Some(found) => capitalised(&line[found.end() - 1..]),
        None => line.to_owned(),
    }
}

/// Whether a commit tells the same.
fn is_committed(entries: &Entries<'_>, line: &str) -> bool {
    let told = words(line);
    entries.evidence.commits.iter().any(|commit| share_told(&told, commit) >= COMMITTED)
}

/// Whether a commit of the same turn tells it in other words, with each name that it gives.
fn is_committed_in_turn(entries: &Entries<'_>, claim: &Claim, line: &str) -> bool {
    let told = words(line);
    let asked = entries.evidence.prompts.iter().rfind(|prompt| prompt.origin < claim.origin);
    let turn = asked.map_or(Origin::default(), |asked| asked.origin)..claim.origin;
    let made = entries.evidence.commits.iter().filter(|commit| turn.contains(&commit.origin));
    let names: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
    made.filter(|commit| commit.body.len() >= BODY).any(|commit| {
        names.iter().all(|name| commit.subject.contains(name) || commit.body.contains(name))
            && share_told(&told, commit) >= COMMITTED_IN_TURN
    })
}

fn share_told(told: &BTreeSet<String>, commit: &Commit) -> f64 {
    share_of_words(told, &words(&format!("{} {}", commit.subject, commit.body)))
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
        let failed = if refuted::did_not_fix(&spans, commit) { " (did not fix it)" } else { "" };
        push(list, format!("{subject}{hash}{failed}{point}"));
    }
}

/// A commit that only notes where the work stands: plans, states, lists of things to do.
pub(super) fn is_bookkeeping(commit: &Commit) -> bool {
    pattern!(
        r"(?i)^(?:docs|chore|wip)(?:\([^)]*\))?: (?:start work on|begin |complete |completed |finish |close |capture |add todo|(?:re)?move todo|mark |record |update (?:the )?(?:state|status|progress|plan|roadmap|todo)|.{0,40}\b(?:state\.md|roadmap\.md|todos?|handoff|checkpoint)\b)|^(?:wip|checkpoint)\b"
    )
    .is_match(&commit.subject)
}

/// The first passages of a commit's body, each whole.
fn point(body: &str) -> Option<String> {
    let mut line = String::new();
    for passage in passages(body) {
        // A table in a commit compares or checks something.
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

/// A passage of a commit's body without the sentences that praise the commit, or tell what it did not
/// change.
fn without_empty_words(passage: &str) -> String {
    let is_empty = |sentence: &&str| {
        transient::is_boast(sentence)
            || pattern!(r"(?i)\balready (?:present|correct|configured|in place|there|handled|done)\b|^[A-Za-z0-9_ /-]{0,40}\b(?:verified|confirmed):")
                .is_match(sentence)
    };
    let told: Vec<&str> = sentences(passage).into_iter().filter(|one| !is_empty(one)).collect();
    told.join(" ")
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
        transcript::Task,
    };
    use crate::summarize::report::Reports;

    fn completed(evidence: &Evidence) -> Vec<String> {
        completed_tasks(&Entries { evidence, reports: &Reports::of(evidence), project: None })
    }

    #[test]
    fn what_a_review_found_and_what_code_does_was_not_done() {
        let text = "Fixed:\n\n- **HIGH-01**: The key stays in memory after its use\n- **HIGH-02**: Zeroed the key after its use in `create`\n- Walks the commits from HEAD to the base\n- Added a walk over the commits in `list`\n";
        let report = TurnReport { text: text.to_owned(), changed: true, ..TurnReport::default() };
        let mut evidence = Evidence { reports: vec![report], ..Evidence::default() };
        evidence.files.insert("/a.rs".to_owned(), FileWork { edits: 1, ..FileWork::default() });
        assert_eq!(
            completed(&evidence),
            [
                "HIGH-02: Zeroed the key after its use in `create`",
                "Added a walk over the commits in `list`"
            ]
        );
    }

    #[test]
    fn what_a_plan_or_a_scenario_holds_was_not_done() {
        let text = "Created the plans.\n\n| Plan | What it builds |\n|---|---|\n\
                    | 02 | Backend module with endpoints, service and types |\n\n\
                    - **Session 1**: The user adds `hash()` to the module\n\
                    - Added a walk over the commits in `list`";
        let mut evidence = Evidence { reports: vec![report(text)], ..Evidence::default() };
        evidence.files.insert("plan.md".to_owned(), FileWork { writes: 1, ..FileWork::default() });
        let done = completed(&evidence);
        assert!(done.iter().any(|line| line.contains("Added a walk")), "{done:?}");
        let is_step = |line: &String| line.contains("Backend") || line.contains("hash()");
        assert!(!done.iter().any(is_step), "{done:?}");
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
            ]
        );
    }

    fn commit(hash: &str, subject: &str, body: &str) -> Commit {
        Commit {
            hash: hash.to_owned(),
            subject: subject.to_owned(),
            body: body.to_owned(),
            at: None,
            origin: Origin::default(),
        }
    }

    fn report(text: &str) -> TurnReport {
        TurnReport { text: text.to_owned(), changed: true, ..TurnReport::default() }
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
    fn what_a_commit_tells_is_not_told_again() {
        let evidence = Evidence {
            commits: vec![commit("1a2b3c4", "Guard the empty list view", "")],
            reports: vec![report(
                "- `1a2b3c4` — the list, guarded in every caller of it\n- Added a guard for the empty list view\n- Renamed the loader of pages to `fetch`\n",
            )],
            ..Evidence::default()
        };
        assert_eq!(completed(&evidence)[1..], ["Renamed the loader of pages to `fetch`"]);
    }

    #[test]
    fn the_report_of_a_turn_does_not_repeat_the_commit_of_the_turn() {
        let mut made = commit(
            "1a2b3c4",
            "chore: remove the hosted provider",
            "The hosted provider is no longer used. Remove it, its tests, env vars and the coverage config. Regenerate the client.",
        );
        made.origin.line = 5;
        let text = "- Removed the env vars of the hosted provider and its tests\n- Removed `HOSTED_URL` from the env vars of the provider\n- Updated the description of the unpin call\n";
        let mut told = report(text);
        told.origin.line = 6;
        let evidence = Evidence { commits: vec![made], reports: vec![told], ..Evidence::default() };
        assert_eq!(
            completed(&evidence)[1..],
            [
                "Removed `HOSTED_URL` from the env vars of the provider",
                "Updated the description of the unpin call"
            ]
        );
    }

    #[test]
    fn options_and_descriptions_are_no_deeds() {
        let evidence = Evidence {
            commits: vec![commit("1a2b3c4", "Guard the view", "")],
            reports: vec![
                report(
                    "The folder is ignored by git.\n\n- **Pick another path** that is not ignored\n- **Force-add it** with `-f`\n\nWhich one?",
                ),
                report(
                    "Data flow:\n\n- the microphone feeds the recorder → a blob in memory\n- Run the tests of the editor again\n",
                ),
            ],
            ..Evidence::default()
        };
        assert_eq!(completed(&evidence).len(), 1);
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
