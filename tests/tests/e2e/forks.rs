//! Tests that forks and copies of a session are recognised by the ids of their records, so that
//! nothing is indexed twice.

use std::{fs, time::Duration};

use graphiti_tests::{Daemon, Transcript, World};
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The session from which all others are derived.
const ORIGINAL: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const FORK: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const COPY: &str = "cccccccc-0000-4000-8000-000000000003";

#[test]
fn only_the_own_part_of_a_fork_is_indexed_and_nothing_of_a_copy() {
    let world = World::new();
    let daemon = world.start();
    let mut original = original(&world);
    daemon.settle();
    let mut fork = copied(&world, &original, FORK);
    copied(&world, &original, COPY);
    fork.prompt("Add a changelog about the walrus").reply("The changelog is there.");
    daemon.settle();
    assert_eq!(sessions_with(&daemon, "marmot"), [ORIGINAL], "shared records are found once");
    assert_eq!(sessions_with(&daemon, "walrus"), [FORK]);
    let listed = daemon.call("list_sessions", &json!({}));
    assert_eq!(listed["total"], 2, "a copy is not listed as a session: {listed}");
    let shown = daemon.call("get_session", &json!({ "session_id": FORK }));
    assert_eq!((&shown["forked_from"], &shown["shared_records"]), (&json!(ORIGINAL), &json!(2)));
    assert_eq!(shown["session"]["message_count"], 2);
    let printed = world.printed(&["show", FORK]);
    assert!(
        printed.contains(&format!("{ORIGINAL} (the first 2 records are the same)")),
        "{printed}"
    );
    assert_eq!(daemon.close(COPY)["action"], "empty");
    let copy = world.printed(&["show", COPY]);
    assert!(copy.contains("This fork has no messages of its own"), "{copy}");
    assert!(copy.contains(&format!("graphiti show {ORIGINAL}")), "{copy}");
    assert!(!copy.contains("Close the session"), "{copy}");
    let health = daemon.call("session_tracking_health", &json!({}));
    let listed = daemon.call("list_sessions", &json!({}));
    assert_eq!(health["sessions"]["total"], listed["total"], "{health}");
    assert_eq!(health["sessions"]["empty"], 1, "{health}");
    assert!(world.printed(&["status"]).contains("1 without messages"));
    daemon.close(FORK);
    let episode = world.printed(&["show", FORK]);
    assert!(episode.contains("walrus") && !episode.contains("marmot"), "{episode}");
    // The original, the fork and the copy continue separately. The copy becomes a fork.
    original.prompt("Look at the otter").reply("It swims.");
    fork.prompt("Look at the heron").reply("It flies.");
    let mut copy = world.transcript(COPY).continued();
    copy.prompt("Look at the badger").reply("It digs.");
    daemon.settle();
    for (word, session) in [("otter", ORIGINAL), ("heron", FORK), ("badger", COPY)] {
        assert_eq!(sessions_with(&daemon, word), [session]);
    }
    // A rebuilt index gives the same result.
    daemon.stop();
    fs::remove_dir_all(world.home().join("index")).unwrap();
    let daemon = world.start();
    daemon.settle();
    assert_eq!(sessions_with(&daemon, "marmot"), [ORIGINAL]);
}

#[test]
fn old_forks_are_indexed_once_whichever_is_read_first() {
    let world = World::new();
    let original = original_of(&world, 3 * DAY);
    let mut fork = copied(&world, &original, FORK);
    fork.prompt("Add a changelog about the walrus").reply("The changelog is there.");
    copied(&world, &original, COPY);
    let mut of_fork = copied(&world, &fork, "dddddddd-0000-4000-8000-000000000004");
    of_fork.prompt("Look at the otter").reply("It swims.");
    let daemon = world.start();
    daemon.settle();
    for word in ["marmot", "walrus", "otter"] {
        assert_eq!(sessions_with(&daemon, word).len(), 1, "{word}");
    }
    let health = daemon.call("session_tracking_health", &json!({}));
    assert_eq!(health["kept"]["messages"], 6, "{health}");
}

#[test]
fn a_second_file_of_the_same_session_is_not_read_twice() {
    let world = World::new();
    let original = original(&world);
    let daemon = world.start();
    daemon.settle();
    let other = world.claude().join("projects/-work-moved");
    fs::create_dir_all(&other).unwrap();
    fs::copy(original.path(), other.join(original.path().file_name().unwrap())).unwrap();
    daemon.settle();
    daemon.close(ORIGINAL);
    let shown = daemon.call("get_session", &json!({ "session_id": ORIGINAL }));
    assert_eq!(shown["session"]["message_count"], 2, "{shown}");
    assert_eq!(shown["forked_from"], Value::Null);
    assert_eq!(daemon.call("session_tracking_health", &json!({}))["kept"]["messages"], 2);
}

#[test]
fn a_copy_that_grows_like_its_original_stays_a_copy() {
    let world = World::new();
    let mut original = original(&world);
    let daemon = world.start();
    daemon.settle();
    let copy = copied(&world, &original, COPY);
    daemon.settle();
    original.prompt("Look at the otter").reply("It swims.");
    fs::copy(original.path(), copy.path()).unwrap();
    daemon.settle();
    assert_eq!(sessions_with(&daemon, "otter"), [ORIGINAL]);
}

fn original(world: &World) -> Transcript {
    original_of(world, Duration::ZERO)
}

fn original_of(world: &World, age: Duration) -> Transcript {
    let mut original = world.transcript(ORIGINAL).aged(age);
    original.prompt("Fix the marmot timeout").reply("I fixed it in auth.rs.");
    original
}

/// Copies a transcript with all its records, under another session's id.
fn copied(world: &World, original: &Transcript, session: &str) -> Transcript {
    let copy = world.transcript(session).continued();
    fs::copy(original.path(), copy.path()).unwrap();
    copy
}

fn sessions_with(daemon: &Daemon, word: &str) -> Vec<String> {
    let found = daemon.call("search_sessions", &json!({ "query": word }));
    let hits = found["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["session"]["session_id"].as_str().unwrap().to_owned()).collect()
}
