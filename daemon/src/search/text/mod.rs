//! The words of a text, cut the same way for what is indexed and for what is asked.
//!
//! Text here is half prose, half code, so a word is cut twice: into its *parts* (`getUserName` is
//! `get`, `user`, `name`; `src/main.rs` is `src`, `main`, `rs`), which have positions one after the
//! other, so that phrases work; and kept *whole* (`getusername`, `src/main.rs`) at the position of
//! its first part. How an identifier is spelled does not matter: `retryCount`, `retry_count` and
//! `retry-count` have the same parts and the same whole. Letters are folded: case and accents go.
//! Scripts written without spaces are cut into pairs of characters.
//!
//! What a word means is left to [`stem`] (other forms of it) and [`stop`] (words that say nothing).

mod fold;
mod identifier;
mod scan;
pub(crate) mod stem;
pub(crate) mod stop;

use std::ops::Range;

pub(crate) use self::scan::is_unspaced;

/// Parts longer than this many bytes (after folding) are not words anyone searches for: encoded
/// data, minified code. They are left out.
pub(crate) const LONGEST_PART: usize = 64;
/// Wholes longer than this many bytes are left out; their parts stay.
pub(crate) const LONGEST_WHOLE: usize = 160;

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexWord<'w> {
    pub(crate) text: &'w str,
    /// What kind of cut it is.
    pub(crate) form: TokenForm,
    /// Its place among the parts of the text, from 0.
    pub(crate) position: u32,
    /// The bytes of the original text that it stands for.
    pub(crate) span: Range<usize>,
}

/// What kind of cut a [`IndexWord`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenForm {
    /// The smallest piece; every position has exactly one.
    Part,
    /// Several parts as one: an identifier, a file name, a path, an address.
    Whole,
}

/// Calls `emit` for each word of `text`, by position, a whole before its first part.
pub(crate) fn each_word(text: &str, emit: &mut dyn FnMut(IndexWord<'_>)) {
    scan::scan(text, emit);
}

/// A [`IndexWord`] that owns its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedWord {
    pub(crate) text: String,
    pub(crate) form: TokenForm,
    pub(crate) position: u32,
    pub(crate) span: Range<usize>,
}

/// The words of a short text.
pub(crate) fn words(text: &str) -> Vec<OwnedWord> {
    let mut words = Vec::new();
    each_word(text, &mut |word| {
        words.push(OwnedWord {
            text: word.text.to_owned(),
            form: word.form,
            position: word.position,
            span: word.span,
        });
    });
    words
}

/// `text` as one folded word, whatever is in it: for names that are compared as a whole.
pub(crate) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold::fold_into(text, &mut out);
    out
}

#[cfg(test)]
mod tests;
