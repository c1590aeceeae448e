//! Reports files that may have changed.
//!
//! An event of the operating system is only a hint that a path may have changed: events are lost
//! when folders are created quickly, when a queue overflows, and on network file systems. Therefore
//! every new folder is scanned, a lost event causes a scan of everything, and without events the
//! folders are polled.

mod events;
pub mod scan;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use self::{
    events::{Inbox, Roots},
    scan::FolderScanner,
};
use crate::database::{Extent, database_of};

/// Whether a file is relevant, judged by its path.
pub type PathFilter = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

#[derive(Clone)]
pub struct Watched {
    /// Folders that are watched recursively, and databases. They need not exist yet.
    pub roots: Vec<PathBuf>,
    pub wanted: PathFilter,
    pub method: Method,
    /// The minimum time between two scans when polling.
    pub poll_every: Duration,
}

/// How changes are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By events if the file system supports them, otherwise by polling.
    Automatic,
    Polling,
}

/// The current method of detecting changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The operating system reports changes.
    Events,
    /// The folders are polled, for this reason.
    Polling(PollingReason),
}

/// Why folders are polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollingReason {
    /// The configuration requires it.
    Configured,
    /// The file system reports no events, or not all of them.
    FileSystem,
    /// The number of folders exceeds the system's limit of watches for a user.
    TooManyFolders,
    /// The operating system's interface failed.
    Failed,
}

/// A report of the watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// These files may be new, changed or deleted.
    Files(Vec<PathBuf>),
    /// A full scan is complete and its changes were reported. This notice is sent after every full
    /// scan: the first scan, requested scans, and scans because of polling or lost events.
    Complete {
        /// The number of the latest [`Watch::rescan`] that the scan covers; 0 before the first
        /// call.
        asked: u64,
    },
    /// The method of detecting changes has changed.
    Mode(Mode),
}

/// The default of [`Watched::poll_every`].
pub const POLL_EVERY: Duration = Duration::from_secs(2);
/// The pause after a scan is at least this multiple of the scan's duration, so that polling uses
/// little time of one core.
const POLL_PAUSE_FACTOR: u32 = 50;
/// Time to wait for further events before events are reported together.
const GATHER: Duration = Duration::from_millis(4);
/// Maximum number of files in one report.
const BATCH: usize = 512;

/// A running watch. Dropping this value stops the watch.
pub struct Watch {
    inbox: Inbox,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts watching. `report` is called on a thread of the watch and may block this thread. If
    /// `report` returns `false`, the watch stops.
    pub fn start(
        watched: Watched,
        report: impl FnMut(Notice) -> bool + Send + 'static,
    ) -> std::io::Result<Watch> {
        let inbox = Inbox::default();
        let state = WatchLoop {
            inbox: inbox.clone(),
            scanner: FolderScanner::new(watched.wanted.clone()),
            watched,
            report: Box::new(report),
            mode: None,
        };
        let thread = thread::Builder::new().name("watch".to_owned()).spawn(move || state.run())?;
        Ok(Watch { inbox, thread: Some(thread) })
    }

    /// Requests a scan of everything. Returns the number of the request: the scan is complete when
    /// [`Notice::Complete`] contains this number or a higher number.
    pub fn rescan(&self) -> u64 {
        self.inbox.request_scan()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.inbox.stop();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

struct WatchLoop {
    watched: Watched,
    inbox: Inbox,
    scanner: FolderScanner,
    report: Box<dyn FnMut(Notice) -> bool + Send>,
    mode: Option<Mode>,
}

impl WatchLoop {
    fn run(mut self) {
        let mut roots = Roots::new(self.watched.roots.clone(), self.inbox.clone());
        let configured = match self.watched.method {
            Method::Automatic => None,
            Method::Polling => Some(PollingReason::Configured),
        };
        let mut polling = configured.or_else(|| roots.arm());
        let mut everything = true;
        let mut asked = 0;
        loop {
            if !self.set_mode(polling.map_or(Mode::Events, Mode::Polling)) {
                return;
            }
            let scan_began = std::time::Instant::now();
            if everything && !(self.scan_all() && (self.report)(Notice::Complete { asked })) {
                return;
            }
            let pause = polling
                .map(|_| self.watched.poll_every.max(scan_began.elapsed() * POLL_PAUSE_FACTOR));
            let database = self.scanner.until_pending();
            let limit = pause.into_iter().chain(database).min();
            let Some(found) = self.inbox.wait(limit, GATHER) else { return };
            everything = found.scan || pause.is_some() && pause == limit && found.timed_out;
            asked = found.scan_requests;
            if polling.is_none() {
                if roots.changed_by(&found.paths) {
                    polling = roots.arm();
                    everything = true;
                }
                if let Some(reason) = found.failure {
                    polling = Some(reason);
                    roots.disarm();
                    everything = true;
                }
            }
            let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) =
                found.paths.into_iter().partition(|path| path.is_dir());
            if !folders.is_empty() {
                roots.catch_up();
            }
            if !everything && !self.report_paths(&folders, files) {
                return;
            }
        }
    }

    fn set_mode(&mut self, mode: Mode) -> bool {
        if self.mode == Some(mode) {
            return true;
        }
        self.mode = Some(mode);
        (self.report)(Notice::Mode(mode))
    }

    /// Reports every file that a scan finds new, changed or deleted.
    fn scan_all(&mut self) -> bool {
        let mut changed = Vec::new();
        for root in &self.watched.roots {
            self.scanner.scan(root, &mut changed);
        }
        changed.extend(self.scanner.gone());
        self.report_files(changed)
    }

    /// Reports the relevant files among `files` and in `folders`, and the changed sessions of
    /// databases. Ignores folders that are links.
    fn report_paths(&mut self, folders: &[PathBuf], mut files: Vec<PathBuf>) -> bool {
        let mut databases: BTreeSet<PathBuf> =
            self.scanner.pending_databases().into_iter().collect();
        let changed = files.iter().filter_map(|path| Some(database_of(path)?.1));
        databases.extend(changed.filter(|database| self.is_inside(database)));
        files.retain(|path| {
            let is_file = database_of(path).is_none();
            is_file && (self.watched.wanted)(path) && self.is_inside(path)
        });
        files.iter().for_each(|path| self.scanner.note(path));
        for database in &databases {
            files.extend(self.scanner.sessions(database, Extent::New));
        }
        for folder in folders.iter().filter(|folder| !folder.is_symlink()) {
            self.scanner.scan(folder, &mut files);
        }
        files.sort_unstable();
        files.dedup();
        self.report_files(files)
    }

    fn is_inside(&self, path: &Path) -> bool {
        self.watched.roots.iter().any(|root| path.starts_with(root))
    }

    fn report_files(&mut self, mut files: Vec<PathBuf>) -> bool {
        while !files.is_empty() {
            let rest = files.split_off(files.len().min(BATCH));
            if !(self.report)(Notice::Files(files)) {
                return false;
            }
            files = rest;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write, sync::mpsc};

    use super::*;
    use crate::format::opencode::tests::fixture::Running;

    /// Maximum time to wait for a notice. It is long enough for a slow machine.
    const TIME_LIMIT: Duration = Duration::from_secs(20);

    #[test]
    fn existing_files_are_reported_first_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old.jsonl"), folder.path().join("a/new.jsonl"));
        write(&old, "1");
        write(&new, "1");
        let past = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        fs::File::options().append(true).open(&old).unwrap().set_modified(past).unwrap();
        write(&folder.path().join("a/other.txt"), "1");
        let watching = Watching::start(&[folder.path()], Method::Automatic);
        assert_eq!(watching.until_complete(), [new, old]);
    }

    #[test]
    fn changes_are_reported_in_either_mode() {
        for method in [Method::Automatic, Method::Polling] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("p/a.jsonl");
            write(&file, "1");
            let watching = Watching::start(&[folder.path()], method);
            watching.until_complete();
            write(&file, "2");
            watching.until_reported(&file);
            let nested = folder.path().join("p/s/subagents/agent-1.jsonl");
            write(&nested, "1");
            watching.until_reported(&nested);
            fs::remove_file(&file).unwrap();
            watching.until_reported(&file);
        }
    }

    #[test]
    fn a_root_that_reappears_is_watched_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("deep/er/projects");
        let watching = Watching::start(&[&root], Method::Automatic);
        assert_eq!(watching.until_complete(), [] as [PathBuf; 0]);
        let file = root.join("p/a.jsonl");
        for _ in 0..2 {
            write(&file, "1");
            watching.until_reported(&file);
            fs::remove_dir_all(folder.path().join("deep")).unwrap();
            watching.until_reported(&file);
        }
    }

    #[test]
    fn files_in_many_new_folders_are_all_found() {
        let folder = tempfile::tempdir().unwrap();
        let watching = Watching::start(&[folder.path()], Method::Automatic);
        watching.until_complete();
        let mut missing: std::collections::BTreeSet<PathBuf> =
            (0..300).map(|n| folder.path().join(format!("p{n}/s/subagents/agent.jsonl"))).collect();
        missing.iter().for_each(|file| write(file, "1"));
        while !missing.is_empty() {
            if let Notice::Files(files) = watching.next() {
                files.iter().for_each(|file| {
                    missing.remove(file);
                });
            }
        }
    }

    #[test]
    fn a_link_to_another_folder_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        write(&outside.path().join("secret.jsonl"), "1");
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
        let watching = Watching::start(&[folder.path()], Method::Automatic);
        assert_eq!(watching.until_complete(), [] as [PathBuf; 0]);
    }

    #[test]
    fn a_scan_can_be_requested() {
        let folder = tempfile::tempdir().unwrap();
        let watching = Watching::start(&[folder.path()], Method::Automatic);
        watching.until_complete();
        assert_eq!(watching.watch.rescan(), 1);
        while watching.next() != (Notice::Complete { asked: 1 }) {}
    }

    #[test]
    fn the_sessions_of_a_database_are_reported_in_either_mode() {
        for method in [Method::Automatic, Method::Polling] {
            let folder = tempfile::tempdir().unwrap();
            let mut running = Running::version_1(folder.path());
            running.session("ses_1", None);
            let [first, second] = ["ses_1", "ses_2"].map(|id| running.session_path(id));
            let watching = Watching::start(&[&running.path], method);
            assert_eq!(watching.until_complete(), std::slice::from_ref(&first));
            running.user("ses_1", "msg_1", "Go");
            watching.until_reported(&first);
            running.session("ses_2", None);
            watching.until_reported(&second);
            running.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
            running.user("ses_1", "msg_2", "More");
            watching.until_reported(&first);
            running.delete("session", "ses_2");
            watching.until_reported(&second);
        }
    }

    struct Watching {
        watch: Watch,
        notices: mpsc::Receiver<Notice>,
    }

    impl Watching {
        fn start(roots: &[&Path], method: Method) -> Watching {
            let (send, notices) = mpsc::channel();
            let watched = Watched {
                roots: roots.iter().map(|root| root.to_path_buf()).collect(),
                wanted: Arc::new(|path: &Path| {
                    path.extension().is_some_and(|extension| extension == "jsonl")
                }),
                method,
                poll_every: Duration::from_millis(5),
            };
            let watch = Watch::start(watched, move |notice| send.send(notice).is_ok()).unwrap();
            Watching { watch, notices }
        }

        fn next(&self) -> Notice {
            self.notices.recv_timeout(TIME_LIMIT).expect("a notice in time")
        }

        fn until_complete(&self) -> Vec<PathBuf> {
            let mut reported = Vec::new();
            loop {
                match self.next() {
                    Notice::Files(files) => reported.extend(files),
                    Notice::Complete { .. } => return reported,
                    Notice::Mode(_) => {}
                }
            }
        }

        fn until_reported(&self, file: &Path) {
            while !matches!(self.next(), Notice::Files(files) if files.iter().any(|f| f == file)) {}
        }
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = fs::File::options().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
}
