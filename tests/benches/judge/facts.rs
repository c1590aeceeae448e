//! Writes the sheet of facts.

use std::fmt::Write as _;

use graphiti_tests::{Daemon, Random, World};
use serde_json::{Value, json};

use crate::{
    drawn,
    sessions::{RecordedSession, install},
};

/// Maximum number of characters of a line of a transcript that are shown.
const LINE: usize = 1_500;
/// Maximum number of facts of a project from which some are drawn.
const FACTS: usize = 100;

/// Imports the sessions, and draws from the facts that are listed for each project.
pub(crate) fn sheet(sessions: &[RecordedSession], count: usize, random: Random) -> String {
    let world = World::new();
    install(sessions.iter(), &world.projects());
    let daemon = world.start();
    daemon.settle();
    for session in sessions {
        // If the name of the file is not the session's id, the session is not found and not closed.
        let _ = daemon.insist("session_tracking_close", &json!({ "session_id": session.id }));
    }
    daemon.settle();
    let mut sheet = String::from(
        "For each fact: is it true, is its certainty justified, is it understandable without context, is it worth remembering?\n",
    );
    for (number, fact) in (1..).zip(drawn(listed(&daemon, sessions), count, random)) {
        write_fact(&mut sheet, number, &fact, sessions);
    }
    daemon.stop();
    sheet
}

fn listed(daemon: &Daemon, sessions: &[RecordedSession]) -> Vec<Value> {
    let mut projects: Vec<&str> = sessions.iter().map(|session| session.project.as_str()).collect();
    projects.sort_unstable();
    projects.dedup();
    let mut facts = Vec::new();
    for project in projects {
        let arguments = json!({ "project": project, "max_facts": FACTS, "include_ended": true });
        let answer = daemon.call("search_memory_facts", &arguments);
        facts.extend(answer["facts"].as_array().cloned().unwrap_or_default());
    }
    facts.sort_by_key(|fact| fact["uuid"].to_string());
    facts.dedup_by_key(|fact| fact["uuid"].to_string());
    facts
}

fn write_fact(sheet: &mut String, number: usize, fact: &Value, sessions: &[RecordedSession]) {
    let text = |name: &str| fact[name].as_str().unwrap_or_default().to_owned();
    let end = fact["invalid_at"].as_str().map_or(String::new(), |end| format!(", ended {end}"));
    let _ = writeln!(
        sheet,
        "\n=== {number}. {} · {} · since {}{end}\n{}",
        text("name"),
        text("certainty"),
        text("valid_at"),
        text("fact")
    );
    for source in fact["sources"].as_array().into_iter().flatten() {
        let id = source["session_id"].as_str().unwrap_or_default();
        let line = source["line"].as_u64().unwrap_or_default();
        let session = sessions.iter().find(|session| {
            session.id == id || session.path.file_stem().is_some_and(|stem| stem == id)
        });
        let _ = writeln!(sheet, "--- {id} source {} line {line}", source["source"]);
        if let Some(session) = session.filter(|_| source["source"] == 0) {
            let _ = writeln!(sheet, "{}", line_of(session, line));
        }
    }
}

fn line_of(session: &RecordedSession, line: u64) -> String {
    let bytes = std::fs::read(&session.path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let index = usize::try_from(line).unwrap_or_default().saturating_sub(1);
    text.lines().nth(index).unwrap_or_default().chars().take(LINE).collect()
}
