//! Opens or creates an index, and detects an unusable index.

use std::{
    fs, io,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
};

use tantivy::{IndexSettings, directory::MmapDirectory, store::Compressor};

use crate::{
    index::{
        IndexState, Position, SearchIndex, open_shards,
        schema::{CodeTokenizer, LAYOUT, TOKENIZER, VERSION},
    },
    sync::{Mutex, RwLock},
};

/// Why an index is unusable. [`SearchIndex::create`] repairs all cases except
/// [`OpenError::Folder`].
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("there is no search index in {}", .0.display())]
    Missing(PathBuf),
    #[error("the search index is of another version: {0}")]
    OtherVersion(String),
    /// The index was created, but no change from the caller's outbox was committed.
    #[error("the search index was never filled")]
    Unfilled,
    /// A file is damaged or missing.
    #[error("the search index is damaged: {0}")]
    Damaged(String),
    /// The folder is not readable or writable.
    #[error("the folder of the search index cannot be used: {0}")]
    Folder(#[from] io::Error),
}

/// Contains the version of the format. [`create`] writes it last, when the index is complete.
const VERSION_FILE: &str = "VERSION";

pub(super) fn open(folder: &Path) -> Result<SearchIndex, OpenError> {
    let wanted = version_line();
    match fs::read(folder.join(VERSION_FILE)) {
        Ok(found) if found == wanted.as_bytes() => {}
        Ok(found) => {
            let found = String::from_utf8_lossy(&found).trim().chars().take(40).collect();
            return Err(OpenError::OtherVersion(found));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(OpenError::Missing(folder.to_owned()));
        }
        Err(error) => return Err(error.into()),
    }
    // tantivy can panic when it reads damaged files.
    let opened = panic::catch_unwind(AssertUnwindSafe(|| open_checked(folder)));
    opened.unwrap_or_else(|_| Err(OpenError::Damaged("it cannot be parsed".to_owned())))
}

pub(super) fn create(folder: &Path) -> Result<SearchIndex, OpenError> {
    fs::create_dir_all(folder)?;
    remove_if_there(&folder.join(VERSION_FILE))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    let settings =
        IndexSettings { docstore_compression: Compressor::None, ..IndexSettings::default() };
    let directory = MmapDirectory::open(folder).map_err(|error| damaged(&error))?;
    let index = tantivy::Index::create(directory, LAYOUT.schema.clone(), settings)
        .map_err(|error| damaged(&error))?;
    fs::write(folder.join(VERSION_FILE), version_line())?;
    assemble(index)
}

fn open_checked(folder: &Path) -> Result<SearchIndex, OpenError> {
    let directory = MmapDirectory::open(folder).map_err(|error| damaged(&error))?;
    let index = tantivy::Index::open(directory).map_err(|error| damaged(&error))?;
    if index.schema() != LAYOUT.schema {
        return Err(OpenError::OtherVersion("its fields differ".to_owned()));
    }
    let broken = index.validate_checksum().map_err(|error| damaged(&error))?;
    if let Some(file) = broken.iter().next() {
        return Err(OpenError::Damaged(format!("{} has a wrong checksum", file.display())));
    }
    let index = assemble(index)?;
    if index.applied() == Position::default() { Err(OpenError::Unfilled) } else { Ok(index) }
}

fn assemble(index: tantivy::Index) -> Result<SearchIndex, OpenError> {
    index.tokenizers().register(TOKENIZER, CodeTokenizer::default());
    // This only checks that the segments can be opened. A search opens them again.
    open_shards(&index).map_err(|error| damaged(&error))?;
    let metas = index.load_metas().map_err(|error| damaged(&error))?;
    let committed = match metas.payload.as_deref().map(str::parse) {
        None => Position::default(),
        Some(Ok(position)) => Position(position),
        Some(Err(_)) => return Err(OpenError::Damaged("its position is not a number".to_owned())),
    };
    let state = IndexState { disk: None, layers: Vec::new(), committed };
    Ok(SearchIndex { tantivy: index, state: RwLock::new(state), writer: Mutex::new(None) })
}

fn version_line() -> String {
    format!("graphitid search {VERSION}\n")
}

fn damaged(error: &impl ToString) -> OpenError {
    OpenError::Damaged(error.to_string())
}

fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
