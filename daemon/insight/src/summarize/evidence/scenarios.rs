//! Tests of the collector with whole sessions: the evidence that it keeps, its size, and that it
//! can be saved at any point.

use std::{borrow::Cow, time::Duration};

use serde_json::Value;

use crate::{
    model::{
        evidence::{Evidence, Quote, StatementKind},
        time::Timestamp,
        transcript::{
            Action, Call, ChangeKind, Entry, FileChange, Item, LazyText, Origin, Outcome,
            RecapKind, Replacement, SessionContext, Task, TaskEnded, TaskState, TitleSource,
            Tokens, ToolResult, UserQuestion,
        },
    },
    summarize::evidence::Collector,
};

#[test]
fn a_test_run_that_the_user_pasted_resolves_the_failure() {
    let mut script = Script::default();
    script.prompt("Mend the list");
    let failed = "running 3 tests\ntest result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
    script.run("a", "cargo test", Outcome::Failed(Some(101)), failed);
    script.edit("b", "/app/src/list.rs", "a", "b");
    script.reply("m1", "Mended, but I cannot run the tests here.");
    script.prompt("\u{276f} cargo test\nrunning 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n");
    let evidence = script.collect();
    let runs: Vec<(u32, u32)> = evidence.tests.iter().map(|run| (run.passed, run.failed)).collect();
    assert_eq!(runs, [(2, 1), (3, 0)]);
    assert!(
        evidence.errors.iter().all(|error| error.resolution.is_some()),
        "{:?}",
        evidence.errors
    );
}

#[test]
fn the_evidence_of_a_debugging_session_is_collected() {
    let evidence = fixing_the_login().collect();

    let error = &evidence.errors[0];
    assert_eq!(
        error.message,
        "expires_late failed: thread 'auth::expires_late' panicked at src/auth.rs:9:5:"
    );
    assert_eq!(
        error.cause.as_deref(),
        Some("`EXPIRY` is read in seconds but the file gives minutes.")
    );
    let resolution = error.resolution.as_ref().unwrap();
    assert_eq!(resolution.files, ["/app/.env"]);
    assert_eq!(resolution.said.as_deref(), Some("Set the expiry in seconds"));
    assert_eq!(resolution.verified_by, "cargo test");

    let setting = &evidence.settings[0];
    assert_eq!(
        (setting.old_value.as_deref(), setting.new_value.as_deref()),
        (Some("60"), Some("3600"))
    );
    assert_eq!(evidence.tests.len(), 2);
    assert_eq!(evidence.tests[0].failed_tests, ["auth::expires_late"]);
    assert_eq!(evidence.commits[0].subject, "Fix the expiry");
    assert_eq!(evidence.files["/app/src/auth.rs"].reads, 1);
    assert_eq!(evidence.files["/app/.env"].edits, 1);
    let open: Vec<&str> = evidence
        .report
        .iter()
        .filter(|one| one.kind == StatementKind::OpenEnd)
        .map(|one| one.text.as_str())
        .collect();
    assert_eq!(open, ["The old sessions still need to be removed by hand."]);
    assert_eq!((evidence.counts.prompts, evidence.counts.messages), (1, 3));
}

#[test]
fn a_failure_that_comes_back_is_open_again() {
    let mut script = Script::default();
    let failed = Outcome::Failed(Some(101));
    script.run("c1", "cargo test", failed, FAILING);
    script.edit("c2", "/app/a.rs", "a", "b");
    script.at += 300;
    script.run("c3", "cargo test other_test", Outcome::Succeeded, OTHER);
    assert!(script.collect().errors[0].resolution.is_none());
    script.run("c4", "cargo test", Outcome::Succeeded, PASSING);
    assert!(script.collect().errors[0].resolution.is_some());
    script.run("c5", "cargo test", failed, FAILING);
    let errors = script.collect().errors;
    assert_eq!((errors.len(), errors[0].returns, errors[0].times), (1, 1, 2));
    assert!(errors[0].resolution.is_none());
    script.run("c6", "cargo test", Outcome::Succeeded, PASSING);
    assert!(script.collect().errors[0].resolution.is_some());
}

#[test]
fn only_a_run_of_the_same_tests_with_the_changes_proves_a_fix() {
    let proves = |lines: &[&str]| {
        let mut script = Script::default();
        let home = SessionContext { cwd: Some("/app".into()), ..SessionContext::default() };
        script.item(Item::Context(home));
        script.run("c1", "cd /app/api && cargo test", Outcome::Failed(Some(101)), FAILING);
        script.edit("c2", "/app/a.rs", "a", "b");
        script.at += 300;
        for line in lines {
            script.run("c3", line, Outcome::Succeeded, PASSING);
        }
        script.collect().errors[0].resolution.is_some()
    };
    for (lines, wanted) in [
        (&["cd /app/api && cargo test"][..], true),
        (&["cd /app/web && cargo test"], false),
        (&["cd /app/api && cargo test other"], false),
        (&["cd /app/api && E2E_SERVER=1 cargo test"], true),
        (&["cd /app/api && git stash && cargo test && git stash pop"], false),
        (&["git stash", "cd /app/api && cargo test"], false),
        (&["git stash -m wip", "cd /app/api && cargo test"], false),
        (&["git stash", "git stash pop", "cd /app/api && cargo test"], true),
        (&["git stash list", "cd /app/api && cargo test"], true),
        (&["git stash && make && git stash apply", "cd /app/api && cargo test"], true),
        (&["git stash && make; git stash pop -q", "cd /app/api && cargo test"], true),
    ] {
        assert_eq!(proves(lines), wanted, "{lines:?}");
    }
}

#[test]
fn a_stash_that_a_failed_line_left_hides_the_changes() {
    let saved = "Saved working directory and index state WIP on main: 1a2b3c4 One\nmake: *** [all] Error 1\n";
    let restored = "Saved working directory and index state WIP on main: 1a2b3c4 One\nDropped refs/stash@{0}\n";
    for (output, wanted) in [(saved, false), (restored, true)] {
        let mut script = Script::default();
        script.run("c1", "cargo test", Outcome::Failed(Some(101)), FAILING);
        script.edit("c2", "/app/a.rs", "a", "b");
        script.at += 300;
        script.run("c3", "git stash && make && git stash pop", Outcome::Failed(Some(2)), output);
        script.run("c4", "cargo test", Outcome::Succeeded, PASSING);
        assert_eq!(script.collect().errors[0].resolution.is_some(), wanted, "{output}");
    }
}

#[test]
fn a_run_without_the_variable_that_enables_a_test_does_not_prove_a_fix() {
    let proves = |line: &str| {
        let mut script = Script::default();
        script.run("a", "E2E_SERVER=1 cargo test", Outcome::Failed(Some(101)), FAILING);
        script.edit("b", "/app/a.rs", "a", "b");
        script.at += 300;
        script.run("c", line, Outcome::Succeeded, PASSING);
        script.collect().errors[0].resolution.is_some()
    };
    assert!(proves("E2E_SERVER=1 cargo test"));
    assert!(proves("env CARGO_TARGET_DIR=/tmp/t E2E_SERVER=1 cargo test"));
    assert!(!proves("cargo test"));
}

#[test]
fn the_status_of_another_repository_is_ignored() {
    let branches = |line: &str| {
        let mut script = Script::default();
        let home = SessionContext { cwd: Some("/app".into()), ..SessionContext::default() };
        script.item(Item::Context(home));
        script.run("a", line, Outcome::Succeeded, "On branch odd\nnothing to commit\n");
        script.collect().branches
    };
    assert_eq!(branches("git status"), ["odd"]);
    assert_eq!(branches("cd /shop && git status"), [""; 0]);
    assert_eq!(branches("git -C /shop status"), [""; 0]);
    assert_eq!(branches("git -c color.ui=never --no-pager -C /shop status"), [""; 0]);
}

#[test]
fn a_directory_on_windows_is_the_same_in_any_spelling() {
    let collected = |cwd: &'static str, line: &str, path: &str| {
        let mut script = Script::default();
        let home = SessionContext { cwd: Some(cwd.into()), ..SessionContext::default() };
        script.item(Item::Context(home));
        script.edit("a", path, "a", "b");
        script.run("b", line, Outcome::Succeeded, "On branch odd\nnothing to commit\n");
        let evidence = script.collect();
        let place = evidence.commands.last().and_then(|run| run.place.clone());
        (evidence.files.len(), place.unwrap_or_default(), evidence.branches)
    };
    let odd = vec!["odd".to_owned()];
    for cwd in ["c:\\Temp\\App", "C:\\a\\AppData\\Local\\Temp\\App"] {
        let web = collected(cwd, "cd web && git status", "src\\x.rs");
        assert_eq!(web, (1, "web".to_owned(), odd.clone()), "{cwd}");
        let same = collected(cwd, "cd web && cd .. && git status", "src\\x.rs");
        assert_eq!(same, (1, String::new(), odd.clone()), "{cwd}");
    }
    let other = "cd D:/Temp/App && git status";
    let other = collected("c:\\Temp\\App", other, "C:\\a\\AppData\\Local\\Temp\\x.rs");
    assert_eq!(other, (0, String::new(), Vec::new()));
}

#[test]
fn a_known_failure_keeps_the_sentence_of_the_agent() {
    let mut script = Script::default();
    script.run("c1", "cargo test", Outcome::Failed(Some(101)), FAILING);
    let known = "The `expires_late` failure is pre-existing: it fails on main too.";
    script.reply("m1", known);
    assert_eq!(script.collect().errors[0].known.as_deref(), Some(known));
}

#[test]
fn a_known_failure_of_a_command_is_fixed_only_by_a_change_of_its_file() {
    let is_fixed = |path: &str| {
        let mut script = Script::default();
        let broken = "src/republish.ts(653,43): error TS2339: Property 'mock' does not exist\n";
        script.run("c1", "cd api && npx tsc --noEmit", Outcome::Failed(Some(2)), broken);
        script.reply("m1", "Those are pre-existing errors in unrelated files.");
        script.edit("c2", path, "a", "b");
        script.at += 300;
        script.run("c3", "pnpm --filter web exec tsc --noEmit", Outcome::Succeeded, "");
        script.collect().errors[0].resolution.is_some()
    };
    assert!(is_fixed("/app/api/src/republish.ts"));
    assert!(!is_fixed("/app/web/src/page.ts"));
}

#[test]
fn tests_that_are_to_fail_are_no_error() {
    for (words, errors) in [
        ("Let me confirm the test genuinely catches the regression by reverting the order:", 0),
        ("I verify that the new test fails without the fix.", 0),
        ("Let me check why the tests fail.", 1),
        ("Let me check why the login test fails when the cache is empty.", 1),
        ("Let me verify the existing tests still pass: the new cases catch edge cases.", 1),
        ("Let me make sure that all tests pass.", 1),
    ] {
        let mut script = Script::default();
        script.reply("m1", words);
        script.run("c1", "cargo test", Outcome::Failed(Some(101)), FAILING);
        let evidence = script.collect();
        assert_eq!((evidence.errors.len(), evidence.tests.len()), (errors, errors), "{words}");
        script.reply("m2", "Now the other tests.");
        script.run("c2", "cargo test", Outcome::Failed(Some(101)), FAILING);
        assert_eq!(script.collect().errors.len(), 1, "{words}");
    }
}

#[test]
fn a_mistake_of_an_edit_that_is_fixed_at_once_is_not_an_error() {
    let failed = Outcome::Failed(Some(101));
    let broken = "error[E0308]: mismatched types\n --> src/a.rs:3:5\n";
    for (seconds, errors) in [(40, 0), (400, 1)] {
        let mut script = Script::default();
        script.run("c1", "cargo build", failed, broken);
        script.edit("c2", "/app/src/a.rs", "a", "b");
        script.at += seconds;
        script.run("c3", "cargo build", Outcome::Succeeded, "Finished\n");
        assert_eq!(script.collect().errors.len(), errors, "{seconds}");
    }
    let mut script = Script::default();
    script.run("c1", "cargo build --bogus", failed, "error: unexpected argument '--bogus' found\n");
    assert!(script.collect().errors.is_empty());
}

#[test]
fn messages_and_tokens_are_counted_once_although_their_lines_interleave() {
    let mut script = Script::default();
    let usage = |output| Tokens { output, ..Tokens::default() };
    for (message, output) in [("a", 1), ("b", 10), ("a", 9), ("b", 10), ("a", 7)] {
        script.item(Item::Usage { message: Some(Cow::Borrowed(message)), tokens: usage(output) });
        script
            .item(Item::Reply { message: Some(Cow::Borrowed(message)), text: Cow::Borrowed("x") });
    }
    let evidence = script.collect();
    assert_eq!(evidence.tokens.output, 17);
    assert_eq!(evidence.counts.messages, 2);
}

#[test]
fn pauses_and_earlier_times_add_no_working_time() {
    let mut script = Script::default();
    for second in [0, 60, 30, 90, 90 + 301, 90 + 301 + 10] {
        script.at = second;
        script.item(Item::Boundary);
    }
    let span = script.collect().span;
    assert_eq!(span.active, Duration::from_secs(100));
    assert_eq!(span.last.unwrap().since(span.first.unwrap()), Duration::from_secs(401));
}

#[test]
fn a_failed_edit_is_neither_a_change_nor_an_error() {
    let mut script = Script::default();
    script.call("c1", "Edit", change("/app/a.rs", ChangeKind::Edited, "a", "b"));
    script.result("c1", Outcome::Failed(None), "String to replace not found in file.");
    let evidence = script.collect();
    assert!(evidence.files.is_empty() && evidence.errors.is_empty());
    assert_eq!(evidence.counts.tool_errors, 1);
    assert_eq!(evidence.tools["Edit"].errors, 1);
}

#[test]
fn a_file_is_new_if_the_answer_of_any_agent_says_so() {
    for (answer, is_new) in [
        ("File created successfully at: /app/a.py", true),
        ("Successfully created and wrote to new file: /app/a.py.", true),
        ("Created file /app/a.py with 44 characters", true),
        ("The file /app/a.py has been updated.", false),
    ] {
        let mut script = Script::default();
        script.call("c1", "Write", change("/app/a.py", ChangeKind::Written, "", "a = 1"));
        script.result("c1", Outcome::Succeeded, answer);
        assert_eq!(script.collect().files["/app/a.py"].created, is_new, "{answer}");
    }
}

#[test]
fn a_change_with_a_lost_result_counts_after_later_messages() {
    let mut script = Script::default();
    script.call("c1", "Edit", change("/app/a.rs", ChangeKind::Edited, "a", "b"));
    for message in ["m1", "m2", "m3"] {
        script.reply(message, "Going on.");
    }
    assert!(script.collect().files.is_empty());
    script.reply("m4", "Going on.");
    assert_eq!(script.collect().files["/app/a.rs"].edits, 1);
}

#[test]
fn an_unanswered_call_is_kept_until_the_agent_continues() {
    let run = |command: &str| Action::Run { command: command.to_owned(), purpose: None };
    let mut script = Script::default();
    script.reply("m1", "I start the migration.");
    script.call("c1", "Bash", run("make migrate"));
    script.call("c2", "Read", Action::Read { path: "/app/a.rs".to_owned() });
    script.result("c2", Outcome::Succeeded, "");
    let cut_off = script.collect().unanswered_call.expect("an unanswered call");
    assert_eq!((cut_off.text.as_str(), cut_off.origin.line), ("make migrate", 2));
    // The result of the first call was lost, since the agent continues.
    script.call("c3", "Bash", run("make test"));
    assert_eq!(script.collect().unanswered_call.expect("an unanswered call").text, "make test");
    script.result("c3", Outcome::Succeeded, "");
    assert_eq!(script.collect().unanswered_call, None);
    script.call("c4", "Bash", run("make lint"));
    script.reply("m2", "Done.");
    assert_eq!(script.collect().unanswered_call, None);
}

#[test]
fn calls_of_graphitis_tools_are_not_part_of_the_work() {
    for tool in [
        "mcp__graphiti__session_tracking_close",
        "mcp__plugin_graphiti_graphiti__session_tracking_close",
    ] {
        let mut script = Script::default();
        script.reply("m1", "The pool is larger now.");
        script.call("c1", tool, Action::Other);
        assert_eq!(script.collect().unanswered_call, None);
        script.result("c1", Outcome::Failed(None), "Error: which session is meant cannot be told");
        let evidence = script.collect();
        assert_eq!((evidence.last_result, evidence.errors.len()), (None, 0));
    }
}

#[test]
fn a_prompt_that_the_user_stopped_and_wrote_again_counts_once() {
    let mut script = Script::default();
    script.prompt("have a look at ticket ABC-108, we will work on that here");
    script.item(Item::Interrupted);
    script.prompt("have a look at ticket DEF-108, we will work on that here");
    script.reply("m1", "It is about the list.");
    let evidence = script.collect();
    assert_eq!(evidence.prompts.len(), 1);
    assert!(evidence.prompts[0].text.contains("DEF-108") && evidence.corrections.is_empty());
}

#[test]
fn a_sub_agent_completes_a_task_of_the_session() {
    let mut script = Script::default();
    script.call("t1", "TaskCreate", Action::AddTask { subject: "Write the parser".to_owned() });
    script.item(Item::TaskKey { call: Cow::Borrowed("t1"), key: Cow::Borrowed("1") });
    script.result("t1", Outcome::Succeeded, "Task #1 created successfully");
    script.sub_agent = Some("a1");
    let key = "1".to_owned();
    let done = Action::UpdateTask { key, state: Some(TaskState::Completed), subject: None };
    script.call("t2", "TaskUpdate", done);
    script.sub_agent = None;
    assert_eq!(script.collect().tasks[0].state, TaskState::Completed);
    script.call("t3", "TaskList", Action::Other);
    script.result("t3", Outcome::Succeeded, "#1 [in_progress] Write the parser\n");
    assert_eq!(script.collect().tasks[0].state, TaskState::InProgress);
}

#[test]
fn tasks_choices_and_delegations_are_recorded() {
    let mut script = Script::default();
    script.call("t1", "TaskCreate", Action::AddTask { subject: "Write the parser".to_owned() });
    script.item(Item::TaskKey { call: Cow::Borrowed("t1"), key: Cow::Borrowed("1") });
    script.result("t1", Outcome::Succeeded, "Task #1 created successfully");
    let done = Action::UpdateTask {
        key: "1".to_owned(),
        state: Some(TaskState::Completed),
        subject: None,
    };
    script.call("t2", "TaskUpdate", done);
    let question = UserQuestion {
        header: Some("Store".to_owned()),
        question: "Which store?".to_owned(),
        options: vec!["sled".to_owned(), "SQLite".to_owned()],
        ..UserQuestion::default()
    };
    script.call("q1", "AskUserQuestion", Action::Ask(vec![question]));
    script.item(Item::Answer {
        call: Cow::Borrowed("q1"),
        question: Cow::Borrowed("Which store?"),
        answer: Cow::Borrowed("sled"),
    });
    script.call(
        "p1",
        "ExitPlanMode",
        Action::ProposePlan { plan: "# Plan: Use sled\n\n1. x".to_owned() },
    );
    script.result("p1", Outcome::Rejected, "");
    script.call("d1", "Task", Action::Delegate { agent: None, subject: "Look around".to_owned() });
    script.result(
        "d1",
        Outcome::Succeeded,
        "## Report\n\nThe store has one module that nobody uses.\n- more",
    );
    let evidence = script.collect();
    assert_eq!(evidence.tasks.len(), 1);
    assert_eq!(evidence.tasks[0].state, TaskState::Completed);
    assert_eq!(evidence.choices[0].alternatives, ["SQLite"]);
    assert_eq!(evidence.choices[0].header.as_deref(), Some("Store"));
    assert_eq!(
        (evidence.choices[1].question.as_str(), evidence.choices[1].answer.as_str()),
        ("Plan: Use sled", "refused")
    );
    assert_eq!(
        evidence.delegations[0].report.as_deref(),
        Some("## Report\n\nThe store has one module that nobody uses.\n- more")
    );
}

#[test]
fn the_prompt_after_a_refused_question_is_its_answer() {
    let asked = || UserQuestion {
        header: Some("Keys".to_owned()),
        question: "Rotate keys at once?".to_owned(),
        options: vec!["Now".to_owned(), "Later".to_owned()],
        ..UserQuestion::default()
    };
    let mut script = Script::default();
    script.call("q1", "AskUserQuestion", Action::Ask(vec![asked()]));
    script.result("q1", Outcome::Rejected, "");
    script.reply("m1", "What would you like to clarify?");
    script.prompt("Rotate them lazily, with the next write.");
    script.call("q2", "AskUserQuestion", Action::Ask(vec![asked()]));
    script.result("q2", Outcome::Rejected, "");
    script.prompt("What does that cost?");
    let choices = script.collect().choices;
    assert_eq!(choices.len(), 1);
    assert_eq!(choices[0].answer, "Rotate them lazily, with the next write.");
    assert_eq!(choices[0].header.as_deref(), Some("Keys"));
    assert_eq!(choices[0].alternatives, ["Now", "Later"]);
}

#[test]
fn calls_of_a_sub_agent_in_the_sessions_file_count_and_its_messages_do_not() {
    let mut script = Script::default();
    script.prompt("Fix it");
    script.call("d1", "Task", Action::Delegate { agent: None, subject: "Fix".to_owned() });
    script.sub_agent = Some("a1");
    script.edit("s1", "/app/a.rs", "a", "b");
    let commit = "git commit -qm 'Fix it' -m 'It was wrong.'";
    script.run("s2", commit, Outcome::Succeeded, "[main 1a2b3c4] Fix it\n");
    script.reply("m1", "I fixed it.");
    script.call("s3", "TodoWrite", Action::PlanTasks(Vec::new()));
    script.sub_agent = None;
    let evidence = script.collect();
    assert_eq!(evidence.files["/app/a.rs"].edits, 1);
    assert_eq!(evidence.commits[0].body, "It was wrong.");
    assert_eq!(evidence.git_events.len(), 1);
    assert_eq!(evidence.reported_sub_agents, ["a1"]);
    assert!(evidence.last_reply.is_none() && evidence.reports.is_empty());
    assert_eq!((evidence.counts.messages, evidence.last_result), (1, None));
}

#[test]
fn background_work_counts_when_it_has_ended() {
    let mut script = Script::default();
    script.call("d1", "Agent", Action::Delegate { agent: None, subject: "Look".to_owned() });
    let launched = "Async agent launched successfully.\nagentId: a1 (internal ID)\n";
    script.result("d1", Outcome::Succeeded, launched);
    let begun = "Command running in background with ID: b1. Output is being written to: x";
    script.run("c1", "rm old.rs && git commit -m 'Fix it' -m why", Outcome::Succeeded, begun);
    assert!(script.collect().commits.is_empty() && script.collect().files.is_empty());
    let shown = "<status>completed</status>\n<output>\n[main 1a2b3c4] Fix it\n</output>";
    script.item(Item::Call(Call {
        id: Cow::Borrowed("o1"),
        message: None,
        tool: Cow::Borrowed("TaskOutput"),
        input: serde_json::json!({ "task_id": "b1" }),
        action: Action::Other,
    }));
    script.result("o1", Outcome::Succeeded, shown);
    let report = "## Findings\n\n- The store has one module that nobody uses.";
    let ended = |task, text| {
        let outcome = Outcome::Succeeded;
        Item::TaskEnded(TaskEnded {
            task: Cow::Borrowed(task),
            call: None,
            outcome,
            text: Cow::Borrowed(text),
        })
    };
    script.item(ended("a1", report));
    script.item(ended("b1", ""));
    let evidence = script.collect();
    assert_eq!(evidence.commits.len(), 1);
    assert_eq!(evidence.commits[0].hash, "1a2b3c4");
    assert_eq!(evidence.commits[0].body, "why");
    assert!(evidence.files["old.rs"].deleted);
    assert_eq!(evidence.delegations[0].report.as_deref(), Some(report));
}

#[test]
fn a_run_without_tests_is_not_a_test_run() {
    let packages = "ok  \texample.org/a\t0.01s\n";
    for (command, runs) in [
        ("GOOS=windows go test -exec=true ./...", 0),
        ("go test ./...", 1),
        ("go test -exec=true ./... && go test ./...", 1),
    ] {
        let mut script = Script::default();
        script.prompt("Check it");
        script.run("a", command, Outcome::Succeeded, packages);
        assert_eq!(script.collect().tests.len(), runs, "{command}");
    }
}

#[test]
fn commands_of_the_user_in_the_shell_count() {
    let mut script = Script::default();
    let args = Cow::Borrowed("git switch main");
    script.item(Item::Command { name: Cow::Borrowed("!"), args });
    script.item(Item::ShellOutput(Cow::Borrowed("Switched to branch 'main'\n")));
    let args = Cow::Borrowed("uv run pytest test/test_names.py");
    script.item(Item::Command { name: Cow::Borrowed("!"), args });
    let output = "FAILED test/test_names.py::test_depth\n==== 1 failed, 6 passed in 0.37s ====\n";
    script.item(Item::ShellOutput(Cow::Borrowed(output)));
    let evidence = script.collect();
    assert_eq!(evidence.git_events[0].branch.as_deref(), Some("main"));
    let run = &evidence.tests[0];
    assert_eq!((run.passed, run.failed), (6, 1));
    assert_eq!(run.command, "uv run pytest test/test_names.py");
}

#[test]
fn a_letter_in_answer_to_options_is_a_choice() {
    let mut script = Script::default();
    script.prompt("How should we store it?");
    script.reply("m1", "Two ways:\n\nA) One file\nB) A folder\n\nWhich do you prefer?");
    script.prompt("b");
    let evidence = script.collect();
    assert_eq!(evidence.choices[0].answer, "A folder");
    assert_eq!(evidence.choices[0].alternatives, ["One file"]);
}

#[test]
fn the_task_of_a_sub_agent_is_not_a_prompt_of_the_session() {
    let task = Item::Instruction(Cow::Borrowed("Find the parser."));
    let mut script = Script::default();
    script.prompt("Move the parser");
    script.item(task.clone());
    assert_eq!(script.collect().prompts.len(), 1);
    let mut sub_agent = Collector::new(3);
    sub_agent
        .observe(&Entry { at: None, uuid: None, sub_agent: None, caller: None, item: task }, 1);
    assert_eq!(sub_agent.evidence().prompts[0].origin.source, 3);
    assert_eq!(sub_agent.evidence().counts.prompts, 0);
}

#[test]
fn each_task_of_a_sub_agent_has_a_report() {
    let mut script = Script::default();
    for (task, report) in [("Review a.rs", "The lock is missing."), ("Review b.rs", "No findings.")]
    {
        script.item(Item::Instruction(task.into()));
        script.reply(task, "I read the file first.");
        script.reply(report, report);
    }
    let sub_agent = script.run_from(Collector::new(3), 0);
    let reports: Vec<&str> =
        sub_agent.evidence().reports.iter().map(|report| report.text.as_str()).collect();
    assert_eq!(reports, ["The lock is missing.", "No findings."]);
}

#[test]
fn saving_at_any_point_changes_nothing() {
    let script = everything(1);
    let whole = script.run_from(Collector::new(0), 0);
    for cut in 0..script.entries.len() {
        let mut first = Collector::new(0);
        for (entry, line) in &script.entries[..cut] {
            first.observe(entry, *line);
        }
        let saved = serde_json::to_string(&first).unwrap();
        let loaded: Collector = serde_json::from_str(&saved).unwrap();
        assert_eq!(loaded, first, "saved at {cut}");
        assert_eq!(script.run_from(loaded, cut), whole, "cut at {cut}");
    }
}

#[test]
fn the_evidence_of_a_long_transcript_is_smaller_than_352_kibibytes() {
    let mut collector = Collector::new(0);
    let mut largest = 0;
    for round in 0..10 {
        let script = everything(40 + round * 7);
        collector = script.run_from(collector, 0);
        let size = serde_json::to_string(&collector).unwrap().len();
        largest = largest.max(size);
    }
    assert!(largest < 352 * 1024, "{largest} bytes");
    assert!(largest > 60 * 1024, "the transcript does not fill the lists: {largest} bytes");
}

pub(in crate::summarize) const FAILING: &str = "running 2 tests\ntest auth::works ... ok\ntest auth::expires_late ... FAILED\n\n\
    ---- auth::expires_late stdout ----\nthread 'auth::expires_late' panicked at src/auth.rs:9:5:\n\
    assertion `left == right` failed\n\n\
    test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";
pub(in crate::summarize) const PASSING: &str = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";

const OTHER: &str = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.1s\n";

/// A session in which the agent finds the cause of a failing test, fixes it and commits the fix.
pub(in crate::summarize) fn fixing_the_login() -> Script {
    let mut script = Script::default();
    script.prompt("Hey, the login fails after a minute. Can you fix it?");
    script.read("c1", "/app/src/auth.rs");
    script.run("c2", "cd /app && cargo test | tail -20", Outcome::Succeeded, FAILING);
    script.reply("m2", "Found it! `EXPIRY` is read in seconds but the file gives minutes. Let me set the expiry in seconds.");
    script.edit("c3", "/app/.env", "EXPIRY=60", "EXPIRY=3600");
    script.run("c4", "cargo test", Outcome::Succeeded, PASSING);
    script.run(
        "c5",
        "git commit -qam 'Fix the expiry'",
        Outcome::Succeeded,
        "[main 1a2b3c4] Fix the expiry\n",
    );
    script.at += 90;
    script.reply("m3", "Fixed the expiry in `.env`. I kept the old name because scripts read it. The old sessions still need to be removed by hand.");
    script
}

/// A transcript that a test writes.
#[derive(Default)]
pub(in crate::summarize) struct Script {
    pub(super) entries: Vec<(Entry<'static>, u64)>,
    pub(in crate::summarize) at: i64,
    pub(in crate::summarize) sub_agent: Option<&'static str>,
    /// The call that started the sub-agent.
    pub(in crate::summarize) caller: Option<&'static str>,
}

impl Script {
    pub(in crate::summarize) fn item(&mut self, item: Item<'static>) {
        let line = u64::try_from(self.entries.len()).unwrap() + 1;
        let at = Some(Timestamp::from_seconds(1_700_000_000 + self.at));
        let sub_agent = self.sub_agent.map(Cow::Borrowed);
        let caller = self.caller.map(Cow::Borrowed);
        self.entries.push((Entry { at, uuid: None, sub_agent, caller, item }, line));
    }

    pub(in crate::summarize) fn prompt(&mut self, text: &str) {
        self.item(Item::Prompt(Cow::Owned(text.to_owned())));
    }

    pub(in crate::summarize) fn reply(&mut self, message: &str, text: &str) {
        let message = Some(Cow::Owned(message.to_owned()));
        self.item(Item::Reply { message, text: Cow::Owned(text.to_owned()) });
    }

    pub(in crate::summarize) fn call(&mut self, id: &str, tool: &str, action: Action) {
        self.item(Item::Call(Call {
            id: Cow::Owned(id.to_owned()),
            message: None,
            tool: Cow::Owned(tool.to_owned()),
            input: Value::Null,
            action,
        }));
    }

    pub(in crate::summarize) fn result(
        &mut self,
        call: &str,
        outcome: Outcome,
        content: &'static str,
    ) {
        let call = Cow::Owned(call.to_owned());
        self.item(Item::Result(ToolResult { call, outcome, content: LazyText::plain(content) }));
    }

    pub(in crate::summarize) fn run(
        &mut self,
        id: &str,
        command: &str,
        outcome: Outcome,
        content: &'static str,
    ) {
        self.call(id, "Bash", Action::Run { command: command.to_owned(), purpose: None });
        self.result(id, outcome, content);
    }

    pub(in crate::summarize) fn read(&mut self, id: &str, path: &str) {
        self.call(id, "Read", Action::Read { path: path.to_owned() });
        self.result(id, Outcome::Succeeded, "");
    }

    pub(in crate::summarize) fn edit(&mut self, id: &str, path: &str, old: &str, new: &str) {
        self.call(id, "Edit", change(path, ChangeKind::Edited, old, new));
        self.result(id, Outcome::Succeeded, "");
    }

    /// Adds an edit that the user refused, with the text that the user typed at the refusal.
    pub(in crate::summarize) fn refused_edit(&mut self, id: &'static str, path: &str, typed: &str) {
        self.call(id, "Edit", change(path, ChangeKind::Edited, "a", "b"));
        self.result(id, Outcome::Rejected, "");
        let refusal = self.entries.last().map(|(_, line)| *line);
        self.prompt(typed);
        // The typed text is on the same line as the result.
        if let (Some((_, line)), Some(refusal)) = (self.entries.last_mut(), refusal) {
            *line = refusal;
        }
    }

    pub(in crate::summarize) fn collect(&self) -> Evidence {
        self.run_from(Collector::new(0), 0).evidence().clone()
    }

    fn run_from(&self, mut collector: Collector, from: usize) -> Collector {
        for (entry, line) in &self.entries[from..] {
            collector.observe(entry, *line);
        }
        collector
    }
}

pub(in crate::summarize) fn change(path: &str, kind: ChangeKind, old: &str, new: &str) -> Action {
    let edits = vec![Replacement { old: old.to_owned(), new: new.to_owned() }];
    Action::Change(vec![FileChange { path: path.to_owned(), kind, edits }])
}

/// Returns a session of `size` rounds with most kinds of items. The texts grow with `size` up to a
/// `size` of 60.
fn everything(size: usize) -> Script {
    let mut script = Script::default();
    for round in 0..size {
        let n = size * 1_000 + round;
        let long = |text: &str| text.repeat(size.min(60));
        script.at += 40;
        surroundings(&mut script, n, &long);
        words(&mut script, n, &long);
        files(&mut script, n, &long);
        commands(&mut script, n, &long);
        plans(&mut script, n, &long);
        let kind = if round % 2 == 0 { RecapKind::Compaction } else { RecapKind::Away };
        let wanted = long("Much is wanted here. ").repeat(10);
        let text = format!("1. Primary Request and Intent:\n   Do {n}. {wanted}\n");
        script.item(Item::Recap { kind, text: Cow::Owned(text) });
        if round % 3 == 0 {
            script.item(Item::Interrupted);
            script.item(Item::Boundary);
        }
    }
    script
}

fn surroundings(script: &mut Script, n: usize, long: &dyn Fn(&str) -> String) {
    script.item(Item::Context(SessionContext {
        cwd: Some(Cow::Owned(format!("/app/{n}/{}", long("dir/")))),
        branch: Some(Cow::Owned(format!("branch-{n}"))),
        version: Some(Cow::Owned(format!("1.{n}"))),
        model: Some(Cow::Owned(format!("model-{n}"))),
    }));
    let text = Cow::Owned(format!("Title {n} {}", long("t")));
    script.item(Item::Title { by: TitleSource::Model, text });
    let url = Cow::Owned(format!("https://git.example.org/t/b/pull/{n}"));
    script.item(Item::PullRequest { url, number: None });
    script.item(Item::ServiceError(Cow::Borrowed("overloaded")));
}

fn words(script: &mut Script, n: usize, long: &dyn Fn(&str) -> String) {
    script.prompt(&format!("Fix \"problem\" {n} in the parser. {}", long("\"very\" badly\n")));
    let why = long("of words ");
    let report = long("A long report goes on. ").repeat(3);
    script.reply(
        &format!("m{n}"),
        &format!(
            "{report}\n\nThe issue was that `x{n}` is read twice because {why}. I chose way {n} over way b \
             because it is faster. Found it! `y{n}()` waits for the network without limit. \
             Let me replace the reader number {n} with another.\n\nDone.\n\n\
             - Added a check {n} for `z{n}` before the loop\n\n\
             ## Next steps\n- Remove the old reader {n} as well\n"
        ),
    );
    script.item(Item::Usage {
        message: Some(Cow::Owned(format!("m{n}"))),
        tokens: Tokens { input: 5, output: 7, ..Tokens::default() },
    });
}

fn files(script: &mut Script, n: usize, long: &dyn Fn(&str) -> String) {
    for file in 0..6 {
        let path = format!("/app/src/{}module{n}_{file}.rs", long("d/"));
        script.read(&format!("r{n}-{file}"), &path);
        let value = |letter| format!("[server]\nport = \"{}\"", long(letter));
        let path = format!("/app/config/{n}_{file}.toml");
        script.edit(&format!("e{n}-{file}"), &path, &value("a"), &value("b"));
    }
    let text = long("## Rows\n\nThe rows of the list are read twice.\n\n").repeat(2);
    let path = format!("/app/wip-{n}.md");
    script.call(&format!("w{n}"), "Write", change(&path, ChangeKind::Written, "", &text));
    script.result(&format!("w{n}"), Outcome::Succeeded, "");
}

fn commands(script: &mut Script, n: usize, long: &dyn Fn(&str) -> String) {
    let missing = "error: the \"thing\" is missing in the parser of everything that is read\n";
    let option = long("x");
    let failed = Outcome::Failed(Some(2));
    script.run(&format!("f{n}"), &format!("make target{n} OPTION={option}"), failed, missing);
    let unknown = leaked(format!("error: unknown option --fast {}\n", long("here ")));
    script.run(&format!("fast{n}"), &format!("acme run{n} {option} --fast"), failed, unknown);
    script.reply(&format!("why{n}"), "The option of acme is not called `--fast` in this version.");
    let command = format!("acme run{n} {option} --quick");
    script.run(&format!("quick{n}"), &command, Outcome::Succeeded, "ok");
    script.run(&format!("g{n}"), "cargo test", failed, FAILING);
    script.run(&format!("o{n}"), &format!("make target{n}"), Outcome::Succeeded, "ok");
    script.run(&format!("h{n}"), "cargo test", Outcome::Succeeded, PASSING);
    let committed = leaked(format!("[main {n:07x}a] Commit {n} {}\n", long("more ")));
    let body = long("A reason of some length that is given. ");
    let command = format!("git commit -m 'Commit {n}' -m '{body}{n}'");
    script.run(&format!("k{n}"), &command, Outcome::Succeeded, committed);
    let opened = leaked(format!("https://git.example.org/t/a/pull/{n}\n"));
    let command = format!("gh pr create --title '{body}' --body '{body}{n}'");
    script.run(&format!("l{n}"), &command, Outcome::Succeeded, opened);
    script.run(&format!("p{n}"), &format!("git push origin {option}"), failed, missing);
    let background = "Command running in background with ID: b";
    let command = format!("git commit -m 'Commit {n}' -m '{body}{n}'");
    script.run(&format!("b{n}"), &command, Outcome::Succeeded, background);
    script.call(&format!("v{n}"), "Bash", Action::Run { command, purpose: None });
    script.call(&format!("w{n}"), &format!("mcp__server{n}__tool"), Action::Other);
}

fn plans(script: &mut Script, n: usize, long: &dyn Fn(&str) -> String) {
    let subject = format!("Task {n} {}", long("to do "));
    script.call(&format!("t{n}"), "TaskCreate", Action::AddTask { subject });
    let call = Cow::Owned(format!("t{n}"));
    script.item(Item::TaskKey { call, key: Cow::Owned(format!("k{n}")) });
    let stated =
        Task { key: format!("s{n}"), subject: format!("Stated {n}"), state: TaskState::InProgress };
    script.call(&format!("u{n}"), "TodoWrite", Action::PlanTasks(vec![stated]));
    let question = format!("Which {n}? {}", long("really "));
    let options = vec![long("left "), long("right ")];
    let asked = UserQuestion {
        header: Some(long("h")),
        question: question.clone(),
        options,
        ..UserQuestion::default()
    };
    script.call(&format!("q{n}"), "AskUserQuestion", Action::Ask(vec![asked]));
    script.item(Item::Answer {
        call: Cow::Owned(format!("q{n}")),
        question: Cow::Owned(question),
        answer: Cow::Owned(long("left ")),
    });
    let agent = Some(format!("kind{n}"));
    let subject = format!("Work {n}");
    script.call(&format!("d{n}"), "Task", Action::Delegate { agent, subject });
    let report = leaked(long("- The store has one module that nobody uses, as far as is seen.\n"));
    script.result(&format!("d{n}"), Outcome::Succeeded, report);
}

/// Returns `text` as a static string, which a script requires.
fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// Returns the evidence of a session that has only these prompts, one on each line.
pub(crate) fn evidence_of_prompts(prompts: &[&str]) -> Evidence {
    let quote = |(at, text): (usize, &&str)| Quote {
        text: (*text).to_owned(),
        origin: Origin { source: 0, line: at as u64 + 1 },
        at: None,
    };
    Evidence { prompts: prompts.iter().enumerate().map(quote).collect(), ..Evidence::default() }
}
