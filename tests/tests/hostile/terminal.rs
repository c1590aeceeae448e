//! Tests that transcripts cannot control a terminal, for example move its cursor or reverse text.

use graphiti_tests::World;
use serde_json::Value;

use crate::fixture::{WORD, write_session};

/// Sequences that a terminal interprets and does not show: they set the window's title, clear the
/// screen, set a colour, change the direction of writing, and overwrite the line. The last
/// character is a letter that only models read.
const HOSTILE: &str = "\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{61c}\r\u{8}\u{e0041}";
/// A character of [`HOSTILE`] that JSON output keeps in escaped form.
const KEPT: char = '\u{202e}';
/// The directory of most sessions.
const PROJECT: &str = "/home/ann/app";

fn session(world: &World, session: &str, project: &str) {
    write_session(&mut world.transcript_in(session, project), project, HOSTILE);
}

/// Returns the output of a command. Checks that neither its output nor its errors contain unsafe
/// characters.
fn checked_output(world: &World, arguments: &[&str]) -> String {
    let output = world.graphiti(arguments);
    for stream in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(stream).unwrap();
        let unsafe_chars: Vec<char> = text.chars().filter(|c| is_unsafe_to_display(*c)).collect();
        assert!(
            unsafe_chars.is_empty(),
            "graphiti {arguments:?} prints {unsafe_chars:?}: {text:?}"
        );
    }
    let is_silent = output.stdout.is_empty() && output.stderr.is_empty();
    assert!(!is_silent, "graphiti {arguments:?} prints nothing");
    String::from_utf8(output.stdout).unwrap()
}

fn checked_json(world: &World, arguments: &[&str]) -> Value {
    let text = checked_output(world, &[arguments, &["--json"]].concat());
    serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{arguments:?} prints no JSON: {error}: {text}"))
}

fn is_unsafe_to_display(c: char) -> bool {
    let is_control = c.is_control() && !matches!(c, '\n' | '\t');
    is_control
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[test]
fn no_command_prints_control_sequences() {
    let world = World::new();
    let daemon = world.start();
    // The names of folders and files contain the sequences, too.
    let odd = format!("bbbb{HOSTILE}-2");
    let odd = odd.as_str();
    session(&world, "aaaa-1", &format!("/home/ann/{WORD}{HOSTILE}"));
    session(&world, odd, PROJECT);
    session(&world, &format!("bbbb{HOSTILE}-3"), PROJECT);
    daemon.settle();
    // The third session stays active.
    daemon.close("aaaa-1");
    daemon.close(odd);
    for arguments in [
        &["list"][..],
        &["list", "--empty"],
        &["show", "aaaa-1"],
        &["show", "aaaa-1", "--messages"],
        &["show", "aaaa-1", "--conversation"],
        &["show", odd],
        &["search", WORD],
        &["search", WORD, "--explain"],
        &["facts", WORD, "--ended", "--explain"],
        &["handoff", "--project", PROJECT],
        &["unindexed"],
    ] {
        assert!(checked_output(&world, arguments).contains(WORD), "{arguments:?}");
        // The JSON output keeps the characters that the terminal does not show.
        let answer = checked_json(&world, arguments).to_string();
        assert!(answer.contains(WORD) && answer.contains(KEPT), "{arguments:?}: {answer}");
    }
    let tool = format!("x{HOSTILE}");
    let tool = tool.as_str();
    checked_output(&world, &["tools", "set", tool, "read"]);
    for arguments in [
        &["status"][..],
        &["doctor"],
        &["usage"],
        &["tools", "list"],
        &["prompts", "list"],
        &["sync", "--days", "0"],
        &["forget", "aaaa-1"],
        &["forget"],
    ] {
        checked_output(&world, arguments);
        checked_json(&world, arguments);
    }
    let export = world.path("export");
    let export = export.to_str().unwrap();
    let nobody = format!("nobody{HOSTILE}");
    let nobody = nobody.as_str();
    let question = format!("{nobody}:x");
    let question = question.as_str();
    for arguments in [
        &["tools", "export"][..],
        &["tools", "unset", tool],
        &["prompts", "show", "session_summary"],
        &["prompts", "check"],
        &["reload"],
        &["export", export],
        &["export", export, "--format", "jsonl"],
        &["import", export, "--dry-run"],
        // These commands fail, because the id is ambiguous or unknown. Their errors are checked.
        &["show", "bbbb"],
        &["show", nobody],
        &["close", nobody],
        &["search", question],
    ] {
        checked_output(&world, arguments);
    }
    checked_output(&world, &["forget", odd, "--run"]);
    checked_output(&world, &["forget"]);
    assert!(checked_json(&world, &["forget"]).to_string().contains(KEPT));
}
