//! Determines the context of a name in its line: a setting, a separate line, or code.

use std::ops::Range;

use crate::assignment::extent;

/// Maximum number of bytes before a name that are searched for the first line of its record.
const RECORD_REACH: usize = 2_048;

/// Maximum number of bytes that are read of the line before a name.
const LINE_REACH: usize = 80;

/// Words that precede a flag in a sentence about the flag.
#[rustfmt::skip]
const SENTENCE: &[&str] = &[
    "a", "add", "added", "allow", "and", "both", "by", "for", "from", "in", "is", "missing",
    "new", "now", "of", "option", "options", "or", "pass", "renamed", "respect", "that", "the",
    "to", "use", "uses", "using", "via", "when", "with", "without",
];

/// Maximum number of words before the last word of a name.
const PHRASE_WORDS: usize = 3;
/// Maximum length, in bytes, of each of these words.
const WORD: usize = 16;

/// Maximum number of bytes before a setting that are searched for its `[section]`.
const SECTION_REACH: usize = 600;

/// Text that precedes the name of a setting.
#[rustfmt::skip]
const DECLARING: &[&str] = &[
    "export ", "ENV ", "env ", "set ", "-e ", "--env ", "ARG ", "--set ", "--set-string ",
    "--from-literal=", "-var ", "--build-arg ", "-v ", "SetEnv ", "-P",
];

/// Text before a name that a space separates from its value.
#[rustfmt::skip]
const SPACE_SEPARATED_DECLARATIONS: &[&str] = &[
    "ENV ", "SetEnv ", "setenv ", "setx ", "set -x ", "set -gx ", "set -Ux ", "fastcgi_param ",
];

/// Whether the flag at `name_start` follows a comma or a word of a sentence about flags.
pub(super) fn is_flag_of_sentence(text: &[u8], name_start: usize) -> bool {
    let before = text[name_start.saturating_sub(LINE_REACH)..name_start].trim_ascii_end();
    let is_letter = |byte: &&u8| byte.is_ascii_alphabetic();
    let length = before.iter().rev().take_while(is_letter).count();
    let word = String::from_utf8_lossy(&before[before.len() - length..]).to_ascii_lowercase();
    before.last() == Some(&b',') || SENTENCE.contains(&word.as_str())
}

/// Whether `NAME=value` is a setting: the name is in capitals or a flag, or the pair is at the
/// start of a line, after `export`, `ENV` or `-e`, in a query, in a connection string, or alone in
/// quotes.
pub(super) fn is_setting(text: &[u8], name: &Range<usize>, value_end: usize) -> bool {
    let before = &text[name.start.saturating_sub(12)..name.start];
    let line = extent::line_start(&text[name.start.saturating_sub(LINE_REACH)..name.start]);
    let is_line_start = before.is_empty()
        || (!line.is_empty() && without_line_prefix(line).is_empty())
        || matches!(before.last(), Some(b'\n' | b';' | b'?' | b'&'))
        || (before.ends_with(b"n") && before.ends_with(b"\\n"));
    let is_followed_by_pair = text.get(value_end) == Some(&b';')
        && text.get(value_end + 1).is_some_and(|byte| !byte.is_ascii_whitespace());
    let is_flag = text[name.start] == b'-';
    is_line_start
        || is_flag
        || is_upper_case(&text[name.clone()])
        || is_followed_by_pair
        || ends_with_any(&text[..name.start], DECLARING)
        || enclosing_quote(text, name)
            .is_some_and(|quote| text.get(value_end).is_none_or(|byte| *byte == quote))
}

/// Whether words before the name declare a setting, as in `ENV NAME value`.
pub(super) fn is_declared_beside(text: &[u8], name_start: usize) -> bool {
    let line = extent::line_start(&text[name_start.saturating_sub(LINE_REACH)..name_start]);
    let follows = |at: usize, words: &[u8]| line[at..].starts_with(words);
    let is_configured = (0..line.len()).any(|at| match line[at] {
        b'c' => follows(at, b"config set ") || follows(at, b"configure set "),
        b'm' => follows(at, b"mysqladmin "),
        _ => false,
    });
    ends_with_any(&text[..name_start], SPACE_SEPARATED_DECLARATIONS)
        || (is_configured && !line.ends_with(b" the "))
}

/// Whether another pair precedes the name in its line: `User: bob / Password: …`.
pub(super) fn follows_pair(text: &[u8], name_start: usize, sign: &[u8]) -> bool {
    let line = extent::line_start(&text[name_start.saturating_sub(LINE_REACH)..name_start]);
    let Some(at) = line.windows(sign.len()).position(|part| part == sign) else { return false };
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" _.-,/;:=|@".contains(byte);
    at > 0 && line[at - 1].is_ascii_alphanumeric() && line[at..].iter().all(is_plain)
}

/// Whether `name=value` is surrounded by spaces, as in logs and inventories. A quote may follow the
/// last of several pairs.
pub(super) fn is_pair(text: &[u8], name_start: usize, value_end: usize) -> bool {
    let is_begun = name_start.checked_sub(1).is_none_or(|at| text[at].is_ascii_whitespace());
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || (matches!(byte, b'"' | b'\'') && follows_pair(text, name_start, b"="))
    };
    is_begun && text.get(value_end).is_none_or(ends)
}

/// Whether the line contains only the name and its value, as in YAML, or quotes enclose both.
/// Line numbers, list markers, diff markers and prefixes of `grep` are ignored.
pub(super) fn is_whole_line(text: &[u8], name: &Range<usize>, value_end: usize) -> bool {
    let is_spaced = text.get(name.end + 1) == Some(&b' ');
    let quote = enclosing_quote(text, name).filter(|_| is_spaced);
    if quote.is_some_and(|quote| text.get(value_end) == Some(&quote)) {
        return true;
    }
    begins_line(text, before_phrase(text, name.start)) && ends_line(text, value_end)
}

/// Returns the start of the words before a name that belong to it: `Mot de passe`, `Root password`.
fn before_phrase(text: &[u8], name_start: usize) -> usize {
    let mut start = name_start;
    for _ in 0..PHRASE_WORDS {
        if !text[..start].ends_with(b" ") {
            break;
        }
        let word =
            text[..start - 1].iter().rev().take(WORD).take_while(|b| b.is_ascii_alphabetic());
        match word.count() {
            0 => break,
            length => start -= length + 1,
        }
    }
    start
}

/// Whether only decoration precedes `at` in its line.
pub(super) fn begins_line(text: &[u8], at: usize) -> bool {
    let floor = at.saturating_sub(LINE_REACH);
    let line = extent::line_start(&text[floor..at]);
    let is_decoration =
        |byte: &u8| byte.is_ascii_whitespace() || b"-+>*\"'_$\xE2\x80\xA2".contains(byte);
    without_line_prefix(line).iter().all(is_decoration)
}

/// Whether the line begins like a row of a Markdown table.
pub(super) fn is_in_row(text: &[u8], at: usize) -> bool {
    let line = extent::line_start(&text[at.saturating_sub(LINE_REACH)..at]);
    without_line_prefix(line).trim_ascii_start().starts_with(b"|")
}

/// Whether the name at `at` begins a line of a record in the expanded display of `psql`: below a
/// line such as `-[ RECORD 1 ]---`, with only lines such as `id | 1` in between.
pub(super) fn is_in_record(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(RECORD_REACH)..at];
    if !before.ends_with(b"\n") {
        return false;
    }
    let mut lines = before[..before.len() - 1].rsplit(|byte| *byte == b'\n');
    lines
        .find(|line| line.starts_with(b"-[ RECORD ") || !line.contains(&b'|'))
        .is_some_and(|line| line.starts_with(b"-[ RECORD "))
}

/// Whether the line or the text ends at `at`, possibly after `**` or a comment (` # …`).
pub(super) fn ends_line(text: &[u8], at: usize) -> bool {
    let rest = &text[at.min(text.len())..];
    let blanks = rest.iter().take(40).take_while(|byte| **byte == b' ').count();
    let is_comment = blanks > 0 && rest[blanks..].starts_with(b"# ");
    let is_end = |rest: &[u8]| matches!(rest, [] | [b'\n' | b'\r', ..] | [b'\\', b'n' | b'r', ..]);
    is_comment || is_end(rest) || rest.strip_prefix(b"**").is_some_and(is_end)
}

/// Whether a `[section]` precedes the line at `at`, with only settings in between.
pub(super) fn is_in_section(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(SECTION_REACH)..at];
    let mut lines = before.rsplit(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).skip(1);
    lines
        .find(|line| !(line.is_empty() || line.contains(&b'=') || b"#;".contains(&line[0])))
        .is_some_and(|line| line[0] == b'[' && line.ends_with(b"]"))
}

/// Returns the quote directly before the name (`-e "NAME=value"`), unless it is escaped or encloses
/// only the name.
pub(super) fn enclosing_quote(text: &[u8], name: &Range<usize>) -> Option<u8> {
    let before = *text.get(name.start.checked_sub(1)?)?;
    let is_escaped = name.start > 1 && text[name.start - 2] == b'\\';
    let is_of_name = text.get(name.end) == Some(&before);
    let is_quote = matches!(before, b'"' | b'\'' | b'`');
    (is_quote && !is_escaped && !is_of_name).then_some(before)
}

/// Whether `name` has no lower-case letters, like the name of an environment variable.
pub(super) fn is_upper_case(name: &[u8]) -> bool {
    !name.iter().any(u8::is_ascii_lowercase)
}

/// Removes the line number of an editor and the path prefix of `grep`.
fn without_line_prefix(line: &[u8]) -> &[u8] {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let path = line.iter().take_while(|byte| !byte.is_ascii_whitespace() && **byte != b':').count();
    if line.get(path) == Some(&b':') {
        let number = digits(&line[path + 1..]);
        let after = path + 1 + number;
        return if line.get(after) == Some(&b':') { &line[after + 1..] } else { line };
    }
    if let Some(after) = after_numbered_path(line) {
        return &line[after..];
    }
    let numbered = line.trim_ascii_start();
    let number = digits(numbered);
    let rest = &numbered[number..];
    match () {
        () if number > 0 && rest.starts_with("→".as_bytes()) => &rest[3..],
        () if number > 0 && rest.starts_with(b"\t") => rest,
        () => line,
    }
}

/// Returns the end of `path-12-`, which `grep` puts before context lines.
fn after_numbered_path(line: &[u8]) -> Option<usize> {
    let length = line.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    let path = line[..length].strip_suffix(b"-")?;
    let digits = path.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let is_path = digits > 0 && path[..path.len() - digits].ends_with(b"-");
    is_path.then_some(length)
}

fn ends_with_any(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| text.ends_with(word.as_bytes()))
}
