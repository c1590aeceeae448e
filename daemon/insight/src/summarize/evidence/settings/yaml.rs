//! Reads YAML by its lines and indentation, because a fragment may not be a valid document.

use crate::{summarize::evidence::settings::Pairs, text::pattern};

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
            if let (true, LineValue::Scalar(item)) = (is_item, value(text)) {
                add_item(&mut found, &parents, &item);
            }
            continue;
        };
        match value(pair.get(2).map_or("", |value| value.as_str())) {
            // In `- run: |` the text is indented relative to the dash, not to the key.
            LineValue::Block => block = Some(line.len() - line.trim_start().len()),
            LineValue::None => parents.push((indent, pair[1].to_owned())),
            LineValue::Scalar(value) => found.push((path(&parents, Some(&pair[1])), value)),
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

/// The value after a key or a dash.
enum LineValue {
    /// The key has no value on its line. The next lines may contain the value.
    None,
    /// The next lines that are indented more are a text.
    Block,
    Scalar(String),
}

/// Reads a value without its quotes, its anchor (`&name`), its tag (`!!seq`) and the comment after
/// it.
fn value(text: &str) -> LineValue {
    let properties = pattern!(r"^(?:(?:&|!!)\S+(?:\s+|$))*");
    let text = text.trim();
    let text = &text[properties.find(text).map_or(0, |found| found.end())..];
    let quoted = pattern!(r#"^(?:"((?:[^"\\]|\\.)*)|'((?:[^']|'')*))"#);
    if let Some(found) = quoted.captures(text) {
        let double = found.get(1).map(|inner| inner.as_str().to_owned());
        return LineValue::Scalar(double.unwrap_or_else(|| found[2].replace("''", "'")));
    }
    match pattern!(r"(?:^|\s)#.*$").replace(text, "").trim() {
        "" => LineValue::None,
        // A tag of an application, as in `Fn: !If`.
        tag if tag.starts_with('!') && !tag.contains(' ') => LineValue::None,
        block if block.starts_with(['|', '>']) => LineValue::Block,
        scalar => LineValue::Scalar(scalar.to_owned()),
    }
}
