//! Measures how long an agent waits for its hook.
//!
//! `cargo bench -p graphiti-tests --bench hook` first measures the cost of a call of `graphiti
//! hook`, of a minimal C program (`floor.c`, needs gcc), and of the Python client in Graphiti's
//! documents (`session_close_hook.py`, needs python3), each from exec to exit. The calls alternate
//! in one run, because the speed of a machine varies from minute to minute. Then the benchmark
//! makes `GRAPHITI_HOOK_CALLS` (500) calls with a daemon in each state, and checks whether every
//! event took effect. To measure another `graphiti` than that of this build, set
//! `GRAPHITI_HOOK_CLIENT` to its path.
#![expect(clippy::print_stdout, reason = "the program prints its figures")]

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
    // `cargo test --all-targets` starts benchmarks, too.
    if !env::args().any(|argument| argument == "--bench") {
        return;
    }
    let calls = env::var("GRAPHITI_HOOK_CALLS")
        .map_or(500, |text| text.parse().expect("a whole number of calls"));
    let client = client();
    let bytes = client.metadata().expect("the client exists").len();
    println!("{}: {:.2} MB", client.display(), bytes as f64 / 1e6);
    price::measure(&client, calls);
    states::measure(&client, calls);
}

/// Returns the path of the program that is measured.
fn client() -> PathBuf {
    match env::var_os("GRAPHITI_HOOK_CLIENT") {
        Some(client) => client.into(),
        None => World::new().command("graphiti").get_program().into(),
    }
}

/// Returns a command that runs the client as a hook on this machine.
fn hook(world: &World, client: &Path) -> Command {
    let built = world.command("graphiti");
    let mut command = Command::new(client);
    for (name, value) in built.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.arg("hook").current_dir(world.path(""));
    command
}

/// Returns the input of an agent's hook for an event.
fn event(name: &str, session: &str, reason: &str) -> String {
    json!({
        "session_id": session,
        // The file must exist: the hook does not forward the end of a session whose transcript is
        // missing.
        "transcript_path": concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        "cwd": "/work/app",
        "permission_mode": "default",
        "hook_event_name": name,
        "reason": reason,
    })
    .to_string()
}
