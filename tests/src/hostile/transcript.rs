//! Checks lines of transcripts, from their bytes to a summary and a handoff.

use std::{
    path::Path,
    sync::{Arc, LazyLock, Mutex},
};

use graphiti_proto::clean::for_model;
use graphitid::{
    activity::classify::ClassificationCache,
    capture::{
        filter::Filter,
        format::{FORMATS, Format, Formats},
    },
    engine::{
        document,
        parse_context::ParseContext,
        pipeline::{LineContext, LinePosition, SourceState},
    },
    model::{Episode, Message, Project, SessionEnding, transcript::Origin},
    store::Tally,
    summarize,
};
use serde_json::Value;

pub(super) const WORDS: &[&str] = &[
    "{\"type\":\"user\",\"message\":{\"content\":\"",
    "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"content\":[",
    "\"timestamp\":\"2026-01-02T03:04:05.678Z\"",
    "\"uuid\":\"00000000-0000-4000-8000-000000000001\"",
    "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"command\":\"",
    "{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"is_error\":true,\"content\":\"",
    "\"isMeta\":true",
    "\"isSidechain\":true",
    "\"isCompactSummary\":true",
    "\"toolUseResult\":{",
    "\"cwd\":\"/home/ann/app\"",
    "\"gitBranch\":\"main\"",
    "<system-reminder>",
    "</system-reminder>",
    "<command-name>/x</command-name>",
    "Exit code 1\n",
    "test result: FAILED. 1 passed; 2 failed;",
    "error: ",
    "Error: ",
    "Decided to ",
    " instead of ",
    "because ",
    "Next: ",
    "TODO",
    "- [ ] ",
    "- [x] ",
    "src/main.rs",
    "5 passed, 1 failed in 0.1s",
    "key: value\n",
    "port = 80",
    "## ",
    "**",
    "| a | b |",
    "old_string",
    "new_string",
    "file_path",
    "Traceback (most recent call last):",
    "[Request interrupted by user",
    "{\"sessionId\":\"s1\",\"projectHash\":\"p\",\"startTime\":\"2026-06-01T10:00:00Z\",",
    "{\"$set\":{\"messages\":[",
    "{\"id\":\"m1\",\"type\":\"user\",\"content\":[{\"text\":\"",
    "{\"id\":\"m2\",\"type\":\"gemini\",\"content\":\"",
    "\"toolCalls\":[{\"id\":\"c1\",\"name\":\"run_shell_command\",\"args\":{",
    "{\"functionResponse\":{\"id\":\"c1\",\"name\":\"run_shell_command\",\"response\":{\"output\":\"",
    "Exit Code: 1\nProcess Group PGID: 7",
    "Got it. Thanks for the additional context!",
    "{\"type\":\"tool_result\",\"message\":{\"parts\":[",
    "{\"type\":\"system\",\"subtype\":\"chat_compression\",\"systemPayload\":{",
    "{\"type\":\"session.start\",\"data\":{",
    "{\"type\":\"user.message\",\"data\":{\"content\":\"",
    "{\"type\":\"tool.execution_start\",\"data\":{\"toolCallId\":\"t1\",\"toolName\":\"bash\",\"arguments\":{",
    "{\"type\":\"tool.execution_complete\",\"data\":{\"toolCallId\":\"t1\",\"success\":true,\"result\":{",
    "<shellId: 1 completed with exit code 1>",
    "<command started in background with shellId: 1>",
    "{\"type\":\"session\",\"id\":\"s\",\"timestamp\":\"",
    "{\"type\":\"message\",\"id\":\"0000000a\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"t1\"",
    "{\"type\":\"toolCall\",\"id\":\"t1\",\"name\":\"edit\",\"arguments\":{\"edits\":[",
    "{\"role\":\"user\",\"message\":{\"content\":\"<user_query>",
    "{\"type\":\"tool_use\",\"name\":\"TodoWrite\",\"input\":{\"merge\":true,\"todos\":[",
    "*** Update File: a\n-x\n+y\n",
];

/// Paths of transcripts, of several agents.
const PATHS: &[&str] = &[
    "/a/projects/-work-app/s-1.jsonl",
    "/a/projects/-work-app/s-1/subagents/agent-7.jsonl",
    "/a/tmp/app/chats/session-2026-01-01T00-00-s1.jsonl",
    "/a/tmp/app/chats/session-2026-01-01T00-00-s1.json",
    "/a/tmp/app/chats/s-1/7.jsonl",
    "/a/projects/-work-app/chats/s-1.jsonl",
    "/a/projects/-work-app/subagents/s-1/agent-7.jsonl",
    "/a/session-state/00000000-0000-4000-8000-000000000001/events.jsonl",
    "/a/sessions/--work-app--/2026_s1.jsonl",
    "/a/projects/work-app/agent-transcripts/s-1/s-1.jsonl",
];

/// Number of bytes by which messages may exceed sixteen times the size of their transcript.
const OVERHEAD: usize = 4 << 10;

static PARSE_CONTEXT: LazyLock<ParseContext> = LazyLock::new(|| ParseContext {
    filter: Filter::default(),
    redactor: super::redact::REDACTOR.clone(),
    learned: Arc::new(Mutex::new(ClassificationCache::default())),
    formats: Formats::default(),
    summarize: summarize::config::Config::default(),
    makes_episodes: true,
});

pub(super) fn check(bytes: &[u8]) {
    for format in FORMATS {
        check_format(*format, bytes);
    }
}

pub(super) fn check_format(format: &dyn Format, bytes: &[u8]) {
    let text = super::text(bytes);
    let claimed = PATHS.iter().map(Path::new).filter(|path| format.claims(path));
    for path in claimed {
        format.identify(path, &text[..text.floor_char_boundary(64 << 10)]);
    }
    format.read_liveness(&text);
    let records = format.records_of(&text).unwrap_or_default();
    assert!(records.iter().all(|record| !record.contains('\n')), "a record is one line");

    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let (whole, messages, tally) = read(format, &lines, None);
    let (in_pieces, again, tally_again) = read(format, &lines, Some(lines.len() / 2));
    assert_eq!(messages, again, "reading in pieces gives other messages");
    assert_eq!(tally, tally_again);
    assert!(
        is_same(&to_json(&whole), &to_json(&in_pieces)),
        "reading in pieces gives another state"
    );

    let size: usize = messages.iter().map(message_size).sum();
    assert!(size <= 16 * bytes.len() + OVERHEAD, "{size} bytes of messages from {}", bytes.len());
    let tally_size: usize = tally.skipped.keys().map(String::len).sum();
    assert!(tally_size <= 16 << 10 && tally.skipped.len() <= 256, "a tally of {tally_size} bytes");
    check_summary(&whole);
}

fn read(
    format: &dyn Format,
    lines: &[&[u8]],
    stop: Option<usize>,
) -> (SourceState, Vec<Message>, Tally) {
    let mut state = SourceState::new(0);
    let (mut messages, mut tally) = (Vec::new(), Tally::default());
    let mut at = 0;
    for (number, line) in lines.iter().enumerate() {
        if stop == Some(number) {
            let text = serde_json::to_string(&state).expect("a state is written as JSON");
            state = serde_json::from_str(&text).expect("a stored state can be read");
        }
        let origin = Origin { source: 0, line: number as u64 + 1 };
        let place = LinePosition { origin, at };
        let context =
            LineContext { format, parse_context: &PARSE_CONTEXT, now: graphitid::clock::now() };
        state.take_line(context, line, place, &mut tally, &mut messages);
        at += line.len() as u64 + 1;
    }
    (state, messages, tally)
}

fn to_json(state: &SourceState) -> Value {
    serde_json::to_value(state).expect("a state is written as JSON")
}

/// Whether two states are equal, apart from rounding errors of numbers.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * one.abs().max(1.0),
            _ => one == other,
        },
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| is_same(one, other)))
        }
        (one, other) => one == other,
    }
}

fn message_size(message: &Message) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let files: usize = message.files.iter().map(String::len).sum();
    message.text.len() + files + text(&message.tool) + text(&message.branch)
}

/// Checks all data that are derived from the parsed items.
fn check_summary(state: &SourceState) {
    let evidence = state.evidence();
    let project = evidence.directories.first().map(|directory| Project::new(directory));
    let context = summarize::Context { project: project.as_ref(), ..Default::default() };
    let summary = summarize::summarize(evidence, &context, state.detector.vector());
    let name = summarize::name(evidence, &context);
    assert!(name.chars().count() <= 120, "{name}");
    let markdown = summarize::markdown::to_markdown(&summary);
    assert!(markdown.len() <= 512 << 10, "a summary of {} bytes", markdown.len());
    let conversation = summarize::conversation::ConversationSummary::of(&summary);
    summarize::conversation::ConversationSummary::parse(&conversation.to_text());
    assert!(state.detector.segments().len() <= 1_000);
    let mut episode = sample();
    episode.name = name;
    episode.summary = summary;
    handoff(&episode);
    graphitid::graph::extract(&episode, evidence);
}

/// Returns an episode without statements.
pub(super) fn sample() -> Episode {
    document::read(SAMPLE, &Value::Null).expect("the sample is valid")
}

/// Treats every statement of an episode as still true, and quotes it unchanged.
struct AllStatementsHold;

impl summarize::handoff::StatementValidity for AllStatementsHold {
    fn holds(&self, _: usize, _: &str) -> Option<bool> {
        Some(true)
    }

    fn sentence(&self, _: usize, text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    fn ending(&self, _: usize) -> SessionEnding {
        SessionEnding::default()
    }
}

/// Checks that the handoff of an episode is not too long, and contains no control characters,
/// hidden letters or tags that agents interpret.
pub(super) fn handoff(episode: &Episode) {
    let validity = AllStatementsHold;
    let gathered = summarize::handoff::gather(std::slice::from_ref(episode), &[], &validity);
    for limit in [0, 300, 2_000] {
        let Some(text) = gathered.to_text(limit) else { continue };
        assert!(text.chars().count() <= limit, "{} of {limit} characters", text.chars().count());
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        assert!(!text.chars().any(|c| matches!(c, '\u{e0000}'..='\u{e007f}')), "{text:?}");
        assert_eq!(for_model(&text), text, "cleaning again changes something");
    }
}

const SAMPLE: &str = r#"---
graphiti_session_metadata:
  version: 1
  episode_uuid: "019506f2-7c00-7000-8000-000000000001"
  agent: "claude"
  session_id: "s-1"
  project_path: "/home/ann/app"
  name: "A session"
  started_at: "2026-01-02T03:04:05Z"
  ended_at: "2026-01-02T04:04:05Z"
  indexed_at: "2026-01-02T04:04:06Z"
  content_hash: "00ff"
---

Nothing.
"#;
