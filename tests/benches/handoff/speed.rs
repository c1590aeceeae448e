//! Measures how long the hook at a prompt waits for the daemon.

use std::time::{Duration, Instant};

use graphiti_tests::World;
use serde_json::json;

/// Number of projects of the generated sessions.
const PROJECTS: usize = 20;
/// Number of prompts that are measured.
const PROMPTS: usize = 200;
const HOUR: Duration = Duration::from_secs(3_600);

pub(crate) fn measure(sessions: usize) {
    let world = World::new();
    world.configure(&json!({ "hooks": { "recall": true } }));
    for number in 0..sessions {
        let project = format!("/work/project{}", number % PROJECTS);
        let mut transcript = world.transcript_in(&format!("s-{number:06}"), &project).aged(HOUR);
        transcript
            .prompt(&format!(
                "Fix module{number} of the importer. From now on, never push branch{number} without asking me."
            ))
            .tool("Edit", &json!({ "file_path": format!("{project}/src/module{number}.rs") }), "edited")
            .reply(&format!("Decision: module{number} uses a queue of rows instead of a list."));
    }
    let daemon = world.start();
    daemon.settle_sessions();
    let mut wire = daemon.wire();
    let mut times: Vec<Duration> = (0..PROMPTS)
        .map(|number| {
            let event = json!({
                "hook_event_name": "UserPromptSubmit", "session_id": "new",
                "cwd": format!("/work/project{}", number % PROJECTS),
                "prompt": format!("Push branch{number} without asking and look at module{number}"),
            });
            let began = Instant::now();
            wire.ask("graphiti/hook", event).expect("an answer");
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    let milliseconds = |at: usize| times[at].as_secs_f64() * 1e3;
    println!(
        "{sessions} sessions, {PROMPTS} prompts: median {:.2} ms, 99 % {:.2} ms, longest {:.2} ms",
        milliseconds(PROMPTS / 2),
        milliseconds(PROMPTS * 99 / 100),
        milliseconds(PROMPTS - 1)
    );
}
