//! Changes the list of shared projects in the settings.

use std::{io, path::Path};

use serde_json::json;

use crate::{
    files,
    setup::{EditError, SettingsChange, json},
};

/// Returns the changed settings in `home`, with `projects` as the shared projects.
pub(crate) fn shared_projects(
    home: &Path,
    projects: &[String],
) -> Result<SettingsChange, EditError> {
    let file = home.join("graphiti.config.json");
    let before = match files::read_text(&file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(EditError::System(error.to_string())),
    };
    let text = before.as_deref().unwrap_or_default();
    let values = [("projects", json!(projects))];
    let after = json::with_values(text, &["session_tracking", "share"], &values)?;
    Ok(SettingsChange { agent: "graphiti", file, before, after: Some(after), has_backup: false })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn other_settings_and_comments_stay() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("graphiti.config.json");
        let text =
            "{\n  // mine\n  \"session_tracking\": { \"share\": { \"name\": \"Ann\" } }\n}\n";
        fs::write(&file, text).unwrap();
        let projects = ["github.com/ann/app".to_owned()];
        let after = shared_projects(home.path(), &projects).unwrap().after.unwrap();
        assert!(after.contains("// mine") && after.contains("\"name\": \"Ann\""), "{after}");
        assert!(after.contains("github.com/ann/app"), "{after}");
        fs::write(&file, after).unwrap();
        let after = shared_projects(home.path(), &[]).unwrap().after.unwrap();
        assert!(!after.contains("github.com/ann/app"), "{after}");
    }
}
