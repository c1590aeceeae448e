//! Writes about files: each path stands once.

use super::{Step, Thread};
use crate::store::{
    Outbox, Source, SourceKey, StoreError,
    sled::{keys, pieces, reading},
};

impl Thread {
    pub(super) fn put_source(
        &self,
        step: &mut Step,
        source: &Source,
        (record, checkpoint): (Vec<u8>, Option<Vec<u8>>),
    ) -> Result<(), StoreError> {
        if let Some(other) = self.registered_at(step, &source.path)?
            && other != source.key
        {
            tracing::error!(path = source.path, ?other, new = ?source.key, "a file is registered");
            return Ok(());
        }
        step.new_paths.insert(source.path.clone(), source.key);
        step.ops.insert(keys::source(source.key), record);
        step.ops.insert(keys::path(&source.path), keys::of_path(source.key));
        if let Some(checkpoint) = checkpoint {
            let key = keys::checkpoint(source.key);
            pieces::remove(&self.tree, &mut step.ops, &key)?;
            pieces::put(&mut step.ops, &key, &checkpoint);
        }
        Ok(())
    }

    /// The file that stands under `path` before the next write of a list.
    fn registered_at(&self, step: &Step, path: &str) -> Result<Option<SourceKey>, StoreError> {
        if let Some(key) = step.new_paths.get(path) {
            return Ok(Some(*key));
        }
        let stored = reading::source_at(&self.tree, path)?.map(|source| source.key);
        Ok(stored.filter(|key| !step.dropped.contains(key)))
    }

    pub(super) fn drop_text(&self, step: &mut Step, source: SourceKey) -> Result<(), StoreError> {
        let gone = self.messages_from(source, 0)?;
        self.remove_blocks(step, &gone)?;
        step.cleared.push(source);
        self.out(step, Outbox::SourceCleared(source));
        Ok(())
    }

    pub(super) fn drop_source(&self, step: &mut Step, key: SourceKey) -> Result<(), StoreError> {
        let Some(source) = reading::source(&self.tree, key)? else { return Ok(()) };
        if self.registered_at(step, &source.path)? == Some(key) {
            step.ops.remove(keys::path(&source.path));
        }
        step.ops.remove(keys::source(key));
        pieces::remove(&self.tree, &mut step.ops, &keys::checkpoint(key))?;
        step.dropped.push(key);
        self.drop_text(step, key)
    }
}
