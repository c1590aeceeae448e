//! The operating system's events, gathered.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use notify::{Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::capture::watch::PollingReason;

/// More paths than this are not kept: everything is scanned instead.
const PATHS: usize = 4_096;

/// Where events wait until the watching thread takes them.
#[derive(Clone, Default)]
pub(super) struct Inbox(Arc<SharedInbox>);

#[derive(Default)]
struct SharedInbox {
    waiting: Mutex<InboxContents>,
    changed: Condvar,
}

#[derive(Default)]
struct InboxContents {
    paths: BTreeSet<PathBuf>,
    scan: bool,
    /// How many scans were asked for by number.
    asked: u64,
    failure: Option<PollingReason>,
    stopped: bool,
}

/// What was waiting in the inbox.
pub(super) struct WatchEvents {
    /// Paths that something happened to.
    pub(super) paths: Vec<PathBuf>,
    /// Whether events were lost or a scan was asked for.
    pub(super) scan: bool,
    /// The number of the latest scan that was asked for.
    pub(super) asked: u64,
    /// Why events cannot be relied on any longer.
    pub(super) failure: Option<PollingReason>,
    /// Whether nothing happened until the time was up.
    pub(super) timed_out: bool,
}

impl Inbox {
    /// Waits for something to happen, at most for `limit`, and then a moment longer for what
    /// comes with it. `None` when the watch is over.
    pub(super) fn wait(&self, limit: Option<Duration>, gather: Duration) -> Option<WatchEvents> {
        let idle = |waiting: &mut InboxContents| {
            waiting.paths.is_empty()
                && !waiting.scan
                && waiting.failure.is_none()
                && !waiting.stopped
        };
        let waiting = self.lock();
        let (waiting, timed_out) = match limit {
            None => (
                self.0.changed.wait_while(waiting, idle).unwrap_or_else(PoisonError::into_inner),
                false,
            ),
            Some(limit) => {
                let (waiting, result) = self
                    .0
                    .changed
                    .wait_timeout_while(waiting, limit, idle)
                    .unwrap_or_else(PoisonError::into_inner);
                (waiting, result.timed_out())
            }
        };
        let (mut waiting, _) = self
            .0
            .changed
            .wait_timeout_while(waiting, gather, |waiting| !timed_out && !waiting.stopped)
            .unwrap_or_else(PoisonError::into_inner);
        if waiting.stopped {
            return None;
        }
        Some(WatchEvents {
            paths: std::mem::take(&mut waiting.paths).into_iter().collect(),
            scan: std::mem::take(&mut waiting.scan),
            asked: waiting.asked,
            failure: waiting.failure.take(),
            timed_out,
        })
    }

    /// Has everything scanned; returns the number of this wish.
    pub(super) fn ask_for_scan(&self) -> u64 {
        let mut waiting = self.lock();
        waiting.scan = true;
        waiting.asked += 1;
        let asked = waiting.asked;
        drop(waiting);
        self.0.changed.notify_all();
        asked
    }

    /// Has everything scanned because something was missed.
    fn scan(&self) {
        self.lock().scan = true;
        self.0.changed.notify_all();
    }

    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.0.changed.notify_all();
    }

    fn take(&self, event: notify::Result<Event>) {
        let mut waiting = self.lock();
        match event {
            // Our own reading makes access events.
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
            Ok(event) => {
                waiting.scan |= event.need_rescan();
                waiting.paths.extend(event.paths);
                if waiting.paths.len() > PATHS {
                    waiting.paths.clear();
                    waiting.scan = true;
                }
            }
            Err(error) => match reason(&error) {
                // A folder that vanished while it was being watched; its parent reports that.
                None => waiting.scan = true,
                failure => waiting.failure = failure,
            },
        }
        drop(waiting);
        self.0.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, InboxContents> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The watched folders, each armed as far as it exists.
pub(super) struct Roots {
    roots: Vec<PathBuf>,
    inbox: Inbox,
    watcher: Option<RecommendedWatcher>,
    /// For each root the folder that is watched: itself, or while it does not exist the nearest one
    /// above it.
    armed: Vec<Option<PathBuf>>,
}

impl Roots {
    pub(super) fn new(roots: Vec<PathBuf>, inbox: Inbox) -> Roots {
        Roots { roots, inbox, watcher: None, armed: Vec::new() }
    }

    /// Watches each root, or where it will appear. Returns why that cannot be relied on, if so.
    pub(super) fn arm(&mut self) -> Option<PollingReason> {
        self.disarm();
        let inbox = self.inbox.clone();
        let config = Config::default().with_follow_symlinks(false);
        let mut watcher = match RecommendedWatcher::new(move |event| inbox.take(event), config) {
            Ok(watcher) => watcher,
            Err(error) => return Some(reason(&error).unwrap_or(PollingReason::Failed)),
        };
        for root in &self.roots {
            self.armed.push(nearest(root));
            let Some(Some(folder)) = self.armed.last() else { continue };
            let mode = match folder == root {
                true => RecursiveMode::Recursive,
                false => RecursiveMode::NonRecursive,
            };
            if !reports_events(folder) {
                return Some(PollingReason::FileSystem);
            }
            match watcher.watch(folder, mode).map_err(|error| reason(&error)) {
                Ok(()) => {}
                // It vanished in this moment; what is left of its path will be awaited.
                Err(None) => self.inbox.scan(),
                Err(failure) => return failure,
            }
        }
        self.watcher = Some(watcher);
        // What came or went before its folder was watched is reported by nobody.
        if !self.is_right() {
            self.inbox.scan();
        }
        None
    }

    /// Waits until folders that were reported are watched themselves.
    ///
    /// notify reports a new folder first and watches it later, when it has read all events that
    /// were there: what is put into the folder in between is reported by nobody, and must be found
    /// by a scan after this.
    pub(super) fn catch_up(&mut self) {
        if let Some(watcher) = &mut self.watcher {
            // The settings stay; it answers in turn. One that does not has failed, and says so.
            drop(watcher.configure(Config::default()));
        }
    }

    pub(super) fn disarm(&mut self) {
        self.watcher = None;
        self.armed.clear();
    }

    /// Whether what happened to `paths` means that another folder has to be watched: a root or
    /// something above it has appeared or is gone.
    pub(super) fn changed_by(&self, paths: &[PathBuf]) -> bool {
        let above_a_root = |path: &Path| self.roots.iter().any(|root| root.starts_with(path));
        paths.iter().any(|path| above_a_root(path)) || !self.is_right()
    }

    /// Whether the folders that are watched are still those that should be.
    fn is_right(&self) -> bool {
        self.roots.iter().zip(&self.armed).all(|(root, armed)| nearest(root) == *armed)
    }
}

/// The root itself if it is a folder, else the nearest one above it.
fn nearest(root: &Path) -> Option<PathBuf> {
    root.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned)
}

/// Why events cannot be relied on after `error`; `None` when only one folder is gone.
fn reason(error: &notify::Error) -> Option<PollingReason> {
    match &error.kind {
        ErrorKind::MaxFilesWatch => Some(PollingReason::TooManyFolders),
        ErrorKind::PathNotFound | ErrorKind::WatchNotFound => None,
        ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::NotFound => None,
        ErrorKind::Generic(_) | ErrorKind::Io(_) | ErrorKind::InvalidConfig(_) => {
            Some(PollingReason::Failed)
        }
    }
}

/// Whether the file system of `folder` reports what other machines or the host do to it.
#[cfg(target_os = "linux")]
fn reports_events(folder: &Path) -> bool {
    // From linux/magic.h and the file systems' own sources: NFS, SMB and CIFS, SMB2, 9p (also the
    // Windows drives in WSL), FUSE, Ceph, AFS, VirtualBox shared folders, Coda.
    const SILENT: [u32; 9] = [
        0x6969,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x6573_5546,
        0x00c3_6400,
        0x5346_414f,
        0x786f_4256,
        0x7375_7245,
    ];
    // The type's width differs between targets; the magic numbers have 32 bits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as said above")]
    rustix::fs::statfs(folder).map_or(true, |found| !SILENT.contains(&(found.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn reports_events(_folder: &Path) -> bool {
    true
}
