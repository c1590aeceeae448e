//! Shortens lists that are part of one line.

/// Keeps the first `limit` items, and adds the number of the others, for example `+2 more`.
pub(super) fn shortened(mut items: Vec<String>, limit: usize) -> Vec<String> {
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
