//! Writes the log to files of limited size, or to standard error.

use std::{
    fs::{self, File},
    io::{self, IsTerminal, Write},
    panic::{self, PanicHookInfo},
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
};

use tracing_subscriber::{
    EnvFilter, Registry, layer::SubscriberExt, reload, util::SubscriberInitExt,
};

use crate::{
    config::{Level, Log},
    redact::Redactor,
};

/// Limits the levels of libraries that would log text of transcripts at `debug`. For example, the
/// shell parser logs the commands that it reads.
const LIBRARY_LEVELS: &str = "tokenize=warn,parse=warn,expansion=warn,sled=warn,tantivy=warn";

/// The running log.
pub struct Handle(reload::Handle<EnvFilter, Registry>);

impl Handle {
    pub fn set_level(&self, log: &Log) {
        // This fails only if the log no longer exists.
        let _ = self.0.reload(filter(log.level));
    }
}

/// Starts logging to the configured file. If no file is configured, the log is written to standard
/// error if that is a terminal or the journal of systemd, and otherwise to `graphitid.log` in the
/// home. All files together have at most `limit` bytes. May be called once in a process.
pub fn start(log: &Log, limit: u64, home: &Path) -> io::Result<Handle> {
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
            let file = BoundedFile::open(&file, Bounds::new(log.max_bytes, limit))?;
            let writer = Mutex::new(RedactingWriter::new(file));
            registry.with(layer.with_ansi(false).with_writer(writer)).try_init()
        }
        // The journal adds the time to each line.
        None if is_journal => {
            let layer = layer.with_ansi(false).without_time();
            registry.with(layer.with_writer(stderr)).try_init()
        }
        None => registry.with(layer.with_ansi(is_terminal).with_writer(stderr)).try_init(),
    };
    started.map_err(io::Error::other)?;
    panic::set_hook(Box::new(log_panic));
    Ok(Handle(handle))
}

fn stderr() -> RedactingWriter<io::Stderr> {
    RedactingWriter::new(io::stderr())
}

/// A writer that redacts secrets in events of the log.
///
/// Each call of `write` must contain a complete event.
pub struct RedactingWriter<W> {
    log: W,
    redactor: Redactor,
}

impl<W> RedactingWriter<W> {
    /// Creates a writer that writes the redacted text to `log`.
    pub fn new(log: W) -> RedactingWriter<W> {
        RedactingWriter { log, redactor: Redactor::new() }
    }
}

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        self.log.write_all(self.redactor.redact(&text).text.as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.log.flush()
    }
}

/// Logs a panic with its location, but without its message, which may quote a transcript.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let thread = thread::current();
    let thread = thread.name().unwrap_or_default();
    tracing::error!(thread, "panicked at {place}: a defect in graphitid, please report it");
}

fn filter(level: Level) -> EnvFilter {
    let level = match level {
        Level::Error => "error",
        Level::Warn => "warn",
        Level::Info => "info",
        Level::Debug => "debug",
        Level::Trace => "trace",
    };
    EnvFilter::new(format!("{level},{LIBRARY_LEVELS}"))
}

/// The limits of log files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum size, in bytes, of one file.
    one: u64,
    /// Maximum number of files, including the current one.
    files: u64,
}

impl Bounds {
    /// Returns the limits for files of at most `one` bytes, and of at most `all` bytes together.
    pub fn new(one: u64, all: u64) -> Bounds {
        // There are at least two files, so that the previous file exists when a new file is
        // started.
        let one = one.min(all / 2).max(1);
        Bounds { one, files: all / one }
    }
}

/// A log file of limited size. Before a line that would exceed the limit, the file is renamed to
/// `….1` and a new file is started. Older files are renamed to `….2` and so on, and the oldest is
/// deleted.
pub struct BoundedFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    bounds: Bounds,
}

impl BoundedFile {
    /// Opens the file for appending. Deletes the oldest files if there are too many.
    pub fn open(path: &Path, bounds: Bounds) -> io::Result<BoundedFile> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = File::options().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        remove_from(path, bounds.files);
        Ok(BoundedFile { path: path.to_owned(), file, bytes, bounds })
    }

    fn rotate(&mut self) -> io::Result<()> {
        remove_from(&self.path, self.bounds.files - 1);
        for number in (1..self.bounds.files - 1).rev() {
            // This fails if the log has fewer files.
            let _ = fs::rename(
                numbered_path(&self.path, number),
                numbered_path(&self.path, number + 1),
            );
        }
        fs::rename(&self.path, numbered_path(&self.path, 1))?;
        *self = BoundedFile::open(&self.path, self.bounds)?;
        Ok(())
    }
}

/// Returns the path of the file with the number `number`.
fn numbered_path(path: &Path, number: u64) -> PathBuf {
    let mut numbered_path = path.as_os_str().to_owned();
    numbered_path.push(format!(".{number}"));
    numbered_path.into()
}

/// Deletes the files with the number `first` and higher.
fn remove_from(path: &Path, first: u64) {
    let mut numbers = first.max(1)..;
    while numbers.next().is_some_and(|number| fs::remove_file(numbered_path(path, number)).is_ok())
    {
    }
}

impl Write for BoundedFile {
    /// Writes as much of `line` as fits into the file; the rest of a longer line is written to the
    /// next file.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.bytes > 0 && self.bytes + line.len() as u64 > self.bounds.one {
            self.rotate()?;
        }
        let remaining = usize::try_from(self.bounds.one.saturating_sub(self.bytes));
        let written = self.file.write(&line[..line.len().min(remaining.unwrap_or(usize::MAX))])?;
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
    fn secrets_are_not_logged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let file = BoundedFile::open(&path, Bounds::new(1_000, 2_000)).unwrap();
        let mut log = RedactingWriter::new(file);
        let secret = concat!("gh", "p_kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw12");
        writeln!(log, "INFO reading it anew file=/home/ann/{secret}.jsonl").unwrap();
        log.write_all(b"plain \xff bytes\n").unwrap();
        assert_eq!(
            read(&path),
            "INFO reading it anew file=/home/ann/[REDACTED:github-token].jsonl\nplain \u{fffd} bytes\n"
        );
    }

    #[test]
    fn all_files_of_a_log_stay_within_their_limits() {
        for (one, all, files) in [(1_000, 4_000, 4), (1_000, 1_500, 2), (1_000, 2_000, 2)] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("logs/graphitid.log");
            let mut log = BoundedFile::open(&path, Bounds::new(one, all)).unwrap();
            for number in 0..900 {
                log.write_all(format!("line {number}\n").as_bytes()).unwrap();
            }
            writeln!(log, "{}", "long ".repeat(1_000)).unwrap();
            assert!(bytes(&path) <= all, "{one} {all}: {}", bytes(&path));
            for number in 900..1_200 {
                log.write_all(format!("line {number}\n").as_bytes()).unwrap();
            }
            assert!(bytes(&path) <= all, "{one} {all}: {}", bytes(&path));
            assert_eq!(folder.path().join("logs").read_dir().unwrap().count(), files);
            // No line is missing between two files.
            let (new, old) = (read(&path), read(&numbered_path(&path, 1)));
            assert!(new.ends_with("line 1199\n"));
            let last_old: u32 = old.lines().last().unwrap()[5..].parse().unwrap();
            assert!(new.starts_with(&format!("line {}\n", last_old + 1)));
        }
    }

    #[test]
    fn a_log_with_lower_limits_deletes_its_oldest_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut log = BoundedFile::open(&path, Bounds::new(100, 1_000)).unwrap();
        for number in 0..500 {
            log.write_all(format!("line {number}\n").as_bytes()).unwrap();
        }
        assert!(bytes(&path) > 800);
        BoundedFile::open(&path, Bounds::new(100, 300)).unwrap();
        assert!(bytes(&path) <= 300, "{}", bytes(&path));
        assert!(read(&numbered_path(&path, 1)).len() > 50);
    }

    #[test]
    fn a_log_is_continued_after_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        for word in ["one\n", "two\n"] {
            let mut log = BoundedFile::open(&path, Bounds::new(1_000, 2_000)).unwrap();
            log.write_all(word.as_bytes()).unwrap();
        }
        assert_eq!(read(&path), "one\ntwo\n");
    }

    fn read(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    fn bytes(path: &Path) -> u64 {
        let entries = path.parent().unwrap().read_dir().unwrap();
        entries.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
    }
}
