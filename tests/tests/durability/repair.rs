//! Tests `graphiti repair` with a damaged database, and with transcripts that do not exist any
//! more.

use std::{fs, time::Duration};

use graphiti_proto::methods;
use graphiti_tests::{Wire, World};
use serde_json::json;

const OLD: Duration = Duration::from_secs(3 * 24 * 3600);

#[test]
fn data_of_a_damaged_database_can_be_found_after_a_repair() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1").aged(OLD);
    transcript.prompt("Where is the periwinkle?").reply("In the garden.");
    let daemon = world.start();
    daemon.settle_sessions();
    daemon.stop();
    // sled writes the `snap.` file when it opens a database.
    world.start().stop();
    fs::remove_file(transcript.path()).expect("delete the transcript");
    let database = world.home().join("db");
    for entry in database.read_dir().expect("a database").flatten() {
        if entry.file_name().to_string_lossy().starts_with("snap.") {
            fs::write(entry.path(), b"damaged").expect("damage the database");
        }
    }

    let daemon = world.start();
    daemon.settle_sessions();
    let health = daemon.call("session_tracking_health", &json!({}));
    assert!(health["problems"][0].as_str().unwrap().contains("`graphiti repair`"), "{health}");
    assert_eq!(health["sessions"]["total"], 0);
    daemon.stop();

    world.printed(&["up"]);
    let printed = world.printed(&["repair"]);
    assert!(printed.contains("recovered 1 sessions with 2 messages and 1 episodes"), "{printed}");
    let socket = world.home().join("mcp.sock");
    let mut wire = Wire::connect(&socket.to_string_lossy()).expect("the daemon runs again");
    wire.ask(methods::SETTLE, json!({})).expect("the daemon settles");
    let found = world.json(&["search", "periwinkle"]);
    assert_eq!(found["hits"][0]["session"]["session_id"], "aaaa-1", "{found}");
    let shown = world.printed(&["show", "aaaa"]);
    assert!(shown.contains("Where is the periwinkle?"), "{shown}");

    // A second repair has nothing to do.
    let printed = world.printed(&["repair"]);
    assert!(printed.contains("records can be read") && !printed.contains("recovered"), "{printed}");
    world.printed(&["stop"]);
}
