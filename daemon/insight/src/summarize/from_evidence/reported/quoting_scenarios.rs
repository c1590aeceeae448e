//! Tests of what a summary quotes from reports, and of what later turns make obsolete.

use crate::{
    model::{
        activity::ActivityVector,
        project::Project,
        summary::EnhancedSessionSummary,
        transcript::{ChangeKind, Outcome},
    },
    summarize::{
        evidence::scenarios::{FAILING, Script, change},
        from_evidence::{Context, summarize},
    },
};

/// A last report that repeats nothing of the reports in these tests.
const LAST: &str = "The page of the shop names the day of each order now, in the language of the customer, and the archive names it in the language of the shop that the order was made in.";

fn summary(script: &Script) -> EnhancedSessionSummary {
    let project = Project::new("/app");
    let context = Context { project: Some(&project), ..Context::default() };
    summarize(&script.collect(), &context, ActivityVector::default())
}

/// Returns the completed tasks of a session in which a turn ends with `report` and the next prompt
/// is `next`.
fn done(report: &str, next: &str) -> Vec<String> {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    script.edit("a", "/app/list.rs", "a", "b");
    script.reply("m1", report);
    script.prompt(next);
    script.edit("b", "/app/page.rs", "a", "b");
    script.reply("m2", LAST);
    summary(&script).completed_tasks.unwrap_or_default()
}

#[test]
fn a_list_is_quoted_as_a_whole_with_its_introduction() {
    let report = "The reader has two parts now:\n\n- `scan` splits the lines\n- `parse` reads a line\n\nHere's the plan:\n\n- Delete `old.rs`\n- Update the index\n";
    assert_eq!(
        done(report, "now the page"),
        ["The reader has two parts now: `scan` splits the lines; `parse` reads a line"]
    );
}

#[test]
fn a_list_of_proposals_is_not_done() {
    let items = "1. Add an index on the date column\n2. Move the totals into a view\n3. Cache the first page of the list\n";
    let listed = |heading: &str| {
        let report = format!("The list is sorted by date now.\n\n{heading}\n\n{items}");
        done(&report, "now the page")
    };
    for heading in [
        "Future work",
        "Future improvements",
        "Improvements to consider",
        "Some suggestions",
        "Other options",
        "Potential next steps",
        "Before you deploy",
        "Further ideas",
        "Things to watch",
        "Nice to have",
    ] {
        for form in [format!("{heading}:"), format!("**{heading}:**"), format!("## {heading}")] {
            assert_eq!(listed(&form), ["The list is sorted by date now."], "{form}");
        }
    }
    for heading in ["Changes:", "## What changed", "The import does three things:"] {
        let shown = listed(heading).join(" ");
        assert!(shown.contains("Move the totals into a view"), "{heading}: {shown}");
    }
}

#[test]
fn rows_of_a_table_have_their_heading() {
    let report = "**All findings fixed:**\n\n| ID | Fix |\n|----|-----|\n| H-01 | A lock around `unlink` |\n| H-02 | The key is cleared in `create` |\n";
    assert_eq!(
        done(report, "now the page"),
        ["All findings fixed: H-01: A lock around `unlink`; H-02: The key is cleared in `create`"]
    );
}

#[test]
fn a_dependent_sentence_needs_the_sentence_before_it() {
    let report = "The list is sorted by the date of the invoice. It falls back to the number.\n\nWant me to sort the archive? It has the same order.\n";
    assert_eq!(
        done(report, "now the page"),
        ["The list is sorted by the date of the invoice. It falls back to the number."]
    );
}

#[test]
fn work_that_the_user_wanted_otherwise_is_left_out() {
    let report = "The order is kept in the storage of the browser and read at the start.";
    let shown = done(report, "hmm, I think it's better not to store anything in the browser");
    assert!(!shown.iter().any(|line| line.contains("browser")), "{shown:?}");
    assert!(!done(report, "now the page").is_empty());
}

#[test]
fn a_fix_that_did_not_help_gets_little_space() {
    let report = format!(
        "The reader of the list closes the file. {}\n\nThe writer was left as it was in the archive.",
        "The file is closed behind each line of the list and in the error path. ".repeat(4)
    );
    let shown = done(&report, "it still fails with the same error").join(" ");
    assert!(shown.contains("closes the file") && !shown.contains("The writer"), "{shown}");
    assert!(done(&report, "now the page").join(" ").contains("The writer"));
}

#[test]
fn only_the_last_report_may_contain_a_guess() {
    let report =
        "The list is sorted by the date now. The archive might have the same error in its reader.";
    assert_eq!(done(report, "now the page"), ["The list is sorted by the date now."]);
}

#[test]
fn tests_that_never_ran_are_open() {
    let script = |command: &str| {
        let mut script = Script::default();
        script.prompt("Add tests of the sharing dialog");
        script.edit("a", "/app/tests/sharing.spec.ts", "", "test()");
        script.run("c", command, Outcome::Succeeded, "");
        script.reply("m", "The tests of the sharing dialog are written.");
        summary(&script).next_steps.unwrap_or_default()
    };
    let open = ["Tests were changed, and no run of them is recorded: `tests/sharing.spec.ts`"];
    assert_eq!(script("npx tsc --noEmit --project tests/tsconfig.json"), open);
    assert!(script("npx playwright test tests/sharing.spec.ts").is_empty());
}

#[test]
fn tests_that_failed_before_the_last_commit_are_not_open() {
    let script = |commits: bool| {
        let mut script = Script::default();
        script.prompt("Fix the clock of the login");
        script.edit("a", "/app/clock.rs", "a", "b");
        script.run("c", "cargo test", Outcome::Failed(Some(101)), FAILING);
        if commits {
            let printed = "[main 1a2b3c4] Fix the clock\n";
            script.run("d", "git commit -m 'Fix the clock'", Outcome::Succeeded, printed);
        }
        script.reply("m", "The clock of the login is read in seconds now.");
        summary(&script).next_steps.unwrap_or_default().join(" ").contains("failing test")
    };
    assert_eq!((script(false), script(true)), (true, false));
}

/// Returns the last words and discoveries of a session that changes nothing, given prompts with
/// their answers.
fn found(turns: &[(&str, &str)]) -> String {
    let mut script = Script::default();
    for (at, (prompt, answer)) in turns.iter().enumerate() {
        script.prompt(prompt);
        script.reply(&format!("m{at}"), answer);
    }
    let found = summary(&script);
    let ended = found.last_words.unwrap_or_default();
    format!("{ended} {}", found.discoveries.unwrap_or_default().join("\n"))
}

#[test]
fn findings_of_a_review_end_when_a_later_review_finds_nothing() {
    let first = "Two findings in the branch.\n\n- **High**: the budget of the reader can become zero\n- **Low**: the name of the test is wrong\n";
    let ask = "Review the branch of the reader";
    assert!(found(&[(ask, first)]).contains("budget"));
    let shown = found(&[(ask, first), ("look again", "No findings in the second pass over it.")]);
    assert!(!shown.contains("budget"), "{shown}");
    let shown =
        found(&[(ask, first), ("and the writer?", "The writer has the same budget field.")]);
    assert!(shown.contains("become zero"), "{shown}");
}

#[test]
fn an_answer_that_the_user_calls_wrong_is_left_out() {
    let answer = "The branch has a batching logic in `batch.rs` that splits each request.";
    let ask = "What does the branch change in the reader of requests?";
    let shown =
        found(&[(ask, answer), ("no, that's the wrong branch", "I read the other checkout.")]);
    assert!(!shown.contains("batching"), "{shown}");
    let shown = found(&[(ask, answer), ("and the tests?", "The tests cover the splitting.")]);
    assert!(shown.contains("batching"), "{shown}");
}

#[test]
fn offered_options_are_no_findings() {
    let answer = "The list is sorted in the browser.\n\n**Option 1: sort on the server**\n\nRequests become slower by the sort.\n\nWhich one do you prefer?";
    let shown = found(&[("Where is the list sorted?", answer), ("thanks", "You are welcome.")]);
    assert!(shown.contains("sorted in the browser") && !shown.contains("slower"), "{shown}");
}

#[test]
fn the_first_order_replaces_an_opening_question() {
    let mut script = Script::default();
    script.prompt("Is the work on mails already logged anywhere?");
    script.reply("m1", "No, the work on mails is not logged anywhere.");
    script.prompt("Add a sender of mails with a retry for each address.");
    script.edit("a", "/app/mail.rs", "a", "b");
    script.reply("m2", "The sender retries each address now.");
    let found = summary(&script);
    assert_eq!(
        found.objective,
        "Add a sender of mails with a retry for each address (began with: Is the work on mails already logged anywhere?)"
    );
    assert_eq!(found.discoveries, None);
}

#[test]
fn a_fragment_at_the_start_is_left_out() {
    let report = "Let me check. ...and similarly in `FileMetadata` of the reader. The section sits between two others.\n\nThe reader closes its file.";
    assert_eq!(done(report, "now the page"), ["The reader closes its file."]);
}

#[test]
fn a_problem_is_marked_as_earlier_than_the_change() {
    let report = "## The problem\n\n- The reader waits for the writer\n- The writer waits for the index\n\n## What changed\n\n- The reader asks the index by itself\n";
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    script.edit("a", "/app/list.rs", "a", "b");
    script.reply("m1", report);
    let found = summary(&script);
    assert_eq!(found.last_words.unwrap(), "The reader asks the index by itself.");
    assert_eq!(
        found.discoveries.unwrap(),
        [
            "The problem before the change: The reader waits for the writer; The writer waits for the index"
        ]
    );
}

#[test]
fn only_the_new_items_of_a_list_that_a_commit_repeats_are_quoted() {
    let shown = |body: &str| {
        let mut script = Script::default();
        script.prompt("Sort the list of invoices by date");
        script.edit("a", "/app/list.rs", "a", "b");
        let command = format!("git commit -m 'Sort the invoices' -m '{body}'");
        script.run("c", &command, Outcome::Succeeded, "[main 1a2b3c4] Sort the invoices\n");
        script.reply("m1", "The parts of the change:\n\n- Added a column of dates to the invoices\n- Sorted the rows of the archive by number\n");
        script.prompt("now the page");
        script.edit("b", "/app/page.rs", "a", "b");
        script.reply("m2", LAST);
        summary(&script).completed_tasks.unwrap_or_default().join("\n")
    };
    let whole = "The parts of the change: Added a column of dates to the invoices; Sorted the rows of the archive by number";
    assert!(shown("Nothing else.").contains(whole));
    let part = shown("Added a column of dates to the invoices");
    assert!(
        part.contains("The parts of the change: Sorted the rows of the archive by number"),
        "{part}"
    );
}

#[test]
fn revoked_work_is_left_out_and_the_objection_is_a_decision() {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    script.edit("a", "/app/list.rs", "a", "b");
    script.edit("g", "/app/guide.md", "a", "b");
    script.reply(
        "m1",
        "Changes made:\n\n- `guide.md`: Updated the inventory to name all tables\n- The archive has a column of dates already\n",
    );
    script.prompt("but the new file is read anyway, why would you change the old one?");
    script.edit("b", "/app/list.rs", "b", "a");
    script.reply("m2", "You're right, that is unnecessary. Let me revert it.");
    script.prompt("now the page");
    script.edit("c", "/app/page.rs", "a", "b");
    script.edit("h", "/app/guide.md", "b", "c");
    script.reply("m3", LAST);
    let found = summary(&script);
    let done = found.completed_tasks.unwrap_or_default().join("\n");
    assert!(!done.contains("inventory") && done.contains("column of dates"), "{done}");
    let decision = &found.key_decisions.unwrap()[0];
    assert_eq!(
        (decision.decision.as_str(), decision.rationale.as_str()),
        (
            "User: \"but the new file is read anyway, why would you change the old one?\"",
            "The user's words, the agent agreed"
        )
    );
}

#[test]
fn a_file_that_was_deleted_again_is_left_out() {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    script.call("w", "Write", change("/app/sample.json", ChangeKind::Written, "", "{}"));
    script.result("w", Outcome::Succeeded, "");
    script.edit("a", "/app/list.rs", "a", "b");
    script.reply("m1", "The parts are:\n\n- `sample.json`, an example of an invoice\n- `list.rs`, which sorts the rows by date\n");
    script.prompt("now the page");
    script.run("r", "rm -f /app/sample.json", Outcome::Succeeded, "");
    script.edit("b", "/app/page.rs", "a", "b");
    script.reply("m2", LAST);
    let done = summary(&script).completed_tasks.unwrap_or_default().join("\n");
    assert!(!done.contains("sample.json") && done.contains("sorts the rows"), "{done}");
}

#[test]
fn text_that_a_commit_contains_is_not_repeated() {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    script.edit("a", "/app/list.rs", "a", "b");
    let command = "git commit -m 'Sort the invoices' -m 'The page used `row_of` and `cell_of` where the list has `line_of`, so each test waited for a row that never came.'";
    script.run("c", command, Outcome::Succeeded, "[main 1a2b3c4] Sort the invoices\n");
    script.reply("m1", "The page looked for `row_of` and `cell_of`, but the list has `line_of`. This was why each test waited for a row and always timed out at the end.");
    script.prompt("now the page");
    script.edit("b", "/app/page.rs", "a", "b");
    script.reply("m2", LAST);
    let done = summary(&script).completed_tasks.unwrap_or_default();
    assert!(done.iter().all(|line| !line.contains("looked for")), "{done:?}");
}

#[test]
fn a_conclusion_has_priority_over_the_text_before_it() {
    let items: String = (1..9)
        .map(|day| format!("- Row {day} of the list keeps the name of customer {day} and the number of order {day}0 of week {day}\n"))
        .collect();
    let report = format!(
        "The list is sorted by day.\n\nIt has these rows:\n\n{items}\n**Conclusion:** The format of the archive need not be changed for that sorting.\n"
    );
    let shown = done(&report, "now the page").join("\n");
    assert!(shown.contains("The format of the archive need not be changed"), "{shown}");
}

#[test]
fn a_decision_left_to_the_user_ends_with_the_next_prompt() {
    let report = "Sorted the list by the date of the invoice. The entry can go into this release or into the next one, your call.\n";
    assert_eq!(done(report, "into this one"), ["Sorted the list by the date of the invoice."]);
}

#[test]
fn a_cause_is_kept_although_the_report_ends_with_a_choice() {
    let mut script = Script::default();
    script.prompt("Why is the list of the shop empty at night?");
    script.reply("m1", "I looked at the job of the night and at its lock.\n\n## Root cause\n\nThe job reads the rows of the list before the writer has taken its lock.\n\n## Options\n\n1. Take the lock in the job of the list\n2. Copy the rows of the list first\n\nWhich one do you prefer?");
    let found = summary(&script).discoveries.unwrap_or_default().join("\n");
    assert!(found.contains("before the writer has taken its lock"), "{found}");
    assert!(!found.contains("Copy the rows"), "{found}");
}

#[test]
fn the_answer_after_a_remark_on_a_commit_is_kept() {
    let mut script = Script::default();
    script.prompt("Sort the list of the shop by date");
    let printed = "[main 1a2b3c4] docs: the list of the shop\n";
    script.run("a", "git commit -qam 'docs: the list of the shop'", Outcome::Succeeded, printed);
    script.reply("m1", "The list has no date yet, so each row of the shop needs one before that.");
    script.prompt("why is the list of the shop empty at night?");
    script.reply("m2", "Committed: `docs: the list of the shop`\n\nThe job reads the rows of the list before the writer of the night has its lock.");
    script.prompt("thanks, and the page?");
    script.reply("m3", LAST);
    let found = summary(&script).discoveries.unwrap_or_default().join("\n");
    assert!(found.contains("before the writer of the night has its lock"), "{found}");
}

#[test]
fn a_progress_file_is_quoted_like_a_report() {
    let mut script = Script::default();
    script.prompt("Read each row of the list only once");
    script.edit("a", "/app/src/list.rs", "a", "b");
    script.reply("m", "Both rows are still read twice.");
    script.prompt("can you write this into a markdown file for now?");
    let document = "# WIP: rows of the list\n\n**Date**: 2026-01-30\n**Status**: In Progress\n\n## Fixes Applied\n\n### 1. Cursor (`list.rs`)\n\n**Problem**: `next_row()` always began with the first row.\n\n**Fix**: Added `next_free_row()` to skip the rows that were read:\n\n```rust\nfn next_free_row() {}\n```\n\n**Result**: Each reader gets rows of its own. ✅\n\n### 2. Comparison (`row.rs`)\n\n**Fix**: Added `is_same_row()` to compare the hashes of the rows:\n\n```rust\nfn is_same_row() {}\n```\n\n**Result**: Not working yet - both rows are still read. ❌\n";
    script.call("w", "Write", change("/app/docs/list.md", ChangeKind::Written, "", document));
    script.result("w", Outcome::Succeeded, "");
    script.reply("n", "Created `docs/list.md` with the full context.");
    let summary = summary(&script);
    let done = summary.completed_tasks.unwrap_or_default().join("\n");
    assert!(done.contains("Fix: Added `next_free_row()` to skip the rows"), "{done}");
    assert!(!done.contains("is_same_row"), "a fix without success: {done}");
    let open = "Comparison (`row.rs`): Not working yet - both rows are still read";
    assert_eq!(summary.next_steps.unwrap_or_default(), [open]);
    let problem = "The problem before the change: `next_row()` always began with the first row.";
    assert_eq!(summary.discoveries.unwrap_or_default()[0], problem);
}
