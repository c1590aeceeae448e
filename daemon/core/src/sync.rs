//! The locks of the standard library. Where threads share what they guard, tests that are named
//! `shuttled` run under a scheduler that tries orders of these threads, with locks of its own:
//! `cargo test --workspace --features graphitid/shuttle --lib shuttled`. With that feature everything has
//! these locks, and nothing else works.

#[cfg(not(feature = "shuttle"))]
pub use std::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[cfg(feature = "shuttle")]
pub use self::shuttled::*;

#[cfg(feature = "shuttle")]
mod shuttled {
    use shuttle::{Config, Runner, scheduler::PctScheduler};
    pub use shuttle::{
        sync::{
            Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
            atomic::{AtomicU64, Ordering},
        },
        thread,
    };

    /// In how many places a schedule departs from running one thread after the other.
    const DEPARTURES: usize = 4;

    /// Runs `test` in so many orders of its threads.
    pub fn in_orders(count: usize, test: impl Fn() + Send + Sync + 'static) {
        let mut config = Config::new();
        config.stack_size = 4 << 20;
        Runner::new(PctScheduler::new(DEPARTURES, count), config).run(test);
    }
}
