//! Tests that omitted texts are in no message and no checkpoint, which contains the evidence for
//! summaries and facts.

use std::fs;

use serde_json::{Value, json};

use super::{Machine, messages, sources};
use crate::{
    capture::config::{Filter, Keep},
    store::Store,
};

const OWN: &str = "p/11111111-0000-4000-8000-000000000000.jsonl";
const SUB_AGENT: &str = "p/11111111-0000-4000-8000-000000000000/subagents/agent-a.jsonl";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn omitted_texts_are_in_no_call_no_output_and_no_evidence() {
    let whole = || Filter { tool_content: Keep::Full, ..Filter::default() };
    for (filter, omitted, kept) in [
        (whole(), "", "kappa lambda mu nu xi omicron pi"),
        (Filter { user_messages: Keep::Omit, ..whole() }, "kappa pi", "lambda mu nu xi omicron"),
        (Filter { agent_messages: Keep::Omit, ..whole() }, "lambda mu nu xi pi", "kappa omicron"),
    ] {
        let stored = stored(filter).await;
        let (omitted, kept) = (omitted.split_whitespace(), kept.split_whitespace());
        for (word, is_kept) in
            omitted.map(|word| (word, false)).chain(kept.map(|word| (word, true)))
        {
            assert_eq!(stored.contains(&format!("{word}-")), is_kept, "{word}: {stored}");
        }
    }
}

/// Returns the messages and the checkpoints of a session with questions, answers, a sub-agent and a
/// command.
async fn stored(filter: Filter) -> String {
    let machine = Machine { filter, ..Machine::new() };
    let question = json!({ "questions": [{ "question": "lambda-?", "options": [] }] });
    let task = json!({ "description": "mu-", "prompt": "find nu-", "subagent_type": "Explore" });
    let calls = [
        ("AskUserQuestion", question, "User has answered: \"lambda-?\"=\"pi-\""),
        ("Task", task, "The work xi- is done, and the report describes it"),
        ("Bash", json!({ "command": "ls" }), "omicron-.txt"),
    ];
    let mut lines = vec![user(&json!("kappa-"))];
    for (number, (tool, input, output)) in calls.into_iter().enumerate() {
        let id = format!("t{number}");
        let call = json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]);
        lines.push(json!({ "type": "assistant", "message": { "id": id, "content": call } }));
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": output }]);
        lines.push(user(&result));
    }
    let mut given = user(&json!("find nu-"));
    given["isSidechain"] = json!(true);
    let run = machine.start();
    for (path, lines) in [(OWN, lines), (SUB_AGENT, vec![given])] {
        let path = machine.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let lines = lines.iter().map(|line| format!("{line}\n"));
        fs::write(&path, lines.collect::<String>()).unwrap();
        run.announce(&[path]).await;
        run.settle().await;
    }
    let store = run.stop().await;
    sources(store.as_ref()).iter().map(|source| text(store.as_ref(), source)).collect()
}

fn user(content: &Value) -> Value {
    json!({ "type": "user", "cwd": "/app", "message": { "role": "user", "content": content } })
}

fn text(store: &dyn Store, source: &crate::store::Source) -> String {
    let texts = messages(store, source).into_iter().map(|message| message.text);
    let checkpoint = store.checkpoint(source.key).unwrap().unwrap_or_default();
    texts.collect::<Vec<_>>().join("\n") + &String::from_utf8_lossy(&checkpoint)
}
