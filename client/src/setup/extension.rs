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
