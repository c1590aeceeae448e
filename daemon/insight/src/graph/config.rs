//! The settings of the graph, and the names of its groups.

use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Whether sessions become episodes.
    pub store_in_graph: bool,
}

/// The name of a group of episodes. It consists of ASCII letters, digits and `_`, and is neither
/// empty nor a stop word.
///
/// Graphiti's full-text search finds nothing in a group whose name contains `-`, and FalkorDB fails
/// on a name that is a stop word.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(String);

/// The stop words of FalkorDB's full-text index.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

impl GroupId {
    /// Converts `text` to a valid name: spaces at the ends are removed, invalid characters become
    /// `_`, and `_` is appended to a stop word or an empty name.
    pub fn sanitised(text: &str) -> GroupId {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut name: String =
            text.trim().chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
        let lower = name.to_ascii_lowercase();
        if name.is_empty() || STOP_WORDS.contains(&lower.as_str()) {
            name.push('_');
        }
        GroupId(name)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Default for Config {
    fn default() -> Config {
        Config { store_in_graph: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_group_names_become_valid() {
        for (given, wanted) in [
            ("team", "team"),
            ("my-host__global", "my_host__global"),
            ("Ann's Mac.local", "Ann_s_Mac_local"),
            ("the", "the_"),
            ("IT", "IT_"),
            ("", "_"),
            ("  ", "_"),
            ("büro", "b_ro"),
        ] {
            assert_eq!(GroupId::sanitised(given).as_str(), wanted, "{given}");
        }
    }
}
