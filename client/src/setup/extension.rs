//! The extensions for agents that have no hooks in their settings.
//!
//! The files of the extensions are in `client/extensions/` and are compiled in. Setup fills in the
//! path of this program.

use std::path::Path;

use serde_json::json;

use crate::setup::EditError;

pub(super) const OPENCODE: &str = include_str!("../../extensions/opencode.js");
pub(super) const PI: &str = include_str!("../../extensions/pi.ts");

/// The beginning of each extension.
const HEAD: &str = "// Written by `graphiti setup`";
/// The placeholder for the program.
const PROGRAM: &str = "const GRAPHITI = \"graphiti\"";

/// Returns an extension that runs `program`.
pub(super) fn filled_in(extension: &str, program: &Path) -> String {
    let program = json!(program.to_string_lossy());
    extension.replacen(PROGRAM, &format!("const GRAPHITI = {program}"), 1)
}

/// Returns the new content of a file that contains `text` now. Fails if another program wrote the
/// file.
pub(super) fn with(text: &str, extension: &str) -> Result<String, EditError> {
    if text.trim().is_empty() || is_ours(text) {
        Ok(extension.to_owned())
    } else {
        Err(EditError::ForeignFile)
    }
}

/// Returns an empty text if graphiti wrote the file, else `text` unchanged.
pub(super) fn without(text: &str) -> String {
    if is_ours(text) { String::new() } else { text.to_owned() }
}

fn is_ours(text: &str) -> bool {
    text.starts_with(HEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `script` as a module in Node, with the extension as `./extension.mjs`, and returns its
    /// output. The program that the extension runs returns the name of the event as the text for
    /// the agent's context if the event is one of `with_context`. Returns `None` if Node is not
    /// installed.
    #[cfg(unix)]
    fn run_in_node(extension: &str, with_context: &str, script: &str) -> Option<String> {
        use std::{fs, os::unix::fs::PermissionsExt, process::Command};
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("graphiti");
        let text = format!(
            "#!/bin/sh\nname=$(sed 's/.*\"hook_event_name\":\"\\([A-Za-z]*\\)\".*/\\1/')\n\
             case $name in {with_context}) echo \"{{\\\"additionalContext\\\":\\\"$name\\\"}}\" ;; esac\n"
        );
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let extension = filled_in(extension, &program);
        fs::write(folder.path().join("extension.mjs"), extension).unwrap();
        let file = folder.path().join("test.mjs");
        fs::write(&file, script).unwrap();
        let output = Command::new("node").arg(file).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).unwrap().trim_end().to_owned())
    }

    /// The test is skipped if Node is not installed.
    #[cfg(unix)]
    #[test]
    fn opencode_gets_a_handoff_that_is_late_for_the_start_with_the_prompt() {
        let script = r#"
            import { Graphiti } from "./extension.mjs"
            const hooks = await Graphiti({ directory: "/app" })
            const event = { type: "session.created", properties: { info: { id: "s1" } } }
            await hooks.event({ event })
            await hooks["chat.message"]({ sessionID: "s1" })
            const output = { system: [] }
            await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, output)
            console.log(output.system.join())
        "#;
        for (with_context, expected) in [
            ("UserPromptSubmit", "UserPromptSubmit"),
            ("SessionStart", "SessionStart"),
            ("none", ""),
        ] {
            let Some(printed) = run_in_node(OPENCODE, with_context, script) else { return };
            assert_eq!(printed, expected);
        }
    }

    /// The test is skipped if Node is not installed.
    #[cfg(unix)]
    #[test]
    fn pi_gets_a_handoff_that_is_late_for_the_start_with_the_prompt() {
        let types = [": Promise<string | undefined> | undefined", ": Promise<string | undefined>"];
        let types = types.into_iter().chain([": string", ": object", ": any"]);
        let javascript = types.fold(PI.to_owned(), |text, name| text.replace(name, ""));
        let script = r#"
            import extension from "./extension.mjs"
            const hooks = {}
            extension({ on: (name, hook) => void (hooks[name] = hook) })
            const manager = {
                getSessionFile: () => "/app/s1.jsonl", getSessionId: () => "s1", getEntries: () => [],
            }
            const ctx = { sessionManager: manager, cwd: "/app" }
            await hooks.session_start({}, ctx)
            const answer = await hooks.before_agent_start({}, ctx)
            console.log(answer?.message.content ?? "")
        "#;
        for (with_context, expected) in [
            ("UserPromptSubmit", "UserPromptSubmit"),
            ("SessionStart", "SessionStart"),
            ("none", ""),
        ] {
            let Some(printed) = run_in_node(&javascript, with_context, script) else { return };
            assert_eq!(printed, expected);
        }
    }

    #[test]
    fn an_extension_runs_this_program_and_replaces_only_an_older_extension() {
        for extension in [OPENCODE, PI] {
            let new = filled_in(extension, Path::new("/my tools/\"graphiti\""));
            assert!(new.contains(r#"const GRAPHITI = "/my tools/\"graphiti\"""#), "{new}");
            assert_eq!(with("", &new).as_ref(), Ok(&new));
            let old = filled_in(extension, Path::new("/old/graphiti"));
            assert_eq!(with(&old, &new).as_ref(), Ok(&new));
            assert_eq!(without(&new), "");
        }
        assert_eq!(with("export default 1\n", PI), Err(EditError::ForeignFile));
        assert_eq!(without("export default 1\n"), "export default 1\n");
    }
}
