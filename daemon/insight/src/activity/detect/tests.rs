use std::borrow::Cow;

use serde_json::{Value, json};

use super::*;
use crate::{
    activity::classify::{self, ClassificationCache},
    model::{
        activity::Activity,
        time::Timestamp,
        transcript::{ChangeKind, FileChange, LazyText, RecapKind, Replacement},
    },
};

/// An event of a test's transcript, and its time in minutes.
#[derive(Clone)]
enum ScriptLine {
    Prompt(i64, &'static str),
    Reply(i64, &'static str),
    Run(i64, &'static str),
    Printed(i64, &'static str, Outcome),
    Read(i64, &'static str),
    Edit(i64, &'static str),
    Tool(i64, &'static str),
    Compacted(i64),
}

use ScriptLine::{Compacted, Edit, Printed, Prompt, Read, Reply, Run, Tool};

fn observe(detector: &mut Detector, line: u64, event: &ScriptLine) {
    let (minute, item) = match event {
        Prompt(at, text) => (at, Item::Prompt(Cow::Borrowed(*text))),
        Reply(at, text) => (at, Item::Reply { message: None, text: Cow::Borrowed(*text) }),
        Run(at, command) => {
            let action = Action::Run { command: (*command).to_owned(), purpose: None };
            (at, call("Bash", action))
        }
        Printed(at, text, outcome) => {
            let content = LazyText::plain(text);
            (at, Item::Result(ToolResult { call: Cow::Borrowed("1"), outcome: *outcome, content }))
        }
        Read(at, path) => (at, call("Read", Action::Read { path: (*path).to_owned() })),
        Edit(at, path) => {
            let edits =
                vec![Replacement { old: "one thing".to_owned(), new: "other thing".to_owned() }];
            let change = FileChange { path: (*path).to_owned(), kind: ChangeKind::Edited, edits };
            (at, call("Edit", Action::Change(vec![change])))
        }
        Tool(at, name) => (at, call(name, Action::Other)),
        Compacted(at) => (at, Item::Boundary),
    };
    let entry = Entry {
        at: Some(Timestamp::from_seconds(minute * 60)),
        uuid: None,
        sub_agent: None,
        caller: None,
        item,
    };
    let classified = match &entry.item {
        Item::Call(call) => Some(classify::classify(call, &mut ClassificationCache::default())),
        _ => None,
    };
    detector.observe(&entry, line, classified.as_ref());
}

fn call(tool: &'static str, action: Action) -> Item<'static> {
    let input: Value = json!({});
    Item::Call(Call {
        id: Cow::Borrowed("1"),
        message: None,
        tool: Cow::Borrowed(tool),
        input,
        action,
    })
}

fn detect(session: &[ScriptLine]) -> Detector {
    let mut detector = Detector::default();
    for (line, event) in (1..).zip(session) {
        observe(&mut detector, line, event);
    }
    detector
}

fn labels(detector: &Detector) -> Vec<String> {
    detector.segments().into_iter().map(|segment| segment.label).collect()
}

/// The parts of the test `test_enhanced_summary_generation` that concern activity (section 9.2 of
/// the specification intelligent-session-summarization).
#[test]
fn fixing_a_bug_is_fixing() {
    let detector = detect(&[
        Prompt(0, "Fix the authentication bug"),
        Reply(1, "I found the issue..."),
        Edit(2, "auth.py"),
    ]);
    assert!(detector.vector().fixing > 0.5);
    assert_eq!(detector.vector().primary_activity(), "fixing");
}

/// The weights in section 2.2 of the specification, tested separately for each signal.
#[test]
fn each_signal_has_the_weight_of_the_specification() {
    let raw = |session: &[ScriptLine], activity| {
        (detect(session).signals().get(activity) * 1e6).round() / 1e6
    };
    assert_eq!(raw(&[Prompt(0, "implement this")], Activity::Building), 0.15);
    assert_eq!(raw(&[Prompt(0, "implement, add, create, build, write")], Activity::Building), 0.5);
    assert_eq!(raw(&[Reply(0, "implement, add, create")], Activity::Building), 0.0);
    assert_eq!(raw(&[Run(0, "pytest")], Activity::Testing), 0.24);
    assert_eq!(raw(&[Reply(0, "error error error error")], Activity::Fixing), 0.3);
    assert_eq!(raw(&[Reply(0, "a.json b.yaml c.toml")], Activity::Configuring), 0.25);
    assert_eq!(raw(&[Reply(0, "a.json b.json c.json")], Activity::Configuring), 0.0);
}

/// The example of a bug that the configuration caused, in section 2.1 of the specification.
#[test]
fn a_bug_caused_by_configuration_shows_both() {
    let detector = detect(&[
        Prompt(0, "The login fails with an error after a minute, please fix it"),
        Read(1, "src/auth.py"),
        Run(2, "grep -rn TIMEOUT src"),
        Printed(2, "src/settings.py: TIMEOUT", Outcome::Succeeded),
        Edit(3, ".env"),
        Edit(4, "config/settings.yaml"),
        Run(5, "pytest tests/test_auth.py"),
        Printed(5, "1 failed: error, error, error", Outcome::Failed(Some(1))),
        Edit(6, "src/auth.py"),
        Run(7, "pytest tests/test_auth.py"),
    ]);
    let vector = detector.vector();
    assert_eq!(vector.primary_activity(), "fixing");
    for activity in [Activity::Configuring, Activity::Testing] {
        assert!(vector.dominant_activities().contains(&activity), "{}", vector.activity_profile());
    }
    assert!(vector.building < vector.configuring);
}

#[test]
fn contents_that_were_only_read_are_not_searched_for_errors() {
    let output = "error error error error error";
    let fixing = |session: &[ScriptLine]| detect(session).signals().get(Activity::Fixing);
    assert_eq!(fixing(&[Read(0, "log"), Printed(0, output, Outcome::Succeeded)]), 0.0);
    assert_eq!(fixing(&[Read(0, "log"), Printed(0, output, Outcome::Failed(None))]), 0.3);
    let shown = |outcome| fixing(&[Run(0, "cat log"), Printed(0, output, outcome)]);
    assert_eq!(shown(Outcome::Succeeded), 0.3);
    assert_eq!(shown(Outcome::Rejected), 0.0);
}

#[test]
fn a_saved_detector_has_the_same_result_after_a_restart() {
    let session = long_session();
    let whole = detect(&session);
    for cut in 0..=session.len() {
        let saved = serde_json::to_string(&detect(&session[..cut])).expect("plain data");
        let mut resumed: Detector = serde_json::from_str(&saved).expect("readable");
        for (line, event) in (1..).zip(&session).skip(cut) {
            observe(&mut resumed, line, event);
        }
        assert_eq!(
            resumed.vector().activity_profile(),
            whole.vector().activity_profile(),
            "cut at {cut}"
        );
        assert!(close(&resumed.signals(), &whole.signals()), "cut at {cut}");
        let spans = |detector: &Detector| -> Vec<_> {
            let span = |one: Segment| {
                (one.from, one.to, one.first_line, one.last_line, one.calls, one.label)
            };
            detector.segments().into_iter().map(span).collect()
        };
        assert_eq!(spans(&resumed), spans(&whole), "cut at {cut}");
    }
}

#[test]
fn a_detector_saved_by_an_older_version_is_read() {
    let read: Detector = serde_json::from_str("{}").expect("readable");
    assert_eq!(read, Detector::default());
}

#[test]
fn a_compaction_and_a_long_pause_end_a_phase() {
    let detector = detect(&[
        Run(0, "pytest"),
        Compacted(1),
        Edit(2, "README.md"),
        Edit(20, "docs/a.md"),
        Run(51, "npm install"),
    ]);
    assert_eq!(labels(&detector), ["testing", "documenting", "configuring"]);
    let lines: Vec<_> =
        detector.segments().iter().map(|one| (one.first_line, one.last_line, one.calls)).collect();
    assert_eq!(lines, [(1, 1, 1), (3, 4, 2), (5, 5, 1)]);
    assert_eq!(detector.segments()[1].from, Some(Timestamp::from_seconds(2 * 60)));
    assert_eq!(detector.segments()[1].to, Some(Timestamp::from_seconds(20 * 60)));
}

#[test]
fn only_a_request_of_another_kind_begins_a_phase() {
    let detector = detect(&long_session());
    assert_eq!(labels(&detector), ["exploring", "testing", "documenting"]);
}

#[test]
fn a_short_digression_begins_no_phase() {
    let mut session = vec![Prompt(0, "implement the parser")];
    session.extend(vec![Edit(1, "src/parser.rs"); 10]);
    session.push(Prompt(2, "why is this so slow?"));
    session.push(Read(2, "src/parser.rs"));
    session.push(Prompt(3, "go on, implement the rest"));
    session.extend(vec![Edit(4, "src/parser.rs"); 10]);
    assert_eq!(detect(&session).segments().len(), 1);
}

#[test]
fn a_request_that_leads_to_the_same_work_begins_no_phase() {
    let mut session = vec![Prompt(0, "explain where this comes from")];
    session.extend(vec![Read(1, "src/a.rs"); 12]);
    session.push(Prompt(2, "now audit the rest"));
    session.extend(vec![Read(3, "src/b.rs"); 12]);
    assert_eq!(detect(&session).segments().len(), 1);
}

#[test]
fn phases_are_bounded_and_keep_every_call() {
    let session: Vec<ScriptLine> =
        (0..500).flat_map(|part| [Run(part * 60, "pytest"), Compacted(part * 60)]).collect();
    let segments = detect(&session).segments();
    assert_eq!(segments.len(), 50);
    assert_eq!(segments.iter().map(|one| one.calls).sum::<u32>(), 500);
    assert_eq!((segments[0].first_line, segments[49].last_line), (1, 999));
    assert!(segments.is_sorted_by(|a, b| a.last_line < b.first_line));
}

#[test]
fn the_size_of_a_saved_detector_does_not_grow_with_the_transcript() {
    let mut detector = Detector::default();
    let mut line = 0;
    for round in 0..400 {
        for event in long_session() {
            line += 1;
            observe(&mut detector, line, &event);
        }
        let name: &'static str = Box::leak(format!("mcp__acme__frob{round}").into_boxed_str());
        observe(&mut detector, line, &Tool(0, name));
    }
    let bytes = serde_json::to_string(&detector).expect("plain data").len();
    assert!(bytes < 64 * 1024, "{bytes}");
}

#[test]
fn a_tool_that_becomes_known_counts_in_the_phases_that_used_it() {
    let mut detector = detect(&[Tool(0, "frob"), Compacted(1), Run(2, "pytest"), Tool(3, "frob")]);
    assert_eq!(labels(&detector), ["mixed", "testing"]);
    let known =
        |tool: &str| (tool == "frob").then(|| [(Activity::Documenting, 0.9)].into_iter().collect());
    detector.add_known_tools(&known);
    assert_eq!(labels(&detector), ["documenting", "documenting, testing"]);
    assert!((detector.signals().get(Activity::Documenting) - 0.54).abs() < 1e-9);
}

#[test]
fn a_sub_agents_work_counts_in_the_phase_that_started_it() {
    let mut detector = detect(&[Run(0, "npm install"), Compacted(10), Edit(20, "README.md")]);
    let sub_agent = detect(&vec![Run(5, "pytest"); 4]);
    detector.absorb(&sub_agent);
    assert_eq!(labels(&detector), ["testing", "documenting"]);
    assert_eq!(detector.segments()[0].calls, 5);
    assert!(detector.vector().testing > 0.9);
}

#[test]
fn all_signals_of_a_sub_agent_count_in_a_closed_phase() {
    let mut detector = detect(&[Run(0, "npm install"), Compacted(10), Edit(20, "README.md")]);
    let sub_agent = detect(&[Prompt(5, "fix the bug: error error error error")]);
    let before = detector.segments();
    detector.absorb(&sub_agent);
    let after = detector.segments();
    assert!(after[0].vector.fixing > before[0].vector.fixing, "{after:?}");
    assert_eq!(after[1], before[1]);
}

#[test]
fn items_outside_the_conversation_have_no_signals() {
    let mut detector = Detector::default();
    for item in [
        Item::Recap {
            kind: RecapKind::Compaction,
            text: Cow::Borrowed("fix error error error error"),
        },
        Item::Interrupted,
        Item::ServiceError(Cow::Borrowed("error failed")),
    ] {
        detector.observe(
            &Entry { at: None, uuid: None, sub_agent: None, caller: None, item },
            1,
            None,
        );
    }
    assert_eq!(detector, Detector::default());
}

#[test]
fn nothing_observed_is_a_mixed_session_without_phases() {
    let detector = Detector::default();
    assert_eq!(detector.vector().primary_activity(), "mixed");
    assert!(detector.segments().is_empty());
}

/// A session that explores, then tests, then documents.
fn long_session() -> Vec<ScriptLine> {
    let mut session = vec![Prompt(0, "explain where the tokens come from and why")];
    session.extend(vec![Read(1, "src/a.rs"); 10]);
    session.push(Prompt(2, "what is this, show me more"));
    session.extend(vec![Read(3, "src/b.rs"); 6]);
    session.push(Prompt(4, "now write tests that assert the coverage of the mock"));
    for _ in 0..6 {
        session.push(Edit(5, "tests/test_a.py"));
        session.push(Run(6, "pytest tests"));
        session.push(Printed(6, "2 failed, 1 error", Outcome::Failed(Some(1))));
    }
    session.push(Prompt(7, "update the readme and the markdown guide"));
    session.extend(vec![Edit(8, "README.md"); 9]);
    session
}

fn close(one: &Signals, other: &Signals) -> bool {
    Activity::ALL.into_iter().all(|activity| (one.get(activity) - other.get(activity)).abs() < 1e-9)
}
