//! `graphitid repair`: recovers the readable records of damaged databases.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};

use super::{
    DaemonOptions, database,
    quarantine::{self, DAMAGED, SALVAGED},
};
use crate::{
    engine::sharing,
    lifecycle::home::Home,
    store::{
        StoreError,
        sled::{Salvaged, SledStore, open_damaged},
    },
};

/// Recovers missing records from `damaged`. Without it, checks the current database, moves it aside
/// if something in it cannot be read, and recovers missing records from all databases that were
/// moved aside. `say` receives lines for people.
///
/// # Errors
///
/// When a daemon owns the home, or the database cannot be written.
pub fn repair(
    options: &DaemonOptions,
    damaged: Option<&Path>,
    say: &mut dyn FnMut(&str),
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
        was_moved = examine(&folder, say)?;
    }
    let damaged = match damaged {
        Some(damaged) => vec![damaged.to_owned()],
        None => put_aside_before(home.path())?,
    };
    let store = SledStore::open(&folder).with_context(|| format!("open {}", folder.display()))?;
    for damaged in damaged {
        let name = damaged.display();
        match bring_back(&store, home.path(), &damaged) {
            Ok(salvaged) => {
                let kept = keep_as_salvaged(&damaged)?;
                say(&told(&salvaged, &damaged, kept.as_deref()));
            }
            Err(StoreError::Unreadable(what)) => {
                say(&format!("{name}: none of its records can be read: {what}"));
            }
            Err(error) => return Err(error).with_context(|| format!("bring back {name}")),
        }
    }
    store.close();
    if was_moved {
        // This comes last, when the readable records of all of them have been recovered.
        quarantine::remove_old(&folder, say);
    }
    Ok(())
}

/// Moves the database in use aside if something in it cannot be read; returns whether it did.
fn examine(folder: &Path, say: &mut dyn FnMut(&str)) -> anyhow::Result<bool> {
    let examined = SledStore::open(folder).and_then(|store| {
        let examined = store.examine();
        store.close();
        examined
    });
    let what = match examined {
        Ok((records, 0)) => {
            say(&format!("{}: all of its {records} records can be read.", folder.display()));
            return Ok(false);
        }
        Ok((records, bad)) => format!("{bad} of its {records} records cannot be read"),
        Err(StoreError::Unreadable(what)) => what,
        Err(error) => return Err(error).with_context(|| format!("open {}", folder.display())),
    };
    let moved = quarantine::quarantine(folder)?;
    say(&format!("{}: {what}; it was moved to {}.", folder.display(), moved.display()));
    Ok(true)
}

/// Returns the databases that were moved aside and not recovered yet, the latest first.
fn put_aside_before(home: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = home.read_dir().with_context(|| format!("read {}", home.display()))?;
    let is_damaged = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extension.starts_with(DAMAGED))
    };
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_damaged).collect();
    found.sort();
    found.reverse();
    Ok(found)
}

fn bring_back(store: &SledStore, home: &Path, damaged: &Path) -> Result<Salvaged, StoreError> {
    let work = home.join("db.repair");
    let brought_back = open_damaged(damaged, &work).and_then(|left| {
        let salvaged = store.salvage(&left);
        let salvaged = salvaged.and_then(|done| sharing::salvage(&left, store).map(|()| done));
        left.close();
        salvaged
    });
    // If the copy cannot be removed, the next repair removes it.
    let _ = fs::remove_dir_all(&work);
    brought_back
}

/// Marks a database that was moved aside as done, so that it is not processed again.
fn keep_as_salvaged(damaged: &Path) -> anyhow::Result<Option<PathBuf>> {
    let extension = damaged.extension().and_then(|extension| extension.to_str());
    let Some(time) = extension.and_then(|extension| extension.strip_prefix(DAMAGED)) else {
        return Ok(None);
    };
    let kept = damaged.with_extension(format!("{SALVAGED}{time}"));
    fs::rename(damaged, &kept)
        .with_context(|| format!("move {} to {}", damaged.display(), kept.display()))?;
    Ok(Some(kept))
}

fn told(salvaged: &Salvaged, damaged: &Path, kept: Option<&Path>) -> String {
    let Salvaged { sessions, known, forgotten, messages, episodes, unreadable } = salvaged;
    let mut told = format!(
        "{}: brought back {sessions} sessions with {messages} messages and {episodes} episodes; {known} sessions were there already; {unreadable} records could not be read.",
        damaged.display()
    );
    if *forgotten > 0 {
        told += &format!(
            " {forgotten} sessions that were forgotten had been read again; they are forgotten now."
        );
    }
    if let Some(kept) = kept {
        told += &format!(" It is now {}: delete it when nothing is missing.", kept.display());
    }
    told
}
