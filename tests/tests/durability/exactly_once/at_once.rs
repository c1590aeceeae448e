//! Tests many files that appear at the same time in a followed folder.

use std::{fs, thread, time::Instant};

use graphiti_tests::World;

use crate::exactly_once::{
    scripted::{OnceReport, ScriptedTranscript, check_counters, search_all},
    variable,
};

/// Number of sub-agents that begin at the same time.
const SUB_AGENTS: usize = 6;

#[test]
fn files_that_are_copied_at_once_are_followed_once() {
    let count: usize = variable("FILES").unwrap_or(120);
    let world = World::new();
    let prepared = world.path("prepared");
    let mut transcripts: Vec<ScriptedTranscript> =
        (0..count).map(|number| ScriptedTranscript::new(&prepared, number, None)).collect();
    transcripts.iter_mut().for_each(|transcript| (0..2).for_each(|_| transcript.append_message()));
    let daemon = world.start();
    daemon.settle();
    let began = Instant::now();
    for transcript in &mut transcripts {
        let inside = transcript
            .path
            .strip_prefix(&prepared)
            .expect("the transcript is in the prepared folder");
        let copy = world.projects().join(inside);
        fs::create_dir_all(copy.parent().expect("a folder")).expect("make the folder");
        fs::copy(&transcript.path, &copy).expect("copy the transcript");
        transcript.path = copy;
    }
    daemon.settle();
    transcripts.iter_mut().for_each(ScriptedTranscript::append_message);
    let found = search_all(&daemon, &transcripts);
    println!("{count} files: {found:?} ({:.0?})", began.elapsed());
    assert_eq!(found, OnceReport { messages: 3 * count, ..OnceReport::default() });
    check_counters(&world, &daemon, &transcripts);
}

#[test]
fn sub_agents_that_begin_at_once_are_followed_once() {
    let rounds: usize = variable("ROUNDS").unwrap_or(6);
    let world = World::new();
    let daemon = world.start();
    let mut transcripts = Vec::new();
    for round in 0..rounds {
        let number = 0x0100_0000 + round;
        let mut own = ScriptedTranscript::new(&world.projects(), number, None);
        own.append_message();
        let agents: Vec<_> = (0..SUB_AGENTS)
            .map(|agent| {
                let mut transcript =
                    ScriptedTranscript::new(&world.projects(), number, Some(agent));
                thread::spawn(move || {
                    (0..4).for_each(|_| transcript.append_message());
                    transcript
                })
            })
            .collect();
        transcripts.extend(agents.into_iter().map(|agent| agent.join().expect("the thread ends")));
        own.append_message();
        transcripts.push(own);
    }
    let found = search_all(&daemon, &transcripts);
    println!("{rounds} times {SUB_AGENTS} sub-agents: {found:?}");
    let messages = rounds * (SUB_AGENTS * 4 + 2);
    assert_eq!(found, OnceReport { messages, ..OnceReport::default() });
    check_counters(&world, &daemon, &transcripts);
}
