//! Tests of when facts end: hand-written sessions, and random histories compared with a simple
//! model.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::scenarios::{SessionFixture, facts, line, minute, of, only_fact};
use crate::{
    graph::{
        StatementStates,
        fact_validity::{MarkEffect, mark_effect},
    },
    model::{
        Fact, Timestamp,
        evidence::{Choice, Commit, Quote},
        graph::{Certainty, Relation, Stance, Subject, fingerprint},
        summary::{DecisionRecord, Outcome},
        wording::WITHDRAWN,
    },
};

#[test]
fn an_open_end_closes_when_it_is_asked_for_committed_or_its_command_succeeds() {
    let open_end = |text: &str| {
        let mut session = SessionFixture::new(10, "Fix the login");
        session.episode.summary.next_steps = Some(vec![text.to_owned()]);
        session
    };
    let prompt = |text: &str| {
        let mut session = SessionFixture::new(20, "Go on");
        let at = session.at(2);
        session.evidence.prompts = vec![Quote { text: text.to_owned(), origin: line(2), at }];
        session
    };
    let commit = |subject: &str| {
        let mut session = SessionFixture::new(20, "Go on");
        let at = session.at(2);
        session.evidence.commits = vec![Commit {
            hash: "abc1234".to_owned(),
            subject: subject.to_owned(),
            body: String::new(),
            origin: line(2),
            at,
        }];
        session
    };
    let moved = || {
        let mut session = SessionFixture::new(20, "Go on");
        let work = session.change("/srv/app/notes/done/keys.md");
        (work.moved_from, work.last) = (Some("/srv/app/notes/pending/keys.md".to_owned()), line(2));
        let at = session.at(2);
        session.evidence.prompts = vec![Quote { text: "Go on".to_owned(), origin: line(2), at }];
        session
    };
    let tested = || {
        let mut session = SessionFixture::new(20, "Go on");
        session.run(2, &[]);
        session
    };
    let tested_with = |command: &str, limit: Option<&str>| {
        let mut session = tested();
        let run = &mut session.evidence.tests[0];
        (run.command, run.limited_to) = (command.to_owned(), limit.map(str::to_owned));
        session
    };
    let built = |shows_failure| {
        let mut session = SessionFixture::new(20, "Go on");
        session.command(5, "npm run build 2>&1 | tail -20", None).shows_failure = shows_failure;
        session
    };
    let ended = Some(minute(20, 2));
    for (text, later, wanted) in [
        ("Remove the old sessions", prompt("please remove the old sessions now"), ended),
        ("Remove the old sessions", commit("Remove old sessions and their files"), ended),
        ("Remove the old sessions", commit("docs: add a todo to remove the old sessions"), None),
        ("Run the tests again", tested(), ended),
        ("The test suite was not run", tested(), ended),
        (
            "Run the integration tests",
            tested_with("npm run test:integration", Some("-run=a")),
            ended,
        ),
        ("Run the integration tests", tested(), None),
        ("Run the e2e tests against staging", tested(), None),
        ("Run the tests on Windows", tested(), None),
        ("Run the tests by hand", tested(), None),
        ("Run the tests again", tested_with("cargo test slug", Some("slug")), None),
        ("Fix the types so that `npm run build` works", built(false), Some(minute(20, 5))),
        ("Fix the types so that `npm run build` works", built(true), None),
        ("Speed up `npm run build`", built(false), None),
        ("Rotate the keys of the signer (todo `notes/pending/keys.md`)", moved(), ended),
        ("Rotate the keys of the signer (todo `notes/pending/key.md`)", moved(), None),
        ("Rotate the keys of the signer (todo `notes/later/keys.md`)", moved(), None),
        ("Remove the old sessions", moved(), None),
        ("Remove the old sessions", prompt("rename the old parser"), None),
        ("Remove the old sessions", tested(), None),
    ] {
        let facts = facts(&[&open_end(text), &later]);
        assert_eq!(only_fact(&facts, Relation::LeftOpen).invalid_at, wanted, "{text}");
    }
    assert_eq!(
        of(&facts(&[&open_end("Added a test for the parser")]), Relation::LeftOpen).count(),
        0
    );
}

#[test]
fn a_passed_run_of_a_test_file_ends_the_failure_of_its_test() {
    let mut first = SessionFixture::new(10, "Change the parser");
    first.run(7, &["tests/test_dates.py::test_leap"]);
    let mut later = SessionFixture::new(20, "Fix the parser");
    later.run(8, &[]);
    let run = later.evidence.tests.last_mut().unwrap();
    (run.passed, run.command) = (3, "pytest tests/test_dates.py -q".to_owned());
    let facts = facts(&[&first, &later]);
    assert_eq!(only_fact(&facts, Relation::Fails).invalid_at, Some(minute(20, 8)));
}

#[test]
fn a_run_of_go_tests_by_the_beginning_of_their_names_ends_a_failure() {
    let mut first = SessionFixture::new(10, "Change the parser");
    first.run(7, &["TestDatesLeap_Years"]);
    let ended = |command: &str| {
        let mut later = SessionFixture::new(20, "Fix the parser");
        later.run(8, &[]);
        let run = later.evidence.tests.last_mut().unwrap();
        (run.passed, run.command, run.framework) = (3, command.to_owned(), "go test".to_owned());
        only_fact(&facts(&[&first, &later]), Relation::Fails).invalid_at
    };
    assert_eq!(ended("go test -run '^TestDatesLeap' ./parse"), Some(minute(20, 8)));
    assert_eq!(ended("go test -run TestDates ./other"), None, "other packages may match");
    assert_eq!(ended("go test -run TestDatesLeapSeconds ./parse"), None);
    assert_eq!(ended("go test -run TestDatesLe ./parse"), None, "the pattern ends within a word");
    assert_eq!(
        ended("go test -run '^TestDatesLeap$' ./parse"),
        None,
        "the pattern matches another test"
    );
    assert_eq!(ended("go test -skip TestDatesLeap ./parse"), None, "the option excludes the test");
    let whole = ended("go test -run 'TestOther|^TestDatesLeap_Years$' ./parse");
    assert_eq!(whole, Some(minute(20, 8)));
}

#[test]
fn a_failure_ends_only_with_a_run_of_its_own_tests() {
    let run = |session: &mut SessionFixture, at, [command, place, limit]: [&str; 3], passed| {
        let named = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        session.run(at, if passed == 0 { &["rejects bad tokens"] } else { &[] });
        let run = session.evidence.tests.last_mut().unwrap();
        run.command = command.to_owned();
        (run.place, run.limited_to) = (named(place), named(limit));
        run.passed = if passed == 0 { 39 } else { passed };
    };
    let (api, root) = (["npm test", "apps/api", ""], ["npm test", "", ""]);
    let api_file = ["npx jest auth.test.ts", "", "auth.test.ts"];
    for (failed, later, passed, wanted) in [
        (api, ["npm test", "apps/web", ""], 60, false),
        (root, ["npm test", "apps/web", ""], 60, false),
        (api, ["npm test -- --ci", "api", ""], 40, true),
        (api, ["npm test", "api", ""], 12, true),
        (api, ["npm test -- --ci", "api", ""], 12, false),
        (api, ["npx turbo run tests", "", ""], 200, true),
        (api, ["npm test", "", ""], 12, false),
        (root, ["npx jest", "", ""], 60, true),
        (root, ["npx jest user.test.ts", "", "user.test.ts"], 60, false),
        (api_file, ["npx jest user.test.ts", "", "user.test.ts"], 60, false),
        (api_file, ["npx jest --ci auth.test.ts", "", "auth.test.ts"], 40, true),
        (api_file, ["npx jest", "", ""], 60, true),
    ] {
        let mut first = SessionFixture::new(10, "Change the parser");
        run(&mut first, 7, failed, 0);
        let mut second = SessionFixture::new(20, "Fix the parser");
        run(&mut second, 8, later, passed);
        let ended = only_fact(&facts(&[&first, &second]), Relation::Fails).invalid_at;
        assert_eq!(ended, wanted.then(|| minute(20, 8)), "{failed:?} {later:?}");
        run(&mut first, 9, later, passed);
        let failing = of(&facts(&[&first]), Relation::Fails).count();
        assert_eq!(failing, usize::from(!wanted), "{failed:?} {later:?} in one session");
    }
}

#[test]
fn a_run_without_a_place_ends_failures_that_earlier_versions_stored() {
    let mut session = SessionFixture::new(10, "Fix the parser");
    session.run(7, &[]);
    let statements = super::extract(&session.episode, &session.evidence);
    let subject = Subject::of("tests", session.episode.project.root().namespace(), "cargo test");
    let stance =
        Stance::Fails { test: fingerprint("t"), command: fingerprint("cargo test"), total: 99 };
    let mark = statements.marks.iter().find(|mark| mark.subject == subject).unwrap();
    assert_eq!(mark_effect(&stance, &mark.observation), Some(MarkEffect::Ends));
}

#[test]
fn a_test_and_its_failed_subtest_are_one_failure() {
    let mut session = SessionFixture::new(10, "Change the parser");
    session.run(7, &["TestLeap", "TestLeap/february", "TestLeapYear"]);
    let facts = facts(&[&session]);
    let failing: Vec<_> = of(&facts, Relation::Fails).map(|fact| &fact.sentence).collect();
    assert_eq!(
        failing,
        [
            "Test `TestLeap/february` fails in `cargo test`.",
            "Test `TestLeapYear` fails in `cargo test`."
        ]
    );
}

#[test]
fn an_error_ends_when_its_command_works_in_the_same_place() {
    let mut first = SessionFixture::new(10, "Build the pages");
    first.episode.summary.outcome = Outcome::InProgress;
    first.error("Module not found: the package lanterns", None);
    let error = &mut first.evidence.errors[0];
    (error.attempt, error.times) = ("npm run build".to_owned(), 2);
    first.command(3, "npm run build", Some("frontend"));
    for (place, shows_failure, wanted) in [
        (Some("frontend"), false, true),
        (Some("frontend"), true, false),
        (Some("backend"), false, false),
        (None, false, false),
    ] {
        let mut second = SessionFixture::new(20, "Go on");
        second.command(5, "npm run build | tail", place).shows_failure = shows_failure;
        let ended = only_fact(&facts(&[&first, &second]), Relation::Occurs).invalid_at;
        assert_eq!(ended.is_some(), wanted, "{place:?} {shows_failure}");
    }
}

#[test]
fn another_answer_to_the_same_question_ends_a_decision() {
    let decided = |hour, answer: &str| {
        let mut session = SessionFixture::new(hour, "Build for Windows");
        session.evidence.choices = vec![Choice {
            question: "Build for Windows, too?".to_owned(),
            answer: answer.to_owned(),
            alternatives: vec!["Later".to_owned()],
            header: Some("Windows build".to_owned()),
            origin: line(4),
            ..Choice::default()
        }];
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: answer.to_owned(),
            rationale: "Chosen by the user".to_owned(),
            alternatives: None,
        }]);
        session
    };
    let facts = facts(&[&decided(10, "Skip it"), &decided(20, "Build it")]);
    let found: Vec<_> = of(&facts, Relation::Decided)
        .map(|fact| (fact.sentence.as_str(), fact.invalid_at.is_some()))
        .collect();
    assert_eq!(
        found,
        [
            ("Build for Windows, too? Skip it. Chosen by the user.", true),
            ("Build for Windows, too? Build it. Chosen by the user.", false)
        ]
    );
}

#[test]
fn another_answer_below_the_same_header_ends_a_decision() {
    let decided = |hour, question: &str, header: &str, [answer, other]: [&str; 2]| {
        let mut session = SessionFixture::new(hour, "Build for Windows");
        session.evidence.choices = vec![Choice {
            question: question.to_owned(),
            answer: answer.to_owned(),
            alternatives: vec![other.to_owned()],
            header: Some(header.to_owned()),
            origin: line(4),
            ..Choice::default()
        }];
        session.episode.summary.key_decisions = Some(vec![DecisionRecord {
            decision: answer.to_owned(),
            rationale: "Chosen by the user".to_owned(),
            alternatives: None,
        }]);
        session
    };
    let options = ["Weekly installer", "Nightly installer"];
    let swapped = ["Nightly installer", "Weekly installer"];
    for (header, later, wanted) in [
        ("Windows build", swapped, true),
        ("Windows build", options, false),
        ("Mac build", swapped, false),
        ("Windows build", ["Green tiles", "Plain list"], false),
    ] {
        let first = decided(10, "When do we build for Windows?", "Windows build", options);
        let later = decided(20, "How often is an installer made?", header, later);
        let facts = facts(&[&first, &later]);
        let ended = of(&facts, Relation::Decided).filter(|fact| fact.invalid_at.is_some()).count();
        assert_eq!(ended == 1, wanted, "{header}");
    }
}

#[test]
fn a_decision_ends_with_the_commit_that_replaces_what_was_chosen() {
    let mut first = SessionFixture::new(10, "Sign tokens");
    first.episode.summary.key_decisions = Some(vec![DecisionRecord {
        decision: "Use RS256 for signing tokens".to_owned(),
        rationale: "Other services can check it".to_owned(),
        alternatives: None,
    }]);
    let committed = |subject: &str| {
        let mut session = SessionFixture::new(20, "Go on");
        let at = session.at(2);
        session.evidence.commits = vec![Commit {
            hash: "abc1234".to_owned(),
            subject: subject.to_owned(),
            body: String::new(),
            origin: line(2),
            at,
        }];
        session
    };
    for (subject, wanted) in [
        ("Replace RS256 with HS256 for tokens", Some(minute(20, 2))),
        ("Switch from RS256 to HS256", Some(minute(20, 2))),
        ("Revert \"Replace RS256 with HS256 for tokens\"", None),
        ("Replace RS256 with HS256 in the webhooks", None),
        ("Replace HS512 with HS256 for tokens", None),
        ("Document RS256 tokens", None),
    ] {
        let facts = facts(&[&first, &committed(subject)]);
        let decision = only_fact(&facts, Relation::Decided);
        assert_eq!(decision.invalid_at, wanted, "{subject}");
        assert_eq!(decision.certainty, Certainty::Hypothesis, "it was right until then");
    }
}

#[test]
fn a_fix_ends_when_the_user_says_that_it_still_fails() {
    let mut session = SessionFixture::new(10, "Fix the login");
    session.error("ImportError: no module named 'lanterns'", Some("requirements.txt"));
    session.episode.summary.errors_resolved = Some(vec![crate::model::summary::ErrorResolution {
        error: "ImportError: no module named 'lanterns'".to_owned(),
        root_cause: "not stated".to_owned(),
        fix: "Added lanterns 1.2".to_owned(),
        verification: "`pytest`: 3 passed".to_owned(),
    }]);
    assert_eq!(only_fact(&facts(&[&session]), Relation::Resolved).invalid_at, None);
    let at = session.at(11);
    session.evidence.prompts =
        vec![Quote { text: "it still fails".to_owned(), origin: line(11), at }];
    assert_eq!(only_fact(&facts(&[&session]), Relation::Resolved).invalid_at, at);
}

#[test]
fn a_removed_block_is_one_fact() {
    let mut session = SessionFixture::new(10, "Drop the cache");
    let mut changes = Vec::new();
    for setting in ["services.cache.image", "services.cache.ports"] {
        session.setting(setting, Some("x"), "(removed)");
        changes.extend(session.episode.summary.config_changes.take().into_iter().flatten());
        session.evidence.settings.last_mut().unwrap().new_value = None;
    }
    session.episode.summary.config_changes = Some(changes);
    assert_eq!(
        only_fact(&facts(&[&session]), Relation::SetTo).sentence,
        "`services.cache` in `.env` was removed, with `image`, `ports`."
    );
}

#[test]
fn a_wish_holds_until_the_user_withdraws_it() {
    let wished = |hour, wish: &str| {
        let mut session = SessionFixture::new(hour, "Work");
        session.episode.summary.preferences = Some(vec![wish.to_owned()]);
        session
    };
    let wish = wished(10, "\"Always sign the commits.\"");
    let facts_of = |sessions: &[&SessionFixture]| only_fact(&facts(sessions), Relation::Prefers);
    let fact = facts_of(&[&wish]);
    assert_eq!(
        (fact.sentence.as_str(), fact.certainty),
        ("Always sign the commits.", Certainty::Verified)
    );
    let other = wished(20, &format!("{WITHDRAWN}\"You no longer have to squash merges.\""));
    assert_eq!(facts_of(&[&wish, &other]).invalid_at, None);
    let withdrawn = wished(20, &format!("{WITHDRAWN}\"You no longer have to sign commits.\""));
    assert_eq!(facts_of(&[&wish, &withdrawn]).invalid_at, Some(withdrawn.episode.ended_at));
}

#[test]
fn an_open_end_that_was_done_or_rejected_in_other_words_ends() {
    for (step, prompt, commit, report, ends) in [
        (
            "CI does not run clippy yet, only locally",
            "and put clippy into the pipeline",
            "Run clippy in CI",
            "",
            true,
        ),
        (
            "Add an index on `orders.created_at`",
            "put an index on created_at",
            "Index orders by creation time",
            "",
            true,
        ),
        ("Bump eslint to 9", "eslint 9 we skip, the plugins are not ready", "", "", true),
        (
            "Remove the deprecated route `/v1/orders`",
            "v1 is dead, delete its routes",
            "",
            "`/v1/orders` is gone.",
            true,
        ),
        (
            "Legal must say whether ECB daily rates are allowed",
            "legal says no to ecb daily rates",
            "",
            "",
            true,
        ),
        ("Unique index on the event id", "marta built the unique index last night", "", "", true),
        (
            "Postponed by the user: \"bericht machen wir morgen weiter\"",
            "weiter mit dem Bericht",
            "",
            "",
            true,
        ),
        (
            "`app/db.py` `insert_job` is only a stub",
            "continue with the job queue: insert_job and the timeout thing",
            "Insert jobs into Postgres",
            "",
            true,
        ),
        (
            "Add an index on `orders.created_at`",
            "the index on created_at we do tomorrow",
            "",
            "",
            false,
        ),
        (
            "Add an index on `orders.created_at`",
            "can you add the index on orders.created_at?",
            "",
            "",
            true,
        ),
        (
            "Add an index on `orders.created_at`",
            "the index on orders.created_at is still not there",
            "",
            "",
            false,
        ),
        (
            "Add an index on `orders.created_at`",
            "did we ever add the index on orders.created_at?",
            "",
            "",
            false,
        ),
        ("Remove the old sessions", "don't remove the old sessions yet", "", "", false),
        ("Remove the old sessions", "don't keep the old sessions, remove them", "", "", true),
        (
            "Remove the old sessions",
            "we can't remove the old sessions before the backup ran",
            "",
            "",
            false,
        ),
        ("Remove the old sessions", "Go on", "Revert \"Remove the old sessions\"", "", false),
        ("Test the import on Windows", "the import on Windows was not tested", "", "", false),
        ("Test the import on Windows", "test the import on Windows, too", "", "", true),
        (
            "Deploy the worker to staging",
            "is the worker on staging already deployed?",
            "",
            "",
            false,
        ),
        ("Deploy the worker to staging", "deploy the worker to staging, ok?", "", "", true),
        ("Add tests for the parser", "the parser tests fail", "", "", false),
        ("Add tests for the parser", "we have no parser tests, write some", "", "", true),
        ("Add error handling to the upload", "error in the upload: 413", "", "", false),
        (
            "Document the CSV export in the README",
            "Still open:\n- Document the CSV export in the README\n- Add a test\nDo the last one.",
            "",
            "",
            false,
        ),
        (
            "Document the CSV export in the README",
            "Still open:\n- Add a test of the reader\n  and of the writer\n- Document the CSV export in the README\nDo the first one.",
            "",
            "",
            false,
        ),
        (
            "Document the CSV export in the README",
            "Please:\n- Document the CSV export in the README\n- Add a test",
            "",
            "",
            true,
        ),
        (
            "Add an index on `orders.created_at`",
            "add an index on the emails",
            "Index emails",
            "Done.",
            false,
        ),
        (
            "Add tests for the parser",
            "add an option to the parser",
            "Add the option `--strict`",
            "The parser has the option.",
            false,
        ),
        (
            "Remove the deprecated route `/v1/orders`",
            "show the orders by date",
            "Sort orders by date",
            "",
            false,
        ),
    ] {
        let mut first = SessionFixture::new(10, "Fix the login");
        first.episode.summary.next_steps = Some(vec![step.to_owned()]);
        let mut second = SessionFixture::new(20, "Go on");
        second.work(prompt, report);
        if !commit.is_empty() {
            second.evidence.commits = vec![Commit {
                hash: "abc1234".to_owned(),
                subject: commit.to_owned(),
                body: String::new(),
                origin: line(5),
                at: second.at(5),
            }];
        }
        let fact = only_fact(&facts(&[&first, &second]), Relation::LeftOpen);
        assert_eq!(fact.invalid_at.is_some(), ends, "{step} / {prompt}");
    }
}

#[test]
fn each_item_of_a_joined_list_ends_alone() {
    let open = |step: &str, commit: &str| {
        let mut first = SessionFixture::new(10, "Fix the login");
        first.episode.summary.next_steps = Some(vec![step.to_owned()]);
        let mut second = SessionFixture::new(20, "Go on");
        second.evidence.commits = vec![Commit {
            hash: "abc1234".to_owned(),
            subject: commit.to_owned(),
            body: String::new(),
            origin: line(5),
            at: second.at(5),
        }];
        let facts = facts(&[&first, &second]);
        let states = StatementStates::of(&facts, first.episode.id, minute(30, 0));
        let open = of(&facts, Relation::LeftOpen).filter(|fact| fact.invalid_at.is_none());
        let mut open: Vec<String> = open.map(|fact| fact.sentence.clone()).collect();
        open.sort_unstable();
        (open, states.holds(step))
    };
    let list = "Still open in the lexer: Read network paths; Count the lines; Document the modes";
    let (left, holds) = open(list, "Count lines in the lexer");
    assert_eq!(
        left,
        [
            "Still open in the lexer: Document the modes — left open in “Fix the login”.",
            "Still open in the lexer: Read network paths — left open in “Fix the login”.",
        ]
    );
    assert_eq!(holds, Some(true), "two items are open");
    for (step, wanted) in [
        ("Still open in the lexer: Read network paths; Count the lines", 1),
        ("Add three modes to the lexer: fast; small; exact", 1),
        ("Still open: a; b; c", 1),
        (list, 3),
    ] {
        assert_eq!(open(step, "Rename the page").0.len(), wanted, "{step}");
    }
}

#[test]
fn a_task_of_a_session_with_long_commits_ends_its_open_end() {
    let mut first = SessionFixture::new(10, "Fix the login");
    first.episode.summary.next_steps = Some(vec!["Remove the old sessions".to_owned()]);
    let mut second = SessionFixture::new(20, "Go on");
    let body: String =
        (0..7).map(|part| format!("Explain the change {part} of the parser\n")).collect();
    second.evidence.commits = (0..12)
        .map(|number| Commit {
            hash: format!("abc123{number}"),
            subject: format!("Change the parser {number}"),
            body: format!("{body}Follow-up: remove the old sessions."),
            origin: line(5),
            at: second.at(5),
        })
        .collect();
    let ended = |second: &SessionFixture| {
        only_fact(&facts(&[&first, second]), Relation::LeftOpen).invalid_at.is_some()
    };
    assert!(!ended(&second), "the commit leaves the work open");
    second.episode.summary.completed_tasks = Some(vec!["Removed the old sessions".to_owned()]);
    assert!(ended(&second));
}

#[test]
fn an_exception_for_one_task_does_not_end_a_wish() {
    for (wish, prompt, ends) in [
        ("Always run the linter", "no need to run the linter this time", false),
        ("Always run the linter", "no need to run the linter", true),
        ("Always run the linter", "no need to run the linter here any more", true),
        (
            "Never push to main without asking",
            "it's ok to push to main without asking this time",
            false,
        ),
        ("Never push to main without asking", "it's ok to push to main without asking", true),
        ("Always write a changelog entry", "no need for a changelog entry here", false),
        (
            "Use conventional commits",
            "you don't need to use conventional commits for the wip commit",
            false,
        ),
        (
            "Use conventional commits",
            "you don't need to use conventional commits for the changelog",
            true,
        ),
    ] {
        let mut first = SessionFixture::new(10, "Work");
        first.episode.summary.preferences = Some(vec![format!("\"{wish}\"")]);
        let mut second = SessionFixture::new(20, "Work");
        second.work(prompt, "");
        let fact = only_fact(&facts(&[&first, &second]), Relation::Prefers);
        assert_eq!(fact.invalid_at.is_some(), ends, "{wish} / {prompt}");
    }
}

#[test]
fn a_report_that_leaves_similar_work_open_ends_nothing() {
    let mut first = SessionFixture::new(10, "Add the CSV export to the report page");
    let steps = ["Document the CSV export in the README", "Add a test for empty reports"];
    first.episode.summary.next_steps = Some(steps.map(str::to_owned).to_vec());
    let similar = ["Document the PDF export in the README", "Test the empty report page"];
    let [document, test] = similar;
    let [documented, tested] =
        ["The README documents the CSV export", "A test of the report page covers empty reports"];
    for (report, ended) in [
        (format!("Done.\n\n## Still open\n- {document}\n- {test}"), 0),
        (format!("Done.\n\n**Not done:**\n- {document}\n- {test}"), 0),
        (format!("Done.\n\nNext steps:\n1. {document}\n2. {test}"), 0),
        (format!("Done.\n\n- [x] PDF\n- [ ] {document}\n- [ ] {test}"), 0),
        (format!("Fertig.\n\n### Noch offen\n- {document}\n- {test}"), 0),
        (format!("## Done\n- {documented}\n- {tested}"), 2),
        (format!("## Open\n- Check the PDF\n\n## Changes\n- {documented}\n- {tested}"), 2),
        (format!("- [x] {documented}\n- [ ] {test}"), 1),
        (format!("{documented}. It is short.\n\n## Next\n- {test}"), 1),
        (format!("## Next\n- Check the PDF\n\n{tested}. It passes."), 1),
    ] {
        let mut second = SessionFixture::new(20, "Go on");
        second.work("Add a PDF export to the report page", &report);
        let facts = facts(&[&first, &second]);
        let open = of(&facts, Relation::LeftOpen).filter(|fact| fact.invalid_at.is_some());
        assert_eq!(open.count(), ended, "{report}");
    }
}

#[test]
fn an_open_end_about_a_missing_file_ends_when_the_file_is_created() {
    let mut first = SessionFixture::new(10, "Forecast the sales");
    let step = "The numbers are there, the report `docs/forecast.md` is not written yet";
    first.episode.summary.next_steps = Some(vec![step.to_owned()]);
    for (path, is_created, ends) in [
        ("docs/forecast.md", true, true),
        ("docs/forecast.md", false, false),
        ("docs/a.md", true, false),
    ] {
        let mut second = SessionFixture::new(20, "Go on");
        let work = second.change(&format!("/srv/app/{path}"));
        (work.created, work.last) = (is_created, line(2));
        let fact = only_fact(&facts(&[&first, &second]), Relation::LeftOpen);
        assert_eq!(fact.invalid_at.is_some(), ends, "{path}");
    }
}

#[test]
fn a_wish_ends_when_the_user_goes_back_to_what_it_rejects() {
    let mut first = SessionFixture::new(10, "Work");
    first.episode.summary.preferences =
        Some(vec!["\"from now on use pnpm in this repo, not npm\"".to_owned()]);
    let mut second = SessionFixture::new(20, "Work");
    for (prompt, ends) in [
        ("back to npm then, everywhere. forget pnpm", true),
        ("is npm back to normal?", false),
        ("drop the old cache", false),
    ] {
        let at = second.at(2);
        second.evidence.prompts = vec![Quote { text: prompt.to_owned(), origin: line(2), at }];
        let fact = only_fact(&facts(&[&first, &second]), Relation::Prefers);
        assert_eq!(fact.invalid_at.is_some(), ends, "{prompt}");
    }
}

#[test]
fn every_fact_has_an_origin() {
    let mut session = SessionFixture::new(10, "Fix the login");
    let at = session.at(2);
    session.evidence.prompts =
        vec![Quote { text: "Fix the login".to_owned(), origin: line(2), at }];
    session.episode.summary.next_steps = Some(vec!["Remove the old sessions".to_owned()]);
    session.episode.summary.discoveries = Some(vec!["The cache is never written".to_owned()]);
    assert!(facts(&[&session]).iter().all(|fact| !fact.origins.is_empty()));
}

/// One event of a history. No session has more than one event.
#[derive(Clone, Copy, Debug)]
enum HistoryEvent {
    /// An edit gives a setting a value.
    Set(usize, u8),
    /// A setting is changed outside of the sessions.
    SetUnseen(usize, u8),
    /// All tests run. Each bit shows whether one of the tests fails.
    Run(u8),
    LeaveOpen(usize),
    /// Asks for what an earlier session left open.
    Ask(usize),
    /// Commits what an earlier session left open.
    Commit(usize),
    /// Does work that is similar to an open end of an earlier session, and leaves other similar
    /// work open.
    LeaveSimilarOpen(usize),
    /// Moves the file in which an open end is noted.
    MoveNote(usize),
    Wish(usize),
    Withdraw(usize),
}

const SETTINGS: [&str; 2] = ["server.port", "server.host"];
const TESTS: [&str; 3] = ["parses_dates", "parses_times", "renders_pages"];
const OPEN_ENDS: [&str; 3] = [
    "Remove the old sessions",
    "Document the export format",
    "Support Windows paths in the importer (todo `notes/pending/paths.md`)",
];
/// The sentences of the facts about [`OPEN_ENDS`], without the full stop.
const OPEN_END_SENTENCES: [&str; 3] = [
    "Remove the old sessions — left open in “Go on”",
    "Document the export format — left open in “Go on”",
    "Support Windows paths in the importer (noted in `notes/pending/paths.md`)",
];
/// Work that is similar to [`OPEN_ENDS`]: the request, and the end of the report.
const SIMILAR_WORK: [(&str, &str); 3] = [
    ("Count the sessions of the users", "## Still open\n- Remove the old users"),
    ("Export the invoices", "**Noch offen:**\n- Document the invoices"),
    (
        "Read Windows paths with spaces in the lexer",
        "### Next steps\n1. Support network paths in the importer (`notes/pending/lexer.md`)",
    ),
];
/// The names of notes that are moved. The last open end is noted in the second one.
const NOTES: [&str; 2] = ["other.md", "paths.md"];
const WISHES: [&str; 2] = ["Always sign every commit", "Never reformat generated files"];

/// The state after a history, computed in the simplest way.
#[derive(Default)]
struct HistoryModel {
    values: BTreeMap<usize, u8>,
    /// Values that sessions set and that no later edit replaced.
    known: BTreeSet<(usize, u8)>,
    failing: u8,
    open: BTreeSet<usize>,
    wishes: BTreeSet<usize>,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn facts_end_when_they_no_longer_hold_and_not_before(
        events in prop::collection::vec(event(), 1..14),
        is_reversed in any::<bool>(),
    ) {
        let mut model = HistoryModel::default();
        let mut sessions: Vec<SessionFixture> = Vec::new();
        for (hour, event) in (10..).zip(&events) {
            sessions.extend(model.apply(*event, hour));
        }
        if is_reversed {
            sessions.reverse();
        }
        let sessions: Vec<&SessionFixture> = sessions.iter().collect();
        let facts = facts(&sessions);
        let current = |relation| -> BTreeSet<String> {
            let open = of(&facts, relation).filter(|fact| fact.invalid_at.is_none());
            open.map(|fact| fact.sentence.clone()).collect()
        };
        prop_assert_eq!(current(Relation::SetTo).len(), model.known.len());
        for (setting, value) in &model.known {
            let start = format!("`{}` in `.env` is `{value}`", SETTINGS[*setting]);
            prop_assert!(current(Relation::SetTo).iter().any(|found| found.starts_with(&start)), "{}", start);
        }
        let failing = TESTS.iter().enumerate().filter(|(at, _)| model.failing & (1 << at) != 0);
        let failing: BTreeSet<String> =
            failing.map(|(_, test)| format!("Test `{test}` fails in `cargo test`.")).collect();
        prop_assert_eq!(current(Relation::Fails), failing);
        let open: BTreeSet<String> =
            model.open.iter().map(|at| format!("{}.", OPEN_END_SENTENCES[*at])).collect();
        prop_assert_eq!(current(Relation::LeftOpen), open);
        let wishes: BTreeSet<String> =
            model.wishes.iter().map(|at| format!("{}.", WISHES[*at])).collect();
        prop_assert_eq!(current(Relation::Prefers), wishes);
        prop_assert!(facts.iter().all(has_order), "{:#?}", facts);
    }
}

fn has_order(fact: &Fact) -> bool {
    fact.invalid_at.is_none_or(|end: Timestamp| end >= fact.valid_at)
}

fn event() -> impl Strategy<Value = HistoryEvent> {
    prop_oneof![
        (0..SETTINGS.len(), 0..3u8).prop_map(|(at, value)| HistoryEvent::Set(at, value)),
        (0..SETTINGS.len(), 0..3u8).prop_map(|(at, value)| HistoryEvent::SetUnseen(at, value)),
        (0..8u8).prop_map(HistoryEvent::Run),
        (0..OPEN_ENDS.len()).prop_map(HistoryEvent::LeaveOpen),
        (0..OPEN_ENDS.len()).prop_map(HistoryEvent::Ask),
        (0..OPEN_ENDS.len()).prop_map(HistoryEvent::Commit),
        (0..SIMILAR_WORK.len()).prop_map(HistoryEvent::LeaveSimilarOpen),
        (0..NOTES.len()).prop_map(HistoryEvent::MoveNote),
        (0..WISHES.len()).prop_map(HistoryEvent::Wish),
        (0..WISHES.len()).prop_map(HistoryEvent::Withdraw),
    ]
}

impl HistoryModel {
    /// Applies an event, and returns the session in which it took place, if there is one.
    fn apply(&mut self, event: HistoryEvent, hour: i64) -> Option<SessionFixture> {
        let mut session = SessionFixture::new(hour, "Go on");
        match event {
            HistoryEvent::Set(at, value) => {
                let before = self.values.insert(at, value);
                if before == Some(value) {
                    return None;
                }
                self.known.retain(|known| Some(*known) != before.map(|before| (at, before)));
                self.known.insert((at, value));
                let before = before.map(|value| value.to_string());
                session.setting(SETTINGS[at], before.as_deref(), &value.to_string());
            }
            HistoryEvent::SetUnseen(at, value) => {
                self.values.insert(at, value);
                return None;
            }
            HistoryEvent::Run(failing) => {
                self.failing = failing;
                let failed = TESTS.iter().enumerate().filter(|(at, _)| failing & (1 << at) != 0);
                let failed: Vec<&str> = failed.map(|(_, test)| *test).collect();
                session.run(5, &failed);
            }
            HistoryEvent::LeaveOpen(at) => {
                self.open.insert(at);
                session.episode.summary.next_steps = Some(vec![OPEN_ENDS[at].to_owned()]);
            }
            HistoryEvent::Ask(at) => {
                self.open.remove(&at);
                let text = format!("please {}", OPEN_ENDS[at].to_lowercase());
                let time = session.at(2);
                session.evidence.prompts = vec![Quote { text, origin: line(2), at: time }];
            }
            HistoryEvent::Commit(at) => {
                self.open.remove(&at);
                session.evidence.commits = vec![Commit {
                    hash: "abc1234".to_owned(),
                    subject: format!("feat: {}", OPEN_ENDS[at].to_lowercase()),
                    body: String::new(),
                    origin: line(2),
                    at: session.at(2),
                }];
            }
            HistoryEvent::LeaveSimilarOpen(at) => {
                let (request, end) = SIMILAR_WORK[at];
                session.work(request, &format!("The work is finished.\n\n{end}\n"));
            }
            HistoryEvent::MoveNote(at) => {
                if NOTES[at] == "paths.md" {
                    self.open.remove(&2);
                }
                let name = NOTES[at];
                let work = session.change(&format!("/srv/app/notes/done/{name}"));
                work.moved_from = Some(format!("/srv/app/notes/pending/{name}"));
            }
            HistoryEvent::Wish(at) => {
                self.wishes.insert(at);
                session.episode.summary.preferences = Some(vec![format!("\"{}\"", WISHES[at])]);
            }
            HistoryEvent::Withdraw(at) => {
                self.wishes.remove(&at);
                let words = format!("{WITHDRAWN}\"Forget the rule: {}\"", WISHES[at]);
                session.episode.summary.preferences = Some(vec![words]);
            }
        }
        Some(session)
    }
}

#[test]
fn a_note_that_was_moved_before_its_work_ends_with_the_session() {
    let mut first = SessionFixture::new(10, "Fix the login");
    first.episode.summary.next_steps =
        Some(vec!["Rotate the keys of the signer (todo `notes/pending/keys.md`)".to_owned()]);
    let mut second = SessionFixture::new(20, "Go on");
    let at = second.at(2);
    second.evidence.prompts = vec![Quote { text: "Go on".to_owned(), origin: line(2), at }];
    let work = second.change("notes/done/keys.md");
    (work.moved_from, work.last) = (Some("notes/pending/keys.md".to_owned()), line(2));
    let ended = |second: &SessionFixture| {
        only_fact(&facts(&[&first, second]), Relation::LeftOpen).invalid_at
    };
    assert_eq!(ended(&second), Some(minute(20, 2)));
    second.change("src/signer.rs").last = line(7);
    assert_eq!(ended(&second), Some(second.episode.ended_at));
}

#[test]
fn a_note_that_was_moved_when_a_refused_plan_began_stays_open() {
    let mut first = SessionFixture::new(10, "Fix the login");
    first.episode.summary.next_steps =
        Some(vec!["Rotate the keys of the signer (todo `notes/pending/keys.md`)".to_owned()]);
    let moved = |is_refused: bool| {
        let mut session = SessionFixture::new(20, "Go on");
        let work = session.change("notes/done/keys.md");
        (work.moved_from, work.last) = (Some("notes/pending/keys.md".to_owned()), line(2));
        if is_refused {
            session.evidence.choices = vec![Choice {
                question: "# Plan: Rotate".to_owned(),
                answer: "refused".to_owned(),
                origin: line(5),
                ..Choice::default()
            }];
        }
        session
    };
    let ended = |is_refused| {
        only_fact(&facts(&[&first, &moved(is_refused)]), Relation::LeftOpen).invalid_at.is_some()
    };
    assert!(ended(false) && !ended(true));
}
