//! How long an agent waits for its hook.
//!
//! `cargo bench -p graphiti-tests --bench hook`. First the price of a call: `graphiti hook` beside
//! the least that a program can do (`floor.c`, needs gcc) and beside the documents' own client
//! (`session_close_hook.py`, needs python3), each from exec to exit, in turn in one run, because
//! machines differ and so does this one from minute to minute. Then what agents see of a daemon in
//! each state: `GRAPHITI_HOOK_CALLS` (500) calls each, and whether every event took effect.
//! `GRAPHITI_HOOK_CLIENT` measures another `graphiti` than the one that was built with this.
#![expect(clippy::print_stdout, reason = "its figures are what this program is for")]

mod price;
mod states;

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use graphiti_tests::World;
use serde_json::json;

fn main() {
    // `cargo test --all-targets` starts it too.
    if !env::args().any(|argument| argument == "--bench") {
        return;
    }
    let calls = env::var("GRAPHITI_HOOK_CALLS")
        .map_or(500, |text| text.parse().expect("a whole number of calls"));
    let client = client();
    let bytes = client.metadata().expect("the client is there").len();
    println!("{}: {:.2} MB", client.display(), bytes as f64 / 1e6);
    price::measure(&client, calls);
    states::measure(&client, calls);
}

/// The program that is measured.
fn client() -> PathBuf {
    match env::var_os("GRAPHITI_HOOK_CLIENT") {
        Some(client) => client.into(),
        None => World::new().command("graphiti").get_program().into(),
    }
}

/// The client, as a hook on this machine.
fn hook(world: &World, client: &Path) -> Command {
    let usual = world.command("graphiti");
    let mut command = Command::new(client);
    for (name, value) in usual.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.arg("hook").current_dir(world.path(""));
    command
}

/// What an agent says at one of its events.
fn event(name: &str, session: &str, reason: &str) -> String {
    json!({
        "session_id": session,
        // One that is there: the end of a session without a transcript is not handed over.
        "transcript_path": concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        "cwd": "/work/app",
        "permission_mode": "default",
        "hook_event_name": name,
        "reason": reason,
    })
    .to_string()
}
