//! Writes the default file, with a help text for each key.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value as Json};

use crate::config::{Config, search::FILE_NAME, table};

/// What to do if the file already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Keep the file and fail.
    Keep,
    /// Rename the file to `graphiti.config.json.old` and write a new file.
    Replace,
}

#[derive(Debug, thiserror::Error)]
pub enum InitError {
    #[error("{}: already exists; `graphitid config init --force` renames it and writes a new one", .file.display())]
    Exists { file: PathBuf },
    #[error("{}: cannot be written ({error})", .file.display())]
    Io { file: PathBuf, error: io::Error },
}

/// Returns the whole default file: every key with its default and a `_…_help` key.
pub fn init_text() -> String {
    let defaults = Config::default();
    let mut root = Map::new();
    root.insert("_comment".to_owned(), Json::from(COMMENT));
    for (section, help) in table::SECTIONS {
        let object = object_at(&mut root, section);
        object.insert("_comment".to_owned(), Json::from(*help));
        for field in table::fields() {
            let Some((parent, name)) = field.key.rsplit_once('.') else { continue };
            if parent == *section {
                object.insert(name.to_owned(), field.write(&defaults));
                object.insert(format!("_{name}_help"), Json::from(field.help));
            }
        }
    }
    format!("{:#}\n", Json::Object(root))
}

const COMMENT: &str = "The configuration of graphitid. Each key has its default value here; delete the keys that \
                       you do not change. `graphitid config check` explains this file.";

/// Writes [`init_text`] to the home folder, readable only by the user. Returns the path of the
/// file.
///
/// # Errors
/// If the file exists and `existing` is [`Existing::Keep`], or after an I/O error.
pub fn write_default(home: &Path, existing: Existing) -> Result<PathBuf, InitError> {
    let file = home.join(FILE_NAME);
    let failed = |error| InitError::Io { file: file.clone(), error };
    create_private_folder(home).map_err(failed)?;
    if existing == Existing::Replace && file.exists() {
        fs::rename(&file, home.join(format!("{FILE_NAME}.old"))).map_err(failed)?;
    }
    let mut opened = match open_new_private(&file) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(InitError::Exists { file });
        }
        opened => opened.map_err(failed)?,
    };
    opened.write_all(init_text().as_bytes()).and_then(|()| opened.sync_all()).map_err(failed)?;
    Ok(file)
}

/// Returns the object at `section` in `root`, and creates this object and its parents if necessary.
fn object_at<'r>(root: &'r mut Map<String, Json>, section: &str) -> &'r mut Map<String, Json> {
    section.split('.').fold(root, |object, name| {
        let child = object.entry(name).or_insert_with(|| Json::Object(Map::new()));
        child.as_object_mut().expect("no key of the table is both a section and a field")
    })
}

#[cfg(unix)]
fn open_new_private(file: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)
}

/// On Windows, the file has the permissions of its folder, which is in the user's profile.
#[cfg(not(unix))]
fn open_new_private(file: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).open(file)
}

#[cfg(unix)]
fn create_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}
