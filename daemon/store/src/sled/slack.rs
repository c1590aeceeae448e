//! sled runs seven threads that poll for work once a second, although sled also notifies them of
//! work. This module asks Linux not to wake the processor for this polling alone, so that an idle
//! machine can sleep.

use std::{panic, thread};

/// The maximum delay, in nanoseconds, with which these threads are woken from a wait with a time
/// limit: an hour. Events still wake them at once. In sled 0.34.7, polling for work is the only
/// wait with a time limit in these threads; a sleep would last up to an hour longer.
#[cfg(target_os = "linux")]
const SLACK: std::num::NonZeroU64 = std::num::NonZeroU64::new(3_600_000_000_000).expect("not 0");

/// Runs a function that starts threads, and allows the system to wake them late. The function runs
/// on a separate thread: a thread passes this setting on to the threads that it starts, and the
/// caller's setting must not change.
pub(super) fn with_slack<T: Send>(start: impl FnOnce() -> T + Send) -> T {
    let on_own_thread = || {
        // If the system refuses this setting, the threads are woken more often.
        #[cfg(target_os = "linux")]
        let _ = rustix::thread::set_current_timer_slack(Some(SLACK));
        start()
    };
    let ended = thread::scope(|scope| scope.spawn(on_own_thread).join());
    ended.unwrap_or_else(|reason| panic::resume_unwind(reason))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Store as _, sled::SledStore};

    #[test]
    fn only_threads_of_sled_get_timer_slack() {
        let before = rustix::thread::current_timer_slack().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        store.write(Vec::new()).wait().unwrap();
        assert_eq!(rustix::thread::current_timer_slack().unwrap(), before);
        let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
        let of_sled: Vec<_> = threads
            .filter(|thread| {
                let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
                name.starts_with("sled-io")
            })
            .collect();
        assert!(!of_sled.is_empty(), "sled has no threads");
        for thread in of_sled {
            let name = thread.file_name().into_string().unwrap();
            let slack = fs::read_to_string(format!("/proc/{name}/timerslack_ns")).unwrap();
            assert_eq!(slack.trim(), SLACK.to_string());
        }
    }
}
