//! Writes the sheet of consecutive sessions with the handoff between them.

use std::{collections::BTreeMap, fmt::Write as _};

use graphiti_tests::{Random, World};
use serde_json::json;

use crate::{
    drawn,
    sessions::{RecordedSession, install},
};

/// Maximum number of prompts of the second session that are shown.
const PROMPTS: usize = 3;
/// Maximum length, in characters, of a shown prompt.
const MAX_PROMPT_CHARS: usize = 1_200;

/// For each drawn pair, imports the sessions of the project up to the pair's first session, and
/// writes the handoff that the second session would get.
pub(crate) fn sheet(sessions: &[RecordedSession], count: usize, random: Random) -> String {
    let mut by_project: BTreeMap<&str, Vec<&RecordedSession>> = BTreeMap::new();
    for session in sessions {
        by_project.entry(&session.project).or_default().push(session);
    }
    let pairs: Vec<(&str, usize)> = by_project
        .iter()
        .flat_map(|(project, all)| (1..all.len()).map(|second| (*project, second)))
        .collect();
    let mut sheet = String::from(
        "For each pair: which lines of the handoff are false, stale or misleading for the second session? Is the handoff better than the agent's last reply alone?\n",
    );
    for (number, (project, second)) in (1..).zip(drawn(pairs, count, random)) {
        let all = &by_project[project];
        let handoff = handoff_of(project, &all[..second]);
        let last = all[second - 1];
        let shown = |text: &str| text.chars().take(MAX_PROMPT_CHARS).collect::<String>();
        let _ = writeln!(
            sheet,
            "\n=== {number}. {project}: {} then {}\n--- last reply in the first session\n{}\n--- handoff ({} bytes)\n{handoff}\n--- prompts of the second session",
            last.id,
            all[second].id,
            shown(&last.last_words),
            handoff.len()
        );
        for prompt in all[second].prompts.iter().take(PROMPTS) {
            let _ = writeln!(sheet, "line {}: {}", prompt.line, shown(&prompt.text));
        }
    }
    sheet
}

fn handoff_of(project: &str, sessions: &[&RecordedSession]) -> String {
    let world = World::new();
    install(sessions.iter().copied(), &world.projects());
    let daemon = world.start();
    daemon.settle();
    for session in sessions {
        // If the name of the file is not the session's id, the session is not found and not closed.
        let _ = daemon.insist("session_tracking_close", &json!({ "session_id": session.id }));
    }
    daemon.settle();
    let answer = daemon.call("get_handoff", &json!({ "project": project }));
    daemon.stop();
    answer["text"].as_str().unwrap_or_default().to_owned()
}
