//! Parses shell command lines with a real grammar into simple commands, without quotes and without
//! the wrappers (`sudo`, `xargs`, `uv run`) that only run another command.
//!
//! The parser is brush-parser behind guards ([`guard`]). `programs.txt` is the table of known
//! programs: which of them run another command, which of their options take a value, and their
//! purpose, for the classification of activity.

pub mod args;
mod guard;
pub mod inner;
pub mod parse;
pub mod program;
mod word;

/// Returns the command line that runs `words`, with quotes where they are needed.
pub fn line_of<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    let quoted = |word: &str| {
        if !word.is_empty() && word.chars().all(plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.map(quoted).collect::<Vec<_>>().join(" ")
}
