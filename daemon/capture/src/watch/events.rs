//! Collects the file events of the operating system.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use notify::{Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::watch::PollingReason;

/// Maximum number of pending paths. If there are more, everything is scanned instead.
const PATHS: usize = 4_096;

/// A buffer for events until the watching thread takes them.
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
    /// Number of requested scans.
    scan_requests: u64,
    failure: Option<PollingReason>,
    stopped: bool,
}

/// The events taken from the inbox.
pub(super) struct WatchEvents {
    pub(super) paths: Vec<PathBuf>,
    /// Whether events were lost or a scan was requested.
    pub(super) scan: bool,
    /// The number of the latest requested scan.
    pub(super) scan_requests: u64,
    /// Why events are no longer reliable.
    pub(super) failure: Option<PollingReason>,
    /// Whether the time limit passed without an event.
    pub(super) timed_out: bool,
}

impl Inbox {
    /// Waits up to `limit` for events, and then for the time `gather` for related events. Returns
    /// `None` when the watch has ended.
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
            scan_requests: waiting.scan_requests,
            failure: waiting.failure.take(),
            timed_out,
        })
    }

    /// Requests a scan of everything; returns the number of the request.
    pub(super) fn request_scan(&self) -> u64 {
        let mut waiting = self.lock();
        waiting.scan = true;
        waiting.scan_requests += 1;
        let number = waiting.scan_requests;
        drop(waiting);
        self.0.changed.notify_all();
        number
    }

    /// Requests a scan of everything because events were lost.
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
            // The daemon's own reads cause access events.
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
                // A folder disappeared while its watch was added. The watch of the parent folder
                // reports the removal.
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

/// The watched folders, or their nearest existing parents.
pub(super) struct Roots {
    roots: Vec<PathBuf>,
    inbox: Inbox,
    watcher: Option<RecommendedWatcher>,
    /// The watched folder of each root: the root, or its nearest existing parent.
    armed: Vec<Option<PathBuf>>,
}

impl Roots {
    pub(super) fn new(roots: Vec<PathBuf>, inbox: Inbox) -> Roots {
        Roots { roots, inbox, watcher: None, armed: Vec::new() }
    }

    /// Watches each root, or its nearest existing parent. Returns the reason for polling if events
    /// are not reliable.
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
                // The folder has just disappeared. The requested scan causes another call of `arm`,
                // which watches the nearest existing parent.
                Err(None) => self.inbox.scan(),
                Err(failure) => return failure,
            }
        }
        self.watcher = Some(watcher);
        // Changes before the folder was watched cause no event.
        if !self.is_current() {
            self.inbox.scan();
        }
        None
    }

    /// Waits until newly reported folders are watched.
    ///
    /// notify reports a new folder before it watches the folder: it adds the watch only after it
    /// has read all pending events. Files that are created in between cause no event, so the
    /// folder must be scanned after this call.
    pub(super) fn catch_up(&mut self) {
        if let Some(watcher) = &mut self.watcher {
            // The call changes nothing, but returns when the watcher has processed earlier events.
            // An error means that the watcher has failed. The watcher itself reports the failure.
            let _ = watcher.configure(Config::default());
        }
    }

    pub(super) fn disarm(&mut self) {
        self.watcher = None;
        self.armed.clear();
    }

    /// Whether events at `paths` change the folders to watch: a root or one of its parents has
    /// appeared or disappeared.
    pub(super) fn changed_by(&self, paths: &[PathBuf]) -> bool {
        // A root that is a file is watched through its folder.
        let is_above =
            |root: &Path, path: &Path| root.starts_with(path) && (root != path || path.is_dir());
        let above_a_root = |path: &Path| self.roots.iter().any(|root| is_above(root, path));
        paths.iter().any(|path| above_a_root(path)) || !self.is_current()
    }

    /// Whether the correct folders are watched.
    fn is_current(&self) -> bool {
        self.roots.iter().zip(&self.armed).all(|(root, armed)| nearest(root) == *armed)
    }
}

/// Returns the root if it is a folder, otherwise its nearest existing parent.
fn nearest(root: &Path) -> Option<PathBuf> {
    root.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned)
}

/// Returns why events are not reliable after `error`; `None` when only one folder disappeared.
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

/// Whether the file system of `folder` reports changes that other machines or the host make.
#[cfg(target_os = "linux")]
fn reports_events(folder: &Path) -> bool {
    // From linux/magic.h and the sources of the file systems: NFS, SMB and CIFS, SMB2, 9p (also the
    // Windows drives in WSL), FUSE, Ceph, AFS, VirtualBox shared folders, Coda.
    const UNRELIABLE: [u32; 9] = [
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
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "only the lower 32 bits are compared"
    )]
    rustix::fs::statfs(folder).map_or(true, |found| !UNRELIABLE.contains(&(found.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn reports_events(_folder: &Path) -> bool {
    true
}
