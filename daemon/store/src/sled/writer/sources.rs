//! Writes and deletes the records of transcript files. A record is not stored if another record has
//! the same path. Older versions stored such records.

use super::{Transaction, WriterThread};
use crate::{
    OutboxChange, Source, SourceKey, StoreError,
    sled::{keys, pieces, reading},
};

impl WriterThread {
    pub(super) fn put_source(
        &self,
        transaction: &mut Transaction,
        source: &Source,
        record: Vec<u8>,
        checkpoint: Option<Vec<u8>>,
    ) -> Result<(), StoreError> {
        if let Some(other) = self.registered_at(transaction, &source.path)?
            && other != source.key
        {
            tracing::error!(
                path = source.path,
                ?other,
                new = ?source.key,
                "did not store the record of a file: another record has the same path"
            );
            return Ok(());
        }
        transaction.new_paths.insert(source.path.clone(), source.key);
        transaction.ops.insert(keys::source(source.key), record);
        transaction.counted.put_source(source);
        transaction.ops.insert(keys::path(&source.path), keys::of_path(source.key));
        if let Some(checkpoint) = checkpoint {
            let key = keys::checkpoint(source.key);
            pieces::remove(&self.tree, &mut transaction.ops, &key)?;
            pieces::put(&mut transaction.ops, &key, &checkpoint);
        }
        Ok(())
    }

    /// Returns the key of the record for `path`, after the earlier writes of this transaction.
    fn registered_at(
        &self,
        transaction: &Transaction,
        path: &str,
    ) -> Result<Option<SourceKey>, StoreError> {
        if let Some(key) = transaction.new_paths.get(path) {
            return Ok(Some(*key));
        }
        let stored = reading::source_at(&self.tree, path)?.map(|source| source.key);
        Ok(stored.filter(|key| !transaction.dropped.contains(key)))
    }

    pub(super) fn drop_text(
        &self,
        transaction: &mut Transaction,
        source: SourceKey,
    ) -> Result<(), StoreError> {
        let removed_blocks = self.messages_from(source, 0)?;
        self.remove_blocks(transaction, &removed_blocks)?;
        transaction.cleared.push(source);
        self.push_outbox(transaction, OutboxChange::SourceCleared(source));
        Ok(())
    }

    pub(super) fn drop_source(
        &self,
        transaction: &mut Transaction,
        key: SourceKey,
    ) -> Result<(), StoreError> {
        let Some(source) = reading::source(&self.tree, key)? else { return Ok(()) };
        if self.registered_at(transaction, &source.path)? == Some(key) {
            transaction.ops.remove(keys::path(&source.path));
        }
        transaction.ops.remove(keys::source(key));
        transaction.counted.sources.insert(key, None);
        pieces::remove(&self.tree, &mut transaction.ops, &keys::checkpoint(key))?;
        transaction.dropped.push(key);
        self.drop_text(transaction, key)
    }
}
