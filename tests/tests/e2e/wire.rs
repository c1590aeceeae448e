//! Tests both sides of the socket against golden files: `golden/wire-v<N>.txt` has a conversation
//! in version N of the protocol, with requests and answers in turn.
//!
//! The answers of the current daemon must contain every member that an old client knows, and the
//! current types must read the answers of an old daemon without loss. The file of a released
//! version never changes. `GOLDEN=write cargo test -p graphiti-tests --test e2e wire` writes the
//! file of the current version.

use std::{fs, path::PathBuf, time::Duration};

use graphiti_proto::{PROTOCOL, methods, tools};
use graphiti_tests::World;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Returns the requests of the conversation.
fn requests() -> Vec<Value> {
    let call = |tool: &str, arguments: Value| {
        ("tools/call".to_owned(), json!({ "name": tool, "arguments": arguments }))
    };
    let own = |method: &str, params: Value| (method.to_owned(), params);
    let requests = [
        own(methods::HELLO, json!({ "protocol": 1, "version": "0.1.0" })),
        own(methods::SETTLE, json!({ "sessions": false })),
        call(tools::list_unindexed::NAME, json!({ "include_inactive": true })),
        call(tools::close::NAME, json!({ "session_id": "aaaa-1", "reason": "story_complete" })),
        call(tools::close::NAME, json!({ "session_id": "aaaa-1" })),
        call(tools::list_sessions::NAME, json!({ "limit": 5 })),
        call(tools::get_session::NAME, json!({ "session_id": "aaaa-1" })),
        call(
            tools::get_session::NAME,
            json!({ "session_id": "aaaa-1", "view": "messages", "from": 1, "limit": 2 }),
        ),
        call(tools::search_sessions::NAME, json!({ "query": "lantern", "explain": true })),
        call(tools::health::NAME, json!({})),
        call(
            tools::add_memory::NAME,
            json!({
                "name": "Oil", "episode_body": "The wick needs oil.", "group_id": "/work/app",
                "source": "text", "source_description": "told by Ann",
            }),
        ),
        call(tools::get_episodes::NAME, json!({ "group_id": "/work/app", "last_n": 1 })),
        call(tools::search_nodes::NAME, json!({ "query": "lantern" })),
        call(tools::search_memory_nodes::NAME, json!({ "query": "lantern", "entity": "" })),
        call(tools::sync_history::NAME, json!({ "days": 7, "dry_run": true })),
        own(methods::transfer::EXPORT, json!({ "project": "/work/app" })),
        own(methods::transfer::IMPORT, json!({ "episodes": [{ "content": "" }], "dry_run": true })),
        own(methods::forget::FORGET, json!({ "sessions": ["bbbb-2"], "dry_run": true })),
        own(methods::CLOSE, json!({ "session_id": "bbbb-2", "reason": "hook_clear" })),
        own(methods::RELOAD, json!({})),
        call(tools::get_session::NAME, json!({ "session_id": "nobody" })),
        call("no_such_tool", json!({})),
        own("no/such/method", json!({})),
    ];
    let numbered = requests.into_iter().zip(1..).map(
        |((method, params), id)| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
    );
    numbered.collect()
}

#[test]
fn old_clients_and_old_daemons_are_understood() {
    let world = World::new();
    let daemon = world.start();
    let mut closed = world.transcript("aaaa-1").aged(Duration::from_secs(30));
    closed.prompt("Light the lantern").tool("Bash", &json!({ "command": "make" }), "ok");
    closed.reply("It is lit.");
    world.transcript("bbbb-2").prompt("Put out the lantern");
    daemon.settle();
    let file = file(PROTOCOL);
    let mut wire = daemon.wire();
    if std::env::var("GOLDEN").is_ok_and(|what| what == "write") {
        let mut written = String::new();
        for request in requests() {
            let answer = wire.exchange(&request);
            let answer = answer.to_string().replace(world.path("").to_str().unwrap(), "/home/ann/");
            written += &format!("--> {request}\n<-- {answer}\n");
        }
        fs::write(&file, written).unwrap();
        return;
    }
    let golden = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = golden.lines().collect();
    assert_eq!(lines.len(), 2 * requests().len());
    for pair in lines.chunks(2) {
        let request: Value = serde_json::from_str(&pair[0][4..]).unwrap();
        let golden: Value = serde_json::from_str(&pair[1][4..]).unwrap();
        let answer = wire.exchange(&request);
        assert_has_all(&golden, &answer, &request.to_string());
        assert_current_types_read(&request, &golden);
    }
}

/// Checks that `new` has all members of `old` with values of the same type, and equal states and
/// error codes.
fn assert_has_all(old: &Value, new: &Value, at: &str) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (name, old) in old {
                let Some(new) = new.get(name) else { panic!("{name} is missing in {at}") };
                assert_has_all(old, new, &format!("{at}.{name}"));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            assert!(old.is_empty() || !new.is_empty(), "{at} is empty");
            for (old, new) in old.iter().zip(new) {
                assert_has_all(old, new, at);
            }
        }
        (Value::Number(_), Value::Number(_)) if !at.ends_with(".code") => {}
        (Value::String(_), Value::String(_))
            if ![".status", ".action", ".state", ".outcome"]
                .iter()
                .any(|end| at.ends_with(end)) => {}
        _ => assert_eq!(old, new, "{at}"),
    }
}

/// Checks that the current types read an old answer without loss.
fn assert_current_types_read(request: &Value, golden: &Value) {
    let Some(result) = golden.get("result") else { return };
    let (method, tool) = (&request["method"], &request["params"]["name"]);
    let content = &result["structuredContent"];
    match method.as_str().unwrap() {
        methods::HELLO => assert_reads::<methods::Welcome>(result),
        methods::RELOAD => assert_reads::<methods::Reloaded>(result),
        methods::transfer::EXPORT => assert_reads::<methods::transfer::ExportPage>(result),
        methods::transfer::IMPORT => assert_reads::<methods::transfer::ImportReport>(result),
        methods::forget::FORGET => assert_reads::<methods::forget::Forgotten>(result),
        "tools/call" if result["isError"] != true => match tool.as_str().unwrap() {
            tools::close::NAME => assert_reads::<tools::close::CloseAnswer>(content),
            tools::list_unindexed::NAME => {
                assert_reads::<tools::list_unindexed::ListUnindexedAnswer>(content);
            }
            tools::list_sessions::NAME => {
                assert_reads::<tools::list_sessions::ListSessionsAnswer>(content);
            }
            tools::get_session::NAME => {
                assert_reads::<tools::get_session::GetSessionAnswer>(content);
            }
            tools::search_sessions::NAME => {
                assert_reads::<tools::search_sessions::SearchSessionsAnswer>(content);
            }
            tools::add_memory::NAME => assert_reads::<tools::add_memory::AddMemoryAnswer>(content),
            tools::get_episodes::NAME => {
                assert_reads::<tools::get_episodes::GetEpisodesAnswer>(content);
            }
            tools::search_nodes::NAME | tools::search_memory_nodes::NAME => {
                assert_reads::<tools::search_nodes::SearchNodesAnswer>(content);
            }
            tools::sync_history::NAME => {
                assert_reads::<tools::sync_history::SyncHistoryAnswer>(content);
            }
            tools::health::NAME => assert_reads::<tools::health::HealthAnswer>(content),
            other => panic!("no type for {other}"),
        },
        _ => {}
    }
}

fn assert_reads<T: Serialize + DeserializeOwned>(golden: &Value) {
    let read: T = serde_json::from_value(golden.clone()).unwrap();
    let again = serde_json::to_value(read).unwrap();
    assert_keeps(golden, &again, std::any::type_name::<T>());
}

/// Checks that `new` keeps every value of `old`.
fn assert_keeps(old: &Value, new: &Value, at: &str) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (name, old) in old {
                let new = new.get(name).unwrap_or_else(|| panic!("{at} lost {name}"));
                assert_keeps(old, new, &format!("{at}.{name}"));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            assert_eq!(old.len(), new.len(), "{at}");
            old.iter().zip(new).for_each(|(old, new)| assert_keeps(old, new, at));
        }
        _ => assert_eq!(old, new, "{at}"),
    }
}

fn file(version: u32) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/golden");
    folder.join(format!("wire-v{version}.txt"))
}

#[test]
fn a_request_whose_id_is_null_is_answered() {
    let world = World::new();
    let daemon = world.start();
    let answer = daemon.wire().exchange(&json!({ "id": null, "method": "ping" }));
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": null, "result": {} }));
}
