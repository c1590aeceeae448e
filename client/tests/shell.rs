//! Tests of the client without a daemon.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::process::{Command, Output};

fn graphiti(arguments: &[&str]) -> Output {
    let home = std::env::temp_dir().join("graphiti-no-such-home");
    Command::new(env!("CARGO_BIN_EXE_graphiti"))
        .args(arguments)
        .env("GRAPHITI_HOME", home)
        .output()
        .unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = graphiti(arguments);
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn completions_and_the_manual_page_know_every_command() {
    let help = printed(&["--help"]);
    let commands = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| line.starts_with("  "))
        .filter(|line| line.as_bytes()[2] != b' ')
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert!(commands.contains(&"search") && commands.contains(&"status"), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell]);
        for command in &commands {
            assert!(script.contains(command), "{command} for {shell}");
        }
    }
    let page = printed(&["man"]);
    for command in commands {
        assert!(page.replace('\\', "").contains(command), "{command}");
    }
}

#[test]
fn the_error_without_a_daemon_shows_the_command_that_starts_it() {
    for arguments in [&["status"][..], &["list"], &["search", "x"], &["close"]] {
        let output = graphiti(arguments);
        assert!(!output.status.success());
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains("Start it with: graphiti up"), "{arguments:?}: {error}");
    }
}

#[test]
fn no_invalid_command_line_exits_with_2_which_would_block_a_prompt() {
    for arguments in
        [&["no-such-command"][..], &["list", "--no-such"], &["show", "-n", "x"], &["--"]]
    {
        assert_eq!(graphiti(arguments).status.code(), Some(1), "{arguments:?}");
    }
    assert!(graphiti(&["--help"]).status.success() && graphiti(&["--version"]).status.success());
    assert!(printed(&["hook", "--help"]).contains("hook"));
}
