//! Reads seeds, and mutates them. This small mutator runs in every build and always creates the same
//! inputs; `cargo fuzz` has a better mutator.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Maximum length of an input: longer inputs take long and find little.
const MAX_INPUT_BYTES: usize = 16 << 10;

/// Returns the folder with the seeds of a parser.
pub fn seeds_folder(parser: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(parser)
}

/// Returns the seeds of a parser, in the order of their names.
pub fn seeds(parser: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(seeds_folder(parser)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let read = |file: PathBuf| {
        let bytes = fs::read(&file).expect("a seed can be read");
        (file.display().to_string(), bytes)
    };
    files.into_iter().map(read).collect()
}

/// Creates inputs from seeds. The inputs are the same in every run.
pub struct Mutator {
    state: u64,
}

impl Mutator {
    pub fn new(seed: u64) -> Mutator {
        Mutator { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    /// Returns a number below `limit`, which is above 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) as usize % limit
    }

    /// Returns one of the seeds, changed in a few places.
    pub fn change(&mut self, seeds: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..1 + self.below(6) {
            self.change_once(&mut bytes, seeds, words);
        }
        bytes.truncate(MAX_INPUT_BYTES);
        bytes
    }

    fn change_once(&mut self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[&str]) {
        let at = self.below(bytes.len() + 1);
        let end = at + self.below((bytes.len() - at).min(64) + 1);
        match self.below(9) {
            0 => drop(bytes.drain(at..end)),
            1 if at < bytes.len() => bytes[at] = self.byte(),
            2 => bytes.insert(at, self.byte()),
            3 => bytes.truncate(at),
            4 => {
                let piece = bytes[at..end].to_vec();
                let times = 1 + self.below(8);
                bytes.splice(at..at, piece.repeat(times));
            }
            5 => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len() + 1);
                let to = from + self.below(other.len() - from + 1);
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            6 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            _ => {
                let all: [&[&str]; 2] = [words, WORDS];
                let list = all[self.below(2)];
                let word = if list.is_empty() { "" } else { list[self.below(list.len())] };
                bytes.splice(at..end, word.bytes());
            }
        }
    }

    fn byte(&mut self) -> u8 {
        const SPECIAL: &[u8] =
            b"\0\t\n\r\x1b\" '\\/{}[]():,.-*<>&;|$`#%=@!?0189aAzZ\x7f\x80\xbf\xc3\xe2\xf0\xff";
        match self.below(2) {
            0 => SPECIAL[self.below(SPECIAL.len())],
            _ => u8::try_from(self.below(256)).expect("a byte"),
        }
    }
}

/// Words that have a meaning for most parsers.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\":",
    "\\\"",
    "\\u0000",
    "\\ud800",
    "\\q",
    "null",
    "true",
    "-1",
    "1e999",
    "0",
    "18446744073709551616",
    "9223372036854775807",
    "\n",
    "\r\n",
    "\u{feff}",
    "\u{202e}",
    "\u{200b}",
    "\u{1b}[2J",
    "\u{0}",
    "é",
    "日本",
    "\u{1f600}",
    "e\u{301}",
    "İ",
    "ß",
    "\u{fffd}",
    " ",
    "\t",
    "../",
    "~/",
    "C:\\",
    "[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
    "--",
    "<x>",
    "```",
];
