//! Values that are computed on first use, like those of [`LazyLock`](std::sync::LazyLock), and that
//! can be released while the daemon is idle.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// A value of a static that is computed on first use, and again after [`release_all`].
pub struct Releasable<T: 'static> {
    make: fn() -> T,
    value: RwLock<Option<Arc<T>>>,
}

/// A static whose value can be dropped.
trait Release: Sync {
    fn release(&self);
}

/// The statics that have a value. A static is added whenever its value is computed.
static COMPUTED: Mutex<Vec<&'static dyn Release>> = Mutex::new(Vec::new());

impl<T: Send + Sync> Releasable<T> {
    pub const fn new(make: fn() -> T) -> Releasable<T> {
        Releasable { make, value: RwLock::new(None) }
    }

    /// Returns the value. Computes the value on the first use and after a release. Threads that
    /// need the value at the same time may compute it several times; all get the same value.
    pub fn get(&'static self) -> Arc<T> {
        if let Some(value) = &*self.value.read().unwrap_or_else(PoisonError::into_inner) {
            return value.clone();
        }
        let made = Arc::new((self.make)());
        let mut value = self.value.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*value {
            return value.clone();
        }
        *value = Some(made.clone());
        drop(value);
        COMPUTED.lock().unwrap_or_else(PoisonError::into_inner).push(self);
        made
    }
}

impl<T: Send + Sync> Release for Releasable<T> {
    fn release(&self) {
        self.value.write().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Drops the values of all statics. A value that is in use is dropped after its use.
pub fn release_all() {
    let computed = std::mem::take(&mut *COMPUTED.lock().unwrap_or_else(PoisonError::into_inner));
    for value in computed {
        value.release();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_released_value_is_computed_again_and_stays_while_it_is_used() {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        static VALUE: Releasable<usize> = Releasable::new(|| COUNT.fetch_add(1, Ordering::Relaxed));
        let first = VALUE.get();
        assert_eq!((*first, *VALUE.get()), (0, 0));
        for expected in 1..3 {
            release_all();
            assert_eq!(*VALUE.get(), expected);
        }
        assert_eq!(*first, 0);
        assert_eq!(Arc::strong_count(&first), 1, "no other owner keeps the value");
    }
}
