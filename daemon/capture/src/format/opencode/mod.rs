//! The transcript format of opencode: sessions in the SQLite database `opencode.db` of opencode's
//! data folder, or in the database of another release channel, and older sessions in the folder
//! `storage` next to the database.

mod action;
mod database;
mod folder;
pub mod fuzzing;
mod line;
mod read;
mod rows;
mod version1;
mod version2;

#[cfg(test)]
pub(crate) mod tests;

use std::{
    borrow::Cow,
    io,
    path::{Path, PathBuf},
};

use self::{database::Database, folder::SessionFile};
use crate::{
    database::{self as reading, SessionDatabase},
    format::{Format, Identity, Memory, RecordVerdict, Surroundings, Unreadable, json::Object},
    model::transcript::Entry,
    records::{RecordSource, RecordText, Storage},
    store::FileStamp,
};

pub struct Opencode;

impl Format for Opencode {
    fn agent(&self) -> &'static str {
        "opencode"
    }

    /// Does not return the data folder itself, because it contains a repository of snapshots and a
    /// folder for each message.
    fn roots(&self, surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
        let folder = (surroundings.variable)("XDG_DATA_HOME")
            .filter(|folder| !folder.is_empty())
            .map_or_else(|| surroundings.home.join(".local/share"), PathBuf::from)
            .join("opencode");
        let mut roots = vec![folder.join("opencode.db"), folder.join("storage/session")];
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let of_channel = |name: &str| name != "opencode.db" && database::is_database_name(name);
        roots.extend(entries.map(|entry| entry.path()).filter(|path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(of_channel)
        }));
        roots
    }

    fn claims(&self, path: &Path) -> bool {
        Location::of(path).is_some()
    }

    fn storage(&self, _path: &Path) -> Storage {
        Storage::Assembled
    }

    fn record_source(&self) -> Option<&'static dyn RecordSource> {
        Some(&Opencode)
    }

    fn database(&self) -> Option<&'static dyn SessionDatabase> {
        Some(&Database)
    }

    fn other_paths(&self, path: &Path) -> Vec<PathBuf> {
        match Location::of(path) {
            Some(Location::Folder(file)) => {
                file.database().map(|database| database.join(&file.id)).into_iter().collect()
            }
            Some(Location::Row { database, session }) => files_in_folder(&database, &session),
            _ => Vec::new(),
        }
    }

    fn identify(&self, path: &Path, head: &str) -> Option<Identity> {
        Location::of(path)?;
        let record = Object::parse(head.lines().next()?)?;
        if record.raw("type") != Some("\"session\"") || record.raw("agent") != Some("\"opencode\"")
        {
            return None;
        }
        let id = record.string("id")?.into_owned();
        let directory = record.string("directory").map(Cow::into_owned);
        let directory = directory.filter(|directory| !directory.is_empty());
        Some(match record.string("root") {
            Some(root) => Identity { session: root.into_owned(), sub_agent: Some(id), directory },
            None => Identity { session: id, sub_agent: None, directory },
        })
    }

    fn read(
        &self,
        record: &str,
        memory: &mut Memory,
        emit: &mut dyn FnMut(Entry<'_>),
    ) -> Result<RecordVerdict, Unreadable> {
        let record = Object::parse(record).ok_or(Unreadable)?;
        let kind = record.string("type").unwrap_or_default();
        Ok(read::record(&kind, &record, memory, emit))
    }

    fn record_starts(&self) -> &'static [&'static str] {
        &[r#"{"type":"#]
    }
}

impl RecordSource for Opencode {
    fn stamp(&self, path: &Path) -> io::Result<FileStamp> {
        match Location::of(path) {
            Some(Location::Folder(file)) => file.stamp(),
            Some(Location::Row { database, session }) => {
                let stamp = reading::read(&database, |connection| {
                    Ok(Database.stamp(connection, &session)?)
                })?;
                stamp.ok_or_else(|| io::ErrorKind::NotFound.into())
            }
            Some(Location::Database(path)) => reading::read(&path, |connection| {
                Database.last_rows(connection)?;
                Err(io::ErrorKind::NotFound.into())
            }),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn write_records(&self, path: &Path, text: &mut RecordText) -> io::Result<FileStamp> {
        match Location::of(path) {
            Some(Location::Row { database, session }) => reading::read(&database, |connection| {
                text.clear();
                let stamp = Database.stamp(connection, &session)?;
                Database.records(connection, &session, text)?;
                stamp.ok_or_else(|| io::ErrorKind::NotFound.into())
            }),
            Some(Location::Folder(file)) => {
                let stamp = file.stamp()?;
                file.write_records(text)?;
                Ok(stamp)
            }
            _ => self.stamp(path),
        }
    }
}

/// The storage of a session.
enum Location {
    /// The database file, which is not a transcript. It is read only to report the error if it is
    /// unreadable.
    Database(PathBuf),
    Row {
        database: PathBuf,
        session: String,
    },
    Folder(SessionFile),
}

impl Location {
    /// Determines the storage from the path alone.
    fn of(path: &Path) -> Option<Location> {
        if let Some(file) = SessionFile::of(path) {
            return Some(Location::Folder(file));
        }
        let name = path.file_name()?.to_str()?;
        if database::is_database_name(name) {
            return Some(Location::Database(path.to_owned()));
        }
        let database = path.parent()?;
        let is_in_database = database::is_database_name(database.file_name()?.to_str()?);
        (is_in_database && name.starts_with("ses_"))
            .then(|| Location::Row { database: database.to_owned(), session: name.to_owned() })
    }
}

/// Returns the files from which opencode may have copied a session into the database.
fn files_in_folder(database: &Path, session: &str) -> Vec<PathBuf> {
    let Some(folder) = database.parent() else { return Vec::new() };
    let projects = std::fs::read_dir(folder.join("storage/session")).into_iter().flatten();
    let file = format!("{session}.json");
    let files = projects.flatten().map(|project| project.path().join(&file));
    files.filter(|file| file.is_file()).collect()
}
