//! Finds the path of a transcript's project in files near the transcript.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{
    format::{json::Object, limits::PATH_KEPT},
    model::hex,
};

/// Maximum length, in bytes, of the list of projects.
const LIST: u64 = 4 << 20;

/// Returns the root of the project that the transcript at `path` belongs to.
pub(super) fn root(path: &Path) -> Option<String> {
    let chats = path.ancestors().skip(1).find(|folder| folder.ends_with("chats"))?;
    let folder = chats.parent()?;
    from_marker(folder).or_else(|| from_list(folder)).filter(|root| root.len() <= PATH_KEPT)
}

fn from_marker(folder: &Path) -> Option<String> {
    let text = read(&folder.join(".project_root"), PATH_KEPT as u64 + 2)?;
    let root = text.trim();
    Path::new(root).is_absolute().then(|| root.to_owned())
}

/// Looks up the folder's name in `projects.json`, in the program's home. In older versions the name
/// is the SHA-256 of the project's path.
fn from_list(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_str()?;
    let list: PathBuf = folder.parent()?.parent()?.join("projects.json");
    let text = read(&list, LIST)?;
    let projects = Object::parse(&text)?.object("projects")?;
    let is_of_folder = |path: &str, value: &str| {
        value.trim_matches('"') == name || hex::encode(&Sha256::digest(path)) == name
    };
    projects.members().find(|(path, raw)| is_of_folder(path, raw)).map(|(path, _)| path.to_owned())
}

fn read(path: &Path, limit: u64) -> Option<String> {
    let mut text = String::new();
    // The file is often missing, and an unreadable file is treated in the same way.
    let length = File::open(path).ok()?.take(limit).read_to_string(&mut text).ok()?;
    ((length as u64) < limit).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_marker_file_contains_the_project() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("tmp/app");
        fs::create_dir_all(&folder).unwrap();
        let session = folder.join("chats/session-2026-01-01T00-00-0a1b2c3d.jsonl");
        assert_eq!(root(&session), None);
        fs::write(folder.join(".project_root"), "/home/dev/app\n").unwrap();
        assert_eq!(root(&session).as_deref(), Some("/home/dev/app"));
        let sub_agent = folder.join("chats/0a1b2c3d/4e5f.jsonl");
        assert_eq!(root(&sub_agent).as_deref(), Some("/home/dev/app"));
    }

    #[test]
    fn the_project_is_found_in_the_list_by_its_name_or_hash() {
        let home = tempfile::tempdir().unwrap();
        let list = r#"{"projects":{"/home/dev/other":"other","/home/dev/app":"app-1"}}"#;
        fs::write(home.path().join("projects.json"), list).unwrap();
        let hash = hex::encode(&Sha256::digest("/home/dev/app"));
        for name in ["app-1", &hash] {
            let session = home.path().join("tmp").join(name).join("chats/session-x.json");
            assert_eq!(root(&session).as_deref(), Some("/home/dev/app"), "{name}");
        }
        assert_eq!(root(&home.path().join("tmp/none/chats/session-x.json")), None);
    }
}
