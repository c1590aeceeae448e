//! Splits texts into words, in the same way for the index and for queries.
//!
//! The texts are a mixture of prose and code, so a word of several parts is indexed twice: as its
//! *parts* (`getUserName` is `get`, `user`, `name`; `src/main.rs` is `src`, `main`, `rs`), which
//! have consecutive positions so that phrases match, and *whole* (`getusername`, `src/main.rs`) at
//! the position of its first part. The spelling of an identifier does not matter: `retryCount`,
//! `retry_count` and `retry-count` have the same parts and the same whole. Words are *folded*: case
//! and accents are removed. Scripts without spaces, and the Korean script, are split into pairs of
//! characters.
//!
//! [`stem`] finds the other forms of English words, [`language`] finds the forms of words in other
//! languages. [`stop`] lists English words with little meaning, and [`everyday`] lists words of
//! other languages that describe no subject.

pub(crate) mod distance;
pub(crate) mod everyday;
mod fold;
mod identifier;
pub(crate) mod language;
mod scan;
pub(crate) mod stem;
pub(crate) mod stop;

use std::ops::Range;

pub(crate) use self::scan::is_unspaced;

/// Maximum length, in bytes, of a part after folding. Longer parts (encoded data, minified code)
/// are omitted.
pub(crate) const LONGEST_PART: usize = 64;
/// Maximum length, in bytes, of a whole. A longer whole is omitted; its parts stay.
pub(crate) const LONGEST_WHOLE: usize = 160;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexWord<'w> {
    pub(crate) text: &'w str,
    pub(crate) form: TokenForm,
    /// The position among the parts of the text, from 0.
    pub(crate) position: u32,
    /// The byte range in the original text.
    pub(crate) span: Range<usize>,
}

impl IndexWord<'_> {
    pub(crate) fn to_owned_word(&self) -> OwnedWord {
        OwnedWord {
            text: self.text.to_owned(),
            form: self.form,
            position: self.position,
            span: self.span.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenForm {
    /// The smallest unit. A position has at most one part.
    Part,
    /// Several parts as one (an identifier, a file name, a path, an address), or a part with a mark
    /// (`.env`, `c++`).
    Whole,
}

/// Calls `emit` for each word of `text`, ordered by position. A whole comes before its first part.
pub(crate) fn each_word(text: &str, emit: &mut dyn FnMut(IndexWord<'_>)) {
    scan::scan(text, emit);
}

/// An [`IndexWord`] that owns its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedWord {
    pub(crate) text: String,
    pub(crate) form: TokenForm,
    pub(crate) position: u32,
    pub(crate) span: Range<usize>,
}

pub(crate) fn words(text: &str) -> Vec<OwnedWord> {
    let mut words = Vec::new();
    each_word(text, &mut |word| words.push(word.to_owned_word()));
    words
}

/// Returns `text` as one folded word, for names that are compared as a whole.
pub(crate) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold::fold_into(text, &mut out);
    out
}

#[cfg(test)]
mod tests;
