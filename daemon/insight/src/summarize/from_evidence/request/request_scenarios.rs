//! Tests of the titles and decisions that come from prompts of the user, and of open questions.

use crate::{
    model::transcript::{Action, Outcome},
    summarize::{
        evidence::scenarios::Script,
        from_evidence::request::{
            Request,
            wording_scenarios::{summary, title},
        },
    },
};

fn decisions(script: &Script) -> Vec<(String, String)> {
    let records = summary(script).key_decisions.unwrap_or_default();
    records.into_iter().map(|record| (record.decision, record.rationale)).collect()
}

fn commit(script: &mut Script, id: &str, message: &str, printed: &'static str) {
    script.edit(&format!("{id}e"), "/app/clock.rs", "a", id);
    script.run(id, &format!("git commit -m '{message}'"), Outcome::Succeeded, printed);
}

#[test]
fn a_question_is_not_the_title_of_a_session_with_a_commit_or_an_order() {
    let mut script = Script::default();
    script.prompt("Is there an easy reason for it? docs/why.md");
    script.reply("m1", "Yes, the clock is read twice.");
    commit(&mut script, "c", "Read the clock once", "[main 1a2b3c4] Read the clock once");
    script.reply("m2", "Committed.");
    assert_eq!(title(&script), "Read the clock once");
    let mut script = Script::default();
    script.prompt("It sounds like finding 1 is a feature, no?");
    script.reply("m1", "Yes, it is one.");
    script.prompt("Write the limits of the parser into the manual");
    script.edit("a", "/app/manual.md", "a", "b");
    script.reply("m2", "Written.");
    assert_eq!(title(&script), "Write the limits of the parser into the manual");
}

#[test]
fn a_later_question_is_not_the_title_of_earlier_work() {
    let mut script = Script::default();
    script.prompt("I went on in the second window and changed something there, so the list should show two entries, but it shows only one of them, can you check?");
    script.reply("m1", "The list skips the second one.");
    script.prompt("yes, do it like the other list");
    script.edit("a", "/app/list.rs", "a", "b");
    script.reply(
        "m2",
        "All done.\n\n## Summary: Fixed the list of two windows & added tests\n\n- Removed the check of the second window\n",
    );
    script.prompt("check if it is easy to share the code of both lists");
    script.reply("m3", "It is.");
    assert_eq!(title(&script), "Fixed the list of two windows & added tests");
}

#[test]
fn the_title_of_an_opening_push_is_the_commit_that_followed() {
    let mut script = Script::default();
    script.prompt("please push the browser fixes up");
    commit(
        &mut script,
        "c",
        "Mend the selector of the dialog",
        "[main 1a2b3c4] Mend the selector of the dialog",
    );
    script.reply("m1", "Pushed.");
    assert_eq!(title(&script), "Mend the selector of the dialog");
}

#[test]
fn a_title_without_a_name_gets_the_only_changed_file() {
    let mut script = Script::default();
    script.prompt("fix the test, the code is right");
    script.edit("a", "/app/reset_test.go", "a", "b");
    script.reply("m1", "Fixed.");
    assert_eq!(title(&script), "Fix the test, the code is right (`reset_test.go`)");
    script.edit("b", "/app/reset.go", "a", "b");
    assert_eq!(title(&script), "Fix the test, the code is right");
}

#[test]
fn without_shared_words_the_commit_with_the_longest_body_is_the_title() {
    let mut script = Script::default();
    script.prompt("Read the notes, then talk to me about the idea");
    let body = "First version of the reader' -m 'It reads the lines, keeps their order, and prints a table of all days with their sums";
    commit(&mut script, "c", body, "[main 1a2b3c4] First version of the reader");
    commit(&mut script, "d", "Update npm", "[main 2b3c4d5] Update npm");
    script.reply("m2", "Committed.");
    assert_eq!(title(&script), "First version of the reader");
}

#[test]
fn a_request_includes_the_sentence_that_rejects_it() {
    let review = "The review says that the reader has to open each of the files of the archive again whenever the list is shown, and that it has to ask the server for the names of all the people in it and for the names of all the files that they sent, and for the dates at which each of them was seen last, one after the other.";
    let shown = |rest: &str| Request::of(&format!("{review} {rest}")).unwrap().text;
    assert!(shown("But I don't think so, leave it.").ends_with("But I don't think so, leave it."));
    assert!(shown("The list is old.").ends_with("one after the other."));
}

#[test]
fn numbered_answers_have_the_points_of_the_report() {
    let mut script = Script::default();
    script.prompt("Review the parser");
    script.reply(
        "m1",
        "Two points:\n\n1. Unknown keys are dropped\n2. Old dates are read as today\n",
    );
    script.prompt("what is an old date?");
    script.reply("m2", "A date before 1970.");
    script.prompt("1. fail loud. 2. leave it alone.");
    script.reply("m3", "Done.");
    let shown = decisions(&script);
    let (decision, rationale) = &shown[0];
    assert_eq!(decision, "User: \"1. fail loud. 2. leave it alone.\"");
    assert_eq!(
        rationale,
        "The user's words, on 1: Unknown keys are dropped; 2: Old dates are read as today"
    );
}

#[test]
fn words_of_assent_alone_decide_nothing() {
    for prompt in ["ok, let's do", "sorry continue", "let's do that"] {
        let mut script = Script::default();
        script.prompt("Review the parser");
        script.reply("m1", "It reads dates twice.");
        script.prompt(prompt);
        script.reply("m2", "It reads each date once now.");
        assert_eq!(decisions(&script), [], "{prompt}");
    }
}

#[test]
fn the_title_of_a_plan_without_an_approach_is_the_decision() {
    for (title, wanted) in [("Remove the order of turns", 1), ("Order of turns", 0)] {
        let mut script = Script::default();
        script.prompt("Change the turns");
        let plan = format!(
            "# Plan: {title}\n\n## Context\n\nThe user already tells each agent when to work.\n"
        );
        script.call("p", "ExitPlanMode", Action::ProposePlan { plan });
        script.result("p", Outcome::Succeeded, "");
        script.reply("m1", "The turns have no order now.");
        let shown = decisions(&script);
        assert_eq!(shown.len(), wanted, "{shown:?}");
        if let [(decision, rationale)] = shown.as_slice() {
            assert_eq!(decision, "Remove the order of turns");
            assert_eq!(
                rationale,
                "The user already tells each agent when to work (plan accepted by the user)"
            );
        }
    }
}

#[test]
fn what_the_last_report_leaves_to_the_user_is_open() {
    let report = "The parser reads old dates.\n\n## Decision points\n\n- The old index stays on the server until it is deleted\n\n## Before the release\n\n1. Should the old names be kept for a year?\n2. Which of the two servers gets the new index?\n";
    let steps = |more: bool| {
        let mut script = Script::default();
        script.prompt("Read old dates");
        script.edit("a", "/app/parser.rs", "a", "b");
        script.reply("m1", report);
        if more {
            script.prompt("delete it, keep them, the first");
            script.edit("b", "/app/page.rs", "a", "b");
            script.reply("m2", "All of that is done.");
        }
        summary(&script).next_steps.unwrap_or_default()
    };
    assert_eq!(
        steps(false),
        [
            "The old index stays on the server until it is deleted",
            "To decide: Should the old names be kept for a year?",
            "To decide: Which of the two servers gets the new index?",
        ]
    );
    assert_eq!(steps(true), Vec::<String>::new());
}

fn objective(script: &Script) -> String {
    summary(script).objective
}

#[test]
fn a_check_is_not_the_title_of_a_session_that_changed_something_else() {
    let mut script = Script::default();
    script.prompt("Can you check if the tests in src/clock_test.rs are now not duplicated?");
    script.reply("m1", "They are not duplicated.");
    script.prompt("why are there two files?");
    script.reply("m2", "One is for the page.");
    script.prompt("and who reads them?");
    script.reply("m3", "Nobody.");
    script.prompt("thanks, good to know");
    script.reply("m4", "You are welcome.");
    script.prompt("let's print true/false and not on/off for the alarm of the clock");
    script.edit("a", "/app/clock.rs", "a", "b");
    script.reply("m5", "The alarm is printed as true or false.");
    assert_eq!(title(&script), "Print true/false and not on/off for the alarm of the clock");
    assert!(objective(&script).contains("(began with: Check if the tests in src/clock_test.rs"));
}

#[test]
fn a_commit_is_the_title_of_a_session_that_began_with_a_question() {
    let mut script = Script::default();
    script.prompt("is the work on the alarm already planned?");
    script.reply("m1", "No.");
    script.prompt("ok handle this via a small task then, together with the setup of the login, so that all of it can be released");
    commit(
        &mut script,
        "c",
        "chore: ring the alarm twice",
        "[main 1a2b3c4] chore: ring the alarm twice",
    );
    script.reply("m2", "Committed.");
    for at in 0..6 {
        script.prompt(&format!("and what is the value of entry {at}?"));
        script.reply(&format!("r{at}"), "It is one.");
    }
    assert_eq!(title(&script), "chore: ring the alarm twice");
    assert!(objective(&script).starts_with(
        "Is the work on the alarm already planned? (came to: chore: ring the alarm twice)"
    ));
}

#[test]
fn an_article_picks_nothing_from_a_list() {
    for (prompt, wanted) in [
        ("A user reported that the upload fails", "A user reported that the upload fails"),
        ("a, but only for images", "A, but only for images (came to: Retry the upload)"),
    ] {
        let mut script = Script::default();
        script.prompt(prompt);
        commit(&mut script, "c", "Retry the upload", "[main 1a2b3c4] Retry the upload");
        script.reply("m1", "Committed.");
        assert_eq!(objective(&script), wanted);
    }
}

#[test]
fn a_question_about_this_becomes_the_work_that_followed() {
    let mut script = Script::default();
    script.prompt("is this true and reasonable?");
    script.reply("m1", "Yes, it is.");
    commit(&mut script, "c", "Close the server on time", "[main 1a2b3c4] Close the server on time");
    script.reply("m2", "Committed.");
    assert_eq!(objective(&script), "Close the server on time");
}

#[test]
fn requests_after_a_question_with_its_commit_are_in_the_objective() {
    let mut script = Script::default();
    script.prompt("please push the browser fixes up.");
    commit(
        &mut script,
        "c",
        "Mend the selector of the dialog",
        "[main 1a2b3c4] Mend the selector of the dialog",
    );
    script.reply("m1", "Pushed.");
    script.prompt("now put the names of all dialogs into one file for the translators");
    script.edit("d", "/app/names.rs", "a", "b");
    script.reply("m2", "Done.");
    assert!(
        objective(&script)
            .ends_with("Later: put the names of all dialogs into one file for the translators."),
        "{}",
        objective(&script)
    );
}

#[test]
fn an_order_in_an_interrupted_turn_is_in_the_objective() {
    let mut script = Script::default();
    script.prompt("Rename the parser of dates in src/dates.rs");
    script.edit("a", "/app/dates.rs", "a", "b");
    script.reply("m1", "Renamed.");
    script.prompt("also reduce the size of the index of all invoices");
    script.edit("b", "/app/index.rs", "a", "b");
    assert!(
        objective(&script).ends_with("Later: reduce the size of the index of all invoices."),
        "{}",
        objective(&script)
    );
}

#[test]
fn a_short_choice_has_the_sentence_before_it() {
    let mut script = Script::default();
    script.prompt("Cache the client of the server");
    script.edit("a", "/app/client.rs", "a", "b");
    script.reply("m1", "The client is cached.");
    script.prompt("The client is now kept after the first call, so that later settings are ignored.\n\nLet's keep one client per call.");
    script.edit("b", "/app/client.rs", "b", "a");
    script.reply("m2", "Each call makes its own client again.");
    let shown = decisions(&script);
    assert_eq!(shown[0].0, "User: \"Let's keep one client per call.\"");
    assert_eq!(
        shown[0].1,
        "The user's words, on \"The client is now kept after the first call, so that later settings are ignored.\""
    );
}

#[test]
fn a_remark_is_not_the_title_of_a_session_with_a_result() {
    let remark = "So, I looked at those links between the pages and they help nobody, can you replace them with a single link to the whole list instead?";
    let mut script = Script::default();
    script.prompt(remark);
    script.edit("a", "/app/pages.rs", "a", "b");
    script.reply(
        "m1",
        "Perfect!\n\n## Summary\n\nI've successfully simplified the links between the pages of the shop by replacing the list of all of them with a single link. Details:\n\n- `pages.rs`: one link\n",
    );
    assert_eq!(
        title(&script),
        "Simplified the links between the pages of the shop by replacing the list"
    );
    commit(
        &mut script,
        "c",
        "Link each page only to the list",
        "[main 1a2b3c4] Link each page only to the list",
    );
    script.reply("m2", "Committed.");
    assert_eq!(title(&script), "Link each page only to the list");
}

#[test]
fn a_remark_has_the_title_of_its_order_or_of_a_later_result() {
    let mut script = Script::default();
    script.prompt("I'm testing the new list of days that you added. Please create the file days.md with the following contents: day = \"Monday\", and leave all the other files in the folder as they are now.");
    script.edit("a", "/app/days.md", "a", "b");
    script.reply("m1", "I've created the file.");
    assert_eq!(
        title(&script),
        "Create the file days.md with the following contents: day = \"Monday\""
    );

    let mut script = Script::default();
    script.prompt("Until recently we used the list of days in the settings for all of the pages, which the team changed.");
    script.edit("a", "/app/pages.rs", "a", "b");
    script.reply("m1", "The pages no longer read the settings.");
    script.prompt("ok");
    script.edit("b", "/app/pages.rs", "b", "c");
    script.reply(
        "m2",
        "Perfect!\n\nI've configured the pages with one list of days for each of them.",
    );
    assert_eq!(title(&script), "Configured the pages with one list of days for each of them");
}

#[test]
fn a_remark_before_an_order_is_not_the_title() {
    let mut script = Script::default();
    script.prompt("So there isn't much to see here, mostly one idea about the order of the notes.");
    script.reply("m1", "I see the idea: notes and work are in two folders.");
    script.prompt("Can you list the weak points of the two folders?");
    script.reply("m2", "Notes that become work are in the wrong folder until somebody moves them, and nobody does.");
    assert_eq!(title(&script), "List the weak points of the two folders");
}

#[test]
fn the_correction_of_a_plan_is_not_the_objective() {
    let mut script = Script::default();
    script.prompt("How can I make this work as a library so that I can run it in any folder?");
    script.call(
        "p",
        "ExitPlanMode",
        Action::ProposePlan { plan: "# Plan: Rename it\n".to_owned() },
    );
    script.result("p", Outcome::Rejected, "the user said:\nKeep the name of the file but change the script to refer to it, otherwise good");
    script.edit("a", "/app/setup.toml", "a", "b");
    script.reply("m1", "It is a library now.");
    assert!(objective(&script).starts_with("How can I make this work"), "{}", objective(&script));
}

#[test]
fn a_command_with_a_plan_that_was_given_up_is_named_by_its_branch() {
    let mut script = Script::default();
    script.prompt("/plan-phase 12");
    script.run(
        "b",
        "git switch -c login-keys",
        Outcome::Succeeded,
        "Switched to a new branch 'login-keys'\n",
    );
    commit(&mut script, "c", "docs: create the plan", "[login-keys 1a2b3c4] docs: create the plan");
    script.reply("m1", "The plan is ready.");
    assert_eq!(title(&script), "docs: create the plan");
    script.prompt("that approach is rejected, research the other one");
    script.reply("m2", "I start with the research.");
    assert_eq!(title(&script), "Run the `/plan-phase` command on 12 (branch `login-keys`)");
}

#[test]
fn a_commit_about_something_else_is_not_the_answer_to_a_question() {
    let mut script = Script::default();
    script.prompt("Do you remember which service keeps our logs?");
    script.reply("m1", "Yes, the second one.");
    commit(&mut script, "c", "Give the database a name", "[main 1a2b3c4] Give the database a name");
    script.reply("m2", "Committed.");
    assert_eq!(
        objective(&script),
        "Give the database a name (began with: Do you remember which service keeps our logs?)"
    );
}

#[test]
fn a_short_first_order_is_the_objective() {
    let objective = |first: &str, second: &str| {
        let mut script = Script::default();
        script.prompt(first);
        script.edit("a", "/app/page.rs", "a", "b");
        script.reply("m1", "Changed the page as you asked.");
        script.prompt(second);
        script.edit("b", "/app/header.rs", "a", "b");
        script.reply("m2", "Changed the header, too.");
        (summary(&script).objective, title(&script))
    };
    for (first, second) in [
        ("add dark mode", "the header is still white, can you fix that too?"),
        ("fix login bug", "why is the session cookie set twice?"),
        ("write unit tests", "use vitest instead of jest for all of them"),
        ("remove the sidebar", "the rows of the list have no dates, please add them"),
        ("limit the uploads", "the page names the limit twice, please show it once"),
        ("all tests fail", "also rename the parser of dates to reader in all files"),
        ("fix all tests", "also rename the parser of dates to reader in all files"),
    ] {
        let (objective, title) = objective(first, second);
        let wanted = crate::text::capitalised(first);
        assert!(objective.starts_with(&wanted), "{objective}");
        assert!(title.starts_with(&wanted), "{title}");
    }
    for first in
        ["fix it", "do it", "test it again", "/fix", "it still fails", "try again", "run the tests"]
    {
        let (objective, _) = objective(first, "rename the parser of dates to reader in all files");
        assert!(objective.starts_with("Rename the parser of dates"), "{first}: {objective}");
    }
}

#[test]
fn a_short_first_order_without_a_change_is_not_the_objective() {
    let mut script = Script::default();
    script.prompt("check the docs");
    script.reply("m1", "I read the docs.");
    script.prompt("rename the parser of dates to reader in all files");
    script.edit("b", "/app/reader.rs", "a", "b");
    script.reply("m2", "Renamed the parser.");
    assert!(summary(&script).objective.starts_with("Rename the parser"));
}

#[test]
fn a_count_at_the_start_of_a_prompt_picks_no_item() {
    let objective = |next: &str| {
        let mut script = Script::default();
        script.prompt("Make the list of invoices faster");
        script.edit("a", "/app/list.rs", "a", "b");
        script.reply("m1", "The list is read once now. What could follow:\n\n1. Add an index on the date column\n2. Move the totals into a view\n3. Cache the first page\n4. Drop the old table\n5. Split the reader\n");
        script.prompt(next);
        script.edit("b", "/app/view.rs", "a", "b");
        script.reply("m2", "Changed the view.");
        summary(&script).objective
    };
    for next in [
        "2 tests still fail after your change, please fix them",
        "1 more thing: rename the button of the dialog to Save",
        "2 users reported that the upload stops at 10 MB, fix that",
        "5 is too many, show 3 rows per page",
        "2 of 3 tests pass now, fix the last one",
        "looks good. 2 small things: the header is too big, and the footer is gone",
        "2-column layout please",
    ] {
        let shown = objective(next);
        for item in ["an index", "totals into a view", "split the reader"] {
            assert!(!shown.to_lowercase().contains(item), "{next}: {shown}");
        }
    }
    let shown = objective("5 seems like a low hanging fruit");
    assert!(shown.contains("split the reader") || shown.contains("Split the reader"), "{shown}");
}
