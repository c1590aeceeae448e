//! Reads files made of lines such as `key = value`: TOML, INI, environments, properties,
//! Dockerfiles, and code that assigns literals.

use crate::{summarize::evidence::settings::Pairs, text::pattern};

/// Reads `[section]` and `key = value`. An array may have several lines.
pub(super) fn toml(fragment: &str) -> Pairs {
    let mut found = Vec::new();
    let mut section = String::new();
    let mut lines = fragment.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if let Some(name) = header(line) {
            name.clone_into(&mut section);
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let mut value = value.trim().to_owned();
        while value.starts_with('[') && !value.contains(']') {
            let Some(more) = lines.next() else { break };
            value.push(' ');
            value.push_str(more.trim());
        }
        let key = key.trim().trim_matches('"');
        if key.is_empty() || key.contains(' ') {
            continue;
        }
        if value.starts_with('{') {
            found.extend(inline_table(&joined(&section, key), &value));
        } else {
            found.push((joined(&section, key), unquoted(&value, "#").to_owned()));
        }
    }
    found
}

/// Reads `[section]` and `key = value`. Comment lines begin with `#` or `;`.
pub(super) fn ini(fragment: &str) -> Pairs {
    let mut found = Vec::new();
    let mut section = String::new();
    for line in fragment.lines().map(str::trim) {
        if let Some(name) = header(line) {
            name.clone_into(&mut section);
        } else if !line.starts_with(['#', ';'])
            && let Some((key, value)) = line.split_once('=')
            && !key.trim().is_empty()
        {
            found.push((joined(&section, key.trim()), unquoted(value, ";").to_owned()));
        }
    }
    found
}

/// Reads `KEY=value`, with or without `export` before it.
pub(super) fn env(fragment: &str) -> Pairs {
    pattern!(r"(?m)^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=[ \t]*(.*)$")
        .captures_iter(fragment)
        .map(|line| (line[1].to_owned(), unquoted(&line[2], "#").to_owned()))
        .collect()
}

/// Reads `key=value` or `key: value`.
pub(super) fn properties(fragment: &str) -> Pairs {
    pattern!(r"(?m)^[ \t]*([A-Za-z0-9_.\-]+)[ \t]*[=:][ \t]*(.*)$")
        .captures_iter(fragment)
        .map(|line| (line[1].to_owned(), line[2].trim().to_owned()))
        .collect()
}

/// Reads `FROM image`, `ENV key=value` and `ARG key=value`.
pub(super) fn dockerfile(fragment: &str) -> Pairs {
    pattern!(r"(?m)^[ \t]*(?:(FROM)[ \t]+(\S+)|(?:ENV|ARG)[ \t]+([A-Za-z0-9_]+)(?:=|[ \t]+)(.+))")
        .captures_iter(fragment)
        .filter_map(|line| {
            let key = line.get(1).or(line.get(3))?.as_str();
            let value = line.get(2).or(line.get(4))?.as_str();
            Some((key.to_owned(), unquoted(value, " #").to_owned()))
        })
        .collect()
}

/// Maximum indentation of a key that is read although the fragment does not show its block.
const OUTERMOST: usize = 2;

/// Reads `NAME = literal` in any language, and `key: literal,` in objects together with the keys of
/// the surrounding blocks. A deeply indented key is ignored if the fragment does not show its
/// block, because the object that the key belongs to is unknown.
pub(super) fn code(fragment: &str) -> Pairs {
    let literal = pattern!(
        r#"^(?:(?:export|pub|public|static|final|const|let|var|default)[ \t]+)*(?:([A-Z][A-Z0-9_]*)[ \t]*(?::[ \t]*[\w<>\[\]&' ]+)?=|([A-Za-z_$][\w$]*)[ \t]*:)[ \t]*("[^"\n]*"|'[^'\n]*'|-?[\d_.]+|true|false|True|False|null|None)[ \t]*[,;]?[ \t]*(?:(?://|#).*)?$"#
    );
    let mut found = Vec::new();
    let mut blocks: Vec<&str> = Vec::new();
    for line in fragment.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let text = text.trim_end();
        if text.starts_with(['}', ']', ')']) {
            blocks.pop();
        }
        if text.ends_with(['{', '[', '(']) {
            blocks.push(block_name(text));
        } else if let Some(pair) = literal.captures(text) {
            let constant = pair.get(1).map(|key| key.as_str());
            let Some(key) = constant.or(pair.get(2).map(|key| key.as_str())) else { continue };
            let named: Vec<&str> = blocks.iter().copied().filter(|name| !name.is_empty()).collect();
            if constant.is_none() && named.is_empty() && indent > OUTERMOST {
                continue;
            }
            let path = if constant.is_some() { String::new() } else { named.join(".") };
            found.push((joined(&path, key), unquoted(&pair[3], "\n").to_owned()));
        }
    }
    found
}

/// Returns the key whose block a line opens: `limits` for `limits: {`.
fn block_name(line: &str) -> &str {
    let head = line.trim_end_matches(['{', '[', '(', ' ']);
    let Some(key) = head.strip_suffix(':') else { return "" };
    key.trim_matches(['"', '\'', ' '])
}

/// Reads a table such as `{ version = "1.2", optional = true }`, even if the end of the table is
/// missing. A table that contains another table or an array is ignored.
fn inline_table(key: &str, table: &str) -> Pairs {
    let inside = table.trim_start_matches('{').split('}').next().unwrap_or_default();
    if inside.contains(['{', '[']) {
        return Vec::new();
    }
    let pairs = inside.split(',').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (format!("{key}.{}", name.trim()), unquoted(value, "#").to_owned()))
        .collect()
}

fn header(line: &str) -> Option<&str> {
    let inside = line.strip_prefix('[')?.trim_start_matches('[');
    let (name, rest) = inside.split_once(']')?;
    let is_alone =
        rest.trim_start_matches(']').trim_start().chars().next().is_none_or(|c| "#;".contains(c));
    (is_alone && !name.contains([',', '=']) && !name.trim().is_empty()).then(|| name.trim())
}

fn joined(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

/// Returns a value without its quotes and without the comment after it.
fn unquoted<'v>(value: &'v str, comment: &str) -> &'v str {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote)
            && let Some((inside, _)) = rest.split_once(quote)
        {
            return inside;
        }
    }
    let mark = format!(" {}", comment.trim_start());
    value.split(mark.as_str()).next().unwrap_or(value).trim()
}
