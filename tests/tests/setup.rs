//! Agents' settings, before and after `graphiti setup`.

use std::{fs, process::Stdio};

use graphiti_tests::World;
use serde_json::{Value, json};

#[test]
fn setup_shows_what_it_would_do_does_it_once_and_takes_it_back() {
    let world = machine();
    let settings = world.claude().join("settings.json");
    let before = "{\n  \"model\": \"x\",\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]\n  }\n}\n";
    fs::write(&settings, before).expect("write settings");

    let shown = world.printed(&["setup", "--dry-run"]);
    assert!(shown.contains("+") && shown.contains("SessionEnd"), "{shown}");
    assert!(
        shown.contains("Claude Code") && shown.contains("Codex") && !shown.contains("Cursor"),
        "{shown}"
    );
    assert_eq!(read(&settings), before);

    let refused =
        world.command("graphiti").arg("setup").stdin(Stdio::null()).output().expect("run");
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--yes"));
    assert_eq!(read(&settings), before);

    world.printed(&["setup", "--yes"]);
    let after: Value = serde_json::from_str(&read(&settings)).expect("JSON");
    let of = |event: &str| after["hooks"][event].clone();
    assert_eq!(of("Stop")[0]["hooks"][0]["command"], "bell");
    assert_eq!(of("Stop")[1]["hooks"][0]["args"], json!(["hook"]));
    assert_eq!(of("SessionEnd")[0]["hooks"][0]["timeout"], 60);
    assert_eq!(read(&world.claude().join("settings.json.graphiti-backup")), before);
    let codex = read(&world.path(".codex/config.toml"));
    assert!(codex.contains("[mcp_servers.graphiti]"), "{codex}");

    let installed = read(&settings);
    assert!(world.printed(&["setup", "--yes"]).contains("Nothing is to be changed."));
    assert_eq!(read(&settings), installed);

    world.printed(&["setup", "--remove", "--yes"]);
    assert_eq!(read(&settings), before);
    let left: Vec<_> = [world.claude(), world.path(".codex")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("a folder"))
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert!(left.iter().all(|name| name == "settings.json" || name == "projects"), "{left:?}");
}

#[test]
fn settings_that_cannot_be_read_are_left_as_they_are() {
    let world = machine();
    let settings = world.claude().join("settings.json");
    fs::write(&settings, "{ \"hooks\": ").expect("write settings");
    let said = world.printed(&["setup", "--yes"]);
    assert!(said.contains("settings.json is left as it is"), "{said}");
    assert_eq!(read(&settings), "{ \"hooks\": ");
    assert!(world.path(".codex/hooks.json").exists(), "the others are set up");
}

#[test]
fn a_project_has_settings_of_its_own_and_an_agent_can_be_named() {
    let world = machine();
    world.printed(&["setup", "--project", "--agent", "cursor", "--agent", "claude", "--yes"]);
    for file in [".cursor/mcp.json", ".mcp.json", ".claude/settings.json"] {
        assert!(read(&world.path(file)).contains("graphiti"), "{file}");
    }
    assert!(!world.path(".codex/hooks.json").exists());
    assert!(!world.claude().join("settings.json").exists());
}

#[test]
#[cfg(unix)]
fn a_linked_file_stays_a_link_and_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = machine();
    let real = world.path("dotfiles.json");
    fs::write(&real, "{}").expect("write settings");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).expect("a mode");
    let settings = world.claude().join("settings.json");
    symlink(&real, &settings).expect("a link");
    world.printed(&["setup", "--agent", "claude", "--yes"]);
    assert!(settings.is_symlink());
    assert!(read(&real).contains("SessionEnd"));
    assert_eq!(fs::metadata(&real).expect("a file").permissions().mode() & 0o777, 0o600);
}

/// A machine with two agents.
fn machine() -> World {
    let world = World::new();
    fs::create_dir(world.path(".codex")).expect("an agent's folder");
    world
}

fn read(file: &std::path::Path) -> String {
    fs::read_to_string(file).expect("a file")
}
