//! Tests with short sessions in which later events make earlier statements obsolete.

use crate::{
    model::{
        activity::ActivityVector,
        project::Project,
        summary::EnhancedSessionSummary,
        transcript::{Action, ChangeKind, Item, Outcome},
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

fn commit(script: &mut Script, id: &str, subject: &str, printed: &'static str) {
    let command = format!("git commit -qam '{subject}'");
    script.run(id, &command, Outcome::Succeeded, printed);
}

#[test]
fn an_error_is_fixed_if_the_next_attempt_fails_for_another_reason() {
    let mut script = Script::default();
    script.prompt("Write the guide of the shop and commit it");
    script.edit("a", "/app/guide.md", "a", "b");
    let failed = Outcome::Failed(Some(1));
    let command = "git commit -am 'Write the guide'";
    script.run("b", command, failed, "guide.md:7 error MD047 Files should end with a newline\n");
    script.edit("c", "/app/guide.md", "b", "c");
    script.run(
        "d",
        command,
        failed,
        "error: signing failed: no agent\nfatal: failed to write commit object\n",
    );
    let open = summary(&script).next_steps.unwrap();
    assert!(!open.iter().any(|one| one.contains("MD047")), "{open:?}");
    assert!(open.iter().any(|one| one.contains("signing failed")), "{open:?}");
}

#[test]
fn the_next_change_makes_a_described_state_obsolete() {
    let mut script = Script::default();
    script.prompt("Fix the upload of pictures");
    script.edit("a", "/app/upload.rs", "a", "b");
    let report = "The upload checks each picture now before it is stored, and the list of the shop shows what was refused and why, for each customer and each day.\n\n\
                  - **Found root cause**: The hook blocks the upload of each picture\n\
                  - **Upload working**: Each picture displays correctly now in the list\n\
                  - **Identified open files**: Two of the pictures and the list\n\
                  - Added a check of the size to the upload\n";
    script.reply("m1", report);
    let shown = |script: &Script| format!("{:?}", summary(script).completed_tasks);
    assert!(shown(&script).contains("displays correctly"), "{}", shown(&script));
    script.prompt("now the upload of texts");
    script.edit("b", "/app/upload.rs", "b", "c");
    script.reply("m2", "Added the texts of customers to the same reader, in the order in which they were written, and with the dates of both sides.");
    let shown = shown(&script);
    assert!(shown.contains("Added a check of the size"), "{shown}");
    for gone in ["root cause", "displays correctly"] {
        assert!(!shown.contains(gone), "{gone}: {shown}");
    }
}

#[test]
fn commits_replace_praise_in_the_last_words() {
    let mut script = Script::default();
    script.prompt("Limit the size of the upload");
    script.edit("a", "/app/upload.rs", "a", "b");
    commit(
        &mut script,
        "b",
        "Limit the upload to 10 MB",
        "[main 1a2b3c4] Limit the upload to 10 MB\n",
    );
    script.reply("m", "All critical issues are resolved and the upload is now production-ready!");
    let found = summary(&script);
    assert_eq!(
        found.last_words.as_deref(),
        Some("Committed since the last request: Limit the upload to 10 MB.")
    );
    assert!(!format!("{found:?}").contains("production-ready"));
}

#[test]
fn the_body_of_a_commit_loses_praise_and_unchanged_parts() {
    let mut script = Script::default();
    script.prompt("Limit the size of the upload");
    script.run(
        "a",
        "git commit -m 'Limit the upload\n\n- Refuse files above 10 MB\n- Headers already present in both routes\n\nResolves all issues of the review.'",
        Outcome::Succeeded,
        "[main 1a2b3c4] Limit the upload\n",
    );
    script.reply("m", "Committed.");
    assert_eq!(
        summary(&script).completed_tasks.unwrap(),
        ["Limit the upload (commit `1a2b3c4`): Refuse files above 10 MB"]
    );
}

#[test]
fn an_abandoned_plan_is_superseded() {
    let mut script = Script::default();
    script.prompt("Plan the login");
    script.run(
        "a",
        "git commit -m 'docs: create plan of the login\n\nTwo steps, ready for execution'",
        Outcome::Succeeded,
        "[main 1a2b3c4] docs: create plan of the login\n",
    );
    script.reply("m1", "The plan of the login is committed.");
    script.prompt("we lose too much with this library. let's replan it with the other one");
    script.reply("m2", "I agree, the other library leaves more to us.");
    assert_eq!(
        summary(&script).completed_tasks.unwrap(),
        [
            "docs: create plan of the login (commit `1a2b3c4`) (superseded: the plan was given up later)",
            "The plan of the login is committed."
        ]
    );
}

#[test]
fn an_amended_commit_after_a_rebase_is_found() {
    let mut script = Script::default();
    script.prompt("Rebase the branch");
    commit(&mut script, "a", "Add the list", "[work 1111111] Add the list\n");
    commit(&mut script, "b", "Sort the list", "[work 2222222] Sort the list\n");
    let conflict = "error: could not apply 1111111... Add the list\n";
    script.run("c", "git rebase main", Outcome::Failed(Some(1)), conflict);
    script.run(
        "d",
        "git add . && git rebase --continue",
        Outcome::Succeeded,
        "[detached HEAD 3333333] Add the list\nSuccessfully rebased and updated refs/heads/work.\n",
    );
    let hashes = |script: &Script| {
        let commits = script.collect().commits;
        commits.into_iter().map(|one| (one.hash, one.subject)).collect::<Vec<_>>()
    };
    let pair = |hash: &str, subject: &str| (hash.to_owned(), subject.to_owned());
    assert!(hashes(&script).contains(&pair("", "Sort the list")), "{:?}", hashes(&script));
    script.run(
        "e",
        "git add . && git commit --amend --no-edit",
        Outcome::Succeeded,
        "[work 4444444] Sort the list\n",
    );
    assert_eq!(
        hashes(&script),
        [pair("3333333", "Add the list"), pair("4444444", "Sort the list")]
    );
}

#[test]
fn a_reverted_edit_is_left_out_and_a_deletion_is_marked() {
    let mut script = Script::default();
    script.prompt("Add a limit");
    script.edit("a", "/app/schema.sql", "size int", "size int unique");
    script.edit("b", "/app/limit.rs", "a", "b");
    script.edit("c", "/app/schema.sql", "size int unique", "size int");
    script.read("d", "/app/old.rs");
    script.run("e", "rm /app/old.rs", Outcome::Succeeded, "");
    // The evidence shows only the removal of this scratch file.
    script.run("f", "rm /app/notes.txt", Outcome::Succeeded, "");
    script.run("g", "git rm /app/unused.rs", Outcome::Succeeded, "");
    script.reply("m", "The limit is there.");
    assert_eq!(
        summary(&script).files_modified.unwrap(),
        ["limit.rs", "old.rs (deleted)", "unused.rs (deleted)"]
    );
}

#[test]
fn a_setting_has_the_block_around_it_unless_its_file_was_removed() {
    let mut script = Script::default();
    script.prompt("Remove the old reader");
    script.run("a", "git rm /app/src/reader.ts", Outcome::Succeeded, "");
    script.edit(
        "b",
        "/app/test.local.config.js",
        "    'src/reader.ts': {\n      lines: 85,\n    },\n    'src/writer.ts': {\n      lines: 70,\n    },",
        "    'src/writer.ts': {\n      lines: 75,\n    },",
    );
    script.edit("c", "/app/app.config.js", "      retries: 3,", "      retries: 5,");
    script.reply("m", "Removed.");
    let found = summary(&script).config_changes.unwrap();
    let keys: Vec<&str> = found.iter().map(|one| one.setting.as_str()).collect();
    assert_eq!(keys, ["src/writer.ts.lines"]);
}

#[test]
fn files_that_a_sub_agent_reports_belong_to_the_session() {
    let mut script = Script::default();
    script.prompt("Simplify the branch");
    let subject = "Simplify the code".to_owned();
    script.call("a", "Task", Action::Delegate { agent: None, subject });
    let report = "Here is a summary of all changes:\n\n### 1. `/app/src/hooks.go`\n**Key changes:**\n- Added a helper for all hooks\n\n### 2. `/app/src/utils.go`\n- Removed the old helper\n\n### 3. `/app/src/main.go`\n- The main function is fine as it is\n";
    script.result("a", Outcome::Succeeded, report);
    script.reply("m", "Simplified the hooks.");
    assert_eq!(summary(&script).files_modified.unwrap(), ["src/hooks.go", "src/utils.go"]);
}

#[test]
fn the_first_change_after_an_error_is_its_fix() {
    let mut script = Script::default();
    script.prompt("Make the audit pass");
    let failed = Outcome::Failed(Some(1));
    script.run(
        "a",
        "npx audit",
        failed,
        "ERROR: Unrecognized key 'ignoreUnlisted' in audit.json\n",
    );
    script.reply("m1", "Let me rename the key to `ignoreDependencies` in the file.");
    script.edit("b", "/app/audit.json", "a", "b");
    script.at += 300;
    script.run("c", "npx audit", failed, "Unused packages (1)\nwind  package.json:9:6\n");
    script.reply("m2", "Let me add the package wind to the ignore list of the audit.");
    script.edit("d", "/app/audit.json", "b", "c");
    script.at += 300;
    script.run("e", "npx audit", Outcome::Succeeded, "");
    let error = &script.collect().errors[0];
    let fix = error.resolution.as_ref().and_then(|resolution| resolution.said.as_deref());
    assert_eq!(fix, Some("Rename the key to `ignoreDependencies` in the file"));
}

#[test]
fn a_problem_that_the_user_reports_again_is_not_fixed() {
    let records = |again: &str| {
        let mut script = Script::default();
        script.prompt(
            "The session check of step 17 fails: both sessions are in the metadata of the commit",
        );
        script.reply(
            "m1",
            "The issue is that `handle` returns a suffix without checking that it is free.",
        );
        script.edit("a", "/app/suffix.go", "a", "b");
        script.reply("m2", "Fixed `handle` in `suffix.go` so that it checks the suffix first.");
        script.prompt(again);
        script.reply("m3", "I see.");
        summary(&script).errors_resolved
    };
    assert!(records("Now write the guide").is_some());
    assert_eq!(records("still failing"), None);
    assert_eq!(records("let's pick this up again tomorrow"), None);
}

#[test]
fn a_complaint_after_a_report_refutes_its_general_success() {
    let done = |claim: &str, next: &str| {
        let items = "- The pages of books have a blue header from `colours.css`\n- The pages of toys have a red header from `colours.css`";
        done(&format!("{claim}\n\n{items}"), next)
    };
    for claim in ["I've solved the problem of the equal colours.", "All issues solved:"] {
        let kept = done(claim, "Now write the guide");
        assert!(kept.contains("solved") && kept.contains("blue header"), "{kept}");
        let refuted = done(claim, "all of the pages now look the same");
        assert!(!refuted.contains("solved") && refuted.contains("blue header"), "{refuted}");
    }
}

#[test]
fn questions_and_menus_are_no_findings() {
    let mut script = Script::default();
    script.prompt("How do wallets log in?");
    script.reply("m1", "Wallets bypass it.\n\nTwo things to decide:\n\n1. **Is a login by wallet without a second factor acceptable?** (Users of wallets already manage their own keys)\n2. **Should the page of settings show it?** (for instance as a hint below the list)\n\nDo you want me to update the plan?");
    script.prompt("use the simplifier");
    script.reply("m2", "Would you like me to:\n\n1. **Simplify recent code** - The simplifier focuses on code that was changed recently by default\n2. **Simplify all code** - The simplifier reads the whole project in one go\n\nWhat would you like me to focus on?");
    let found = format!("{:?}", summary(&script).discoveries);
    for gone in ["acceptable", "page of settings", "Simplify recent"] {
        assert!(!found.contains(gone), "{gone}: {found}");
    }
}

#[test]
fn an_answer_has_the_list_that_it_introduces() {
    let mut script = Script::default();
    script.prompt("does the second factor work for wallets?");
    script.reply("m", "The second factor only applies to keys of the service. For wallets such as Purse:\n\n- The service is only a connector\n- The key stays in the wallet\n\nThe plan does not mention it.");
    script.prompt("and the page of the shop?");
    script.reply("n", "The page of the shop asks for the second factor once a day, and each time that the customer changes the address or the card that the orders are paid with.");
    let found = summary(&script).discoveries.unwrap_or_default().join("\n");
    assert!(
        found.contains("For wallets such as Purse: The service is only a connector; The key stays in the wallet"),
        "{found}"
    );
}

#[test]
fn postponed_work_and_the_boxes_of_each_pull_request_are_open() {
    let mut script = Script::default();
    script.prompt("Answer the review");
    script.edit("a", "/app/stream.rs", "a", "b");
    let body =
        |box_: &str| format!("gh pr create --title 'Stream' --body '## Test plan\n- [ ] {box_}'");
    let first = "https://example.org/team/app/pull/7\n";
    script.run("b", &body("Upload a file on staging"), Outcome::Succeeded, first);
    script.reply("m1", "Answered.\n\n**Remaining feedback for future consideration:**\n- **Test coverage** - Can add tests of the stream in separate effort\n");
    for round in 0..4 {
        script.prompt("and the next point");
        script.edit(&format!("c{round}"), "/app/stream.rs", "b", "c");
        script.reply(&format!("n{round}"), "Changed the loop of the reader.");
    }
    let second = "https://example.org/team/app/pull/8\n";
    script.run("d", &body("Run the migration by hand"), Outcome::Succeeded, second);
    script.reply("m9", "Opened.");
    let open = summary(&script).next_steps.unwrap().join("\n");
    assert!(open.contains("Unchecked in PR #7: Upload a file on staging"), "{open}");
    assert!(open.contains("Unchecked in PR #8: Run the migration by hand"), "{open}");
    assert!(open.contains("Test coverage"), "{open}");
}

#[test]
fn routine_orders_and_bare_questions_are_no_objective() {
    let mut script = Script::default();
    script.prompt("ok lets get back to main");
    script.reply("m1", "On main.");
    script.prompt("Address the comment of the reviewer about the error text");
    script.edit("a", "/app/run.rs", "a", "b");
    script.reply("m2", "Addressed.");
    let found = summary(&script);
    assert!(found.objective.starts_with("Address the comment"), "{}", found.objective);
    assert!(found.key_decisions.is_none(), "{:?}", found.key_decisions);

    let mut script = Script::default();
    script.prompt("I see four uncommitted files?");
    script.edit("a", "/app/run.rs", "a", "b");
    let printed = "[main 1a2b3c4] Ignore four uncommitted generated files\n";
    commit(&mut script, "b", "Ignore four uncommitted generated files", printed);
    script.reply("m1", "Committed.");
    let objective = summary(&script).objective;
    assert_eq!(
        objective,
        "Ignore four uncommitted generated files (began with: I see four uncommitted files?)"
    );
}

#[test]
fn a_call_that_was_cut_off_has_the_work_of_its_sub_agent() {
    let mut script = Script::default();
    script.prompt("Plan the login");
    script.reply("m1", "Two ways. Which one?");
    script.prompt("1 - yeah, go for it");
    let subject = "Research the login".to_owned();
    script.call("a", "Task", Action::Delegate { agent: None, subject });
    script.sub_agent = Some("s1");
    let write = change("/app/research.md", ChangeKind::Written, "", "text");
    script.call("b", "Write", write);
    script.result("b", Outcome::Succeeded, "File created successfully");
    let open = summary(&script).next_steps.unwrap();
    assert_eq!(
        open[0],
        "Cut off in `Task: Research the login`: according to its records, it changed `research.md`"
    );
}

#[test]
fn each_of_two_parallel_tasks_has_its_own_work() {
    let mut script = Script::default();
    script.prompt("Do both plans");
    for (call, subject) in [("a", "Plan 3"), ("b", "Plan 4")] {
        let subject = subject.to_owned();
        script.call(call, "Task", Action::Delegate { agent: None, subject });
    }
    let write = |script: &mut Script, call: &str, path: &str| {
        script.call(call, "Write", change(path, ChangeKind::Written, "", "text"));
        script.result(call, Outcome::Succeeded, "File created successfully");
    };
    (script.sub_agent, script.caller) = (Some("s2"), Some("b"));
    write(&mut script, "c", "/app/dialog.rs");
    commit(&mut script, "d", "Complete plan 4", "[main 1a2b3c4] Complete plan 4\n");
    (script.sub_agent, script.caller) = (Some("s1"), Some("a"));
    write(&mut script, "e", "/app/menu.rs");
    let open = summary(&script).next_steps.unwrap();
    assert_eq!(
        open[..2],
        [
            "Cut off in `Task: Plan 3`: according to its records, it changed `menu.rs`",
            "Cut off in `Task: Plan 4`: according to its records, its last step was the commit \"Complete plan 4\"",
        ]
    );
}

#[test]
fn work_to_which_the_user_objected_is_left_out() {
    let mut script = Script::default();
    script.prompt("Write the guide of the tables");
    script.edit("a", "/app/guide.md", "a", "b");
    script.reply(
        "m1",
        "The guide of all tables is there, with a chapter on each of the servers and their order.",
    );
    script.prompt("fix the gap in the first migration that the guide found");
    script.edit("b", "/app/first.ts", "a", "b");
    script.edit("c", "/app/guide.md", "b", "c");
    script.reply("m2", "The first migration creates all tables now.\n\nChanges made:\n- **`guide.md`** - Updated the chapter on the gap from open to fixed, and the number of tables\n- **`notes.md`** - Updated the list of the servers that get the new tables\n");
    let shown = |script: &Script| {
        let found = summary(script);
        (found.objective, format!("{:?} {:?}", found.last_words, found.completed_tasks))
    };
    let (objective, done) = shown(&script);
    assert!(objective.contains("Later: fix the gap"), "{objective}");
    assert!(done.contains("from open to fixed"), "{done}");
    script.prompt("but the other migration runs anyway, why would you create the table twice?");
    script.reply("m3", "You're right, that is unnecessary. Let me revert it.");
    script.edit("d", "/app/guide.md", "c", "d");
    script.reply("m4", "The guide no longer asks for it.");
    let (objective, done) = shown(&script);
    assert!(!objective.contains("gap"), "{objective}");
    assert!(!done.contains("from open to fixed"), "{done}");
    assert!(done.contains("list of the servers"), "{done}");
}

#[test]
fn the_report_of_a_stopped_turn_is_left_out() {
    let mut script = Script::default();
    script.prompt("Write the hooks into the local file");
    script.edit("a", "/app/hooks.go", "a", "b");
    let report = "The function `InstallHooks` always writes into the shared file, whatever the flag says. Let me fix this:";
    script.reply("m1", report);
    script.edit("b", "/app/hooks.go", "b", "c");
    assert!(format!("{:?}", summary(&script)).contains("always writes"));
    script.item(Item::Interrupted);
    script.prompt("let's pause, we test it first in another folder");
    script.reply("m2", "Both files are read, as the test shows.");
    assert!(!format!("{:?}", summary(&script)).contains("always writes"));
}

#[test]
fn a_decision_at_a_refused_edit_has_the_edit() {
    let records = |words: &str| {
        let mut script = Script::default();
        script.prompt("fix the test");
        script.call("e", "Edit", change("/app/reset.go", ChangeKind::Edited, "a", "b"));
        script.result("e", Outcome::Rejected, "");
        script.item(Item::Interrupted);
        script.prompt(words);
        script.edit("g", "/app/reset_test.go", "a", "b");
        script.reply("m1", "Done.");
        let shown = summary(&script).key_decisions.unwrap_or_default();
        shown.into_iter().map(|one| (one.decision, one.rationale)).collect::<Vec<_>>()
    };
    let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
    assert_eq!(
        records("fix the test, the code is right"),
        [pair(
            "User: \"fix the test, the code is right\"",
            "The user's words, on a proposed `Edit reset.go`"
        )]
    );
    let asked = "how can we know which test is active?";
    assert_eq!(records(asked), []);
}

#[test]
fn a_file_below_unchanged_that_was_changed_later_is_no_decision() {
    let shown = |path: &str| {
        let mut script = Script::default();
        script.prompt("Let the hooks be switched");
        script.edit("a", "/app/hooks.go", "a", "b");
        script.reply("m1", "The hooks can be switched.\n\n**Unchanged:**\n- `config/settings.json` - Uses the direct commands because they are safe to commit\n");
        script.prompt("and now the guide");
        script.edit("b", path, "a", "b");
        script.reply("m2", "The guide is there.");
        format!("{:?}", summary(&script).key_decisions)
    };
    assert!(shown("/app/guide.md").contains("direct commands"));
    assert!(!shown("/app/config/settings.json").contains("direct commands"));
}

#[test]
fn a_pull_after_the_own_merge_brings_no_other_commits() {
    let age = |merge: bool| {
        let mut script = Script::default();
        script.prompt("Limit the upload");
        script.edit("a", "/app/upload.rs", "a", "b");
        let passing =
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        script.run("b", "cargo test", Outcome::Succeeded, passing);
        script.at += 10;
        if merge {
            script.run("c", "gh pr merge 7", Outcome::Succeeded, "✓ Merged pull request #7\n");
            script.at += 10;
        }
        let pulled = "Updating 1111111..ccccccc\nFast-forward\n";
        script.run("d", "git pull", Outcome::Succeeded, pulled);
        script.reply("m1", "Done.");
        summary(&script).test_results.unwrap().age
    };
    assert_eq!(age(false).as_deref(), Some("before other commits came in"));
    assert_eq!(age(true), None);
}

#[test]
fn work_that_the_agent_took_back_is_not_done() {
    let mut script = Script::default();
    script.prompt("Make the client of the server faster, and measure it");
    script.edit("a", "/app/client.rs", "a", "b");
    script.reply(
        "m1",
        "Both changes are applied. The benchmark after and before:\n\n- `Parse`: time −16%, bytes −39%\n- `Client` (kept): time −94%, bytes −99%\n",
    );
    script.prompt("commit");
    script.run("c", "git commit -qam Faster", Outcome::Succeeded, "[main 1a2b3c4] Faster\n");
    script.reply(
        "m2",
        "Committed. The limit of the redirects in the client of the server is the next thing.",
    );
    script.prompt("The client is now kept after the first call, so later settings are ignored. Let's make one client per call.");
    script.reply("m3", "You're right, that is a real regression of the settings. Reverting.");
    script.edit("d", "/app/client.rs", "b", "a");
    script.reply(
        "m4",
        "Each call of the client makes its own connection again, with the current settings.",
    );
    let done = summary(&script).completed_tasks.unwrap_or_default().join("\n");
    assert!(!done.contains("94%"), "{done}");
}

/// Returns the completed tasks of a session whose first report is `report`, and whose next prompt
/// is `next`.
fn done(report: &str, next: &str) -> String {
    let mut script = Script::default();
    script.prompt("Limit the uploads of the shop");
    script.edit("a", "/app/src/up.rs", "a", "b");
    script.reply("m1", report);
    script.prompt(next);
    script.edit("b", "/app/page.rs", "a", "b");
    script.reply("m2", "The page of the shop names the day of each order now.");
    summary(&script).completed_tasks.unwrap_or_default().join("\n")
}

#[test]
fn a_question_or_a_limited_order_removes_nothing() {
    let report =
        "Added `max_size` to `src/up.rs`, which limits each file to ten megabytes on the server.";
    for next in [
        "is `max_size` removed?",
        "is `max_size` removed from the page, too?",
        "don't use a global instead of `max_size`",
        "use `limit` instead of `max_size` in the form only",
        "remove `max_size` only in the form, it is slow",
        "now the page",
    ] {
        assert!(done(report, next).contains("Added `max_size`"), "{next}");
    }
    for next in [
        "can you remove `max_size`?",
        "remove `max_size` again",
        "remove `max_size`, it was only for the demo",
        "please drop `max_size`, it is used only in the old form",
        "we only need `limit`, so remove `max_size`",
        "the old `max_size` was removed, so adapt the page",
        "use `limit` instead of `max_size`",
    ] {
        assert!(!done(report, next).contains("Added `max_size`"), "{next}");
    }
}

#[test]
fn what_the_user_took_back_is_neither_changed_nor_done() {
    let names = ["src/list.rs", "src/page.rs", "tests/list.rs", "src/cache.rs", "docs/a.md"];
    let left = |prompt: &str| {
        let mut script = Script::default();
        script.prompt("Sort the list of invoices by date");
        for (at, name) in names.iter().enumerate() {
            script.edit(&format!("e{at}"), &format!("/app/{name}"), "a", "b");
        }
        script.reply("m1", "The list is sorted by date now.");
        script.prompt(prompt);
        script.edit("b", "/app/src/index.rs", "a", "b");
        script.reply("m2", "The page of the shop names the day of each order now.");
        let files = summary(&script).files_modified.unwrap_or_default();
        names.into_iter().filter(|name| !files.iter().any(|file| file == name)).collect::<Vec<_>>()
    };
    for (prompt, gone) in [
        ("I reverted your changes in tests/list.rs, the rest is fine.", vec!["tests/list.rs"]),
        ("I discarded all the edits in page.rs", vec!["src/page.rs"]),
        ("I reverted your changes to src/list.rs, keep the page", vec!["src/list.rs"]),
        ("I've reverted the cache, it is too slow", vec!["src/cache.rs"]),
        ("I removed the new docs files, they are not needed", vec!["docs/a.md"]),
        ("I deleted the cache module, it is too slow", vec!["src/cache.rs"]),
        ("I reverted all changes from today except the index", vec![]),
        ("I deleted the cache and it still fails, look again", vec![]),
        ("I removed the list from the page", vec![]),
        ("I dropped the page again", vec![]),
        ("I reverted your last change, it broke the build. Try it differently.", vec![]),
        ("I undid the last edit", vec![]),
        ("I reverted the change", vec![]),
        ("The logs filled the disk. I deleted all of them, run it again", vec![]),
        ("I reverted your last change in src/page.rs", vec!["src/page.rs"]),
        ("I reverted all of them, they break the page", names.to_vec()),
        ("I reverted your changes because they break the page", names.to_vec()),
        ("I reverted your changes. Start again with the index", names.to_vec()),
        ("I discarded all your work, it was wrong", names.to_vec()),
    ] {
        assert_eq!(left(prompt), gone, "{prompt}");
    }
}

#[test]
fn work_that_went_on_when_it_was_reported_is_not_done() {
    let mut script = Script::default();
    script.prompt("Start a worker for the guide");
    script.edit("a", "/app/prompt.md", "a", "b");
    script.reply("m1", "Started:\n\n- Window: `guide:3`, for the guide of the list\n- Task: `list-7`, assigned to the worker, `IN_PROGRESS`\n");
    script.prompt("now the page");
    script.edit("b", "/app/page.rs", "a", "b");
    script.reply("m2", "The page of the shop names the day of each order now.");
    let done = summary(&script).completed_tasks.unwrap_or_default().join("\n");
    assert!(!done.contains("IN_PROGRESS"), "{done}");
}
