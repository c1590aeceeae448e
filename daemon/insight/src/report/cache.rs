//! Caches the results of functions that many rules call with the same text.

use std::{
    cell::RefCell,
    collections::HashMap,
    hash::{BuildHasher, Hash, RandomState},
    sync::LazyLock,
    thread::LocalKey,
};

/// The results of a function, by the hashes of its arguments. Each thread has its own cache.
pub(crate) type Cache<T> = RefCell<HashMap<u64, T>>;

/// Returns the cached result for `key`, or else computes the result. A cache with `max` results is
/// cleared before the next result is added. The hash has 64 bits and a random key, so that nobody
/// can find two texts with the same hash.
pub(crate) fn cached<T: Clone>(
    cache: &'static LocalKey<Cache<T>>,
    max: usize,
    key: impl Hash,
    compute: impl FnOnce() -> T,
) -> T {
    static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    let key = HASHER.hash_one(key);
    if let Some(result) = cache.with_borrow(|cache| cache.get(&key).cloned()) {
        return result;
    }
    let result = compute();
    cache.with_borrow_mut(|cache| {
        if cache.len() >= max {
            cache.clear();
        }
        cache.insert(key, result.clone());
    });
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static CACHE: Cache<usize> = Cache::default();
    }

    #[test]
    fn a_result_is_computed_once_until_the_cache_is_full() {
        let mut computed = 0;
        for text in ["a", "a", "bb", "bb", "ccc", "a"] {
            let result = cached(&CACHE, 2, text, || {
                computed += 1;
                text.len()
            });
            assert_eq!(result, text.len());
        }
        assert_eq!(computed, 4, "the third text cleared the cache");
    }
}
