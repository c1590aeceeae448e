//! Compares the cost of a hook with the cost of a minimal program and of a Python client.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use graphiti_proto::{methods::hook::HOOK, rpc::Request};
use graphiti_tests::{
    Daemon, Process, World,
    times::{Times, timed},
};
use serde_json::Value;

use crate::{event, hook};

/// Number of sessions, which end repeatedly.
const SESSIONS: usize = 20;

pub(crate) fn measure(client: &Path, calls: usize) {
    let world = World::new();
    for number in 0..SESSIONS {
        world.transcript(&name(number)).prompt("Fix the parser.").reply("Done.");
    }
    let daemon = world.start();
    daemon.settle();
    let this = Process(std::process::id());
    let floors = [("C, dynamic", floor(&world, false)), ("C, static", floor(&world, true))];
    // The first event needs no action; the second is on disk before the daemon answers.
    for kind in ["Stop", "SessionEnd"] {
        println!("{kind}, daemon up, from exec to exit, {calls} alternating calls of each program");
        let mut rows: Vec<PriceRow> = Vec::new();
        for call in 0..calls {
            let event = event(kind, &name(call % SESSIONS), "clear");
            let mut programs: Vec<(&'static str, Command)> =
                vec![("graphiti hook", hook(&world, client))];
            for (title, floor) in &floors {
                programs.push((*title, minimal_call(floor, &daemon, &event)));
            }
            // A call of Python is slow, so a few are enough.
            if kind == "SessionEnd" && call % 10 == 0 {
                programs.push(("documents' Python client", python(&world)));
            }
            for (title, mut command) in programs {
                let spent = this.processor_time_of_children();
                let (time, succeeded) = timed(&mut command, &event);
                assert!(succeeded, "{title} failed");
                let at = rows.iter().position(|row| row.title == title).unwrap_or_else(|| {
                    rows.push(PriceRow { title, times: Vec::new(), spent: Duration::ZERO });
                    rows.len() - 1
                });
                rows[at].times.push(time);
                rows[at].spent += this.processor_time_of_children() - spent;
            }
        }
        print(rows, floors.each_ref().map(|(title, _)| *title));
    }
}

/// A program, the elapsed time of each of its calls, and the processor time of all calls.
struct PriceRow {
    title: &'static str,
    times: Vec<Duration>,
    spent: Duration,
}

fn print(rows: Vec<PriceRow>, floors: [&str; 2]) {
    let rows: Vec<(&str, Duration, Times)> = rows
        .into_iter()
        .map(|row| (row.title, row.spent / row.times.len() as u32, Times::of(row.times)))
        .collect();
    let floors = floors.map(|floor| {
        let row =
            rows.iter().find(|(title, ..)| *title == floor).expect("each program was measured");
        row.2.median().as_secs_f64()
    });
    for (title, spent, times) in &rows {
        let [of_dynamic, of_static] = floors.map(|floor| times.median().as_secs_f64() / floor);
        println!(
            "  {title:<26} {}  p50: {of_dynamic:>6.2} x C, dynamic, {of_static:>6.2} x C, static; processor {:.2} ms",
            times.to_text(),
            spent.as_secs_f64() * 1e3
        );
    }
}

/// Compiles the minimal program.
fn floor(world: &World, is_static: bool) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/hook/floor.c");
    let program = world.path(if is_static { "floor-static" } else { "floor" });
    let mut gcc = Command::new("gcc");
    gcc.arg("-O2").args(is_static.then_some("-static")).arg("-o").arg(&program).arg(source);
    assert!(gcc.status().expect("run gcc").success(), "gcc cannot compile the minimal program");
    program
}

/// Returns a call of the minimal program, which sends the same request to the daemon as the client.
fn minimal_call(floor: &Path, daemon: &Daemon, event: &str) -> Command {
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
