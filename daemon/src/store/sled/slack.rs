//! sled has seven threads of its own, each of which looks once a second for work, although it is told
//! of any at once. Here Linux is told that they need not be woken for that alone, so that a machine
//! at rest can stay so.

#[cfg(target_os = "linux")]
use std::num::NonZeroU64;

/// How much later than they ask for they may be woken, in nanoseconds; rustix reads no more than 31
/// bits of it back.
#[cfg(target_os = "linux")]
const SLACK: NonZeroU64 = NonZeroU64::new(2_000_000_000).expect("not 0");

/// As long as it lives, threads that this one starts are such, and those that they start. Without it,
/// which the system may refuse, they are only woken more often.
pub(super) struct Slack {
    /// What held before; 0 for what is usual.
    #[cfg(target_os = "linux")]
    before: u64,
}

impl Slack {
    pub(super) fn begin() -> Slack {
        #[cfg(target_os = "linux")]
        {
            let before = rustix::thread::current_timer_slack().unwrap_or_default();
            let _ = rustix::thread::set_current_timer_slack(Some(SLACK));
            Slack { before }
        }
        #[cfg(not(target_os = "linux"))]
        Slack {}
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(self.before));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::{Store as _, sled::SledStore};

    #[test]
    fn sleds_threads_can_wait_and_no_others() {
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
