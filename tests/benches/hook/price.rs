//! What a call costs beside the least and beside the documents' own client.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use graphiti_proto::{methods::hook::HOOK, rpc::Request};
use graphiti_tests::{
    Daemon, World,
    times::{Times, timed},
};
use serde_json::Value;

use crate::{event, hook};

/// Sessions that end time and again.
const SESSIONS: usize = 20;

pub(crate) fn measure(client: &Path, calls: usize) {
    let world = World::new();
    for number in 0..SESSIONS {
        world.transcript(&name(number)).prompt("Fix the parser.").reply("Done.");
    }
    let daemon = world.start();
    daemon.settle();
    let floors = [("C, dynamic", floor(&world, false)), ("C, static", floor(&world, true))];
    // Nothing is to be done about the first; the second is on disk before it is answered.
    for kind in ["Stop", "SessionEnd"] {
        println!("{kind}, daemon up, exec to exit, {calls} calls each in turn");
        let mut rows: Vec<(&str, Vec<std::time::Duration>)> = Vec::new();
        for call in 0..calls {
            let event = event(kind, &name(call % SESSIONS), "clear");
            let mut programs: Vec<(&str, Command)> = vec![("graphiti hook", hook(&world, client))];
            for (title, floor) in &floors {
                programs.push((title, least(floor, &daemon, &event)));
            }
            // It takes so long that a few calls tell.
            if kind == "SessionEnd" && call % 10 == 0 {
                programs.push(("documents' Python client", python(&world)));
            }
            for (title, mut command) in programs {
                let (time, succeeded) = timed(&mut command, &event);
                assert!(succeeded, "{title} failed");
                match rows.iter_mut().find(|(known, _)| *known == title) {
                    Some((_, times)) => times.push(time),
                    None => rows.push((title, vec![time])),
                }
            }
        }
        let rows: Vec<(&str, Times)> =
            rows.into_iter().map(|(title, times)| (title, Times::of(times))).collect();
        let least = rows.iter().find(|(title, _)| *title == floors[0].0).expect("it was measured");
        for (title, times) in &rows {
            let ratio = |permille: usize| {
                times.permille(permille).as_secs_f64() / least.1.permille(permille).as_secs_f64()
            };
            println!(
                "  {title:<26} {}  {:>6.2} of the floor (p50), {:.2} (min)",
                times.to_text(),
                ratio(500),
                ratio(0)
            );
        }
    }
}

/// Compiles the least that a program can do.
fn floor(world: &World, is_static: bool) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/hook/floor.c");
    let program = world.path(if is_static { "floor-static" } else { "floor" });
    let mut gcc = Command::new("gcc");
    gcc.arg("-O2").args(is_static.then_some("-static")).arg("-o").arg(&program).arg(source);
    assert!(gcc.status().expect("run gcc").success(), "gcc cannot compile the floor");
    program
}

/// The floor, saying to the daemon what the client would say.
fn least(floor: &Path, daemon: &Daemon, event: &str) -> Command {
    let params: Value = serde_json::from_str(event).expect("an event is JSON");
    let line = String::from_utf8(Request::new(1, HOOK, params).to_line()).expect("JSON is text");
    let mut command = Command::new(floor);
    command.arg(daemon.socket()).arg(line);
    command
}

fn python(world: &World) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/hook/session_close_hook.py");
    let mut command = Command::new("python3");
    command.arg(script).env("GRAPHITI_HOME", world.home());
    command
}

fn name(number: usize) -> String {
    format!("session-{number}")
}
