//! Parses shell command lines by the grammar of bash into simple commands without quotes, and finds
//! the command inside wrappers (`sudo`, `xargs`, `uv run`), which only run another command.
//!
//! The parser is the crate brush-parser. The module [`guard`] protects this parser from input that
//! makes it fail. The table `programs.txt` contains the known programs: which of them run another
//! command, which of their options take a value, and their purpose, for the classification of
//! activity.

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
