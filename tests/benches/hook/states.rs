//! Measures the duration of hooks with a daemon in each state, and checks the effect of their
//! events.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use graphiti_proto::rpc::Request;
use graphiti_tests::{
    Daemon, Wire, World,
    times::{Times, timed},
};
use serde_json::json;

use crate::{event, hook};

/// A call should not take longer. Longer calls are counted.
const LIMIT: Duration = Duration::from_millis(100);
/// Number of connections: more than the daemon serves and queues together.
const CROWD: usize = 300;
/// Number of clients that send searches without pause.
const BUSY_CLIENTS: usize = 8;
/// Number of searches that each of these clients sends at once.
const SEARCHES: u64 = 24;

pub(crate) fn measure(client: &Path, calls: usize) {
    println!("SessionEnd by the daemon's state, {calls} calls each");
    state(client, calls, "up", |call, world| {
        let daemon = world.start();
        daemon.settle();
        call();
        daemon
    });
    state(client, calls, "down", |call, world| {
        let daemon = world.start();
        daemon.settle();
        daemon.stop();
        call();
        world.start()
    });
    state(client, calls, "hung", |call, world| {
        let daemon = world.start();
        daemon.settle();
        daemon.signal("STOP");
        call();
        daemon.signal("CONT");
        daemon
    });
    state(client, calls, "full", |call, world| {
        let daemon = world.start();
        daemon.settle();
        let crowd: Vec<Wire> = (0..CROWD).map(|_| daemon.wire()).collect();
        call();
        drop(crowd);
        daemon
    });
    state(client, calls, "overloaded", |call, world| {
        let daemon = world.start();
        daemon.settle();
        overloaded(&daemon, call);
        daemon
    });
}

/// Calls the hook in one state of the daemon, and checks whether each event took effect.
fn state(
    client: &Path,
    calls: usize,
    title: &str,
    during: impl FnOnce(&mut dyn FnMut(), &World) -> Daemon,
) {
    let world = World::new();
    let name = |number: usize| format!("{title}-{number}");
    for number in 0..calls {
        world.transcript(&name(number)).prompt("Fix the parser.").reply("Done.");
    }
    let mut times = Vec::new();
    let mut failed = 0;
    let daemon = during(
        &mut || {
            for number in 0..calls {
                let event = event("SessionEnd", &name(number), "clear");
                let (time, succeeded) = timed(&mut hook(&world, client), &event);
                times.push(time);
                failed += usize::from(!succeeded);
            }
        },
        &world,
    );
    let spooled = std::fs::read_dir(world.home().join("spool")).map_or(0, Iterator::count);
    daemon.settle();
    let is_lost =
        |number: &usize| daemon.session(&name(*number))["episode"]["close_reason"] != "hook_clear";
    let lost = (0..calls).filter(is_lost).count();
    let times = Times::of(times);
    println!(
        "  {title:<10} {}  over {LIMIT:?}: {}, failed: {failed}, lost: {lost}, spooled: {spooled}",
        times.to_text(),
        times.over(LIMIT)
    );
    assert_eq!((failed, lost), (0, 0), "{title}");
}

/// Calls the hook while other clients overload the daemon.
fn overloaded(daemon: &Daemon, call: &mut dyn FnMut()) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..BUSY_CLIENTS {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    send_searches(daemon);
                }
            });
        }
        call();
        is_over.store(true, Ordering::Relaxed);
    });
}

fn send_searches(daemon: &Daemon) {
    let mut wire = daemon.wire();
    for id in 0..SEARCHES {
        let arguments = json!({ "query": "what did we decide about the parser", "limit": 50 });
        wire.send(&Request::call(id, "search_sessions", &arguments).to_line());
    }
    for _ in 0..SEARCHES {
        wire.receive_line();
    }
}
