//! Values on the line below a label: `Database password:`, then the value on a line of its own or
//! in a code block.

use std::ops::Range;

use crate::assignment::{
    judge::is_quoted_word,
    marks,
    name::{NameMeaning, Strength},
    sentence::{self, is_told},
    value::{Quoting, Value},
};

/// Maximum length, in bytes, of the value and of the line that opens a code block.
const LONGEST: usize = 512;

/// A value below its label.
pub(super) struct ValueBelow {
    pub(super) range: Range<usize>,
    is_in_block: bool,
}

/// Finds the value below a label. The name at the end of the label ends at `name_end`.
pub(super) fn find(text: &str, name_end: usize) -> Option<ValueBelow> {
    let bytes = text.as_bytes();
    let mut at = sentence::closing_emphasis(bytes, name_end).unwrap_or(name_end);
    let is_question = bytes.get(at) == Some(&b'?');
    if !is_question && bytes.get(at) != Some(&b':') {
        return None;
    }
    at += 1;
    at += if bytes[at..].starts_with(b"**") { 2 } else { 0 };
    at = next_line(bytes, at)?;
    at = next_line(bytes, at).unwrap_or(at);
    let fence = bytes[at..].starts_with(b"```");
    if fence {
        let length = bytes[at..].iter().take(LONGEST).take_while(|byte| **byte != b'\n').count();
        at = next_line(bytes, at + length)?;
    }
    let line = line(text, at);
    let word = line.trim();
    let word = word.strip_prefix("> ").or_else(|| word.strip_prefix("- ")).unwrap_or(word);
    let is_quoted =
        word.len() > 2 && word.starts_with(['`', '"', '\'']) && word.ends_with(&word[..1]);
    let word = if is_quoted { &word[1..word.len() - 1] } else { word };
    let is_plain = !word.is_empty()
        && word.len() < LONGEST
        && !word.contains(char::is_whitespace)
        && !word.ends_with([':', ',', ';', '{', '[', '(', '>']);
    let start = at + line.find(word)?;
    is_plain
        .then(|| ValueBelow { range: start..start + word.len(), is_in_block: fence || is_quoted })
}

impl ValueBelow {
    /// Whether the value is a secret, given the meaning of the label.
    pub(super) fn is_secret(&self, text: &str, meaning: NameMeaning) -> bool {
        let text = &text[self.range.clone()];
        let value = Value { text, quoting: Quoting::Told, is_cut: false };
        match meaning.strength {
            Strength::Password | Strength::LikelyPassword => {
                is_told(text) || (self.is_in_block && is_quoted_word(text) && text.len() > 8)
            }
            Strength::Key | Strength::Hint => value.is_secret(meaning),
            _ => false,
        }
    }
}

/// Returns the start of the next line if only blanks are between `at` and the line break.
fn next_line(text: &[u8], at: usize) -> Option<usize> {
    let at = marks::after_blanks(text, at);
    let at = at + usize::from(text.get(at) == Some(&b'\r'));
    (text.get(at) == Some(&b'\n')).then_some(at + 1)
}

fn line(text: &str, at: usize) -> &str {
    let limit = text.floor_char_boundary(text.len().min(at + LONGEST));
    let rest = &text[at..limit];
    &rest[..rest.find('\n').unwrap_or(rest.len())]
}
