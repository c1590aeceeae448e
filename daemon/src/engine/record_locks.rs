//! Locks files that start with the same record, so that one job at a time reads them.

use std::{collections::HashSet, sync::PoisonError};

use crate::{
    model::transcript::RecordUuid,
    sync::{Condvar, Mutex},
};

/// The locks of files, by first record. Files that start with the same record are read one after
/// the other, so that the reader of the second file finds the records of the first file.
#[derive(Debug, Default)]
pub struct RecordLocks {
    locked: Mutex<HashSet<RecordUuid>>,
    unlocked: Condvar,
}

/// Locks the files that start with `record`, until this value is dropped.
pub(super) struct RecordLock<'c> {
    locks: &'c RecordLocks,
    record: RecordUuid,
}

impl RecordLocks {
    /// Waits until no other job reads a file that starts with `record`.
    pub(super) fn lock(&self, record: RecordUuid) -> RecordLock<'_> {
        let mut locked = self.locked.lock().unwrap_or_else(PoisonError::into_inner);
        while !locked.insert(record) {
            locked = self.unlocked.wait(locked).unwrap_or_else(PoisonError::into_inner);
        }
        RecordLock { locks: self, record }
    }
}

impl Drop for RecordLock<'_> {
    fn drop(&mut self) {
        self.locks.locked.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.record);
        self.locks.unlocked.notify_all();
    }
}

#[cfg(all(test, feature = "shuttle"))]
mod shuttled {
    use super::*;
    use crate::sync::{Arc, AtomicU64, Ordering, in_orders, thread};

    #[test]
    fn shuttled_files_with_the_same_first_record_are_read_one_after_the_other() {
        in_orders(3_000, || {
            let locks = Arc::new(RecordLocks::default());
            let readers: Arc<[AtomicU64; 2]> = Arc::default();
            let reading = |first: usize| {
                let (locks, readers) = (locks.clone(), readers.clone());
                thread::spawn(move || {
                    for record in [first, 1 - first] {
                        let lock = locks.lock([record as u8; 16]);
                        assert_eq!(readers[record].fetch_add(1, Ordering::SeqCst), 0);
                        thread::yield_now();
                        readers[record].fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                })
            };
            let threads = [0, 1, 0].map(reading);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert!(locks.locked.lock().unwrap().is_empty());
        });
    }
}
