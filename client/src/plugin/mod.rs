//! The plugin for Claude Code: hooks, tools, two commands and a skill in one folder.
//!
//! The files of the plugin are in `client/plugin/` and are compiled in. They are written to the home
//! folder on demand, with the path and version of this program filled in, so that they always match
//! the program that they call.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{program::program, setup::shell_line};

/// The agent of the plugin, by its name in `setup`.
pub(crate) const AGENT: &str = "claude";
const NAME: &str = "graphiti";
/// The plugin's folder in the home.
const FOLDER: &str = "claude-plugin";
/// The file that contains the installed version. It is written last.
const MANIFEST: &str = ".claude-plugin/plugin.json";

/// The placeholder for the program.
const PROGRAM: &str = r#""command": "graphiti""#;
/// The placeholder for the command line of a hook.
const HOOK: &str = r#""command": "graphiti hook""#;
/// The placeholder for the version.
const VERSION: &str = r#""version": "0""#;

/// All files, the manifest last.
const FILES: &[(&str, &str)] = &[
    (".mcp.json", include_str!("../../plugin/.mcp.json")),
    ("hooks/hooks.json", include_str!("../../plugin/hooks/hooks.json")),
    ("commands/recall.md", include_str!("../../plugin/commands/recall.md")),
    ("commands/handoff.md", include_str!("../../plugin/commands/handoff.md")),
    ("skills/memory/SKILL.md", include_str!("../../plugin/skills/memory/SKILL.md")),
    (MANIFEST, include_str!("../../plugin/.claude-plugin/plugin.json")),
];

/// Writes the plugin to `home` unless it is up to date. Returns the folder of the plugin.
pub(crate) fn write(home: &Path) -> io::Result<PathBuf> {
    write_for(home, &program()?)
}

/// Whether Claude Code, whose settings are in `folder`, uses the plugin. The plugin may be installed
/// from a marketplace, or as a folder among the skills.
pub(crate) fn is_enabled(folder: &Path) -> bool {
    let settings = crate::files::read_text(&folder.join("settings.json")).unwrap_or_default();
    let is_copied = || folder.join("skills").join(NAME).join(MANIFEST).is_file();
    is_enabled_in(&settings).unwrap_or_else(is_copied)
}

/// Returns whether the settings enable the plugin; `None` if they do not mention the plugin. In that
/// case, a copy among the skills is enabled.
fn is_enabled_in(settings: &str) -> Option<bool> {
    let settings: serde_json::Value = serde_json::from_str(settings).ok()?;
    let plugins = settings["enabledPlugins"].as_object()?;
    let ours = plugins.iter().filter(|(plugin, _)| plugin.split('@').next() == Some(NAME));
    ours.filter_map(|(_, enabled)| enabled.as_bool()).max()
}

fn write_for(home: &Path, program: &Path) -> io::Result<PathBuf> {
    let folder = home.join(FOLDER);
    let files: Vec<(&str, String)> =
        FILES.iter().map(|(name, text)| (*name, filled_in(text, program))).collect();
    let is_up_to_date = |(name, text): &(&str, String)| {
        fs::read_to_string(folder.join(name)).is_ok_and(|installed| installed == *text)
    };
    if files.iter().all(is_up_to_date) {
        return Ok(folder);
    }
    private_folder(home)?;
    // Files of another version must not remain.
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    for (name, text) in files {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&folder))?;
        fs::write(file, text)?;
    }
    Ok(folder)
}

fn filled_in(text: &str, program: &Path) -> String {
    let hook = serde_json::Value::from(shell_line(program, "hook"));
    let program = serde_json::Value::from(program.to_string_lossy());
    let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
    text.replace(HOOK, &format!("\"command\": {hook}"))
        .replace(PROGRAM, &format!("\"command\": {program}"))
        .replace(VERSION, version)
}

/// Creates the private home folder unless it exists.
fn private_folder(home: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(home)
}

#[cfg(test)]
mod tests;
