//! Where the log goes: a file that stays small, or standard error, which a service manager keeps.

use std::{
    fs::{self, File},
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use tracing_subscriber::{EnvFilter, layer::SubscriberExt, util::SubscriberInitExt};

/// How the daemon logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logging {
    /// What is logged, as `tracing_subscriber` filters: `info`, `debug`, `graphitid::engine=trace`.
    pub level: String,
    /// The file; standard error when there is none.
    pub file: Option<PathBuf>,
    /// When the file has so many bytes it is put aside, and the one put aside before is dropped.
    pub max_bytes: u64,
}

/// Starts logging. May be called once in a process.
pub fn start(logging: &Logging) -> io::Result<()> {
    let filter = EnvFilter::try_new(&logging.level)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let registry = tracing_subscriber::registry().with(filter);
    let started = match &logging.file {
        Some(file) => {
            let writer = Mutex::new(BoundedFile::open(file, logging.max_bytes)?);
            let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
            registry.with(layer).try_init()
        }
        None => {
            let terminal = io::stderr().is_terminal();
            let layer = tracing_subscriber::fmt::layer().with_ansi(terminal).with_target(false);
            // The journal has its own times.
            if std::env::var_os("JOURNAL_STREAM").is_some() {
                registry.with(layer.without_time().with_writer(io::stderr)).try_init()
            } else {
                registry.with(layer.with_writer(io::stderr)).try_init()
            }
        }
    };
    started.map_err(io::Error::other)
}

/// A file that is put aside when it has grown.
pub struct BoundedFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    max_bytes: u64,
}

impl BoundedFile {
    /// Opens the file to be written to at its end.
    pub fn open(path: &Path, max_bytes: u64) -> io::Result<BoundedFile> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = File::options().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(BoundedFile { path: path.to_owned(), file, bytes, max_bytes })
    }

    fn put_aside(&mut self) -> io::Result<()> {
        let mut aside = self.path.clone().into_os_string();
        aside.push(".1");
        fs::rename(&self.path, aside)?;
        *self = BoundedFile::open(&self.path, self.max_bytes)?;
        Ok(())
    }
}

impl Write for BoundedFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.bytes > 0 && self.bytes + line.len() as u64 > self.max_bytes {
            self.put_aside()?;
        }
        let written = self.file.write(line)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_never_takes_more_than_twice_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/graphitid.log");
        let mut file = BoundedFile::open(&path, 1_000).unwrap();
        for number in 0..500 {
            writeln!(file, "line {number}").unwrap();
        }
        let aside = folder.path().join("logs/graphitid.log.1");
        let (new, old) = (fs::read_to_string(&path).unwrap(), fs::read_to_string(aside).unwrap());
        assert!(new.len() <= 1_000 && old.len() <= 1_000);
        assert!(new.ends_with("line 499\n"));
        let last_old: u32 = old.lines().last().unwrap()[5..].parse().unwrap();
        assert!(new.starts_with(&format!("line {}\n", last_old + 1)));
    }

    #[test]
    fn a_log_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        for word in ["one\n", "two\n"] {
            BoundedFile::open(&path, 1_000).unwrap().write_all(word.as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    }
}
