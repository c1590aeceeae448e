//! Finds what should happen next: what is open, failing, unanswered or offered.

pub(super) mod advice;
pub(super) mod deferred;
pub(super) mod left_open;
pub(super) mod open_findings;
pub(super) mod open_tasks;
pub(super) mod postponed;
pub(super) mod settled;
pub(super) mod unconfirmed;

use crate::{
    model::{
        evidence::{Delegation, GitStep, StatementKind, without_parents},
        transcript::{Origin, RecapKind, Task},
        wording::{ASKED_LAST, REQUEST_STATES},
    },
    summarize::{
        evidence::{runs_tests, says_that_nothing_is_left},
        from_evidence::{
            checks::{
                self,
                test_results::{failing_runs, main_run},
            },
            decisions::{
                listed_options::{all_options, option_named},
                refusals,
            },
            entries::{Entries, is_outside_project, push},
            findings::last_turn_errors,
            next_steps::open_tasks::open_tasks,
            outcome::{is_given_up, is_thanks},
            request::{Request, Weight, objective::stops_work},
        },
        lists::shortened,
        recap::{self, Section, Sections},
    },
    text::{
        Block, before_gap, blocks, capitalised, cut, one_line, pattern, sentences,
        without_full_stop,
    },
};

const STEPS: usize = 12;
/// Maximum number of options that are listed with an open question.
const OPTIONS: usize = 5;
/// Maximum number of changed files that one entry lists.
const CHANGED: usize = 4;
/// Maximum number of listed sub-agents that ran in parallel with the last one.
const BESIDE: usize = 3;
/// Maximum number of failing tests that are listed.
const TESTS: usize = 5;

/// Returns what should happen next, the most urgent first.
pub(super) fn next_steps(entries: &Entries<'_>) -> Vec<String> {
    let mut list = Vec::new();
    cut_off(entries, &mut list);
    unanswered(entries, &mut list);
    postponed::interrupted_question(entries, &mut list);
    deferred::returned_errors(entries, &mut list);
    failing(entries, &mut list);
    refusals::unapproved(entries, &mut list);
    refusals::refused_edits(entries, &mut list);
    let open = open_tasks(entries.evidence);
    let is_chore = |task: &Task| open.len() > 1 && is_final_routine(&task.subject);
    for task in open.iter().filter(|task| !is_chore(task)) {
        push(&mut list, entries.tidy(&task.subject));
    }
    for statement in entries.evidence.report.iter().filter(|one| {
        one.kind == StatementKind::OpenEnd
            && !left_open::reports_completed_work(&one.text)
            && !settled::is_settled_in_words(entries, &one.text, one.origin)
    }) {
        push(&mut list, entries.open_end(&statement.text));
    }
    left_open::reported(entries, &mut list);
    postponed::by_user(entries, &mut list);
    unconfirmed::asked_merge(entries, &mut list);
    deferred::written_down(entries, &mut list);
    deferred::unticked(entries, &mut list);
    deferred::unchecked(entries, &mut list);
    deferred::untouched(entries, &mut list);
    deferred::suggested(entries, &mut list);
    open_findings::unfixed(entries, &mut list);
    deferred::stashed(entries, &mut list);
    recapped(entries, &mut list);
    offered(entries, &mut list);
    left_open::questions(entries, &mut list);
    deferred::offers(entries, &mut list);
    list.truncate(STEPS);
    list
}

/// Whether a task is a final routine such as `Run tests and lint`.
fn is_final_routine(subject: &str) -> bool {
    pattern!(r"(?i)^(?:run|execute|re-?run) (?:the |all )?(?:(?:tests?|lint(?:er|ing)?|build|fmt|format(?:ter|ting)?|type ?checks?|checks?|and|,|&|suite) ?)+$")
        .is_match(subject)
}

/// Adds the calls during which the session ended: the last one, and the calls of sub-agents that
/// ran in parallel with it.
fn cut_off(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    let Some(call) = &evidence.unanswered_call else { return };
    let asked = asked_last(entries).map_or(String::new(), |request| {
        format!(" (asked: {})", cut(&entries.tidy_line(without_full_stop(&request.text)), 110))
    });
    let is_task = |task: &&Delegation| task.origin == call.origin;
    if evidence.delegations.iter().any(|task| is_task(&task)) {
        let replied = evidence.last_reply.as_ref().map_or(0, |reply| reply.origin.line);
        let beside = evidence.delegations.iter().filter(|task| {
            task.outcome.is_none()
                && task.origin.source == call.origin.source
                && (replied + 1..call.origin.line).contains(&task.origin.line)
        });
        for task in beside.take(BESIDE) {
            let state = recorded_work(entries, task).unwrap_or_else(unknown);
            let subject = cut(&entries.tidy_line(&task.subject), 120);
            push(list, format!("Cut off in `Task: {subject}`{asked}: {state}"));
        }
    }
    // The commit is the most useful part of a long command line.
    let commit = pattern!(r#"\bgit commit [^"]*"[^"]{4,}""#).find(&call.text);
    let shown = commit.map_or(call.text.as_str(), |commit| commit.as_str());
    let shown = cut(&entries.tidy_line(shown), 120);
    let state = done_within(entries, call.origin).unwrap_or_else(unknown);
    push(list, format!("Cut off in `{shown}`{asked}: {state}"));
}

fn unknown() -> String {
    "whether it was done is not known".to_owned()
}

/// Returns what a sub-agent did, according to its records.
fn recorded_work(entries: &Entries<'_>, task: &Delegation) -> Option<String> {
    let files: Vec<String> =
        task.files.iter().map(|path| format!("`{}`", entries.path(path))).collect();
    let files = shortened(files, CHANGED);
    let committed = task.commits.last().map(|subject| entries.tidy_line(subject));
    let work = match (committed, files.is_empty()) {
        (None, true) => return None,
        (None, false) => format!("it changed {}", files.join(", ")),
        (Some(commit), true) => format!("its last step was the commit \"{commit}\""),
        (Some(commit), false) => {
            format!("it committed \"{commit}\" and then changed {}", files.join(", "))
        }
    };
    Some(format!("according to its records, {work}"))
}

/// Returns what is known of the work of a sub-agent that was called at `start` and never answered.
fn done_within(entries: &Entries<'_>, start: Origin) -> Option<String> {
    let evidence = entries.evidence;
    let task = evidence.delegations.iter().find(|task| task.origin == start);
    if let Some(known) = task.and_then(|task| recorded_work(entries, task)) {
        return Some(known);
    }
    // If the session's own file contains no calls of sub-agents, nothing is known. If the records
    // credit any sub-agent with work, they credit this sub-agent with none. Otherwise, all work
    // after `start` counts as its work.
    let is_credited = |task: &Delegation| !task.files.is_empty() || !task.commits.is_empty();
    if evidence.reported_sub_agents.is_empty() || evidence.delegations.iter().any(is_credited) {
        return None;
    }
    let changed = evidence.changed_files().filter(|(_, work)| work.last.follows(start));
    let files: Vec<String> = changed.map(|(path, _)| format!("`{}`", entries.path(path))).collect();
    let files = shortened(files, CHANGED);
    let committed = evidence.commits.iter().rfind(|commit| commit.origin.follows(start));
    let tried = evidence.git_events.iter().rfind(|event| event.step == GitStep::Commit);
    let failed = tried.filter(|event| !event.succeeded && event.origin.follows(start));
    let parts = [
        (!files.is_empty()).then(|| format!("it changed {}", files.join(", "))),
        committed.map(|commit| format!("it committed {}", entries.tidy_line(&commit.subject))),
        failed.map(|_| "its commit failed".to_owned()),
    ];
    let statements: Vec<String> = parts.into_iter().flatten().collect();
    (!statements.is_empty()).then(|| format!("according to its records, {}", statements.join(", ")))
}

/// Returns the last request, if it describes a goal and is not the only prompt.
fn asked_last(entries: &Entries<'_>) -> Option<Request> {
    let last = entries.evidence.prompts.last()?;
    let request = Request::of(&last.text).filter(|_| !stops_work(entries.evidence, last))?;
    let picks = pattern!(r"^[1-9a-e]\b ?[-–:.)]").is_match(&request.text.to_lowercase());
    let says_what = request.text.split_whitespace().count() >= 4 && !picks;
    (request.weight > Weight::Routine && says_what && entries.evidence.prompts.len() > 1)
        .then_some(request)
}

/// Adds the user's last request, if no reply came after it.
fn unanswered(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    // If a call is unanswered, `cut_off` adds the request with that call.
    if evidence.unanswered_call.is_some() || is_given_up(evidence) {
        return;
    }
    let replied_at = evidence.last_reply.as_ref().map_or(0, |reply| reply.origin.line);
    let last = evidence.prompts.last().filter(|prompt| prompt.origin.line > replied_at);
    let Some(last) = last.filter(|prompt| !is_thanks(&prompt.text)) else { return };
    let began = evidence.last_result.is_some_and(|result| result.line > last.origin.line);
    let state = REQUEST_STATES[usize::from(began)];
    let request = Request::of(&last.text);
    if let Some(request) = request.filter(|request| {
        request.weight > Weight::Reaction && !(began && request.weight == Weight::Routine)
    }) {
        push(list, format!("{ASKED_LAST}{state}: {}", entries.tidy(&request.text)));
    }
}

/// Adds failing tests and checks, untested changes, and the unresolved errors of the last turn.
fn failing(entries: &Entries<'_>, list: &mut Vec<String>) {
    let main = main_run(entries.evidence);
    for run in failing_runs(entries.evidence) {
        let alone = without_parents(&run.failed_tests);
        let count = alone.len();
        let has_parents = count < run.failed_tests.len();
        let names = shortened(alone.into_iter().cloned().collect(), TESTS);
        let named =
            if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        // A run may count packages, or a test and its subtests, so the list of names may be more
        // exact. A package that was not built has no named test.
        let counts_packages = run.noun() == "packages" && !names.is_empty();
        let total = run.failed as usize;
        let is_whole_list = run.failed_tests.len() >= total;
        let failed = match counts_packages || has_parents {
            true if is_whole_list => count,
            true => count.max(total),
            false => total.max(1),
        };
        let noun = if failed == 1 { "test" } else { "tests" };
        let suite = if main == Some(run) { String::new() } else { format!(" of {}", run.label()) };
        push(list, format!("Fix {failed} failing {noun}{suite}{named}"));
    }
    if let Some(command) = checks::failing_build(entries.evidence) {
        let command = entries.tidy_line(&before_gap(command));
        push(list, format!("The last build failed: `{command}`"));
    }
    for check in checks::last_runs(entries.evidence) {
        if check.failed && check.kind != checks::CheckKind::Build {
            let name = check.kind.name();
            let place = check.place.map_or(String::new(), |place| format!(" in {place}"));
            let command = entries.tidy_line(&before_gap(&check.command));
            push(list, format!("The last {name}{place} failed: `{command}`"));
        }
    }
    untested(entries, list);
    let tests_ran = |at| entries.evidence.tests.iter().any(|run| run.origin == at);
    // If the last reply reports work as done after an error, the work was done in another way.
    let replied_at = entries.evidence.last_reply.as_ref().map_or(0, |reply| reply.origin.line);
    let is_done = entries.evidence.report.iter().any(|one| one.kind == StatementKind::Done);
    for error in last_turn_errors(entries.evidence) {
        let has_substitute = is_done && error.origin.line < replied_at;
        let is_build =
            pattern!(r"\b(?:build|compile|assemble|cargo check)\b").is_match(&error.attempt);
        let is_built = is_build
            && checks::tests_were_built_since(entries.evidence, &error.attempt, error.origin);
        if !has_substitute && !tests_ran(error.origin) && !is_built {
            let command = entries.tidy_line(&before_gap(&error.attempt));
            let remedy = error.remedy.as_ref();
            let remedy =
                remedy.map_or(String::new(), |run| format!(" (the output says: run `{run}`)"));
            push(list, entries.tidy(&format!("Resolve `{command}`: {}{remedy}", error.message)));
        }
    }
}

/// Adds changed tests if no test ran, and code that was changed after the last test run if that run
/// passed.
fn untested(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    deferred::never_run(entries, list);
    let Some(run) = evidence.tests.last().filter(|run| run.failed == 0) else { return };
    let is_check = |line: &str| pattern!(r"\b(?:tests?|checks?|verify|ci|spec)\b").is_match(line);
    let checked = evidence.commands.iter();
    let checked = checked.filter(|run| is_check(&run.command) || runs_tests(&run.command));
    let checked = checked.map(|run| run.origin).filter(|at| at.source == run.origin.source);
    let tested = checked.chain([run.origin]).max().unwrap_or(run.origin);
    let is_code = |path: &str| {
        pattern!(r"\.(?:rs|go|py|tsx?|jsx?|mjs|vue|svelte|java|kt|swift|c|cc|cpp|h|rb|php|cs|scala|ex|exs|dart)$")
            .is_match(path)
    };
    let changed = evidence.changed_files().filter(|(path, work)| {
        !work.deleted
            && is_code(path)
            && !is_outside_project(evidence, path)
            && work.last.follows(tested)
    });
    let changed: Vec<String> =
        changed.map(|(path, _)| format!("`{}`", entries.path(path))).collect();
    let changed = shortened(changed, CHANGED);
    if !changed.is_empty() {
        push(list, format!("Changed after the last test run: {}", changed.join(", ")));
    }
}

/// Adds what the agent's own recaps leave open, if no prompt followed. After the recap of a
/// compaction, there must also be no reply.
fn recapped(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    let spoken_at = evidence.prompts.last().map_or(0, |prompt| prompt.origin.line);
    for recap in evidence.recaps.iter().filter(|recap| recap.origin.line > spoken_at) {
        match recap.kind {
            RecapKind::Away => {
                let (_, next) = recap::parse_away_note(&recap.text);
                let next = next.unwrap_or_default();
                let next = next.strip_prefix("to ").unwrap_or(&next);
                if !left_open::is_vague(next) {
                    push(list, entries.tidy(&capitalised(next)));
                }
            }
            RecapKind::Compaction => {
                let replied = evidence
                    .last_reply
                    .as_ref()
                    .is_some_and(|reply| reply.origin.line > recap.origin.line);
                if !replied {
                    let sections = Sections::of(&recap.text);
                    let items = [Section::Pending, Section::Next];
                    let items = items.into_iter().flat_map(|section| sections.items(section));
                    let left = items.filter(|item| !says_that_nothing_is_left(item));
                    left.for_each(|item| push(list, entries.tidy(&item)));
                }
            }
        }
    }
}

/// Returns the names of the options in the last report, in brackets; empty for fewer than two.
fn options(entries: &Entries<'_>) -> String {
    let Some(report) = entries.reports.reports.last() else { return String::new() };
    let names = all_options(entries, report, OPTIONS);
    if names.len() < 2 { String::new() } else { format!(" ({})", names.join("; ")) }
}

/// Adds the offer or question in the last paragraph of the agent's last reply.
fn offered(entries: &Entries<'_>, list: &mut Vec<String>) {
    let Some(reply) = &entries.evidence.last_reply else { return };
    let Some(Block::Paragraph(last)) = blocks(&reply.text).pop() else { return };
    let line = one_line(&last);
    let all = sentences(&line);
    let ready = pattern!(r"(?i)^ready to ((?:commit|push|merge|open|create)\b.*)$");
    if let Some(offer) = all.last().and_then(|last| ready.captures(last)) {
        let wish = pattern!(r"(?i),? if you(?:.d| would)? (?:like|want|prefer|wish)\b.*$");
        let offer = wish.replace(&offer[1], "");
        let offer = pattern!(r"(?i)^(commit|push|merge)[.! ]*$").replace(&offer, "$1 the changes");
        return push(list, entries.tidy(&format!("Offered: {offer}")));
    }
    let Some(question) = all.into_iter().rev().find(|one| one.ends_with(['?', '？'])) else {
        return;
    };
    let offer = pattern!(
        r"(?i)^(?:do you )?(?:want|would you like) (?:me )?to (.{8,})\?$|^(?:should|shall) (?:i|we) (.{8,})\?$"
    );
    if let Some(words) = offer.captures(question) {
        let words = words.get(1).or(words.get(2)).map_or("", |words| words.as_str());
        let (words, other) = words.split_once(", or ").unwrap_or((words, ""));
        // The question asks the user to choose between options of the report.
        if option().is_match(words) && !other.is_empty() {
            let options = options(entries);
            return push(list, format!("To decide: {}{options}", entries.tidy_line(question)));
        }
        let bare = pattern!(r"(?i)^(commit|push) (?:this|that|it|these|them|those)\b");
        let words = bare.replace(words, "$1 the changes");
        // `Using this approach` refers to code that is not part of the summary.
        let approach = pattern!(r"(?i) (?:using|with|in|by|like) (?:this|that)(?: (?:approach|way|method|pattern|fashion))?$");
        let words = approach.replace(&words, "");
        if let Some(words) = with_options(entries, &words) {
            push(list, entries.tidy(&format!("Offered: {words}")));
        }
    } else if question.len() >= 25 && !pattern!(r"(?i)^(?:what|how|anything|is there|any)\b.*\b(?:else|next|help|today|like (?:me )?to)\b").is_match(question) {
        let options = options(entries);
        push(list, format!("To decide: {}{options}", entries.tidy_line(question)));
    }
}

/// Adds the text of the option to an offer that refers to an option by number or letter; `None` if
/// the report does not contain the option.
fn with_options(entries: &Entries<'_>, offer: &str) -> Option<String> {
    let Some(found) = option().captures(offer) else { return Some(offer.to_owned()) };
    let named = option_named(entries.reports.reports.last()?, &found[1])?;
    Some(offer.replacen(&found[0], &format!("{} ({named})", &found[0]), 1))
}

fn option() -> std::sync::Arc<regex::Regex> {
    pattern!(r"(?i)\b(?:option|approach|alternative) ([a-h1-9])\b")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{
            evidence::{CommandRun, Evidence, FileWork, Publication, PublicationKind, TestRun},
            time::Timestamp,
            transcript::{Item, Outcome},
        },
        report::Reports,
        summarize::evidence::scenarios::Script,
    };

    #[test]
    fn an_empty_list_of_open_work_is_recognised() {
        for item in [
            "No explicit pending tasks remain - all requested optimizations have been implemented",
            "None",
            "None at this time.",
            "There are no remaining tasks.",
            "No pending tasks",
            "None specified",
            "None explicitly requested",
            "None explicitly stated.",
            "None currently",
            "No pending tasks, all requested work was completed",
            "No outstanding requests",
            "No explicit tasks remain",
        ] {
            assert!(says_that_nothing_is_left(item), "{item}");
        }
        for item in [
            "No tests cover the pending tasks of the queue",
            "None of the workers is restarted, fix that",
            "Nothing is logged when the queue is full; log it",
            "None requested a token from the server",
            "No explicit tasks of the queue are tested",
            "No open issue tracks the crash on Windows",
            "No pending tasks, but the page needs a test",
            "Add the pending tasks to the page",
        ] {
            assert!(!says_that_nothing_is_left(item), "{item}");
        }
    }

    #[test]
    fn unticked_boxes_of_a_pull_request_are_open() {
        let body = "## Test plan\n\n- [x] Unit tests pass\n- [ ] Check the token after the merge\n";
        let evidence = Evidence {
            publications: vec![Publication {
                title: None,
                body: body.to_owned(),
                kind: PublicationKind::PullRequest,
                origin: Origin::default(),
            }],
            ..Evidence::default()
        };
        let reports = Reports::of(&evidence);
        let steps = next_steps(&Entries { evidence: &evidence, reports: &reports, project: None });
        assert_eq!(steps, ["Unchecked in the pull request: Check the token after the merge"]);
    }

    #[test]
    fn a_question_that_was_interrupted_at_once_is_open() {
        let steps_after = |stopped: bool, answer: Option<&str>| {
            let mut script = Script::default();
            script.prompt("Find the cause of the lost session");
            script.reply("m1", "I am looking at the two branches.");
            script.prompt("is the content of session 1 in the branch of session 2?");
            if let Some(answer) = answer {
                script.reply("m2", answer);
            }
            if stopped {
                script.item(Item::Interrupted);
            }
            script.prompt("Write down what we have so far");
            script.reply("m3", "It is in `notes.md`.");
            steps(&script.collect())
        };
        let open = "Asked, not answered: Is the content of session 1 in the branch of session 2?";
        assert!(
            steps_after(true, None).iter().any(|step| step == open),
            "{:?}",
            steps_after(true, None)
        );
        assert!(!steps_after(true, Some("No, it is not.")).iter().any(|step| step == open));
        assert!(!steps_after(false, None).iter().any(|step| step == open));
    }

    #[test]
    fn a_test_with_failed_subtests_is_not_listed_beside_them() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let run = TestRun {
            framework: "go test".to_owned(),
            command: "go test -v ./...".to_owned(),
            passed: 4,
            failed: 1,
            failed_tests: names(&["TestA", "TestA/one", "TestA/two"]),
            ..TestRun::default()
        };
        let mut evidence = Evidence { tests: vec![run], ..Evidence::default() };
        assert_eq!(steps(&evidence), ["Fix 2 failing tests: TestA/one, TestA/two"]);
        evidence.tests[0].failed = 3;
        let counted = steps(&evidence);
        assert_eq!(counted, ["Fix 2 failing tests: TestA/one, TestA/two"], "3 includes the parent");
    }

    fn ran(line: u64, command: &str, outcome: Outcome) -> CommandRun {
        let origin = Origin { source: 0, line };
        CommandRun {
            command: command.to_owned(),
            place: None,
            outcome,
            shows_failure: false,
            origin,
            at: None,
        }
    }

    fn steps(evidence: &Evidence) -> Vec<String> {
        let reports = Reports::of(evidence);
        next_steps(&Entries { evidence, reports: &reports, project: None })
    }

    #[test]
    fn a_build_that_failed_last_is_open() {
        let failed = || Outcome::Failed(Some(1));
        let mut evidence = Evidence {
            commands: vec![ran(1, "cd app && npm run build", failed())],
            ..Evidence::default()
        };
        assert_eq!(steps(&evidence), ["The last build failed: `cd app && npm run build`"]);
        evidence.commands.push(ran(2, "pnpm build", Outcome::Succeeded));
        assert!(steps(&evidence).is_empty());
        let piped = ran(3, "cargo build 2>&1 | tail -5", Outcome::Succeeded);
        evidence.commands.push(CommandRun { shows_failure: true, ..piped });
        assert_eq!(steps(&evidence), ["The last build failed: `cargo build 2>&1 | tail -5`"]);
        evidence.commands.push(ran(4, "git commit -qm List", Outcome::Succeeded));
        assert!(steps(&evidence).is_empty());
    }

    #[test]
    fn a_test_run_of_a_sub_agent_does_not_hide_an_error() {
        let mut script = Script::default();
        script.prompt("Start the server");
        script.run("a", "make serve", Outcome::Failed(Some(2)), "error: port 80 is in use\n");
        let mut evidence = script.collect();
        let shown = |evidence: &Evidence| {
            steps(evidence).iter().any(|step| step.starts_with("Resolve `make serve`"))
        };
        assert!(shown(&evidence));
        let origin = Origin { source: 1, line: evidence.errors[0].origin.line };
        evidence.tests.push(TestRun { passed: 3, origin, ..TestRun::default() });
        assert!(shown(&evidence));
        let work = ran(9, "make serve", Outcome::Succeeded);
        let before = evidence.errors[0].at.map(|at| Timestamp::from_micros(at.micros() - 1));
        let origin = Origin { source: 1, line: 9 };
        evidence.commands.push(CommandRun { origin, at: before, ..work.clone() });
        assert!(shown(&evidence), "a sub-agent ran the command before the error");
        evidence.commands.push(work);
        assert!(!shown(&evidence));
    }

    #[test]
    fn code_that_changed_after_the_last_test_run_is_listed() {
        let run = TestRun {
            framework: "cargo test".to_owned(),
            command: "cargo test".to_owned(),
            passed: 3,
            failed: 0,
            skipped: 0,
            failed_tests: Vec::new(),
            coverage_pct: None,
            origin: Origin { source: 0, line: 5 },
            at: None,
            ..TestRun::default()
        };
        let mut evidence = Evidence { tests: vec![run], ..Evidence::default() };
        for (path, line) in [("/app/a.rs", 4), ("/app/b.rs", 6), ("/app/README.md", 7)] {
            let last = Origin { source: 0, line };
            let work = FileWork { edits: 1, last, ..FileWork::default() };
            evidence.files.insert(path.to_owned(), work);
        }
        assert_eq!(steps(&evidence), ["Changed after the last test run: `/app/b.rs`"]);
        evidence.commands.push(ran(8, "mise run check", Outcome::Succeeded));
        assert!(steps(&evidence).is_empty());
    }
}
