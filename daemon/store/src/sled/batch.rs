//! Writes that are applied together.

use sled::{IVec, Tree};

/// Writes that are applied to a tree whole or not at all.
///
/// sled splits an overfull page, and merges an underfull one, when the page is next read. Once a
/// write to the disk has failed, sled can do neither, and each read of such a page fails. So
/// [`Batch::apply`] reads the keys that it wrote, and a failing disk later leaves every page
/// readable.
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
