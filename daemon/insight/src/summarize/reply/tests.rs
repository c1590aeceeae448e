use serde_json::json;

use super::*;
use crate::{
    model::{ActivityVector, Evidence, Project, summary, transcript::Outcome},
    summarize::{
        Context,
        evidence::scenarios::{Script, fixing_the_login},
        pack::Packed,
        priority::Field,
        summarize,
    },
};

fn evidence() -> (Evidence, EnhancedSessionSummary) {
    let evidence = fixing_the_login().collect();
    let project = Project::new("/app");
    let context = Context { project: Some(&project), ..Context::default() };
    let activity = ActivityVector { fixing: 0.9, ..ActivityVector::default() };
    let summary = summarize(&evidence, &context, activity);
    (evidence, summary)
}

fn merged(claims: Claims, shown: &str) -> (Merged, EnhancedSessionSummary) {
    let (evidence, summary) = evidence();
    let packed = Packed { parts: vec![shown.to_owned()], ..Packed::default() };
    let grounds = Grounds { evidence: &evidence, packed: &packed, notes: "" };
    (merge(summary.clone(), claims, &grounds), summary)
}

fn texts(entries: &[&str]) -> Vec<String> {
    entries.iter().map(|entry| (*entry).to_owned()).collect()
}

#[test]
fn a_model_changes_prose_but_no_facts() {
    let answer = json!({
        "objective": "Find out why logins\nfail after a minute.", "outcome": "blocked",
        "completed_tasks": ["**Corrected** the expiry in `.env`"],
        "key_decisions": [{"decision": "Kept minutes out", "rationale": "", "alternatives": ["a", " "]}],
        "next_steps": ["Remove old sessions"], "discoveries": ["Expiry is read in seconds"],
        "errors_resolved": null, "root_cause_analysis": "Minutes were taken for seconds",
        "config_changes": null,
    });
    let (found, before) = merged(Claims::of_json(&answer).unwrap(), "");
    let summary = found.summary;
    assert_eq!(found.dropped, 0);
    assert_eq!(summary.objective, "Find out why logins fail after a minute.");
    assert_eq!(summary.outcome, summary::Outcome::Blocked);
    assert_eq!(summary.completed_tasks.unwrap(), ["Corrected the expiry in `.env`"]);
    let decision = &summary.key_decisions.unwrap()[0];
    assert_eq!(
        (decision.decision.as_str(), decision.rationale.as_str()),
        ("Kept minutes out", NO_REASON)
    );
    assert_eq!(decision.alternatives, Some(texts(&["a"])));
    assert_eq!(summary.root_cause_analysis.unwrap(), "Minutes were taken for seconds");
    // The model did not mention errors, so the errors from the evidence stay.
    assert_eq!(summary.errors_resolved, before.errors_resolved);
    assert_eq!(summary.config_changes, before.config_changes);
    assert_eq!(summary.test_results, before.test_results);
    assert_eq!(summary.files_modified, before.files_modified);
    assert_eq!(summary.message_count, before.message_count);
    assert_eq!(summary.duration_minutes, before.duration_minutes);
}

#[test]
fn decisions_of_the_user_and_a_known_outcome_take_precedence() {
    let answer = json!({
        "objective": "Find out why logins fail", "outcome": "completed", "completed_tasks": null,
        "key_decisions": [{"decision": "Kept minutes out", "rationale": "They mislead"}],
        "next_steps": null, "discoveries": null, "errors_resolved": null,
        "root_cause_analysis": null, "config_changes": null,
    });
    let claims = Claims::of_json(&answer).unwrap();
    let (evidence, summary) = evidence();
    let record = |decision: &str, rationale: &str| DecisionRecord {
        decision: decision.to_owned(),
        rationale: rationale.to_owned(),
        alternatives: None,
    };
    let read = EnhancedSessionSummary {
        outcome: summary::Outcome::InProgress,
        outcome_reason: Some("waits for an answer".to_owned()),
        key_decisions: Some(vec![
            record("Let's stick to seconds", USERS_WORDS),
            record("Guessed from a report", "It said so"),
        ]),
        ..summary
    };
    let grounds = Grounds { evidence: &evidence, packed: &Packed::default(), notes: "" };
    let found = merge(read, claims, &grounds).summary;
    assert_eq!(found.outcome, summary::Outcome::InProgress);
    let decisions = found.key_decisions.unwrap();
    let decisions: Vec<&str> = decisions.iter().map(|one| one.decision.as_str()).collect();
    assert_eq!(decisions, ["Let's stick to seconds", "Kept minutes out"]);
}

#[test]
fn claims_about_files_that_the_session_never_touched_are_dropped_and_counted() {
    let claims = Claims {
        completed_tasks: texts(&[
            "Fixed `.env`",
            "Rewrote src/payments/charge.rs",
            "Used Node.js 22 for it, e.g. with version 1.2.3",
        ]),
        discoveries: texts(&["lib/clock.py is slow", "lib/phantom.py is slower"]),
        ..Claims::default()
    };
    let (found, _) = merged(claims, "[agent] I looked at lib/clock.py");
    assert_eq!(found.dropped, 2);
    let tasks = found.summary.completed_tasks.unwrap();
    assert_eq!(tasks, ["Fixed `.env`", "Used Node.js 22 for it, e.g. with version 1.2.3"]);
    assert_eq!(found.summary.discoveries.unwrap(), ["lib/clock.py is slow"]);
}

#[test]
fn claims_about_tests_are_compared_with_the_runs() {
    for (claim, holds) in [
        ("All tests pass now", true),
        ("Ran the suite: 2 passed", true),
        ("Added 7 tests for the expiry", true),
        ("All 97 tests passed", false),
        ("97/97 tests passing", false),
        ("2 tests failed", false),
        ("1 test failed before", true),
    ] {
        let claims = Claims { completed_tasks: texts(&[claim]), ..Claims::default() };
        let (found, before) = merged(claims, claim);
        assert_eq!(found.dropped == 0, holds, "{claim}");
        if !holds {
            assert_eq!(found.summary.completed_tasks, before.completed_tasks);
        }
    }
    let nothing = Evidence::default();
    let grounds = Grounds { evidence: &nothing, packed: &Packed::default(), notes: "" };
    assert!(!grounds.tests_hold("the tests pass") && grounds.tests_hold("wrote tests"));
    let mut failing = evidence().0;
    failing.tests.retain(|run| run.failed > 0);
    failing.tests.iter_mut().for_each(|run| run.passed = 5);
    let grounds = Grounds { evidence: &failing, packed: &Packed::default(), notes: "" };
    assert!(!grounds.tests_hold("All tests pass now"), "{:?}", failing.tests);
}

#[test]
fn reasons_and_alternatives_without_grounds_are_dropped() {
    let decision = |rationale: &str, alternatives: &[&str]| DecisionRecord {
        decision: format!("Kept minutes out: {rationale}"),
        rationale: rationale.to_owned(),
        alternatives: Some(texts(alternatives)),
    };
    let setting = ConfigChange {
        file: "/app/.env".to_owned(),
        setting: "EXPIRY".to_owned(),
        old_value: None,
        new_value: "3600".to_owned(),
        reason: "lib/phantom.py needs it".to_owned(),
    };
    let claims = Claims {
        key_decisions: vec![
            decision("They mislead", &["Convert them", "Convert them in lib/phantom.py"]),
            decision("lib/phantom.py has none", &[]),
        ],
        config_changes: vec![setting],
        ..Claims::default()
    };
    let (evidence, mut before) = evidence();
    before.config_changes.as_mut().unwrap()[0].reason = NOT_STATED.to_owned();
    let found = merge(
        before.clone(),
        claims,
        &Grounds { evidence: &evidence, packed: &Packed::default(), notes: "" },
    );
    assert_eq!(found.dropped, 3);
    let decisions = found.summary.key_decisions.unwrap();
    let alternatives: Vec<_> = decisions.iter().flat_map(|one| one.alternatives.clone()).collect();
    assert_eq!(alternatives, [texts(&["Convert them"])]);
    assert_eq!(found.summary.config_changes, before.config_changes);
}

#[test]
fn a_claim_that_a_model_repeats_is_dropped_once() {
    let claims = Claims {
        completed_tasks: texts(&["Rewrote src/charge.rs", "rewrote `src/charge.rs`"]),
        discoveries: texts(&["lib/phantom.py is slow"]),
        ..Claims::default()
    };
    assert_eq!(merged(claims, "").0.dropped, 2);
}

#[test]
fn settings_keep_the_values_of_the_evidence() {
    let (_, before) = evidence();
    let read = &before.config_changes.as_ref().unwrap()[0];
    let claim = |file: &str, setting: &str| ConfigChange {
        file: file.to_owned(),
        setting: setting.to_owned(),
        old_value: Some("1".to_owned()),
        new_value: "999".to_owned(),
        reason: "made up".to_owned(),
    };
    let claims = Claims {
        config_changes: vec![
            claim("/app/.env", "expiry"),
            claim(".env", "PORT"),
            claim("x.toml", "a"),
        ],
        ..Claims::default()
    };
    let (found, _) = merged(claims, "");
    assert_eq!(found.dropped, 2);
    let after = &found.summary.config_changes.unwrap()[..];
    assert_eq!(after.len(), 1);
    assert_eq!((&after[0].old_value, &after[0].new_value), (&read.old_value, &read.new_value));
}

#[test]
fn an_error_keeps_the_message_and_verification_of_the_evidence() {
    let (_, before) = evidence();
    let read = before.errors_resolved.unwrap()[0].clone();
    let resolution = |error: &str, verification: &str| ErrorResolution {
        error: error.to_owned(),
        root_cause: "Minutes for seconds".to_owned(),
        fix: "Wrote the expiry in seconds".to_owned(),
        verification: verification.to_owned(),
    };
    let claims = Claims {
        errors_resolved: vec![
            resolution(&read.error, "None"),
            resolution("The moon was full", "All 55 tests pass"),
        ],
        ..Claims::default()
    };
    let (found, _) = merged(claims, "");
    let errors = found.summary.errors_resolved.unwrap();
    assert_eq!(errors.len(), 2);
    assert_eq!((&errors[0].error, &errors[0].verification), (&read.error, &read.verification));
    assert_eq!(errors[0].root_cause, "Minutes for seconds");
    assert_eq!((errors[1].verification.as_str(), found.dropped), (NOT_STATED, 1));
}

#[test]
fn the_plain_text_format_of_the_conversation_document_is_parsed() {
    let claims = Claims::of_text(
        "Sure!\nOVERVIEW: The login failed after a minute and was fixed.\n\nTOPICS:\n- login\n\n\
         DECISIONS:\n- Kept the old name\n\nCODE_REFERENCES:\n- .env\n\nKEY_POINTS:\n- Expiry is in seconds\n",
    );
    let (found, before) = merged(claims.unwrap(), "");
    assert_eq!(found.summary.objective, "The login failed after a minute and was fixed.");
    assert_eq!(found.summary.outcome, before.outcome);
    assert_eq!(found.summary.key_decisions.unwrap()[0].rationale, NO_REASON);
    assert_eq!(found.summary.discoveries.unwrap(), ["Expiry is in seconds"]);
    assert_eq!(Claims::of_text("I cannot help with that."), None);
}

#[test]
fn claims_about_parts_of_a_session_are_merged() {
    let part = |objective: &str, outcome, task: &str, step: &str| Claims {
        objective: Some(objective.to_owned()),
        outcome: Some(outcome),
        completed_tasks: texts(&[task]),
        next_steps: texts(&[step]),
        ..Claims::default()
    };
    let whole = Claims::joined(vec![
        part("Build it", summary::Outcome::InProgress, "Drew the plan", "Build"),
        part("Go on", summary::Outcome::Completed, "Built the house", "Sell"),
    ]);
    assert_eq!(whole.objective.as_deref(), Some("Build it"));
    assert_eq!(whole.outcome, Some(summary::Outcome::Completed));
    assert_eq!(whole.completed_tasks, ["Drew the plan", "Built the house"]);
    assert_eq!(whole.next_steps, ["Sell"]);
}

#[test]
fn a_long_answer_is_cut() {
    let claims = Claims {
        objective: Some("word ".repeat(5_000)),
        discoveries: (0..500).map(|at| format!("unlike{at} other{at} thing{at}")).collect(),
        ..Claims::default()
    };
    let shown = claims.discoveries.join("\n");
    let (found, _) = merged(claims, &shown);
    assert!(found.summary.objective.chars().count() <= MAX_LONG_ENTRY_CHARS + 1);
    assert_eq!(found.summary.discoveries.unwrap().len(), MAX_ENTRIES);
}

#[test]
fn each_claim_about_an_error_is_joined_with_one_error() {
    let error = |error: &str, fix: &str| ErrorResolution {
        error: error.to_owned(),
        root_cause: NOT_STATED.to_owned(),
        fix: fix.to_owned(),
        verification: NOT_STATED.to_owned(),
    };
    let claimed = vec![error("the login test fails", "Read the expiry in seconds")];
    let read = vec![
        error("login test fails: expected 60", NOT_STATED),
        error("login test fails: no token", "Added a token"),
    ];
    let joined = joined(claimed, read);
    let fixes: Vec<_> = joined.iter().map(|one| (one.error.as_str(), one.fix.as_str())).collect();
    assert_eq!(
        fixes,
        [
            ("login test fails: expected 60", "Read the expiry in seconds"),
            ("login test fails: no token", "Added a token"),
        ]
    );
}

/// A session that ends with a failing test and a commit that is not pushed.
fn retrying_the_checkout() -> Script {
    let mut script = Script::default();
    script.prompt(
        "Make the checkout retry. I want \"slots\" to stay a number, because scripts read it.",
    );
    script.edit("a", "/app/client.py", "slots = 1", "slots = 8");
    let failed = "FAILED tests/test_a.py::test_slots - AssertionError\n=== 1 failed, 4 passed in 0.03s ===\n";
    script.run("b", "python -m pytest", Outcome::Failed(Some(1)), failed);
    let committed = "[main 1a2b3c4] Retry the checkout\n 1 file changed\n";
    script.run("c", "git commit -qam 'Retry the checkout'", Outcome::Succeeded, committed);
    script.reply(
        "m",
        "The checkout retries three times. test_slots still fails. The commit is not pushed.",
    );
    script
}

#[test]
fn a_step_removes_what_the_session_names() {
    let mut script = retrying_the_checkout();
    script.prompt("Log each retry in client.py. The feature flag stays on until the rollout.");
    let steps = [
        "Remove the temporary logging in `client.py`",
        "Drop the feature flag after the rollout",
        "Remove `test_slots`",
        "Drop the feature",
        "Drop the old scripts",
        "Remove the table of the gateway",
        "Delete `server.py`",
    ];
    assert_eq!(kept(&script, &steps)[1], steps[..3]);
}

/// Returns the statements that are kept as tasks, as next steps and as discoveries.
fn kept(script: &Script, statements: &[&str]) -> [Vec<String>; 3] {
    let evidence = script.collect();
    let base = summarize(&evidence, &Context::default(), ActivityVector::default());
    let base = EnhancedSessionSummary {
        completed_tasks: None,
        next_steps: None,
        discoveries: None,
        ..base
    };
    let lists = [Field::CompletedTasks, Field::NextSteps, Field::Discoveries].map(|field| {
        let entries = |of: Field| if of == field { texts(statements) } else { Vec::new() };
        let claims = Claims {
            completed_tasks: entries(Field::CompletedTasks),
            next_steps: entries(Field::NextSteps),
            discoveries: entries(Field::Discoveries),
            ..Claims::default()
        };
        let grounds = Grounds { evidence: &evidence, packed: &Packed::default(), notes: "" };
        let summary = merge(base.clone(), claims, &grounds).summary;
        [summary.completed_tasks, summary.next_steps, summary.discoveries]
    });
    let [[tasks, ..], [_, steps, _], [.., discoveries]] = lists;
    [tasks, steps, discoveries].map(Option::unwrap_or_default)
}

#[test]
fn hashes_are_of_commits_of_the_session() {
    let statements = [
        "Committed the retry of the checkout as 1a2b3c4",
        "Committed the retry of the checkout as `1a2b3c4d5e6f`",
        "Committed the retry of the checkout as 9f8e7d6",
        "Committed the retry of the checkout in commit 9999999",
        "The checkout waits 10000000 microseconds before a retry",
        "The checkout effaced the retries",
        "The checkout commits 1000000 rows",
    ];
    let [tasks, ..] = kept(&retrying_the_checkout(), &statements);
    let wanted = [statements[0], statements[1], statements[4], statements[5], statements[6]];
    assert_eq!(tasks, wanted);
}

#[test]
fn acts_outside_of_the_files_need_evidence() {
    let untrue = [
        "Pushed the commit to origin",
        "Pushed commit 1a2b3c4 to `main`",
        "The branch was force-pushed",
        "Merged the branch into main",
        "Merged PR #12",
        "Deployed version 2.4 to production",
        "The retry is deployed",
        "Published version 2.4 on npm",
        "Merged the feature branch",
        "PR #12 was merged",
        "Released the retry to production",
        "Version 2.4 is published",
        "The commits are pushed to the remote",
    ];
    let true_or_unclear = [
        "The commit is not pushed to origin",
        "Nothing was pushed to origin",
        "The commit must be pushed to the remote",
        "Pushed each retry onto the queue",
        "Merged the two retry loops into one",
        "Published the event with its version",
        "Released the slot after the last retry",
        "Changes are pushed to all clients over the WebSocket",
        "Pushed the changes into the undo stack",
        "Merged the two branches of the `if` into one",
        "Merged the else branch of the retry into the loop",
        "Merged the main menu and the settings page",
        "Connections are released to the pool at the end of each request",
        "Slots are released to waiting workers",
        "Slots released to the version of the client that waits",
        "The event OrderPaid is published with its schema version",
        "Found how the deployed version retries",
        "Released the lock after 1.5 seconds",
        "The branch is pushed by a script each night",
        "The checkout is deployed by a script",
    ];
    let script = retrying_the_checkout();
    assert_eq!(kept(&script, &untrue)[0], Vec::<String>::new());
    // A reply has at most twelve statements of a kind.
    for some in true_or_unclear.chunks(10) {
        assert_eq!(kept(&script, some)[0], some);
    }

    let shown = |change: fn(&mut Script)| {
        let mut script = retrying_the_checkout();
        change(&mut script);
        kept(&script, &untrue)[0].clone()
    };
    let pushed = shown(|script| {
        script.run(
            "p",
            "git push",
            Outcome::Succeeded,
            "To x\n   0a0a0a0..1a2b3c4  main -> main\n",
        );
    });
    assert_eq!(pushed, [&untrue[..3], &untrue[12..]].concat());
    let stated = shown(|script| script.prompt("I have pushed and deployed that myself, thanks."));
    assert_eq!(stated, [&untrue[..3], &untrue[5..7], &untrue[10..11], &untrue[12..]].concat());
    let wanted = shown(|script| {
        script.prompt("Was it pushed and deployed? It should be merged once it is published.");
    });
    assert_eq!(wanted, Vec::<String>::new());
    let run = shown(|script| {
        script.run("d", "./deploy.sh production 2.4", Outcome::Succeeded, "done");
    });
    assert_eq!(run, [&untrue[5..7], &untrue[10..11]].concat());
}

#[test]
fn steps_and_discoveries_share_names_or_words_with_the_session() {
    let statements = [
        "Delete the repository",
        "Drop the old scripts",
        "Migrate the users to Kubernetes",
        "Ask the vendor about invoices",
        "Fix test_slots",
        "Make the failing tests pass",
        "Push the commit",
        "Find out why one of the tests for the number of slots is red",
        "Decide whether scripts may read another value",
    ];
    let [_, steps, discoveries] = kept(&retrying_the_checkout(), &statements);
    assert_eq!(steps, statements[4..]);
    assert_eq!(discoveries[..1], statements[1..2]);
    assert_eq!(discoveries[1..], statements[4..]);
    // A step may remove what the session removes in other words.
    let mut script = retrying_the_checkout();
    script.prompt("The scripts are unused now.");
    assert_eq!(kept(&script, &statements[1..2])[1], ["Drop the old scripts"]);
    // Words of another language cannot be compared.
    let mut script = Script::default();
    script.prompt("Der Login läuft nach einer Minute ab. Bitte korrigiere das und die Tests.");
    assert_eq!(kept(&script, &["Delete expired entries"])[1], ["Delete expired entries"]);
    for prompt in [
        "Correggi il test del login che non passa e aggiungi una cache per le fatture.",
        "Korjaa kirjautumisen testi, joka ei mene läpi, ja lisää välimuisti laskuille.",
        "Ret testen for login, der fejler, og tilføj en cache til fakturaer.",
    ] {
        let mut script = Script::default();
        script.prompt(prompt);
        let step = "Decide about the layout of invoices";
        assert_eq!(kept(&script, &[step])[1], [step], "{prompt}");
    }
    let step = "Decidere la struttura delle fatture";
    assert_eq!(kept(&retrying_the_checkout(), &[step])[1], [step]);
}

#[test]
fn quotations_of_the_user_occur_in_a_prompt() {
    let decisions = [
        ("Use Redis for the slots", "The user said: \"Redis is faster and we must use it\"", false),
        ("Kept the slots a number", "The user's words: \"scripts must read it\"", false),
        ("Use eight slots in scripts", USERS_WORDS, false),
        ("Kept slots a number", "The user said “I want 'slots' to  STAY a text…”", false),
        ("Kept the slots a number", "The user said: “i want \"slots\" to  STAY a number”", true),
        ("Kept slots as a number", "\"because scripts … it\", as the user said", true),
        ("Number of slots", "When the user clicks \"Buy\", the checkout retries", true),
        ("Retry in scripts", "The config says \"retry twice\" to the scripts", true),
        ("slots to stay a number, because scripts read it", USERS_WORDS, true),
        ("Keep the slots", "User: \"slots must be a text\"", false),
        ("Keep the slots", "User: \"slots\" to stay a number", true),
        ("Retry in scripts", "The user chose \"Give up after four retries\"", false),
        ("Retry in scripts", "The user wrote \"The checkout retries three times\"", false),
        (
            "Retry in scripts",
            "The user chose the option \"The checkout retries three times\"",
            true,
        ),
        ("Retry in scripts", "Set user: \"postgres\" in `client.py`", true),
        ("Retry in scripts", "When the user says \"stop\", the checkout stops", true),
        ("Retry in scripts", "When asked about it, the user said \"stop at once\"", false),
    ];
    let evidence = retrying_the_checkout().collect();
    let packed = Packed::default();
    for (decision, rationale, holds) in decisions {
        let claimed = DecisionRecord {
            decision: decision.to_owned(),
            rationale: rationale.to_owned(),
            alternatives: None,
        };
        let claims = Claims { key_decisions: vec![claimed.clone()], ..Claims::default() };
        let base = EnhancedSessionSummary { key_decisions: None, ..super::tests::evidence().1 };
        let found =
            merge(base, claims, &Grounds { evidence: &evidence, packed: &packed, notes: "" });
        let kept = found.summary.key_decisions.is_some();
        assert_eq!(kept, holds, "{claimed:?}");
    }
    let session = SessionText::of(&Grounds { evidence: &evidence, packed: &packed, notes: "" });
    assert!(session.has_quotes("Show a warning when the user confirmed \"Delete\" twice"));
    assert!(!session.has_quotes("The user confirmed \"Delete\" twice"));
    // The prompts that the model received count, too.
    let packed =
        Packed { prompts: texts(&["[user] Redis is faster and we must use it"]), ..packed };
    let session = SessionText::of(&Grounds { evidence: &evidence, packed: &packed, notes: "" });
    assert!(session.has_quotes(decisions[0].1));
}

#[test]
fn a_verification_needs_a_run_that_passed() {
    let evidence = retrying_the_checkout().collect();
    let packed = Packed::default();
    let grounds = Grounds { evidence: &evidence, packed: &packed, notes: "" };
    for claim in
        ["pytest: all passed", "`pytest` passes", "All green", "jest succeeded", "The tests pass"]
    {
        assert!(!grounds.tests_hold(claim), "{claim}");
    }
    for claim in [
        "Make the tests pass",
        "The tests must pass first",
        "tests do not pass",
        "Parameters are passed to pytest",
        "All users passed the check of the gateway",
    ] {
        assert!(grounds.tests_hold(claim), "{claim}");
    }
    let mut fixed = retrying_the_checkout();
    fixed.edit("d", "/app/client.py", "slots = 8", "slots = 9");
    let passed = "=== 5 passed in 0.03s ===\n";
    fixed.run("e", "python -m pytest", Outcome::Succeeded, passed);
    let evidence = fixed.collect();
    let grounds = Grounds { evidence: &evidence, packed: &packed, notes: "" };
    assert!(grounds.tests_hold("pytest: all passed") && grounds.tests_hold("The tests pass"));
    assert!(!grounds.tests_hold("jest: all passed"));
}

#[test]
fn an_error_of_a_test_that_fails_to_the_end_is_not_resolved() {
    let claim = |error: &str| ErrorResolution {
        error: error.to_owned(),
        root_cause: "slots was 1".to_owned(),
        fix: "Set slots to 8".to_owned(),
        verification: "pytest: all passed".to_owned(),
    };
    let resolved = |script: &Script, error: &str| {
        let evidence = script.collect();
        let base = EnhancedSessionSummary { errors_resolved: None, ..super::tests::evidence().1 };
        let claims = Claims { errors_resolved: vec![claim(error)], ..Claims::default() };
        let packed = Packed::default();
        let found =
            merge(base, claims, &Grounds { evidence: &evidence, packed: &packed, notes: "" });
        found.summary.errors_resolved.map(|mut errors| errors.remove(0).verification)
    };
    let script = retrying_the_checkout();
    assert_eq!(resolved(&script, "AssertionError in test_slots"), None);
    let others = ["AssertionError in test_slots_of_guests", "The checkout gave up at once"];
    for error in others {
        assert_eq!(resolved(&script, error).as_deref(), Some(NOT_STATED), "{error}");
    }
    // The fix came after the last run.
    let mut fixed = retrying_the_checkout();
    fixed.edit("d", "/app/client.py", "slots = 8", "slots = 9");
    let found = resolved(&fixed, "AssertionError in test_slots");
    assert_eq!(found.as_deref(), Some(NOT_STATED));
}

#[test]
fn a_model_may_repeat_the_files_of_its_notes() {
    let (evidence, summary) = evidence();
    let packed = Packed::default();
    let claims = || Claims {
        completed_tasks: texts(&["Cleaned lib/clock.py"]),
        next_steps: texts(&["Fix the login of lib/clock.py", "Fix the login of lib/phantom.py"]),
        ..Claims::default()
    };
    let merged_with = |notes: &str| {
        let grounds = Grounds { evidence: &evidence, packed: &packed, notes };
        merge(summary.clone(), claims(), &grounds).summary
    };
    let notes = "[Facts]\n- Open: Fix the login of lib/clock.py";
    let found = merged_with(notes);
    assert_eq!(found.next_steps.unwrap(), ["Fix the login of lib/clock.py"]);
    assert_eq!(found.completed_tasks, summary.completed_tasks);
    assert_eq!(merged_with("").next_steps, summary.next_steps);
}

#[test]
fn the_name_of_a_framework_may_differ_from_the_name_of_its_run() {
    let ran = |framework: &str, command: &str| {
        let mut evidence = evidence().0;
        evidence.tests.retain(|run| run.failed == 0);
        evidence.tests.truncate(1);
        let run = &mut evidence.tests[0];
        (run.passed, run.framework, run.command) = (5, framework.to_owned(), command.to_owned());
        evidence
    };
    for (framework, command, claim, holds) in [
        ("maven surefire", "mvn test", "JUnit: all passed", true),
        ("gradle", "./gradlew test", "JUnit tests pass", true),
        ("junit xml", "make check", "JUnit: all passed", true),
        ("cargo nextest", "cargo nextest run", "`cargo test` passes", true),
        ("bun test", "bun test", "jest passes", true),
        ("cargo test", "cargo test", "`nextest` passes", false),
        ("gradle", "./gradlew test", "pytest passes", false),
        ("pytest", "pytest", "JUnit: all passed", false),
        ("pytest", "pytest", "`cargo test` passes", false),
    ] {
        let evidence = ran(framework, command);
        let grounds = Grounds { evidence: &evidence, packed: &Packed::default(), notes: "" };
        assert_eq!(grounds.tests_hold(claim), holds, "{framework}: {claim}");
    }
}
