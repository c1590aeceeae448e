//! Kills the daemon (`kill -9`) at random moments, while sessions are written and closed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use graphiti_tests::{Daemon, Random, Wire, World};
use serde_json::json;

use crate::exactly_once::{
    scripted::{OnceReport, ScriptedTranscript, check_counters, search_all},
    variable,
};

/// Number of sessions that start between two kills.
const SESSIONS: usize = 3;
/// Number of sub-agents of each session.
const SUB_AGENTS: usize = 2;
/// Maximum number of records between two kills.
const STEPS: usize = 60;

#[test]
fn after_any_kill_each_message_is_found_once() {
    let kills: usize = variable("KILLS").unwrap_or(6);
    let seed = variable("SEED").unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(7, |now| u64::from(now.subsec_nanos()))
    });
    println!("{kills} kills, SEED={seed}");
    let mut random = Random::new(seed);
    let world = World::new();
    let mut transcripts: Vec<ScriptedTranscript> = Vec::new();
    for round in 0..kills {
        let daemon = world.start();
        let first = transcripts.len().saturating_sub(SESSIONS * (SUB_AGENTS + 1));
        // The sessions of the previous round are continued.
        let mut writing = transcripts.split_off(first);
        for session in 0..SESSIONS {
            let number = 0x0200_0000 + round * SESSIONS + session;
            writing.push(ScriptedTranscript::new(&world.projects(), number, None));
            let of_agent = |agent| ScriptedTranscript::new(&world.projects(), number, Some(agent));
            writing.extend((0..SUB_AGENTS).map(of_agent));
        }
        transcripts.extend(write_until_killed(daemon, writing, &mut random));
    }
    // A transcript without a message is not registered.
    transcripts.retain(|transcript| !transcript.words.is_empty());
    let daemon = world.start();
    daemon.settle();
    // The kills may have quarantined a session. A request to close a session processes it
    // nevertheless.
    transcripts.iter().filter(|transcript| transcript.is_own()).for_each(|transcript| {
        daemon.close(&transcript.session);
    });
    assert!(daemon.stop().success());
    let daemon = world.start();
    let found = search_all(&daemon, &transcripts);
    println!("{kills} kills: {found:?}");
    assert_eq!(found, OnceReport { messages: found.messages, ..OnceReport::default() });
    check_counters(&world, &daemon, &transcripts);
    assert!(found.messages > kills * 2, "the test wrote too few messages");
}

/// Writes and closes sessions on another thread, and kills the daemon meanwhile.
fn write_until_killed(
    daemon: Daemon,
    mut transcripts: Vec<ScriptedTranscript>,
    random: &mut Random,
) -> Vec<ScriptedTranscript> {
    let kill_after = 1 + random.below(STEPS) as u64;
    let mut chance = Random::new(random.below(1 << 30) as u64);
    let (steps, killed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let worker = {
        let (steps, killed, socket) = (steps.clone(), killed.clone(), daemon.socket().to_owned());
        thread::spawn(move || {
            let mut wire = Wire::connect(&socket).ok();
            while !killed.load(Ordering::Relaxed) {
                let at = chance.below(transcripts.len());
                transcripts[at].append_message();
                // The daemon answers before it has indexed the session, so more records are written
                // meanwhile.
                let session = &transcripts[at].session;
                let params = json!({ "session_id": session, "reason": "hook_other" });
                let is_gone = |wire: &mut Wire| wire.try_ask("graphiti/close", params).is_none();
                if chance.below(3) == 0 && wire.as_mut().is_some_and(is_gone) {
                    break;
                }
                steps.fetch_add(1, Ordering::Relaxed);
            }
            transcripts
        })
    };
    while steps.load(Ordering::Relaxed) < kill_after && !worker.is_finished() {
        std::hint::spin_loop();
    }
    daemon.kill();
    killed.store(true, Ordering::Relaxed);
    worker.join().expect("the worker ends")
}
