//! Tests `graphiti mcp` with the official Python client of the Model Context Protocol.
//!
//! `GRAPHITI_TEST_PYTHON` is the path of a Python with the packages `mcp` and `jsonschema`. If the
//! variable is not set, the test uses `python3`. Without the packages, it is skipped with a message.

use std::{ffi::OsString, process::Command};

use graphiti_tests::{World, namespace::report_skipped};
use serde_json::json;

#[test]
fn the_official_client_lists_calls_validates_cancels_and_outlives_the_daemon() {
    let Some(python) = python() else {
        report_skipped("mcp_official", "no Python with the packages mcp and jsonschema");
        return;
    };
    let world = World::new();
    world.configure(&json!({ "mcp": { "tools": "all" } }));
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the login timeout").reply("I fixed it in auth.rs.");
    let daemon = world.start();
    daemon.settle();
    let episode = daemon.close("aaaa-1")["episode_uuid"].as_str().unwrap().to_owned();
    let graphiti = world.command("graphiti").get_program().to_owned();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/mcp/official.py");
    let output = world
        .command("graphiti")
        .get_envs()
        .fold(&mut Command::new(python), |command, (name, value)| match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        })
        .arg(script)
        .args([graphiti, "aaaa-1".into(), episode.into()])
        .output()
        .expect("run Python");
    // The client started a daemon unless it failed before that.
    let _ = world.graphiti(&["stop"]);
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{output_text}\n{}", world.log());
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3, "{output_text}");
}

/// Returns a Python that has the packages. The Python in the environment variable is not checked.
fn python() -> Option<OsString> {
    if let Some(configured) = std::env::var_os("GRAPHITI_TEST_PYTHON") {
        return Some(configured);
    }
    let mut command = Command::new("python3");
    let output = command.args(["-c", "import jsonschema; from mcp import Client"]).output();
    output.is_ok_and(|output| output.status.success()).then(|| "python3".into())
}
