//! Tests agents' settings before and after `graphiti setup`.

use std::{collections::BTreeSet, fs, process::Stdio};

use graphiti_tests::{McpHost, World};
use serde_json::{Value, json};

#[test]
fn setup_can_be_previewed_repeated_and_undone() {
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
    let stop = &of("Stop")[1]["hooks"][0];
    assert!(stop["command"].as_str().is_some_and(|line| line.ends_with("graphiti hook")), "{stop}");
    assert!(stop["args"].is_null(), "Claude Code before 2.1.139 does not know `args`: {stop}");
    assert_eq!(of("SessionEnd")[0]["hooks"][0]["timeout"], 60);
    assert_eq!(read(&world.claude().join("settings.json.graphiti-backup")), before);
    let codex = read(&world.path(".codex/config.toml"));
    assert!(codex.contains("[mcp_servers.graphiti]"), "{codex}");

    let installed = read(&settings);
    assert!(world.printed(&["setup", "--yes"]).contains("Nothing to change."));
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
fn settings_of_an_earlier_version_are_reported_repaired_and_removed() {
    let world = machine();
    let settings = world.claude().join("settings.json");
    let before = "{\n    \"model\":\"x\", // mine\n    \"hooks\": { \"Stop\": [] }\n}\n";
    fs::write(&settings, before).expect("write settings");
    world.printed(&["setup", "--yes"]);
    let line = |text: &str| {
        let text: Value = serde_json::from_str(&text.replace("// mine", "")).expect("JSON");
        let handler = &text["hooks"]["Stop"][0]["hooks"][0];
        handler["command"].as_str().expect("a command").to_owned()
    };
    let installed = read(&settings);
    let new = format!("\"command\": {}", json!(line(&installed)));
    let program = line(&installed).trim_end_matches(" hook").to_owned();
    // The arguments are separate, or missing, as Claude Code before 2.1.139 leaves the entry.
    for old in [
        format!("\"command\": {}, \"args\": [\"hook\"]", json!(program)),
        format!("\"command\": {}", json!(program)),
    ] {
        fs::write(&settings, installed.replace(&new, &old)).expect("write settings");
        let doctor = world.graphiti(&["doctor"]);
        let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(doctor.contains("UserPromptSubmit") && doctor.contains("doctor --fix"), "{doctor}");
        world.graphiti(&["doctor", "--fix"]);
        assert_eq!(read(&settings), installed);

        fs::write(&settings, installed.replace(&new, &old)).expect("write settings");
        world.printed(&["setup", "--yes"]);
        assert_eq!(read(&settings), installed);

        fs::write(&settings, installed.replace(&new, &old)).expect("write settings");
        world.printed(&["setup", "--remove", "--yes"]);
        assert_eq!(read(&settings), before);
        world.printed(&["setup", "--yes"]);
    }
    world.printed(&["setup", "--remove", "--yes"]);
    assert_eq!(read(&settings), before, "repairs do not change other settings");
}

#[test]
fn old_hooks_of_a_project_are_reported_and_repaired() {
    let world = machine();
    world.printed(&["setup", "--project", "--agent", "claude", "--yes"]);
    let settings = world.path(".claude/settings.json");
    let installed = read(&settings);
    // Claude Code before 2.1.139 leaves the hooks of an earlier version in this form.
    fs::write(&settings, installed.replace("graphiti hook", "graphiti")).expect("write settings");
    let doctor = world.graphiti(&["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("have an old form"), "{doctor:?}");
    world.graphiti(&["doctor", "--fix"]);
    assert_eq!(read(&settings), installed);
    assert!(
        !world.claude().join("settings.json").exists(),
        "the user's own settings are not changed"
    );
}

#[test]
fn only_tools_that_read_are_allowed_and_no_allow_omits_them() {
    let world = machine();
    fs::create_dir(world.path(".gemini")).expect("an agent's folder");
    let (claude, gemini) =
        (world.claude().join("settings.json"), world.path(".gemini/settings.json"));
    let shown = world.printed(&["setup", "--dry-run"]);
    assert!(
        shown.contains("--no-allow") && shown.contains("mcp__graphiti__get_handoff"),
        "{shown}"
    );
    world.printed(&["setup", "--yes", "--no-allow"]);
    assert!(!read(&claude).contains("mcp__graphiti") && !read(&gemini).contains("trust"));
    world.printed(&["setup", "--yes"]);
    assert!(read(&gemini).contains("\"trust\": true"));
    let settings: Value = serde_json::from_str(&read(&claude)).expect("JSON");
    let allowed: BTreeSet<String> = settings["permissions"]["allow"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    world.configure(&json!({ "mcp": { "tools": "all" } }));
    let _daemon = world.start();
    let mut host = McpHost::start(world.command("graphiti").arg("mcp"));
    host.initialize("2025-11-25");
    let tools = host.ask("tools/list", json!({}))["result"]["tools"].take();
    let reading = tools.as_array().expect("a list").iter();
    let reading = reading.filter(|tool| tool["annotations"]["readOnlyHint"] == true);
    let reading: BTreeSet<String> = reading
        .filter_map(|tool| tool["name"].as_str())
        .map(|name| format!("mcp__graphiti__{name}"))
        .collect();
    assert_eq!(allowed, reading);
    world.printed(&["setup", "--remove", "--yes"]);
    assert!(!claude.exists() && !gemini.exists());
}

#[test]
fn homes_from_environment_variables_are_used() {
    let mut world = machine();
    let copilot = world.path("copilot");
    fs::create_dir(&copilot).expect("an agent's folder");
    world.variables.push(("COPILOT_HOME".to_owned(), copilot.to_string_lossy().into_owned()));
    world.printed(&["setup", "--yes"]);
    assert!(read(&copilot.join("mcp-config.json")).contains("graphiti"));
    assert!(!world.path(".copilot").exists());
    // Codex does not pass environment variables to the servers that it starts.
    let codex = read(&world.path(".codex/config.toml"));
    let home = format!("env = {{ GRAPHITI_HOME = {} }}", json!(world.home()));
    assert!(codex.contains(&home), "{codex}");
}

#[test]
fn settings_that_cannot_be_read_are_not_changed() {
    let world = machine();
    let settings = world.claude().join("settings.json");
    fs::write(&settings, "{ \"hooks\": ").expect("write settings");
    let output = world.graphiti(&["setup", "--yes"]);
    let printed = String::from_utf8(output.stdout).expect("a text");
    assert_eq!(printed.matches("settings.json is not changed").count(), 1, "{printed}");
    assert!(printed.contains("Claude Code: to be changed in part\n"), "{printed}");
    assert!(!printed.contains("Claude Code may use"), "{printed}");
    let error = String::from_utf8(output.stderr).expect("a text");
    assert!(error.contains("the setup is incomplete: correct ") && !output.status.success());
    assert_eq!(read(&settings), "{ \"hooks\": ");
    assert!(world.path(".codex/hooks.json").exists(), "the other agents are set up");
}

#[test]
fn a_preview_with_a_file_that_cannot_be_changed_fails() {
    let world = machine();
    world.printed(&["setup", "--dry-run"]);
    fs::write(world.claude().join("settings.json"), "{ not JSON").expect("write settings");
    let preview = world.graphiti(&["setup", "--dry-run"]);
    let (shown, error) =
        (String::from_utf8_lossy(&preview.stdout), String::from_utf8_lossy(&preview.stderr));
    assert!(shown.contains("[mcp_servers.graphiti]") && shown.contains("Nothing was changed."));
    assert!(!preview.status.success() && error.contains("the setup is incomplete"), "{error}");
    assert!(!world.path(".codex/config.toml").exists());
}

#[test]
fn setup_can_be_limited_to_a_project_and_to_agents() {
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

/// Creates a machine with two agents.
fn machine() -> World {
    let world = World::new();
    fs::create_dir(world.path(".codex")).expect("an agent's folder");
    world
}

fn read(file: &std::path::Path) -> String {
    fs::read_to_string(file).expect("a file")
}
