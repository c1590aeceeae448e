//! Installs a model for semantic search, or removes it: its files in the home folder, and the
//! settings.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use graphiti_proto::files::{REPLACED, UNFINISHED, beside};
use serde_json::{Value, json};

use crate::{
    files,
    setup::{EditError, SettingsChange, json},
};

/// The files of a model. The first [`NEEDED`] files are required.
const FILES: [&str; 4] =
    ["model.safetensors", "tokenizer.json", "config.json", "1_Pooling/config.json"];
/// Number of required files.
const NEEDED: usize = 2;

/// Returns the folder in `home` to which the model in `folder` is copied. Fails if `folder` has no
/// model.
pub(crate) fn target_folder(folder: &Path, home: &Path) -> Result<PathBuf, String> {
    let shown = folder.display();
    let real = folder.canonicalize().map_err(|error| format!("{shown}: {error}"))?;
    for name in &FILES[..NEEDED] {
        if !real.join(name).is_file() {
            return Err(format!(
                "{shown} is not a model: it has no {name}; give the folder of a model2vec or BERT-like \
                 model, such as all-MiniLM-L6-v2"
            ));
        }
    }
    let name = real.file_name().ok_or_else(|| format!("{shown} has no name"))?;
    Ok(models(home).join(name))
}

/// Copies the model in `folder` to `place`, and replaces an earlier model there. The files are
/// copied to another folder first, so that an interrupted copy leaves `place` unchanged. The earlier
/// model is removed last.
pub(crate) fn install_model(folder: &Path, place: &Path) -> io::Result<()> {
    if folder.canonicalize()? == place.canonicalize().unwrap_or_default() {
        return Ok(());
    }
    let (unfinished, earlier) = (beside(place, UNFINISHED), beside(place, REPLACED));
    // The folders usually do not exist. If one cannot be removed, an operation below fails.
    let _ = fs::remove_dir_all(&unfinished);
    let _ = fs::remove_dir_all(&earlier);
    for name in FILES {
        let (from, to) = (folder.join(name), unfinished.join(name));
        if from.is_file() {
            fs::create_dir_all(to.parent().unwrap_or(&unfinished))?;
            fs::copy(from, to)?;
        }
    }
    match fs::rename(place, &earlier) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    if let Err(error) = fs::rename(unfinished, place) {
        // If this fails, too, the first error is more useful.
        let _ = fs::rename(&earlier, place);
        return Err(error);
    }
    // If the folder cannot be removed now, the next installation removes it.
    let _ = fs::remove_dir_all(&earlier);
    Ok(())
}

/// Removes the installed models.
pub(crate) fn remove(home: &Path) -> io::Result<()> {
    match fs::remove_dir_all(models(home)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Returns the changed settings in `home`: with the model at `place`, or without a model.
pub(crate) fn settings(home: &Path, place: Option<&Path>) -> Result<SettingsChange, EditError> {
    let file = home.join("graphiti.config.json");
    let before = match files::read_text(&file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(EditError::System(error.to_string())),
    };
    let path = place.map_or(Value::Null, |place| json!(place));
    let provider = json!(if place.is_some() { "local" } else { "none" });
    let values = [("provider", provider), ("path", path)];
    let text = before.as_deref().unwrap_or_default();
    let after = json::with_values(text, &["session_tracking", "embeddings"], &values)?;
    Ok(SettingsChange { agent: "graphiti", file, before, after: Some(after), has_backup: false })
}

fn models(home: &Path) -> PathBuf {
    home.join("models")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_replaces_only_the_model_of_the_same_name() {
        let world = tempfile::tempdir().unwrap();
        let home = world.path().join("home");
        let names = ["m", "m.new", "m.old", "m.v2"];
        for round in ["first", "second"] {
            for name in names {
                let model = world.path().join(name);
                fs::create_dir_all(&model).unwrap();
                fs::write(model.join("tokenizer.json"), "{}").unwrap();
                fs::write(model.join("model.safetensors"), format!("{name} {round}")).unwrap();
                install_model(&model, &target_folder(&model, &home).unwrap()).unwrap();
            }
            for name in names {
                let text = fs::read_to_string(models(&home).join(name).join("model.safetensors"));
                assert_eq!(text.unwrap(), format!("{name} {round}"));
            }
        }
        assert_eq!(fs::read_dir(models(&home)).unwrap().count(), names.len());
    }

    #[cfg(unix)]
    #[test]
    fn a_model_that_cannot_be_copied_leaves_the_earlier_model() {
        let world = tempfile::tempdir().unwrap();
        let (home, model) = (world.path().join("home"), world.path().join("m"));
        fs::create_dir_all(&model).unwrap();
        fs::write(model.join("tokenizer.json"), "{}").unwrap();
        fs::write(model.join("model.safetensors"), "first").unwrap();
        let place = target_folder(&model, &home).unwrap();
        install_model(&model, &place).unwrap();
        fs::write(model.join("model.safetensors"), "second").unwrap();
        // The folder of the copy cannot be created.
        fs::write(beside(&place, UNFINISHED), "").unwrap();
        assert!(install_model(&model, &place).is_err());
        assert_eq!(fs::read(place.join("model.safetensors")).unwrap(), b"first");
    }

    #[test]
    fn a_model_is_copied_and_switched_on_and_comments_stay() {
        let world = tempfile::tempdir().unwrap();
        let (home, model) = (world.path().join("home"), world.path().join("tiny"));
        fs::create_dir_all(model.join("1_Pooling")).unwrap();
        fs::create_dir_all(&home).unwrap();
        fs::write(model.join("tokenizer.json"), "{}").unwrap();
        assert!(target_folder(&model, &home).unwrap_err().contains("model.safetensors"));
        fs::write(model.join("model.safetensors"), "weights").unwrap();
        fs::write(model.join("1_Pooling/config.json"), "{}").unwrap();
        fs::write(model.join("training.bin"), "large").unwrap();
        let to = target_folder(&model, &home).unwrap();
        install_model(&model, &to).unwrap();
        // Installs the model again, also from its installed location.
        install_model(&model, &to).unwrap();
        install_model(&to, &to).unwrap();
        assert_eq!(fs::read(to.join("model.safetensors")).unwrap(), b"weights");
        assert!(to.join("1_Pooling/config.json").is_file() && !to.join("training.bin").exists());

        let file = home.join("graphiti.config.json");
        fs::write(&file, "{\n  // mine\n  \"session_tracking\": { \"watch\": 1 }\n}\n").unwrap();
        let change = settings(&home, Some(&to)).unwrap();
        let after = change.after.clone().unwrap();
        assert!(after.contains("// mine") && after.contains("\"watch\": 1"), "{after}");
        assert!(after.contains("\"provider\": \"local\"") && after.contains("tiny"), "{after}");
        fs::write(&file, after).unwrap();
        let off = settings(&home, None).unwrap().after.unwrap();
        assert!(off.contains("\"provider\": \"none\"") && !off.contains("tiny"), "{off}");
        remove(&home).unwrap();
        remove(&home).unwrap();
        assert!(!to.exists());
    }
}
