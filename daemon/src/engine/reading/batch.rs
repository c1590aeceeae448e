//! Batches the messages of a file and writes them to the store.

use std::collections::VecDeque;

use crate::{
    engine::pipeline::SourceState,
    fault,
    model::Message,
    store::{PendingWrite, SourceKey, Store, StoreError, Write},
};

/// Number of messages after which a list of writes is sent to the store.
const MESSAGES: usize = 512;
/// Size of the messages, in bytes, after which a list of writes is sent to the store.
const MESSAGE_BYTES: usize = 256 << 10;
/// Maximum number of lists of writes that are not yet stored while the next lines are read.
const IN_FLIGHT: usize = 2;

/// The messages of a file that are not yet in the store.
pub(super) struct Batch {
    source: SourceKey,
    pub(super) messages: Vec<Message>,
    others: Vec<Write>,
    sent: usize,
    pending_writes: VecDeque<PendingWrite>,
}

impl Batch {
    pub(super) fn new(source: SourceKey) -> Batch {
        Batch {
            source,
            messages: Vec::new(),
            others: Vec::new(),
            sent: 0,
            pending_writes: VecDeque::new(),
        }
    }

    /// Marks the stored messages of the file for deletion with the next list of writes.
    pub(super) fn clear(&mut self) {
        self.others.push(Write::ClearSource(self.source));
    }

    pub(super) fn add(&mut self, write: Write) {
        self.others.push(write);
    }

    /// Moves the fork keys from `state` to the batch.
    pub(super) fn add_fork_keys(&mut self, state: &mut SourceState) {
        if !state.fork_keys.is_empty() {
            let records = std::mem::take(&mut state.fork_keys);
            self.others.push(Write::ForkKeys { session: self.source.session, records });
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.messages.len() >= MESSAGES
            || self.messages.iter().map(|message| message.text.len()).sum::<usize>()
                >= MESSAGE_BYTES
    }

    pub(super) fn send(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        let writes = self.take_writes();
        if !writes.is_empty() {
            self.pending_writes.push_back(store.write(writes));
            fault::point("read: messages queued");
        }
        while self.pending_writes.len() > IN_FLIGHT {
            self.wait_for_one()?;
        }
        Ok(())
    }

    /// Returns the writes in their order: old messages are removed, new messages are stored, and
    /// then the state is saved.
    fn take_writes(&mut self) -> Vec<Write> {
        let mut writes = Vec::with_capacity(3);
        let (clear, rest): (Vec<Write>, Vec<Write>) = std::mem::take(&mut self.others)
            .into_iter()
            .partition(|write| matches!(write, Write::ClearSource(_)));
        writes.extend(clear);
        if !self.messages.is_empty() {
            self.sent += self.messages.len();
            let messages = std::mem::take(&mut self.messages);
            writes.push(Write::Messages { source: self.source, messages });
        }
        writes.extend(rest);
        writes
    }

    pub(super) fn finish(mut self, store: &dyn Store) -> Result<usize, StoreError> {
        self.send(store)?;
        while !self.pending_writes.is_empty() {
            self.wait_for_one()?;
        }
        Ok(self.sent)
    }

    fn wait_for_one(&mut self) -> Result<(), StoreError> {
        match self.pending_writes.pop_front() {
            Some(ticket) => ticket.wait().map(drop),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::SessionKey, store::contract};

    const SOURCE: SourceKey = SourceKey { session: SessionKey(1), number: 0 };

    #[test]
    fn old_messages_are_removed_before_new_ones_are_stored_and_the_state_is_last() {
        let mut batch = Batch::new(SOURCE);
        assert!(batch.take_writes().is_empty());
        batch.add(Write::ForkKeys { session: SOURCE.session, records: Vec::new() });
        batch.clear();
        batch.messages.push(contract::message(0, 10));
        let writes = batch.take_writes();
        assert!(matches!(
            &writes[..],
            [Write::ClearSource(SOURCE), Write::Messages { .. }, Write::ForkKeys { .. }]
        ));
        assert_eq!(batch.sent, 1);
        assert!(batch.take_writes().is_empty());
    }

    #[test]
    fn a_batch_is_full_with_many_or_with_long_messages() {
        for (count, length, wanted) in [
            (MESSAGES - 1, 10, false),
            (MESSAGES, 10, true),
            (1, MESSAGE_BYTES - 1, false),
            (1, MESSAGE_BYTES, true),
            (2, MESSAGE_BYTES / 2, true),
        ] {
            let mut batch = Batch::new(SOURCE);
            let message = Message { text: "x".repeat(length), ..contract::message(0, 1) };
            batch.messages = vec![message; count];
            assert_eq!(batch.is_full(), wanted, "{count} {length}");
        }
    }

    #[test]
    fn fork_keys_are_moved_into_the_batch_once() {
        let (mut batch, mut state) = (Batch::new(SOURCE), SourceState::new(0));
        batch.add_fork_keys(&mut state);
        assert!(batch.others.is_empty());
        state.fork_keys = vec![[1; 16]];
        batch.add_fork_keys(&mut state);
        batch.add_fork_keys(&mut state);
        let records = vec![[1; 16]];
        assert_eq!(batch.others, [Write::ForkKeys { session: SOURCE.session, records }]);
    }
}
