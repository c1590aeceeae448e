//! Tests programs of different versions, as during an update.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixListener,
    thread,
};

use graphiti_proto::{PROTOCOL, methods};
use graphiti_tests::World;
use serde_json::{Value, json};

#[test]
fn a_daemon_with_another_protocol_is_reported_with_the_remedy() {
    for (protocol, remedy) in [
        (PROTOCOL - 1, "update graphitid, then run graphiti stop"),
        (PROTOCOL + 1, "update graphiti to the version of the daemon"),
    ] {
        let world = World::new();
        start_mock_daemon(&world, protocol);
        for arguments in [&["status"][..], &["repair"], &["redact", "--again"]] {
            let output = world.graphiti(arguments);
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{arguments:?}");
            assert!(
                error.contains("graphitid 9.8.7") && error.contains(remedy),
                "{arguments:?}: {error}"
            );
        }
        assert!(world.graphiti(&["stop"]).status.success(), "such a daemon can be stopped");
        let doctor = world.graphiti(&["doctor", "--json"]);
        assert!(!doctor.status.success());
        let report: Value = serde_json::from_slice(&doctor.stdout).expect("JSON");
        let of = |about: &str| {
            let findings = report["findings"].as_array().expect("findings");
            findings.iter().find(|finding| finding["about"] == about).cloned().unwrap_or_default()
        };
        assert_eq!(of("version")["verdict"], "bad", "{report}");
        assert_eq!(of("version")["remedy"], json!(remedy_in_full(protocol)));
    }
}

#[test]
fn a_daemon_of_another_version_with_the_same_protocol_is_understood() {
    let world = World::new();
    start_mock_daemon(&world, PROTOCOL);
    assert_eq!(world.printed(&["reload"]), "Nothing changed.\n");
}

#[test]
fn a_client_of_another_version_is_understood() {
    let world = World::new();
    let daemon = world.start();
    let hello = json!({ "protocol": PROTOCOL, "version": "9.8.7", "of_later": [1] });
    let welcome = daemon.wire().ask(methods::HELLO, hello).expect("an answer");
    assert_eq!(welcome["protocol"], PROTOCOL);
    // A caller with another protocol gets the daemon's version, and decides what to do.
    for protocol in [json!(0), json!(PROTOCOL + 1), Value::Null] {
        let hello = json!({ "protocol": protocol });
        assert_eq!(daemon.wire().ask(methods::HELLO, hello).expect("an answer"), welcome);
    }
    let arguments = json!({ "limit": 1, "of_later": {} });
    assert!(daemon.call("list_sessions", &arguments)["sessions"].is_array());
}

/// Listens on the socket of `world` like a daemon of another version with `protocol`.
fn start_mock_daemon(world: &World, protocol: u32) {
    fs::create_dir_all(world.home()).expect("a home");
    let listener = UnixListener::bind(world.home().join("mcp.sock")).expect("a socket");
    // The thread ends with the test.
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let mut answers = stream.try_clone().expect("the same connection");
            for line in BufReader::new(stream).lines() {
                let Ok(line) = line else { break };
                let request: Value = serde_json::from_str(&line).expect("a request");
                let result = match request["method"].as_str() {
                    Some(methods::HELLO) => json!({
                        "protocol": protocol, "version": "9.8.7", "pid": 7, "home": "/",
                        "of_later": true,
                    }),
                    _ => json!({ "changes": [], "problems": [], "of_later": { "a": 1 } }),
                };
                let answer = json!({
                    "jsonrpc": "2.0", "id": request["id"], "result": result, "of_later": null,
                });
                // Both sides may close the connection at any time.
                let _ = writeln!(answers, "{answer}");
            }
        }
    });
}

fn remedy_in_full(protocol: u32) -> &'static str {
    if protocol < PROTOCOL {
        "update graphitid, then run graphiti stop and graphiti up"
    } else {
        "update graphiti to the version of the daemon"
    }
}
