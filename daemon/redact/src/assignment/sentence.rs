//! Passwords in sentences: `set the password to hunter22`, `use hunter22 as the password`.
//!
//! Only values that resemble secrets are accepted, because any word may follow `password to`.

use std::ops::Range;

use crate::{
    assignment::{
        extent, marks,
        reference::{self, Surrounding, is_code},
        words::is_type_name,
    },
    placeholder::{is_location, is_placeholder, is_plain_word},
    randomness::looks_random,
};

/// Maximum number of bytes before a name that are searched for a verb or a value.
const REACH: usize = 120;

/// Maximum number of words between a name and its value.
const WORDS: usize = 6;

/// Signs that are rare outside of passwords.
const SIGNS: &[u8] = b"!@#$%^*";

/// Signs that also join words, names and values.
const JOINTS: &[u8] = b"=+~?&";

/// Words between a name and its value.
#[rustfmt::skip]
const LINKS: &[&str] = &[
    "is", "was", "has", "been", "got", "will", "should", "must", "be", "needs", "set", "reset",
    "changed", "updated", "rotated", "switched", "back", "now", "temporarily", "to", "ist", "wurde",
    "auf", "soll", "muss", "neu",
];

/// The last word before the value.
const LAST_LINKS: &[&str] = &["to", "be", "auf"];

/// Signs between a name and its value.
const MARKS: &[&str] = &["-> ", "→ ", "- ", "— ", "– "];

/// The beginnings of verbs whose object is a new password: `set the password to …`.
#[rustfmt::skip]
const SETTING: &[&str] = &[
    "set", "chang", "reset", "updat", "rotat", "switch", "revert", "änder", "setz", "geänder",
    "gesetz",
];

/// The beginnings of verbs and prepositions before a password: `use hunter22 as the password`.
#[rustfmt::skip]
const USING: &[&str] = &[
    "use", "using", "enter", "put", "try", "type", "take", "with", "set", "choose", "nimm",
    "verwende", "nutze", "benutze", "mit", "and", "/",
];

/// Words after a name with which the name does not denote a secret: `as the password hash`.
#[rustfmt::skip]
const THINGS: &[&str] = &[
    "argument", "column", "field", "file", "generator", "hash", "hasher", "input", "key", "label",
    "manager", "name", "parameter", "policy", "prompt", "property", "provider", "reset",
    "setting", "store", "type", "validator", "variable",
];

/// Words that are often numbered, and names of products with a version.
#[rustfmt::skip]
const NUMBERED: &[&str] = &[
    "account", "bug", "case", "chapter", "client", "config", "day", "db", "host", "http", "issue",
    "item", "java", "level", "line", "mysql", "node", "option", "page", "part", "phase", "postgres",
    "python", "role", "round", "row", "ruby", "safari", "schema", "server", "step", "table", "task",
    "ticket", "user", "vault", "version", "win",
];

/// Parts of names of algorithms. [`is_told`] refuses a text that contains one of them.
const ALGORITHMS: &[&str] = &["argon2", "bcrypt", "scrypt", "pbkdf", "sha1", "sha2", "sha5", "md5"];

/// The last words of descriptions such as `base64-encoded`.
#[rustfmt::skip]
const DESCRIBING: &[&str] = &[
    "-encoded", "-encrypted", "-generated", "-hashed", "-managed", "-protected", "-salted",
    "-stored",
];

/// The beginnings of descriptions such as `write-only-field`.
const DESCRIPTIONS: &[&str] = &["no-longer-", "read-only-", "write-only-"];

/// Names of algorithms and encodings with the numbers that may follow them: `AES-256`, `utf-8`.
const NUMBERED_ALGORITHMS: &[(&str, &[&str])] = &[
    ("aes", &["128", "192", "256"]),
    ("argon", &["2"]),
    ("base", &["16", "32", "36", "58", "64", "85"]),
    ("hmac-sha", SIZES_OF_SHA),
    ("md", &["4", "5"]),
    ("pbkdf", &["1", "2"]),
    ("pbkdf2-hmac-sha", SIZES_OF_SHA),
    ("rsa", &["1024", "2048", "3072", "4096"]),
    ("sha", SIZES_OF_SHA),
    ("utf", &["7", "8", "16", "32"]),
];
const SIZES_OF_SHA: &[&str] = &["1", "2", "3", "224", "256", "384", "512"];
/// What may follow the number of an algorithm.
const MODES: &[&str] = &[
    "", "id", "i", "d", "url", "-url", "-gcm", "-cbc", "-ctr", "-ecb", "-xts", "-ccm", "-siv",
    "-be", "-le",
];

/// Returns the length of the words or the sign between a name and its value. `before` is the text
/// before the name, `rest` is the text after it.
pub(super) fn link(before: &[u8], rest: &[u8]) -> Option<usize> {
    if !rest.first().is_some_and(|byte| b"-fiwahbgsmnruct".contains(byte) || !byte.is_ascii()) {
        return None;
    }
    if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes())) {
        return Some(mark.len());
    }
    if let Some(length) = old_value(rest) {
        return Some(length);
    }
    let mut at = 0;
    let mut last = None;
    let mut count = 0;
    while count < WORDS
        && let Some(word) = next_word(&rest[at..])
        && let Some(known) = LINKS.iter().find(|known| known.as_bytes() == word)
    {
        at += word.len() + 1;
        last = Some(*known);
        count += 1;
    }
    let last = last.filter(|last| LAST_LINKS.contains(last) && !before.ends_with(b"from "))?;
    let colon = usize::from(rest[at..].starts_with(b": ")) * 2;
    (count > 1 || last == "be" || is_set(before)).then_some(at + colon)
}

/// Returns the length of `from OLD to ` at the start of `rest`.
fn old_value(rest: &[u8]) -> Option<usize> {
    let old = rest.strip_prefix(b"from ")?;
    let length = old.iter().take(64).take_while(|byte| !byte.is_ascii_whitespace()).count();
    old[length..].starts_with(b" to ").then_some(5 + length + 4)
}

fn next_word(rest: &[u8]) -> Option<&[u8]> {
    let length = rest.iter().take(16).take_while(|byte| byte.is_ascii_alphabetic()).count();
    (length > 0 && rest.get(length) == Some(&b' ')).then_some(&rest[..length])
}

/// Whether a verb such as `set` precedes the name in its line.
fn is_set(before: &[u8]) -> bool {
    let floor = before.len().saturating_sub(REACH);
    let line = String::from_utf8_lossy(extent::line_start(&before[floor..])).to_lowercase();
    line.split(|c: char| !c.is_alphabetic())
        .any(|word| SETTING.iter().any(|verb| word.starts_with(verb)))
}

/// Whether `rest` begins with a single word in round brackets: `the password (hunter22) works`.
pub(super) fn is_in_brackets(rest: &[u8]) -> bool {
    if rest.first() != Some(&b'(') {
        return false;
    }
    let is_inner = |byte: &&u8| !byte.is_ascii_whitespace() && !b"()\"'`,;:".contains(byte);
    let length = rest.iter().skip(1).take(64).take_while(is_inner).count();
    length >= 6 && rest.get(length + 1) == Some(&b')')
}

/// Returns the value before the name at `name`: `use hunter22 as the password`, `put hunter22 into
/// DB_PASSWORD`, `enter hunter22 when it asks for the password`.
pub(super) fn value_before(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut end = name.start.checked_sub(1)?;
    let mut asks = false;
    for _ in 0..=WORDS {
        let length =
            bytes[..end].iter().rev().take(16).take_while(|b| b.is_ascii_alphabetic()).count();
        let start = end - length;
        if length == 0 || start == 0 || bytes[start - 1] != b' ' {
            return None;
        }
        let word = &text[start..end];
        asks |= word.starts_with("ask") || word.starts_with("prompt");
        end = start - 1;
        let is_link = matches!(word, "as" | "als" | "into" | "como" | "comme")
            || (asks && matches!(word, "when" | "if" | "wenn"));
        if is_link && !is_name_of_thing(&text[name.end..]) {
            return used_word(text, end);
        }
    }
    None
}

/// Returns the word that ends at `end` if it resembles a password.
fn used_word(text: &str, end: usize) -> Option<Range<usize>> {
    let line = &text[text.ceil_char_boundary(end.saturating_sub(REACH))..end];
    let line = &line[line.rfind('\n').map_or(0, |at| at + 1)..];
    let start = line.rfind(' ').map_or(0, |at| at + 1);
    let word = line[start..].trim_matches(['"', '\'', '`', ',', '*']);
    let is_used = USING.contains(&last_word(&line[..start]).to_lowercase().as_str());
    let at = end - line.len() + start + line[start..].find(word)?;
    let is_value = if is_used { is_told(word) } else { is_clearly_told(word) };
    is_value.then_some(at..at + word.len())
}

fn is_name_of_thing(after: &str) -> bool {
    let Some(rest) = after.strip_prefix([' ', '_', '-']) else { return false };
    let length = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    THINGS.contains(&&rest[..length])
}

fn last_word(text: &str) -> &str {
    text.trim_end().rsplit([' ', '\t', '(']).next().unwrap_or("")
}

/// Whether `text` resembles a password rather than a word of a sentence.
pub(crate) fn is_told(text: &str) -> bool {
    is_told_with(text, 1)
}

/// Like [`is_told`], but letters with a single digit must look random. For weaker connections
/// between name and value.
pub(crate) fn is_clearly_told(text: &str) -> bool {
    is_told_with(text, 2)
}

fn is_told_with(text: &str, fewest_digits: usize) -> bool {
    // Checked first, because the candidate may be a long text.
    if !(6..=128).contains(&text.len()) {
        return false;
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_other = text.starts_with(['#', '@', '-', '/', '.', ':', '&'])
        || text.contains(char::is_whitespace)
        || is_placeholder(text)
        || is_plain_word(text)
        || is_location(text)
        || is_type_name(text)
        || is_numbered(text)
        || is_address(text)
        || (digits < 3 && !has_any(text, SIGNS) && reference::names_secret(text))
        || is_code(text, Surrounding::Code, false);
    !is_other && is_varied(text, digits, fewest_digits)
}

fn is_varied(text: &str, digits: usize, fewest_digits: usize) -> bool {
    let has_lower = text.bytes().any(|byte| byte.is_ascii_lowercase());
    let has_upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_mixed = has_lower && has_upper && digits > 0;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    if text.bytes().any(|byte| b"/(){}<>[];:,.\\\"'`|".contains(&byte)) {
        return is_mixed && has_any(text, SIGNS) && !text.contains(['(', '{', '[', '<', ';']);
    }
    if has_any(text, SIGNS) {
        let is_inside =
            text.trim_end_matches(['!', '*', '@', '#']).bytes().any(|b| SIGNS.contains(&b));
        return (has_lower || has_upper) && (digits > 0 || (has_lower && has_upper && is_inside));
    }
    if has_any(text, JOINTS) {
        return is_mixed && !text.contains(['-', '_']);
    }
    if !text.bytes().all(is_plain) {
        let is_phrase = text.split('-').count() >= 4
            && text
                .split('-')
                .all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()) && word.len() > 3);
        let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_numbered_phrase = (2..=4).contains(&(text.len() - stem.len()))
            && stem.split('-').count() >= 2
            && stem
                .split('-')
                .all(|word| word.len() > 4 && word.bytes().all(|byte| byte.is_ascii_lowercase()));
        return is_phrase
            || is_numbered_phrase
            || (fewest_digits == 1 && is_word_with_number(text))
            || (text.len() >= 12 && digits > 0 && looks_random(text));
    }
    if !has_lower {
        return has_upper && digits > 0 && text.len() >= 10 && looks_random(text);
    }
    let letters = text.len() - digits;
    digits > 0 && letters >= 3 && (digits >= fewest_digits || (is_mixed && looks_random(text)))
}

/// Accepts `Winter-2025` and `2025_Winter`, but not `Ticket-1234`.
fn is_word_with_number(text: &str) -> bool {
    let is_number = |part: &str| part.len() >= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = |part: &str| {
        part.len() >= 4
            && part.bytes().all(|byte| byte.is_ascii_alphabetic())
            && part.bytes().any(|byte| byte.is_ascii_lowercase())
            && part.bytes().any(|byte| byte.is_ascii_uppercase())
            && !NUMBERED.contains(&part.to_ascii_lowercase().as_str())
    };
    text.split_once(['-', '_']).is_some_and(|(left, right)| {
        (is_word(left) && is_number(right)) || (is_number(left) && is_word(right))
    })
}

/// Whether `text` describes a password: `base64-encoded`, `no-longer-used`, `AES-256-GCM`.
pub(crate) fn is_description(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    DESCRIBING.iter().any(|end| lower.ends_with(end))
        || DESCRIPTIONS.iter().any(|start| lower.starts_with(start))
        || is_algorithm(&lower)
}

/// Whether `lower`, a text in lower case, is the name of an algorithm or an encoding. A short word may
/// follow: `argon2id`, `sha-256`, `aes-256-gcm`. `rsa2024` is a password.
fn is_algorithm(lower: &str) -> bool {
    NUMBERED_ALGORITHMS.iter().any(|(name, numbers)| {
        let Some(rest) = lower.strip_prefix(name) else { return false };
        let rest = rest.strip_prefix(['-', '_']).unwrap_or(rest);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, mode) = rest.split_at(digits);
        numbers.contains(&number) && MODES.contains(&mode)
    })
}

fn has_any(text: &str, signs: &[u8]) -> bool {
    text.bytes().any(|byte| signs.contains(&byte))
}

/// Matches `user12`, `Safari17`, `argon2id`.
fn is_numbered(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let stem = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    (NUMBERED.contains(&stem) && lower.len() - stem.len() <= 2)
        || ALGORITHMS.iter().any(|name| lower.contains(name))
}

/// Matches `bob2@host.org`.
fn is_address(text: &str) -> bool {
    text.split_once('@').is_some_and(|(user, host)| {
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
        !user.is_empty() && host.contains('.') && host.bytes().all(is_host)
    })
}

/// Returns the length of the word for `is` in another language at the start of `rest`, given the
/// name.
pub(super) fn foreign_link(name: &[u8], rest: &[u8]) -> Option<usize> {
    let words: &[&str] = if name.ends_with("sło".as_bytes()) || name.ends_with(b"slo") {
        &["to ", "to: ", "jest "]
    } else {
        &["é ", "è ", "c'est ", "är ", "je "]
    };
    words.iter().find(|word| rest.starts_with(word.as_bytes())).map(|word| word.len())
}

/// If the text at `at` closes emphasis and a colon follows, returns the position of the colon:
/// `**Password**: x`.
pub(super) fn closing_emphasis(text: &[u8], at: usize) -> Option<usize> {
    if !matches!(text.get(at), Some(b'*' | b'_' | b'<')) {
        return None;
    }
    let close = ["**", "__", "*", "</b>", "</strong>"]
        .iter()
        .find(|close| text[at..].starts_with(close.as_bytes()))?;
    let after = marks::after_blanks(text, at + close.len());
    (text.get(after) == Some(&b':')).then_some(after)
}

/// Returns the length of the Chinese or Japanese word for `is`, given the name.
pub(super) fn asian_link(name: &[u8], rest: &[u8]) -> Option<usize> {
    if name.last().is_none_or(u8::is_ascii) {
        return None;
    }
    ["是", "为", "は"].iter().find(|word| rest.starts_with(word.as_bytes())).map(|word| word.len())
}
