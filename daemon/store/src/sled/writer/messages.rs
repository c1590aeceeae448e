//! Writes messages, in blocks of consecutive messages.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use super::{Transaction, WriterThread};
use crate::{
    OutboxChange, Reworded, SourceKey, StoreError,
    damaged::skip_damaged,
    model::Message,
    sled::{envelope, keys, pieces, prepared::MessageBlocks, reading, records::MessageRecord},
};

impl WriterThread {
    pub(super) fn put_messages(
        &self,
        transaction: &mut Transaction,
        messages: &MessageBlocks,
    ) -> Result<(), StoreError> {
        let MessageBlocks { source, from, count, ref blocks } = *messages;
        if count == 0 {
            return Ok(());
        }
        let removed_blocks = if transaction.cleared.contains(&source) {
            Vec::new()
        } else {
            self.messages_from(source, from)?
        };
        self.remove_blocks(transaction, &removed_blocks)?;
        for (first, block) in blocks {
            pieces::put(&mut transaction.ops, &keys::messages(source, *first), block);
        }
        transaction.counts.messages += u64::from(count);
        self.push_outbox(
            transaction,
            OutboxChange::Messages { source, from, count, overwrites: !removed_blocks.is_empty() },
        );
        Ok(())
    }

    pub(super) fn reword(
        &self,
        transaction: &mut Transaction,
        source: SourceKey,
        words: Vec<Reworded>,
    ) -> Result<(), StoreError> {
        let mut blocks: BTreeMap<u32, Vec<Message>> = BTreeMap::new();
        let mut reworded: BTreeMap<u32, u32> = BTreeMap::new();
        for Reworded { seq, was, is } in words {
            let first = reading::block_with(&self.tree, source, seq)?;
            let Some(first) = first.filter(|_| !transaction.cleared.contains(&source)) else {
                continue;
            };
            if let Entry::Vacant(vacant) = blocks.entry(first) {
                // The list may also reword messages of other files.
                let block = reading::block(&self.tree, source, first);
                vacant.insert(skip_damaged(block, "its messages keep their words")?);
            }
            let messages = blocks.get_mut(&first).into_iter().flatten();
            for message in messages.filter(|message| message.seq == seq && message.text == was) {
                message.text.clone_from(&is);
                reworded.insert(seq, first);
            }
        }
        for first in reworded.values().copied().collect::<BTreeSet<u32>>() {
            let records: Vec<MessageRecord> = blocks[&first].iter().map(Into::into).collect();
            let key = keys::messages(source, first);
            pieces::remove(&self.tree, &mut transaction.ops, &key)?;
            pieces::put(&mut transaction.ops, &key, &envelope::seal(&records));
        }
        if let (Some((from, _)), Some((to, _))) =
            (reworded.first_key_value(), reworded.last_key_value())
        {
            let (from, count) = (*from, to - from + 1);
            self.push_outbox(
                transaction,
                OutboxChange::Messages { source, from, count, overwrites: true },
            );
        }
        Ok(())
    }

    /// Returns the keys of the blocks of `source` that begin at message `from` or later.
    pub(super) fn messages_from(
        &self,
        source: SourceKey,
        from: u32,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        let prefix = keys::messages_of(source);
        let mut found = Vec::new();
        for key in self.tree.range(keys::messages(source, from)..).keys() {
            let key = key?;
            if !key.starts_with(&prefix) {
                break;
            }
            found.push(key.to_vec());
        }
        Ok(found)
    }

    pub(super) fn remove_blocks(
        &self,
        transaction: &mut Transaction,
        removed_blocks: &[Vec<u8>],
    ) -> Result<(), StoreError> {
        let mut joiner = pieces::Joiner::default();
        let mut messages = 0;
        for (at, key) in removed_blocks.iter().enumerate() {
            if let Some(stored) = self.tree.get(key)?
                && let Some(block) = joiner.take(key, &stored)
            {
                let records: Result<Vec<MessageRecord>, String> = envelope::open(&block);
                messages += records.map_or_else(
                    |_| messages_between(key, removed_blocks.get(at + 1)),
                    |records| records.len() as u64,
                );
            }
            transaction.ops.remove(key.as_slice());
        }
        transaction.counts.messages = transaction.counts.messages.saturating_sub(messages);
        Ok(())
    }
}

/// Returns the number of messages of a block, which is followed by the block `next`. Returns 0 if
/// the block is the last block of its file.
fn messages_between(block: &[u8], next: Option<&Vec<u8>>) -> u64 {
    let ends = |next: &Vec<u8>| {
        let is_same_file = block.get(..13) == next.get(..13);
        let ends = (keys::first_message_in(block)?, keys::first_message_in(next)?);
        is_same_file.then_some(ends)
    };
    next.and_then(ends).map_or(0, |(first, end)| u64::from(end.saturating_sub(first)))
}
