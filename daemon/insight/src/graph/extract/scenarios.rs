//! Tests of the facts of hand-written sessions.

use crate::{
    graph::fact_validity,
    model::{
        ActivityVector, CloseReason, ContentHash, EnhancedSessionSummary, Episode, EpisodeId,
        Evidence, Fact, Project, SessionId, SessionKey, Timestamp,
        episode::Author,
        evidence::{
            Choice, CommandRun, Commit, ErrorSeen, FileWork, Quote, Resolution, SettingChange,
            Statement, StatementKind, TestRun, TurnReport,
        },
        graph::{Attributed, Certainty, EntityKind, FactKey, Relation, Statements},
        summary::{ConfigChange, DecisionRecord, ErrorResolution, Outcome, RelationRecord},
        transcript::{self, Origin},
        wording::{NO_REASON, USERS_WORDS},
    },
};

#[test]
fn a_fixed_error_is_one_fact_with_cause_fix_and_verification() {
    let mut session = SessionFixture::new(10, "Fix the login");
    session.error("ImportError: no module named 'lanterns'", Some("requirements.txt"));
    session.episode.summary.errors_resolved = Some(vec![ErrorResolution {
        error: "ImportError: no module named 'lanterns'".to_owned(),
        root_cause: "It is missing in `requirements.txt`".to_owned(),
        fix: "Added lanterns 1.2".to_owned(),
        verification: "`pytest`: 3 passed".to_owned(),
    }]);
    let facts = facts(&[&session]);
    let fact = only_fact(&facts, Relation::Resolved);
    assert_eq!(
        fact.sentence,
        "ImportError: no module named 'lanterns'. Cause: It is missing in `requirements.txt`. \
         Fix: Added lanterns 1.2. Verified by: `pytest`: 3 passed."
    );
    assert_eq!(fact.certainty, Certainty::Verified);
    let lines: Vec<u64> = fact.origins.iter().map(|(_, origin)| origin.line).collect();
    assert_eq!(lines, [3, 9]);
}

#[test]
fn the_cause_of_the_only_error_of_a_turn_is_kept() {
    let timeout = "TimeoutError: the gateway did not answer";
    let cause = "The client pool has only one slot";
    for (cause, other_line, wanted) in [
        (cause, None, true),
        (cause, Some(1), true),
        (cause, Some(12), true),
        (cause, Some(6), false),
        ("The gateway did not answer within the time of the client", Some(6), true),
    ] {
        let mut session = SessionFixture::new(10, "Fix the login");
        session.evidence.prompts =
            vec![Quote { text: "Fix it".to_owned(), origin: line(2), at: None }];
        session.error(timeout, Some("settings.py"));
        if let Some(other) = other_line {
            session.error("ImportError: no module named 'lanterns'", None);
            session.evidence.errors[1].origin = line(other);
        }
        session.episode.summary.errors_resolved = Some(vec![ErrorResolution {
            error: timeout.to_owned(),
            root_cause: cause.to_owned(),
            fix: "Changed `settings.py`".to_owned(),
            verification: "`pytest`: 3 passed".to_owned(),
        }]);
        let sentence = only_fact(&facts(&[&session]), Relation::Resolved).sentence;
        assert_eq!(sentence.contains(cause), wanted, "{cause} {other_line:?}");
    }
}

#[test]
fn a_failed_test_without_a_name_is_known_by_its_message() {
    let timeout = "TimeoutError: the gateway 10.0.0.3 did not answer in 3000 ms";
    let mut first = SessionFixture::new(10, "Fix the login");
    let named = format!("1 test failed: {timeout}");
    first.error(&named, Some("client.py"));
    first.episode.summary.errors_resolved = Some(vec![ErrorResolution {
        error: named,
        root_cause: "not stated".to_owned(),
        fix: "Raised the timeout of the gateway".to_owned(),
        verification: "`pytest`: 3 passed".to_owned(),
    }]);
    let ended = |message: &str| {
        let mut later = SessionFixture::new(20, "Run the tests");
        later.error(message, None);
        only_fact(&facts(&[&first, &later]), Relation::Resolved).invalid_at.is_some()
    };
    assert!(ended(timeout));
    assert!(!ended("1 test failed: KeyError: the gateway has no name"));
    assert!(!ended("1 test failed"));
}

#[test]
fn an_unverified_fix_is_refuted_when_the_error_comes_back() {
    let message = "ImportError: no module named 'lanterns'";
    let mut first = SessionFixture::new(10, "Fix the login");
    first.error(message, Some("requirements.txt"));
    first.episode.summary.errors_resolved = Some(vec![ErrorResolution {
        error: message.to_owned(),
        root_cause: "not stated".to_owned(),
        fix: "Added lanterns".to_owned(),
        verification: "not verified in the session".to_owned(),
    }]);
    assert_eq!(only_fact(&facts(&[&first]), Relation::Resolved).certainty, Certainty::Hypothesis);
    let mut second = SessionFixture::new(20, "Run the server");
    second.error(message, None);
    let both = facts(&[&second, &first]);
    let fact = only_fact(&both, Relation::Resolved);
    assert_eq!((fact.certainty, fact.invalid_at), (Certainty::Refuted, Some(minute(20, 3))));
}

#[test]
fn a_fix_is_verified_by_its_own_attempt_or_by_all_tests_of_its_suite() {
    let message = "ImportError: no module named 'lanterns'";
    let fixed = |runs_tests: bool| {
        let mut session = SessionFixture::new(10, "Fix the login");
        session.error(message, Some("requirements.txt"));
        session.episode.summary.errors_resolved = Some(vec![ErrorResolution {
            error: message.to_owned(),
            root_cause: "not stated".to_owned(),
            fix: "Added lanterns".to_owned(),
            verification: "not verified in the session".to_owned(),
        }]);
        if runs_tests {
            session.run(3, &["test_import"]);
            let run = &mut session.evidence.tests[0];
            (run.framework, run.command) = ("pytest".to_owned(), "pytest".to_owned());
        }
        session
    };
    let tested = |framework: &str, limit: Option<&str>| {
        let mut session = SessionFixture::new(20, "Go on");
        session.run(8, &[]);
        let run = &mut session.evidence.tests[0];
        (run.framework, run.command) = (framework.to_owned(), format!("{framework} -q"));
        run.limited_to = limit.map(str::to_owned);
        session
    };
    let worked = |shows_failure| {
        let mut session = SessionFixture::new(20, "Go on");
        session.command(5, "pytest | tail", None).shows_failure = shows_failure;
        session
    };
    for (runs_tests, later, wanted) in [
        (true, tested("pytest", None), Certainty::Verified),
        (true, tested("pytest", Some("test_dates.py")), Certainty::Hypothesis),
        (true, tested("jest", None), Certainty::Hypothesis),
        (false, tested("pytest", None), Certainty::Hypothesis),
        (false, worked(false), Certainty::Verified),
        (false, worked(true), Certainty::Hypothesis),
    ] {
        let fact = only_fact(&facts(&[&fixed(runs_tests), &later]), Relation::Resolved);
        assert_eq!(fact.certainty, wanted, "{runs_tests} {:?}", later.evidence.tests);
    }
}

#[test]
fn a_newer_value_of_a_setting_ends_the_older_one_in_any_order_of_arrival() {
    let mut first = SessionFixture::new(10, "Fix the login");
    first.setting("JWT_EXPIRY", Some("60"), "3600");
    let mut second = SessionFixture::new(20, "Shorten the login");
    second.setting("JWT_EXPIRY", Some("3600"), "900");
    for order in [[&first, &second], [&second, &first]] {
        let facts = facts(&order);
        let selected: Vec<_> = of(&facts, Relation::SetTo)
            .map(|fact| (fact.sentence.as_str(), fact.invalid_at))
            .collect();
        assert_eq!(
            selected,
            [
                ("`JWT_EXPIRY` in `.env` is `3600` (before: `60`).", Some(minute(20, 5))),
                ("`JWT_EXPIRY` in `.env` is `900` (before: `3600`).", None),
            ]
        );
    }
    assert_eq!(of(&facts(&[&first]), Relation::SetTo).next().unwrap().invalid_at, None);
}

#[test]
fn a_decision_ends_when_it_is_reversed_but_not_by_one_about_another_subject() {
    let decide = |session: &mut SessionFixture, decision: &str, other: &str| {
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: decision.to_owned(),
            rationale: "Other services can check it".to_owned(),
            alternatives: Some(vec![other.to_owned()]),
        }]);
    };
    let mut first = SessionFixture::new(10, "Sign tokens");
    decide(&mut first, "Used RS256 over HS256 for signing tokens", "HS256");
    let mut reversed = SessionFixture::new(20, "Sign tokens faster");
    decide(&mut reversed, "Switched back to HS256 for tokens", "RS256");
    let mut unrelated = SessionFixture::new(30, "Check webhooks");
    decide(&mut unrelated, "Used HS256 over RS256 for webhooks", "RS256");
    let ends = |sessions: &[&SessionFixture]| -> Vec<Option<Timestamp>> {
        of(&facts(sessions), Relation::Decided).map(|fact| fact.invalid_at).collect()
    };
    assert_eq!(ends(&[&reversed, &first]), [Some(reversed.episode.ended_at), None]);
    assert_eq!(ends(&[&first, &unrelated]), [None, None]);
}

#[test]
fn the_user_verifies_a_decision() {
    let mut session = SessionFixture::new(10, "Design the cache");
    session.evidence.choices = vec![Choice {
        question: "Where should the cache live?".to_owned(),
        answer: "Both".to_owned(),
        alternatives: vec!["On disk".to_owned()],
        origin: line(4),
        ..Choice::default()
    }];
    session.evidence.statements = vec![Statement {
        kind: StatementKind::Decision,
        text: "I keep the small index because it is quick.".to_owned(),
        origin: line(6),
        reported: false,
    }];
    let record = |decision: &str, rationale: &str, others: Option<&str>| DecisionRecord {
        decision: decision.to_owned(),
        rationale: rationale.to_owned(),
        alternatives: others.map(|other| vec![other.to_owned()]),
    };
    session.episode.summary.key_decisions = Some(vec![
        record("Both", "Chosen by the user; asked: Where should the cache live?", Some("On disk")),
        record("Keep the small index", "It is quick", None),
    ]);
    let statements = session.statements();
    let facts = facts(&[&session]);
    let selected: Vec<_> = of(&facts, Relation::Decided)
        .map(|fact| (fact.sentence.as_str(), fact.certainty))
        .collect();
    assert_eq!(
        selected,
        [
            (
                "Where should the cache live? Both (On disk). Chosen by the user.",
                Certainty::Verified
            ),
            (
                "Keep the small index. Why: It is quick. (For “Design the cache”.)",
                Certainty::Hypothesis
            ),
        ]
    );
    assert!(
        names(&statements, EntityKind::Decision)
            .contains(&"Both — Where should the cache live?".to_owned())
    );
}

#[test]
fn a_reasoned_decision_needs_no_task() {
    for (rationale, others, wanted) in [
        ("It is not installed", None, 1),
        ("It is smaller", Some(vec!["pandas".to_owned()]), 1),
        (NO_REASON, None, 0),
        (USERS_WORDS, None, 0),
    ] {
        let mut session = SessionFixture::new(10, "Commit and push everything");
        let is_user = rationale == USERS_WORDS;
        let decision = if is_user { "User: \"keep it simple\"" } else { "Use a library for dates" };
        session.evidence.statements = vec![Statement {
            kind: StatementKind::Decision,
            text: decision.to_owned(),
            origin: line(6),
            reported: true,
        }];
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: decision.to_owned(),
            rationale: rationale.to_owned(),
            alternatives: others,
        }]);
        let found = facts(&[&session]);
        assert_eq!(of(&found, Relation::Decided).count(), wanted, "{rationale}");
    }
}

#[test]
fn a_failing_test_is_a_fact_until_a_run_in_which_it_passes() {
    let mut first = SessionFixture::new(10, "Change the parser");
    first.run(7, &["parses_leap_days", "parses_dates"]);
    let mut second = SessionFixture::new(20, "Fix the parser");
    second.run(8, &["parses_dates"]);
    let facts = facts(&[&second, &first]);
    let selected: Vec<_> = of(&facts, Relation::Fails)
        .map(|fact| (fact.sentence.as_str(), fact.valid_at, fact.invalid_at))
        .collect();
    let (then, later) = (minute(10, 7), minute(20, 8));
    assert_eq!(
        selected,
        [
            ("Test `parses_dates` fails in `cargo test`.", then, None),
            ("Test `parses_leap_days` fails in `cargo test`.", then, Some(later)),
        ]
    );
}

#[test]
fn a_test_that_passes_again_in_the_same_session_is_no_fact() {
    let mut session = SessionFixture::new(10, "Change the parser");
    session.run(7, &["parses_leap_days"]);
    session.run(9, &[]);
    assert_eq!(of(&facts(&[&session]), Relation::Fails).count(), 0);
}

#[test]
fn a_failing_test_of_a_run_that_counts_packages_is_no_package() {
    let mut session = SessionFixture::new(10, "Change the parser");
    session.run(7, &["TestLeapDays"]);
    session.evidence.tests[0].framework = "go test (packages)".to_owned();
    let failing = only_fact(&facts(&[&session]), Relation::Fails).sentence;
    assert_eq!(failing, "Test `TestLeapDays` fails in `cargo test`.");
}

#[test]
fn a_failure_is_over_when_a_wider_part_passes_without_counts() {
    for (limit, wanted) in [("-run=TestLeap", 0), ("-run=TestDates", 1)] {
        let mut session = SessionFixture::new(10, "Change the parser");
        session.run(7, &["app/parser"]);
        session.run(9, &[]);
        let [failed, passed] = &mut session.evidence.tests[..] else { unreachable!() };
        failed.framework = "go test (packages)".to_owned();
        failed.limited_to = Some("-run=TestLeapDays".to_owned());
        passed.framework = "go test (packages)".to_owned();
        passed.command = format!("go test {limit}");
        (passed.limited_to, passed.passed) = (Some(limit.to_owned()), 0);
        let found = facts(&[&session]);
        assert_eq!(of(&found, Relation::Fails).count(), wanted, "{limit}");
    }
}

#[test]
fn a_failure_ends_when_the_same_command_passes_without_counts() {
    let failed = |hour| {
        let mut session = SessionFixture::new(hour, "Change the parser");
        session.run(7, &["app/parser"]);
        session.evidence.tests[0].framework = "go test (packages)".to_owned();
        session
    };
    let passed = |session: &mut SessionFixture, at| {
        session.run(at, &[]);
        let run = session.evidence.tests.last_mut().unwrap();
        (run.framework, run.passed) = ("go test".to_owned(), 0);
    };
    let first = failed(10);
    assert_eq!(
        only_fact(&facts(&[&first]), Relation::Fails).sentence,
        "Package `app/parser` fails in `cargo test`."
    );
    let mut second = SessionFixture::new(20, "Fix the parser");
    passed(&mut second, 8);
    let ended = only_fact(&facts(&[&first, &second]), Relation::Fails).invalid_at;
    assert_eq!(ended, Some(minute(20, 8)));
    let mut alone = failed(10);
    passed(&mut alone, 9);
    assert_eq!(of(&facts(&[&alone]), Relation::Fails).count(), 0);
}

#[test]
fn a_file_is_one_entity_under_all_its_names_and_in_all_worktrees() {
    let mut session = SessionFixture::new(10, "Change the parser");
    session.change("/srv/app/src/parser.rs");
    session.episode.summary.discoveries =
        Some(vec!["`parser.rs` reads dates only in `DateParser::leap_days()`".to_owned()]);
    let mut worktree = SessionFixture::new(20, "Change the parser again");
    worktree.episode.project = Project::new("/srv/app/.claude/worktrees/one");
    worktree.change("/srv/app/.claude/worktrees/one/src/parser.rs");
    let (here, there) = (session.statements(), worktree.statements());
    assert_eq!(names(&here, EntityKind::File), ["src/parser.rs"]);
    assert_eq!(names(&here, EntityKind::Symbol), ["DateParser::leap_days"]);
    let file = |statements: &Statements| {
        statements.mentions.iter().find(|one| one.kind == EntityKind::File).unwrap().entity
    };
    assert_eq!(file(&here), file(&there));
    let found = facts(&[&session]);
    assert!(only_fact(&found, Relation::FoundOut).others.contains(&file(&here)));
}

#[test]
fn a_removed_file_is_a_fact_unless_the_session_created_it() {
    for (created, facts_found) in [(false, 1), (true, 0)] {
        let mut session = SessionFixture::new(10, "Tidy up");
        let work = session.change("/srv/app/src/old.rs");
        (work.writes, work.reads, work.deleted, work.created) = (1, 1, true, created);
        let found = facts(&[&session]);
        let sentences: Vec<&str> =
            of(&found, Relation::ChangedFor).map(|fact| fact.sentence.as_str()).collect();
        assert_eq!(sentences.len(), facts_found, "{sentences:?}");
    }
}

#[test]
fn a_renamed_file_is_followed() {
    let mut session = SessionFixture::new(10, "Tidy up");
    session.change("/srv/app/src/new.rs").moved_from = Some("/srv/app/src/old.rs".to_owned());
    let statements = session.statements();
    assert_eq!(statements.renames.len(), 1);
    assert_eq!(names(&statements, EntityKind::File), ["src/new.rs", "src/old.rs"]);
    assert_eq!(
        only_fact(&facts(&[&session]), Relation::RenamedTo).sentence,
        "`src/old.rs` was renamed to `src/new.rs`."
    );
}

#[test]
fn tickets_topics_and_dead_ends_are_extracted() {
    let mut session = SessionFixture::new(10, "Fix the login");
    session.episode.branches = vec!["ann/app-12-date-parser".to_owned(), "main".to_owned()];
    session.evidence.statements = vec![Statement {
        kind: StatementKind::DeadEnd,
        text: "Caching the tokens did not help.".to_owned(),
        origin: line(4),
        reported: false,
    }];
    let statements = session.statements();
    assert_eq!(names(&statements, EntityKind::Ticket), ["APP-12"]);
    assert_eq!(names(&statements, EntityKind::Topic), ["date parser"]);
    let facts = facts(&[&session]);
    let dead_end = only_fact(&facts, Relation::DeadEnd);
    assert_eq!(dead_end.sentence, "Tried and given up: Caching the tokens did not help.");
    assert_eq!(dead_end.certainty, Certainty::Refuted);
}

#[test]
fn tickets_are_found_beside_each_other_and_distinguished_from_other_numbers() {
    for (prompt, wanted) in [
        ("work on APP-12 APP-13, then APP-14.", vec!["APP-12", "APP-13", "APP-14"]),
        ("APP-12\nAPP-13,APP-14", vec!["APP-12", "APP-13", "APP-14"]),
        ("fix #7 and fixed #8", vec!["issue #7", "issue #8"]),
        ("fix #2, skip #3", vec![]),
        ("skip #1\nFix #2", vec![]),
        ("fix #7, skip the tests", vec!["issue #7"]),
        ("skip #3 of issue #7", vec!["issue #7"]),
        ("the CRC-32 of the report for Q4-2025 is wrong", vec![]),
        ("fix the first #hashtag", vec![]),
    ] {
        let mut session = SessionFixture::new(10, "Fix the login");
        session.work(prompt, "");
        let mut found = names(&session.statements(), EntityKind::Ticket);
        found.sort_unstable();
        assert_eq!(found, wanted, "{prompt}");
    }
}

#[test]
fn a_finding_has_the_line_and_the_time_of_its_report() {
    let mut session = SessionFixture::new(10, "Fix the login");
    let report = |at, text: &str| TurnReport {
        text: text.to_owned(),
        origin: line(at),
        at: session.at(at),
        changed: false,
        answers: true,
        has_document: false,
    };
    let answer = "Yes. The proxy drops the header `X-Auth`, because it is not in its list.";
    let reports = vec![report(20, answer), report(90, "The proxy works now.")];
    let last = Quote { text: reports[1].text.clone(), origin: line(90), at: session.at(90) };
    session.evidence.reports = reports;
    session.evidence.last_reply = Some(last);
    let found = "Asked: does the proxy drop it? Answer: The proxy drops the header `X-Auth`, because it is not in its list";
    session.episode.summary.discoveries = Some(vec![found.to_owned()]);
    let fact = only_fact(&facts(&[&session]), Relation::FoundOut);
    assert_eq!(Some(fact.valid_at), session.at(20));
    let lines: Vec<Origin> = fact.origins.iter().map(|(_, origin)| *origin).collect();
    assert_eq!(lines, [line(20)]);
}

#[test]
fn advice_is_no_fact_if_work_followed() {
    let mut session = SessionFixture::new(10, "Fix the login");
    let answer = "`authcode.go` drops the header without an error, so a check is worth adding.";
    session.evidence.reports = vec![TurnReport {
        text: answer.to_owned(),
        origin: line(20),
        at: session.at(20),
        changed: false,
        answers: true,
        has_document: false,
    }];
    session.episode.summary.discoveries = Some(vec![answer.to_owned()]);
    let found = |session: &SessionFixture| {
        facts(&[session]).iter().any(|fact| fact.relation == Relation::FoundOut)
    };
    assert!(found(&session));
    session.evidence.commits = vec![Commit {
        hash: "abc1234".to_owned(),
        subject: "Check the header".to_owned(),
        body: String::new(),
        origin: line(30),
        at: session.at(30),
    }];
    assert!(!found(&session));
}

#[test]
fn an_open_end_closes_when_a_later_session_completes_it() {
    let mut first = SessionFixture::new(10, "Fix the login");
    first.episode.summary.next_steps =
        Some(vec!["Remove the old sessions".to_owned(), "Offered: tidy up".to_owned()]);
    let mut second = SessionFixture::new(20, "Clean up");
    second.episode.summary.completed_tasks = Some(vec!["Remove the old sessions.".to_owned()]);
    let open =
        |sessions: &[&SessionFixture]| only_fact(&facts(sessions), Relation::LeftOpen).invalid_at;
    assert_eq!(open(&[&first]), None);
    assert_eq!(open(&[&first, &second]), Some(second.episode.ended_at));
}

#[test]
fn an_open_end_closes_when_the_user_says_in_any_language_that_it_is_done() {
    for (open, said) in [
        (
            "Cron job for the refresh at 03:15 on `dwh01` (I have no access)",
            "by the way: sven set up the cron job for the refresh, runs since monday",
        ),
        (
            "Cronjob für den Refresh um 03:15 auf `dwh01` (da habe ich keinen Zugang)",
            "übrigens: sven hat den cronjob für den refresh eingerichtet, läuft seit montag",
        ),
        (
            "Cronjob für den Refresh um 03:15 auf `dwh01` \u{2013} da habe ich keinen Zugang",
            "sven hat den cronjob für den refresh eingerichtet",
        ),
        (
            "Tâche cron pour le rafraîchissement sur `dwh01` (je n'ai pas accès)",
            "au fait, sven a créé la tâche cron pour le rafraîchissement",
        ),
    ] {
        let mut first = SessionFixture::new(10, "Speed up the query");
        first.episode.summary.next_steps = Some(vec![open.to_owned()]);
        let mut second = SessionFixture::new(20, "Write the report");
        let at = second.at(3);
        second.evidence.prompts = vec![Quote { text: said.to_owned(), origin: line(3), at }];
        let fact = only_fact(&facts(&[&first, &second]), Relation::LeftOpen);
        assert_eq!(fact.invalid_at, at, "{open}");
        second.evidence.prompts[0].text = "übrigens: sven hat heute Urlaub".to_owned();
        let fact = only_fact(&facts(&[&first, &second]), Relation::LeftOpen);
        assert_eq!(fact.invalid_at, None, "{open}");
    }
}

#[test]
fn the_agents_decision_with_a_reason_is_a_fact_in_any_language() {
    for (decision, why) in [
        ("A view instead of partitions", "The team cannot maintain partitions"),
        ("Sicht statt Partitionen", "Das Team kann Partitionen nicht pflegen"),
        ("Ich habe mich für eine Sicht statt Partitionen entschieden", "Das Team kennt sie"),
        ("Vue matérialisée plutôt que des partitions", "L'équipe ne peut pas les maintenir"),
        ("Una vista en lugar de particiones", "El equipo no puede mantenerlas"),
        ("使用视图而不是分区", "团队无法维护分区"),
        ("パーティションではなくビューを使います", "チームが保守できない。"),
    ] {
        let mut session = SessionFixture::new(10, "Make the report faster");
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: decision.to_owned(),
            rationale: why.to_owned(),
            alternatives: None,
        }]);
        let fact = only_fact(&facts(&[&session]), Relation::Decided);
        assert!(fact.sentence.contains(decision) && fact.sentence.contains(why), "{fact:?}");
        assert!(!fact.sentence.contains("。."), "{fact:?}");
    }
}

#[test]
fn a_session_without_evidence_has_a_fact_about_its_task() {
    let session = SessionFixture::new(10, "Fix the login");
    let found = facts(&[&session]);
    assert_eq!(only_fact(&found, Relation::TaskState).sentence, "“Fix the login” is done.");
    assert_eq!(found.len(), 1);
}

#[test]
fn relations_of_a_model_use_known_entities_and_are_hypotheses() {
    let relation = |source: &str, relation: &str, target: &str| RelationRecord {
        source: source.to_owned(),
        relation: relation.to_owned(),
        target: target.to_owned(),
        sentence: format!("{source} {relation} {target}"),
    };
    let mut session = SessionFixture::new(10, "Fix the login");
    session.episode.author = Author::Model("some-model".to_owned());
    session.change("/srv/app/src/login.rs");
    session.setting("JWT_EXPIRY", Some("60"), "3600");
    session.episode.summary.topics = Some(vec!["session store".to_owned()]);
    session.episode.summary.relations = Some(vec![
        relation("src/login.rs", "reads", "JWT_EXPIRY"),
        relation("`src/login.rs`", "depends on", "Session Store"),
        relation("session store", "is", "session-store"),
    ]);
    session.episode.summary.key_decisions = Some(vec![DecisionRecord {
        decision: "Kept seconds".to_owned(),
        rationale: "Chosen by the user".to_owned(),
        alternatives: None,
    }]);
    let statements = session.statements();
    assert_eq!(names(&statements, EntityKind::Topic), ["session store"]);
    assert_eq!(names(&statements, EntityKind::File), [".env", "src/login.rs"]);
    let found = facts(&[&session]);
    let selected: Vec<&Fact> = of(&found, Relation::RelatesTo).collect();
    assert_eq!(selected.len(), 2, "{selected:#?}");
    let id = |kind, name: &str| {
        let mut mentions = statements.mentions.iter();
        mentions.find(|mention| mention.kind == kind && mention.name == name).unwrap().entity
    };
    let file = id(EntityKind::File, "src/login.rs");
    assert!(selected.iter().all(|fact| fact.source == file), "{selected:#?}");
    assert!(selected.iter().any(|fact| fact.target == id(EntityKind::Setting, "JWT_EXPIRY")));
    assert!(selected.iter().all(|fact| fact.certainty == Certainty::Hypothesis));
    assert_eq!(only_fact(&found, Relation::Decided).certainty, Certainty::Hypothesis);
    assert_eq!(only_fact(&found, Relation::TaskState).certainty, Certainty::Hypothesis);

    // A test run verifies the outcome, even if a model reported it.
    session.run(9, &[]);
    assert_eq!(only_fact(&facts(&[&session]), Relation::TaskState).certainty, Certainty::Verified);
}

/// A session of ten minutes. Line `n` of its transcript was written `n` minutes after its start.
pub(super) struct SessionFixture {
    pub(super) episode: Episode,
    pub(super) evidence: Evidence,
}

impl SessionFixture {
    pub(super) fn new(hour: i64, name: &str) -> SessionFixture {
        let episode = Episode {
            id: EpisodeId::new(minute(hour, 10), [u8::try_from(hour).unwrap(); 10]),
            session: SessionKey(1),
            session_id: SessionId { agent: "claude".to_owned(), id: format!("s-{hour}") },
            project: Project::new("/srv/app"),
            name: name.to_owned(),
            summary: EnhancedSessionSummary {
                activity_vector: ActivityVector::default(),
                objective: name.to_owned(),
                outcome: Outcome::Completed,
                phases: None,
                completed_tasks: None,
                key_decisions: None,
                next_steps: None,
                errors_resolved: None,
                root_cause_analysis: None,
                config_changes: None,
                discoveries: None,
                topics: None,
                relations: None,
                outcome_reason: None,
                last_words: None,
                repository: None,
                preferences: None,
                known_failures: None,
                test_results: None,
                files_modified: None,
                mcp_tools_used: None,
                session_file: None,
                message_count: None,
                duration_minutes: None,
            },
            author: Author::Evidence,
            file: "/t/s.jsonl".to_owned(),
            content_hash: ContentHash([0; 32]),
            reason: CloseReason::LazyQuery,
            branches: Vec::new(),
            started_at: minute(hour, 0),
            ended_at: minute(hour, 10),
            created_at: minute(hour, 11),
            external: None,
            rules: 0,
        };
        SessionFixture { episode, evidence: Evidence::default() }
    }

    pub(super) fn at(&self, line: u64) -> Option<Timestamp> {
        let micros = i64::try_from(line).unwrap() * 60_000_000;
        Some(Timestamp::from_micros(self.episode.started_at.micros() + micros))
    }

    pub(super) fn error(&mut self, message: &str, fixed_in: Option<&str>) {
        self.evidence.errors.push(ErrorSeen {
            returns: 0,
            known: None,
            remedy: None,
            message: message.to_owned(),
            attempt: "pytest".to_owned(),
            origin: line(3),
            at: self.at(3),
            times: 1,
            cause: None,
            resolution: fixed_in.map(|file| Resolution {
                files: vec![file.to_owned()],
                commands: Vec::new(),
                said: None,
                verified_by: "pytest".to_owned(),
                origin: line(9),
            }),
        });
    }

    pub(super) fn setting(&mut self, setting: &str, old: Option<&str>, new: &str) {
        let (old_value, new_value) = (old.map(str::to_owned), new.to_owned());
        let reason = if old.is_none() { "The server reads it" } else { "" };
        self.evidence.settings.push(SettingChange {
            file: "/srv/app/.env".to_owned(),
            setting: setting.to_owned(),
            old_value: old_value.clone(),
            new_value: Some(new_value.clone()),
            origin: line(5),
            at: self.at(5),
        });
        self.episode.summary.config_changes = Some(vec![ConfigChange {
            file: ".env".to_owned(),
            setting: setting.to_owned(),
            old_value,
            new_value,
            reason: reason.to_owned(),
        }]);
    }

    pub(super) fn run(&mut self, at: u64, failed: &[&str]) {
        self.evidence.tests.push(TestRun {
            framework: "cargo test".to_owned(),
            command: "cargo test".to_owned(),
            passed: 10,
            failed: u32::try_from(failed.len()).unwrap(),
            skipped: 0,
            failed_tests: failed.iter().map(|&name| name.to_owned()).collect(),
            coverage_pct: None,
            origin: line(at),
            at: self.at(at),
            ..TestRun::default()
        });
    }

    /// Adds a successful run of a command.
    pub(super) fn command(
        &mut self,
        at: u64,
        command: &str,
        place: Option<&str>,
    ) -> &mut CommandRun {
        self.evidence.commands.push(CommandRun {
            command: command.to_owned(),
            place: place.map(str::to_owned),
            outcome: transcript::Outcome::Succeeded,
            shows_failure: false,
            origin: line(at),
            at: self.at(at),
        });
        self.evidence.commands.last_mut().unwrap()
    }

    pub(super) fn change(&mut self, path: &str) -> &mut FileWork {
        let work = FileWork { edits: 1, last: line(5), ..FileWork::default() };
        self.evidence.files.entry(path.to_owned()).or_insert(work)
    }

    /// Sets the only prompt, and the only report, of a turn that changed files.
    pub(super) fn work(&mut self, prompt: &str, report: &str) {
        let at = self.at(2);
        self.evidence.prompts = vec![Quote { text: prompt.to_owned(), origin: line(2), at }];
        let text = report.to_owned();
        self.evidence.reports =
            vec![TurnReport { text, origin: line(7), changed: true, ..TurnReport::default() }];
    }

    fn statements(&self) -> Statements {
        super::extract(&self.episode, &self.evidence)
    }
}

/// Returns the facts of the sessions, the earliest first.
pub(super) fn facts(sessions: &[&SessionFixture]) -> Vec<Fact> {
    let (mut claims, mut marks) = (Vec::new(), Vec::new());
    for session in sessions {
        let statements = session.statements();
        let (episode, created_at) = (session.episode.id, statements.created_at);
        claims.extend(statements.claims.into_iter().map(|what| Attributed {
            episode,
            created_at,
            what,
        }));
        marks.extend(statements.marks.into_iter().map(|what| Attributed {
            episode,
            created_at,
            what,
        }));
    }
    let mut keys: Vec<FactKey> = claims.iter().map(|claim| claim.what.key).collect();
    keys.sort_unstable();
    keys.dedup();
    let of_key =
        |key| -> Vec<_> { claims.iter().filter(|claim| claim.what.key == key).cloned().collect() };
    let mut found: Vec<Fact> = keys
        .into_iter()
        .flat_map(|key| fact_validity::facts(key, &of_key(key), &marks, None))
        .collect();
    found.sort_by(|one, other| {
        (one.valid_at, &one.sentence).cmp(&(other.valid_at, &other.sentence))
    });
    found
}

pub(super) fn of(facts: &[Fact], relation: Relation) -> impl Iterator<Item = &Fact> {
    facts.iter().filter(move |fact| fact.relation == relation)
}

pub(super) fn only_fact(facts: &[Fact], relation: Relation) -> Fact {
    let found: Vec<&Fact> = of(facts, relation).collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    found[0].clone()
}

fn names(statements: &Statements, kind: EntityKind) -> Vec<String> {
    let of_kind = statements.mentions.iter().filter(|mention| mention.kind == kind);
    let mut names: Vec<String> = of_kind.map(|mention| mention.name.clone()).collect();
    names.sort();
    names
}

pub(super) fn line(line: u64) -> Origin {
    Origin { source: 0, line }
}

pub(super) fn minute(hour: i64, minute: i64) -> Timestamp {
    Timestamp::from_seconds(hour * 3_600 + minute * 60)
}
