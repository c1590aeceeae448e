//! Many files that appear at once, in a folder that is being followed.

use std::{fs, thread, time::Instant};

use graphiti_tests::World;

use crate::{
    said::{Audit, Said, audit, check_counters},
    variable,
};

/// Sub-agents that begin at once.
const SUB_AGENTS: usize = 6;

#[test]
fn files_that_are_copied_at_once_are_followed_once() {
    let count: usize = variable("FILES").unwrap_or(120);
    let world = World::new();
    let prepared = world.path("prepared");
    let mut said: Vec<Said> = (0..count).map(|number| Said::new(&prepared, number, None)).collect();
    said.iter_mut().for_each(|one| (0..2).for_each(|_| one.say()));
    let daemon = world.start();
    daemon.settle();
    let began = Instant::now();
    for one in &mut said {
        let inside = one.path.strip_prefix(&prepared).expect("it was prepared there");
        let copy = world.projects().join(inside);
        fs::create_dir_all(copy.parent().expect("a folder")).expect("make the folder");
        fs::copy(&one.path, &copy).expect("copy the transcript");
        one.path = copy;
    }
    daemon.settle();
    said.iter_mut().for_each(Said::say);
    let found = audit(&daemon, &said);
    println!("{count} files: {found:?} ({:.0?})", began.elapsed());
    assert_eq!(found, Audit { messages: 3 * count, ..Audit::default() });
    check_counters(&world, &daemon, &said);
}

#[test]
fn sub_agents_that_begin_at_once_are_followed_once() {
    let rounds: usize = variable("ROUNDS").unwrap_or(6);
    let world = World::new();
    let daemon = world.start();
    let mut said = Vec::new();
    for round in 0..rounds {
        let number = 0x0100_0000 + round;
        let mut own = Said::new(&world.projects(), number, None);
        own.say();
        let agents: Vec<_> = (0..SUB_AGENTS)
            .map(|agent| {
                let mut one = Said::new(&world.projects(), number, Some(agent));
                thread::spawn(move || {
                    (0..4).for_each(|_| one.say());
                    one
                })
            })
            .collect();
        said.extend(agents.into_iter().map(|agent| agent.join().expect("it writes")));
        own.say();
        said.push(own);
    }
    let found = audit(&daemon, &said);
    println!("{rounds} times {SUB_AGENTS} sub-agents: {found:?}");
    let messages = rounds * (SUB_AGENTS * 4 + 2);
    assert_eq!(found, Audit { messages, ..Audit::default() });
    check_counters(&world, &daemon, &said);
}
