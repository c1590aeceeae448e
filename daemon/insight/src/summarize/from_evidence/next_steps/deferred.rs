//! Finds open work in todo files, plans, pull requests, stashes, earlier offers and suggestions,
//! tests that never ran, and errors that came back. `left_open` finds what reports call open.

use crate::{
    model::{
        evidence::{Commit, GitStep, NotePurpose, Publication, PublicationKind, WorkNote},
        transcript::{Origin, TaskState},
        wording::SUGGESTED,
    },
    report::{Claim, Form, Passage, Topic, is_phrase, passages},
    summarize::{
        from_evidence::{
            checks::{self, CheckKind, test_results::main_run},
            entries::{Entries, cut_at_clause, is_outside_project, push},
            errors::refuted,
            next_steps::left_open::is_taken_up,
            outcome::ending,
        },
        lists::shortened,
    },
    text::{cut, one_line, pattern, sentences, share_of_words, without_full_stop, words},
};

/// Maximum length, in characters, of an entry that lists several things.
const ENTRY: usize = 320;
/// Maximum length, in characters, of the title and the items of a todo file together.
const TODO: usize = 400;
/// An entry that ends with the path of a todo file contains little more than the path if the rest
/// of the entry has at most this number of bytes.
const POINTER: usize = 40;
/// Maximum number of todo files that are listed.
const TODOS: usize = 3;
/// Maximum number of unticked boxes of pull requests that are listed.
const BOXES: usize = 8;
/// Maximum number of suggestions that are listed.
const SUGGESTIONS: usize = 4;
/// Number of the last reports that are searched for unanswered offers and for suggestions.
const REPORTS: usize = 6;

/// Maximum number of unchanged files that are listed for one plan.
const UNTOUCHED: usize = 6;
/// Maximum number of changed test files that are listed for a session without a test run.
const UNRUN: usize = 4;

/// Adds the newest stash whose changes were neither restored nor dropped.
pub(crate) fn stashed(entries: &Entries<'_>, list: &mut Vec<String>) {
    let mut stashes = entries.evidence.checkout.stashes.iter();
    if let Some(branch) = stashes.rfind(|branch| !branch.is_empty()) {
        push(list, format!("Stashed on `{branch}` and not restored (`git stash list`)"));
    }
}

/// Adds the tests that were written or changed, if the session shows no test run.
pub(crate) fn never_run(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    let is_test = |path: &str| {
        pattern!(r"(?i)(?:^|/)(?:tests?|e2e|__tests__|spec)/.*\.\w{1,5}$|[._-](?:test|spec)s?\.\w{1,5}$|_test\.\w{1,5}$|(?:^|/)test_[^/]*\.py$")
            .is_match(path)
            && pattern!(r"\.(?:rs|go|py|tsx?|jsx?|mjs|vue|svelte|java|kt|swift|c|cc|cpp|rb|php|cs|scala|exs?|dart|sh)$")
                .is_match(path)
    };
    if ending::shows_a_test_run(evidence) {
        return;
    }
    let changed = evidence.changed_files().filter(|(path, work)| {
        !work.deleted && is_test(path) && !is_outside_project(evidence, path)
    });
    // Helper files of tests are listed only if no test was changed.
    let is_named = |path: &str| {
        path.rsplit('/').next().is_some_and(|name| name.contains("spec") || name.contains("test"))
    };
    let (tests, helpers): (Vec<&String>, Vec<&String>) =
        changed.map(|(path, _)| path).partition(|path| is_named(path));
    let changed = if tests.is_empty() { helpers } else { tests };
    let changed: Vec<String> =
        changed.into_iter().map(|path| format!("`{}`", entries.path(path))).collect();
    let changed = shortened(changed, UNRUN);
    if !changed.is_empty() {
        push(
            list,
            format!("Tests were changed, and no run of them is recorded: {}", changed.join(", ")),
        );
    }
}

/// Adds the errors that came back after their fix.
pub(crate) fn returned_errors(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    for (error, times) in refuted::returned_errors(evidence) {
        let is_later = |commit: &&Commit| commit.origin.is_after(commit.at, error.origin, error.at);
        let tried = evidence.commits.last().filter(is_later);
        let tried = tried.filter(|commit| !commit.hash.is_empty());
        let tried =
            tried.map_or("the last attempt".to_owned(), |commit| format!("`{}`", commit.hash));
        let message = cut(&entries.tidy_line(&error.text), 160);
        push(list, format!("`{message}` (pasted {times} times): {tried} is not verified"));
    }
}

/// Adds work that was written to todo files, and the last plan if no work followed it.
pub(crate) fn written_down(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    let stays = |note: &&WorkNote| {
        evidence.files.get(&note.path).is_some_and(|file| file.changed() && !file.deleted)
    };
    let of = |purpose| {
        evidence.work_notes.iter().filter(stays).filter(move |note| note.purpose == purpose)
    };
    for todo in of(NotePurpose::Todo).rev().take(TODOS) {
        let path = entries.path(&todo.path);
        // An earlier entry that contains only the path is less useful than this entry.
        let quoted = format!("`{path}`");
        list.retain(|known| !known.ends_with(&quoted) || known.len() > quoted.len() + POINTER);
        push(list, format!("{} (todo `{path}`)", todo_in_short(entries, todo)));
    }
    for plan in of(NotePurpose::Plan).rev().take(1) {
        let later = |origin: Origin| origin.source != plan.origin.source || origin > plan.origin;
        let is_work = |path: &str| !path.ends_with(".md");
        let followed = evidence.commits.iter().any(|commit| later(commit.origin))
            || evidence.changed_files().any(|(path, work)| is_work(path) && later(work.last))
            // Completed tasks count, because the transcripts of the sub-agents that did the work
            // may be missing.
            || evidence.tasks.iter().any(|task| task.state == TaskState::Completed);
        if !followed && let Some(goal) = goal_of_plan(&plan.text) {
            let path = entries.path(&plan.path);
            let goal = cut_at_clause(&entries.tidy_line(&goal), ENTRY);
            push(list, format!("Execute `{path}`: {}", without_full_stop(&goal)));
        }
    }
}

/// Returns the title of a todo file, and the first sentences of up to six labelled items. If the
/// file has no such items, returns up to six numbered steps of its solution instead.
fn todo_in_short(entries: &Entries<'_>, todo: &WorkNote) -> String {
    let given = pattern!(r#"(?m)\A---\n(?:.*\n)*?title: *"?(.+?)"?$"#).captures(&todo.text);
    let heading = pattern!(r"(?m)^# +(.+)$").captures(&todo.text);
    let title =
        given.or(heading).map_or("", |found| found.get(1).map_or("", |title| title.as_str()));
    let title = if title.is_empty() { "Todo written" } else { title };
    let body = pattern!(r"\A---\n[\s\S]*?\n---\n").replace(&todo.text, "");
    let items = passages(&body).into_iter().filter(|passage| {
        matches!(passage.form, Form::Item { depth: 1, ticked: None | Some(false) })
            // The evidence replaces the middle of a long text with this mark.
            && !passage.text.contains(" … ")
    });
    let items: Vec<Passage> = items.collect();
    let first = |item: &Passage| {
        let first = sentences(&item.text).first().copied().unwrap_or_default();
        without_full_stop(first).to_owned()
    };
    let labelled = items.iter().filter_map(|item| {
        let label = item.label.as_deref()?;
        Some(format!("{label}: {}", first(item)))
    });
    let mut shown: Vec<String> = labelled.take(6).collect();
    if shown.is_empty() {
        let steps = items.iter().filter(|item| item.mark.is_some() && is_of_solution(item));
        shown = steps.map(first).take(6).collect();
    }
    let items = if shown.is_empty() { String::new() } else { format!(": {}", shown.join("; ")) };
    cut_at_clause(&entries.tidy_line(&format!("{title}{items}")), TODO)
}

fn is_of_solution(item: &Passage) -> bool {
    let heading = item.headings.last().map(String::as_str).unwrap_or_default();
    pattern!(r"(?i)^(?:proposed |suggested |possible )?(?:solution|approach|fix|next steps?|steps|plan|tasks?|to ?do)\b")
        .is_match(heading)
}

/// Returns the goal of a plan: its objective, or else its title.
fn goal_of_plan(text: &str) -> Option<String> {
    let tagged = pattern!(r"(?s)<objective>\s*(.+?)(?:\n\n|</objective>)").captures(text);
    if let Some(goal) = tagged {
        return Some(one_line(&goal[1]));
    }
    let body = pattern!(r"\A---\n[\s\S]*?\n---\n").replace(text, "");
    let goal = passages(&body).into_iter().find(|passage| {
        let heading = passage.headings.last().map(String::as_str).unwrap_or_default();
        passage.form == Form::Paragraph
            && pattern!(r"(?i)^(?:objective|goal|purpose)\b").is_match(heading)
    });
    let title = || pattern!(r"(?m)^# +(.+)$").captures(&body).map(|title| title[1].to_owned());
    goal.map(|goal| one_line(&goal.text)).or_else(title)
}

/// Adds the latest offer, in a report before the last one, to make a commit, push or pull request,
/// if the step was not made and no later turn changed something.
pub(crate) fn offers(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    // `next_steps::offered` reads the last report.
    let earlier = evidence.reports.iter().rev().skip(1).take(REPORTS);
    for report in earlier.filter(|report| report.changed) {
        let last = one_line(report.text.trim_end().lines().last().unwrap_or_default());
        let Some(offer) = sentences(&last).pop().filter(|one| is_phrase(Topic::PublishOffer, one))
        else {
            continue;
        };
        let is_later =
            |origin: Origin| origin.source != report.origin.source || origin > report.origin;
        // A later change shows that the user did not wait for the offered step.
        if evidence.reports.iter().any(|later| later.changed && is_later(later.origin)) {
            continue;
        }
        let made = |step| {
            let mut events = evidence.git_events.iter().filter(|one| is_later(one.origin));
            events.any(|one| one.step == step && one.succeeded)
        };
        let requests =
            [GitStep::OpenPullRequest, GitStep::MergePullRequest, GitStep::ClosePullRequest];
        let offers = |word: &str| offer.to_lowercase().contains(word);
        let is_done = match (offers("commit"), offers("push")) {
            (false, false) => requests.into_iter().any(made),
            (commits, pushes) => {
                (!commits || made(GitStep::Commit)) && (!pushes || made(GitStep::Push))
            }
        };
        let words = pattern!(
            r"(?i)\b(?:to|i) ((?:also )?(?:commit|push|merge|open|create|make)\b[^?]*)\?$"
        )
        .captures(offer);
        if !is_done && let Some(words) = words {
            push(list, entries.tidy(&format!("Offered, not answered: {}", &words[1])));
            return;
        }
    }
}

/// Adds the checks of a plan that were certainly not made. The check by a command was not made if
/// the command never ran and the tests do not pass. A manual check was not made if no report calls
/// it verified.
///
/// Other checks are left out, because a report may describe them in other words.
pub(crate) fn unchecked(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    let ran = |code: &str| evidence.commands.iter().any(|run| runs_the_same(code, &run.command));
    let tests_pass = main_run(evidence).is_some_and(|run| run.failed == 0);
    let is_never_run = |check: &str| {
        let mut codes = check.split('`').skip(1).step_by(2).filter(|code| is_check(code));
        let is_command = check.trim_start().starts_with('`') && codes.clone().next().is_some();
        is_command && !tests_pass && !codes.any(ran)
    };
    let is_manual = |check: &str| pattern!(r"(?i)^manual(?:ly)?\b").is_match(check);
    let is_verified = |check: &str| {
        let check = words(check);
        let claims = entries.reports.reports.iter().flat_map(|report| &report.claims);
        let mut verified = claims.filter(|claim| says_verified(&claim.text));
        verified.any(|claim| share_of_words(&check, &words(&claim.text)) >= 0.3)
    };
    let open = evidence.planned_checks.iter().map(|check| check.text.as_str());
    let open = open.filter(|check| is_never_run(check) || is_manual(check) && !is_verified(check));
    let open: Vec<String> =
        open.map(|check| without_full_stop(&entries.tidy_line(check)).to_owned()).collect();
    if !open.is_empty() && !evidence.reports.is_empty() {
        let line = format!("Not shown as checked (from the plan): {}", open.join("; "));
        push(list, cut_at_clause(&line, ENTRY));
    }
}

/// Adds the documents and tests of an approved plan that were not changed after the approval, if at
/// least two files of the plan were changed.
pub(crate) fn untouched(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    for plan in evidence.choices.iter().filter(|choice| choice.answer == "accepted") {
        let is_touched = |name: &String| {
            let base = name.rsplit('/').next().unwrap_or(name);
            evidence.files.iter().any(|(path, work)| {
                let is_it = path.rsplit(['/', '\\']).next() == Some(base);
                let is_later = work.last.source != plan.origin.source || work.last > plan.origin;
                is_it && is_later && work.changed()
            })
        };
        let (touched, mut left): (Vec<&String>, Vec<&String>) =
            plan.files.iter().partition(|name| is_touched(name));
        // Planned code may have been written to another file. A missing test or document is
        // missing work.
        left.retain(|name| {
            pattern!(r"(?i)\.(?:md|mdx|rst|adoc|feature)$|test|spec").is_match(name)
        });
        if touched.len() < 2 || left.is_empty() || evidence.files_left_out > 0 {
            continue;
        }
        let left: Vec<String> =
            left.into_iter().map(|name| format!("`{}`", entries.path(name))).collect();
        let left = shortened(left, UNTOUCHED);
        let title = entries.tidy_line(&plan.question);
        let title = title.trim_start_matches("Plan: ");
        push(list, format!("Planned, not changed ({}): {}", cut(title, 60), left.join(", ")));
    }
}

/// Adds the suggestions of the last reports that no later work took up.
pub(crate) fn suggested(entries: &Entries<'_>, list: &mut Vec<String>) {
    let reports = &entries.reports.reports;
    let is_heading = |text: &str| {
        pattern!(r"(?i)^(?:\W*)(?:(?:minor |optional |other |small |remaining |further )?(?:suggest(?:ions?|ed improvements?)|recommend(?:ations?|ed)|improvements?|nice.to.haves?|nits?|optional)|consider\b.*)(?: \([^)]*\))?:?$")
            .is_match(text)
    };
    let mut count = 0;
    for report in reports.iter().rev().take(REPORTS).filter(|report| !report.asks) {
        let claims = report.claims.iter().filter(|claim| {
            let headed = [claim.section.as_deref(), claim.label.as_deref()];
            let is_below = headed.into_iter().flatten().any(is_heading);
            let says = pattern!(r"^(?:Consider|It (?:may|might) be worth) ").is_match(&claim.text);
            (is_below && claim.listed || says) && !claim.nested
        });
        for claim in claims {
            let plain = Claim { topic: None, ..claim.clone() };
            let Some(line) = entries.claim(&plain) else { continue };
            if count < SUGGESTIONS && !is_taken_up(entries, &line, report.origin) {
                push(list, format!("{SUGGESTED}{line}"));
                count += 1;
            }
        }
    }
}

/// Whether a command builds, tests or checks something, judged by its words.
fn is_check(code: &str) -> bool {
    pattern!(r"\b(?:test|tests|build|check|lint|clippy|typecheck|tsc|pytest|vitest|jest)\b")
        .is_match(code)
}

/// Whether a command line that ran contains the first two words of the last command of `code`,
/// such as `cargo build`.
fn runs_the_same(code: &str, line: &str) -> bool {
    let last = code.rsplit("&&").next().unwrap_or(code);
    let meant: Vec<&str> = last.split_whitespace().take(2).collect();
    line.contains(&meant.join(" "))
}

fn says_verified(text: &str) -> bool {
    pattern!(r"(?i)\b(?:verified|confirmed|checked|tested|works)\b").is_match(text)
}

/// Adds the unticked boxes in the texts of the session's pull requests, the newest pull request
/// first.
pub(crate) fn unticked(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    let published = evidence.publications.iter();
    let published = published.filter(|one| one.kind == PublicationKind::PullRequest);
    let published: Vec<&Publication> = published.collect();
    // The number of an earlier pull request is known only if the session opened all pull requests
    // in the evidence.
    let are_paired = published.len() == evidence.pull_requests.len();
    let mut count = 0;
    for (at, request) in published.iter().enumerate().rev() {
        let is_newest = at + 1 == published.len();
        let known = evidence.pull_requests.get(at).filter(|_| are_paired);
        let known = known.or(evidence.pull_requests.last().filter(|_| is_newest));
        let of = match known.and_then(|known| known.number) {
            Some(number) => format!("PR #{number}"),
            None if is_newest => "the pull request".to_owned(),
            None => continue,
        };
        let boxes = passages(&request.body).into_iter();
        let open = boxes.filter(|one| matches!(one.form, Form::Item { ticked: Some(false), .. }));
        for passage in open {
            let label = passage.label.map_or(String::new(), |label| format!("{label}: "));
            let line = entries.tidy(&format!("{label}{}", passage.text));
            let says = line.split_whitespace().count() >= 3
                && !pattern!(r"(?i)^(?:no|none|n/a)\b").is_match(&line);
            if count < BOXES
                && says
                && !ran_well(entries, &line)
                && !is_taken_up(entries, &line, request.origin)
            {
                push(list, format!("Unchecked in {of}: {line}"));
                count += 1;
            }
        }
    }
}

/// Whether the command or the check in the text of a box succeeded in the session.
fn ran_well(entries: &Entries<'_>, check: &str) -> bool {
    let evidence = entries.evidence;
    let ran = |code: &str| {
        let meant: Vec<&str> = code.split_whitespace().collect();
        evidence.commands.iter().any(|run| {
            let words: Vec<&str> = run.command.split_whitespace().collect();
            run.outcome.succeeded() && meant.iter().all(|word| words.contains(word))
        })
    };
    let mut codes = check.split('`').skip(1).step_by(2).filter(|code| is_check(code)).peekable();
    if codes.peek().is_some() {
        return codes.all(ran);
    }
    let passed =
        |kind| checks::last_runs(evidence).iter().any(|check| check.kind == kind && !check.failed);
    let says = |words: &regex::Regex| words.is_match(check);
    says(&*pattern!(r"(?i)^(?:all |unit |existing )*tests? (?:still )?pass\w*\W*$"))
        && main_run(evidence).is_some_and(|run| run.failed == 0)
        || says(&*pattern!(r"(?i)^(?:\w+ )?(?:build (?:passes|succeeds)|builds?)\W*$"))
            && passed(CheckKind::Build)
        || says(&*pattern!(r"(?i)^(?:the )?(?:type ?check|types?) (?:passes|pass|succeeds)\W*$"))
            && passed(CheckKind::Types)
        || says(&*pattern!(r"(?i)^lint(?:er|ing)? (?:passes|is clean|succeeds)\W*$"))
            && passed(CheckKind::Lint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{
            evidence::{Evidence, FileWork, GitEvent, Quote, TurnReport},
            time::Timestamp,
        },
        report::Reports,
    };

    fn listed(evidence: &Evidence, add: fn(&Entries<'_>, &mut Vec<String>)) -> Vec<String> {
        let reports = Reports::of(evidence);
        let mut list = Vec::new();
        add(&Entries { evidence, reports: &reports, project: None }, &mut list);
        list
    }

    fn at(line: u64) -> Origin {
        Origin { source: 0, line }
    }

    #[test]
    fn a_commit_of_a_sub_agent_before_an_error_did_not_try_to_fix_it() {
        let time = |second| Some(Timestamp::from_seconds(second));
        let error = |line: u64| Quote {
            text: "error[E0308]: mismatched types in the parser of dates".to_owned(),
            origin: at(line),
            at: time(100 + i64::try_from(line).unwrap()),
        };
        let commit = |second| Commit {
            hash: "1a2b3c4".to_owned(),
            subject: "Add a page".to_owned(),
            body: String::new(),
            origin: Origin { source: 1, line: 2 },
            at: time(second),
        };
        for (second, tried) in [(50, "the last attempt"), (200, "`1a2b3c4`")] {
            let evidence = Evidence {
                pasted_errors: vec![error(3), error(9)],
                commits: vec![commit(second)],
                ..Evidence::default()
            };
            let listed = listed(&evidence, returned_errors);
            assert!(listed[0].ends_with(&format!("{tried} is not verified")), "{listed:?}");
        }
    }

    fn note(path: &str, purpose: NotePurpose, text: &str) -> Evidence {
        let origin = at(5);
        let note = WorkNote { path: path.to_owned(), purpose, text: text.to_owned(), origin };
        let mut evidence = Evidence { work_notes: vec![note], ..Evidence::default() };
        let work = FileWork { writes: 1, last: origin, ..FileWork::default() };
        evidence.files.insert(path.to_owned(), work);
        evidence
    }

    #[test]
    fn a_todo_file_is_open_with_its_problems() {
        let text = "---\ntitle: \"Deferred findings\"\n---\n\n## Problem\n\n- **M1**: Names are plain. More.\n- **L4**: No pages\n";
        let mut evidence = note("/app/todos/a.md", NotePurpose::Todo, text);
        assert_eq!(
            listed(&evidence, written_down),
            ["Deferred findings: M1: Names are plain; L4: No pages (todo `/app/todos/a.md`)"]
        );
        evidence.files.clear();
        assert!(listed(&evidence, written_down).is_empty());
    }

    #[test]
    fn a_todo_file_without_labels_is_open_with_the_steps_of_its_solution() {
        let text = "# Cache the list\n\n## Problem\n\n1. It is slow\n\n## Solution\n\n1. Keep the rows. More.\n2. Drop them on a change\n";
        let evidence = note("/app/todos/a.md", NotePurpose::Todo, text);
        let reports = Reports::of(&evidence);
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let mut list = vec!["Todo saved: `/app/todos/a.md`".to_owned()];
        written_down(&entries, &mut list);
        assert_eq!(
            list,
            ["Cache the list: Keep the rows; Drop them on a change (todo `/app/todos/a.md`)"]
        );
    }

    #[test]
    fn a_plan_is_open_until_work_follows() {
        let text = "---\nphase: 1\n---\n\n<objective>\nMove the bar below the list.\n\nPurpose: x\n</objective>\n";
        let mut evidence = note("/app/013-PLAN.md", NotePurpose::Plan, text);
        assert_eq!(
            listed(&evidence, written_down),
            ["Execute `/app/013-PLAN.md`: Move the bar below the list"]
        );
        let work = FileWork { edits: 1, last: at(9), ..FileWork::default() };
        evidence.files.insert("/app/bar.ts".to_owned(), work);
        assert!(listed(&evidence, written_down).is_empty());
    }

    #[test]
    fn an_offer_to_commit_stays_open_until_there_is_a_commit() {
        let report = |line, text: &str, changed| TurnReport {
            text: text.to_owned(),
            origin: at(line),
            changed,
            ..TurnReport::default()
        };
        let reports = vec![
            report(3, "Done.\n\nWould you like me to commit these changes?", true),
            report(9, "The document is attached.", false),
        ];
        let evidence = Evidence { reports, ..Evidence::default() };
        assert_eq!(listed(&evidence, offers), ["Offered, not answered: commit these changes"]);
        let mut failed = evidence.clone();
        failed.git_events.push(GitEvent {
            step: GitStep::Commit,
            succeeded: false,
            branch: None,
            error: None,
            origin: at(5),
            at: None,
        });
        assert_eq!(listed(&failed, offers), ["Offered, not answered: commit these changes"]);
        failed.git_events[0].succeeded = true;
        assert!(listed(&failed, offers).is_empty());
        let mut with_later_work = evidence;
        with_later_work.reports.push(report(15, "The keys are sorted now.", true));
        assert!(listed(&with_later_work, offers).is_empty());
    }

    #[test]
    fn a_box_whose_command_succeeded_is_not_open() {
        let body = "- [ ] API builds: `pnpm --filter api build`\n- [ ] Upload a file on staging\n- [ ] No code changes - docs only\n";
        let request = Publication {
            kind: PublicationKind::PullRequest,
            title: None,
            body: body.to_owned(),
            origin: at(9),
        };
        let run = |outcome| crate::model::evidence::CommandRun {
            place: None,
            shows_failure: false,
            command: "pnpm --filter api build 2>&1".to_owned(),
            outcome,
            origin: at(2),
            at: None,
        };
        let mut evidence = Evidence { publications: vec![request], ..Evidence::default() };
        evidence.commands = vec![run(crate::model::transcript::Outcome::Succeeded)];
        let open = "Unchecked in the pull request: Upload a file on staging";
        assert_eq!(listed(&evidence, unticked), [open]);
        evidence.commands = vec![run(crate::model::transcript::Outcome::Failed(Some(1)))];
        assert_eq!(listed(&evidence, unticked).len(), 2);
    }

    #[test]
    fn checks_of_a_plan_are_open_unless_something_ran() {
        let check = |text: &str| Quote { text: text.to_owned(), origin: at(1), at: None };
        let mut evidence = Evidence {
            planned_checks: vec![
                check("Open the page and look"),
                check("Manual: old files still open"),
                check("`cd desktop && cargo build`: it builds"),
                check("`cargo test --features mount`"),
            ],
            reports: vec![TurnReport { text: "Fixed.".to_owned(), ..TurnReport::default() }],
            commands: vec![crate::model::evidence::CommandRun {
                place: None,
                shows_failure: false,
                command: "cargo build --release".to_owned(),
                outcome: crate::model::transcript::Outcome::Succeeded,
                origin: at(2),
                at: None,
            }],
            ..Evidence::default()
        };
        assert_eq!(
            listed(&evidence, unchecked),
            [
                "Not shown as checked (from the plan): Manual: old files still open; `cargo test --features mount`"
            ]
        );
        evidence.reports[0].text = "- Verified that old files still open".to_owned();
        assert_eq!(
            listed(&evidence, unchecked),
            ["Not shown as checked (from the plan): `cargo test --features mount`"]
        );
    }
}
