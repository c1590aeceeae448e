//! The locks of the standard library, or of `shuttle` in tests of concurrency.
//!
//! Tests named `shuttled` run under the scheduler of `shuttle`, which tries many orders of the
//! threads and controls only its own locks:
//! `cargo test --workspace --features graphitid/shuttle --lib shuttled`. With that feature, all
//! code uses the locks of `shuttle`, and all other tests fail.

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

    /// The number of places where a schedule switches between threads.
    const DEPARTURES: usize = 4;

    /// Runs `test` in this number of orders of its threads.
    pub fn in_orders(count: usize, test: impl Fn() + Send + Sync + 'static) {
        let mut config = Config::new();
        config.stack_size = 4 << 20;
        Runner::new(PctScheduler::new(DEPARTURES, count), config).run(test);
    }
}
