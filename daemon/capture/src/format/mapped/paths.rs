//! The files that a mapped format reads: single files, folders, and patterns with `*`, `**` and
//! `?`.

use std::path::{Component, Path, PathBuf};

/// The extensions of JSONL files. A path with such an extension is a file, not a folder. In a
/// folder, only files with such an extension are read.
const ENDINGS: &[&str] = &["jsonl", "ndjson"];

/// The files below a folder whose paths match a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    text: PathBuf,
    /// The folder that is watched: the part before the pattern.
    root: PathBuf,
    /// The root without symbolic links, as the watch reports it.
    real_root: PathBuf,
    /// The pattern of each part of the path below the folder; `**` matches any number of parts.
    parts: Vec<String>,
}

impl PathPattern {
    /// Parses an absolute path. A folder matches the JSONL files in it, at any depth.
    pub fn new(path: &Path) -> PathPattern {
        let (mut root, mut parts) = (PathBuf::new(), Vec::new());
        for component in path.components() {
            let part = component.as_os_str().to_string_lossy();
            if parts.is_empty() && !is_pattern(&part) {
                root.push(component);
            } else {
                parts.push(part.into_owned());
            }
        }
        let is_file = has_ending(&root, ENDINGS) || root.is_file();
        if parts.is_empty() && is_file {
            parts.extend(root.file_name().map(|name| name.to_string_lossy().into_owned()));
            root.pop();
        } else if parts.is_empty() {
            parts.push("**".to_owned());
        }
        let real_root = root.canonicalize().unwrap_or_else(|_| root.clone());
        PathPattern { text: path.to_owned(), root, real_root, parts }
    }

    pub fn as_path(&self) -> &Path {
        &self.text
    }

    /// Returns the folder that is watched.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path below the watched folder, without the extension. The path, unlike the
    /// file's name, distinguishes files of the same name in different folders. Returns `None` for a
    /// file that does not match.
    pub(super) fn name_of(&self, path: &Path) -> Option<String> {
        let below = self.below(path).filter(|_| self.matches(path))?.with_extension("");
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        Some(parts.join("/"))
    }

    fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.strip_prefix(&self.real_root).or_else(|_| path.strip_prefix(&self.root)).ok()
    }

    pub(super) fn matches(&self, path: &Path) -> bool {
        let Some(below) = self.below(path) else { return false };
        let normal = |part: Component<'_>| part.as_os_str().to_string_lossy().into_owned();
        let below: Vec<String> = below.components().map(normal).collect();
        if self.parts == ["**"] {
            has_ending(path, ENDINGS)
        } else {
            match_parts(&self.parts, &below)
        }
    }
}

fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?'])
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|own| endings.contains(&own))
}

/// Whether a path matches, part by part. Compares each part of the path with each part of the
/// pattern only once.
fn match_parts(pattern: &[String], path: &[String]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        for at in 0..=path.len() {
            if part == "**" {
                next[at] = reached[at] || at > 0 && next[at - 1];
            } else if at > 0 {
                next[at] = reached[at - 1] && match_part(part, &path[at - 1]);
            }
        }
        reached = next;
    }
    reached[path.len()]
}

/// Whether a name matches a pattern, in which `*` matches any characters and `?` matches one.
fn match_part(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for c in pattern.chars() {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            next[at] = match c {
                '*' => reached[at] || at > 0 && next[at - 1],
                '?' => at > 0 && reached[at - 1],
                c => at > 0 && reached[at - 1] && name[at - 1] == c,
            };
        }
        reached = next;
    }
    reached[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_file_a_folder_or_a_pattern() {
        for (pattern, root, matching, others) in [
            ("/h/log.jsonl", "/h", &["/h/log.jsonl"][..], &["/h/a.jsonl", "/h/a/log.jsonl"][..]),
            ("/h/a", "/h/a", &["/h/a/x.jsonl", "/h/a/b/c/x.ndjson"], &["/h/a/x.txt", "/h/x.jsonl"]),
            (
                "/h/*/chat-?.log",
                "/h",
                &["/h/a/chat-1.log", "/h/é/chat-é.log"],
                &["/h/chat-1.log", "/h/a/chat-10.log", "/h/a/b/chat-1.log"],
            ),
            (
                "/h/**/messages*",
                "/h",
                &["/h/messages", "/h/a/b/messages.1"],
                &["/h/a", "/messages", "/h/messages/a"],
            ),
        ] {
            let paths = PathPattern::new(Path::new(pattern));
            assert_eq!(paths.root(), Path::new(root), "{pattern}");
            assert!(matching.iter().all(|path| paths.matches(Path::new(path))), "{pattern}");
            assert!(!others.iter().any(|path| paths.matches(Path::new(path))), "{pattern}");
        }
    }

    #[test]
    fn an_adversarial_pattern_is_matched_quickly() {
        let pattern = format!("/h/{}x", "**/*a*a*a*a*/".repeat(60));
        let paths = PathPattern::new(Path::new(&pattern));
        let path = format!("/h/{}y", "aaaaaaaaaaaaaaaaaaaaaaaa/".repeat(60));
        assert!(!paths.matches(Path::new(&path)));
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_folder_is_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let paths = PathPattern::new(&link);
        assert!(paths.matches(&real.join("a.jsonl")) && paths.matches(&link.join("a.jsonl")));
    }
}
