//! Limits on the resources that the daemon uses, in counts that hardly depend on the speed of the
//! machine. A change that needs more raises a limit here and gives the reason.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use graphiti_tests::{
    Counts, CountsFile, Random, World,
    made_up::{GeneratedSession, Library, history},
};
use serde_json::json;

/// Number of imported sessions.
const SESSIONS: u64 = 40;
const SESSION_BYTES: u64 = 100_000;
/// Number of searches, and of closes of a session with new messages.
const REPETITIONS: usize = 20;

/// A run needs 3.62 million allocations with 731 MB in total; runs differ by a thousandth. It
/// needed 3.26 million with less than 700 MB before version 8 of the redaction's rules and version
/// 26 of the summary's rules, which added patterns. The limits of allocations and of their bytes
/// are a tenth higher. The runs wrote 2.61 to 2.69 MB with 285 to 293 syncs. The limits of writes
/// and syncs are a quarter and a third higher, because an idle machine combines fewer writes.
const LIMITS: Counts = Counts {
    allocations: 3_980_000,
    allocated_bytes: 800_000_000,
    written_bytes: 3_300_000,
    syncs: 390,
};

#[test]
fn an_import_with_searches_and_closes_stays_within_its_budget() {
    let mut world = World::new();
    let counts = CountsFile::of(&mut world);
    let (library, mut random) = (Library::new(), Random::new(7));
    let mut latest = GeneratedSession::new(&world.projects(), SESSIONS);
    for number in 0..SESSIONS {
        let mut session = GeneratedSession::new(&world.projects(), number);
        session.write(&library, SESSION_BYTES);
        history::age(session.path());
    }
    let daemon = world.start();
    daemon.settle_sessions();
    for _ in 0..REPETITIONS {
        daemon.call("search_sessions", &json!({ "query": library.question(&mut random) }));
    }
    for _ in 0..REPETITIONS {
        latest.write(&library, 10_000);
        daemon.settle();
        daemon.close(latest.id());
    }
    daemon.settle();
    assert!(daemon.stop().success(), "{}", world.log());
    let needed = counts.read();
    for (name, needed, limit) in [
        ("allocations", needed.allocations, LIMITS.allocations),
        ("allocated bytes", needed.allocated_bytes, LIMITS.allocated_bytes),
        ("bytes written", needed.written_bytes, LIMITS.written_bytes),
        ("syncs", needed.syncs, LIMITS.syncs),
    ] {
        assert!(needed <= limit, "{needed} {name}, more than the limit of {limit}");
        assert!(
            4 * needed > limit,
            "{needed} {name}: the limit of {limit} is too high to detect an increase"
        );
    }
}
