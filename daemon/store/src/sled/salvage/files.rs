//! Opens a copy of the files of a damaged database.

use std::{fs, io, path::Path};

use crate::{
    StoreError,
    sled::{SledStore, open_database},
};

/// Opens a copy of the database in `damaged`. The copy replaces the folder `work`.
///
/// # Errors
///
/// When the database cannot be opened at all, or the copy cannot be written.
pub fn open_damaged(damaged: &Path, work: &Path) -> Result<SledStore, StoreError> {
    let copy = |what: fn(&str) -> bool| -> Result<(), StoreError> {
        let failed = |error: io::Error| {
            StoreError::Backend(format!(
                "copy {} to {}: {error}",
                damaged.display(),
                work.display()
            ))
        };
        if work.exists() {
            fs::remove_dir_all(work).map_err(failed)?;
        }
        copy_files(damaged, work, what).map_err(failed)
    };
    let attempts: [fn(&str) -> bool; 3] =
        [|_| true, |name| !name.starts_with("snap."), |name| name == "db" || name == "blobs"];
    let mut outcome = Err(StoreError::Unreadable("the folder contains no database".to_owned()));
    if !damaged.join("db").is_file() {
        return outcome;
    }
    for kept in attempts {
        copy(kept)?;
        if !work.join("conf").exists() {
            // All databases of the store have the same settings.
            create_settings(work)?;
        }
        outcome = SledStore::open(work);
        match &outcome {
            Err(StoreError::Unreadable(_) | StoreError::Backend(_)) => {}
            Ok(_) | Err(_) => break,
        }
    }
    outcome
}

pub(super) fn copy_files(from: &Path, to: &Path, kept: fn(&str) -> bool) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in from.read_dir()? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_file() && kept(&name.to_string_lossy()) {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}

fn create_settings(folder: &Path) -> Result<(), StoreError> {
    let empty = folder.join("empty");
    drop(open_database(&empty)?);
    let failed = |error: io::Error| StoreError::Backend(format!("{}: {error}", folder.display()));
    fs::copy(empty.join("conf"), folder.join("conf")).map_err(failed)?;
    fs::remove_dir_all(&empty).map_err(failed)
}
