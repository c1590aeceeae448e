use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{
    format::{FORMATS, Format, Identity, Memory, RecordVerdict, codex::Codex},
    model::transcript::{Action, Entry, Item, Tokens},
    records::Storage,
    salvage,
    store::Tally,
};

const THREAD: &str = "01a20634-47e9-7ce1-b65f-6f1bf35708c0";
const PARENT: &str = "01a20633-0000-7000-8000-000000000000";
const OWN_TURN: &str = "01a20635-0000-7000-8000-000000000000";
const PARENTS_TURN: &str = "01a20632-0000-7000-8000-000000000000";

#[test]
fn a_prompt_in_history_and_event_is_read_once() {
    let (history, event) = (user(&["Fix the login"]), user_event("Fix the login"));
    let item = json!({ "type": "UserMessage", "content": [{ "text": "Fix the login" }] });
    let paginated = event_msg("item_completed", json!({ "item": item }));
    let wanted = ["prompt: Fix the login"];
    for records in [
        vec![history.clone(), event.clone()],
        vec![event.clone(), history.clone()],
        vec![history.clone(), paginated],
        vec![history.clone()],
        vec![event.clone()],
    ] {
        assert_eq!(read(&records), wanted);
    }
    let typed_twice = [history.clone(), event.clone(), history, event];
    assert_eq!(read(&typed_twice).len(), 2);
    let reply = event_msg("agent_message", json!({ "message": "Done." }));
    assert_eq!(read(&[reply, assistant("Done.")]), ["reply: Done."]);
}

#[test]
fn a_review_is_read_as_its_explanation_and_findings() {
    let location =
        json!({ "absolute_file_path": "/p/a.rs", "line_range": { "start": 7, "end": 9 } });
    let finding = json!({
        "title": "[P1] Close the file", "body": "It stays open.\nEach run leaks one.",
        "confidence_score": 0.9, "priority": 1, "code_location": location,
    });
    let review = |findings: &[Value]| {
        json!({
            "findings": findings, "overall_correctness": "patch is incorrect",
            "overall_explanation": "One file leaks.", "overall_confidence_score": 0.9,
        })
    };
    let reply = |review: Value| read(&[assistant(&serde_json::to_string_pretty(&review).unwrap())]);
    let wanted = "reply: Verdict of the review: patch is incorrect, 1 finding. One file leaks.\n\n## Findings\n\n\
                  - **[P1] Close the file** (`/p/a.rs:7`): It stays open.\n  Each run leaks one.";
    assert_eq!(reply(review(&[finding])), [wanted]);
    let without = "reply: Verdict of the review: patch is incorrect, no findings. One file leaks.";
    assert_eq!(reply(review(&[])), [without]);
    assert_eq!(reply(json!({ "findings": 3 })).len(), 1);
}

#[test]
fn text_that_the_program_adds_is_not_a_prompt() {
    for text in [
        "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>",
        "<user_instructions>\nBe brief.\n</user_instructions>",
        "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
        "<skill>\n<name>x</name>\n</skill>",
        "<hook_prompt hook_run_id=\"1\">Go on</hook_prompt>",
        "<permissions instructions>\nAsk.\n</permissions instructions>",
    ] {
        assert_eq!(read(&[user(&[text])]), [""; 0], "{text}");
    }
    assert_eq!(read(&[message("developer", &["Notes of earlier sessions"])]), [""; 0]);
    let mixed = user(&["<environment_context>x</environment_context>", "Fix it"]);
    assert_eq!(read(&[mixed]), ["prompt: Fix it"]);
    let typed = "<T> is missing in `Vec<T>`";
    assert_eq!(read(&[user(&[typed])]), [format!("prompt: {typed}")]);
    let origins = json!({ "content_item_kinds": ["hooks.additional_context", "user.text"] });
    let mut named = user(&["Tests are slow", "Make them fast"]);
    named["payload"]["internal_chat_message_metadata_passthrough"] = origins;
    assert_eq!(read(&[named]), ["prompt: Make them fast"]);
}

#[test]
fn a_tagged_text_that_the_user_typed_is_read_from_the_event() {
    let typed = "<task>Fix it</task>";
    assert_eq!(read(&[user(&[typed]), user_event(typed)]), [format!("prompt: {typed}")]);
}

#[test]
fn editor_state_and_images_are_removed_from_prompts() {
    let text = "# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nFix it\n";
    assert_eq!(read(&[user(&[text]), user_event(text)]), ["prompt: Fix it"]);
    let parts = ["<image name=[Image #1]>", "</image>", "What is this?"];
    assert_eq!(read(&[user(&parts), user_event("What is this?")]), ["prompt: What is this?"]);
}

#[test]
fn commands_are_read_in_every_form() {
    for (name, arguments, wanted) in [
        ("exec_command", json!({ "cmd": "cargo test", "workdir": "/p" }), "cargo test"),
        ("exec_command", json!({ "cmd": "ls", "workdir": "/p/sub dir" }), "cd '/p/sub dir' && ls"),
        ("exec_command", json!({ "cmd": "bash -lc 'npm test'" }), "npm test"),
        ("shell", json!({ "command": ["bash", "-lc", "npm test | tail"] }), "npm test | tail"),
        ("shell", json!({ "command": ["git", "commit", "-m", "a b"] }), "git commit -m 'a b'"),
        ("shell_command", json!({ "command": "make" }), "make"),
    ] {
        let records = [turn(OWN_TURN), call(name, "c", arguments)];
        assert_eq!(actions(&records), [format!("run {wanted}")]);
    }
    let action = json!({ "type": "exec", "command": ["/bin/sh", "-c", "id"] });
    let local = json!({ "type": "local_shell_call", "call_id": "c", "action": action });
    assert_eq!(actions(&[response(local)]), ["run id"]);
}

#[test]
fn patches_are_changes_in_every_form() {
    let patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch";
    let custom = json!({ "type": "custom_tool_call", "call_id": "c", "name": "apply_patch",
        "input": patch });
    let heredoc = format!("apply_patch <<'EOF'\n{patch}\nEOF");
    for record in [
        response(custom),
        call("apply_patch", "c", json!({ "input": patch })),
        call("exec_command", "c", json!({ "cmd": heredoc })),
        call("shell", "c", json!({ "command": ["bash", "-lc", heredoc] })),
        call("shell", "c", json!({ "command": ["apply_patch", patch] })),
    ] {
        assert_eq!(
            actions(std::slice::from_ref(&record)),
            ["change a.py: [x = 1 > x = 2]"],
            "{record}"
        );
    }
    let in_other_folder = call("exec_command", "c", json!({ "cmd": heredoc, "workdir": "/q" }));
    assert_eq!(actions(&[in_other_folder]), ["change /q/a.py: [x = 1 > x = 2]"]);
}

#[test]
fn the_calls_in_scripts_are_read_with_their_results() {
    let script = |id: &str, input: &str| {
        let payload =
            json!({ "type": "custom_tool_call", "call_id": id, "name": "exec", "input": input });
        response(payload)
    };
    let printed = |id: &str, texts: &[&str]| {
        let blocks: Vec<Value> =
            texts.iter().map(|text| json!({ "type": "input_text", "text": text })).collect();
        response(json!({ "type": "custom_tool_call_output", "call_id": id, "output": blocks }))
    };
    let done = "Script completed\nWall time 0.4 seconds\nOutput:\n";
    let both = "const r = await Promise.all([tools.exec_command({cmd: \"cargo build\"}), \
                tools.exec_command({cmd: 'cargo test', workdir: '/q'})]); r.forEach(text);";
    let patch = "await tools.apply_patch(`*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n\
                 *** End Patch`);";
    let records = [
        script("1", both),
        printed(
            "1",
            &[
                done,
                r#"{"exit_code":0,"output":"built"}"#,
                r#"{"exit_code":101,"output":"1 failed"}"#,
            ],
        ),
        script("2", patch),
        printed(
            "2",
            &[
                "Script failed\nWall time 0.1 seconds\nOutput:\n",
                "Script error:\napply_patch verification failed: no such lines",
            ],
        ),
        script("3", "const r = await tools.exec_command({cmd: 'make'}); text(r);"),
        printed("3", &["Script running with cell ID 5\nWall time 10.0 seconds\nOutput:\n"]),
        call("wait", "4", json!({ "cell_id": "5" })),
        output("4", &format!("{done}{}", r#"{"session_id":9,"output":"slow"}"#)),
        script("5", "const w = await tools.write_stdin({session_id: 9, chars: ''}); text(w);"),
        printed("5", &[done, r#"{"exit_code":2,"output":" fails"}"#]),
        script("6", "const x = 1;"),
        printed("6", &[done]),
    ];
    assert_eq!(
        actions(&records),
        [
            "run cargo build",
            "run cd /q && cargo test",
            "change a.py: [x = 1 > x = 2]",
            "run make",
            "Other"
        ]
    );
    let results: Vec<String> =
        read(&records).into_iter().filter(|item| item.starts_with("result")).collect();
    assert_eq!(
        results,
        [
            "result 1 Succeeded: built",
            "result 1#2 Failed(Some(101)): 1 failed",
            "result 2 Failed(None): Script error:\napply_patch verification failed: no such lines",
            "result 3 Failed(Some(2)): slow fails",
            "result 6 Succeeded: Script completed\nWall time 0.4 seconds\nOutput:\n",
        ]
    );
}

#[test]
fn plans_questions_and_sub_agents_are_read() {
    let plan = json!({ "plan": [{ "step": "Look", "status": "completed" },
        { "step": "Fix", "status": "in_progress" }] });
    let question = json!({ "id": "db", "question": "Which one?", "header": "Choice",
        "options": [{ "label": "SQLite" }] });
    let answered = r#"{"answers":{"db":{"answers":["SQLite"]}}}"#;
    let records = [
        call("update_plan", "1", plan),
        call("request_user_input", "2", json!({ "questions": [question] })),
        output("2", answered),
        call("spawn_agent", "3", json!({ "message": "Find the bug", "agent_type": "explorer" })),
        response(json!({ "type": "web_search_call", "action": { "query": "sled" } })),
    ];
    assert_eq!(
        actions(&records),
        [
            "plan Look Completed, Fix InProgress",
            "ask Which one? [SQLite]",
            "delegate explorer: Find the bug",
            "fetch sled",
        ]
    );
    assert!(read(&records).contains(&"answer: Which one? SQLite".to_owned()));
}

#[test]
fn the_name_of_an_mcp_tool_contains_its_server() {
    let named = |namespace: &str, name: &str| {
        let mut record = call(name, "c", json!({}));
        record["payload"]["namespace"] = json!(namespace);
        read(&[record])
    };
    assert_eq!(named("mcp__graphiti", "get_handoff"), ["call: mcp__graphiti__get_handoff"]);
    assert_eq!(
        named("mcp__codex_apps__github", "_fetch"),
        ["call: mcp__codex_apps__github__fetch"]
    );
    assert_eq!(named("multi_agent_v1", "wait_agent"), ["call: wait_agent"]);
}

#[test]
fn the_outcome_is_read_from_every_form_of_output() {
    let header = "Chunk ID: a\nWall time: 0.1 seconds\n";
    for (text, wanted) in [
        (format!("{header}Process exited with code 0\nOutput:\nok"), "Succeeded: ok"),
        (format!("{header}Process exited with code 2\nOutput:\nno\n"), "Failed(Some(2)): no\n"),
        (
            format!(
                "Command: /bin/zsh -lc 'echo\nExit code: 7\n'\n{header}Process exited with code 1\nOutput:\nOutput:\n"
            ),
            "Failed(Some(1)): Output:\n",
        ),
        ("Exit code: 3\nWall time: 0 seconds\nOutput:\nbad".to_owned(), "Failed(Some(3)): bad"),
        (
            "Wall time: 0.0 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nM a"
                .to_owned(),
            "Succeeded: M a",
        ),
        (r#"{"output":"x","metadata":{"exit_code":4}}"#.to_owned(), "Failed(Some(4)): x"),
        (format!("{header}Output:\nTotal output lines: 900\n\nfirst"), "Succeeded: first"),
        ("Wall time: 0.1 seconds\naborted by user".to_owned(), "Interrupted: aborted by user"),
        ("aborted by user after 2.5s".to_owned(), "Interrupted: aborted by user after 2.5s"),
        ("exec command rejected by user".to_owned(), "Rejected: exec command rejected by user"),
        (
            "exec_command failed for `x`: Denied { exit_code: 128, stdout".to_owned(),
            "Failed(Some(128)): exec_command failed for `x`: Denied { exit_code: 128, stdout",
        ),
        (
            "request_user_input is unavailable in Default mode".to_owned(),
            "Failed(None): request_user_input is unavailable in Default mode",
        ),
        ("Plan updated".to_owned(), "Succeeded: Plan updated"),
    ] {
        assert_eq!(read(&[output("c", &text)]), [format!("result c {wanted}")]);
    }
    let mut listed = output("c", "");
    listed["payload"]["output"] = json!([{ "type": "input_text", "text": "seen" }]);
    assert_eq!(read(&[listed]), ["result c Succeeded: seen"]);
}

#[test]
fn an_event_reports_that_a_call_failed() {
    let failed = json!({ "call_id": "c", "result": { "Ok": { "content": [], "isError": true } } });
    let item = json!({ "type": "CommandExecution", "id": "d", "status": "declined" });
    let records = [
        event_msg("mcp_tool_call_end", failed),
        output("c", "Wall time: 1 seconds\nOutput:\n{}"),
        event_msg("item_completed", json!({ "item": item })),
        output("d", "no"),
    ];
    assert_eq!(read(&records), ["result c Failed(None): {}", "result d Rejected: no"]);
}

#[test]
fn the_result_of_a_running_command_is_its_complete_output() {
    let started = [
        call("exec_command", "c", json!({ "cmd": "cargo test" })),
        output("c", &running(7)),
        call("write_stdin", "p1", json!({ "session_id": 7, "chars": "" })),
        output("p1", &running(7)),
        call("write_stdin", "p2", json!({ "session_id": 7 })),
    ];
    let ended =
        output("p2", "Wall time: 1.0 seconds\nProcess exited with code 1\nOutput:\n1 failed");
    let polled = [&started[..], std::slice::from_ref(&ended)].concat();
    let joined = "result c Failed(Some(1)): test atest a1 failed";
    assert_eq!(read(&polled), ["call: exec_command", joined]);
    // An event contains the complete output.
    let whole = json!({ "call_id": "c", "exit_code": 1, "aggregated_output": "test a\n1 failed" });
    let with_event = [&started[..], &[event_msg("exec_command_end", whole)], &[ended]].concat();
    let wanted = ["call: exec_command", "result c Failed(Some(1)): test a\n1 failed"];
    assert_eq!(read(&with_event), wanted);
    // The command ended before its first output was recorded.
    let over = event_msg("exec_command_end", json!({ "call_id": "c", "exit_code": 0 }));
    assert_eq!(read(&[over, started[1].clone()]), ["result c Succeeded: test a"]);
    let typed = [
        &started[..2],
        &[call("write_stdin", "t", json!({ "session_id": 7, "chars": "y\n" }))],
        &[output("t", &running(7))],
    ]
    .concat();
    let wanted = ["call: exec_command", "call: write_stdin", "result t Succeeded: test a"];
    assert_eq!(read(&typed), wanted);
}

#[test]
fn a_sub_agents_report_is_the_result_of_the_call_that_started_it() {
    let spawn = call("spawn_agent", "s", json!({ "message": "Look" }));
    let started = output("s", r#"{"agent_id":"a1","nickname":"Ohm"}"#);
    let waited = output("w", r#"{"status":{"a1":{"completed":"No bug."}},"timed_out":false}"#);
    let notice = |status: &str| {
        let notice = format!(r#"{{"agent_path":"a1","status":{status}}}"#);
        user(&[&format!("<subagent_notification>\n{notice}\n</subagent_notification>")])
    };
    let completed = notice(r#"{"completed":"No bug."}"#);
    let result = "result s Succeeded: No bug.";
    for (records, results) in [
        (vec![waited, completed.clone()], vec![result]),
        (vec![completed], vec![result]),
        (vec![notice(r#"{"errored":"no"}"#)], vec!["result s Failed(None): no"]),
        (vec![notice(r#""shutdown""#)], vec!["result s Interrupted: "]),
        (vec![notice(r#""running""#)], vec![]),
    ] {
        let records = [vec![spawn.clone(), started.clone()], records].concat();
        let of_start = read(&records).into_iter().filter(|line| line.starts_with("result s"));
        assert_eq!(of_start.collect::<Vec<_>>(), results);
    }
    let refused = output("s", "collab spawn failed: agent thread limit reached (max 6)");
    assert!(read(&[spawn, refused])[1].starts_with("result s Failed(None)"));
}

#[test]
fn tokens_of_each_response_are_counted_once() {
    let counts = |input: u64, cached: u64, output: u64| json!({ "input_tokens": input, "cached_input_tokens": cached, "output_tokens": output });
    let count = |total: &Value, last: &Value| {
        let info = json!({ "total_token_usage": total, "last_token_usage": last });
        event_msg("token_count", json!({ "info": info }))
    };
    let (first, second) = (counts(100, 60, 5), counts(50, 10, 1));
    let total = counts(150, 70, 6);
    let record = json!({ "type": "token_usage_record",
        "payload": { "usage": second, "thread_token_usage": total } });
    let records = [
        count(&first, &first),
        count(&first, &first),
        event_msg("token_count", json!({ "info": null })),
        record,
        count(&total, &second),
        // The totals began at zero again.
        count(&first, &first),
    ];
    let mut used = Vec::new();
    entries(&records, &mut |entry| {
        if let Item::Usage { tokens, .. } = entry.item {
            used.push(tokens);
        }
    });
    let one = Tokens { input: 40, output: 5, cache_read: 60, cache_write: 0 };
    assert_eq!(used, [one, Tokens { input: 40, output: 1, cache_read: 10, cache_write: 0 }, one]);
}

#[test]
fn compactions_interruptions_and_titles_are_read() {
    let introduction = "Another language model started to solve this problem and produced it:";
    let records = [
        json!({ "type": "compacted", "payload": { "message": format!("{introduction}\nDone: a.") } }),
        json!({ "type": "compacted", "payload": { "message": "", "replacement_history": [] } }),
        event_msg("turn_aborted", json!({ "reason": "interrupted" })),
        event_msg("turn_aborted", json!({ "reason": "replaced" })),
        event_msg("thread_name_updated", json!({ "thread_name": "Pull main" })),
        event_msg("error", json!({ "message": "overloaded" })),
        user(&[
            "<user_shell_command>\n<command>\ngit status\n</command>\n<result>\nExit code: 0\nOutput:\nclean\n</result>\n</user_shell_command>",
        ]),
    ];
    let wanted = [
        "boundary",
        "recap: Done: a.",
        "boundary",
        "interrupted",
        "title: Pull main",
        "error: overloaded",
        "command: ! git status",
        "shell: clean",
    ];
    assert_eq!(read(&records), wanted);
    let mut summary = assistant("Done: a.");
    summary["metadata"] = json!({ "compaction_output": true });
    assert_eq!(read(&[summary]), [""; 0]);
}

#[test]
fn records_copied_from_the_parent_are_skipped() {
    let source = json!({ "subagent": { "thread_spawn": { "parent_thread_id": PARENT } } });
    let own = meta(json!({ "id": THREAD, "source": source, "cwd": "/p" }));
    let records = [
        own,
        meta(json!({ "id": PARENT, "source": "cli", "cwd": "/other" })),
        turn(PARENTS_TURN),
        user(&["The user's words"]),
        assistant("The parent's words"),
        event_msg("task_started", json!({ "turn_id": OWN_TURN })),
        user(&["Look at a.rs"]),
    ];
    assert_eq!(read(&records), ["context: /p", "instruction: Look at a.rs"]);
    let in_turn = |turn: &str, mut record: Value| {
        record["payload"]["internal_chat_message_metadata_passthrough"] =
            json!({ "turn_id": turn });
        record
    };
    let without_turns = [
        records[0].clone(),
        records[1].clone(),
        in_turn(PARENTS_TURN, user(&["The user's words"])),
        in_turn(OWN_TURN, assistant("No file has to change.")),
    ];
    assert_eq!(read(&without_turns), ["context: /p", "reply: No file has to change."]);
    let own = json!({ "id": THREAD, "session_id": PARENT, "parent_thread_id": PARENT,
        "subagent_history_start_ordinal": 2 });
    let mut records = [meta(own), user(&["Copied"]), user(&["Look"])];
    for (ordinal, record) in records.iter_mut().enumerate() {
        record["ordinal"] = json!(ordinal);
    }
    assert_eq!(read(&records), ["instruction: Look"]);
}

#[test]
fn a_forks_records_have_the_ids_of_the_original() {
    let ids = |records: &[Value]| {
        let mut ids = Vec::new();
        entries(records, &mut |entry| ids.extend(entry.uuid));
        ids
    };
    let original = meta(json!({ "id": PARENT, "source": "cli" }));
    let copied = [turn(PARENTS_TURN), user(&["Fix it"]), assistant("Done."), output("c", "ok")];
    let first = [std::slice::from_ref(&original), &copied[..]].concat();
    let fork = meta(json!({ "id": THREAD, "forked_from_id": PARENT, "source": "cli" }));
    let second = [&[fork, original], &copied[..], &[turn(OWN_TURN), user(&["Fix it"])]].concat();
    let (first, second) = (ids(&first), ids(&second));
    assert_eq!(first.len(), 3);
    assert_eq!(second[..3], first);
    assert!(!first.contains(&second[3]));
}

#[test]
fn a_search_without_an_id_has_no_record_id() {
    let search = |id: Option<&str>| {
        response(json!({ "type": "web_search_call", "id": id, "action": { "query": "sled" } }))
    };
    let mut ids = Vec::new();
    entries(&[search(None), search(Some("ws_1"))], &mut |entry| {
        if matches!(entry.item, Item::Call(_)) {
            ids.push(entry.uuid.is_some());
        }
    });
    assert_eq!(ids, [false, true]);
}

#[test]
fn a_rollout_is_identified_by_its_first_record() {
    let name =
        |id: &str| format!("/h/.codex/sessions/2026/11/23/rollout-2026-11-23T02-20-19-{id}.jsonl");
    let identity = |session: &str, sub_agent: Option<&str>| Identity {
        session: session.to_owned(),
        sub_agent: sub_agent.map(str::to_owned),
        directory: Some("/p".to_owned()),
    };
    let spawn = json!({ "subagent": { "thread_spawn": { "parent_thread_id": PARENT } } });
    for (payload, wanted) in [
        (json!({ "id": THREAD, "cwd": "/p", "source": "cli" }), identity(THREAD, None)),
        (json!({ "session_id": THREAD, "id": THREAD, "cwd": "/p" }), identity(THREAD, None)),
        (json!({ "id": THREAD, "forked_from_id": PARENT, "cwd": "/p" }), identity(THREAD, None)),
        (json!({ "id": THREAD, "cwd": "/p", "source": spawn }), identity(PARENT, Some(THREAD))),
        (
            json!({ "id": THREAD, "parent_thread_id": PARENT, "cwd": "/p",
                "source": { "subagent": "review" } }),
            identity(PARENT, Some(THREAD)),
        ),
        (
            json!({ "session_id": "s", "id": THREAD, "parent_thread_id": PARENT, "cwd": "/p" }),
            identity("s", Some(THREAD)),
        ),
    ] {
        let record = meta(payload).to_string();
        let path = name(THREAD);
        let path = Path::new(&path);
        assert!(Codex.claims(path));
        assert_eq!(Codex.identify(path, &record).as_ref(), Some(&wanted), "{record}");
        // Only the start of a long first record is read.
        let text = format!(r#""base_instructions":{{"text":"{}"#, "x".repeat(9));
        let cut = format!("{},{text}", &record[..record.len() - 2]);
        let found = Codex.identify(path, &cut).unwrap();
        assert_eq!((found.session, found.sub_agent), (wanted.session, wanted.sub_agent), "{cut}");
    }
    let oldest = json!({ "id": THREAD, "timestamp": "2025-05-07T17:24:21Z", "instructions": null });
    let path = name(THREAD);
    assert_eq!(Codex.identify(Path::new(&path), &oldest.to_string()).unwrap().session, THREAD);
    for path in ["/h/.codex/history.jsonl", "/h/.codex/sessions/rollout-x.jsonl", "/h/a.json"] {
        assert!(!Codex.claims(Path::new(path)), "{path}");
    }
    assert!(Codex.claims(Path::new(&format!("{}.zst", name(THREAD)))));
    let foreign = json!({ "type": "user", "message": { "content": "x" } }).to_string();
    assert_eq!(Codex.identify(Path::new(&path), &foreign), None);
}

#[test]
fn a_rollout_is_found_again_after_it_was_archived_or_compressed() {
    let name = format!("rollout-2026-11-03T02-20-19-{THREAD}.jsonl");
    let paths = ["sessions/2026/11/03", "archived_sessions"]
        .map(|folder| {
            ["", ".zst"].map(|end| PathBuf::from(format!("/h/.codex/{folder}/{name}{end}")))
        })
        .concat();
    for path in &paths {
        let mut others = paths.clone();
        others.retain(|other| other != path);
        let mut found = Codex.other_paths(path);
        found.sort_by_key(|found| others.iter().position(|other| other == found));
        assert_eq!(found, others);
    }
    let is_compressed = paths.iter().map(|path| Codex.storage(path) == Storage::Compressed);
    assert_eq!(is_compressed.collect::<Vec<_>>(), [false, true, false, true]);
    let in_backup = format!("/backup/{name}");
    let compressed = PathBuf::from(format!("{in_backup}.zst"));
    assert_eq!(Codex.other_paths(Path::new(&in_backup)), [compressed]);
}

#[test]
fn records_of_the_oldest_versions_have_no_envelope() {
    let records = [
        json!({ "id": THREAD, "timestamp": "2025-05-07T17:24:21Z", "instructions": null }),
        json!({ "record_type": "state" }),
        user(&["Fix it"])["payload"].clone(),
        call("shell", "c", json!({ "command": ["ls"] }))["payload"].clone(),
    ];
    assert_eq!(read(&records), ["prompt: Fix it", "call: shell"]);
}

/// Reads sessions that the real program wrote.
#[test]
fn sessions_of_the_newest_version_are_read() {
    for (name, sample, wanted) in SAMPLES {
        let path = format!("/h/.codex/sessions/2026/11/23/{name}.jsonl");
        let path = Path::new(&path);
        let formats = FORMATS.iter().filter(|format| format.identify(path, sample).is_some());
        assert_eq!(formats.map(|format| format.agent()).collect::<Vec<_>>(), ["codex"]);
        let records: Vec<Value> =
            sample.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read(&records).join("\n"), wanted.trim(), "{name}");
    }
}

const SAMPLES: [(&str, &str, &str); 3] = [
    (
        "rollout-2026-11-23T02-20-19-01a20634-47e9-7ce1-b65f-6f1bf35708c0",
        include_str!("samples/fix.jsonl"),
        include_str!("samples/fix.txt"),
    ),
    (
        "rollout-2026-11-23T02-21-06-01a20635-00c9-73c0-8906-e5408af1b702",
        include_str!("samples/killed.jsonl"),
        include_str!("samples/killed.txt"),
    ),
    (
        "rollout-2026-11-23T02-21-59-01a20635-cf52-7a72-9c11-32631333b8b5",
        include_str!("samples/sub_agent.jsonl"),
        include_str!("samples/sub_agent.txt"),
    ),
];

/// Reads recorded sessions of many versions, which are not part of this repository.
#[test]
fn recorded_rollouts_are_read_completely_and_repeatably() {
    let Some(corpus) = std::env::var_os("GRAPHITI_CORPUS") else { return };
    let mut folders = vec![Path::new(&corpus).join("codex")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let content = std::fs::read(&path).unwrap();
            let head = String::from_utf8_lossy(&content[..content.len().min(64 << 10)]);
            let formats = FORMATS.iter().filter(|format| format.identify(&path, &head).is_some());
            assert_eq!(formats.count(), 1, "{}", path.display());
            let (items, tally) = recorded(&content);
            assert!(items == recorded(&content).0, "{}", path.display());
            let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let counted = tally.read + tally.skipped.values().sum::<u64>() + tally.broken;
            assert!(counted >= lines.count() as u64, "{tally:?} in {}", path.display());
            for tag in ["<environment_context>", "<turn_aborted>", "<subagent_notification>"] {
                let prompt = format!("Prompt(\"{tag}");
                assert!(!items.iter().any(|item| item.starts_with(&prompt)), "{}", path.display());
            }
        }
    }
}

fn recorded(content: &[u8]) -> (Vec<String>, Tally) {
    let (mut memory, mut tally, mut items) = (Memory::default(), Tally::default(), Vec::new());
    for line in content.split(|byte| *byte == b'\n') {
        salvage::read_line(&Codex, line, &mut memory, &mut tally, &mut |entry| {
            if let Item::Result(result) = &entry.item {
                items.push(result.content.decode(1_000).into_owned());
            }
            items.push(format!("{:?}", entry.item));
        });
    }
    (items, tally)
}

/// Formats the content of the records.
fn read(records: &[Value]) -> Vec<String> {
    let mut content = Vec::new();
    entries(records, &mut |entry| {
        content.push(match entry.item {
            Item::Prompt(text) => format!("prompt: {text}"),
            Item::Instruction(text) => format!("instruction: {text}"),
            Item::Reply { text, .. } => format!("reply: {text}"),
            Item::Command { name, args } => format!("command: {name} {args}"),
            Item::ShellOutput(text) => format!("shell: {text}"),
            Item::Call(call) => format!("call: {}", call.tool),
            Item::Result(result) => {
                let text = result.content.decode(400);
                format!("result {} {:?}: {text}", result.call, result.outcome)
            }
            Item::Answer { question, answer, .. } => format!("answer: {question} {answer}"),
            Item::Recap { text, .. } => format!("recap: {text}"),
            Item::Title { text, .. } => format!("title: {text}"),
            Item::ServiceError(text) => format!("error: {text}"),
            Item::Boundary => "boundary".to_owned(),
            Item::Interrupted => "interrupted".to_owned(),
            Item::Context(context) => match context.cwd {
                Some(cwd) => format!("context: {cwd}"),
                None => return,
            },
            _ => return,
        });
    });
    content
}

/// Formats the actions of the calls.
fn actions(records: &[Value]) -> Vec<String> {
    let mut actions = Vec::new();
    entries(records, &mut |entry| {
        let Item::Call(call) = entry.item else { return };
        actions.push(match call.action {
            Action::Run { command, .. } => format!("run {command}"),
            Action::Change(changes) => {
                let change = &changes[0];
                let edits = change.edits.iter().map(|edit| format!("{} > {}", edit.old, edit.new));
                format!("change {}: [{}]", change.path, edits.collect::<String>())
            }
            Action::PlanTasks(tasks) => {
                let tasks = tasks.iter().map(|task| format!("{} {:?}", task.subject, task.state));
                format!("plan {}", tasks.collect::<Vec<_>>().join(", "))
            }
            Action::Ask(questions) => {
                format!("ask {} [{}]", questions[0].question, questions[0].options.join(", "))
            }
            Action::Delegate { agent, subject } => {
                format!("delegate {}: {subject}", agent.unwrap_or_default())
            }
            Action::Fetch { what } => format!("fetch {what}"),
            other => format!("{other:?}"),
        });
    });
    actions
}

fn entries(records: &[Value], visit: &mut dyn FnMut(Entry<'_>)) {
    let mut memory = Memory::default();
    for record in records {
        let mut emitted = false;
        let verdict = Codex.read(&record.to_string(), &mut memory, &mut |entry| {
            emitted = true;
            visit(entry);
        });
        assert!(verdict.unwrap() == RecordVerdict::Read || !emitted || is_report(record));
    }
}

/// Whether a record notifies that a sub-agent has ended. Such a record emits a result, but is
/// skipped.
fn is_report(record: &Value) -> bool {
    record.to_string().contains("subagent_notification")
}

fn record(kind: &str, payload: Value) -> Value {
    let mut record = json!({ "timestamp": "2026-11-23T02:20:19.357Z", "type": kind });
    record["payload"] = payload;
    record
}

fn meta(payload: Value) -> Value {
    record("session_meta", payload)
}

fn turn(id: &str) -> Value {
    record("turn_context", json!({ "turn_id": id, "cwd": "/p", "model": "m" }))
}

fn response(payload: Value) -> Value {
    record("response_item", payload)
}

fn event_msg(kind: &str, mut payload: Value) -> Value {
    payload["type"] = json!(kind);
    record("event_msg", payload)
}

fn message(role: &str, texts: &[&str]) -> Value {
    let content: Vec<Value> =
        texts.iter().map(|text| json!({ "type": "input_text", "text": text })).collect();
    response(json!({ "type": "message", "role": role, "content": content }))
}

fn user(texts: &[&str]) -> Value {
    message("user", texts)
}

fn assistant(text: &str) -> Value {
    message("assistant", &[text])
}

fn user_event(text: &str) -> Value {
    event_msg("user_message", json!({ "message": text }))
}

#[expect(clippy::needless_pass_by_value, reason = "the arguments are written where they are used")]
fn call(name: &str, id: &str, arguments: Value) -> Value {
    let arguments = arguments.to_string();
    response(
        json!({ "type": "function_call", "name": name, "call_id": id, "arguments": arguments }),
    )
}

fn output(id: &str, text: &str) -> Value {
    response(json!({ "type": "function_call_output", "call_id": id, "output": text }))
}

fn running(id: u32) -> String {
    format!(
        "Chunk ID: a\nWall time: 1.0 seconds\nProcess running with session ID {id}\nOutput:\ntest a"
    )
}
