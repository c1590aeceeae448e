use std::collections::BTreeSet;

use graphiti_proto::tools;
use serde_json::{Value, json};

use super::*;
use crate::setup::{self, AGENTS, SetupGoal, Surroundings};

/// A path that needs quoting in JSON.
const PROGRAM_PATH: &str = r"C:\my tools\graphiti.exe";

#[test]
fn every_file_of_the_folder_is_written_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let folder = write_for(home.path(), Path::new(PROGRAM_PATH)).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin");
    assert_eq!(files(&folder), files(&source));
}

#[test]
fn the_program_and_the_version_are_filled_in() {
    let home = tempfile::tempdir().unwrap();
    let folder = write_for(home.path(), Path::new(PROGRAM_PATH)).unwrap();
    let read = |name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
    };
    let manifest = read(MANIFEST);
    assert_eq!(manifest["name"], NAME);
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let server = &read(".mcp.json")["mcpServers"]["graphiti"];
    assert_eq!(*server, json!({ "command": PROGRAM_PATH, "args": ["mcp"] }));
    let hooks = read("hooks/hooks.json");
    let hook = &hooks["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(hook["command"], format!("\"{PROGRAM_PATH}\" hook"));
    assert!(hook["args"].is_null(), "Claude Code before 2.1.139 does not support `args`");
}

#[test]
fn the_hooks_of_the_plugin_are_the_hooks_of_setup() {
    let home = tempfile::tempdir().unwrap();
    let surroundings = Surroundings {
        home: home.path().to_owned(),
        project: None,
        program: PROGRAM_PATH.into(),
        variable: &|_| None,
        allow: false,
    };
    let claude = AGENTS.iter().find(|agent| agent.name == AGENT).unwrap();
    let changes = setup::plan(claude, SetupGoal::Install, &surroundings);
    let settings = changes
        .into_iter()
        .flatten()
        .find(|change| change.file.ends_with("settings.json"))
        .and_then(|change| change.after)
        .unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let plugin = filled_in(text("hooks/hooks.json"), Path::new(PROGRAM_PATH));
    let plugin: Value = serde_json::from_str(&plugin).unwrap();
    assert_eq!(plugin["hooks"], settings["hooks"]);
}

#[test]
fn files_of_another_version_are_removed_and_changed_files_are_restored() {
    let home = tempfile::tempdir().unwrap();
    let program = Path::new("/opt/graphiti");
    let folder = write_for(home.path(), program).unwrap();
    fs::write(folder.join("commands/old.md"), "old").unwrap();
    assert!(write_for(home.path(), program).unwrap().join("commands/old.md").is_file());
    fs::write(folder.join(MANIFEST), "{\"version\":\"0.0.1\"}").unwrap();
    write_for(home.path(), program).unwrap();
    assert!(!folder.join("commands/old.md").exists());
    assert_eq!(
        fs::read_to_string(folder.join(MANIFEST)).unwrap(),
        filled_in(text(MANIFEST), program)
    );
}

#[test]
fn commands_and_skills_have_descriptions_and_mention_only_existing_tools() {
    let all = [
        tools::search_sessions::NAME,
        tools::get_session::NAME,
        tools::get_handoff::NAME,
        tools::search_memory_facts::NAME,
        tools::close::NAME,
    ];
    let mut named = BTreeSet::new();
    for (name, text) in FILES.iter().filter(|(name, _)| name.ends_with(".md")) {
        let body = text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n"));
        let (front, body) = body.unwrap_or_else(|| panic!("{name} has no front matter"));
        assert!(front.lines().any(|line| line.starts_with("description: ")), "{name}");
        let words = body.split('`').skip(1).step_by(2);
        let tools = words.filter(|word| word.contains('_'));
        for tool in tools {
            assert!(all.contains(&tool), "{name} mentions {tool}");
            named.insert(tool);
        }
    }
    assert_eq!(named.len(), all.len(), "{named:?}");
}

#[test]
fn a_skill_has_the_name_of_its_folder() {
    assert!(text("skills/memory/SKILL.md").contains("\nname: memory\n"));
}

#[test]
fn a_plugin_is_enabled_by_the_settings_or_as_a_folder() {
    for (settings, enabled) in [
        (r#"{"enabledPlugins":{"graphiti@local":true}}"#, Some(true)),
        (r#"{"enabledPlugins":{"graphiti@local":false}}"#, Some(false)),
        (r#"{"enabledPlugins":{"graphiti-other@local":true}}"#, None),
        (r#"{"enabledPlugins":[]}"#, None),
        ("", None),
    ] {
        assert_eq!(is_enabled_in(settings), enabled, "{settings}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(!is_enabled(folder.path()));
    let manifest = folder.path().join("skills/graphiti").join(MANIFEST);
    fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    fs::write(manifest, "{}").unwrap();
    assert!(is_enabled(folder.path()));
    let settings = r#"{"enabledPlugins":{"graphiti@skills-dir":false}}"#;
    fs::write(folder.path().join("settings.json"), settings).unwrap();
    assert!(!is_enabled(folder.path()));
}

fn text(name: &str) -> &'static str {
    FILES.iter().find(|(file, _)| *file == name).unwrap().1
}

/// Returns the relative paths of all files in a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_owned());
            }
        }
    }
    found
}
