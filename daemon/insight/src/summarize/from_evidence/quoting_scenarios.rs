//! Reports that are quoted, and what became of the work that they tell of.

use crate::{
    model::{
        activity::ActivityVector, project::Project, summary::EnhancedSessionSummary,
        transcript::Outcome,
    },
    summarize::{
        evidence::scenarios::{FAILING, Script},
        from_evidence::{Context, summarize},
    },
};

/// A last report that leaves the earlier ones in the list of what was done.
const LAST: &str = "The page of the shop names the day of each order now, in the language of the customer, and the archive names it in the language of the shop that the order was made in.";

fn summary(script: &Script) -> EnhancedSessionSummary {
    let project = Project::new("/app");
    let context = Context { project: Some(&project), ..Context::default() };
    summarize(&script.collect(), &context, ActivityVector::default())
}

/// What is told of a turn that ended with `report`, when the user then said `next`.
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
fn a_list_is_quoted_whole_with_what_introduces_it() {
    let report = "The reader has two parts now:\n\n- `scan` splits the lines\n- `parse` reads a line\n\nHere's the plan:\n\n- Delete `old.rs`\n- Update the index\n";
    assert_eq!(
        done(report, "now the page"),
        ["The reader has two parts now: `scan` splits the lines; `parse` reads a line"]
    );
}

#[test]
fn rows_of_a_table_are_told_with_their_heading() {
    let report = "**All findings fixed:**\n\n| ID | Fix |\n|----|-----|\n| H-01 | A lock around `unlink` |\n| H-02 | The key is cleared in `create` |\n";
    assert_eq!(
        done(report, "now the page"),
        ["All findings fixed: H-01: A lock around `unlink`; H-02: The key is cleared in `create`"]
    );
}

#[test]
fn a_sentence_is_told_with_the_one_it_leans_on_or_not_at_all() {
    let report = "The list is sorted by the date of the invoice. It falls back to the number.\n\nWant me to sort the archive? It has the same order.\n";
    assert_eq!(
        done(report, "now the page"),
        ["The list is sorted by the date of the invoice. It falls back to the number."]
    );
}

#[test]
fn what_the_user_wanted_otherwise_was_not_done() {
    let report = "The order is kept in the storage of the browser and read at the start.";
    let told = done(report, "hmm, I think it's better not to store anything in the browser");
    assert!(!told.iter().any(|line| line.contains("browser")), "{told:?}");
    assert!(!done(report, "now the page").is_empty());
}

#[test]
fn of_a_fix_that_did_not_help_little_is_told() {
    let report = format!(
        "The reader of the list closes the file. {}\n\nThe writer was left as it was in the archive.",
        "The file is closed behind each line of the list and in the error path. ".repeat(4)
    );
    let told = done(&report, "it still fails with the same error").join(" ");
    assert!(told.contains("closes the file") && !told.contains("The writer"), "{told}");
    assert!(done(&report, "now the page").join(" ").contains("The writer"));
}

#[test]
fn a_guess_is_told_only_as_the_last_word() {
    let report =
        "The list is sorted by the date now. The archive might have the same error in its reader.";
    assert_eq!(done(report, "now the page"), ["The list is sorted by the date now."]);
}

#[test]
fn tests_that_were_written_and_never_ran_are_open() {
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
fn tests_that_failed_before_the_last_commit_are_not_said_to_fail() {
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
