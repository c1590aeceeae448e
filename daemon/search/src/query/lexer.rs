//! Splits a query into phrases, filters and other text.

use jiff::Zoned;

use crate::{
    query::{Filter, fields},
    text,
};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum QueryToken<'t> {
    Free(&'t str),
    /// The prefix of a word, without the star.
    Prefix(&'t str),
    /// A word with its preceding minus. [`items`] decides whether the word is excluded, and returns
    /// this token only for a word that is searched because of its form (`-Wall`), at a place where
    /// a plain word is excluded.
    MinusWord(&'t str),
    /// Quoted text, or a word that a minus excludes.
    Phrase {
        text: &'t str,
        is_negated: bool,
    },
    Filter {
        filter: Filter,
        is_negated: bool,
    },
    /// A filter whose value is invalid. The text is searched as words.
    InvalidFilter {
        text: &'t str,
        form: &'static str,
    },
}

impl QueryToken<'_> {
    fn is_searched(&self) -> bool {
        use QueryToken::{Free, InvalidFilter, Phrase, Prefix};
        matches!(
            self,
            Free(_) | Prefix(_) | InvalidFilter { .. } | Phrase { is_negated: false, .. }
        )
    }

    /// Whether the token is a filter or an exclusion, or may become an exclusion.
    fn is_restriction(&self) -> bool {
        use QueryToken::{Filter, MinusWord, Phrase};
        match self {
            MinusWord(word) => is_plain(word),
            Filter { .. } | Phrase { is_negated: true, .. } => true,
            _ => false,
        }
    }
}

/// Splits `text` at white space outside of quotes.
///
/// Pasted text, which is text with several lines or a line of a log, is read as words, because its
/// characters are not meant as search syntax. Filters before a line of a log stay filters.
pub(super) fn items<'t>(text: &'t str, now: &Zoned) -> Vec<QueryToken<'t>> {
    let text = text.trim();
    if text.contains('\n') {
        return vec![QueryToken::Free(text)];
    }
    let (mut items, mut rest) = leading_filters(text, now);
    if is_log_line(rest) {
        items.push(QueryToken::Free(rest));
        return items;
    }
    let is_command = is_command(text);
    while !rest.is_empty() {
        let (item, length) = item(rest, now);
        items.push(item);
        rest = rest[length..].trim_start();
    }
    let has_no_words = items.iter().all(QueryToken::is_restriction);
    let first_word = items.iter().position(QueryToken::is_searched);
    let mut is_end = true;
    for index in (0..items.len()).rev() {
        let has_words_before = first_word.is_some_and(|first| first < index);
        let is_option = is_command || is_after_program(&items[..index]);
        let item = &mut items[index];
        if let QueryToken::MinusWord(word) = *item {
            let is_after_words = is_end && has_words_before && !is_option;
            *item = if has_no_words || is_after_words && is_plain(word) {
                let text = word[1..].trim_end_matches(PUNCTUATION);
                QueryToken::Phrase { text, is_negated: true }
            } else if is_after_words {
                QueryToken::MinusWord(word)
            } else {
                QueryToken::Free(word)
            };
        }
        is_end &=
            matches!(item, QueryToken::Phrase { is_negated: true, .. } | QueryToken::Filter { .. });
    }
    items
}

/// Returns the filters at the start of `text`, and the text after them.
fn leading_filters<'t>(text: &'t str, now: &Zoned) -> (Vec<QueryToken<'t>>, &'t str) {
    let mut filters = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (filter @ QueryToken::Filter { .. }, length) = item(rest, now) else { break };
        filters.push(filter);
        rest = rest[length..].trim_start();
    }
    (filters, rest)
}

/// Whether `text` looks like a line of a log: it begins with a time, or it contains a level such as
/// `level=info`.
fn is_log_line(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let is_date = |word: &str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        digits >= 6
            && word.bytes().all(|byte| byte.is_ascii_digit() || b"-:/.,TZ+[]".contains(&byte))
    };
    let is_time = |word: &str| word.matches(':').count() == 2 && is_date(word);
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    is_time(first)
        || is_date(first) && (first.contains('T') || is_time(second))
        || text.split_ascii_whitespace().any(|word| word.starts_with("level="))
}

/// Whether `text` looks like a command line, whose words with a minus are options.
fn is_command(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    // `npm -yarn` excludes a word; `ssh host -vvv` is a command line.
    let has_argument = words.next().is_some_and(|word| !word.starts_with('-'));
    PROGRAMS.contains(&first)
        || has_argument && SHELL_PROGRAMS.contains(&first)
        || text.split_ascii_whitespace().any(|word| {
            let flag = word.strip_prefix('-').unwrap_or_default();
            flag.starts_with('-') || flag.len() == 1 || flag.contains('=')
        })
}

/// Whether a word with a minus after `items` is an option in a sentence, because the text before
/// the word names the use of an option ("compiles with -wall") or the command of a program ("after
/// cargo build -release"). Ignores other words with a minus in between.
fn is_after_program(items: &[QueryToken<'_>]) -> bool {
    let mut before = items.iter().rev().filter(|item| !matches!(item, QueryToken::MinusWord(_)));
    let mut word_before = || match before.next() {
        Some(QueryToken::Free(word)) => *word,
        _ => "",
    };
    let (last, second_last) = (word_before(), word_before());
    OPTION_WORDS.iter().any(|word| last.eq_ignore_ascii_case(word))
        || second_last == "run"
        || SHELL_PROGRAMS.contains(&second_last) && !PROSE_PROGRAMS.contains(&second_last)
}

/// Words before an option in a sentence.
const OPTION_WORDS: &[&str] =
    &["with", "using", "uses", "use", "used", "flag", "flags", "option", "options", "run"];

/// Programs of [`SHELL_PROGRAMS`] whose names are usual words inside of a sentence.
const PROSE_PROGRAMS: &[&str] = &["make", "git", "docker", "python", "ruby", "ssh", "helm"];

/// Programs whose options have one dash and several letters.
const PROGRAMS: &[&str] = &[
    "clang",
    "clang++",
    "ffmpeg",
    "find",
    "g++",
    "gcc",
    "go",
    "java",
    "javac",
    "ld",
    "openssl",
    "packer",
    "perl",
    "tar",
    "terraform",
    "tofu",
];

/// Further programs. Their names are also usual words of a query, so their first argument must not
/// be an option.
const SHELL_PROGRAMS: &[&str] = &[
    "cargo", "cmake", "curl", "docker", "git", "gradle", "helm", "kubectl", "make", "mvn", "npm",
    "php", "python", "python3", "ruby", "rustc", "ssh", "vim",
];

/// Whether a word after a minus may be an excluded word rather than an option such as `-Wall`.
fn is_plain(word: &str) -> bool {
    let word = word[1..].trim_end_matches(PUNCTUATION).trim_end_matches('*');
    !word.chars().any(char::is_uppercase) && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns the token at the start of `rest`, which is not empty, and its length in bytes.
fn item<'t>(rest: &'t str, now: &Zoned) -> (QueryToken<'t>, usize) {
    let (is_negated, body) = match rest.strip_prefix('-') {
        Some(body) if !body.starts_with('-') => (true, body),
        _ => (false, rest),
    };
    let sign = rest.len() - body.len();
    if let Some((text, length)) = quoted(body) {
        return (QueryToken::Phrase { text, is_negated }, sign + length);
    }
    if let Some((filter, length)) = filter(body, now) {
        return (QueryToken::Filter { filter, is_negated }, sign + length);
    }
    if let Some((form, length)) = invalid_filter(body) {
        let text = &rest[..sign + length];
        return (QueryToken::InvalidFilter { text, form }, text.len());
    }
    let length = sign + body.find(char::is_whitespace).unwrap_or(body.len());
    let word = &rest[..length];
    if is_negated && !is_flag(&word[sign..]) {
        return (QueryToken::MinusWord(word), length);
    }
    match prefix(word) {
        Some(prefix) => (QueryToken::Prefix(prefix), length),
        None => (QueryToken::Free(word), length),
    }
}

/// Returns the quoted text at the start of `rest`, and its length including the quotes.
fn quoted(rest: &str) -> Option<(&str, usize)> {
    let open = rest.chars().next()?;
    let marks: &[char] = match open {
        '"' => &['"'],
        '\u{201c}' => &['\u{201d}'],
        // German closes with the first mark, Polish and others with the second.
        '\u{201e}' => &['\u{201c}', '\u{201d}'],
        '\u{ab}' => &['\u{bb}'],
        '\u{bb}' => &['\u{ab}'],
        _ => return None,
    };
    let inside = &rest[open.len_utf8()..];
    let (length, close) = inside.char_indices().find(|(_, c)| marks.contains(c))?;
    Some((&inside[..length], open.len_utf8() + length + close.len_utf8()))
}

/// Returns a filter at the start of `rest`, and its length.
fn filter(rest: &str, now: &Zoned) -> Option<(Filter, usize)> {
    let (name, value, length) = name_and_value(rest)?;
    Some((fields::filter(name, value, now)?, length))
}

/// If `rest` begins with a filter whose value is invalid, returns the values that the filter
/// accepts, and the length of the filter.
fn invalid_filter(rest: &str) -> Option<(&'static str, usize)> {
    let (name, value, length) = name_and_value(rest)?;
    let form = fields::filter_form(name)?;
    value.contains(char::is_alphanumeric).then_some((form, length))
}

/// Splits a `name:value` at the start of `rest`, and returns its length.
fn name_and_value(rest: &str) -> Option<(&str, &str, usize)> {
    let end = rest.find(|c: char| !c.is_ascii_alphabetic())?;
    let (name, after) = (&rest[..end], rest[end..].strip_prefix(':')?);
    // `file:///x` is an address, `at::x` a name in a module.
    if after.starts_with("//") || after.starts_with(':') {
        return None;
    }
    let (value, length) = quoted(after).unwrap_or_else(|| {
        let length = after.find(char::is_whitespace).unwrap_or(after.len());
        (&after[..length], length)
    });
    Some((name, value.trim_end_matches([',', ';', '?', '!']), name.len() + 1 + length))
}

/// Whether the text after a minus is a command-line option (`-m`, `-rf`) or contains no word, so
/// that it is not an excluded word.
fn is_flag(word: &str) -> bool {
    let ascii = word.bytes().filter(u8::is_ascii_alphanumeric).count();
    let is_short = word.is_ascii() && ascii <= 2;
    is_short || !word.starts_with(char::is_alphanumeric) || text::words(word).is_empty()
}

/// Punctuation after a word, which is not a part of the word.
const PUNCTUATION: &[char] = &[',', ';', '?', '!', ')', '.'];

/// Returns `word` without its final star. A single letter is not accepted, because it is the prefix
/// of too many words, except in a script without spaces.
fn prefix(word: &str) -> Option<&str> {
    let word = word.trim_end_matches(PUNCTUATION);
    let stem = word.strip_suffix('*')?;
    let last = stem.chars().next_back().filter(|c| c.is_alphanumeric())?;
    let letters = stem.chars().rev().take_while(|c| c.is_alphanumeric()).count();
    (letters >= 2 || text::is_unspaced(last)).then_some(stem)
}
