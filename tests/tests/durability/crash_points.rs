//! Aborts the daemon at each point of `graphitid::fault`, except the points of `redact --again`.
//! The daemon starts again, no acknowledged data are lost, and nothing is stored twice.

use std::{fs, os::unix::process::ExitStatusExt, path::Path, process::ExitStatus, time::Duration};

use graphiti_proto::{methods, methods::hook};
use graphiti_tests::{Daemon, Faulty, Transcript, Wire, World};
use graphitid::fault;
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Points that are reached several times. In another run, the daemon dies when it reaches such a point
/// for the third time.
const REPEATED_POINTS: [&str; 3] = ["read", "store", "index: applied"];
/// Points of an eviction: only a daemon whose database comes near its limit reaches them.
const EVICTION_POINTS: [&str; 2] = ["quota", "smaller"];
/// Points of another command: `redact_again.rs` tests them.
const REDACTION_POINTS: &str = "redact";

#[test]
fn nothing_acknowledged_is_lost_wherever_the_daemon_dies() {
    let is_of_eviction = |point: &&&str| EVICTION_POINTS.iter().any(|kind| point.starts_with(kind));
    let mut died = 0;
    let of_sessions =
        |point: &&&str| !is_of_eviction(point) && !point.starts_with(REDACTION_POINTS);
    for point in fault::POINTS.iter().filter(of_sessions) {
        let several = REPEATED_POINTS.iter().any(|kind| point.starts_with(kind));
        for times in if several { vec![1, 3] } else { vec![1] } {
            // The number of lines that are read at once varies, so a point may be reached less often.
            let has_died = die_at(point, times);
            assert!(has_died || times > 1, "no session reaches `{point}`");
            died += u32::from(has_died);
        }
    }
    println!("died {died} times");
    assert!(died >= 15);
}

/// Sessions whose close was acknowledged, with the id of the episode if the answer contained it.
type Promises = Vec<(String, Option<String>)>;

fn die_at(point: &str, times: u32) -> bool {
    let mut world = World::new();
    let mut first = world.transcript("aaaa-1");
    first.prompt("Fix the marmot").reply("The marmot is fixed.");
    let daemon = world.start();
    daemon.settle();
    daemon.close("aaaa-1");
    assert!(daemon.stop().success());

    first.prompt("Paint the walrus").reply("The walrus is painted.");
    world.transcript("bbbb-2").prompt("Feed the periwinkle").reply("It is fed.");
    world.variables.push((fault::DIE_AT.to_owned(), format!("{point}:{times}")));
    let mut promises = Promises::new();
    let ended = live(&world, &mut promises);
    world.variables.pop();
    // The hook reported this session before its transcript existed.
    world.transcript("cccc-3").prompt("Count the ocelots").reply("There are three.");
    let has_died = is_abort(ended);
    println!("{point}:{times} {ended}, {} promises", promises.len());
    assert!(has_died || ended.success(), "{point}:{times}: {ended}\n{}", world.log());

    let daemon = world.start();
    let what = format!("{point}:{times}");
    wait_until_kept(&daemon, &promises, &what);
    daemon.settle();
    check(&daemon, &what);
    // A restart changes nothing.
    daemon.stop();
    let daemon = world.start();
    wait_until_kept(&daemon, &promises, &what);
    check(&daemon, &what);
    has_died
}

/// Starts the daemon, closes sessions, and stops the daemon unless it has died.
fn live(world: &World, promises: &mut Promises) -> ExitStatus {
    let daemon = match world.try_start() {
        Ok(daemon) => daemon,
        Err(status) => return status,
    };
    if let Ok(mut wire) = Wire::connect(daemon.socket()) {
        // Stops at the first step without an answer.
        let _ = request_closes(&mut wire, promises);
    }
    daemon.stop_or_dead()
}

fn request_closes(wire: &mut Wire, promises: &mut Promises) -> Option<()> {
    wire.try_ask(methods::SETTLE, json!({}))?.ok()?;
    let later = json!({ "session_id": "bbbb-2", "reason": "hook_other" });
    if wire.try_ask(methods::CLOSE, later)?.is_ok() {
        promises.push(("bbbb-2".to_owned(), None));
    }
    let close = json!({
        "name": "session_tracking_close", "arguments": { "session_id": "aaaa-1" },
    });
    let closed = wire.try_ask("tools/call", close)?.ok()?;
    if let Some(episode) = closed["structuredContent"]["episode_uuid"].as_str() {
        promises.push(("aaaa-1".to_owned(), Some(episode.to_owned())));
    }
    let event = json!({ "hook_event_name": "SessionEnd", "session_id": "cccc-3" });
    if wire.try_ask(hook::HOOK, event)?.is_ok() {
        promises.push(("cccc-3".to_owned(), None));
    }
    wire.try_ask(methods::SETTLE, json!({}))?.ok()?;
    Some(())
}

/// Waits until every promise is kept; a promise without an episode may be kept a little later.
fn wait_until_kept(daemon: &Daemon, promises: &Promises, what: &str) {
    daemon.settle();
    for (session, promised) in promises {
        loop {
            let found = daemon.session(session);
            if let Some(episode) = found["episode"]["uuid"].as_str() {
                let promised = promised.as_deref().unwrap_or(episode);
                assert_eq!(episode, promised, "{what}: {session}");
                break;
            }
            assert!(promised.is_none(), "{what}: {session} was acknowledged: {found}");
        }
    }
}

fn check(daemon: &Daemon, what: &str) {
    let health = daemon.call("session_tracking_health", &json!({}));
    assert_eq!(health["problems"], json!([]), "{what}");
    let listed = daemon.call("list_sessions", &json!({ "limit": 100 }));
    let sessions = listed["sessions"].as_array().unwrap();
    let episodes = sessions.iter().filter(|session| session["episode"].is_object()).count();
    assert_eq!(health["kept"]["episodes"], episodes, "{what}: {listed}");
    let messages: u64 =
        sessions.iter().map(|session| session["message_count"].as_u64().unwrap()).sum();
    assert_eq!(health["kept"]["messages"], messages, "{what}: {listed}");
    for (word, session) in [("walrus", "aaaa-1"), ("periwinkle", "bbbb-2"), ("ocelots", "cccc-3")] {
        let found = daemon.call("search_sessions", &json!({ "query": word }));
        let hits = found["hits"].as_array().unwrap();
        assert_eq!(hits.len(), 1, "{what}: {word}: {found}");
        assert_eq!(hits[0]["session"]["session_id"], session, "{what}: {found}");
    }
}

#[test]
fn nothing_is_lost_wherever_the_daemon_dies_during_an_eviction() {
    let mut world = World::new();
    let sessions: Vec<String> = (0..24).map(|number| format!("{number:04}-room")).collect();
    sessions
        .iter()
        .enumerate()
        .for_each(|(days, session)| write_long_session(&world, session, days as u32));
    let daemon = world.start();
    daemon.settle();
    daemon.stop();
    let filled = world.path("filled");
    copy(&world.home(), &filled);

    for point in
        fault::POINTS.iter().filter(|point| EVICTION_POINTS.iter().any(|k| point.starts_with(k)))
    {
        fs::remove_dir_all(world.home()).unwrap();
        copy(&filled, &world.home());
        world.configure(&json!({ "limits": { "database_bytes": "32 MiB" } }));
        world.variables.push((fault::DIE_AT.to_owned(), format!("{point}:1")));
        let ended = match world.try_start() {
            // The daemon evicts without a request, and dies at the point.
            Ok(daemon) => daemon.ended(),
            Err(status) => status,
        };
        world.variables.pop();
        assert!(is_abort(ended), "the daemon did not abort at `{point}`: {ended}");
        let daemon = world.start();
        let mut health = Value::Null;
        while health["kept"]["database_bytes"].as_u64().is_none_or(|bytes| bytes > 20 << 20) {
            daemon.settle_at_last();
            health = daemon.insist("session_tracking_health", &json!({})).unwrap();
        }
        println!("{point}: {}", health["kept"]);
        assert_eq!(health["kept"]["episodes"], sessions.len(), "{point}: {health}");
        for session in &sessions {
            let found = daemon.insist("get_session", &json!({ "session_id": session })).unwrap();
            assert!(found["session"]["episode"]["uuid"].is_string(), "{point}: {found}");
        }
        assert_eq!(health["problems"], json!([]), "{point}");
        daemon.stop();
        let names = fs::read_dir(world.home()).unwrap().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let left: Vec<String> = names.filter(|name| name.starts_with("db.")).collect();
        assert_eq!(left, [] as [&str; 0], "{point}");
    }
}

/// A single death may have another cause than the work on the session, so only repeated deaths
/// count.
#[test]
fn a_session_that_ends_the_daemon_each_time_is_quarantined_until_a_request_closes_it() {
    let mut world = World::new();
    world.transcript("aaaa-1").prompt("Fix the marmot").reply("The marmot is fixed.");
    let clock = Faulty::under(&mut world);
    // The daemon dies before it saves anything of the session: saved data would be progress.
    world.variables.push((fault::DIE_AT.to_owned(), "job: begun:1".to_owned()));
    for death in 1..=2 {
        let ended = match world.try_start() {
            Ok(daemon) => daemon.ended(),
            Err(status) => status,
        };
        assert!(is_abort(ended), "{death}: {}", world.log());
    }
    // Two deaths may be chance. Kills soon after a start do not count.
    for _ in 0..5 {
        world.start().kill();
    }
    for death in 3..=4 {
        let daemon = world.start();
        assert_eq!(daemon.health().problems, [] as [&str; 0]);
        clock.is_ahead(death * 120);
        daemon.wire().try_ask(methods::SETTLE, json!({}));
        assert!(is_abort(daemon.ended()), "{death}: {}", world.log());
    }
    // The next start quarantines the session and reports it.
    let daemon = world.start();
    daemon.settle();
    let problems = daemon.health().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("died 4 times"), "{problems:?}");
    assert!(problems[0].contains("graphiti close aaaa-1"), "{problems:?}");
    // A request allows one attempt; after that the session is quarantined again.
    let close = json!({
        "name": "session_tracking_close", "arguments": { "session_id": "aaaa-1" },
    });
    assert_eq!(daemon.wire().try_ask("tools/call", close), None);
    assert!(is_abort(daemon.ended()), "{}", world.log());
    let daemon = world.start();
    daemon.settle();
    assert!(daemon.health().problems[0].contains("died 4 times"), "{}", world.log());
    assert!(daemon.stop().success());

    // Other sessions are processed meanwhile. The quarantined session is processed on request.
    world.variables.retain(|(name, _)| name != fault::DIE_AT);
    world.transcript("bbbb-2").prompt("Feed the periwinkle").reply("It is fed.");
    let daemon = world.start();
    daemon.settle();
    daemon.close("bbbb-2");
    assert!(daemon.health().problems[0].contains("died 4 times"), "{}", world.log());
    assert!(daemon.close("aaaa-1")["episode_uuid"].is_string());
    let found = daemon.call("search_sessions", &json!({ "query": "marmot" }));
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
    daemon.kill();
    assert!(world.start().stop().success());
}

/// Writes a session of about 600 kB that ended `2 + days` days ago.
fn write_long_session(world: &World, session: &str, days: u32) {
    let mut transcript: Transcript = world.transcript(session).aged(DAY * (2 + days));
    let mut random = 88_172_645_463_325_252u64 ^ u64::from(days);
    let mut noise = || -> String {
        let mut word = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            format!("{random:016x}")
        };
        (0..600).map(|_| word()).collect::<Vec<_>>().join(" ")
    };
    transcript.prompt(&format!("Fix number {days}"));
    for _ in 0..30 {
        transcript.prompt(&noise()).reply(&noise());
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (kind, target) = (entry.file_type().unwrap(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target);
        } else if kind.is_file() {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Whether a process aborted, as in [`fault::point`].
fn is_abort(status: ExitStatus) -> bool {
    const ABORT: i32 = 6;
    status.signal() == Some(ABORT)
}
