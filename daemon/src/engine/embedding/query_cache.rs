//! Keeps the vectors of the latest queries. A user who pages through results repeats the query.

use std::{collections::VecDeque, sync::Arc};

use crate::model::vector::Packed;

/// Maximum number of queries whose vectors are kept.
const QUERY_CACHE_SIZE: usize = 32;

#[derive(Default)]
pub(super) struct QueryCache {
    /// The number of the model. The number grows when the model is replaced.
    model: u64,
    /// The latest queries with their vectors.
    vectors: VecDeque<(String, Arc<Packed>)>,
}

impl QueryCache {
    /// Returns the number of the current model, for [`QueryCache::put`].
    pub(super) fn model(&self) -> u64 {
        self.model
    }

    pub(super) fn get(&self, query: &str) -> Option<Arc<Packed>> {
        self.vectors.iter().find(|(known, _)| known == query).map(|(_, vector)| vector.clone())
    }

    /// Keeps the vector of a query. `model` is the number of the model before the vector was
    /// requested. Returns `false` if the model was replaced since then; the vector must not be
    /// used.
    pub(super) fn put(&mut self, model: u64, query: &str, vector: Arc<Packed>) -> bool {
        if model != self.model {
            return false;
        }
        self.vectors.push_front((query.to_owned(), vector));
        self.vectors.truncate(QUERY_CACHE_SIZE);
        true
    }

    pub(super) fn replace_model(&mut self) {
        *self = QueryCache { model: self.model + 1, ..QueryCache::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_that_was_requested_from_the_replaced_model_is_not_kept() {
        let vector = Arc::new(Packed::new(&[1.0, 0.0]));
        let mut cache = QueryCache::default();
        let model = cache.model();
        assert!(cache.put(model, "login", vector.clone()));
        assert!(cache.get("login").is_some());
        cache.replace_model();
        assert!(cache.get("login").is_none());
        assert!(!cache.put(model, "login", vector.clone()));
        assert!(cache.get("login").is_none());
        assert!(cache.put(cache.model(), "login", vector));
    }
}
