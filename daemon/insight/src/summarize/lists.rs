//! Keeps lists within a limit.

/// Adds `item` at the end, and removes the oldest item when there are more than `limit` items.
pub(crate) fn push_latest<T>(list: &mut Vec<T>, item: T, limit: usize) {
    list.push(item);
    if list.len() > limit {
        list.remove(0);
    }
}

/// Removes the oldest items until there are at most `limit`.
pub(crate) fn keep_latest<T>(list: &mut Vec<T>, limit: usize) {
    let extra = list.len().saturating_sub(limit);
    list.drain(..extra);
}

/// Keeps the first `limit` items, and adds the number of the others, for example `+2 more`.
pub(crate) fn shortened(mut items: Vec<String>, limit: usize) -> Vec<String> {
    let more = items.len().saturating_sub(limit);
    items.truncate(limit);
    items.extend((more > 0).then(|| format!("+{more} more")));
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_items_left_out_are_counted() {
        let items = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let list: Vec<String> = items(&["a", "b", "c"]);
        assert_eq!(shortened(list.clone(), 3), list);
        assert_eq!(shortened(list, 1), items(&["a", "+2 more"]) as Vec<String>);
    }
}
