//! Checks each parser with arbitrary bytes: it does not panic, its work and its results are
//! bounded, and reading in parts gives the same result as reading at once. Most parsers have
//! further guarantees.
//!
//! Each parser has one entry in [`PARSERS`]. `tests/tests/hostile/parsers.rs` runs each check for a
//! short time in every build; `tests/fuzz` runs the checks without a time limit.

mod disk;
mod format;
mod hook;
mod import;
mod mutate;
mod redact;
mod reply;
mod screen;
mod search;
mod settings;
mod shell;
mod socket;
mod tail;
mod template;
mod transcript;

pub use self::mutate::{Mutator, seeds, seeds_folder};

/// A parser and its guarantees.
pub struct Parser {
    /// The name of the fuzz target, and of the folder of its seeds.
    pub name: &'static str,
    /// Panics if a guarantee does not hold for these bytes.
    pub check: fn(&[u8]),
    /// Words that have a meaning for the parser.
    pub words: &'static [&'static str],
}

/// Every parser of external data.
pub static PARSERS: &[Parser] = &[
    Parser { name: "transcript", check: transcript::check, words: transcript::WORDS },
    Parser { name: "format", check: format::check, words: format::WORDS },
    Parser { name: "tail", check: tail::check, words: tail::WORDS },
    Parser { name: "socket", check: socket::check, words: socket::WORDS },
    Parser { name: "hook", check: hook::check, words: hook::WORDS },
    Parser { name: "settings", check: settings::check, words: settings::WORDS },
    Parser { name: "template", check: template::check, words: template::WORDS },
    Parser { name: "reply", check: reply::check, words: reply::WORDS },
    Parser { name: "search", check: search::check, words: search::WORDS },
    Parser { name: "import", check: import::check, words: import::WORDS },
    Parser { name: "redact", check: redact::check, words: redact::WORDS },
    Parser { name: "screen", check: screen::check, words: screen::WORDS },
    Parser { name: "shell", check: shell::check, words: shell::WORDS },
    Parser { name: "disk", check: disk::check, words: disk::WORDS },
];

/// Returns the parser with this name.
///
/// # Panics
/// When no parser has this name.
pub fn parser(name: &str) -> &'static Parser {
    PARSERS.iter().find(|parser| parser.name == name).expect("a parser of this name")
}

/// Converts bytes to text in the same way as the readers of the daemon.
fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
