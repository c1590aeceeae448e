//! Where the file is looked for.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::config::{
    Loaded,
    problem::{ConfigProblem, Problems},
    read::{ConfigSource, read_source},
};

/// What the file is called.
pub const FILE_NAME: &str = "graphiti.config.json";

/// Bytes of the file at most; one with everything in it has ten thousand.
const LONGEST: u64 = 1 << 20;

/// Where to look, in this order: the directory, the home folder.
#[derive(Clone, Debug)]
pub struct FileSearch {
    /// The directory that the daemon was started in; `None` to leave it out.
    pub directory: Option<PathBuf>,
    /// Graphiti's home folder (`GRAPHITI_HOME`, or `~/.graphiti`).
    pub home: PathBuf,
    /// The user's home folder, for `~/` in the file.
    pub user_home: Option<PathBuf>,
}

/// Reads the first file there is; without any, everything has its default.
///
/// # Errors
/// All problems of that file. It is not passed over for the next one: who wrote it meant it.
pub fn load(search: &FileSearch) -> Result<Loaded, Problems> {
    match search.file() {
        Some(file) => search.read(&file),
        None => Ok(Loaded::default()),
    }
}

impl FileSearch {
    /// The files that are looked for.
    pub fn candidates(&self) -> Vec<PathBuf> {
        let folders = self.directory.iter().chain([&self.home]);
        let mut files: Vec<PathBuf> = folders.map(|folder| folder.join(FILE_NAME)).collect();
        files.dedup();
        files
    }

    /// The file that counts.
    pub(super) fn file(&self) -> Option<PathBuf> {
        self.candidates().into_iter().find(|file| file.exists())
    }

    /// Reads `file`, which need not be one of the candidates.
    pub(super) fn read(&self, file: &Path) -> Result<Loaded, Problems> {
        let own_file = self.home.join(FILE_NAME);
        let is_projects =
            self.directory.as_ref().is_some_and(|folder| folder.join(FILE_NAME) == file)
                && file != own_file;
        let text = read(file).map_err(|error| {
            let problem = ConfigProblem::Unreadable {
                file: file.to_owned(),
                error: error.to_string().to_lowercase(),
            };
            Problems { problems: vec![problem], notices: Vec::new() }
        })?;
        let source = ConfigSource {
            file: file.to_owned(),
            own_file: is_projects.then_some(own_file),
            user_home: self.user_home.clone(),
        };
        read_source(&source, &text)
    }
}

fn read(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        let what = format!("it is longer than {} kB", LONGEST >> 10);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(text)
}
