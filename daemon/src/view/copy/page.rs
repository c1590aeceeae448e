//! Defines the pages of a copy, and the names of their files.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{model::hex, view::pages::parts::address};

/// Maximum length, in bytes, of an id that is part of a file name.
const MAX_ID_BYTES: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CopyPage {
    Start,
    /// A part of the list of sessions.
    Sessions {
        number: usize,
    },
    Projects,
    Project {
        namespace: String,
    },
    OpenEnds,
    Facts,
    /// The latest facts of one kind.
    FactsOf {
        kind: String,
    },
    /// A script with a part of the text for the search in the copy.
    Index {
        number: usize,
    },
    /// The summary of a session next to a page of its conversation.
    Session {
        id: String,
        source: u32,
        first: u32,
    },
    /// A part of a long message.
    Message {
        id: String,
        source: u32,
        seq: u32,
        from: usize,
    },
}

impl CopyPage {
    /// Parses the text of [`CopyPage::to_text`].
    pub(super) fn parse(text: &str) -> Option<CopyPage> {
        serde_json::from_str(text).ok()
    }

    /// Returns the name by which daemon and client refer to the page.
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a page has only string keys")
    }

    /// Returns the name of the file. Each page has a different name.
    pub(super) fn file_name(&self) -> String {
        match self {
            CopyPage::Start => "index.html".to_owned(),
            CopyPage::Sessions { number: 0 } => "sessions.html".to_owned(),
            CopyPage::Sessions { number } => format!("sessions.{}.html", number + 1),
            CopyPage::Projects => "projects.html".to_owned(),
            CopyPage::Project { namespace } => {
                format!("project.{}.html", file_name_part(namespace))
            }
            CopyPage::OpenEnds => "open-ends.html".to_owned(),
            CopyPage::Facts => "facts.html".to_owned(),
            CopyPage::FactsOf { kind } => {
                format!("facts.{}.html", file_name_part(&kind.to_lowercase()))
            }
            CopyPage::Index { number } => format!("index.{}.js", number + 1),
            CopyPage::Session { id, source: 0, first: 0 } => {
                format!("session.{}.html", file_name_part(id))
            }
            CopyPage::Session { id, source, first } => {
                format!("session.{}.{source}.{first}.html", file_name_part(id))
            }
            CopyPage::Message { id, source, seq, from } => {
                format!("message.{}.{source}.{seq}.{from}.html", file_name_part(id))
            }
        }
    }

    /// Returns the viewer's address of a conversation or a message, and `/` for other pages.
    pub(super) fn address(&self) -> String {
        match self {
            CopyPage::Session { id, source, first } => address(
                "/session",
                &[("id", id), ("source", &source.to_string()), ("at", &first.to_string())],
            ),
            CopyPage::Message { id, source, seq, from } => {
                let numbers = [source.to_string(), seq.to_string(), from.to_string()];
                let [source, seq, from] = &numbers;
                address("/message", &[("id", id), ("source", source), ("seq", seq), ("from", from)])
            }
            _ => "/".to_owned(),
        }
    }
}

/// Returns an id as a part of a file name. An id that is long or has characters other than `a-z`,
/// `0-9`, `-` and `_` is replaced by its hash: some file systems do not distinguish upper and lower
/// case, and some characters have a meaning in paths.
fn file_name_part(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if (1..=MAX_ID_BYTES).contains(&id.len()) && id.chars().all(is_plain) {
        return id.to_owned();
    }
    // A plain id has no full stop, so it cannot be equal to this name.
    format!("x.{}", hex::encode(&Sha256::digest(id.as_bytes())[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_different_names_that_are_safe_in_paths() {
        let ids = ["a", "A", "a.0.150", "../../etc/passwd", "", "x", "ü", &"long".repeat(40)];
        let pages = ids.iter().flat_map(|id| {
            let id = (*id).to_owned();
            [
                CopyPage::Session { id: id.clone(), source: 0, first: 0 },
                CopyPage::Session { id: id.clone(), source: 0, first: 150 },
                CopyPage::Session { id: id.clone(), source: 150, first: 0 },
                CopyPage::Message { id, source: 0, seq: 150, from: 0 },
            ]
        });
        let pages: Vec<CopyPage> = pages.collect();
        let mut names: Vec<String> = pages.iter().map(CopyPage::file_name).collect();
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        for name in &names {
            assert!(name.chars().all(is_plain) && name.len() < 110, "{name}");
            assert!(!name.starts_with('.') && !name.contains(".."), "{name}");
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), pages.len());
        for page in &pages {
            assert_eq!(CopyPage::parse(&page.to_text()).as_ref(), Some(page));
        }
    }
}
