//! Opens regular files in an agent's folder, without following links and without blocking.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use crate::{model::Timestamp, store::FileStamp};

/// Opens the file at `path` for reading.
///
/// A path can change between a check and the opening. The check for a regular file therefore uses
/// the open file: links are not followed, and opening a pipe does not block.
///
/// # Errors
///
/// Also returns `NotFound` for a path that is not a regular file.
pub fn open_file(path: &Path) -> io::Result<File> {
    let file = open_plain(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(no_file()) }
}

#[cfg(unix)]
fn open_plain(path: &Path) -> io::Result<File> {
    use rustix::{
        fs::{Mode, OFlags},
        io::Errno,
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => Ok(File::from(file)),
        // The path is a link, a socket, or a device without a driver.
        Err(Errno::LOOP | Errno::MLINK | Errno::NXIO) => Err(no_file()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn open_plain(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path)?.is_symlink() { Err(no_file()) } else { File::open(path) }
}

fn no_file() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "it is not a regular file")
}

#[cfg(all(test, unix))]
mod tests {
    use std::{os::unix::fs::symlink, process::Command};

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "x").unwrap();
        fs::create_dir(at("folder")).unwrap();
        symlink(at("file"), at("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        assert!(open_file(&at("file")).is_ok());
        for other in ["folder", "link", "socket", "pipe", "missing"] {
            let error = open_file(&at(other)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound, "{other}: {error}");
        }
        assert_eq!(open_file(Path::new("/dev/zero")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}

/// Returns the state of a file according to its metadata, without reading the file.
pub fn file_stamp(metadata: &fs::Metadata) -> FileStamp {
    let modified = metadata.modified().map_or(0, |time| Timestamp::from(time).micros());
    FileStamp { file: file_number(metadata), length: metadata.len(), modified }
}

#[cfg(unix)]
fn file_number(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

/// Returns 0, because Windows provides the file index only for an open handle. The checksums of a
/// [`FileCursor`](crate::tail::FileCursor) detect a replaced file without the index.
#[cfg(not(unix))]
fn file_number(_metadata: &fs::Metadata) -> u64 {
    0
}
