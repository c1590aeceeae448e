//! Reads YAML by its lines and indentation, because a fragment may not be a valid document.

use crate::summarize::{evidence::settings::Pairs, text::pattern};

/// Returns each key with a scalar, or with a list of scalars joined by commas.
pub(super) fn pairs(fragment: &str) -> Pairs {
    let mut found: Pairs = Vec::new();
    let mut parents: Vec<(usize, String)> = Vec::new();
    let mut block: Option<usize> = None;
    for line in fragment.lines() {
        let text = line.trim_start();
        let mut indent = line.len() - text.len();
        if text.is_empty() || text.starts_with('#') || text.starts_with("---") {
            continue;
        }
        if block.is_some_and(|at| indent > at) {
            continue;
        }
        block = None;
        let mut text = text;
        while let Some(rest) = text.strip_prefix("- ") {
            indent += 2;
            text = rest;
        }
        let is_item = text.len() < line.trim_start().len();
        parents.retain(|(at, _)| *at < indent);
        let Some(pair) =
            pattern!(r#"^["']?([A-Za-z0-9_$.][\w$./ -]*?)["']?\s*:(?:\s+(.*))?$"#).captures(text)
        else {
            if is_item {
                add_item(&mut found, &parents, scalar(text));
            }
            continue;
        };
        let value = pair.get(2).map_or("", |value| scalar(value.as_str()));
        if value.starts_with(['|', '>']) {
            // In `- run: |` the text is indented relative to the dash, not to the key.
            block = Some(line.len() - line.trim_start().len());
        } else if value.is_empty() {
            parents.push((indent, pair[1].to_owned()));
        } else {
            found.push((path(&parents, Some(&pair[1])), value.to_owned()));
        }
    }
    found
}

fn add_item(found: &mut Pairs, parents: &[(usize, String)], value: &str) {
    if parents.is_empty() {
        return;
    }
    let key = path(parents, None);
    match found.last_mut() {
        Some((last, values)) if *last == key => {
            values.push_str(", ");
            values.push_str(value);
        }
        _ => found.push((key, value.to_owned())),
    }
}

fn path(parents: &[(usize, String)], key: Option<&str>) -> String {
    parents.iter().map(|(_, parent)| parent.as_str()).chain(key).collect::<Vec<_>>().join(".")
}

/// Returns a value without its quotes and without the comment after it.
fn scalar(text: &str) -> &str {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            return rest.split(quote).next().unwrap_or(rest);
        }
    }
    text.split(" #").next().unwrap_or(text).trim()
}
