//! `graphiti export --html`: writes a copy of the viewer's pages that a browser opens without a
//! server.
//!
//! The pages are written into a new folder next to the target folder. At the end, the new folder
//! replaces the target folder, so an interrupted export leaves an earlier copy unchanged. The
//! target folder is replaced only if it is empty, or contains only an earlier copy.

use std::{
    collections::{HashSet, VecDeque},
    ffi::OsString,
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use graphiti_proto::{
    files::{REPLACED, UNFINISHED, beside},
    methods::static_copy::{STATIC_COPY, StaticCopyFile, StaticCopyPart, StaticCopyRequest},
};

use crate::{
    cli,
    connection::{AskError, Connection},
    files,
    screen::{Screen, line},
};

/// The file that lists the files of a copy.
const LIST: &str = "graphiti-copy.txt";
/// The first line of [`LIST`].
const LIST_HEAD: &str =
    "The next `graphiti export --html` replaces this folder if it has only these files:";
/// The page to open.
const START: &str = "index.html";
/// Maximum number of pages in one request.
const PAGES: usize = 200;
/// Maximum length, in characters, of the name of a file.
const LONGEST_NAME: usize = 200;

pub(super) fn run(args: cli::ExportOptions, screen: &Screen) -> Result<(), AskError> {
    let folder = resolved(&args.folder).map_err(|error| not_written(&args.folder, error))?;
    check_replaceable(&folder)?;
    let mut connection = Connection::open_for_work()?;
    let request = StaticCopyRequest {
        pages: Vec::new(),
        project: super::project(args.project),
        since: args.since,
    };
    let mut copy = UnfinishedCopy::create(&folder)?;
    let sessions = copy.fetch(&mut connection, request)?;
    copy.finish(&folder)?;
    let count = if sessions == 1 { "1 session".to_owned() } else { format!("{sessions} sessions") };
    let start = folder.join(START).display().to_string();
    screen.print(format!("A copy of {count} was written. Open it in a browser: {}", line(&start)));
    Ok(())
}

/// A copy that is being written. The folder is removed when the value is dropped.
struct UnfinishedCopy {
    folder: PathBuf,
    /// The names of the files of the copy.
    names: Vec<String>,
}

impl UnfinishedCopy {
    /// Creates the new folder next to `wanted`. Replaces the new folder of an interrupted export.
    fn create(wanted: &Path) -> Result<UnfinishedCopy, AskError> {
        let folder = beside(wanted, UNFINISHED);
        let failed = |error| not_written(&folder, error);
        if listed(&folder).is_some() {
            fs::remove_dir_all(&folder).map_err(failed)?;
        }
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::create_dir(&folder).map_err(failed)?;
        let copy = UnfinishedCopy { folder: folder.clone(), names: Vec::new() };
        copy.write_list().map_err(failed)?;
        Ok(copy)
    }

    /// Writes all pages, and returns the number of sessions.
    fn fetch(
        &mut self,
        connection: &mut Connection,
        mut request: StaticCopyRequest,
    ) -> Result<usize, AskError> {
        let mut pending: VecDeque<String> = VecDeque::new();
        let mut seen: HashSet<String> = HashSet::new();
        loop {
            let part: StaticCopyPart = connection.ask(STATIC_COPY, &request)?;
            if part.rendered == 0 && !request.pages.is_empty() {
                return Err(AskError::InvalidAnswer("it rendered no page".to_owned()));
            }
            for StaticCopyFile { name, text } in part.files {
                self.write(name, &text)?;
            }
            pending.drain(..part.rendered.min(pending.len()));
            pending.extend(part.links.into_iter().filter(|page| seen.insert(page.clone())));
            if pending.is_empty() {
                return Ok(part.sessions);
            }
            request.pages = pending.iter().take(PAGES).cloned().collect();
        }
    }

    fn write(&mut self, name: String, text: &str) -> Result<(), AskError> {
        if !is_plain(&name) {
            let what = format!("a file has the invalid name `{name}`");
            return Err(AskError::InvalidAnswer(what));
        }
        let path = self.folder.join(&name);
        // The file is not synced to disk, because a copy can be made again.
        let written = File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| not_written(&path, error))?;
        self.names.push(name);
        Ok(())
    }

    fn write_list(&self) -> io::Result<()> {
        let mut text = format!("{LIST_HEAD}\n");
        for name in &self.names {
            text.push_str(name);
            text.push('\n');
        }
        fs::write(self.folder.join(LIST), text)
    }

    /// Moves this copy to `wanted`, in place of an earlier copy.
    fn finish(mut self, wanted: &Path) -> Result<(), AskError> {
        self.names.sort();
        let failed = |error| not_written(wanted, error);
        self.write_list().map_err(failed)?;
        // The user may have added files during the export.
        if !check_replaceable(wanted)? {
            return fs::rename(&self.folder, wanted).map_err(failed);
        }
        let old = beside(wanted, REPLACED);
        if listed(&old).is_some() {
            fs::remove_dir_all(&old).map_err(failed)?;
        }
        fs::rename(wanted, &old).map_err(failed)?;
        if let Err(error) = fs::rename(&self.folder, wanted) {
            // Moves the earlier copy back, if possible.
            let _ = fs::rename(&old, wanted);
            return Err(failed(error));
        }
        fs::remove_dir_all(&old).map_err(|error| not_written(&old, error))
    }
}

impl Drop for UnfinishedCopy {
    fn drop(&mut self) {
        // The folder of a complete copy was renamed, so nothing is removed then.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Checks that a copy may be moved to `folder`. Returns whether there is a folder to replace.
///
/// # Errors
///
/// Fails when the folder contains something that no earlier export wrote.
fn check_replaceable(folder: &Path) -> Result<bool, AskError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(not_written(folder, error)),
    };
    let own = listed(folder).unwrap_or_default();
    for entry in entries {
        let name = entry.map_err(|error| not_written(folder, error))?.file_name();
        if !own.contains(&name) {
            let name = name.to_string_lossy();
            let what = format!(
                "the folder contains `{}`, which is not part of an earlier copy; nothing was written, choose another folder",
                line(&name)
            );
            return Err(AskError::file(folder, &what));
        }
    }
    Ok(true)
}

/// Returns the names of the files of a copy; `None` if the folder is not a copy.
fn listed(folder: &Path) -> Option<HashSet<OsString>> {
    let text = files::read_text(&folder.join(LIST)).ok()?;
    let names = text.strip_prefix(LIST_HEAD)?.lines().filter(|name| is_plain(name));
    Some(names.chain([LIST]).map(OsString::from).collect())
}

/// Whether a name is valid for a file of a copy: it contains no separator, and every file system
/// accepts it.
fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    (1..=LONGEST_NAME).contains(&name.len()) && !name.starts_with('.') && name.chars().all(is_plain)
}

/// Resolves links in a path, so that the folder is replaced and not a link to the folder.
fn resolved(folder: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(folder) {
        // Collecting the components removes a separator at the end.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(std::path::absolute(folder)?.components().collect())
        }
        resolved => resolved,
    }
}

fn not_written(path: &Path, error: io::Error) -> AskError {
    AskError::NotWritten { path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(wanted: &Path, files: &[&str]) -> UnfinishedCopy {
        let mut copy = UnfinishedCopy::create(wanted).unwrap();
        for name in files {
            copy.write((*name).to_owned(), name).unwrap();
        }
        copy
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_copy_replaces_only_an_earlier_copy() {
        let parent = tempfile::tempdir().unwrap();
        let wanted = parent.path().join("copy");
        copy(&wanted, &["index.html", "a.html"]).finish(&wanted).unwrap();
        copy(&wanted, &["index.html"]).finish(&wanted).unwrap();
        assert_eq!(names(&wanted), [LIST, "index.html"]);
        assert_eq!(names(parent.path()), ["copy"]);
        // A file that the user added meanwhile is kept.
        let unfinished = copy(&wanted, &["index.html", "b.html"]);
        fs::write(wanted.join("notes.txt"), "mine").unwrap();
        let error = unfinished.finish(&wanted).unwrap_err().to_string();
        assert!(error.contains("`notes.txt`"), "{error}");
        assert_eq!(names(&wanted), [LIST, "index.html", "notes.txt"]);
        assert_eq!(names(parent.path()), ["copy"], "the unfinished copy is removed");
    }

    #[test]
    fn an_interrupted_copy_is_replaced_and_the_earlier_copy_is_kept() {
        let parent = tempfile::tempdir().unwrap();
        let wanted = parent.path().join("copy");
        copy(&wanted, &["index.html"]).finish(&wanted).unwrap();
        std::mem::forget(copy(&wanted, &["half.html"]));
        assert_eq!(names(&wanted), [LIST, "index.html"]);
        copy(&wanted, &["index.html", "new.html"]).finish(&wanted).unwrap();
        assert_eq!(names(&wanted), [LIST, "index.html", "new.html"]);
        // A folder with the same name is not removed if another program created it.
        let other = beside(&wanted, UNFINISHED);
        fs::create_dir(&other).unwrap();
        fs::write(other.join("mine"), "").unwrap();
        assert!(UnfinishedCopy::create(&wanted).is_err());
        assert_eq!(names(&other), ["mine"]);
    }

    #[test]
    fn only_plain_names_are_written() {
        let parent = tempfile::tempdir().unwrap();
        let mut copy = copy(&parent.path().join("copy"), &[]);
        for name in ["../x", "", ".profile", "a/b", "A", "c:d", LIST, "con\u{202e}"] {
            assert!(copy.write(name.to_owned(), "").is_err(), "{name}");
        }
    }
}
