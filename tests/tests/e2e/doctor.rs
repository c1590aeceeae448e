//! Tests the findings of `graphiti doctor` with the real programs.

use std::fs;

use graphiti_tests::{MockModel, ModelReply, World};
use serde_json::{Value, json};

#[test]
fn problems_are_reported_until_fixed() {
    let world = World::new();
    world.transcript("s1").prompt("Fix the parser.").reply("Done.");
    let (report, success) = doctor(&world);
    assert!(!success);
    assert_eq!(verdict(&report, "daemon"), "bad");
    assert_eq!(verdict(&report, "claude"), "warn");
    assert_eq!(verdict(&report, "transcripts"), "ok");
    assert!(!world.home().exists(), "`doctor` changes nothing");

    world.printed(&["setup", "--yes"]);
    let daemon = world.start();
    daemon.settle();
    let (report, success) = doctor(&world);
    assert!(success, "{report}");
    for about in ["daemon", "version", "configuration", "home", "socket", "claude", "memory"] {
        assert_eq!(verdict(&report, about), "ok", "{report}");
    }

    fs::write(world.claude().join("settings.json"), "{}").expect("write settings");
    assert_eq!(verdict(&doctor(&world).0, "claude"), "warn");
    drop(daemon);
    assert_eq!(verdict(&doctor(&world).0, "daemon"), "bad");
}

#[test]
#[cfg(unix)]
fn a_home_that_is_open_to_others_is_bad() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let _daemon = world.start();
    fs::set_permissions(world.home(), fs::Permissions::from_mode(0o755)).expect("a mode");
    let (report, success) = doctor(&world);
    assert!(!success);
    assert_eq!(verdict(&report, "home"), "bad", "{report}");
    assert_eq!(report["verdict"], "bad");
}

#[test]
fn a_configuration_that_is_refused_is_bad() {
    let world = World::new();
    world.configure(&serde_json::json!({ "inactivity_timeout": "soon" }));
    let (report, _) = doctor(&world);
    assert_eq!(verdict(&report, "configuration"), "bad", "{report}");
    assert!(report.to_string().contains("inactivity_timeout"), "{report}");
}

#[test]
fn model_availability_is_checked_without_model_requests() {
    let world = World::new();
    let model = MockModel::start(|_| ModelReply::Status(500));
    let mut settings = model.settings(&json!({}));
    settings["embeddings"] = model.embeddings("another")["embeddings"].clone();
    world.configure(&settings);
    let _daemon = world.start();
    let (report, _) = doctor(&world);
    assert_eq!(verdict(&report, "model"), "ok", "{report}");
    assert_eq!(verdict(&report, "vectors"), "warn", "{report}");
    assert!(report.to_string().contains("has no model another, only some-model"), "{report}");
    assert!(model.requests().is_empty());
}

#[test]
fn the_printed_folder_of_the_plugin_exists() {
    let world = World::new();
    let folder = world.printed(&["claude-plugin-path"]);
    let manifest = std::path::Path::new(folder.trim_end()).join(".claude-plugin/plugin.json");
    let manifest = fs::read_to_string(manifest).expect("the manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(manifest["name"], "graphiti");
    assert_eq!(world.printed(&["claude-plugin-path"]), folder);
}

/// Returns the findings, and whether the command succeeded.
fn doctor(world: &World) -> (Value, bool) {
    let output = world.graphiti(&["doctor", "--json"]);
    let report = serde_json::from_slice(&output.stdout).expect("--json prints JSON");
    (report, output.status.success())
}

fn verdict(report: &Value, about: &str) -> String {
    let findings = report["findings"].as_array().expect("findings");
    let finding = findings.iter().find(|finding| finding["about"] == about);
    let verdict = finding.and_then(|finding| finding["verdict"].as_str());
    verdict.unwrap_or_else(|| panic!("nothing about {about}: {report}")).to_owned()
}
