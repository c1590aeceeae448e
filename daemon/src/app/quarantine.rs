//! Moves damaged databases to folders next to the current database. The size of damaged databases
//! does not count towards a limit, so only a few of them are kept.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::clock;

/// The prefix of the extension of a damaged database that was not recovered yet.
pub(super) const DAMAGED: &str = "damaged-";
/// The prefix of the extension of a damaged database whose readable records were recovered.
pub(super) const SALVAGED: &str = "salvaged-";
/// Maximum number of damaged databases that are kept. Recovered databases are removed first, and
/// the oldest of each kind first.
const MAX_KEPT: usize = 2;

/// Moves a damaged database to a folder next to it. Returns the new path.
pub(super) fn quarantine(folder: &Path) -> anyhow::Result<PathBuf> {
    let aside = folder.with_extension(format!("{DAMAGED}{}", clock::now().micros() / 1_000_000));
    fs::rename(folder, &aside)
        .with_context(|| format!("move {} to {}", folder.display(), aside.display()))?;
    Ok(aside)
}

/// Removes all but [`MAX_KEPT`] of the databases that were moved from `folder`. Reports each
/// removal and each failure through `report`.
pub(super) fn remove_old(folder: &Path, report: &mut dyn FnMut(&str)) {
    let aside = match moved_from(folder) {
        Ok(aside) => aside,
        Err(error) => {
            report(&format!(
                "cannot list the damaged databases that were moved from {}: {error}",
                folder.display()
            ));
            return;
        }
    };
    let old = aside.len().saturating_sub(MAX_KEPT);
    for (_, aside) in &aside[..old] {
        let name = aside.display();
        let message = match fs::remove_dir_all(aside) {
            Ok(()) => {
                format!("{name} was removed: only {MAX_KEPT} damaged databases are kept")
            }
            Err(error) => format!("the damaged database {name} cannot be removed: {error}"),
        };
        report(&message);
    }
}

/// Returns all databases that were moved from `folder`.
pub(super) fn all(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match moved_from(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        moved => Ok(moved?.into_iter().map(|(_, aside)| aside).collect()),
    }
}

/// Returns the databases that were moved from `folder` and not recovered yet, the latest first.
pub(super) fn unrecovered(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let moved = moved_from(folder)?.into_iter().rev();
    Ok(moved.filter(|((is_unrecovered, _), _)| *is_unrecovered).map(|(_, aside)| aside).collect())
}

/// Returns the databases that were moved from `folder`: first the recovered ones, then the others,
/// each from the oldest to the newest.
fn moved_from(folder: &Path) -> io::Result<Vec<((bool, u64), PathBuf)>> {
    let mut found = Vec::new();
    for entry in folder.parent().unwrap_or(folder).read_dir()? {
        let entry = entry?;
        let path = entry.path();
        if path.with_extension("") == folder
            && let Some(at) = moved_at(&path)
            && entry.file_type()?.is_dir()
        {
            found.push((at, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Parses the name of a moved database. Returns whether the database was not recovered yet, and
/// when it was moved, in seconds since the epoch. Returns `None` for other names.
fn moved_at(path: &Path) -> Option<(bool, u64)> {
    let extension = path.extension()?.to_str()?;
    let kinds = [(true, DAMAGED), (false, SALVAGED)].into_iter();
    let (is_unrecovered, time) =
        kinds.filter_map(|(is, kind)| Some((is, extension.strip_prefix(kind)?))).next()?;
    let is_time = time.bytes().all(|byte| byte.is_ascii_digit());
    Some((is_unrecovered, time.parse().ok().filter(|_| is_time)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates folders with content, and returns the home and its database.
    fn home_with(names: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        for name in names {
            fs::create_dir(home.path().join(name)).unwrap();
            fs::write(home.path().join(name).join("db"), name).unwrap();
        }
        let folder = home.path().join("db");
        (home, folder)
    }

    fn names(home: &Path) -> Vec<String> {
        let entries = home.read_dir().unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn two_databases_and_all_other_files_are_kept() {
        let old = ["db.salvaged-999", "db.salvaged-1700000005", "db.damaged-1700000001"];
        // Sorted by name.
        let stay = [
            "db",
            "db.copying",
            "db.damaged-",
            "db.damaged-+5",
            "db.damaged-1700000002",
            "db.damaged-1700000003",
            "db.damaged-5.copy",
            "db.damaged-5x",
            "db.repair",
            "index.damaged-5",
            "my.db.damaged-5",
        ];
        let (home, folder) = home_with(&[&old[..], &stay[..]].concat());
        fs::write(home.path().join("db.damaged-6"), b"no folder").unwrap();
        let mut message = Vec::new();
        remove_old(&folder, &mut |line| message.push(line.to_owned()));
        let mut left = names(home.path());
        left.retain(|name| name != "db.damaged-6");
        assert_eq!(left, stay);
        assert!(home.path().join("db.damaged-6").is_file());
        assert_eq!(message.len(), old.len(), "{message:?}");
        for (name, message) in old.iter().zip(&message) {
            let name = home.path().join(name);
            assert!(message.starts_with(&format!("{} was removed", name.display())), "{message}");
        }
        remove_old(&folder, &mut |line| panic!("{line}"));
        assert_eq!(names(home.path()).len(), stay.len() + 1);
    }

    #[test]
    fn a_database_that_is_moved_now_is_the_newest() {
        let (home, folder) = home_with(&["db", "db.damaged-1700000000", "db.salvaged-1700000001"]);
        let aside = quarantine(&folder).unwrap();
        remove_old(&folder, &mut |_| {});
        assert!(aside.join("db").is_file() && !folder.exists());
        let name = aside.file_name().unwrap().to_str().unwrap();
        assert_eq!(names(home.path()), ["db.damaged-1700000000", name]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_with_the_name_of_a_database_and_its_target_are_kept() {
        let named = ["db.damaged-2", "db.damaged-3", "elsewhere"];
        let (home, folder) = home_with(&named);
        let link = home.path().join("db.damaged-1");
        std::os::unix::fs::symlink(home.path().join("elsewhere"), &link).unwrap();
        remove_old(&folder, &mut |line| panic!("{line}"));
        assert!(link.join("db").is_file());
    }
}
