//! Reads the folder in which opencode stored sessions before it had a database:
//! `storage/session/<project>/<session>.json`, with `storage/message/<session>/<message>.json` and
//! `storage/part/<message>/<part>.json`.
//!
//! opencode copies these sessions into its database and then writes only there, so the messages in
//! the folder no longer change. The messages are read when the session's file changes, and an
//! unfinished answer is read without waiting for its end.

use std::{
    borrow::Cow,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::{
    database,
    line::{Records, StoredSession, nested},
    version1::{Message, Stored},
};
use crate::{
    database as reading, format::json::Object, open::file_stamp, open::open_file,
    records::RecordText, store::FileStamp,
};

/// Maximum length, in bytes, of a file. A longer file is not read.
const LONGEST: u64 = 48 << 20;
/// Maximum number of parents that are followed to find the session that the user started.
const MAX_ANCESTORS: usize = 16;

/// The paths of a session in the folder.
pub(super) struct SessionFile {
    pub(super) id: String,
    file: PathBuf,
    /// The folder `storage`.
    storage: PathBuf,
}

impl SessionFile {
    /// Returns the session at `path`, judged by the path alone.
    pub(super) fn of(path: &Path) -> Option<SessionFile> {
        let id = path.file_name()?.to_str()?.strip_suffix(".json")?;
        let sessions = path.parent()?.parent()?;
        let storage = sessions.parent()?;
        let is_one = id.starts_with("ses_")
            && sessions.file_name()? == "session"
            && storage.file_name()? == "storage";
        is_one.then(|| SessionFile {
            id: id.to_owned(),
            file: path.to_owned(),
            storage: storage.to_owned(),
        })
    }

    /// Returns the database into which opencode copies the session.
    pub(super) fn database(&self) -> Option<PathBuf> {
        Some(self.storage.parent()?.join("opencode.db"))
    }

    /// # Errors
    ///
    /// `NotFound` when the file does not exist or the session was copied into the database.
    pub(super) fn stamp(&self) -> io::Result<FileStamp> {
        let stamp = file_stamp(&fs::symlink_metadata(&self.file)?);
        let contains = |path: PathBuf| {
            reading::read(&path, |connection| Ok(database::contains(connection, &self.id)?))
        };
        // An unreadable database is ignored here. It is reported when its own sessions are read.
        match self.database().map(contains) {
            Some(Ok(true)) => {
                Err(io::Error::new(io::ErrorKind::NotFound, "the session is in the database"))
            }
            _ => Ok(FileStamp { length: 0, ..stamp }),
        }
    }

    pub(super) fn write_records(&self, text: &mut RecordText) -> io::Result<()> {
        let session = read(&self.file)?;
        let Some(object) = Object::parse(&session) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the file is not complete JSON",
            ));
        };
        let row = self.row(&object);
        let mut records = Records::begin(&row, text)?;
        for message in files(&self.storage.join("message").join(&self.id))? {
            self.write_message(&message, &mut records)?;
        }
        Ok(())
    }

    fn row(&self, object: &Object<'_>) -> StoredSession {
        let string = |key| object.string(key).unwrap_or_default().into_owned();
        let parent = object.string("parentID").map(Cow::into_owned);
        StoredSession {
            id: self.id.clone(),
            root: parent.clone().map(|parent| self.root(parent)),
            parent,
            directory: string("directory"),
            title: string("title"),
            version: string("version"),
            created: nested(object, "time", "created")
                .and_then(|raw| raw.parse().ok())
                .unwrap_or_default(),
        }
    }

    /// Returns the first session of the chain of parents.
    fn root(&self, mut session: String) -> String {
        let Some(folder) = self.file.parent() else { return session };
        for _ in 0..MAX_ANCESTORS {
            let Ok(text) = read(&folder.join(format!("{session}.json"))) else { break };
            let parent = Object::parse(&text).and_then(|object| object.string("parentID"));
            let Some(parent) = parent.map(Cow::into_owned) else { break };
            session = parent;
        }
        session
    }

    fn write_message(&self, file: &StoredFile, records: &mut Records<'_>) -> io::Result<()> {
        let Ok(data) = read(&file.path) else { return Ok(()) };
        let Some(mut message) = Message::parse(&Stored { id: &file.id, data: &data }) else {
            return records.write_damaged(&data);
        };
        message.finish();
        message.write_start(records)?;
        for part in files(&self.storage.join("part").join(&file.id))? {
            let Ok(data) = read(&part.path) else { continue };
            // The message is marked as finished, so no part has to wait.
            message.write_part(&Stored { id: &part.id, data: &data }, records)?;
        }
        message.write_end(records)?;
        Ok(())
    }
}

/// A file of a message or a part.
struct StoredFile {
    id: String,
    path: PathBuf,
}

/// Returns the JSON files in a folder, in the order of their ids, which is chronological.
fn files(folder: &Path) -> io::Result<Vec<StoredFile>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<StoredFile> = paths
        .filter_map(|path| {
            let id = path.file_name()?.to_str()?.strip_suffix(".json")?.to_owned();
            Some(StoredFile { id, path })
        })
        .collect();
    files.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    Ok(files)
}

fn read(path: &Path) -> io::Result<String> {
    let file = open_file(path)?;
    if file.metadata()?.len() > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is too long"));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
