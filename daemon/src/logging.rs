//! Where the log goes: a file that stays small, or standard error, which a service manager keeps.

use std::{
    fs::{self, File},
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use tracing_subscriber::{
    EnvFilter, Registry, layer::SubscriberExt, reload, util::SubscriberInitExt,
};

use crate::config::{Level, Log};

/// Parts of libraries that would log transcript text at `debug`: the shell parser prints the
/// commands that it reads.
const QUIET: &str = "tokenize=warn,parse=warn,expansion=warn,sled=warn,tantivy=warn";

/// The running log.
pub struct Handle(reload::Handle<EnvFilter, Registry>);

impl Handle {
    /// Puts another level in force.
    pub fn set_level(&self, log: &Log) {
        // It fails only when the log has ended.
        drop(self.0.reload(filter(log.level)));
    }
}

/// Starts logging: to the file that is configured; else to standard error when someone reads that
/// (a terminal, a service manager), and to `graphitid.log` in the home when nobody does. May be
/// called once in a process.
pub fn start(log: &Log, home: &Path) -> io::Result<Handle> {
    let (filter, handle) = reload::Layer::new(filter(log.level));
    let registry = tracing_subscriber::registry().with(filter);
    let is_journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let is_terminal = io::stderr().is_terminal();
    let file = match &log.file {
        Some(file) => Some(file.clone()),
        None if is_journal || is_terminal => None,
        None => Some(home.join("graphitid.log")),
    };
    let layer = tracing_subscriber::fmt::layer().with_target(false);
    let started = match file {
        Some(file) => {
            let writer = Mutex::new(BoundedFile::open(&file, log.max_bytes)?);
            registry.with(layer.with_ansi(false).with_writer(writer)).try_init()
        }
        // The journal has its own times.
        None if is_journal => {
            let layer = layer.with_ansi(false).without_time();
            registry.with(layer.with_writer(io::stderr)).try_init()
        }
        None => registry.with(layer.with_ansi(is_terminal).with_writer(io::stderr)).try_init(),
    };
    started.map_err(io::Error::other)?;
    Ok(Handle(handle))
}

fn filter(level: Level) -> EnvFilter {
    let level = match level {
        Level::Error => "error",
        Level::Warn => "warn",
        Level::Info => "info",
        Level::Debug => "debug",
        Level::Trace => "trace",
    };
    EnvFilter::new(format!("{level},{QUIET}"))
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
