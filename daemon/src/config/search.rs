//! Finds the configuration file.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use crate::config::{
    Loaded,
    problem::{ConfigProblem, FilePosition, Problems},
    read::{ConfigSource, read_source},
};

pub const FILE_NAME: &str = "graphiti.config.json";

/// Maximum size of the file, in bytes. A file with all keys has about 10 kB.
const MAX_BYTES: u64 = 1 << 20;

/// The folders to search: first `directory`, then `home`.
#[derive(Clone, Debug)]
pub struct FileSearch {
    /// The working directory of the daemon. Without a working directory, only `home` is searched.
    pub directory: Option<PathBuf>,
    /// The home folder of `graphitid` (`GRAPHITI_HOME`, or `~/.graphiti`).
    pub home: PathBuf,
    /// The user's home folder, which replaces `~/` in the file.
    pub user_home: Option<PathBuf>,
}

/// Reads the first file that exists; without a file all settings have their defaults.
///
/// # Errors
/// All problems of that file. No other file is tried, because the user intended to use this file.
pub fn load(search: &FileSearch) -> Result<Loaded, Problems> {
    match search.file() {
        Some(file) => search.read(&file),
        None => Ok(Loaded::default()),
    }
}

impl FileSearch {
    pub fn candidates(&self) -> Vec<PathBuf> {
        let folders = self.directory.iter().chain([&self.home]);
        let mut files: Vec<PathBuf> = folders.map(|folder| folder.join(FILE_NAME)).collect();
        files.dedup();
        files
    }

    /// Returns the first file that exists.
    pub(super) fn file(&self) -> Option<PathBuf> {
        self.candidates().into_iter().find(|file| file.exists())
    }

    /// Reads `file`, which need not be one of the candidates.
    pub(super) fn read(&self, file: &Path) -> Result<Loaded, Problems> {
        let own_file = self.home.join(FILE_NAME);
        let is_in_directory = self
            .directory
            .as_ref()
            .is_some_and(|folder| is_same_file(&folder.join(FILE_NAME), file));
        let is_project_file = is_in_directory && !is_same_file(&own_file, file);
        let text = read(file)?;
        let source = ConfigSource {
            file: file.to_owned(),
            own_file: is_project_file.then_some(own_file),
            user_home: self.user_home.clone(),
        };
        read_source(&source, &text)
    }
}

/// Whether two paths lead to the same file, also over symbolic links and from the working directory.
fn is_same_file(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

fn read(file: &Path) -> Result<String, Problems> {
    let rejected = |problem| Problems { problems: vec![problem], notices: Vec::new() };
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|opened| opened.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| {
            let error = error.to_string().to_lowercase();
            rejected(ConfigProblem::Unreadable { file: file.to_owned(), error })
        })?;
    if bytes.len() as u64 > MAX_BYTES {
        let problem = ConfigProblem::TooLong { file: file.to_owned(), max_bytes: MAX_BYTES };
        return Err(rejected(problem));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        rejected(ConfigProblem::NotUtf8 { place: FilePosition::new(file, line) })
    })
}
