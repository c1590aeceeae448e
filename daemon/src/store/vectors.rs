//! Vectors of what is kept, as a port of its own. They are derived: each goes with what it was made
//! of, in the same step, and what has none gets it again.

use crate::{model::vector::Vectors, store::StoreError};

pub trait VectorStore {
    /// Calls `visit` for the vectors of every owner that has any, until it returns `false`. What
    /// is damaged is left out: it can be made again.
    fn visit_vectors(&self, visit: &mut dyn FnMut(Vectors) -> bool) -> Result<(), StoreError>;
}
