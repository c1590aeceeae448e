//! Tests the interactive search in a real terminal.
#![cfg(target_os = "linux")]

use std::{fs, os::unix::fs::PermissionsExt, process::Command, sync::mpsc, thread, time::Duration};

use graphiti_tests::World;
use serde_json::json;

use crate::terminal::{STEP_LIMIT, Terminal};

const OLD: Duration = Duration::from_secs(3_600);
const DOWN: &str = "\u{1b}[B";
const ESCAPE: &str = "\u{1b}";
const LEFT_SCREEN: &str = "\u{1b}[?1049l";

/// Creates a machine with two finished sessions.
fn machine() -> World {
    let world = World::new();
    fs::create_dir_all(world.path("app")).unwrap();
    let project = world.path("app").display().to_string();
    let mut walrus = world.transcript_in("aaaa-1", &project).aged(OLD);
    walrus.prompt("Feed the walrus").reply("The walrus eats herring.");
    let mut wide = world.transcript_in("bbbb-2", &project).aged(OLD * 2);
    wide.prompt("データベース接続プールの枯渇を調べてください。とても長い質問です。herring")
        .reply("接続プールを大きくしました。");
    world
}

#[test]
fn sessions_are_found_while_the_user_types_and_can_be_shown() {
    let world = machine();
    let daemon = world.start();
    daemon.settle_sessions();
    let mut terminal = Terminal::run(&world, 80, 24, "$GRAPHITI search");
    terminal.wait_for("1 of 2 sessions");
    terminal.press("herring").wait_for("Search: herring").wait_for("> ").wait_for("[herring]");
    terminal.press(DOWN).wait_for("2 of 2 sessions");
    terminal.press("\u{15}zebra").wait_for("Search: zebra").wait_for("Nothing found.");
    terminal.press("\u{15}walrus").wait_for("> Feed the walrus");
    terminal.press("\r").wait_for("lines 1 to").wait_for("The [walrus] eats herring.");
    terminal.press("i").wait_for("\u{1b}]52;c;YWFhYS0x\u{7}").wait_for("Copied aaaa-1");
    terminal.press(ESCAPE).wait_for("Search: walrus");
    terminal.press(ESCAPE).wait_for(LEFT_SCREEN);
    terminal.end();
}

#[test]
fn the_settings_of_the_terminal_are_restored() {
    let world = machine();
    let daemon = world.start();
    daemon.settle_sessions();
    let script = "stty -g > before; $GRAPHITI search; stty -g > after";
    for (keys, (columns, rows)) in [(ESCAPE, (40, 10)), ("\u{3}", (120, 40))] {
        let mut terminal = Terminal::run(&world, columns, rows, script);
        terminal.wait_for("1 of 2 sessions").press(keys).wait_for(LEFT_SCREEN);
        terminal.end();
        let read = |name: &str| fs::read_to_string(world.path(name)).unwrap();
        assert_eq!(read("before"), read("after"));
    }
}

#[test]
fn a_search_ends_with_its_terminal_even_if_the_signal_is_ignored() {
    let world = machine();
    let daemon = world.start();
    daemon.settle_sessions();
    let fifo = world.path("ended");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let script = "trap '' HUP; exec 9>ended; exec $GRAPHITI search";
    let (ended, end) = mpsc::channel();
    let reader = fifo.clone();
    // The pipe is closed when the last process that has opened it ends.
    thread::spawn(move || ended.send(fs::read(reader)));
    let mut terminal = Terminal::run(&world, 80, 24, script);
    terminal.wait_for("1 of 2 sessions");
    drop(terminal);
    end.recv_timeout(STEP_LIMIT).expect("the search ends").unwrap();
}

#[test]
fn a_session_is_resumed_by_its_agent_in_its_project() {
    let mut world = machine();
    let programs = world.path("programs");
    fs::create_dir(&programs).unwrap();
    let claude = programs.join("claude");
    fs::write(&claude, "#!/bin/sh\nread line\necho \"claude $* in $PWD heard $line\"\n").unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    world.variables.push(("PATH".to_owned(), path));
    let daemon = world.start();
    daemon.settle_sessions();
    let mut terminal = Terminal::run(&world, 80, 24, "$GRAPHITI search");
    terminal.wait_for("1 of 2 sessions");
    terminal.press("walrus").wait_for("> Feed the walrus");
    terminal.press("\u{12}").wait_for(LEFT_SCREEN);
    // The search reads no keys that are meant for the agent.
    terminal.press("hello\r");
    let project = fs::canonicalize(world.path("app")).unwrap();
    let printed = terminal.end();
    let wanted = format!("claude --resume aaaa-1 in {} heard hello", project.display());
    assert!(printed.contains(&wanted), "{printed:?}");
}

#[test]
fn a_daemon_that_does_not_run_is_reported() {
    let world = machine();
    let script = "$GRAPHITI search || echo exit $?";
    let printed = Terminal::run(&world, 80, 24, script).end();
    assert!(printed.contains("graphitid is not running"), "{printed:?}");
    assert!(printed.contains("exit 1") && !printed.contains("\u{1b}[?1049h"), "{printed:?}");
    let daemon = world.start();
    daemon.settle_sessions();
    let mut terminal = Terminal::run(&world, 40, 10, script);
    terminal.wait_for("1 of 2 sessions");
    world.printed(&["stop"]);
    terminal.press("w").wait_for("No answer.");
    terminal.press(ESCAPE).wait_for(LEFT_SCREEN);
    terminal.end();
}

#[test]
fn without_a_terminal_words_are_needed() {
    let world = World::new();
    let output = world.graphiti(&["search"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("graphiti search WORDS"));
}

#[test]
fn the_best_result_is_opened_and_messages_have_context() {
    let world = World::new();
    let daemon = world.start();
    let mut session = world.transcript("aaaa-1").aged(OLD);
    session.prompt("Look at the aquarium").reply("There are seals.");
    session.prompt("And the walrus?").reply("It eats herring.").prompt("Thanks").reply("Bye.");
    daemon.settle_sessions();
    let opened = world.printed(&["search", "walrus", "--open"]);
    let (head, summary) = opened.split_once("And the [walrus]?").unwrap();
    assert!(head.starts_with("# "), "{opened}");
    assert!(head.contains("There are seals.") && !head.contains("#0 "), "{opened}");
    assert!(summary.contains("It eats herring.") && summary.contains("**Outcome**"), "{opened}");
    let context = |count: &str| {
        let found = world.json(&["search", "walrus", "-C", count]);
        let blocks = found["hits"][0]["context"].as_array().unwrap().clone();
        let messages = blocks.iter().flat_map(|block| block["messages"].as_array().unwrap());
        messages.map(|message| message["text"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(context("0"), [json!("And the walrus?")]);
    let all = context("9");
    assert_eq!((all.len(), &all[0], &all[5]), (6, &json!("Look at the aquarium"), &json!("Bye.")));
    let printed = world.printed(&["search", "walrus", "-C", "1"]);
    assert!(printed.contains("#1 assistant: There are seals."), "{printed}");
    assert!(printed.contains("#2 user: And the [walrus]?"), "{printed}");
    let opened = world.json(&["search", "walrus", "--open"]);
    assert_eq!(opened["session"]["session_id"], "aaaa-1");
    assert!(opened["markdown"].is_string() && opened["passages"][0]["text"].is_string());
    assert_eq!(opened["context"][0]["messages"][1]["text"], "And the walrus?");
    assert_eq!(world.printed(&["search", "zebra", "--open"]), "Nothing found.\n");
}
