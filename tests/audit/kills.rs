//! `kill -9` at any moment, while sessions are written and closed.

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

use crate::{
    said::{Audit, Said, audit, check_counters},
    variable,
};

/// Sessions that are begun between two kills.
const SESSIONS: usize = 3;
/// Sub-agents of each.
const SUB_AGENTS: usize = 2;
/// Records between two kills, at most.
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
    let mut said: Vec<Said> = Vec::new();
    for round in 0..kills {
        let daemon = world.start();
        let first = said.len().saturating_sub(SESSIONS * (SUB_AGENTS + 1));
        // The sessions before go on, too.
        let mut writing = said.split_off(first);
        for session in 0..SESSIONS {
            let number = 0x0200_0000 + round * SESSIONS + session;
            writing.push(Said::new(&world.projects(), number, None));
            let of_agent = |agent| Said::new(&world.projects(), number, Some(agent));
            writing.extend((0..SUB_AGENTS).map(of_agent));
        }
        said.extend(write_until_killed(daemon, writing, &mut random));
    }
    // Those that said nothing are no files.
    said.retain(|one| !one.words.is_empty());
    let daemon = world.start();
    daemon.settle();
    // A session in whose work the daemon was killed three times is quarantined until it is closed by
    // name, which the status tells.
    said.iter().filter(|one| one.is_own()).for_each(|one| drop(daemon.close(&one.session)));
    assert!(daemon.stop().success());
    let daemon = world.start();
    let found = audit(&daemon, &said);
    println!("{kills} kills: {found:?}");
    assert_eq!(found, Audit { messages: found.messages, ..Audit::default() });
    check_counters(&world, &daemon, &said);
    assert!(found.messages > kills * 2, "the test wrote next to nothing");
}

/// Writes and closes sessions on another thread until the daemon is killed in the middle of it.
fn write_until_killed(daemon: Daemon, mut said: Vec<Said>, random: &mut Random) -> Vec<Said> {
    let kill_after = 1 + random.below(STEPS) as u64;
    let mut chance = Random::new(random.below(1 << 30) as u64);
    let (steps, killed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let worker = {
        let (steps, killed, socket) = (steps.clone(), killed.clone(), daemon.socket().to_owned());
        thread::spawn(move || {
            let mut wire = Wire::connect(&socket).ok();
            while !killed.load(Ordering::Relaxed) {
                let at = chance.below(said.len());
                said[at].say();
                // A close that is acknowledged is on disk: meanwhile the rest goes on.
                let session = &said[at].session;
                let params = json!({ "session_id": session, "reason": "hook_other" });
                let is_gone = |wire: &mut Wire| wire.try_ask("graphiti/close", params).is_none();
                if chance.below(3) == 0 && wire.as_mut().is_some_and(is_gone) {
                    break;
                }
                steps.fetch_add(1, Ordering::Relaxed);
            }
            said
        })
    };
    while steps.load(Ordering::Relaxed) < kill_after && !worker.is_finished() {
        std::hint::spin_loop();
    }
    daemon.kill();
    killed.store(true, Ordering::Relaxed);
    worker.join().expect("the worker ends")
}
