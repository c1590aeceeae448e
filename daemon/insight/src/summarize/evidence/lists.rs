//! Adds items to lists of limited length.

use crate::summarize::{evidence::bounds, text::kept};

/// Adds `item` at the end, and removes the oldest item when there are more than `limit` items.
pub(super) fn push_latest<T>(list: &mut Vec<T>, item: T, limit: usize) {
    list.push(item);
    if list.len() > limit {
        list.remove(0);
    }
}

/// Removes the oldest items until there are at most `limit`.
pub(super) fn keep_latest<T>(list: &mut Vec<T>, limit: usize) {
    let extra = list.len().saturating_sub(limit);
    list.drain(..extra);
}

/// Adds a name that is not in the list yet. A full list keeps its first names.
pub(super) fn push_name(list: &mut Vec<String>, name: &str) {
    let name = kept(name, bounds::NAME);
    if !name.is_empty() && list.len() < bounds::NAMES && !list.contains(&name) {
        list.push(name);
    }
}
