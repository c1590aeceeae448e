//! Vectors of stored texts, as a port of its own. Vectors are derived data: they are deleted in the
//! same step as their texts, and can be made again.

use crate::{StoreError, model::vector::Vectors};

pub trait VectorStore {
    /// Calls `visit` for the vectors of every owner that has any, until it returns `false`. What
    /// is damaged is left out: it can be made again.
    fn visit_vectors(&self, visit: &mut dyn FnMut(Vectors) -> bool) -> Result<(), StoreError>;
}
