//! Files replaced in one step, for the daemon and its client.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Replaces `file`: after a crash it holds the old content or the new one, whole.
///
/// The content is written beside the file, synced and renamed. Permissions of a file that exists
/// are kept.
///
/// # Errors
/// When the system refuses. `file` is then unchanged.
pub fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".graphiti-new");
    let unfinished = PathBuf::from(unfinished);
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

/// Renames a file; the new name survives a power cut once this returns.
///
/// # Errors
/// When the system refuses.
pub fn rename_durably(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    to.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), sync_folder)
}

/// Syncs the names in a folder to the disk, where the system can: Windows cannot.
///
/// # Errors
/// When the system refuses.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
