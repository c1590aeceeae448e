//! Tests of which statements become facts, and with which words, in hand-written sessions.

use super::scenarios::{SessionFixture, facts, line, minute, of, only_fact};
use crate::model::{
    evidence::{
        Choice, Commit, FileWork, NotePurpose, OutsideChange, OutsideKind, Quote, Resolution,
        Retry, TurnReport, WorkNote,
    },
    graph::{Certainty, Relation},
    summary::{DecisionRecord, ErrorResolution},
    wording::{
        CAUSE_BEFORE_CHANGE, CHANGED_OUTSIDE, CHOSEN, REMEMBERED, USER_REPORTED, USERS_WORDS,
    },
};

fn report(at: u64, text: &str) -> TurnReport {
    TurnReport { text: text.to_owned(), origin: line(at), ..TurnReport::default() }
}

fn found(session: &SessionFixture) -> Vec<String> {
    of(&facts(&[session]), Relation::FoundOut).map(|fact| fact.sentence.clone()).collect()
}

fn discovering(texts: &[&str]) -> SessionFixture {
    let mut session = SessionFixture::new(10, "Speed up the importer");
    session.evidence.reports = (3..).zip(texts).map(|(at, text)| report(at, text)).collect();
    session.episode.summary.discoveries = Some(texts.iter().map(|&text| text.to_owned()).collect());
    session
}

#[test]
fn an_unclear_question_is_removed_from_its_answer() {
    let clear = "Asked: does the importer read `a.zip` twice? Answer: It reads `a.zip` once, because the index is kept";
    let unclear = "Asked: is this true? Answer: `Importer::read` never opens an archive twice, because the index is kept";
    let dangling =
        "Asked: is this true? Answer: It never opens `a.zip` twice, because the index is kept";
    assert_eq!(found(&discovering(&[clear])), [format!("{clear}.")]);
    assert_eq!(
        found(&discovering(&[unclear])),
        ["`Importer::read` never opens an archive twice, because the index is kept."]
    );
    assert_eq!(found(&discovering(&[dangling])), Vec::<String>::new());
    let chatty = clear.replace("Asked: ", "Asked: ok one thing that I saw, ");
    assert_eq!(found(&discovering(&[&chatty])), [format!("{clear}.")]);
}

#[test]
fn a_finding_about_a_failing_test_ends_when_the_test_passes() {
    let text = "`Importer::read` fails in `reads_old_dates` because the index is kept";
    let mut session = discovering(&[text]);
    session.run(7, &["reads_old_dates"]);
    let mut later = SessionFixture::new(20, "Fix the importer");
    later.run(8, &[]);
    assert_eq!(only_fact(&facts(&[&session]), Relation::FoundOut).invalid_at, None);
    let ended = only_fact(&facts(&[&session, &later]), Relation::FoundOut).invalid_at;
    assert_eq!(ended, Some(minute(20, 8)));
}

#[test]
fn a_finding_without_a_named_subject_gets_the_task() {
    assert_eq!(
        found(&discovering(&["The index is only read when `open()` fails"])),
        ["The index is only read when `open()` fails. (For “Speed up the importer”.)"]
    );
}

#[test]
fn a_repeated_finding_is_one_fact() {
    let session = discovering(&[
        "`Importer::read` never opens an archive twice, because the index is kept",
        "`Importer::read` never opens an archive twice because its index is kept",
    ]);
    assert_eq!(found(&session).len(), 1);
}

#[test]
fn denials_by_the_machine_and_retracted_findings_are_no_facts() {
    let denied = "`go build` fails with operation not permitted in `~/.cache/go-build`";
    assert_eq!(found(&discovering(&[denied])), Vec::<String>::new());
    let mut session =
        discovering(&["`Importer::read` never opens an archive twice, because the index is kept"]);
    session.evidence.prompts = vec![Quote {
        text: "but the index of `Importer::read` is dropped after each archive?".to_owned(),
        origin: line(5),
        at: session.at(5),
    }];
    session.evidence.reports.push(report(6, "You're right, the index is dropped."));
    assert_eq!(found(&session), Vec::<String>::new());
}

#[test]
fn a_cause_is_a_fact_only_if_work_followed_it() {
    let cause = "`main.rs` registered the importer behind the router";
    let mut session = SessionFixture::new(10, "Speed up the importer");
    session.evidence.reports = vec![report(3, cause)];
    session.episode.summary.root_cause_analysis = Some(cause.to_owned());
    assert_eq!(of(&facts(&[&session]), Relation::CausedBy).count(), 0);
    session.change("/srv/app/src/main.rs");
    assert_eq!(
        only_fact(&facts(&[&session]), Relation::CausedBy).sentence,
        format!("Root cause: {cause}. (For “Speed up the importer”.)")
    );
    session.evidence.prompts =
        vec![Quote { text: "`login()` fails for old users".to_owned(), origin: line(2), at: None }];
    assert_eq!(
        only_fact(&facts(&[&session]), Relation::CausedBy).sentence,
        format!("Root cause of “`login()` fails for old users”: {cause}.")
    );
    session.evidence.prompts.clear();
    session.episode.name = "Describe the importer".to_owned();
    assert_eq!(of(&facts(&[&session]), Relation::CausedBy).count(), 0, "the failure is unknown");
}

#[test]
fn each_of_several_causes_explains_its_own_failure() {
    let causes = ["`main.rs` registered the importer late", "`Reader::next` skips the last row"];
    let mut session = SessionFixture::new(10, "Speed up the importer");
    let prompt = |at, text: &str| Quote { text: text.to_owned(), origin: line(at), at: None };
    session.evidence.prompts = vec![
        prompt(2, "`login()` fails for old users"),
        prompt(4, "the import of `a.csv` still fails"),
    ];
    session.evidence.reports = vec![report(3, causes[0]), report(5, causes[1])];
    session.evidence.files.entry("/srv/app/src/main.rs".to_owned()).or_insert(FileWork {
        edits: 1,
        last: line(6),
        ..FileWork::default()
    });
    session.episode.summary.root_cause_analysis = Some(causes.join("\n"));
    let facts = facts(&[&session]);
    let found: Vec<&str> =
        of(&facts, Relation::CausedBy).map(|fact| fact.sentence.as_str()).collect();
    assert_eq!(
        found,
        [
            "Root cause of “`login()` fails for old users”: `main.rs` registered the importer late.",
            "Root cause of “the import of `a.csv` still fails”: `Reader::next` skips the last row."
        ]
    );
}

#[test]
fn a_noted_task_has_the_title_of_its_note() {
    let mut session = SessionFixture::new(10, "Speed up the importer");
    session.evidence.work_notes = vec![WorkNote {
        path: "/srv/app/todos/disable-sync.md".to_owned(),
        purpose: NotePurpose::Todo,
        text: "---\ntitle: Disable synchronize:true in CI to see missing migrations\n---\n# x y"
            .to_owned(),
        origin: line(4),
    }];
    session.episode.summary.next_steps =
        Some(vec!["Todo saved: `todos/disable-sync.md`".to_owned()]);
    let facts = facts(&[&session]);
    let fact = only_fact(&facts, Relation::LeftOpen);
    assert_eq!(
        fact.sentence,
        "Disable synchronize:true in CI to see missing migrations (noted in `todos/disable-sync.md`)."
    );
    assert_eq!(fact.certainty, Certainty::Verified, "the note proves the open end");
    let listed = "Deferred findings of this PR (M1, L4) (todo `todos/deferred.md`)".to_owned();
    session.episode.summary.next_steps = Some(vec![listed]);
    assert_eq!(
        only_fact(&super::scenarios::facts(&[&session]), Relation::LeftOpen).sentence,
        "Deferred findings of this PR (M1, L4) (noted in `todos/deferred.md`)."
    );
}

#[test]
fn a_command_that_worked_in_another_form_is_shown_by_its_result() {
    let mut session = SessionFixture::new(10, "Speed up the importer");
    let retry = Retry {
        failed: "rtk bun run test".to_owned(),
        message: "error: unrecognized subcommand 'bun'".to_owned(),
        explanation: None,
        worked: "bun run test".to_owned(),
        origin: line(4),
    };
    let found =
        "`rtk bun run test` failed (error: unrecognized subcommand 'bun'); `bun run test` worked"
            .to_owned();
    session.evidence.retries = vec![retry];
    session.episode.summary.discoveries = Some(vec![found.clone()]);
    let facts = facts(&[&session]);
    let fact = only_fact(&facts, Relation::FoundOut);
    assert_eq!((&fact.sentence, fact.certainty), (&format!("{found}."), Certainty::Verified));
    assert_eq!(fact.origins[0].1, line(4));
    let mut later = SessionFixture::new(20, "Release the importer");
    later.evidence.retries = session.evidence.retries.clone();
    later.episode.summary.discoveries = session.episode.summary.discoveries.clone();
    let repeated = only_fact(&super::scenarios::facts(&[&session, &later]), Relation::FoundOut);
    assert_eq!((repeated.origins.len(), repeated.valid_at), (2, fact.valid_at));
    session.evidence.retries[0].explanation = Some("rtk wraps only npm scripts".to_owned());
    session.episode.summary.discoveries =
        Some(vec![format!("{found}. rtk wraps only npm scripts")]);
    let facts = super::scenarios::facts(&[&session]);
    let explained = only_fact(&facts, Relation::FoundOut);
    assert_eq!(explained.certainty, Certainty::Hypothesis, "the explanation comes from the agent");
}

#[test]
fn an_accepted_plan_is_no_fact_if_commits_carry_it_out_unless_it_prefers_an_alternative() {
    let decided = |approach: &str, commit: Option<&str>| {
        let mut session = SessionFixture::new(10, "Speed up the importer");
        session.evidence.choices = vec![Choice {
            question: "Plan: Index by day".to_owned(),
            answer: "accepted".to_owned(),
            approach: Some(approach.to_owned()),
            origin: line(4),
            ..Choice::default()
        }];
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: approach.to_owned(),
            rationale: "Plan: Index by day, accepted by the user".to_owned(),
            alternatives: None,
        }]);
        session.evidence.commits.extend(commit.map(|subject| Commit {
            hash: "1a2b3c4".to_owned(),
            subject: subject.to_owned(),
            body: String::new(),
            origin: line(8),
            at: None,
        }));
        of(&facts(&[&session]), Relation::Decided).count()
    };
    let plain = "Keep an index of each day in `days.db`";
    assert_eq!(decided(plain, None), 1);
    assert_eq!(decided(plain, Some("Keep an index")), 0, "the commit carries out the plan");
    assert_eq!(decided(plain, Some("Fix a typo in the README")), 1);
    let prefers = "Keep `days.db` instead of one index of all days";
    assert_eq!(decided(prefers, Some("Keep an index")), 1);
}

#[test]
fn an_option_that_the_user_changed_gets_the_users_words() {
    let decided = |prompt: &str| {
        let mut session = SessionFixture::new(10, "Speed up the importer");
        let (at, origin) = (session.at(4), line(4));
        session.evidence.prompts = vec![Quote { text: prompt.to_owned(), origin, at }];
        session.evidence.choices = vec![Choice {
            question: "What does the importer keep?".to_owned(),
            answer: "The final response".to_owned(),
            alternatives: vec!["Everything".to_owned()],
            origin,
            ..Choice::default()
        }];
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: "The final response".to_owned(),
            rationale: CHOSEN.to_owned(),
            alternatives: None,
        }]);
        only_fact(&facts(&[&session]), Relation::Decided).sentence
    };
    let plain = "What does the importer keep? The final response. Chosen by the user.";
    assert_eq!(decided("B"), plain);
    let more = "I like B, the answer is then all that a reader of the archive has to see";
    assert_eq!(decided(more), format!("{plain} The user said: “{more}”."));
    assert_eq!(
        decided("B but all prompts, too"),
        format!("{plain} The user changed it: “B but all prompts, too”.")
    );
}

#[test]
fn a_decision_has_its_question_and_the_explanation_of_its_option() {
    let asked = |question: &str, answer: &str, at: u64| Choice {
        question: question.to_owned(),
        answer: answer.to_owned(),
        alternatives: vec!["Instant".to_owned()],
        explanation: Some("Instant, but the recipient can hide it.".to_owned()),
        origin: line(at),
        ..Choice::default()
    };
    let sentence = |decision: &str, rationale: &str| {
        let mut session = SessionFixture::new(10, "Share folders");
        session.evidence.choices = vec![
            asked("How does the recipient of a folder accept it?", "Hybrid", 4),
            asked("Where do old folders live on the disk?", "Hybrid", 5),
            Choice {
                typed: true,
                explanation: None,
                ..asked("Which key opens a folder?", "only the public key. maybe a name later", 6)
            },
        ];
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: decision.to_owned(),
            rationale: rationale.to_owned(),
            alternatives: None,
        }]);
        only_fact(&facts(&[&session]), Relation::Decided).sentence
    };
    let asked = format!("{CHOSEN}; asked: How does the recipient of a folder accept it?");
    assert_eq!(
        sentence("Hybrid", &asked),
        "How does the recipient of a folder accept it? Hybrid (Instant, but the recipient can hide it). \
         Chosen by the user. (For “Share folders”.)"
    );
    let question = "How does the recipient of a folder accept it?";
    let detail = format!("Shown at once ({CHOSEN} and changed: \"B, but\"; asked: {question})");
    assert_eq!(
        sentence("Hybrid", &detail),
        sentence("Hybrid", &asked),
        "the dialogue explains the option"
    );
    let typed = "User: \"only the public key. maybe a name later\"";
    assert_eq!(
        sentence(typed, "The user's words, asked: Which key opens a folder?"),
        "Which key opens a folder? User: \"only the public key.\" (For “Share folders”.)"
    );
}

#[test]
fn an_error_that_another_agent_fixed_is_no_fact() {
    let message = "ImportError: no module named 'lanterns'";
    let mut session = SessionFixture::new(10, "Speed up the importer");
    session.error(message, Some("requirements.txt"));
    session.episode.summary.errors_resolved = Some(vec![ErrorResolution {
        error: message.to_owned(),
        root_cause: "not stated".to_owned(),
        fix: "Added lanterns 1.2".to_owned(),
        verification: "`pytest`: 3 passed".to_owned(),
    }]);
    assert_eq!(of(&facts(&[&session]), Relation::Resolved).count(), 1);
    let resolution: &mut Resolution = session.evidence.errors[0].resolution.as_mut().unwrap();
    resolution.origin.source = 2;
    assert_eq!(of(&facts(&[&session]), Relation::Resolved).count(), 0);
}

#[test]
fn a_test_that_a_sub_agent_mended_before_it_failed_is_failing() {
    let mut session = SessionFixture::new(10, "Speed up the importer");
    session.run(5, &["reads_archives"]);
    session.error("reads_archives failed: no index", Some("index.rs"));
    assert_eq!(of(&facts(&[&session]), Relation::Fails).count(), 0);
    let resolution: &mut Resolution = session.evidence.errors[0].resolution.as_mut().unwrap();
    resolution.origin.source = 2;
    assert_eq!(of(&facts(&[&session]), Relation::Fails).count(), 1);
}

#[test]
fn a_finding_about_unnamed_files_is_no_fact() {
    for text in [
        "The py file must not import `app.db`, because that makes a circle",
        "3 files only import `app.db` because of the old tests",
    ] {
        assert_eq!(found(&discovering(&[text])), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn the_source_of_a_finding_is_not_the_summary_of_a_compaction() {
    let text = "`Importer::read` never opens an archive twice, because the index is kept";
    let mut session = discovering(&[text]);
    session.evidence.reports[0].text = format!("{text}. The pages were renamed as well.");
    session.evidence.recaps = vec![crate::model::evidence::Recap {
        kind: crate::model::transcript::RecapKind::Compaction,
        text: text.to_owned(),
        origin: line(9),
        at: session.at(9),
    }];
    assert_eq!(only_fact(&facts(&[&session]), Relation::FoundOut).origins[0].1.line, 3);
}

#[test]
fn a_note_in_the_memory_is_a_fact() {
    let note = "`Importer::read` keeps the index only without a lock";
    let noted = format!("{REMEMBERED}{note}");
    assert_eq!(found(&discovering(&[&noted])), [format!("{note}.")]);
}

#[test]
fn an_old_cause_and_a_reported_problem_are_no_facts() {
    let cause = "In `Importer::read` the index is only kept without a lock";
    assert_eq!(found(&discovering(&[cause])), [format!("{cause}.")]);
    for start in [CAUSE_BEFORE_CHANGE, USER_REPORTED] {
        let old = format!("{start}{cause}");
        assert_eq!(found(&discovering(&[&old])), Vec::<String>::new(), "{start}");
    }
}

#[test]
fn the_origin_of_a_decision_is_the_line_where_the_user_stated_or_accepted_it() {
    let words = "we should use one table of days instead of a list";
    let line_of = |record: (&str, &str)| {
        let mut session = SessionFixture::new(10, "Parse old dates in the importer");
        let quote =
            |at, text: &str| Quote { text: text.to_owned(), origin: line(at), at: session.at(at) };
        session.evidence.prompts = vec![
            quote(2, "Parse old dates in the importer"),
            quote(4, &format!("ok. {words}. and add a test for the zone of each row")),
            quote(8, "Never mind!"),
        ];
        session.evidence.reports = vec![report(3, &format!("{words}."))];
        session.evidence.choices = vec![Choice {
            question: "Plan: Index by day".to_owned(),
            answer: "accepted".to_owned(),
            approach: Some("One row of the `days` table for each day and zone".to_owned()),
            origin: line(6),
            ..Choice::default()
        }];
        session.evidence.statements = Vec::new();
        session
            .evidence
            .reports
            .push(report(9, "One row of the `days` table for each day and zone."));
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: record.0.to_owned(),
            rationale: record.1.to_owned(),
            alternatives: None,
        }]);
        let facts = facts(&[&session]);
        let origins: Vec<_> = of(&facts, Relation::Decided).map(|fact| &fact.origins).collect();
        assert_eq!(origins.len(), 1, "{record:?}");
        origins[0][0].1.line
    };
    assert_eq!(line_of((&format!("User: \"{words}.\""), USERS_WORDS)), 4);
    let plan = "One row of the `days` table for each day and zone";
    assert_eq!(line_of((plan, "Plan: Index by day, accepted by the user")), 6);
    let dropped = "Dropped: Parse old dates in the importer";
    assert_eq!(line_of((dropped, "The user's words, with \"forget it\"")), 8);
}

#[test]
fn what_the_user_only_thinks_is_not_verified() {
    let certainty = |words: &str| {
        let mut session = SessionFixture::new(10, "Parse old dates in the importer");
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: format!("User: \"{words}\""),
            rationale: USERS_WORDS.to_owned(),
            alternatives: None,
        }]);
        let facts = facts(&[&session]);
        of(&facts, Relation::Decided).map(|fact| fact.certainty).collect::<Vec<_>>()
    };
    let sure = certainty("we use one table of `days` instead of a list of dates");
    assert_eq!(sure, [Certainty::Verified]);
    let unsure = certainty("I think we use one table of `days` instead of a list of dates");
    assert!(!unsure.contains(&Certainty::Verified), "{unsure:?}");
    let hedged = "let's use something simple. I think we use one table of `days` instead of a list";
    assert!(!certainty(hedged).contains(&Certainty::Verified), "{hedged}");
    let sure = certainty("we use one table of `days` instead of a list. Maybe it is quick");
    assert_eq!(sure, [Certainty::Verified]);
}

#[test]
fn a_choice_of_all_options_belongs_to_its_question() {
    for (question, wanted) in [
        ("Which areas do you want to discuss for the cache?", None),
        (
            "Where should the cache of the parser live?",
            Some(
                "Where should the cache of the parser live? On disk; In memory. Chosen by the \
                 user. (For “Parse old dates”.)",
            ),
        ),
    ] {
        let mut session = SessionFixture::new(10, "Parse old dates");
        session.evidence.choices = vec![Choice {
            question: question.to_owned(),
            answer: "On disk; In memory".to_owned(),
            origin: line(4),
            ..Choice::default()
        }];
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: "On disk; In memory".to_owned(),
            rationale: format!("Chosen by the user; asked: {question}"),
            alternatives: None,
        }]);
        let facts = facts(&[&session]);
        let decided = of(&facts, Relation::Decided).next();
        assert_eq!(decided.map(|fact| fact.sentence.as_str()), wanted);
    }
}

#[test]
fn an_accepted_plan_has_its_title_unless_its_approach_repeats_the_title() {
    let sentence = |approach: &str| {
        let mut session = SessionFixture::new(10, "Parse old dates");
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: approach.to_owned(),
            rationale: "Plan: Index by day, accepted by the user".to_owned(),
            alternatives: None,
        }]);
        only_fact(&facts(&[&session]), Relation::Decided).sentence
    };
    assert_eq!(
        sentence("One row of the `days` table for each zone"),
        "Index by day: One row of the `days` table for each zone. Plan accepted by the user. \
         (For “Parse old dates”.)"
    );
    assert_eq!(
        sentence("Keep an index of each day in `days.db`"),
        "Keep an index of each day in `days.db`. Plan: Index by day, accepted by the user. \
         (For “Parse old dates”.)"
    );
}

#[test]
fn a_shortened_command_of_a_verification_ends_before_its_gap() {
    let mut session = SessionFixture::new(10, "Speed up the importer");
    session.error("ImportError: no module named 'lanterns'", Some("requirements.txt"));
    session.episode.summary.errors_resolved = Some(vec![ErrorResolution {
        error: "ImportError: no module named 'lanterns'".to_owned(),
        root_cause: "not stated".to_owned(),
        fix: "Added lanterns 1.2".to_owned(),
        verification: "`npm view a version && npm view b vers … w c version` succeeded".to_owned(),
    }]);
    assert_eq!(
        only_fact(&facts(&[&session]), Relation::Resolved).sentence,
        "ImportError: no module named 'lanterns'. Fix: Added lanterns 1.2. \
         Verified by: `npm view a version` and more succeeded."
    );
}

#[test]
fn two_records_of_one_answer_are_one_fact() {
    let mut session = SessionFixture::new(10, "Parse old dates in the importer");
    let text = "we should use one table of days instead of a list of rows for the index of dates";
    let prompt = Quote { text: text.to_owned(), origin: line(4), at: session.at(4) };
    session.evidence.prompts = vec![prompt];
    let record = |decision: &str| DecisionRecord {
        decision: decision.to_owned(),
        rationale: USERS_WORDS.to_owned(),
        alternatives: None,
    };
    let part = "User: \"we should use one table of days instead of a list of rows for the index\"";
    session.episode.summary.key_decisions =
        Some(vec![record(&format!("User: \"{text}\"")), record(part)]);
    assert_eq!(of(&facts(&[&session]), Relation::Decided).count(), 1);
}

#[test]
fn a_change_of_a_live_system_is_proven_by_its_command() {
    let mut session = SessionFixture::new(10, "Restart the gateway");
    let text = "`systemctl restart nginx` on `gw1`".to_owned();
    let task = format!("{CHANGED_OUTSIDE}{text}");
    session.episode.summary.completed_tasks = Some(vec![task]);
    assert_eq!(
        only_fact(&facts(&[&session]), Relation::Did).certainty,
        Certainty::Hypothesis,
        "only the agent says so"
    );
    session.evidence.outside_changes = vec![OutsideChange {
        kind: OutsideKind::System,
        object: "systemctl restart nginx on gw1".to_owned(),
        text,
        origin: line(3),
        at: None,
    }];
    assert_eq!(only_fact(&facts(&[&session]), Relation::Did).certainty, Certainty::Verified);
}
