//! Replaces and renames files so that they survive a crash, for the daemon and its client.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The end of the name of a file or folder that will replace another when it is complete.
pub const UNFINISHED: &str = ".graphiti-new";
/// The end of the name of a file or folder that was replaced and will be removed.
pub const REPLACED: &str = ".graphiti-old";

/// Returns `path` with `ending` after its name.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Replaces `file` atomically: after a crash, `file` has either the old or the new content.
///
/// The content is written to a temporary file in the same folder. This file is synced and renamed.
/// The permissions of an existing file are kept.
///
/// # Errors
/// Returns an error if a file operation failed. `file` is then unchanged, but the temporary file
/// may remain.
pub fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    let unfinished = beside(file, UNFINISHED);
    let mut fresh = File::create(&unfinished)?;
    match fs::metadata(file) {
        Ok(existing) => fresh.set_permissions(existing.permissions())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    fresh.write_all(content)?;
    fresh.sync_all()?;
    fs::rename(unfinished, file)
}

/// Renames a file. On Unix, the new name then survives a power failure.
///
/// # Errors
/// Returns an error if a file operation failed.
pub fn rename_durably(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    to.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), sync_folder)
}

/// Syncs the entries of a folder to disk. Does nothing on Windows, which does not support this.
///
/// # Errors
/// Returns an error if the folder cannot be opened or synced.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
