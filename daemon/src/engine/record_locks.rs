//! Who reads files that begin with a record: one at a time.

use std::{collections::HashSet, sync::PoisonError};

use crate::{
    model::transcript::RecordUuid,
    sync::{Condvar, Mutex},
};

/// Files that begin alike are read one after the other, so that the second finds what the first
/// one owns.
#[derive(Debug, Default)]
pub struct RecordLocks {
    taken: Mutex<HashSet<RecordUuid>>,
    freed: Condvar,
}

/// The right to read files that begin with a record, until it is dropped.
pub(super) struct RecordLock<'c> {
    claims: &'c RecordLocks,
    record: RecordUuid,
}

impl RecordLocks {
    /// Waits until nobody else reads a file that begins with `record`.
    pub(super) fn take(&self, record: RecordUuid) -> RecordLock<'_> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while !taken.insert(record) {
            taken = self.freed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        RecordLock { claims: self, record }
    }
}

impl Drop for RecordLock<'_> {
    fn drop(&mut self) {
        self.claims.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.record);
        self.claims.freed.notify_all();
    }
}

#[cfg(all(test, feature = "shuttle"))]
mod shuttled {
    use super::*;
    use crate::sync::{Arc, AtomicU64, Ordering, in_orders, thread};

    #[test]
    fn shuttled_files_that_begin_alike_are_read_one_after_the_other() {
        in_orders(3_000, || {
            let claims = Arc::new(RecordLocks::default());
            let readers: Arc<[AtomicU64; 2]> = Arc::default();
            let reading = |first: usize| {
                let (claims, readers) = (claims.clone(), readers.clone());
                thread::spawn(move || {
                    for record in [first, 1 - first] {
                        let claim = claims.take([record as u8; 16]);
                        assert_eq!(readers[record].fetch_add(1, Ordering::SeqCst), 0);
                        thread::yield_now();
                        readers[record].fetch_sub(1, Ordering::SeqCst);
                        drop(claim);
                    }
                })
            };
            let threads = [0, 1, 0].map(reading);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert!(claims.taken.lock().unwrap().is_empty());
        });
    }
}
