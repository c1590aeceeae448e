//! Tests faults of the machine: a full, failing, slow or read-only disk, too few descriptors or
//! watches, a suspended process, a changed clock. The daemon starts or reports the remedy. It loses
//! nothing that it acknowledged, and continues when the fault is gone.
//!
//! Some tests create a disk or a limit in a new namespace, which needs `unshare -Urm`. Others
//! preload a library ([`Faulty`]), which needs gcc.
#![cfg(target_os = "linux")]

use std::{
    fs::{self, File},
    io::Write,
    iter,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use graphiti_proto::methods;
use graphiti_tests::{Daemon, Faulty, Refused, Wire, World, namespace};
use serde_json::{Value, json};

const MEGABYTE: u64 = 1 << 20;
/// The time of a sync on a slow disk.
const SLOW_SYNC: Duration = Duration::from_secs(3);

#[test]
fn with_little_free_space_only_new_text_waits() {
    if !namespace::run_inside("faults::with_little_free_space_only_new_text_waits") {
        return;
    }
    let world = World::new();
    namespace::mount_disk(&world.home(), 80);
    let mut first = world.transcript("aaaa-1");
    first.prompt("Fix the marmot").reply("The marmot is fixed.");
    let daemon = world.start();
    daemon.settle();
    let episode = daemon.close("aaaa-1")["episode_uuid"].clone();
    let ballast = world.home().join("ballast");
    fill(&ballast, free(&world.home()) - 30 * MEGABYTE);

    let mut second = world.transcript("bbbb-2");
    second.prompt("Paint the walrus").reply("The walrus is painted.");
    daemon.settle_at_last();
    let health = health(&daemon);
    let problem = health["problems"].to_string();
    assert!(
        problem.contains("are free on the disk of") && problem.contains("free space there"),
        "{health}"
    );
    let refused = daemon.insist("session_tracking_close", &json!({ "session_id": "bbbb-2" }));
    let refused = refused.unwrap()["error"].as_str().unwrap().to_owned();
    assert!(refused.contains("free space there"), "{refused}");
    let doctor = String::from_utf8(world.graphiti(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("free space on the disk of the home"), "{doctor}");
    assert_eq!(found(&daemon, "marmot"), 1);
    assert_eq!(daemon.session("aaaa-1")["episode"]["uuid"], episode);

    fs::remove_file(&ballast).unwrap();
    let pid = health["pid"].clone();
    wait_until_recovered(&world, &daemon, &[("aaaa-1", "marmot"), ("bbbb-2", "walrus")]);
    assert_eq!(daemon.session("aaaa-1")["episode"]["uuid"], episode);
    // The daemon was not restarted.
    assert_eq!(self::health(&daemon)["pid"], pid);
}

#[test]
fn what_a_full_disk_does_not_store_is_reported_and_the_reserve_is_made_again() {
    let name = "faults::what_a_full_disk_does_not_store_is_reported_and_the_reserve_is_made_again";
    if !namespace::run_inside(name) {
        return;
    }
    let world = World::new();
    namespace::mount_disk(&world.home(), 160);
    let daemon = world.start();
    // The daemon deletes this file when it starts on a full disk, because the start needs space.
    let reserve = world.home().join("reserve");
    assert!(reserve.exists());
    assert!(daemon.stop().success());
    let ballast = world.home().join("ballast");
    fill(&ballast, u64::MAX);
    let daemon = world.start();
    assert!(!reserve.exists(), "the start used the reserve");
    // There is no transcript, so the daemon has not refused any text yet.
    let waiting = world.graphiti(&["status", "--wait"]);
    let (shown, error) = (
        String::from_utf8_lossy(&waiting.stdout).into_owned(),
        String::from_utf8_lossy(&waiting.stderr).into_owned(),
    );
    assert_eq!(waiting.status.code(), Some(1), "{shown}{error}");
    assert!(shown.contains("not imported completely: only"), "{shown}");
    assert!(error.contains("MB are needed"), "{error}");
    assert!(world.printed(&["list"]).contains("New sessions are incomplete here"));
    assert!(world.printed(&["search", "marmot"]).contains("New sessions are incomplete here"));
    fs::remove_file(&ballast).unwrap();
    world.printed(&["reload"]);
    assert!(reserve.exists(), "the reserve is made again");
    assert!(world.graphiti(&["status", "--wait"]).status.success());
    drop(daemon);
}

#[test]
fn on_a_full_disk_nothing_acknowledged_is_lost() {
    if !namespace::run_inside("faults::on_a_full_disk_nothing_acknowledged_is_lost") {
        return;
    }
    let world = World::new();
    namespace::mount_disk(&world.home(), 80);
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the marmot").reply("The marmot is fixed.");
    let daemon = world.start();
    daemon.settle();
    let mut acknowledged = vec![("aaaa-1".to_owned(), try_close(&daemon, "aaaa-1").unwrap())];
    let ballast = world.home().join("ballast");
    fill(&ballast, free(&world.home()) - 40 * MEGABYTE);
    // Each step leaves less free space, until none is left.
    let mut number = 0;
    while free(&world.home()) > 0 && number < 400 {
        number += 1;
        let session = format!("s{number:03}-{number}");
        world.transcript(&session).prompt("Paint the walrus").reply("The walrus is painted.");
        daemon.settle_at_last();
        if let Some(episode) = try_close(&daemon, &session) {
            acknowledged.push((session, episode));
        }
        let more = free(&world.home()).min(2 * MEGABYTE);
        fill(&world.home().join(format!("ballast-{number}")), more);
    }
    assert!(acknowledged.len() > 2, "no session was closed before the disk was full");
    assert!(number + 1 > acknowledged.len(), "every session could be closed on a full disk");
    assert_eq!(found(&daemon, "marmot"), 1, "stored data can still be searched");
    daemon.kill();

    // A daemon that is started now works with restrictions, or reports the remedy.
    match world.try_start() {
        Ok(daemon) => {
            let problem = health(&daemon)["problems"].to_string();
            daemon.kill();
            assert!(problem.contains("free space") || problem == "[]", "{problem}");
        }
        Err(status) => {
            let log = world.log();
            assert_eq!(status.code(), Some(1), "{log}");
            assert!(log.contains("free space") || log.contains("No space left"), "{log}");
        }
    }
    for entry in fs::read_dir(world.home()).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("ballast") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let daemon = world.start();
    daemon.settle_at_last();
    for (session, episode) in &acknowledged {
        assert_eq!(daemon.session(session)["episode"]["uuid"], **episode, "{session}");
    }
    assert_eq!(found(&daemon, "marmot"), 1);
    assert_eq!(damaged(&world), 0, "a full disk is not reported as damage");
}

#[test]
fn a_start_on_a_full_disk_can_search_and_reads_new_text_later() {
    let name = "faults::a_start_on_a_full_disk_can_search_and_reads_new_text_later";
    if !namespace::run_inside(name) {
        return;
    }
    let world = World::new();
    namespace::mount_disk(&world.home(), 160);
    let (mut daemon, episode) = start_with_closed_session(&world);
    let ballast = world.home().join("ballast");
    let stopped: fn(Daemon) = |daemon| assert!(daemon.stop().success());
    let killed: fn(Daemon) = Daemon::kill;
    for (session, word, ends) in [("bbbb-2", "walrus", stopped), ("cccc-3", "numbat", killed)] {
        ends(daemon);
        fill(&ballast, u64::MAX);
        assert_eq!(free(&world.home()), 0);
        let prompt = format!("Paint the {word}");
        world.transcript(session).prompt(&prompt).reply("It is painted.");
        daemon = world.start();
        daemon.settle_at_last();
        let problems = health(&daemon)["problems"].to_string();
        assert!(problems.contains("free space there"), "{problems}");
        assert_eq!(found(&daemon, "marmot"), 1);
        assert!(world.printed(&["list"]).contains("marmot"));
        assert!(world.printed(&["show", "aaaa-1"]).contains("marmot"));
        let refused = daemon.insist("session_tracking_close", &json!({ "session_id": session }));
        let refused = refused.unwrap()["error"].to_string();
        assert!(refused.contains("free space there"), "{refused}");

        fs::remove_file(&ballast).unwrap();
        wait_until_recovered(&world, &daemon, &[("aaaa-1", "marmot"), (session, word)]);
        assert_eq!(daemon.session("aaaa-1")["episode"]["uuid"], *episode);
    }
    assert_eq!(damaged(&world), 0, "a full disk is not reported as damage");
}

#[test]
fn a_disk_that_fails_to_write_is_reported_and_used_again_when_it_works() {
    assert_works_again(Refused::Write);
}

#[test]
fn a_disk_that_fails_to_sync_is_reported_and_used_again_when_it_works() {
    assert_works_again(Refused::Sync);
}

fn assert_works_again(what: Refused) {
    let mut world = World::new();
    let disk = Faulty::under(&mut world);
    let (daemon, episode) = start_with_closed_session(&world);

    assert_close_is_refused(
        &world,
        &daemon,
        ["bbbb-2", "Paint the walrus", "It is painted."],
        || {
            disk.fails(what);
        },
    );
    let problems = health(&daemon)["problems"].to_string();
    assert!(problems.contains("Input/output error"), "{problems}");
    assert!(problems.contains("graphiti reload"), "{problems}");
    assert_eq!(found(&daemon, "marmot"), 1, "stored data can still be searched");
    // The first signal may make the daemon try the disk while the disk still fails. The daemon must
    // not treat these errors as damage.
    daemon.signal("HUP");
    disk.works();
    daemon.signal("HUP");
    wait_until_recovered(&world, &daemon, &[("aaaa-1", "marmot"), ("bbbb-2", "walrus")]);
    assert_eq!(daemon.session("aaaa-1")["episode"]["uuid"], *episode);

    // A daemon that is killed while the disk fails does not lose acknowledged data either.
    assert_close_is_refused(
        &world,
        &daemon,
        ["cccc-3", "Feed the periwinkle", "It is fed."],
        || {
            disk.fails(what);
        },
    );
    daemon.kill();
    disk.works();
    let daemon = world.start();
    daemon.settle();
    assert_eq!(daemon.session("aaaa-1")["episode"]["uuid"], *episode);
    for word in ["marmot", "walrus", "periwinkle"] {
        assert_eq!(found(&daemon, word), 1, "{word}");
    }
    assert_eq!(damaged(&world), 0);
}

/// While the callers send requests, new sessions are registered in the database.
#[test]
fn on_a_slow_disk_callers_are_answered_at_once() {
    let mut world = World::new();
    let disk = Faulty::under(&mut world);
    let (daemon, _) = start_with_closed_session(&world);
    let mut wire = daemon.wire();
    let mut timed = |tool: &str, arguments: Value, number: u32| {
        let begin = Instant::now();
        let answer = wire.call(tool, &arguments);
        assert!(answer["error"].is_null(), "{answer}");
        (begin.elapsed(), tool.to_owned(), number)
    };
    timed("search_sessions", json!({ "query": "marmot" }), 0);
    disk.is_slow(SLOW_SYNC);
    let mut slowest = Vec::new();
    for number in 0..60 {
        let session = format!("slow{number}-1");
        world.transcript(&session).prompt("Paint the walrus").reply("It is painted.");
        slowest.push(timed("session_tracking_health", json!({}), number));
        slowest.push(timed("session_tracking_status", json!({}), number));
        slowest.push(timed("search_sessions", json!({ "query": "marmot" }), number));
        slowest.push(timed("list_sessions", json!({ "limit": 5 }), number));
    }
    slowest.sort_unstable_by(|one, other| other.cmp(one));
    assert!(slowest[0].0 < SLOW_SYNC / 3, "{:?}", &slowest[..8]);
    disk.works();
    daemon.settle();
    assert_eq!(found(&daemon, "walrus"), 10, "a page has ten results");
}

#[test]
fn a_database_that_cannot_be_read_for_a_while_is_not_treated_as_damaged() {
    let mut world = World::new();
    let disk = Faulty::under(&mut world);
    let (daemon, episode) = start_with_closed_session(&world);
    daemon.stop();

    disk.fails(Refused::Read);
    let status = world.try_start().err().expect("nothing can be read");
    let log = world.log();
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(log.contains("Input/output error"), "{log}");

    disk.works();
    let daemon = world.start();
    daemon.settle();
    assert_eq!(daemon.session("aaaa-1")["episode"]["uuid"], *episode);
    assert_eq!(damaged(&world), 0);
}

#[test]
fn callers_get_the_reason_while_the_database_cannot_be_opened() {
    let mut world = World::new();
    let disk = Faulty::under(&mut world);
    let (daemon, episode) = start_with_closed_session(&world);
    assert_close_is_refused(
        &world,
        &daemon,
        ["bbbb-2", "Paint the walrus", "It is painted."],
        || {
            disk.fails(Refused::Write);
        },
    );
    // The database is reopened, and cannot be read.
    disk.fails(Refused::Read);
    daemon.signal("HUP");
    let errors = || String::from_utf8(world.graphiti(&["status"]).stderr).unwrap();
    let reason = iter::repeat_with(errors).take(5_000).find(|text| text.contains("retried every"));
    assert!(reason.is_some_and(|text| text.contains("Input/output error")), "{}", world.log());
    disk.works();
    daemon.signal("HUP");
    daemon.settle_at_last();
    assert_eq!(daemon.session("aaaa-1")["episode"]["uuid"], *episode);
    assert_eq!(found(&daemon, "walrus"), 1);
}

/// A close needs twelve or thirteen writes. At each of them in turn, the disk becomes full or the
/// daemon is killed.
#[test]
fn a_fault_at_any_write_of_a_close_loses_nothing_acknowledged() {
    let (mut tried, mut refused) = (0, 0);
    for (write, ends) in at_writes(16) {
        let mut world = World::new();
        let disk = Faulty::under(&mut world);
        let (daemon, episode) = start_with_closed_session(&world);
        let mut acknowledged = vec![("aaaa-1", episode)];
        let mut second = world.transcript("bbbb-2");
        second.prompt("Paint the walrus");
        daemon.settle();
        tried += 1;
        ends(&disk, write);
        second.reply("The walrus is painted.");
        match try_close(&daemon, "bbbb-2") {
            Some(episode) => acknowledged.push(("bbbb-2", episode)),
            None => refused += 1,
        }
        daemon.kill();
        disk.works();
        let daemon = world.start();
        daemon.settle_at_last();
        for (session, episode) in &acknowledged {
            assert_eq!(daemon.session(session)["episode"]["uuid"], **episode, "at {write}");
        }
        assert_eq!(found(&daemon, "marmot"), 1, "at {write}");
        assert_eq!(found(&daemon, "walrus"), 1, "at {write}");
        assert_eq!(damaged(&world), 0, "at {write}");
    }
    assert!((6..tried).contains(&refused), "{refused} of {tried} closes were refused");
}

/// A start needs about twenty-two writes. At each of them in turn, the disk becomes full or the daemon
/// is killed.
#[test]
fn a_fault_at_any_write_of_a_start_loses_nothing() {
    let mut ended = 0;
    for (write, ends) in at_writes(24) {
        let mut world = World::new();
        let disk = Faulty::under(&mut world);
        let (daemon, episode) = start_with_closed_session(&world);
        daemon.kill();
        world.transcript("bbbb-2").prompt("Paint the walrus").reply("The walrus is painted.");
        ends(&disk, write);
        match world.try_start() {
            Ok(daemon) => daemon.kill(),
            Err(_) => ended += 1,
        }
        disk.works();
        let daemon = world.start();
        daemon.settle();
        assert_eq!(daemon.session("aaaa-1")["episode"]["uuid"], *episode, "at {write}");
        assert_eq!(found(&daemon, "marmot"), 1, "at {write}");
        assert_eq!(found(&daemon, "walrus"), 1, "at {write}");
        assert_eq!(damaged(&world), 0, "at {write}");
    }
    assert!(ended > 4, "{ended} starts ended");
}

/// Returns two faults for each of the first `most` writes of a daemon: the disk is full from this
/// write on, or the daemon is killed at this write. The environment variable `WRITES` replaces
/// `most`.
fn at_writes(most: u32) -> impl Iterator<Item = (u32, fn(&Faulty, u32))> {
    let from_environment = std::env::var("WRITES").ok().map(|most| most.parse().expect("a number"));
    let most = from_environment.unwrap_or(most);
    let ends: [fn(&Faulty, u32); 2] = [Faulty::is_full_from, Faulty::dies_at];
    ends.into_iter().flat_map(move |ends| (1..=most).map(move |write| (write, ends)))
}

#[test]
fn after_the_clock_is_changed_sessions_still_end_once() {
    let mut world = World::new();
    let clock = Faulty::under(&mut world);
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the marmot").reply("The marmot is fixed.");
    let daemon = world.start();
    daemon.settle();
    assert_eq!(daemon.session("aaaa-1")["state"], "active");
    clock.is_ahead(2 * 3_600);
    daemon.settle_sessions();
    let episode = daemon.session("aaaa-1")["episode"]["uuid"].clone();
    assert!(episode.is_string(), "{}", daemon.session("aaaa-1"));

    clock.is_ahead(-2 * 3_600);
    world.transcript("bbbb-2").prompt("Paint the walrus").reply("The walrus is painted.");
    daemon.settle();
    assert_eq!(daemon.session("aaaa-1")["episode"]["uuid"], episode);
    assert!(try_close(&daemon, "bbbb-2").is_some());
    transcript.prompt("Feed the periwinkle").reply("It is fed.");
    daemon.settle();
    clock.works();
    clock.is_ahead(3_600);
    daemon.settle_sessions();
    let later = daemon.session("aaaa-1");
    assert_eq!(later["state"], "indexed", "{later}");
    assert_ne!(later["episode"]["uuid"], episode, "the episode was not replaced");
    for word in ["marmot", "walrus", "periwinkle"] {
        assert_eq!(found(&daemon, word), 1, "{word}");
    }
}

/// Checks that a close is not acknowledged if the fault occurs before the last reply.
fn assert_close_is_refused(
    world: &World,
    daemon: &Daemon,
    [session, prompt, reply]: [&str; 3],
    cause_fault: impl FnOnce(),
) {
    let mut transcript = world.transcript(session);
    transcript.prompt(prompt);
    daemon.settle();
    cause_fault();
    transcript.reply(reply);
    assert_eq!(try_close(daemon, session), None, "acknowledged without being on the disk");
}

/// Starts a daemon and closes `aaaa-1`; returns the daemon and the id of the episode.
fn start_with_closed_session(world: &World) -> (Daemon, String) {
    world.transcript("aaaa-1").prompt("Fix the marmot").reply("The marmot is fixed.");
    let daemon = world.start();
    daemon.settle();
    let episode = try_close(&daemon, "aaaa-1").unwrap();
    (daemon, episode)
}

/// Returns the number of databases that were moved aside as damaged.
fn damaged(world: &World) -> usize {
    let aside = fs::read_dir(world.home()).unwrap().flatten();
    aside.filter(|entry| entry.file_name().to_string_lossy().contains("damaged")).count()
}

#[test]
fn a_read_only_home_is_reported_with_the_remedy() {
    if !namespace::run_inside("faults::a_read_only_home_is_reported_with_the_remedy") {
        return;
    }
    let world = World::new();
    namespace::mount_disk(&world.home(), 80);
    world.transcript("aaaa-1").prompt("Fix the marmot").reply("The marmot is fixed.");
    let daemon = world.start();
    daemon.settle();
    daemon.stop();
    namespace::remount_read_only(&world.home());
    let output = world.command("graphitid").output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("Read-only file system"), "{errors}");
    assert!(errors.contains("set GRAPHITI_HOME to a folder that can be written to"), "{errors}");
    let up = String::from_utf8(world.graphiti(&["up"]).stderr).unwrap();
    assert!(up.contains("Read-only file system"), "{up}");
}

#[test]
fn without_descriptors_files_and_callers_wait() {
    let mut world = World::new();
    let limit = 160;
    world.under = vec!["prlimit".to_owned(), format!("--nofile={limit}:4096")];
    world.transcript("aaaa-1").prompt("Fix the marmot").reply("The marmot is fixed.");
    let daemon = world.start();
    daemon.settle();
    // There are more callers than free descriptors, so some callers wait until others leave.
    let callers: Vec<Wire> = (0..limit).map(|_| daemon.wire()).collect();
    while !world.log().contains("Too many open files") {}
    world.transcript("bbbb-2").prompt("Paint the walrus").reply("The walrus is painted.");
    drop(callers);
    daemon.settle();
    assert_eq!(found(&daemon, "marmot"), 1);
    assert_eq!(found(&daemon, "walrus"), 1, "{}", world.log());
    for session in ["aaaa-1", "bbbb-2"] {
        assert!(try_close(&daemon, session).is_some(), "{session}");
    }
}

#[test]
fn a_transcript_that_could_not_be_opened_is_read_later() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the marmot");
    let daemon = world.start();
    daemon.settle();
    // The limit leaves one more descriptor, for one caller.
    let descriptors = fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap().count() + 1;
    prlimit(&daemon, &format!("{descriptors}:4096"));
    let mut wire = daemon.wire();
    while wire.call("session_tracking_health", &json!({}))["problems"] == json!([]) {
        transcript.prompt("Paint the walrus");
    }
    let health = wire.call("session_tracking_health", &json!({}));
    assert!(health["problems"].to_string().contains("cannot"), "{health}");
    prlimit(&daemon, "1024:4096");
    drop(wire);
    daemon.settle();
    assert_eq!(found(&daemon, "walrus"), 1, "{}", world.log());
}

#[test]
fn with_too_few_watches_folders_are_scanned() {
    if !namespace::run_inside("faults::with_too_few_watches_folders_are_scanned") {
        return;
    }
    let world = World::new();
    for number in 0..8 {
        let project = format!("/work/app{number}");
        world.transcript_in(&format!("s{number}-1"), &project).prompt("Fix the marmot");
    }
    fs::write("/proc/sys/user/max_inotify_watches", "4").unwrap();
    let daemon = world.start();
    daemon.settle();
    let health = health(&daemon);
    let mode = health["watch_mode"].as_str().unwrap();
    assert!(mode.contains("more folders than fs.inotify.max_user_watches allows"), "{mode}");
    let doctor = String::from_utf8(world.graphiti(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("fs.inotify.max_user_watches="), "{doctor}");
    // Later records are found by the scans.
    world.transcript_in("late-1", "/work/app9").prompt("Paint the walrus");
    let mut wire = daemon.wire();
    let known = |wire: &mut Wire| {
        wire.call("get_session", &json!({ "session_id": "late-1" }))["error"].is_null()
    };
    while !known(&mut wire) {}
    daemon.settle();
    assert_eq!(found(&daemon, "walrus"), 1);
}

#[test]
fn a_daemon_that_was_suspended_processes_what_arrived_meanwhile() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt("Fix the marmot").reply("The marmot is fixed.");
    let daemon = world.start();
    daemon.settle();
    daemon.signal("STOP");
    transcript.prompt("Paint the walrus").reply("The walrus is painted.");
    world.transcript("bbbb-2").prompt("Feed the periwinkle").reply("It is fed.");
    // A request to a suspended daemon is answered when the daemon continues.
    let mut wire = daemon.wire();
    let request = graphiti_proto::rpc::Request::new(
        1,
        "tools/call",
        json!({ "name": "session_tracking_close", "arguments": { "session_id": "aaaa-1" } }),
    );
    wire.send(&request.to_line());
    daemon.signal("CONT");
    let answer = wire.receive().outcome().unwrap();
    assert!(answer["structuredContent"]["episode_uuid"].is_string(), "{answer}");
    daemon.settle();
    assert_eq!(found(&daemon, "walrus"), 1);
    assert_eq!(found(&daemon, "periwinkle"), 1);
    assert_eq!(health(&daemon)["problems"], json!([]));
}

/// Makes the daemon try the disk again, and waits until the sessions can be closed and found.
fn wait_until_recovered(world: &World, daemon: &Daemon, sessions: &[(&str, &str)]) {
    daemon.wire().try_ask(methods::RELOAD, json!({}));
    for (session, word) in sessions {
        let arguments = json!({ "session_id": session });
        loop {
            let answer = daemon.insist("session_tracking_close", &arguments);
            let answer = answer.unwrap_or_else(|| panic!("the daemon ended:\n{}", world.log()));
            if answer["episode_uuid"].is_string() {
                break;
            }
        }
        assert_eq!(found(daemon, word), 1, "{word}");
    }
    daemon.settle_at_last();
    assert_eq!(health(daemon)["problems"], json!([]));
}

/// Closes a session; returns its episode if the close was acknowledged.
fn try_close(daemon: &Daemon, session: &str) -> Option<String> {
    let answer = daemon.insist("session_tracking_close", &json!({ "session_id": session }))?;
    answer["episode_uuid"].as_str().map(str::to_owned)
}

fn health(daemon: &Daemon) -> Value {
    daemon.insist("session_tracking_health", &json!({})).expect("the daemon runs")
}

/// Returns the number of sessions that a search finds.
fn found(daemon: &Daemon, query: &str) -> usize {
    let found = daemon.insist("search_sessions", &json!({ "query": query })).unwrap();
    found["hits"].as_array().unwrap_or_else(|| panic!("{found}")).len()
}

fn prlimit(daemon: &Daemon, limit: &str) {
    let pid = daemon.pid().to_string();
    let limit = format!("--nofile={limit}");
    let status = Command::new("prlimit").args(["--pid", &pid, &limit]).status().unwrap();
    assert!(status.success());
}

fn free(folder: &Path) -> u64 {
    let output = Command::new("stat").args(["-f", "-c", "%a %S"]).arg(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    numbers[0] * numbers[1]
}

/// Writes `bytes` bytes, or fills the disk.
fn fill(file: &Path, bytes: u64) {
    let mut file = File::options().create(true).append(true).open(file).unwrap();
    let block = vec![7; 64 << 10];
    let mut left = bytes;
    while left > 0 {
        let length = left.min(block.len() as u64) as usize;
        match file.write(&block[..length]) {
            Ok(0) | Err(_) => return,
            Ok(written) => left -= written as u64,
        }
    }
}
