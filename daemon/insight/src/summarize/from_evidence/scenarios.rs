//! Tests with short sessions: what their summaries must and must not contain.

use std::borrow::Cow;

use crate::{
    model::{
        activity::ActivityVector,
        project::Project,
        summary::{EnhancedSessionSummary, Outcome as Ending},
        transcript::{Action, ChangeKind, Item, Outcome, UserQuestion},
    },
    summarize::{
        evidence::scenarios::{Script, change},
        from_evidence::{Context, summarize},
    },
};

fn summary(script: &Script) -> EnhancedSessionSummary {
    let project = Project::new("/app");
    let context = Context { project: Some(&project), ..Context::default() };
    summarize(&script.collect(), &context, ActivityVector::default())
}

fn done(report: &str) -> Vec<String> {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    script.edit("a", "/app/list.rs", "a", "b");
    script.reply("m", report);
    summary(&script).completed_tasks.unwrap_or_default()
}

/// Returns the whole summary of a session with this report.
fn shown(report: &str) -> String {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    script.edit("a", "/app/list.rs", "a", "b");
    script.reply("m", report);
    format!("{:?}", summary(&script))
}

fn refused_edit(script: &mut Script, path: &str) {
    script.call("refused", "Edit", change(path, ChangeKind::Edited, "a", "b"));
    script.result("refused", Outcome::Rejected, "The user doesn't want to proceed");
    script.item(Item::Interrupted);
}

#[test]
fn a_nested_item_has_its_parent() {
    let report = "The guide now says how the list is sorted, with an example for each of the orders that exist in the shop and in its archive.\n\n1. **Guide section** (lines 3-9):\n   - Added a note on the order\n2. **Example sequence** (line 4): Updated to show the order of a page\n";
    assert_eq!(
        done(report),
        [
            "Guide section (lines 3-9): Added a note on the order; Example sequence (line 4): Updated to show the order of a page"
        ]
    );
}

#[test]
fn a_file_that_the_user_removed_is_no_result() {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date and write a guide");
    script.edit("a", "/app/list.rs", "a", "b");
    script.edit("b", "/app/docs/guide.md", "a", "b");
    script.reply(
        "m1",
        "The list is sorted.\n\n- Added `docs/guide.md` with an example\n- Added a column to `list.rs`\n",
    );
    script.prompt("I removed the new docs files, they are not needed. Why is it slow?");
    script.reply("m2", "The sort is slow because it compares strings instead of numbers, and the list of the shop has some thousand rows that are all compared.");
    let found = summary(&script);
    assert_eq!(found.completed_tasks.unwrap(), ["Added a column to `list.rs`"]);
    assert_eq!(found.files_modified.unwrap(), ["list.rs"]);
}

#[test]
fn an_accepted_objection_makes_earlier_work_obsolete() {
    let mut script = Script::default();
    script.prompt("Add a setting to skip the upload");
    script.edit("a", "/app/setup.rs", "a", "b");
    script.reply("m1", "Added `skip_upload` to `setup.rs`.");
    script.prompt("let's use on/off for the setting and not yes/no");
    script.edit("b", "/app/setup.rs", "b", "c");
    script.reply("m2", "- Changed the setting from `yes` to `on`\n");
    script.prompt("why can't we just use real booleans for it?");
    script.reply("m3", "You're right, we should use real booleans.");
    script.edit("c", "/app/setup.rs", "c", "d");
    script.reply("m4", "The setting is a boolean now.");
    let found = summary(&script);
    assert!(found.key_decisions.is_none(), "{:?}", found.key_decisions);
    assert!(!format!("{:?}", found.completed_tasks).contains("`on`"));
}

#[test]
fn a_choice_with_a_pronoun_needs_the_question_before_it() {
    for (reply, wanted) in
        [("There is a hint too. Should I add the hint?", 1), ("There is a hint too.", 0)]
    {
        let mut script = Script::default();
        script.prompt("Print the help if an argument has no flag");
        script.edit("a", "/app/help.rs", "a", "b");
        script.reply("m1", reply);
        script.prompt("let's keep that for now");
        script.reply("m2", "Done.");
        let found = summary(&script).key_decisions.unwrap_or_default();
        assert_eq!(found.len(), wanted, "{reply}");
        assert!(found.iter().all(|one| one.rationale.ends_with("Should I add the hint?")));
    }
}

#[test]
fn never_mind_drops_the_previous_request() {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    script.edit("a", "/app/list.rs", "a", "b");
    script.reply("m1", "The list is sorted.");
    script.prompt("Is there a simple way to sort in a worker?");
    script.call("p", "ExitPlanMode", Action::ProposePlan { plan: "# Use a worker".to_owned() });
    script.result("p", Outcome::Rejected, "The user doesn't want to proceed");
    script.item(Item::Interrupted);
    script.prompt("Never mind! Add a page about it instead");
    script.reply("m2", "Added.");
    let decisions = summary(&script).key_decisions.unwrap();
    assert_eq!(decisions[0].decision, "Dropped: Is there a simple way to sort in a worker?");
}

#[test]
fn an_announced_check_that_passed_completes_the_session() {
    let mut script = Script::default();
    script.prompt("Why does the test fail?");
    script.reply("m1", "I need to update the command to print the message on stderr.");
    refused_edit(&mut script, "/app/command.rs");
    script.prompt("fix the test, the code is right");
    script.edit("b", "/app/command_test.rs", "a", "b");
    script.reply("m2", "Now let me run the tests to verify the fixes:");
    script.run("c", "mise run test", Outcome::Succeeded, "ok\n");
    let found = summary(&script);
    assert_eq!(found.outcome, Ending::Completed);
    assert!(!format!("{:?}", found.last_words).contains("I need to update"));
}

#[test]
fn a_plan_that_was_not_approved_has_its_steps() {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    let plan = "# Plan: Sort the list\n\n## Changes\n\n### 1. Add a column\nText.\n\n### 2. Sort by it\nText.\n";
    script.reply("m", "I'll look at the list and propose a plan.");
    script.edit("f", "/home/a/.claude/plans/lucky-fox.md", "a", "b");
    script.call("p", "ExitPlanMode", Action::ProposePlan { plan: plan.to_owned() });
    script.result("p", Outcome::Rejected, "The user doesn't want to proceed");
    script.item(Item::Interrupted);
    assert_eq!(summary(&script).outcome_reason.as_deref(), Some("ended with a plan"));
    assert_eq!(
        summary(&script).next_steps.unwrap(),
        [
            "Plan shown last, not carried out (`~/.claude/plans/lucky-fox.md`): Sort the list. Steps: Add a column; Sort by it"
        ]
    );
}

#[test]
fn unchanged_documents_of_a_plan_are_open() {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    let plan = "# Plan: Sort the list\n\n## Files to modify\n\n1. `src/list.rs`\n2. `src/page.rs`\n3. `src/theme.rs`\n4. `README.md`\n";
    script.call("p", "ExitPlanMode", Action::ProposePlan { plan: plan.to_owned() });
    script.result("p", Outcome::Succeeded, "");
    script.edit("a", "/app/src/list.rs", "a", "b");
    script.edit("b", "/app/src/page.rs", "a", "b");
    script.reply("m", "The list is sorted by date now.");
    assert_eq!(
        summary(&script).next_steps.unwrap(),
        ["Planned, not changed (Sort the list): `README.md`"]
    );
}

#[test]
fn suggestions_that_no_work_took_up_are_next_steps() {
    let mut script = Script::default();
    script.prompt("Review the sort of the list");
    script.reply(
        "m",
        "The sort is sound, and each of the three callers passes a list that is not empty.\n\n### Suggestions\n\n1. **Unused parameter in `sort_rows`**: it could be dropped from the signature\n",
    );
    let open = summary(&script).next_steps.unwrap();
    assert_eq!(
        open,
        [
            "Suggested, not done: Unused parameter in `sort_rows`: it could be dropped from the signature"
        ]
    );
}

#[test]
fn a_later_request_that_refers_back_is_not_part_of_the_objective() {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    script.prompt("Create a commit with that content please");
    script.prompt("Add a filter for the names of customers to the page");
    assert_eq!(
        summary(&script).objective,
        "Sort the list of invoices by date. Later: add a filter for the names of customers to the page."
    );
}

#[test]
fn a_choice_ends_when_the_user_takes_it_back() {
    let offer = "Where should the header go?\n\nA) Top header: a picture comes first\nB) Bottom: it signs off\n\nWhich one do you prefer?";
    let mut script = Script::default();
    script.prompt("Show which skill wrote an answer");
    script.reply("m1", offer);
    script.prompt("a");
    script.reply("m2", "The picture then comes first in each answer. Is that right?");
    let chosen = |script: &Script| format!("{:?}", summary(script).key_decisions);
    assert!(chosen(&script).contains("Top header"), "{}", chosen(&script));
    script.prompt("I want to see all options");
    script.reply("m3", "There are two of them.");
    script.prompt("no just add the name of the skill");
    script.reply("m4", "It prints the name.");
    assert!(!chosen(&script).contains("Top header"), "{}", chosen(&script));
}

#[test]
fn a_stopped_session_says_that_no_code_was_changed() {
    let mut script = Script::default();
    script.prompt("Sort the list of invoices by date");
    script.reply("m1", "I'll look at the list and propose a plan.");
    script.item(Item::Interrupted);
    let reason = summary(&script).outcome_reason;
    assert_eq!(reason.as_deref(), Some("stopped by the user; no code was changed"));
    script.prompt("Describe it in the guide");
    script.edit("a", "/app/guide.md", "a", "b");
    script.reply("m2", "I'll describe the rest now.");
    script.item(Item::Interrupted);
    let reason = summary(&script).outcome_reason;
    assert_eq!(reason.as_deref(), Some("stopped by the user; only documents were changed"));
}

#[test]
fn the_last_list_of_open_work_stays_open() {
    let mut script = Script::default();
    script.prompt("Rewrite the reader");
    script.edit("a", "/app/src/reader.rs", "a", "b");
    script.reply("m", "The reader is split.\n\n## Still open\n\n- Streaming of large archives\n");
    for turn in 0..4 {
        script.prompt(&format!("Now rename the column {turn} of the invoices"));
        script.edit(&format!("e{turn}"), "/app/src/page.rs", "a", "b");
        script.reply(&format!("n{turn}"), &format!("Renamed the column {turn}."));
    }
    let open = summary(&script).next_steps.unwrap_or_default();
    assert_eq!(open, ["Streaming of large archives"]);
}

#[test]
fn the_last_words_begin_with_a_fact_and_do_not_repeat_an_open_item() {
    let mut script = Script::default();
    script.prompt("Is the fix of the list in?");
    script.edit("a", "/app/src/list.rs", "a", "b");
    let fact = "The list reads each row of the archive once, in the order of the file.";
    let open = "You'll need to set `LIST_URL` before the next deploy.";
    script.reply("m", &format!("Yes, it is. {fact} {open}"));
    let summary = summary(&script);
    assert_eq!(summary.last_words.as_deref(), Some(fact));
    assert_eq!(summary.next_steps.unwrap_or_default()[0], open.trim_end_matches('.'));
}

#[test]
fn completed_work_is_not_open() {
    let mut script = Script::default();
    script.prompt("Note what is left");
    script.edit("a", "/app/todo.md", "a", "b");
    script.reply(
        "m",
        "## Next steps\n\n- Todo for the index committed as `1b3df75`\n- The index still needs a test for empty lists\n",
    );
    assert_eq!(
        summary(&script).next_steps.unwrap(),
        ["The index still needs a test for empty lists"]
    );
}

#[test]
fn open_work_in_the_last_report_has_its_introduction() {
    let mut script = Script::default();
    script.prompt("Set up the signing of releases");
    script.edit("a", "/app/release.yml", "a", "b");
    script.reply("m1", "The release is signed now. To complete the setup, you need to add these secrets in the settings of the repository:\n\n| Secret | Value |\n|---|---|\n| `CERTIFICATE` | the signing certificate in base64 |\n| `PASSWORD` | the password of the certificate |\n\n## Not covered\n\n- Windows builds are not signed\n- The notary is not asked\n");
    let open = summary(&script).next_steps.unwrap();
    for wanted in [
        "To complete the setup, you need to add these secrets in the settings of the repository: `CERTIFICATE`: the signing certificate in base64; `PASSWORD`: the password of the certificate",
        "Windows builds are not signed",
        "The notary is not asked",
    ] {
        assert!(open.iter().any(|line| line == wanted), "{wanted}: {open:?}");
    }
    assert_eq!(open.len(), 3);
}

#[test]
fn rows_of_a_plan_are_no_last_words() {
    let mut script = Script::default();
    script.prompt("Plan the phase of the sharing");
    script.edit("a", "/app/plan.md", "a", "b");
    script.reply("m1", "| Wave | Plans | What it builds |\n|---|---|---|\n| 1 | 01 | The reader of shared folders |\n| 2 | 02 | The page of shared folders |\n");
    assert_eq!(summary(&script).last_words, None);
}

#[test]
fn an_offer_of_an_option_has_the_name_of_the_option() {
    let offered = |list: &str| {
        let mut script = Script::default();
        script.prompt("Why is the second session not saved?");
        script.reply(
            "m1",
            &format!("Both hooks are skipped.\n\n{list}\n\nShould I implement Option 1?"),
        );
        summary(&script).next_steps.unwrap_or_default()
    };
    assert_eq!(
        offered(
            "**Option 1: Check the agent in the hook**\n\nThe hook asks for its name.\n\n**Option 2: Merge both hooks**\n\nOne hook does both."
        ),
        ["Offered: implement Option 1 (Check the agent in the hook)"]
    );
    assert_eq!(
        offered("1. Check the agent in the hook\n2. Merge both of the hooks\n"),
        ["Offered: implement Option 1 (Check the agent in the hook)"]
    );
}

#[test]
fn steps_for_the_user_are_no_results() {
    let report = "The recorder stores each take in a file of its own now, so that a long take can be cut.\n\nOpen it in your browser and:\n\n- Grant the permission for the microphone\n- Click on the red button to record\n- Check the list of takes\n";
    let shown = shown(report);
    assert!(
        shown.contains("so that a long take can be cut") && !shown.contains("Grant"),
        "{shown}"
    );
}

#[test]
fn menus_cut_texts_and_rows_of_numbers_are_left_out() {
    let report = "The list is sorted by the date of each invoice now.\n\n- `/todos [area]` to filter by area\n- `q` to exit\n- Renamed the loader of the list\n- sort_list 153 144 -16.12% ~ 0.001\n- Moved the check … of the archive\n";
    let shown = shown(report);
    assert!(shown.contains("Renamed the loader"), "{shown}");
    for absent in ["todos", "exit", "16.12", "archive"] {
        assert!(!shown.contains(absent), "{absent}: {shown}");
    }
}

#[test]
fn deferred_work_is_called_deferred() {
    let mut script = Script::default();
    script.prompt("Address the comments of the reviewer on that PR");
    script.run("v", "gh pr view 181 --comments", Outcome::Succeeded, "a comment\n");
    script.edit("a", "/app/list.rs", "a", "b");
    script.reply("m", "Fixed the order of the list.\n\n**Intentionally deferred:**\n- **Cache of the inode**: needs a lock, for a path that is rare\n");
    let found = summary(&script);
    assert_eq!(
        found.key_decisions.unwrap()[0].decision,
        "Intentionally deferred: Cache of the inode"
    );
    assert!(found.objective.contains("that PR (#181)"), "{}", found.objective);
    script.prompt("Document the archive for the people of the shop");
    let objective = summary(&script).objective;
    assert!(objective.contains("(#181). Later: document the archive"), "{objective}");
}

#[test]
fn an_answer_that_the_agent_took_back_is_left_out() {
    let mut script = Script::default();
    script.prompt("How could the keys of the files be stored?");
    script.reply("m1", "The keys of the files can be derived from the name of the folder.\n\n- A server can derive each file key without storing any of them\n- The format of the archive stays the same for all readers\n");
    script.prompt("but a server that can derive each file key can read the files");
    script.reply("m2", "You're right. A server that derives each file key can read the files, so the keys are random and stored with each file.");
    let shown = format!("{:?}", summary(&script).discoveries);
    assert!(!shown.contains("without storing"), "{shown}");
}

#[test]
fn the_objective_is_the_work_after_a_preparation() {
    let mut script = Script::default();
    script.prompt("/init");
    script.edit("a", "/app/CLAUDE.md", "", "a");
    script.reply("m1", "Wrote CLAUDE.md.");
    script.prompt("This was just so you know what there is now. I want to pick it up again and fix the broken APIs");
    script.edit("b", "/app/list.rs", "a", "b");
    script.reply("m2", "Replaced the broken APIs of the list.");
    let objective = summary(&script).objective;
    assert!(objective.contains("fix the broken APIs (began with: Analyse"), "{objective}");
}

#[test]
fn a_review_by_a_sub_agent_whose_parent_is_missing_has_its_task() {
    let mut script = Script::default();
    script.item(Item::Instruction("Review the code changes against the branch 'main'".into()));
    script.read("a", "/app/list.rs");
    script.reply("m", "Verdict of the review: patch is correct, no findings. The list is sorted by date and its test passes on each platform.");
    let found = summary(&script);
    assert_eq!(found.objective, "Review the code changes against the branch 'main'");
    assert_eq!(found.outcome, Ending::Completed);
    assert_eq!(found.outcome_reason.as_deref(), Some("nothing was changed"));
    assert!(found.last_words.unwrap().contains("patch is correct, no findings"));
    let task = "Now document the pages of the archive. Never use the old format, let's keep one file rather than two.";
    script.item(Item::Instruction(task.into()));
    script.reply("m2", "The archive is sorted by number, although its page says by date.");
    let found = summary(&script);
    assert!(
        found.objective.contains("Later: document the pages of the archive"),
        "{}",
        found.objective
    );
    assert!(format!("{found:?}").contains("sorted by number, although"), "{found:?}");
    assert_eq!((found.key_decisions, found.preferences), (None, None));
}

#[test]
fn tests_that_a_sandbox_stopped_are_no_failure_of_the_project() {
    let mut script = Script::default();
    script.prompt("Review the order of the list");
    script.read("a", "/app/list.rs");
    let output = "open /Users/a/Library/Caches/go-build/1a: operation not permitted\nFAIL\tx/list [setup failed]\nFAIL\n";
    script.run("t", "go test ./...", Outcome::Failed(Some(1)), output);
    script.reply("m", "The order of the list is right: it is sorted by date, and then by number.");
    let found = summary(&script);
    assert_eq!((found.outcome, found.next_steps), (Ending::Completed, None));
}

#[test]
fn a_review_without_findings_ends_only_findings_of_the_same_commit() {
    let shown = |second: &str| {
        let mut script = Script::default();
        script.prompt("Review commit 1a2b3c4 in this repository");
        script.read("a", "/app/list.rs");
        script.reply("m1", "**Findings**\n\n- **High**: The list of the archive panics when a page has no rows at all\n");
        script.prompt(second);
        script.read("b", "/app/pages.rs");
        script.reply(
            "m2",
            "No findings. The pages of the shop are sorted by the number of their rows.",
        );
        format!("{:?}", summary(&script).discoveries)
    };
    assert!(shown("Review commit 5d6e7f8 in this repository").contains("panics"));
    assert!(!shown("Review commit 1a2b3c4 again").contains("panics"));
}

#[test]
fn the_header_of_a_question_is_before_the_chosen_option() {
    let mut script = Script::default();
    script.prompt("Let readers share a list of invoices");
    for (call, header, asked, answer) in [
        ("a", "Accept flow", "Which approach?", "Hybrid"),
        ("b", "Store", "Where is the list kept?", "One store for each reader"),
    ] {
        let question = UserQuestion {
            header: Some(header.to_owned()),
            question: asked.to_owned(),
            options: vec![answer.to_owned(), "Something else".to_owned()],
            ..UserQuestion::default()
        };
        script.call(call, "AskUserQuestion", Action::Ask(vec![question]));
        script.item(Item::Answer {
            call: Cow::Borrowed(call),
            question: Cow::Borrowed(asked),
            answer: Cow::Borrowed(answer),
        });
    }
    let decisions = summary(&script).key_decisions.unwrap_or_default();
    let decisions: Vec<&str> = decisions.iter().map(|one| one.decision.as_str()).collect();
    assert_eq!(decisions, ["Accept flow: Hybrid", "One store for each reader"]);
}
