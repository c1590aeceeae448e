//! Lists that stay short.

use crate::summarize::{evidence::bounds, text::kept};

/// Adds `item` at the end; removes the oldest when there are more than `limit`.
pub(super) fn push_latest<T>(list: &mut Vec<T>, item: T, limit: usize) {
    list.push(item);
    if list.len() > limit {
        list.remove(0);
    }
}

/// Adds a name that is not in the list yet, if there is space: the first ones are kept.
pub(super) fn push_name(list: &mut Vec<String>, name: &str) {
    let name = kept(name, bounds::NAME);
    if !name.is_empty() && list.len() < bounds::NAMES && !list.contains(&name) {
        list.push(name);
    }
}
