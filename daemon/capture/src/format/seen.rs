//! Stores which records were read, because some agents write a record more than once.

use std::collections::{HashSet, VecDeque};

use serde::{Deserialize, Serialize};

/// Maximum number of stored entries; the oldest are evicted.
const ENTRIES: usize = 16_384;

/// The newest entries of a file, as hashes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "VecDeque<u64>", into = "VecDeque<u64>")]
pub(crate) struct SeenRecords {
    order: VecDeque<u64>,
    hashes: HashSet<u64>,
}

impl SeenRecords {
    /// Stores `key`, which is unique within `kind`. Returns whether the key is new.
    pub(crate) fn insert(&mut self, kind: &str, key: &str) -> bool {
        let hash = hash(kind, key);
        if !self.hashes.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > ENTRIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.hashes.remove(&oldest);
        }
        true
    }

    pub(crate) fn contains(&self, kind: &str, key: &str) -> bool {
        self.hashes.contains(&hash(kind, key))
    }
}

impl From<VecDeque<u64>> for SeenRecords {
    fn from(order: VecDeque<u64>) -> SeenRecords {
        SeenRecords { hashes: order.iter().copied().collect(), order }
    }
}

impl From<SeenRecords> for VecDeque<u64> {
    fn from(seen: SeenRecords) -> VecDeque<u64> {
        seen.order
    }
}

/// Returns the FNV-1a hash. Hashes are saved, so every version of the program must compute the same
/// hash.
fn hash(kind: &str, key: &str) -> u64 {
    let bytes = kind.bytes().chain([0]).chain(key.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_new_once_within_its_kind() {
        let mut seen = SeenRecords::default();
        assert!(seen.insert("call", "a"));
        assert!(!seen.insert("call", "a"));
        assert!(seen.insert("result", "a"));
        assert!(seen.contains("call", "a") && !seen.contains("call", "b"));
    }

    #[test]
    fn the_oldest_entries_are_evicted_and_the_rest_survives_saving() {
        let mut seen = SeenRecords::default();
        for number in 0..ENTRIES + 2 {
            seen.insert("id", &number.to_string());
        }
        assert_eq!((seen.order.len(), seen.hashes.len()), (ENTRIES, ENTRIES));
        let saved = serde_json::to_string(&seen).unwrap();
        let loaded: SeenRecords = serde_json::from_str(&saved).unwrap();
        assert_eq!(loaded, seen);
        assert!(!loaded.contains("id", "1") && loaded.contains("id", "2"));
    }
}
