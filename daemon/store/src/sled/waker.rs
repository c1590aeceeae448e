//! Works around a bug in sled 0.34.7: when a background write fails, sled records the error but
//! does not wake the threads that wait for the write (`Log::exit_reservation` in its
//! `src/pagecache/logger.rs`). A flush may then wait forever. The next flush notices the error and
//! wakes all waiting threads, so a second thread flushes when work takes long.

use std::{
    io,
    panic::{self, AssertUnwindSafe},
    sync::{Arc, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use sled::Tree;

use crate::sync::{Condvar, Mutex, MutexGuard};

/// The pause before the first extra flush. The pause doubles after each extra flush. A flush
/// usually takes milliseconds, and an extra flush is harmless.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The maximum pause, as a multiple of the first pause.
const MAX_PAUSES: u32 = 64;

/// A thread that flushes when watched work takes long, and sleeps while no work is watched.
pub(super) struct Waker {
    work: Arc<WatchedWork>,
    thread: Option<JoinHandle<()>>,
}

/// Marks work as watched until this guard is dropped.
pub(super) struct WatchGuard(Arc<WatchedWork>);

#[derive(Default)]
struct WatchedWork {
    state: Mutex<WatchState>,
    changed: Condvar,
}

#[derive(Default)]
struct WatchState {
    /// Incremented when work begins and when it ends, so it is odd while work is watched.
    turns: u64,
    /// Whether the thread waits for work to begin.
    is_idle: bool,
    must_end: bool,
}

impl Waker {
    /// Starts a waker for the database of `tree`. The waker keeps the database open.
    ///
    /// # Errors
    ///
    /// When the system cannot start a thread.
    pub(super) fn of(tree: &Tree) -> io::Result<Waker> {
        let tree = tree.clone();
        Waker::start(FIRST_PAUSE, move || {
            let tree = tree.clone();
            let flush = move || {
                // The threads that this flush wakes report its error. Some errors make sled panic.
                let _ = panic::catch_unwind(AssertUnwindSafe(|| tree.flush()));
            };
            // The flush runs on another thread, because the flush itself may wait until the next
            // flush wakes it. If the thread cannot be started, a flush is tried after the next
            // pause.
            let _ = thread::Builder::new().name("store-flush".to_owned()).spawn(flush);
        })
    }

    fn start(first_pause: Duration, wake: impl FnMut() + Send + 'static) -> io::Result<Waker> {
        let work = Arc::new(WatchedWork::default());
        let thread = {
            let work = work.clone();
            thread::Builder::new()
                .name("store-waker".to_owned())
                .spawn(move || work.watch(first_pause, wake))?
        };
        Ok(Waker { work, thread: Some(thread) })
    }

    /// Watches work that may wait for sled. Only one piece of work may be watched at a time.
    pub(super) fn watch(&self) -> WatchGuard {
        let mut state = self.work.lock();
        state.turns += 1;
        if state.is_idle {
            self.work.changed.notify_one();
        }
        drop(state);
        WatchGuard(self.work.clone())
    }
}

impl Drop for Waker {
    fn drop(&mut self) {
        self.work.lock().must_end = true;
        self.work.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread does no harm, because no more work is watched.
            let _ = thread.join();
        }
    }
}

impl Drop for WatchGuard {
    fn drop(&mut self) {
        self.0.lock().turns += 1;
    }
}

impl WatchedWork {
    fn watch(&self, first_pause: Duration, mut wake: impl FnMut()) {
        let (mut state, mut pause) = (self.lock(), first_pause);
        while !state.must_end {
            if state.turns.is_multiple_of(2) {
                pause = first_pause;
                state.is_idle = true;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.is_idle = false;
                continue;
            }
            let turn = state.turns;
            (state, _) =
                self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner);
            if state.turns != turn {
                pause = first_pause;
            } else if !state.must_end {
                drop(state);
                wake();
                pause = (pause * 2).min(first_pause * MAX_PAUSES);
                state = self.lock();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Sender};

    use super::*;

    fn reporting(woken: Sender<()>) -> impl FnMut() {
        move || woken.send(()).unwrap_or_default()
    }

    #[test]
    fn long_work_causes_extra_flushes_until_it_ends() {
        let (woken, wakes) = mpsc::channel();
        let waker = Waker::start(Duration::from_millis(1), reporting(woken)).unwrap();
        let time_limit = Duration::from_secs(30);
        for _ in 0..2 {
            let watched = waker.watch();
            wakes.recv_timeout(time_limit).expect("the first flush");
            wakes.recv_timeout(time_limit).expect("the second flush");
            drop(watched);
        }
        drop(waker);
        assert!(wakes.iter().count() <= 1, "at most one flush began before the work ended");
    }

    #[test]
    fn short_work_causes_no_extra_flush() {
        let (woken, wakes) = mpsc::channel();
        let waker = Waker::start(Duration::from_secs(3_600), reporting(woken)).unwrap();
        for _ in 0..1_000 {
            let _ = waker.watch();
        }
        drop(waker);
        assert_eq!(wakes.iter().count(), 0);
    }
}
