//! A batch of writes to a sled tree, which avoids a bug of sled.

use sled::{IVec, Tree};

/// Writes that are applied to a tree completely or not at all.
///
/// sled splits or merges a page only when the page is read the next time. After a failed write to
/// the disk, sled cannot do this any more, and reads of the page fail. So [`Batch::apply`] reads
/// every written key immediately.
#[derive(Default)]
pub(crate) struct Batch {
    writes: sled::Batch,
    keys: Vec<IVec>,
}

impl Batch {
    pub(crate) fn insert(&mut self, key: impl Into<IVec>, value: impl Into<IVec>) {
        let key = key.into();
        self.keys.push(key.clone());
        self.writes.insert(key, value);
    }

    pub(crate) fn remove(&mut self, key: impl Into<IVec>) {
        let key = key.into();
        self.keys.push(key.clone());
        self.writes.remove(key);
    }

    /// Applies the writes. An error means that the tree can accept no more writes.
    pub(crate) fn apply(self, tree: &Tree) -> sled::Result<()> {
        tree.apply_batch(self.writes)?;
        for key in self.keys {
            tree.contains_key(key)?;
        }
        Ok(())
    }
}
