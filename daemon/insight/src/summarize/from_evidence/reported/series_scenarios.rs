//! Tests with sessions of many requests, each of which appears with its result.

use crate::{
    model::{activity::ActivityVector, project::Project, summary::EnhancedSessionSummary},
    summarize::{
        evidence::scenarios::Script,
        from_evidence::{Context, summarize},
    },
};

fn summary(script: &Script) -> EnhancedSessionSummary {
    let project = Project::new("/app");
    let context = Context { project: Some(&project), ..Context::default() };
    summarize(&script.collect(), &context, ActivityVector::default())
}

/// Returns the discoveries of a session that changes nothing, given prompts with their answers.
fn found(turns: &[(&str, &str)]) -> Vec<String> {
    let mut script = Script::default();
    for (at, (prompt, answer)) in turns.iter().enumerate() {
        script.prompt(prompt);
        script.reply(&format!("m{at}"), answer);
    }
    summary(&script).discoveries.unwrap_or_default()
}

/// Returns a report about `name` that reaches the maximum length and repeats no other report.
fn long_report(name: &str) -> String {
    let items = ["reader", "writer", "index", "archive", "journal", "cache"].map(|item| {
        let words: Vec<String> =
            ('a'..='h').map(|letter| format!("{name}{item}{letter}")).collect();
        format!("- `{name}_{item}` holds {}\n", words.join(" "))
    });
    format!("The parts of {name}:\n\n{}", items.concat())
}

#[test]
fn an_early_report_is_cut_to_its_beginning_if_later_ones_fill_the_budget() {
    let names = ["apples", "berries", "cherries", "dates", "elders", "figs", "grapes"];
    let prompts: Vec<String> =
        names.iter().map(|name| format!("Read the module of {name}")).collect();
    let reports: Vec<String> = names.iter().map(|name| long_report(name)).collect();
    let turns: Vec<(&str, &str)> =
        prompts.iter().map(String::as_str).zip(reports.iter().map(String::as_str)).collect();
    let shown = found(&turns);
    // The last report becomes the last words of the session.
    for name in &names[..6] {
        assert!(
            shown.iter().any(|line| line.contains(&format!("`{name}_reader`"))),
            "{name}: {shown:#?}"
        );
    }
    assert!(shown[0].len() < 350 && shown[0].contains(" more"), "{}", shown[0]);
}

#[test]
fn a_review_of_something_else_does_not_end_the_findings_of_an_earlier_one() {
    let first = "- **High**: the budget of the reader can become zero\n- **Low**: the name of the test is wrong\n";
    let shown = |second: &str| {
        found(&[
            ("Look around", "The repository has a reader and a writer of pages."),
            ("Review commit a1b2c3d (narrow the reader).", first),
            (second, "No findings."),
            ("Say bye", "Bye and thanks for all the pages that were read."),
        ])
        .join("\n")
    };
    let other = shown("Review the current worktree changes for the links in the documentation.");
    assert!(other.contains("become zero"), "{other}");
    assert!(other.contains("links in the documentation. Answer: No findings"), "{other}");
    let again = shown("Review the commit a1b2c3d again.");
    assert!(!again.contains("become zero"), "{again}");
}

#[test]
fn a_question_without_a_question_mark_is_found() {
    let shown = found(&[
        ("Look around", "The repository has a reader and a writer of pages."),
        (
            "what types of caches are there.",
            "A cache of pages and one of rows, both bounded by bytes.",
        ),
        ("Say bye", "Bye and thanks for all the pages that were read."),
    ]);
    assert!(
        shown.iter().any(|line| line
            .starts_with("Asked: what types of caches are there. Answer: A cache of pages")),
        "{shown:#?}"
    );
}

#[test]
fn a_turn_without_a_report_has_the_causes_that_led_to_changes() {
    let script = |edits: bool| {
        let mut script = Script::default();
        script.prompt("The rows of the archive are doubled. Mend it.");
        script.reply("m1", "I see the issue now. In `merge_rows`, the key has no date, so each day is added again.");
        if edits {
            script.edit("a", "/app/merge.rs", "a", "b");
        }
        script.reply("m2", "Let me run it again.");
        script.prompt("what are you doing?");
        summary(&script).discoveries.unwrap_or_default()
    };
    let shown = script(true);
    assert_eq!(
        shown,
        ["Before the change: In `merge_rows`, the key has no date, so each day is added again"]
    );
    assert!(script(false).is_empty(), "a cause on which nobody acted is a guess");
}

#[test]
fn the_request_that_led_to_a_change_follows_an_opening_question() {
    let mut script = Script::default();
    script.prompt("Why are the test files of the reader in two folders?");
    script.reply("m1", "One folder has the tests of the public interface.");
    script.prompt(
        "the setting of the reader takes on and off, booleans would be plainer for everybody",
    );
    script.edit("a", "/app/reader.rs", "a", "b");
    script.reply("m2", "The setting of the reader is `true` or `false` now.");
    let shown = summary(&script).objective;
    assert!(shown.contains("booleans would be plainer"), "{shown}");
    script.prompt("ok that sounds great. lets get this going");
    script.edit("b", "/app/reader.rs", "b", "c");
    script.reply("m3", "The documentation of the reader names both values now.");
    let shown = summary(&script).objective;
    assert!(!shown.contains("sounds great"), "{shown}");
}

#[test]
fn gaps_that_an_answer_lists_stay_open_when_other_work_follows() {
    let mut script = Script::default();
    script.prompt("Which of the sync paths have tests?");
    script.reply("m1", "The plain sync is covered.\n\n**Main gaps:**\n\n1. pruning of branches on the target has no test of the whole way\n2. the race of a stale hash is never provoked\n");
    script.prompt("Add a test for the plain sync with two targets.");
    script.edit("a", "/app/sync_test.rs", "a", "b");
    script.reply("m2", "The test of the plain sync has two targets now.");
    let open = summary(&script).next_steps.unwrap_or_default().join("\n");
    assert!(
        open.contains("Pruning of branches") && open.contains("The race of a stale hash"),
        "{open}"
    );
}

#[test]
fn the_state_of_an_unchanged_repository_has_the_branch() {
    let mut script = Script::default();
    script.prompt("What is on this branch that main does not have?");
    script.run(
        "a",
        "git status -sb",
        crate::model::transcript::Outcome::Succeeded,
        "## fix/reader...origin/fix/reader\n",
    );
    script.reply("m1", "One commit, which narrows the reader.");
    assert_eq!(summary(&script).repository.unwrap(), "branch `fix/reader`; no files were changed");
}

#[test]
fn a_status_report_is_kept_if_no_later_report_replaces_it() {
    let shown = |last: &str| {
        let mut script = Script::default();
        script.prompt("Find out why both lists are saved");
        script.edit("a", "/app/list.rs", "a", "b");
        script.prompt("what are you doing?");
        script.reply("m1", "The reader of `list.rs` still takes both of the lists, because the filter of the days is never called by the writer.");
        script.prompt("write a note about it");
        script.edit("b", "/app/note.md", "a", "b");
        script.reply("m2", last);
        summary(&script).discoveries.unwrap_or_default().concat()
    };
    assert!(shown("Wrote `note.md`.").contains("never called by the writer"));
    let whole = "The writer calls the filter of the days now, so that `list.rs` takes only one of the lists.";
    assert!(!shown(whole).contains("never called"));
}

#[test]
fn the_answer_is_the_first_paragraph_after_a_list() {
    let question = "if we would want to sort the archive, what needs to be done there?";
    let answer = "There are two different orders in this list:\n\n1. `-s` sorts the rows by the day\n2. `-n` sorts the rows by the name\n\nFor the archive, the bigger missing piece is `-n`, not the reader.\n\nYou would need a second index.\n";
    let found = found(&[("Which orders does the list have?", "It has two."), (question, answer)]);
    let wanted = format!("Asked: {question} Answer: For the archive, the bigger missing piece is");
    assert!(found.iter().any(|line| line.starts_with(&wanted)), "{found:?}");
}

#[test]
fn findings_of_a_review_are_left_out_after_they_were_fixed() {
    let shown = |prompt: &str| {
        let mut script = Script::default();
        script.prompt("Review the reader of the list");
        script.reply("m1", "**Findings**\n\n1. src/list.rs:12 reads each row of the archive twice, because the index is asked first.\n");
        script.prompt(prompt);
        script.edit("a", "/app/src/list.rs", "a", "b");
        script.reply("m2", "The index is asked once now.");
        summary(&script).discoveries.unwrap_or_default().concat()
    };
    assert!(!shown("ok, fix all of them").contains("reads each row"));
    assert!(shown("Show the days in another order").contains("reads each row"));
}

#[test]
fn an_accepted_answer_has_its_question() {
    let mut script = Script::default();
    script.prompt("would the list need an index of the days?");
    script.reply("m1", "**My recommendation:** Not yet. The list has only three hundred rows, and all of them are read at once.\n\nShall I go on?");
    script.prompt("ok");
    script.edit("a", "/app/list.rs", "a", "b");
    script.reply("m2", "The list is shown.");
    let decisions = summary(&script).key_decisions.unwrap_or_default();
    let wanted = "Would the list need an index of the days? Not yet.";
    assert!(decisions.iter().any(|one| one.decision.starts_with(wanted)), "{decisions:?}");
}
