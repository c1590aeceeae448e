//! A port for vectors of stored texts. Vectors are derived data: they are deleted in the same step
//! as their owner, and can be computed again.

use crate::{StoreError, model::vector::Vectors};

pub trait VectorStore {
    /// Calls `visit` for the vectors of each owner, until `visit` returns `false`. Damaged vectors
    /// are skipped, because they can be computed again.
    fn visit_vectors(&self, visit: &mut dyn FnMut(Vectors) -> bool) -> Result<(), StoreError>;
}
