//! The terms by which files, tools and branches are filtered.
//!
//! A filter looks up a single term, so all names by which a file, tool or branch can be requested
//! are indexed.

use crate::text;

/// The maximum number of trailing segments of a path that a filter can contain.
const DEEPEST: usize = 12;

/// Returns the names of a file, from the last [`DEEPEST`] segments of its path: every suffix, every
/// single segment, and the file name without extension.
pub(crate) fn of_file(path: &str) -> Vec<String> {
    let path = file(path);
    let mut terms = ends(&path);
    terms.extend(last_segments(&path).into_iter().map(str::to_owned));
    finished(terms)
}

/// Returns the names of a file without the names of its folders: every suffix of its path, and the
/// file name without extension.
pub(crate) fn ends_of_path(path: &str) -> Vec<String> {
    finished(ends(&file(path)))
}

fn ends(path: &str) -> Vec<String> {
    let kept = last_segments(path);
    let mut terms: Vec<String> = (0..kept.len()).map(|at| kept[at..].join("/")).collect();
    if let Some((stem, _)) = kept.last().and_then(|name| name.rsplit_once('.')) {
        terms.push(stem.to_owned());
    }
    terms
}

/// Returns the term for a path in a query or a `file:` filter: its last [`DEEPEST`] segments.
pub(crate) fn end_of_path(path: &str) -> String {
    last_segments(&file(path)).join("/")
}

fn last_segments(path: &str) -> Vec<&str> {
    let mut segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    segments.split_off(segments.len().saturating_sub(DEEPEST))
}

/// Returns the names of a tool: its name and the words in it.
pub(crate) fn of_tool(name: &str) -> Vec<String> {
    let mut terms = vec![text::folded(name)];
    terms.extend(text::words(name).into_iter().map(|word| word.text));
    finished(terms)
}

/// Returns the names of a branch: its name and its segments.
pub(crate) fn of_branch(name: &str) -> Vec<String> {
    let name = text::folded(name);
    let mut terms: Vec<String> = name.split('/').map(str::to_owned).collect();
    terms.push(name);
    finished(terms)
}

/// Returns a path in the form in which paths are compared: folded, with `/`, and without `./`, `~/`
/// or `/` at its start.
pub(crate) fn file(path: &str) -> String {
    let path = text::folded(path).replace('\\', "/");
    let path = path.trim_end_matches('/');
    let path = path.trim_start_matches("./").trim_start_matches("~/").trim_start_matches('/');
    path.to_owned()
}

/// Maximum length, in bytes, of a term; longer terms are omitted, because tantivy rejects terms of
/// 64 KiB.
const LONGEST: usize = 1_024;

fn finished(mut terms: Vec<String>) -> Vec<String> {
    terms.retain(|term| !term.is_empty() && term.len() <= LONGEST);
    terms.sort_unstable();
    terms.dedup();
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_every_end_of_its_path_as_a_name() {
        let terms = of_file("/home/ann/App/src/main.rs");
        for name in ["main.rs", "src/main.rs", "app/src/main.rs", "src", "main", "app"] {
            assert!(terms.contains(&file(name)), "{name}");
        }
        for name in ["ain.rs", "home/ann", "rs"] {
            assert!(!terms.contains(&file(name)), "{name}");
        }
        assert!(of_file("C:\\work\\x.rs").contains(&file("work\\X.rs")));
        assert!(terms.contains(&file("/home/ann/app/src/main.rs")));
        assert_eq!(of_file("///"), [""; 0]);
    }

    #[test]
    fn a_tool_has_every_word_of_its_name_as_a_name() {
        let terms = of_tool("mcp__linear__get_issue");
        for name in ["mcp__linear__get_issue", "linear", "issue"] {
            assert!(terms.contains(&name.to_owned()), "{name}");
        }
        assert!(of_tool("Bash").contains(&"bash".to_owned()));
    }

    #[test]
    fn a_branch_has_every_segment_as_a_name() {
        assert_eq!(of_branch("feat/Login-2"), ["feat", "feat/login-2", "login-2"]);
    }
}
