//! Short texts that a format keeps under a key until a later record of the file needs them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Maximum number of notes; the oldest is evicted.
const NOTES: usize = 64;
/// Maximum length, in bytes, of a key or a text. A longer note is not kept.
const LENGTH: usize = 4_096;

/// Notes by key, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Notes {
    notes: VecDeque<(String, String)>,
}

impl Notes {
    /// Keeps `text` under `key`, in place of an earlier note.
    pub(crate) fn keep(&mut self, key: &str, text: &str) {
        // The earlier note is replaced, so its text is not needed.
        let _ = self.take(key);
        if key.len() > LENGTH || text.len() > LENGTH {
            return;
        }
        self.notes.push_back((key.to_owned(), text.to_owned()));
        if self.notes.len() > NOTES {
            self.notes.pop_front();
        }
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.notes.iter().any(|(known, _)| known == key)
    }

    /// Removes the note under `key` and returns its text.
    pub(crate) fn take(&mut self, key: &str) -> Option<String> {
        let at = self.notes.iter().position(|(known, _)| known == key)?;
        self.notes.remove(at).map(|(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_taken_once_and_the_oldest_is_evicted() {
        let mut notes = Notes::default();
        notes.keep("a", "1");
        notes.keep("a", "2");
        assert_eq!((notes.take("a").as_deref(), notes.take("a")), (Some("2"), None));
        (0..=NOTES).for_each(|n| notes.keep(&n.to_string(), "x"));
        assert_eq!((notes.take("0"), notes.take("1").as_deref()), (None, Some("x")));
        notes.keep("long", &"x".repeat(LENGTH + 1));
        assert_eq!(notes.take("long"), None);
    }
}
