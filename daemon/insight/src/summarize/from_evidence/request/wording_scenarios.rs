//! Tests of the sentences that a summary takes from prompts and answers. The summary adds what a
//! sentence refers to, and omits parts that are obsolete or say nothing.

use crate::{
    model::{
        activity::ActivityVector,
        project::Project,
        summary::EnhancedSessionSummary,
        transcript::{Item, Outcome},
    },
    summarize::{
        evidence::scenarios::Script,
        from_evidence::{Context, name, summarize},
    },
};

pub(crate) fn context(project: &Project) -> Context<'_> {
    Context { project: Some(project), ..Context::default() }
}

pub(crate) fn summary(script: &Script) -> EnhancedSessionSummary {
    summarize(&script.collect(), &context(&Project::new("/app")), ActivityVector::default())
}

pub(crate) fn title(script: &Script) -> String {
    name(&script.collect(), &context(&Project::new("/app")))
}

/// Returns the completed tasks of a session that changes a file in each of two turns. The first
/// turn ends with `report`.
fn reported(report: &str) -> Vec<String> {
    let mut script = Script::default();
    script.prompt("Make the stream of tokens work");
    script.edit("a", "/app/stream.rs", "a", "b");
    script.reply("m1", report);
    script.prompt("now the page");
    script.edit("b", "/app/page.rs", "a", "b");
    script.reply("m2", "The page of the shop names the day of each order now, in the language of the customer, and the archive names it in the language of the shop that the order was made in.");
    summary(&script).completed_tasks.unwrap_or_default()
}

#[test]
fn this_branch_and_a_review_without_an_object_get_the_branch() {
    let mut script = Script::default();
    script.prompt("Check whether the answers in this branch match the manual");
    script.reply("m1", "They match.");
    let mut evidence = script.collect();
    evidence.branches = vec!["docs/faq".to_owned()];
    let shown = |evidence: &_| {
        summarize(evidence, &context(&Project::new("/app")), ActivityVector::default()).objective
    };
    assert_eq!(
        shown(&evidence),
        "Check whether the answers in this branch (`docs/faq`) match the manual"
    );
    evidence.branches = vec!["main".to_owned()];
    assert!(!shown(&evidence).contains("main"));
    let mut script = Script::default();
    script.prompt("/review");
    script.reply("m1", "No findings.");
    let mut evidence = script.collect();
    evidence.branches = vec!["docs/faq".to_owned()];
    assert_eq!(shown(&evidence), "Review the code changes on `docs/faq`");
    let mut script = Script::default();
    script.prompt("Review the code changes against the base branch 'main'. Run `git diff main`.");
    script.reply("m1", "No findings.");
    let mut evidence = script.collect();
    evidence.branches = vec!["docs/faq".to_owned()];
    assert_eq!(
        name(&evidence, &context(&Project::new("/app"))),
        "Review the code changes on `docs/faq`"
    );
}

#[test]
fn a_title_contains_the_request_and_not_its_basis() {
    let mut script = Script::default();
    script.prompt("Based on scripts/second-session.sh can you do another script that restores the files between two sessions and checks that only the last session is named in the commit");
    script.reply("m1", "Done.");
    assert!(
        title(&script).starts_with("Do another script that restores the files"),
        "{}",
        title(&script)
    );
    let mut script = Script::default();
    script.prompt("Review the changes of the questions and answers, can you look at them as an engineer who knows how repositories work");
    script.reply("m1", "No findings.");
    assert_eq!(title(&script), "Review the changes of the questions and answers");
}

#[test]
fn the_title_is_the_subject_of_the_requested_commit() {
    let commit = |script: &mut Script, at: &str, subject: &str, printed: &'static str| {
        script.edit(&format!("e{at}"), "/app/a.rs", "a", "b");
        script.run(at, &format!("git commit -m \"{subject}\""), Outcome::Succeeded, printed);
    };
    let mut script = Script::default();
    script.prompt("is the export of invoices slow? make the export of invoices stream its rows, and fix the typing error in the manual");
    commit(
        &mut script,
        "1",
        "Stream the rows of the export of invoices",
        "[main 1a2b3c1] Stream the rows of the export of invoices\n 1 file changed\n",
    );
    commit(
        &mut script,
        "2",
        "Fix the typing error",
        "[main 1a2b3c2] Fix the typing error\n 1 file changed\n",
    );
    script.reply("m1", "Done.");
    assert_eq!(title(&script), "Stream the rows of the export of invoices");
    for at in 0..6 {
        script.prompt(&format!("Review commit {at}abcdef of the importer of addresses"));
        script.reply(&format!("r{at}"), "No findings.");
    }
    assert_ne!(title(&script), "Stream the rows of the export of invoices");
}

#[test]
fn a_problem_that_a_turn_fixed_is_marked_as_earlier() {
    assert_eq!(
        reported(
            "The issue: the service sends objects where the client reads plain strings. The `send()` method writes the plain string now."
        ),
        [
            "The issue before the change: the service sends objects where the client reads plain strings. The `send()` method writes the plain string now."
        ]
    );
}

#[test]
fn effects_that_were_not_measured_are_left_out() {
    assert_eq!(
        reported(
            "The prompt of the importer is shorter, which reduces its tokens from 500 to 3. The `send()` method writes the plain string now."
        ),
        ["The `send()` method writes the plain string now."]
    );
}

#[test]
fn a_line_of_code_is_added_to_its_sentence() {
    let mut script = Script::default();
    script.prompt("Rename the parser of dates");
    script.reply("m1", "Renamed.");
    script.prompt("which strategies does the recorder have?");
    script.reply("m2", "The recorder has one strategy left:\n\n```text\nmanual-commit\n```\n\nThe older names were removed in the spring.");
    script.prompt("thanks, now tell me about the archive of the shop");
    script.reply(
        "m3",
        "The archive keeps each order of the shop for ten years, and nothing removes one before.",
    );
    let found = summary(&script).discoveries.unwrap_or_default();
    assert!(found[0].contains("The recorder has one strategy left: `manual-commit`."), "{found:?}");
}

#[test]
fn a_clarification_after_an_interruption_has_the_request_that_it_explains() {
    let mut script = Script::default();
    script.prompt("Rename the parser of dates");
    script.reply("m1", "Renamed.");
    script.prompt("where do the checkpoints of the dashboard go?");
    script.reply("m2", "The dashboard of the shop keeps them in a folder.");
    script.item(Item::Interrupted);
    script.prompt("i meant the checkpoints of the recorder, not of the shop");
    script.reply("m3", "The recorder pushes them with each push.");
    let decisions = summary(&script).key_decisions.unwrap_or_default();
    assert_eq!(
        decisions[0].decision,
        "User: \"i meant the checkpoints of the recorder, not of the shop\""
    );
    assert!(decisions[0].rationale.contains("after: Where do the checkpoints"), "{decisions:?}");
}

#[test]
fn a_problem_without_its_name_is_no_finding() {
    let mut script = Script::default();
    script.prompt("Why do the files change on each run?");
    script.reply("m1", "The generator of the client may write them.");
    script.prompt("the issue is the linter/formatter, not db:generate, I think.");
    script.reply("m2", "You're right! The formatter changes them.");
    let found = summary(&script).discoveries.unwrap_or_default();
    assert!(!found.iter().any(|one| one.starts_with("User: ")), "{found:?}");
}

#[test]
fn an_offer_has_no_reference_to_its_approach() {
    let mut script = Script::default();
    script.prompt("Where can the name be logged?");
    script.reply("m1", "There are three places in the hooks.\n\nWould you like me to implement all three locations using this approach?");
    assert_eq!(
        summary(&script).next_steps.unwrap_or_default(),
        ["Offered: implement all three locations"]
    );
}

#[test]
fn an_address_that_is_to_be_deleted_is_left_out() {
    let mut script = Script::default();
    script.prompt("Move the notes to the issue");
    script.edit("a", "/app/a.rs", "a", "b");
    script
        .reply("m1", "The notes of the work are at https://example.org/document/notes-8dacfb now.");
    script.prompt("how can the other notes be found?");
    script.reply(
        "m2",
        "You may want to delete the duplicate by hand: https://example.org/document/notes-8dacfb",
    );
    let done = summary(&script).completed_tasks.unwrap_or_default();
    assert!(!done.iter().any(|one| one.contains("8dacfb")), "{done:?}");
}

#[test]
fn a_decision_in_mid_work_counts_when_edits_follow() {
    let shown = |edits: bool| {
        let mut script = Script::default();
        script.prompt("Rebase the branch on main");
        script.reply(
            "m1",
            "I'll resolve by keeping the newer contract rather than resurrecting the old budget.",
        );
        if edits {
            script.edit("a", "/app/a.rs", "a", "b");
        }
        script.reply(
            "m2",
            "The branch is rebased on the newest commit of main, with both contracts.",
        );
        let decisions = summary(&script).key_decisions.unwrap_or_default();
        decisions.into_iter().map(|one| one.decision).collect::<Vec<_>>()
    };
    assert_eq!(
        shown(true),
        ["Resolve by keeping the newer contract rather than resurrecting the old budget"]
    );
    assert_eq!(shown(false), Vec::<String>::new());
}

#[test]
fn a_changed_option_has_the_change() {
    let mut script = Script::default();
    script.prompt("Share the folders");
    script.reply("m1", "Which size?\n\nA) Small files only\nB) Files of any size");
    script.prompt("b. but keep the limit of uploads");
    script.reply("m2", "Done.");
    let decision = summary(&script).key_decisions.unwrap_or_default().remove(0);
    assert_eq!(decision.decision, "Files of any size");
    assert!(
        decision.rationale.contains("changed: \"b. but keep the limit of uploads\""),
        "{decision:?}"
    );
}

#[test]
fn the_last_words_contain_no_praise() {
    let mut script = Script::default();
    script.prompt("Fix the findings of the reviewer");
    script.edit("a", "/app/a.rs", "a", "b");
    script.run(
        "c",
        "git commit -m \"fix: limit the buffer\"",
        Outcome::Succeeded,
        "[main 1a2b3c1] fix: limit the buffer\n",
    );
    script.reply("m1", "\u{1f3af} **Perfect! All critical blocking issues fixed:**\n\n## **\u{2705} Blocking Issues Resolved:**\n\n**1. Buffer Fixed** - Added a limit of 100 kB to the buffer  \n**2. Login Fixed** - Added back `require_user()` at the start  \n\nThe branch is ready for merge!");
    let words = summary(&script).last_words.unwrap_or_default();
    assert!(!words.contains("Perfect"), "{words}");
}
