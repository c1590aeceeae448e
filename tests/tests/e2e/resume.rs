//! Tests `graphiti resume` with an agent that prints its arguments.
#![cfg(target_os = "linux")]

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

use graphiti_tests::{Transcript, World};

use crate::terminal::Terminal;

const HOUR: Duration = Duration::from_secs(3_600);
const DOWN: &str = "\u{1b}[B";
const LEFT_SCREEN: &str = "\u{1b}[?1049l";

/// A machine with an agent, a project, and two finished sessions in the project.
struct ResumeFixture {
    world: World,
    project: PathBuf,
    walrus: Transcript,
}

impl ResumeFixture {
    fn new() -> ResumeFixture {
        let mut world = World::new();
        let programs = world.path("programs");
        fs::create_dir(&programs).unwrap();
        let claude = programs.join("claude");
        fs::write(&claude, "#!/bin/sh\necho \"claude $* in $PWD\"\n").unwrap();
        fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        world.variables.push(("PATH".to_owned(), path));
        fs::create_dir(world.path("it's")).unwrap();
        let project = fs::canonicalize(world.path("it's")).unwrap();
        let name = project.display().to_string();
        let mut walrus = world.transcript_in("aaaa-1", &name).aged(HOUR);
        walrus.prompt("Feed the walrus").reply("The walrus eats herring.");
        let mut seal = world.transcript_in("bbbb-2", &name).aged(HOUR * 2);
        seal.prompt("Feed the seal").reply("The seal eats herring, too.");
        ResumeFixture { world, project, walrus }
    }

    /// Returns the command line that resumes a session.
    fn command(&self, id: &str) -> String {
        let directory = self.project.display().to_string().replace('\'', r"'\''");
        format!("cd '{directory}' && claude --resume {id}")
    }
}

#[test]
fn a_session_is_resumed_by_its_id_or_by_words() {
    let machine = ResumeFixture::new();
    let world = &machine.world;
    let daemon = world.start();
    daemon.settle_sessions();
    assert_eq!(world.printed(&["resume", "aaaa", "--print"]).trim_end(), machine.command("aaaa-1"));
    let by_words = world.printed(&["resume", "--print", "the", "seal"]);
    assert_eq!(by_words.trim_end(), machine.command("bbbb-2"));
    let found = world.json(&["resume", "walrus"]);
    assert_eq!(found["session"]["session_id"], "aaaa-1");
    assert_eq!((&found["program"], &found["resumable"]), (&"claude".into(), &true.into()));
    let printed = world.printed(&["resume", "aaaa-1"]);
    assert_eq!(printed, format!("claude --resume aaaa-1 in {}\n", machine.project.display()));
    // A shell can execute the printed line.
    let line = machine.command("aaaa-1");
    let shell = std::process::Command::new("sh")
        .args(["-c", &line])
        .envs(world.variables.iter().cloned())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&shell.stdout), printed);
}

#[test]
fn errors_explain_why_a_session_cannot_be_resumed() {
    let machine = ResumeFixture::new();
    let world = &machine.world;
    let daemon = world.start();
    daemon.settle_sessions();
    let refused = |arguments: &[&str]| {
        let output = world.graphiti(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let several = refused(&["resume", "herring", "--print"]);
    assert!(several.contains("2 sessions match") && several.contains("aaaa-1"), "{several}");
    assert!(refused(&["resume", "zebra"]).contains("no session matches `zebra`"));
    assert!(refused(&["resume"]).contains("graphiti resume WORDS"));
    fs::remove_file(machine.walrus.path()).unwrap();
    let gone = refused(&["resume", "aaaa-1", "--print"]);
    assert!(gone.contains("the transcript of this session is gone"), "{gone}");
    assert!(gone.contains("$(graphiti handoff)"), "{gone}");
    let found = world.json(&["resume", "aaaa-1"]);
    assert_eq!(found["resumable"], false);
    fs::rename(&machine.project, world.path("moved")).unwrap();
    assert!(refused(&["resume", "bbbb-2"]).contains("directory of this session does not exist"));
}

#[test]
fn the_user_chooses_one_of_several_sessions() {
    let machine = ResumeFixture::new();
    let daemon = machine.world.start();
    daemon.settle_sessions();
    let mut terminal = Terminal::run(&machine.world, 80, 24, "$GRAPHITI resume herring");
    terminal.wait_for("Resume: herring").wait_for("1 of 2 sessions").wait_for("Enter resume");
    terminal.press("\u{15}seal").wait_for("> Feed the seal");
    terminal.press("\r").wait_for(LEFT_SCREEN);
    let printed = terminal.end();
    let wanted = format!("claude --resume bbbb-2 in {}", machine.project.display());
    assert!(printed.contains(&wanted), "{printed:?}");
    let mut terminal = Terminal::run(&machine.world, 80, 24, "$GRAPHITI resume --print");
    terminal.wait_for("1 of 2 sessions").press(DOWN).wait_for("2 of 2 sessions");
    terminal.press("\r").wait_for(LEFT_SCREEN);
    let printed = terminal.end();
    assert!(printed.contains("claude --resume bbbb-2"), "{printed:?}");
}

#[test]
fn a_session_whose_transcript_is_deleted_continues_with_the_handoff() {
    let machine = ResumeFixture::new();
    let daemon = machine.world.start();
    daemon.settle_sessions();
    fs::remove_file(machine.walrus.path()).unwrap();
    let mut terminal = Terminal::run(&machine.world, 120, 40, "$GRAPHITI resume aaaa-1");
    terminal
        .wait_for("claude cannot resume the session: the transcript of this session is gone.")
        .wait_for("[y/N]");
    let printed = {
        terminal.press("y\r");
        terminal.end()
    };
    assert!(printed.contains("claude Continue the work of session aaaa-1"), "{printed:?}");
    assert!(printed.contains("Feed the walrus"), "{printed:?}");
    let mut terminal = Terminal::run(&machine.world, 120, 40, "$GRAPHITI resume aaaa-1");
    terminal.wait_for("[y/N]").press("n\r");
    let printed = terminal.end();
    assert!(printed.contains("claude \"Continue the work of session aaaa-1"), "{printed:?}");
}

#[test]
fn a_session_without_a_transcript_must_be_chosen_twice_in_a_list() {
    let fixture = ResumeFixture::new();
    let daemon = fixture.world.start();
    daemon.settle_sessions();
    fs::remove_file(fixture.walrus.path()).unwrap();
    let mut terminal = Terminal::run(&fixture.world, 80, 24, "$GRAPHITI resume");
    terminal.wait_for("1 of 2 sessions").press("walrus").wait_for("> Feed the walrus");
    terminal
        .press("\r")
        .wait_for("Its transcript is missing; choose it again to start claude with the handoff");
    terminal.press("\r").wait_for(LEFT_SCREEN);
    let printed = terminal.end();
    assert!(printed.contains("claude Continue the work of session aaaa-1"), "{printed:?}");
}
