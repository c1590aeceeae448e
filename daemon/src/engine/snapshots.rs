//! Files that were taken into the search index as a whole, while the outbox still tells of their
//! parts.
//!
//! A file is taken as a whole when messages in the index may be other ones by now, or may be there
//! already. What is read of the store then holds more than the outbox entry tells of: entries
//! that are still to come must not add the same messages once more.

use std::collections::HashMap;

use crate::store::SourceKey;

/// The files that were taken as a whole, as long as entries may follow that their snapshots hold.
#[derive(Debug, Default)]
pub(super) struct Snapshots(HashMap<SourceKey, Snapshot>);

/// What of a file is in the index since it was taken as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// Everything that the outbox tells up to this position.
    pub(super) covers: u64,
    /// All messages before this number.
    pub(super) next_seq: u32,
    /// Nothing that the outbox tells after this position.
    pub(super) ends: u64,
}

/// An entry of the outbox about messages of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutboxMessages {
    pub(super) source: SourceKey,
    pub(super) position: u64,
    pub(super) from: u32,
    pub(super) count: u32,
    /// Whether messages of these numbers may be in the index already.
    pub(super) overwrites: bool,
}

/// What the index has to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexUpdate {
    Nothing,
    /// All messages of the file, in the place of those it has.
    Whole,
    /// So many messages from this number on.
    Part {
        from: u32,
        count: u32,
    },
}

impl Snapshots {
    /// What the index has to take for an entry.
    pub(super) fn take(&self, entry: OutboxMessages) -> IndexUpdate {
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

    /// Notes that a file was taken as a whole.
    pub(super) fn note(&mut self, source: SourceKey, snapshot: Snapshot) {
        self.0.insert(source, snapshot);
    }

    /// Notes that the outbox tells at `position` that a file was cleared. Returns whether the index
    /// has to clear it: a snapshot may be of later.
    pub(super) fn clear(&mut self, source: SourceKey, position: u64) -> bool {
        if self.0.get(&source).is_some_and(|snapshot| position <= snapshot.covers) {
            return false;
        }
        self.0.remove(&source);
        true
    }

    /// Forgets the snapshots that hold nothing of what follows `position`.
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

    /// A write, as the outbox tells of it.
    #[derive(Clone, Copy, Debug)]
    enum TestWrite {
        /// So many messages behind those that are there.
        Append(u32),
        /// So many messages from this number on, or behind those that are there.
        Overwrite(u32, u32),
        Clear,
        /// Messages of these numbers say something else; the others stay.
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

    /// Each write with the number of messages that there are after it.
    fn told(changes: &[TestWrite]) -> Vec<(TestWrite, OutboxMessages, u32)> {
        let (mut length, mut position) = (0, 0);
        let mut tell = |change: &TestWrite| {
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
        changes.iter().map(&mut tell).collect()
    }

    proptest! {
        #[test]
        fn each_message_is_in_the_index_once_however_far_the_store_is_ahead(
            changes in prop::collection::vec(change(), 1..20),
            ahead in prop::collection::vec((0usize..6, 0u64..4), 20),
            in_part_to in 0u64..5,
        ) {
            let told = told(&changes);
            let mut snapshots = Snapshots::default();
            // After a crash the index has some of what it is told once more.
            let started = usize::try_from(in_part_to).unwrap().min(told.len());
            let mut index: Vec<u32> = match started {
                0 => Vec::new(),
                started => (0..told[started - 1].2).collect(),
            };
            for (at, (change, entry, _)) in told.iter().enumerate() {
                // The writer may be further by now; so much of it is known to be written.
                let reached = (at + ahead[at].0).min(told.len() - 1);
                let stored = told[reached].2;
                let covers = (entry.position + ahead[at].1).min(told[reached].1.position);
                let ends = told[reached].1.position;
                match change {
                    TestWrite::Clear if snapshots.clear(FILE, entry.position) => index.clear(),
                    TestWrite::Clear => {}
                    _ => {
                        let overwrites = entry.overwrites || entry.position <= in_part_to;
                        match snapshots.take(OutboxMessages { overwrites, ..*entry }) {
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
            let expected: Vec<u32> = (0..told.last().unwrap().2).collect();
            prop_assert_eq!(index, expected);
        }
    }
}
