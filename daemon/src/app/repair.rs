//! `graphitid repair`: recovers the readable records of damaged databases.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};

use super::{
    DaemonOptions,
    database::{self, lost_changes},
    quarantine::{self, DAMAGED, SALVAGED},
};
use crate::{
    engine::{model_queue::learned_tools, sharing},
    lifecycle::home::Home,
    store::{
        StoreError,
        sled::{Salvaged, SledStore, open_damaged},
    },
};

/// Recovers missing records from the database `damaged`. If `damaged` is `None`, checks the current
/// database, moves this database to another folder if any record cannot be read, and recovers
/// missing records from all damaged databases that were not recovered yet. `notify` receives lines
/// for people.
///
/// # Errors
///
/// If a daemon owns the home, `damaged` is not a database, or the current database cannot be
/// written.
pub fn repair(
    options: &DaemonOptions,
    damaged: Option<&Path>,
    notify: &mut dyn FnMut(&str),
) -> anyhow::Result<()> {
    let home = Home::take(&options.home)?;
    let folder = database::folder(home.path());
    let mut was_moved = false;
    if let Some(damaged) = damaged {
        ensure!(
            damaged.join("db").is_file(),
            "{} is not a database: it has no file named db",
            damaged.display()
        );
    } else if folder.exists() {
        was_moved = check_database(&folder, notify)?;
    }
    let damaged = match damaged {
        Some(damaged) => vec![damaged.to_owned()],
        None => damaged_databases(home.path())?,
    };
    let store = SledStore::open(&folder).with_context(|| format!("open {}", folder.display()))?;
    for damaged in damaged {
        let name = damaged.display();
        match recover(&store, home.path(), &damaged) {
            Ok(salvaged) => {
                let kept = mark_recovered(&damaged)?;
                notify(&report(&salvaged, &damaged, kept.as_deref()));
            }
            Err(StoreError::Unreadable(what)) => {
                notify(&format!("{name}: none of its records can be read: {what}"));
            }
            Err(error) => {
                return Err(error).with_context(|| format!("recover records from {name}"));
            }
        }
    }
    store.close();
    if was_moved {
        // All readable records have been recovered, so old databases may be removed now.
        quarantine::remove_old(&folder, notify);
    }
    Ok(())
}

/// Moves the current database to another folder if any record cannot be read. Returns whether the
/// database was moved.
fn check_database(folder: &Path, notify: &mut dyn FnMut(&str)) -> anyhow::Result<bool> {
    let examined = SledStore::open(folder).and_then(|store| {
        let (examined, lost) = (store.examine(), store.lost());
        store.close();
        examined.map(|(records, bad)| (records, bad, lost))
    });
    let what = match examined {
        Ok((records, 0, lost)) => {
            notify(&format!("{}: all of its {records} records can be read.", folder.display()));
            if lost > 0 {
                notify(&lost_changes(folder, lost));
            }
            return Ok(false);
        }
        Ok((records, bad, _)) => format!("{bad} of its {records} records cannot be read"),
        Err(StoreError::Unreadable(what)) => what,
        Err(error) => return Err(error).with_context(|| format!("open {}", folder.display())),
    };
    let moved = quarantine::quarantine(folder)?;
    notify(&format!(
        "{}: {what}; the database was moved to {}.",
        folder.display(),
        moved.display()
    ));
    Ok(true)
}

/// Returns the damaged databases that were not recovered yet, the latest first.
fn damaged_databases(home: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let found = quarantine::unrecovered(&database::folder(home));
    found.with_context(|| format!("read {}", home.display()))
}

fn recover(store: &SledStore, home: &Path, damaged: &Path) -> Result<Salvaged, StoreError> {
    let work = home.join("db.repair");
    let recovered = open_damaged(damaged, &work).and_then(|left| {
        let salvaged = store.salvage(&left).and_then(|done| {
            sharing::salvage(&left, store)?;
            learned_tools::salvage(&left, store)?;
            Ok(done)
        });
        left.close();
        salvaged
    });
    // If the copy cannot be removed, the next repair removes it.
    let _ = fs::remove_dir_all(&work);
    recovered
}

/// Renames a damaged database that the daemon moved, so that the next repair does not process it
/// again. Returns the new path; `None` for any other database.
fn mark_recovered(damaged: &Path) -> anyhow::Result<Option<PathBuf>> {
    let extension = damaged.extension().and_then(|extension| extension.to_str());
    let Some(time) = extension.and_then(|extension| extension.strip_prefix(DAMAGED)) else {
        return Ok(None);
    };
    let kept = damaged.with_extension(format!("{SALVAGED}{time}"));
    fs::rename(damaged, &kept)
        .with_context(|| format!("move {} to {}", damaged.display(), kept.display()))?;
    Ok(Some(kept))
}

fn report(salvaged: &Salvaged, damaged: &Path, kept: Option<&Path>) -> String {
    let Salvaged { sessions, known, forgotten, messages, lost, episodes, unreadable } = salvaged;
    let mut report = format!(
        "{}: recovered {sessions} sessions with {messages} messages and {episodes} episodes; {known} sessions existed already; {unreadable} records could not be read.",
        damaged.display()
    );
    if *lost > 0 {
        report += &format!(
            " {lost} messages were not recovered, because their transcripts belong to other sessions now."
        );
    }
    if *forgotten > 0 {
        report +=
            &format!(" {forgotten} forgotten sessions had been imported again; they were removed.");
    }
    if let Some(kept) = kept {
        report += &format!(
            " The damaged database is now {}: delete it if no session is missing.",
            kept.display()
        );
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_databases_that_were_moved_are_recovered() {
        let home = tempfile::tempdir().unwrap();
        for name in ["db.damaged-5", "db.damaged-12", "db.damaged-12-backup", "db.salvaged-3"] {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        fs::write(home.path().join("db.damaged-6"), b"no folder").unwrap();
        let found = damaged_databases(home.path()).unwrap();
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()).collect();
        assert_eq!(names, ["db.damaged-12", "db.damaged-5"]);
    }

    #[test]
    fn lost_changes_of_a_readable_database_are_reported() {
        let home = tempfile::tempdir().unwrap();
        let folder = database::folder(home.path());
        SledStore::open(&folder).unwrap().close();
        let check = || {
            let mut lines = Vec::new();
            let was_moved =
                check_database(&folder, &mut |line| lines.push(line.to_owned())).unwrap();
            assert!(!was_moved);
            lines
        };
        assert_eq!(check().len(), 1);
        // The position of the last change that was acknowledged.
        fs::write(folder.join("mark"), 7u64.to_be_bytes()).unwrap();
        let lines = check();
        assert!(lines.len() == 2 && lines[1].contains("its last 7 changes are lost"), "{lines:?}");
    }
}
