//! The daemon's home folder. It is private, and only one daemon can own it at a time.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
};

use graphiti_proto::{
    PROTOCOL,
    endpoint::{self, Runtime},
    files,
};

/// A home folder that this process owns until the value is dropped.
pub struct Home {
    path: PathBuf,
    lock: File,
}

/// The reason why a home cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// Another daemon owns the home.
    #[error(
        "graphitid is already running for {} ({}); stop it with `graphiti stop`",
        .home.display(),
        .pid.map_or("its process is not known".to_owned(), |pid| format!("pid {pid}"))
    )]
    Taken {
        home: PathBuf,
        /// The process id of the other daemon.
        pid: Option<u32>,
    },
    /// The folder cannot be created, made private or locked.
    #[error(
        "cannot use {} as home: {error}; {}",
        .home.display(),
        match .error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free space there",
            _ => "set GRAPHITI_HOME to a folder that can be written to",
        }
    )]
    Unusable { home: PathBuf, error: io::Error },
}

impl Home {
    /// Creates the folder if necessary, makes it private and locks it.
    pub fn take(path: &Path) -> Result<Home, HomeError> {
        let unusable = |error| HomeError::Unusable { home: path.to_owned(), error };
        restrict_umask();
        fs::create_dir_all(path).map_err(unusable)?;
        let path = path.canonicalize().map_err(unusable)?;
        make_private(&path).map_err(unusable)?;
        let mut lock = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path.join("graphitid.lock"))
            .map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // On Windows, other processes cannot read a locked file. Then the process id is
                // read from the runtime file.
                let pid =
                    lock.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                let pid = pid.or_else(|| endpoint::runtime(&path).map(|runtime| runtime.pid));
                return Err(HomeError::Taken { home: path, pid });
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        lock.set_len(0).map_err(unusable)?;
        lock.rewind().map_err(unusable)?;
        writeln!(lock, "{}", std::process::id()).map_err(unusable)?;
        Ok(Home { path, lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Publishes the daemon's address for clients.
    pub fn announce(&self, socket: &str) -> io::Result<()> {
        let runtime = Runtime {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL,
            socket: socket.to_owned(),
        };
        let text = serde_json::to_string_pretty(&runtime).map_err(io::Error::other)?;
        let file = endpoint::runtime_file(&self.path);
        files::replace(&file, text.as_bytes())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // Errors can be ignored: a remaining file contains the id of an ended process, and the lock
        // ends with the process.
        let _ = fs::remove_file(endpoint::runtime_file(&self.path));
        let _ = self.lock.unlock();
    }
}

/// Makes all files that this process creates private to its user, regardless of the inherited
/// umask.
#[cfg(unix)]
fn restrict_umask() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
}

#[cfg(unix)]
fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if fs::metadata(path)?.permissions().mode() & 0o777 == 0o700 {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// Does nothing on Windows, where files inherit the private permissions of the user's profile
/// folder.
#[cfg(not(unix))]
fn restrict_umask() {}

#[cfg(not(unix))]
fn make_private(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_has_one_owner_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/home");
        let home = Home::take(&path).unwrap();
        let refused = Home::take(&path).err().unwrap().to_string();
        if cfg!(unix) {
            assert!(refused.contains(&format!("(pid {})", std::process::id())), "{refused}");
        }
        drop(home);
        Home::take(&path).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_home_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("home");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let home = Home::take(&path).unwrap();
        home.announce("/somewhere").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(&endpoint::runtime_file(home.path())), 0o600);
        assert_eq!(endpoint::socket(home.path()), "/somewhere");
    }

    #[test]
    fn the_error_for_a_home_that_is_a_file_contains_the_remedy() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refused = Home::take(file.path()).err().unwrap().to_string();
        assert!(refused.contains("set GRAPHITI_HOME"), "{refused}");
    }
}
