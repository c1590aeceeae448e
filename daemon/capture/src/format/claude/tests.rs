use serde_json::{Value, json};

use super::*;
use crate::model::transcript::Outcome;

/// Formats the content of the records.
fn read(records: &[Value]) -> Vec<String> {
    read_file(Path::new("/home/ada/.claude/projects/-app/3f0c1f9e.jsonl"), records)
}

fn read_file(path: &Path, records: &[Value]) -> Vec<String> {
    let mut memory = Claude.memory_of(path);
    let mut formatted = Vec::new();
    for record in records {
        let mut emit = |entry: Entry<'_>| {
            let names = entry.caller.into_iter().chain(entry.sub_agent);
            let who: String = names.map(|name| format!("{name} ")).collect();
            formatted.push(match entry.item {
                Item::Prompt(text) => format!("{who}prompt: {text}"),
                Item::Reply { text, .. } => format!("{who}reply: {text}"),
                Item::Call(call) => format!("{who}call: {}", call.tool),
                Item::Result(result) => format!("{who}result: {}", result.content.decode(99)),
                Item::TaskEnded(ended) => format!("{who}ended {}: {}", ended.task, ended.text),
                Item::ShellOutput(text) => format!("{who}shell: {}", text.trim()),
                Item::Recap { text, .. } => format!("{who}recap: {text}"),
                Item::Answer { answer, .. } => format!("{who}answer: {answer}"),
                Item::Interrupted => format!("{who}interrupted"),
                _ => return,
            });
        };
        Claude.read(&record.to_string(), &mut memory, &mut emit).unwrap();
    }
    formatted
}

fn user(text: &str) -> Value {
    json!({ "type": "user", "message": { "content": text } })
}

fn reply(text: &str) -> Value {
    json!({ "type": "assistant", "message": { "content": text } })
}

fn queue(operation: &str, content: &str) -> Value {
    let content = (!content.is_empty()).then_some(content);
    json!({ "type": "queue-operation", "operation": operation, "content": content })
}

fn attached(text: &str) -> Value {
    json!({ "type": "attachment", "attachment": { "type": "queued_command", "prompt": text } })
}

#[test]
fn a_summary_of_a_compaction_is_no_prompt_also_without_its_mark() {
    let text = "This session is being continued from a previous conversation that ran out of \
                context. The conversation is summarized below:\n1. Request: fix it";
    let mut marked = user("Continued.");
    marked["isCompactSummary"] = json!(true);
    let block =
        json!({ "type": "user", "message": { "content": [{ "type": "text", "text": text }] } });
    let about = user("Is this session being continued from a previous conversation?");
    assert_eq!(
        read(&[marked, user(text), block, about]),
        [
            "recap: Continued.".to_owned(),
            format!("recap: {text}"),
            format!("recap: {text}"),
            "prompt: Is this session being continued from a previous conversation?".to_owned(),
        ]
    );
}

#[test]
fn a_file_that_begins_with_a_new_type_of_record_is_read() {
    let id = "3f0c1f9e-0000-4000-8000-000000000001";
    let path = PathBuf::from(format!("/home/ada/.claude/projects/-app/{id}.jsonl"));
    let prompt = user("Fix it").to_string();
    for first in ["agent-setting", "worktree-state", "a-type-of-tomorrow"] {
        let head = format!("{}\n{prompt}\n", json!({ "type": first, "sessionId": id }));
        let identity = Claude.identify(&path, &head).map(|found| found.session);
        assert_eq!(identity.as_deref(), Some(id), "{first}");
    }
    let foreign = [
        json!({ "type": "started" }).to_string(),
        format!("{}\n{prompt}", json!({ "sessionId": id, "projectHash": "1" })),
    ];
    for head in foreign {
        assert!(Claude.identify(&path, &head).is_none(), "{head}");
    }
}

#[test]
fn agents_of_the_program_are_no_sub_agents_of_the_session() {
    let identify = |name: &str| {
        let folder = "/home/ada/.claude/projects/-app/3f0c1f9e/subagents";
        let path = PathBuf::from(format!("{folder}/agent-{name}.jsonl"));
        Claude.identify(&path, &user("Go").to_string()).is_some()
    };
    assert!(identify("a1b2c3d4"));
    for own in ["acompact-1f", "aprompt_suggestion-1f", "aside_question-1f"] {
        assert!(!identify(own), "{own}");
    }
}

#[test]
fn of_a_sub_agent_in_the_sessions_file_only_calls_and_results_are_read() {
    let own_file = Path::new("/home/ada/.claude/projects/-app/3f0c1f9e.jsonl");
    let sub_agents_file = Path::new("/home/ada/.claude/projects/-app/agent-1f.jsonl");
    let mut records = [
        user("Compare the caches."),
        reply("I decided to use ripgrep instead of grep."),
        json!({ "type": "assistant", "message": { "content": [
            { "type": "tool_use", "id": "c1", "name": "Bash", "input": { "command": "rg cache" } }
        ] } }),
    ];
    records.iter_mut().for_each(|record| record["isSidechain"] = json!(true));
    assert_eq!(read_file(own_file, &records), ["sidechain call: Bash"]);
    assert_eq!(
        read_file(sub_agents_file, &records),
        ["reply: I decided to use ripgrep instead of grep.", "call: Bash"]
    );
}

#[test]
fn the_users_words_to_a_sub_agent_in_the_sessions_file_are_read() {
    let result = |is_error: bool, text: &str| {
        let block = json!({
            "type": "tool_result", "tool_use_id": "c", "is_error": is_error, "content": text,
        });
        json!({ "type": "user", "message": { "content": [block] } })
    };
    let refusal = "The user doesn't want to proceed. To tell you how to proceed, the user \
                   said:\nuse pnpm instead";
    let mut answered = result(false, "Answered");
    answered["toolUseResult"] = json!({ "questions": [], "answers": { "Which?": "pnpm" } });
    let mut records = [
        result(true, refusal),
        answered,
        user("[Request interrupted by user]"),
        user("Compare the caches."),
        result(true, "The user said: file not found"),
        user("<system-reminder>[Request interrupted by user]</system-reminder>"),
    ];
    let progress = {
        let message = &records[0];
        let data = json!({ "type": "agent_progress", "agentId": "a", "message": message });
        json!({ "type": "progress", "parentToolUseID": "t", "data": data })
    };
    records.iter_mut().for_each(|record| record["isSidechain"] = json!(true));
    let found = read(&records);
    let wanted = ["prompt: use pnpm instead", "answer: pnpm", "interrupted"];
    let words: Vec<&String> = found.iter().filter(|item| !item.contains(" result: ")).collect();
    assert_eq!(words, wanted);
    // The sub-agent's own file contains the same words.
    assert_eq!(read(&[progress]).len(), 1);
}

#[test]
fn a_call_that_nobody_permitted_was_not_refused_by_the_user() {
    let outcome = |text: &str| {
        let mut outcomes = Vec::new();
        let record = json!({ "type": "user", "message": { "content": [
            { "type": "tool_result", "tool_use_id": "c", "is_error": true, "content": text }
        ] } });
        let mut emit = |entry: Entry<'_>| {
            if let Item::Result(result) = entry.item {
                outcomes.push(result.outcome);
            }
        };
        Claude.read(&record.to_string(), &mut Memory::default(), &mut emit).unwrap();
        outcomes.remove(0)
    };
    for answer in [
        "Claude requested permissions to use WebSearch, but you haven't granted it yet.",
        "This command requires approval",
        "Permission for this action was denied by the Claude Code auto mode classifier.",
    ] {
        assert_eq!(outcome(answer), Outcome::Interrupted, "{answer}");
    }
    assert_eq!(outcome("The user doesn't want to proceed."), Outcome::Rejected);
    assert_eq!(outcome("open /etc/shadow: Permission denied"), Outcome::Failed(None));
}

#[test]
fn queued_prompts_of_all_forms_are_read_without_a_record() {
    let blocks = json!([{ "type": "text", "text": "use pnpm instead of npm" }]);
    let long = format!("the log:\n{}\nfix it", "line\n".repeat(5_000));
    for (queued, wanted) in [
        (blocks, "prompt: use pnpm instead of npm"),
        (json!("/home/ada/log.txt shows the crash"), "prompt: /home/ada/log.txt shows the crash"),
        (json!("<div> is not centred"), "prompt: <div> is not centred"),
        (json!(long), "prompt: the log:"),
    ] {
        let enqueue =
            json!({ "type": "queue-operation", "operation": "enqueue", "content": queued });
        let found = read(&[enqueue, queue("remove", ""), reply("Going on.")]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with(wanted), "{found:?}");
    }
    let reminded = "<system-reminder>Be brief</system-reminder>use <b>pnpm</b>";
    let found = read(&[queue("enqueue", reminded), queue("remove", ""), reply("Going on.")]);
    assert_eq!(found, ["prompt: use <b>pnpm</b>", "reply: Going on."]);
    let reminder = "<system-reminder>Be brief</system-reminder>\n";
    for notice in ["/clear", "/my-plugin:review now", "<task-notification>\n<task-id>1", reminder] {
        let found = read(&[queue("enqueue", notice), queue("remove", ""), reply("Going on.")]);
        assert_eq!(found, ["reply: Going on."]);
    }
}

#[test]
fn a_queued_prompt_is_read_once() {
    let (queued, goes_on) = ("use the other file", reply("Going on."));
    let enqueue = || queue("enqueue", queued);
    let wanted = ["prompt: use the other file", "reply: Going on."];
    for records in [
        // The prompt starts the next turn.
        vec![enqueue(), queue("dequeue", ""), user(queued), goes_on.clone()],
        // The prompt is delivered within the turn, with a record and without one.
        vec![enqueue(), queue("remove", ""), attached(queued), goes_on.clone()],
        vec![enqueue(), queue("remove", ""), goes_on.clone()],
    ] {
        assert_eq!(read(&records), wanted);
    }
    // The notice is delivered within the turn, and the prompt starts the next turn.
    let notice = queue("enqueue", "<task-notification>x</task-notification>");
    let records =
        [enqueue(), notice, queue("remove", ""), goes_on, queue("dequeue", ""), user(queued)];
    assert_eq!(read(&records), wanted);
    // A notice waits, and a prompt that is typed later is delivered first.
    for tag in ["task-notification", "system-reminder"] {
        let notice = queue("enqueue", &format!("<{tag}>x</{tag}>"));
        let records = [notice, enqueue(), queue("remove", ""), reply("Going on.")];
        assert_eq!(read(&records), wanted);
    }
}

#[test]
fn withdrawn_and_unsent_texts_are_not_prompts() {
    let records = [
        queue("enqueue", "wait"),
        queue("popAll", "wait"),
        queue("enqueue", "{\"task_id\":\"a\"}"),
        queue("remove", ""),
        queue("enqueue", "never sent"),
        reply("Done."),
    ];
    assert_eq!(read(&records), ["reply: Done."]);
    let typed_twice = [user("continue"), reply("a"), user("continue")];
    assert_eq!(read(&typed_twice).len(), 3);
}

#[test]
fn a_warm_up_of_the_cache_is_not_read() {
    let path = Path::new("/home/ada/.claude/projects/-app/agent-1f.jsonl");
    let read = |records: &[Value]| read_file(path, records);
    let side = |parent: &str, id: &str, mut record: Value| {
        record["isSidechain"] = json!(true);
        (record["parentUuid"], record["uuid"]) = (json!(parent), json!(id));
        record
    };
    let result = json!([{ "type": "tool_result", "tool_use_id": "t", "content": "a.rs" }]);
    let result = json!({ "type": "user", "message": { "content": result } });
    let warm_up = [
        side("", "w1", user("Warmup")),
        side("w1", "w2", reply("Ready.")),
        side("w2", "w3", result),
    ];
    assert_eq!(read(&warm_up), [""; 0]);
    let work = [side("", "a1", user("Find the tests")), side("a1", "a2", reply("Found."))];
    let alone = read(&work);
    assert_eq!(alone.last().unwrap(), "reply: Found.");
    assert_eq!(read(&[&warm_up[..], &work].concat()), alone);
    // The records of two agents in one file.
    assert_eq!(read(&[&work[..1], &warm_up, &work[1..]].concat()), alone);
    assert_eq!(read(&[user("Warmup"), reply("Ready.")]), ["prompt: Warmup", "reply: Ready."]);
}

#[test]
fn text_in_a_refusal_is_a_prompt() {
    let long = "no ".repeat(2_000);
    for (words, wanted) in [
        ("To tell you how to proceed, the user said:\nuse pnpm", vec!["use pnpm"]),
        (
            "The user provided the following reason for the rejection:  use pnpm\n\nNote: The user's next message may differ.",
            vec!["use pnpm"],
        ),
        (&format!("To tell you how to proceed, the user said:\n{long}"), vec![long.trim()]),
        ("STOP what you are doing and wait for the user.", vec![]),
        (
            "To tell you how to proceed, the user said:\nThe user wants to clarify these questions.",
            vec![],
        ),
    ] {
        let content = format!("The user doesn't want to proceed with this tool use. {words}");
        let result = json!({
            "type": "tool_result", "tool_use_id": "a", "is_error": true, "content": content,
        });
        let record = json!({ "type": "user", "message": { "content": [result] } });
        let wanted: Vec<String> =
            wanted.into_iter().map(|words| format!("prompt: {words}")).collect();
        assert_eq!(read(&[record])[1..], wanted, "{words}");
    }
}

#[test]
fn calls_of_a_sub_agent_are_read_from_the_file_of_its_session() {
    let progress = |kind: &str, block: Value| {
        let message = json!({ "type": kind, "message": { "content": [block] } });
        let data = json!({ "type": "agent_progress", "agentId": "a1", "message": message });
        json!({ "type": "progress", "uuid": "x", "parentToolUseID": "t9", "data": data })
    };
    let call = json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": "ok" });
    let records = [
        progress("user", json!({ "type": "text", "text": "Look around" })),
        progress("assistant", json!({ "type": "text", "text": "I look" })),
        progress("assistant", call),
        progress("user", result),
        json!({ "type": "progress", "data": { "type": "bash_progress" } }),
    ];
    assert_eq!(read(&records), ["t9 a1 call: Bash", "t9 a1 result: ok"]);
}

#[test]
fn tasks_in_the_background_report_their_end() {
    let notice = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n\
        <result>It <b>holds</b> </result> tags</result>\n</task-notification>";
    let records = [user(notice), attached(notice)];
    let wanted = "ended a1: It <b>holds</b> </result> tags";
    assert_eq!(read(&records), [wanted, wanted]);
    let printed = user("<bash-stdout>Switched</bash-stdout><bash-stderr></bash-stderr>");
    assert_eq!(read(&[printed]), ["shell: Switched"]);
}
