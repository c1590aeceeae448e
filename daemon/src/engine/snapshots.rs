//! Tracks files that were added to the search index as a whole (snapshots) while the outbox still
//! has entries for parts of them.
//!
//! A file is added as a whole when the index may already contain messages that an entry adds, or
//! outdated messages of the file. The snapshot may include more messages than the entry. Later
//! entries must not add these messages again.

use std::collections::HashMap;

use crate::store::SourceKey;

/// The snapshots that may include entries that the follower has not applied yet.
#[derive(Debug, Default)]
pub(super) struct Snapshots(HashMap<SourceKey, Snapshot>);

/// The part of a file that its snapshot added to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// The snapshot includes all entries up to this position.
    pub(super) covers: u64,
    /// The snapshot includes all messages before this number.
    pub(super) next_seq: u32,
    /// The snapshot includes no entry after this position.
    pub(super) ends: u64,
}

/// An entry of the outbox about messages of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutboxMessages {
    pub(super) source: SourceKey,
    pub(super) position: u64,
    pub(super) from: u32,
    pub(super) count: u32,
    /// Whether the index may already contain messages with the numbers of this entry.
    pub(super) overwrites: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexUpdate {
    Nothing,
    /// Replaces the messages of the file in the index by all stored messages of the file.
    Whole,
    /// Adds `count` messages, beginning with number `from`.
    Part {
        from: u32,
        count: u32,
    },
}

impl Snapshots {
    pub(super) fn update_for(&self, entry: OutboxMessages) -> IndexUpdate {
        let OutboxMessages { source, position, from, count, overwrites } = entry;
        let snapshot = self.0.get(&source);
        if snapshot.is_some_and(|snapshot| position <= snapshot.covers) {
            return IndexUpdate::Nothing;
        }
        if overwrites {
            return IndexUpdate::Whole;
        }
        let end = from.saturating_add(count);
        let from = snapshot.map_or(from, |snapshot| from.max(snapshot.next_seq));
        if from >= end {
            IndexUpdate::Nothing
        } else {
            IndexUpdate::Part { from, count: end - from }
        }
    }

    pub(super) fn note(&mut self, source: SourceKey, snapshot: Snapshot) {
        self.0.insert(source, snapshot);
    }

    /// Records that the entry at `position` clears a file. Returns whether the index has to clear
    /// the file, too. If the file's snapshot includes this entry, the index keeps the file.
    pub(super) fn clear(&mut self, source: SourceKey, position: u64) -> bool {
        if self.0.get(&source).is_some_and(|snapshot| position <= snapshot.covers) {
            return false;
        }
        self.0.remove(&source);
        true
    }

    /// Forgets the snapshots that do not include any entry after `position`.
    pub(super) fn passed(&mut self, position: u64) {
        self.0.retain(|_, snapshot| snapshot.ends > position);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::SessionKey;

    const FILE: SourceKey = SourceKey { session: SessionKey(1), number: 0 };

    /// A write, as its outbox entry describes it.
    #[derive(Clone, Copy, Debug)]
    enum TestWrite {
        /// Adds a number of messages after the existing ones.
        Append(u32),
        /// Writes messages from a message number on, or after the existing messages if there are
        /// fewer. The second value is how many messages are written.
        Overwrite(u32, u32),
        Clear,
        /// Changes the text of the first message. The number of messages stays the same.
        Reword,
    }

    fn change() -> impl Strategy<Value = TestWrite> {
        prop_oneof![
            4 => (1u32..4).prop_map(TestWrite::Append),
            2 => (0u32..8, 1u32..4).prop_map(|(from, count)| TestWrite::Overwrite(from, count)),
            1 => Just(TestWrite::Clear),
            1 => Just(TestWrite::Reword),
        ]
    }

    /// Returns each write with its outbox entry, and with the number of messages after the write.
    fn entries(changes: &[TestWrite]) -> Vec<(TestWrite, OutboxMessages, u32)> {
        let (mut length, mut position) = (0, 0);
        let mut entry_of = |change: &TestWrite| {
            position += 1;
            let (from, count, overwrites) = match *change {
                TestWrite::Append(count) => (length, count, false),
                TestWrite::Overwrite(from, count) => {
                    (from.min(length), count, from.min(length) < length)
                }
                TestWrite::Clear => (0, 0, false),
                TestWrite::Reword => (0, u32::from(length > 0), true),
            };
            length = match change {
                TestWrite::Reword => length,
                _ => from + count,
            };
            (*change, OutboxMessages { source: FILE, position, from, count, overwrites }, length)
        };
        changes.iter().map(&mut entry_of).collect()
    }

    proptest! {
        #[test]
        fn each_message_is_in_the_index_once(
            changes in prop::collection::vec(change(), 1..20),
            ahead in prop::collection::vec((0usize..6, 0u64..4), 20),
            in_part_to in 0u64..5,
        ) {
            let entries = entries(&changes);
            let mut snapshots = Snapshots::default();
            // After a crash, some updates are applied to the index twice.
            let started = usize::try_from(in_part_to).unwrap().min(entries.len());
            let mut index: Vec<u32> = match started {
                0 => Vec::new(),
                started => (0..entries[started - 1].2).collect(),
            };
            for (at, (change, entry, _)) in entries.iter().enumerate() {
                // The store may be ahead of the entry.
                let reached = (at + ahead[at].0).min(entries.len() - 1);
                let stored = entries[reached].2;
                let covers = (entry.position + ahead[at].1).min(entries[reached].1.position);
                let ends = entries[reached].1.position;
                match change {
                    TestWrite::Clear if snapshots.clear(FILE, entry.position) => index.clear(),
                    TestWrite::Clear => {}
                    _ => {
                        let overwrites = entry.overwrites || entry.position <= in_part_to;
                        match snapshots.update_for(OutboxMessages { overwrites, ..*entry }) {
                            IndexUpdate::Nothing => {}
                            IndexUpdate::Whole => {
                                index = (0..stored).collect();
                                let snapshot = Snapshot { covers, next_seq: stored, ends };
                                snapshots.note(FILE, snapshot);
                            }
                            IndexUpdate::Part { from, count } => {
                                index.extend(from..(from + count).min(stored).max(from));
                            }
                        }
                    }
                }
                snapshots.passed(entry.position);
            }
            let expected: Vec<u32> = (0..entries.last().unwrap().2).collect();
            prop_assert_eq!(index, expected);
        }
    }
}
