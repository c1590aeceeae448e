use serde_json::json;

use super::*;
use crate::{
    model::{ActivityVector, Evidence, Project, summary::Outcome},
    summarize::{Context, evidence::scenarios::fixing_the_login, summarize},
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
    let shown = [shown.to_owned()];
    let grounds = Grounds { evidence: &evidence, shown: &shown };
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
    assert_eq!(summary.outcome, Outcome::Blocked);
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
        outcome: Outcome::InProgress,
        outcome_reason: Some("waits for an answer".to_owned()),
        key_decisions: Some(vec![
            record("Let's stick to seconds", USERS_WORDS),
            record("Guessed from a report", "It said so"),
        ]),
        ..summary
    };
    let grounds = Grounds { evidence: &evidence, shown: &[] };
    let found = merge(read, claims, &grounds).summary;
    assert_eq!(found.outcome, Outcome::InProgress);
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
    let grounds = Grounds { evidence: &nothing, shown: &[] };
    assert!(!grounds.tests_hold("the tests pass") && grounds.tests_hold("wrote tests"));
    let mut failing = evidence().0;
    failing.tests.retain(|run| run.failed > 0);
    failing.tests.iter_mut().for_each(|run| run.passed = 5);
    let grounds = Grounds { evidence: &failing, shown: &[] };
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
    let found = merge(before.clone(), claims, &Grounds { evidence: &evidence, shown: &[] });
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
        part("Build it", Outcome::InProgress, "Drew the plan", "Build"),
        part("Go on", Outcome::Completed, "Built the house", "Sell"),
    ]);
    assert_eq!(whole.objective.as_deref(), Some("Build it"));
    assert_eq!(whole.outcome, Some(Outcome::Completed));
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
    let (found, _) = merged(claims, "");
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
