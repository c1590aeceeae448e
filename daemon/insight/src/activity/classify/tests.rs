use std::borrow::Cow;

use serde_json::{Value, json};

use super::*;
use crate::model::{
    activity::Activity,
    tool::{ToolDomain, ToolIntent},
    transcript::{ChangeKind, FileChange, Replacement},
};

/// The required share of calls with the correct intent and with the correct domain: the measured
/// value, rounded down.
const INTENTS_RIGHT: f64 = 0.99;
const DOMAINS_RIGHT: f64 = 0.99;
const HELD_OUT_INTENTS_RIGHT: f64 = 0.93;
const HELD_OUT_DOMAINS_RIGHT: f64 = 0.95;

#[test]
#[expect(clippy::print_stdout, reason = "the output lists the wrong classifications")]
fn calls_labelled_by_hand_are_classified_as_labelled() {
    let score = score(include_str!("../testdata/labelled_calls.tsv"));
    println!("{score}");
    assert!(score.calls >= 300, "{score}");
    assert!(score.intents() >= INTENTS_RIGHT, "{score}");
    assert!(score.domains() >= DOMAINS_RIGHT, "{score}");
}

/// The labels were made when the tables were complete, and the tables were not changed because of
/// these labels. The labels therefore measure the accuracy on unseen calls.
#[test]
#[expect(clippy::print_stdout, reason = "the output lists the wrong classifications")]
fn calls_held_out_are_classified_nearly_as_well() {
    let score = score(include_str!("../testdata/held_out_calls.tsv"));
    println!("{score}");
    assert!(score.calls >= 100, "{score}");
    assert!(score.intents() >= HELD_OUT_INTENTS_RIGHT, "{score}");
    assert!(score.domains() >= HELD_OUT_DOMAINS_RIGHT, "{score}");
}

#[derive(Default)]
struct Agreement {
    calls: usize,
    known: usize,
    intents_wrong: Vec<String>,
    domains_wrong: Vec<String>,
}

impl Agreement {
    fn intents(&self) -> f64 {
        1.0 - self.intents_wrong.len() as f64 / self.calls as f64
    }

    fn domains(&self) -> f64 {
        1.0 - self.domains_wrong.len() as f64 / self.calls as f64
    }
}

impl std::fmt::Display for Agreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "{} calls, {} known, intent right {:.1} %, domain right {:.1} %",
            self.calls,
            self.known,
            100.0 * self.intents(),
            100.0 * self.domains()
        )?;
        writeln!(f, "intent:\n{}", self.intents_wrong.join("\n"))?;
        writeln!(f, "domain:\n{}", self.domains_wrong.join("\n"))
    }
}

/// An unknown call counts as wrong, unless its label is `?`.
fn score(table: &str) -> Agreement {
    let mut score = Agreement::default();
    for row in table.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let [tool, argument, intent, domain] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not four columns: {row}");
        };
        let found = classify(&call(tool, argument), &mut ClassificationCache::default());
        let (found_intent, found_domain) = match &found {
            Classified::Known { classification, .. } => {
                (classification.intent.as_str(), classification.domain.as_str())
            }
            Classified::Unknown { .. } => ("?", "?"),
        };
        score.calls += 1;
        score.known += usize::from(found.unknown().is_none());
        let shown: String = argument.chars().take(90).collect();
        if found_intent != intent {
            score.intents_wrong.push(format!("  {intent} but {found_intent}: {tool} {shown}"));
        }
        if found_domain != domain {
            score.domains_wrong.push(format!("  {domain} but {found_domain}: {tool} {shown}"));
        }
    }
    score
}

fn call<'a>(tool: &'a str, argument: &str) -> Call<'a> {
    let argument = argument.replace('⏎', "\n");
    let input = if argument.starts_with('{') && serde_json::from_str::<Value>(&argument).is_ok() {
        serde_json::from_str(&argument).expect("the text was parsed above")
    } else {
        let key = match tool {
            "Bash" | "bash" | "PowerShell" | "run_shell_command" | "run_terminal_cmd"
            | "execute_command" => "command",
            "exec_command" => "cmd",
            "Glob" | "glob" => "pattern",
            _ => "file_path",
        };
        json!({ key: argument })
    };
    let action = action(tool, &input);
    Call { id: Cow::Borrowed("1"), message: None, tool: Cow::Borrowed(tool), input, action }
}

/// Returns the action that the transcript formats derive for some tools.
fn action(tool: &str, input: &Value) -> Action {
    let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
    let change =
        |kind, edits| Action::Change(vec![FileChange { path: text("file_path"), kind, edits }]);
    let edit = Replacement { old: text("old_string"), new: text("new_string") };
    match tool {
        "Bash" | "PowerShell" | "Monitor" => {
            Action::Run { command: text("command"), purpose: None }
        }
        "Read" => Action::Read { path: text("file_path") },
        "Write" => change(
            ChangeKind::Written,
            vec![Replacement { old: String::new(), new: text("content") }],
        ),
        "Edit" | "MultiEdit" => change(ChangeKind::Edited, vec![edit]),
        "Grep" | "Glob" => Action::Search {
            pattern: text("pattern"),
            path: input["path"].as_str().map(str::to_owned),
        },
        "Task" | "Agent" => {
            Action::Delegate { agent: Some(text("subagent_type")), subject: text("description") }
        }
        _ => Action::Other,
    }
}

fn unknown_call<'a>() -> Call<'a> {
    call("unknown_tool", "{}")
}

/// The test `test_tool_classifier_caching` in section 9.1 of the specification
/// intelligent-session-summarization: one request for the first call, none afterwards.
#[test]
fn an_unknown_tool_is_requested_once() {
    let mut learned = ClassificationCache::default();
    let mut questions = 0;
    for _ in 0..2 {
        let mut unknowns = Unknowns::default();
        unknowns.note_call(&classify(&unknown_call(), &mut learned));
        if let Some(request) = unknowns.request() {
            questions += 1;
            let reply = json!({"classifications": [{
                "tool_name": "unknown_tool", "intent": "transform", "domain": "code", "confidence": 0.9,
                "reasoning": "r", "activity_signals": {"building": 0.4}
            }]});
            let answers = request.read_reply(&reply.to_string()).expect("readable");
            answers
                .iter()
                .for_each(|answer| learned.learn(answer, &request.tools[&answer.tool_name]));
        }
    }
    assert_eq!(questions, 1);
    let Classified::Known { classification, by } = classify(&unknown_call(), &mut learned) else {
        panic!("the answer was not learned");
    };
    assert_eq!((classification.intent, by), (ToolIntent::Transform, ClassifierStep::Exact));
    let other = classify(&call("unknown_tool", r#"{"a": 1}"#), &mut learned);
    assert!(matches!(other, Classified::Known { by: ClassifierStep::Name, .. }));
}

/// The test `test_unified_classifier_session` in section 9.2 of the specification.
#[test]
fn the_signals_of_a_session_are_those_of_its_calls() {
    let calls = [
        call("Read", "/test.py"),
        call("Bash", "pytest tests/"),
        call("mcp__unknown__custom_tool", "{}"),
    ];
    let mut learned = ClassificationCache::default();
    let found: Vec<Classified> = calls.iter().map(|call| classify(call, &mut learned)).collect();
    assert_eq!(found.len(), 3);
    let mut sum = Signals::default();
    found.iter().for_each(|found| sum.add_all(found.signals(), 1.0));
    assert!(sum.get(Activity::Testing) > 0.0);
    assert!(sum.get(Activity::Exploring) > 0.0);
    assert_eq!(found[2].unknown(), Some("mcp__unknown__custom_tool"));
}

/// Appendix B.1 of the specification.
#[test]
fn known_tools_and_commands_need_no_request() {
    let mut unknowns = Unknowns::default();
    for (tool, argument) in [
        ("Read", "a.rs"),
        ("Write", "a.rs"),
        ("Edit", "a.rs"),
        ("Grep", r#"{"pattern":"x"}"#),
        ("Bash", "git status"),
        ("Bash", "npm ci"),
        ("Bash", "pytest"),
        ("Bash", "docker ps"),
    ] {
        unknowns.note_call(&classify(&call(tool, argument), &mut ClassificationCache::default()));
    }
    assert_eq!(unknowns.request(), None);
}

#[test]
fn corrections_of_the_user_take_precedence() {
    let mut learned = ClassificationCache::default();
    let correction = |intent| ToolCorrection { intent, domain: ToolDomain::Testing, signals: None };
    learned.correct("Read", correction(ToolIntent::Delete));
    learned.correct("bash:git", correction(ToolIntent::Communicate));
    learned.correct("bash:git status", correction(ToolIntent::Validate));
    for (tool, argument, intent) in [
        ("Read", "a.rs", ToolIntent::Delete),
        ("Bash", "git log", ToolIntent::Communicate),
        ("Bash", "git status", ToolIntent::Validate),
    ] {
        let found = classify(&call(tool, argument), &mut learned);
        let Classified::Known { classification, by } = found else { panic!("{tool}") };
        assert_eq!(
            (classification.intent, by),
            (intent, ClassifierStep::Corrected),
            "{tool} {argument}"
        );
    }
    assert!(learned.withdraw("Read") && !learned.withdraw("Read"));
    let found = classify(&call("Read", "a.rs"), &mut learned);
    assert!(matches!(found, Classified::Known { by: ClassifierStep::Heuristic, .. }));
}

#[test]
fn a_correction_may_have_its_own_signals() {
    let mut learned = ClassificationCache::default();
    let signals = Some([(Activity::Testing, 0.8)].into_iter().collect());
    let correction =
        ToolCorrection { intent: ToolIntent::Validate, domain: ToolDomain::Testing, signals };
    learned.correct("unknown_tool", correction);
    assert_eq!(classify(&unknown_call(), &mut learned).signals().get(Activity::Testing), 0.8);
}

#[test]
fn an_unknown_command_is_requested_and_stored_by_its_subcommand() {
    let mut learned = ClassificationCache::default();
    let found = classify(&call("Bash", "cd x && frobctl flurb --all && ls"), &mut learned);
    assert_eq!(found.unknown(), Some("bash:frobctl flurb"));
    let Classified::Unknown { params, .. } = &found else { panic!("the command is known") };
    assert_eq!(params["command"], "frobctl flurb --all");

    let mut unknowns = Unknowns::default();
    unknowns.note_call(&found);
    let request = unknowns.request().expect("one command");
    let reply = r#"[{"tool_name": "bash:frobctl flurb", "intent": "read", "domain": "network"}]"#;
    for answer in request.read_reply(reply).expect("readable") {
        learned.learn(&answer, &[]);
    }
    let found = classify(&call("Bash", "frobctl flurb other"), &mut learned);
    let Classified::Known { classification, by: ClassifierStep::Name } = found else {
        panic!("{found:?}")
    };
    assert_eq!(
        (classification.intent, classification.domain),
        (ToolIntent::Read, ToolDomain::Network)
    );
    assert_eq!(
        classify(&call("Bash", "frobctl else"), &mut learned).unknown(),
        Some("bash:frobctl else")
    );
}

#[test]
fn a_correction_for_a_program_overrides_an_answer_about_its_subcommand() {
    let mut learned = ClassificationCache::default();
    let mut answer = classify(&call("Read", "a.rs"), &mut learned);
    let Classified::Known { classification, .. } = &mut answer else { panic!("not known") };
    classification.tool_name = "bash:frobctl flurb".to_owned();
    learned.learn(classification, &[]);
    let step = |learned: &mut ClassificationCache| match classify(
        &call("Bash", "frobctl flurb a"),
        learned,
    ) {
        Classified::Known { classification, by } => (classification.intent, by),
        unknown => panic!("{unknown:?}"),
    };
    assert_eq!(step(&mut learned), (ToolIntent::Read, ClassifierStep::Name));
    let correction = |intent| ToolCorrection { intent, domain: ToolDomain::Testing, signals: None };
    learned.correct("bash:frobctl", correction(ToolIntent::Validate));
    assert_eq!(step(&mut learned), (ToolIntent::Validate, ClassifierStep::Corrected));
    learned.correct("bash:frobctl flurb", correction(ToolIntent::Search));
    assert_eq!(step(&mut learned), (ToolIntent::Search, ClassifierStep::Corrected));
}

#[test]
fn an_answer_about_a_known_command_changes_nothing() {
    let mut learned = ClassificationCache::default();
    let mut answer = classify(&call("Bash", "npm test"), &mut learned);
    let Classified::Known { classification, .. } = &mut answer else {
        panic!("the command is not known")
    };
    classification.tool_name = "bash:npm test".to_owned();
    classification.intent = ToolIntent::Delete;
    learned.learn(classification, &[]);
    let found = classify(&call("Bash", "npm test"), &mut learned);
    assert!(matches!(found, Classified::Known { by: ClassifierStep::Heuristic, .. }), "{found:?}");
}

#[test]
fn changes_are_classified_by_the_kind_of_file() {
    for (path, activity) in [
        ("src/app.rs", Activity::Building),
        ("tests/app.rs", Activity::Testing),
        ("README.md", Activity::Documenting),
        (".env", Activity::Configuring),
        ("package.json", Activity::Configuring),
    ] {
        let found = classify(&call("Write", path), &mut ClassificationCache::default());
        let strongest = found
            .signals()
            .iter()
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .expect("there are eight activities");
        assert_eq!(strongest.0, activity, "{path}");
    }
}

#[test]
fn the_chain_begins_with_corrections_and_ends_with_the_heuristic() {
    let order: Vec<ClassifierStep> = CHAIN.iter().map(|step| step.step()).collect();
    assert_eq!(
        order,
        [
            ClassifierStep::Corrected,
            ClassifierStep::Exact,
            ClassifierStep::Name,
            ClassifierStep::Heuristic
        ]
    );
    assert!(order.is_sorted());
}

#[test]
fn learned_classifications_can_be_saved_and_loaded() {
    let mut learned = ClassificationCache::default();
    learned.correct(
        "a",
        ToolCorrection { intent: ToolIntent::Read, domain: ToolDomain::Code, signals: None },
    );
    let answer = ToolClassification {
        tool_name: "b".to_owned(),
        intent: ToolIntent::Search,
        domain: ToolDomain::Code,
        confidence: 0.5,
        reasoning: String::new(),
        activity_signals: Signals::default(),
    };
    learned.learn(&answer, &[json!({"x": 1})]);
    let saved = serde_json::to_string(&learned).expect("plain data");
    assert_eq!(serde_json::from_str::<ClassificationCache>(&saved).expect("readable"), learned);
    assert_eq!(
        serde_json::from_str::<ClassificationCache>("{}").expect("readable"),
        ClassificationCache::default()
    );
}
