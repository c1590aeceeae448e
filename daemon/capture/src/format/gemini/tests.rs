use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::{format::FORMATS, salvage, store::Tally};

/// Formats the items of some lines, and the types of skipped records.
fn read_lines(lines: &str, memory: &mut Memory) -> Vec<String> {
    let mut items = Vec::new();
    for line in lines.lines() {
        let verdict = Gemini.read(line, memory, &mut |entry| items.push(format(&entry.item)));
        if let Ok(RecordVerdict::Skipped(kind)) = verdict
            && kind != "$set"
        {
            items.push(format!("skipped {kind}"));
        }
    }
    items
}

fn format(item: &Item<'_>) -> String {
    match item {
        Item::Prompt(text) => format!("prompt: {text}"),
        Item::Instruction(text) => format!("instruction: {text}"),
        Item::Reply { text, .. } => format!("reply: {text}"),
        Item::Call(call) => format!("call {}: {:?}", call.tool, call.action),
        Item::Result(result) => {
            format!("result: {:?}: {}", result.outcome, result.content.decode(999))
        }
        Item::Answer { question, answer, .. } => format!("answer: {question} {answer}"),
        Item::Usage { tokens, .. } => {
            format!("tokens: {} {} {}", tokens.input, tokens.output, tokens.cache_read)
        }
        Item::Context(context) => {
            let SessionContext { cwd, model, .. } = context;
            let stated = [cwd, model].into_iter().flatten().map(|text| format!(" {text}"));
            format!("context:{}", stated.collect::<String>())
        }
        Item::Title { text, .. } => format!("title: {text}"),
        item => format!("{item:?}"),
    }
}

fn read(records: &[Value]) -> Vec<String> {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    read_lines(&lines.join("\n"), &mut Memory::default())
}

fn chats() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/format/gemini/testdata/home/tmp/proj/chats")
}

fn sample(name: &str) -> (PathBuf, String) {
    let path = chats().join(name);
    let text = fs::read_to_string(&path).unwrap();
    (path, text)
}

/// Reads a sample with the memory that the format creates for its path. Leaves out the tokens.
fn read_sample(name: &str) -> Vec<String> {
    let (path, text) = sample(name);
    let items = read_lines(&text, &mut Gemini.memory_of(&path));
    items.into_iter().filter(|item| !item.starts_with("tokens: ")).collect()
}

#[test]
fn messages_that_are_written_twice_are_read_once() {
    let items = read_sample("session-2026-11-23T02-20-7b8a9753.jsonl");
    let of = |kind: &str| -> Vec<&str> {
        items.iter().filter_map(|item| item.strip_prefix(kind)).collect()
    };
    assert_eq!(items[0], "context: /home/dev/proj");
    assert_eq!(of("prompt: "), ["Do it #fix#"]);
    assert_eq!(
        of("reply: "),
        [
            "I write the function and its test.",
            "Now the test.",
            "The test fails: total() leaves out the first item.",
            "Fixed: total() left out the first item. The test passes now.",
        ]
    );
    assert_eq!(of("call ").len(), 5);
    assert_eq!(
        of("call run_shell_command: "),
        [
            r#"Run { command: "python3 test_total.py", purpose: Some("Run the test") }"#,
            r#"Run { command: "python3 test_total.py", purpose: Some("Run the test again") }"#,
        ]
    );
    let results = of("result: ");
    assert_eq!(results.len(), 5);
    assert!(results[2].starts_with("Failed(Some(1)): Traceback"), "{results:?}");
    assert!(results[2].ends_with("AssertionError: 3"), "{results:?}");
    assert_eq!(results[4], "Succeeded: 1 passed");
    // The results of the two writes are in one message, so only four messages are skipped.
    assert_eq!(of("skipped user/functionResponse again").len(), 4);
}

#[test]
fn a_context_before_a_prompt_is_removed() {
    let items = read_sample("session-2026-11-23T02-19-997fac6a.jsonl");
    let prompts: Vec<&String> = items.iter().filter(|item| item.starts_with("prompt")).collect();
    assert_eq!(prompts, ["prompt: Ask the memory #mcp#"]);
    assert!(items.iter().any(|item| item == "call mcp_graphiti_get_handoff: Other"), "{items:?}");
}

#[test]
fn an_answer_of_the_user_is_read_with_its_question() {
    let items = read_sample("session-2026-11-23T02-27-55a06ff2.jsonl");
    let answer = "answer: Which database shall we use? SQLite";
    assert_eq!(items.iter().filter(|item| *item == answer).count(), 1, "{items:?}");
}

#[test]
fn a_compaction_is_read_from_the_new_history() {
    let items = read_sample("session-2026-11-23T01-48-a4af6827.jsonl");
    assert_eq!(
        items,
        [
            "context: /home/dev/proj",
            "skipped $set.messages",
            "skipped user/added",
            "prompt: Say hi #default#",
            "context: gemini-2.5-pro",
            "reply: Hello, this is the mock. Nothing to do.",
            "Boundary",
            r#"Recap { kind: Compaction, text: "Hello, this is the mock. Nothing to do." }"#,
            "skipped info",
        ]
    );
}

#[test]
fn a_sub_agents_file_belongs_to_its_parent_and_begins_with_an_instruction() {
    let name = "a7e562c1-ba31-4583-a1b2-d7fce9ec0f8b/e87e720f-15dc-4010-a3cd-f19f0d6ecbe8.jsonl";
    let items = read_sample(name);
    assert!(items[1].starts_with("instruction: Your task is to do a deep"), "{items:?}");
    assert_eq!(
        items[2..],
        [
            "context: gemini-3-flash-preview",
            "reply: I look.",
            "call run_shell_command: Other",
            "result: Failed(None): Unauthorized tool call: 'run_shell_command' is not available to this agent.",
            "call complete_task: Other",
            "result: Succeeded: Output submitted and task completed.",
        ],
        "{items:#?}"
    );
    let (path, head) = sample(name);
    let identity = Gemini.identify(&path, &head).unwrap();
    assert_eq!(identity.session, "a7e562c1-ba31-4583-a1b2-d7fce9ec0f8b");
    assert_eq!(identity.sub_agent.as_deref(), Some("e87e720f-15dc-4010-a3cd-f19f0d6ecbe8"));
    assert_eq!(identity.directory.as_deref(), Some("/home/dev/proj"));
}

#[test]
fn each_sample_is_identified_only_by_this_format() {
    let mut folders = vec![chats()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let head = fs::read_to_string(&path).unwrap();
            let found = FORMATS.iter().filter(|format| format.identify(&path, &head).is_some());
            let found: Vec<&str> = found.map(|format| format.agent()).collect();
            let is_stub = path.ends_with(STUB);
            assert_eq!(found, ["gemini"][usize::from(is_stub)..], "{}", path.display());
            assert!(Gemini.claims(&path), "{}", path.display());
            files += 1;
        }
    }
    assert_eq!(files, 8);
}

/// A file without messages. The names of files contain the minute, and Gemini CLI creates such a
/// file when a session is resumed in another minute.
const STUB: &str = "session-2026-11-23T01-32-4feb9d25.jsonl";

#[test]
fn a_file_without_messages_is_not_a_transcript() {
    let (path, head) = sample(STUB);
    assert_eq!(Gemini.identify(&path, &head), None);
    let grown = format!("{head}{}\n", message_record("m1", "user", "Go on"));
    let identity = Gemini.identify(&path, &grown).unwrap();
    assert_eq!(identity.session, "4feb9d25-e33f-4eec-90b6-79af6e44b809");
    assert_eq!(identity.directory.as_deref(), Some("/home/dev/proj"));
}

#[test]
fn other_files_of_the_program_are_not_claimed() {
    for path in [
        "/h/.gemini/tmp/proj/logs.json",
        "/h/.gemini/tmp/proj/checkpoints/session-1.json",
        "/h/.gemini/tmp/proj/chats/a7e562c1/tool-output.json",
        "/h/.qwen/projects/-home-dev/chats/5e551000.jsonl",
    ] {
        assert!(!Gemini.claims(Path::new(path)), "{path}");
    }
    let older = Path::new("/h/.gemini/tmp/0a1b/chats/session-2025-12-01T10-00-0a1b2c3d.json");
    assert!(Gemini.claims(older));
    assert_eq!(Gemini.storage(older), Storage::Document);
}

fn message(id: &str, kind: &str, more: Value) -> Value {
    let mut message = json!({ "id": id, "timestamp": "2026-06-01T10:00:00.000Z", "type": kind });
    extend(&mut message, more);
    message
}

fn extend(record: &mut Value, more: Value) {
    let Value::Object(more) = more else { panic!("not an object: {more}") };
    record.as_object_mut().unwrap().extend(more);
}

fn message_record(id: &str, kind: &str, text: &str) -> Value {
    message(id, kind, json!({ "content": [{ "text": text }] }))
}

fn history(messages: &[Value]) -> Value {
    json!({ "$set": { "messages": messages, "lastUpdated": "2026-06-01T10:00:00.000Z" } })
}

#[test]
fn a_repeated_history_adds_only_new_messages() {
    let (prompt, reply) =
        (message_record("m1", "user", "Fix it"), message_record("m2", "gemini", "Fixed."));
    let shell = "I ran the following shell command:\n```sh\nls\n```\n\n\
        This produced the following result:\n```\na.py\n```";
    let masked = message_record("m2", "gemini", "Fix... (masked)");
    let renamed =
        [message_record("n1", "user", "Fix it"), message_record("n2", "gemini", "Fixed.")];
    let records = [
        prompt.clone(),
        reply,
        history(&[prompt, masked, message_record("m3", "user", shell)]),
        history(&renamed),
        message_record("m4", "user", "Fix it"),
    ];
    assert_eq!(
        read(&records),
        [
            "prompt: Fix it",
            "reply: Fixed.",
            r#"Command { name: "!", args: "ls" }"#,
            r#"ShellOutput("a.py")"#,
            "skipped $set.messages",
            "prompt: Fix it",
        ]
    );
}

#[test]
fn calls_results_and_tokens_of_a_message_are_emitted_when_they_appear() {
    let call = |more: Value| {
        let mut call = json!({ "id": "c1", "name": "read_file", "args": { "file_path": "a" } });
        extend(&mut call, more);
        message("m1", "gemini", json!({ "content": "I read.", "toolCalls": [call] }))
    };
    let tokens = json!({ "input": 100, "output": 20, "cached": 60, "thoughts": 5, "tool": 0 });
    let response = json!({ "functionResponse": { "id": "c1", "response": { "output": "text" } } });
    let done = json!({ "status": "success", "result": [response] });
    let records = [
        message("m1", "gemini", json!({ "content": "I read." })),
        message("m1", "gemini", json!({ "content": "I read.", "tokens": tokens })),
        call(json!({ "status": "executing" })),
        call(done.clone()),
        call(done),
    ];
    assert_eq!(
        read(&records),
        [
            "reply: I read.",
            "tokens: 40 25 60",
            r#"call read_file: Read { path: "a" }"#,
            "result: Succeeded: text",
            "skipped gemini/again",
        ]
    );
}

#[test]
fn an_interruption_an_error_and_a_title_are_read_and_a_rewind_is_counted() {
    let records = [
        message_record("m1", "info", "Request cancelled."),
        message_record("m2", "error", "[API Error: 503]"),
        message_record("m3", "warning", "Hook failed"),
        json!({ "$rewindTo": "m1" }),
        json!({ "$set": { "summary": "Fix the pool" } }),
        json!({ "other": 1 }),
    ];
    assert_eq!(
        read(&records),
        [
            "Interrupted",
            r#"ServiceError("[API Error: 503]")"#,
            "skipped warning",
            "skipped $rewindTo",
            "title: Fix the pool",
            "skipped untyped",
        ]
    );
}

#[test]
fn the_directory_is_read_from_the_context_of_a_session() {
    let context = |text: &str| {
        message_record("m0", "user", &format!("<session_context>\n{text}\n</session_context>"))
    };
    let new = context("This is the Gemini CLI.\n- **Workspace Directories:**\n  - /home/dev/app\n");
    let old = context("I'm currently working in the directory: /home/dev/app\nHere is");
    for record in [new, old] {
        assert_eq!(read(&[record]), ["context: /home/dev/app"]);
    }
    let quoted = "I'm currently working in the directory: /home/dev/app";
    assert_eq!(read(&[message_record("m1", "user", quoted)]), [format!("prompt: {quoted}")]);
}

#[test]
fn the_prompt_is_the_typed_text_and_not_its_expansion() {
    let parts = json!([{ "text": "Explain @a.py" }, { "text": "\n--- Content from referenced files ---" },
        { "text": "def a(): pass" }]);
    let expanded = message("m1", "user", json!({ "content": parts }));
    let shown =
        json!({ "content": [{ "text": "long text" }], "displayContent": [{ "text": "short" }] });
    let records = [expanded, message("m2", "user", shown)];
    assert_eq!(read(&records), ["prompt: Explain @a.py", "prompt: short"]);
}

fn document(messages: &[Value], updated: &str) -> String {
    let document = json!({
        "sessionId": "s1", "projectHash": "0a1b", "startTime": "2026-01-01T10:00:00.000Z",
        "lastUpdated": updated, "messages": messages,
    });
    serde_json::to_string_pretty(&document).unwrap()
}

#[test]
fn a_document_is_read_as_its_records() {
    let response =
        json!({ "functionResponse": { "id": "c1", "response": { "output": "hi\nho" } } });
    let call = json!({ "id": "c1", "name": "read_file", "args": { "file_path": "a" },
        "status": "success", "result": [response] });
    let tokens = json!({ "input": 10, "output": 2, "cached": 4 });
    let more = json!({ "content": "Line 1\nLine 2", "toolCalls": [call], "tokens": tokens,
        "model": "gemini-2.5-flash" });
    let messages =
        [message("m1", "user", json!({ "content": "Read a" })), message("m2", "gemini", more)];
    let records = Gemini.records_of(&document(&messages, "now")).unwrap();
    assert!(Gemini.identify(Path::new("/chats/session-1.json"), &records.join("\n")).is_some());
    assert_eq!(
        read_lines(&records.join("\n"), &mut Memory::default()),
        [
            "skipped header",
            "prompt: Read a",
            "context: gemini-2.5-flash",
            "reply: Line 1\nLine 2",
            r#"call read_file: Read { path: "a" }"#,
            "result: Succeeded: hi\nho",
            "tokens: 6 2 4",
        ]
    );
}

#[test]
fn the_records_of_a_longer_document_begin_with_the_earlier_records() {
    let first = message("m1", "user", json!({ "content": "Read a" }));
    let second = message("m2", "gemini", json!({ "content": "I read." }));
    let mut grown = second.clone();
    grown["toolCalls"] = json!([{ "id": "c1", "name": "read_file", "args": {} }]);
    let stages = [vec![first.clone()], vec![first.clone(), second], vec![first, grown]];
    let mut earlier: Vec<String> = Vec::new();
    for (number, messages) in stages.iter().enumerate() {
        let document = document(messages, &number.to_string());
        let records = Gemini.records_of(&document).unwrap();
        assert!(records.starts_with(&earlier) && records.len() > earlier.len());
        assert!(records.iter().all(|record| !record.contains('\n')));
        assert_eq!(Gemini.records_of(&document[..document.len() - 2]), None);
        earlier = records;
    }
}

/// Reads real transcripts, which are not part of this repository. Each record must be read, or
/// counted as skipped.
#[test]
fn older_transcripts_are_read_completely() {
    let Some(corpus) = std::env::var_os("GRAPHITI_CORPUS") else { return };
    let mut folders = vec![Path::new(&corpus).join("gemini")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let records = Gemini.records_of(&fs::read_to_string(&path).unwrap()).unwrap();
            assert!(Gemini.identify(&path, &records.join("\n")).is_some());
            let read_all = || {
                let (mut memory, mut tally) = (Memory::default(), Tally::default());
                let mut items = Vec::new();
                for record in &records {
                    let mut note = |entry: Entry<'_>| items.push(format(&entry.item));
                    salvage::read_line(
                        &Gemini,
                        record.as_bytes(),
                        &mut memory,
                        &mut tally,
                        &mut note,
                    );
                }
                (items, tally)
            };
            let (items, tally) = read_all();
            let counted = tally.read + tally.skipped.values().sum::<u64>();
            assert_eq!((counted, tally.broken), (records.len() as u64, 0));
            assert_eq!(read_all(), (items, tally));
        }
    }
}
