//! Prints the replacements of the redactor in text without secrets.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::passwords::REDACTOR;

const MARK: &str = "[REDACTED:";

/// File extensions of text that agents read.
#[rustfmt::skip]
const KINDS: &[&str] = &[
    "rs", "md", "toml", "lock", "py", "js", "mjs", "cjs", "ts", "json", "txt", "html", "css", "sh",
    "c", "h", "yml", "yaml", "diff", "patch", "rst", "gz-text", "conf", "cfg", "ini", "go", "java",
];

/// Prints each replacement in the text files of the folders in `GRAPHITI_SOURCES`. `GRAPHITI_HALF`,
/// 0 or 1, selects every second file, so that rules can be developed with one half of the files and
/// evaluated with the other half.
#[test]
fn wrong_marks() {
    let Ok(folders) = std::env::var("GRAPHITI_SOURCES") else { return };
    let half = std::env::var("GRAPHITI_HALF").ok().and_then(|half| half.parse::<usize>().ok());
    let mut paths: Vec<PathBuf> =
        folders.split(':').flat_map(|folder| files(Path::new(folder))).collect();
    paths.sort();
    let (mut bytes, mut marks) = (0, 0);
    for (number, path) in paths.iter().enumerate() {
        let Ok(text) = fs::read_to_string(path) else { continue };
        if half.is_some_and(|half| number % 2 != half) {
            continue;
        }
        bytes += text.len();
        for mark in marked(&text) {
            marks += 1;
            println!("{}: {mark}", path.display());
        }
    }
    let megabytes = bytes as f64 / 1e6;
    println!("{marks} marks in {megabytes:.1} MB: {:.1} in 10 MB", marks as f64 * 10.0 / megabytes);
}

/// Returns the replaced parts of `text`, each with the text around it.
fn marked(text: &str) -> Vec<String> {
    let redacted = REDACTOR.redact(text).text;
    let (mut rest, mut original) = (redacted.as_ref(), text);
    let mut marks = Vec::new();
    while let Some(at) = rest.find(MARK) {
        let close = rest[at..].find(']').unwrap() + at + 1;
        let mark = &rest[at..close];
        if original[at..].starts_with(mark) {
            (rest, original) = (&rest[close..], &original[close..]);
            continue;
        }
        let next = rest[close..].find(MARK).map_or(rest.len(), |next| close + next);
        let behind = &rest[close..rest.floor_char_boundary(next.min(close + 60))];
        let length = if behind.is_empty() { None } else { original[at..].find(behind) };
        let end = at + length.unwrap_or(original.len() - at);
        let before = &original[original.floor_char_boundary(at.saturating_sub(50))..at];
        let secret = &original[at..end];
        let after = &original[end..original.floor_char_boundary(original.len().min(end + 20))];
        marks.push(format!("{mark} {before:?} >>{secret:?}<< {after:?}"));
        (rest, original) = (&rest[close..], &original[end..]);
    }
    marks
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        if path.is_symlink() {
            continue;
        } else if path.is_dir() {
            found.extend(files(&path));
        } else if KINDS.contains(&extension) || extension.is_empty() {
            found.push(path);
        }
    }
    found
}
