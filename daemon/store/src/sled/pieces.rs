//! Stores values of any length in pieces of at most four kilobytes.
//!
//! sled writes a page that is too large into a separate file, which it never syncs and never
//! deletes. Values of at most four kilobytes never cause such a page (a test checks this).

use sled::Tree;

use crate::sled::{batch::Batch, keys::Key};

/// Maximum length, in bytes, of a piece.
pub(crate) const PIECE: usize = 4_000;

/// Adds `value` under `key` in pieces. The caller must first remove a longer value under `key`.
pub(crate) fn put(batch: &mut Batch, key: &Key, value: &[u8]) {
    for (key, stored) in split(key, value) {
        batch.insert(key, stored);
    }
}

/// Divides `value` into pieces, and returns them with their keys.
pub(crate) fn split(key: &Key, value: &[u8]) -> impl Iterator<Item = (Key, Vec<u8>)> {
    let count = value.len().div_ceil(PIECE).max(1);
    (0..count).map(move |number| {
        let piece = &value[number * PIECE..value.len().min((number + 1) * PIECE)];
        let last = number + 1 == count;
        let mut stored = Vec::with_capacity(piece.len() + 1);
        stored.push(u8::from(last));
        stored.extend_from_slice(piece);
        (numbered(key, number), stored)
    })
}

/// Removes every piece under `key`, and under every other key that begins with `key`.
pub(crate) fn remove(tree: &Tree, batch: &mut Batch, key: &Key) -> sled::Result<()> {
    for found in tree.scan_prefix(key).keys() {
        batch.remove(found?);
    }
    Ok(())
}

/// Returns the value under `key`, or `None` if one of its pieces is missing.
pub(crate) fn get(tree: &Tree, key: &Key) -> sled::Result<Option<Vec<u8>>> {
    let mut value = Vec::new();
    for number in 0.. {
        let Some(stored) = tree.get(numbered(key, number))? else { return Ok(None) };
        let Some((last, piece)) = stored.split_first() else { return Ok(None) };
        value.extend_from_slice(piece);
        if *last == 1 {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Joins pieces into values. A joiner must get each key and value of a scan, in order.
#[derive(Default)]
pub(crate) struct Joiner {
    value: Vec<u8>,
}

impl Joiner {
    /// Adds the next piece, and returns the whole value after its last piece.
    pub(crate) fn take(&mut self, key: &[u8], stored: &[u8]) -> Option<Vec<u8>> {
        let (last, piece) = stored.split_first()?;
        if key.ends_with(&0u16.to_be_bytes()) {
            self.value.clear();
        }
        self.value.extend_from_slice(piece);
        (*last == 1).then(|| std::mem::take(&mut self.value))
    }
}

fn numbered(key: &Key, number: usize) -> Key {
    let number =
        u16::try_from(number).expect("`LIMIT` in `envelope` allows fewer than 65,536 pieces");
    let mut key = key.clone();
    key.extend_from_slice(&number.to_be_bytes());
    key
}
