//! Decides whether a value is a secret, given its name and its delimiters.

use crate::{
    assignment::{
        name::{NameMeaning, Strength},
        reference::{self, Surrounding, is_code},
        sentence::{is_clearly_told, is_description, is_told},
        value::{JUDGED, Quoting, Value},
        words::{
            has_any, has_signs, is_dashed_phrase, is_hex_literal, is_type_name, is_unlike_words,
            mentions_password, mentions_secret,
        },
    },
    basic,
    placeholder::{is_hash, is_label, is_location, is_placeholder, is_plain_word},
    randomness::looks_random,
};

/// The characters of `words::SIGNS` that occur neither in escapes nor in queries.
const STRONG_SIGNS: &[u8] = b"!@#$^*";

/// The beginnings of public keys in base64, which are not secret.
const PUBLIC_KEYS: [&str; 4] = ["MFkwEwYHKoZI", "MIIBIjANBgkq", "MCowBQYDK2Vw", "MIICIjANBgkq"];

/// Words that follow a flag in a sentence about the flag.
#[rustfmt::skip]
const PROSE: &[&str] = &[
    "accepts", "after", "also", "asks", "before", "but", "command", "description", "either",
    "given", "into",
    "it", "only", "present", "prompts", "specified", "supplied", "takes", "then", "unless",
    "using", "via", "was", "were", "when", "which", "will", "works",
];

impl Value<'_> {
    /// Whether the value is a secret, given the meaning of its name.
    pub(crate) fn is_secret(self, meaning: NameMeaning) -> bool {
        let text = self.text.trim();
        let text = &text[..text.floor_char_boundary(text.len().min(JUDGED))];
        if text.chars().count() < 3 || is_placeholder(text) {
            return false;
        }
        if meaning.is_variable && self.is_plausible_variable(text) {
            return true;
        }
        match meaning.strength {
            Strength::Password => self.is_password(text),
            Strength::LikelyPassword => self.is_likely_password(text, meaning),
            Strength::QualifiedPassword => self.is_setting() && is_clearly_told(text),
            Strength::Key if matches!(self.quoting, Quoting::Beside | Quoting::Cell) => {
                self.is_hinted(text)
            }
            Strength::Key if matches!(self.quoting, Quoting::Told | Quoting::ToldInQuotes) => {
                (self.is_key(text) && text.len() >= 12) || self.is_told_key(text)
            }
            Strength::Key => {
                self.is_key(text) || self.is_strong(text, meaning) || self.is_told_key(text)
            }
            Strength::Hint => self.is_hinted(text),
            Strength::Credential => {
                self.is_hinted(text) || basic::is_pair(text) || self.is_told_pair(text)
            }
            Strength::Authorization => is_authorization(text),
            Strength::Cookie => is_cookie(text),
        }
    }

    /// Whether the value is plausible for a variable whose name alone denotes a secret.
    fn is_plausible_variable(self, text: &str) -> bool {
        let is_number = text.len() < 6 && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_constant = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let is_set = match self.quoting {
            Quoting::QuotedSetting | Quoting::Field => text.len() <= 200,
            Quoting::Setting => !is_code(text, Surrounding::Settings, self.is_cut),
            _ => false,
        };
        is_set
            && text.len() >= 4
            && !is_number
            && !is_hex_literal(text)
            && !is_constant
            && !is_plain_word(text)
            && !is_location(text)
            && !mentions_password(text)
    }

    fn is_password(self, text: &str) -> bool {
        let first = text.split('|').next().unwrap_or(text);
        if is_plain_word(first) || is_location(text) || mentions_password(text) {
            return false;
        }
        if text.contains(char::is_whitespace) {
            return match self.quoting {
                Quoting::QuotedSetting => text.len() <= 200,
                Quoting::Literal | Quoting::Field => is_phrase(text),
                _ => false,
            };
        }
        let is_identifier = text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let is_code_in = |surrounding| is_code(text, surrounding, self.is_cut);
        match self.quoting {
            Quoting::Literal | Quoting::QuotedSetting | Quoting::Field => true,
            Quoting::Argument => is_argument_password(text),
            Quoting::Beside => is_bare_word_password(text),
            Quoting::Cell => {
                text.len() >= 4 && is_unlike_words(text) && !is_code_in(Surrounding::Code)
            }
            Quoting::Setting => !is_code_in(Surrounding::Settings),
            Quoting::Pair => {
                text.len() >= 4
                    && !is_code_in(Surrounding::Settings)
                    && !(is_identifier && (self.is_cut || reference::names_secret(text)))
            }
            Quoting::Assigned => {
                text.len() >= 4 && !is_identifier && !is_code(text, Surrounding::Code, true)
            }
            Quoting::Line => {
                text.len() >= 4
                    && !is_code_in(Surrounding::Settings)
                    && !is_type_name(text)
                    && !(is_identifier && (text.contains('_') || reference::names_secret(text)))
            }
            Quoting::Flag => {
                text.len() >= 4
                    && !is_code_in(Surrounding::Settings)
                    && !is_type_name(text)
                    && !is_label(text)
                    && !PROSE.contains(&text)
            }
            Quoting::Last => {
                !is_code_in(Surrounding::Settings)
                    && text.len() >= 4
                    && is_unlike_words(text)
                    && !is_description(text)
            }
            Quoting::Told => is_told(text),
            Quoting::ToldInQuotes => is_told(text) || is_quoted_word(text),
            Quoting::Prose | Quoting::Bare => self.is_bare_password(text),
        }
    }

    fn is_bare_password(self, text: &str) -> bool {
        let is_word =
            text.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-.:/[]".contains(&byte));
        text.len() >= 4
            && (!is_word || is_dashed_phrase(text))
            && !is_code(text, Surrounding::Code, true)
            && !is_type_name(text)
            && !is_description(text)
    }

    /// Accepts `{ user: "bob", pass: "hunter2" }`, but neither `pass: 12` nor `PASS: TestLogin2`.
    fn is_likely_password(self, text: &str, meaning: NameMeaning) -> bool {
        let is_tied = matches!(
            self.quoting,
            Quoting::Literal
                | Quoting::Field
                | Quoting::QuotedSetting
                | Quoting::Setting
                | Quoting::Flag
        );
        let is_plain =
            text.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-.:/".contains(&byte));
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let is_message = text.contains(char::is_whitespace);
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let is_mixed = text.bytes().filter(u8::is_ascii_digit).count() > 1
            && text.bytes().any(|byte| byte.is_ascii_uppercase())
            && text.bytes().any(|byte| byte.is_ascii_lowercase());
        // Accepts `pass: hunter2`, but not `PASS: addr2line` of a test's output.
        let is_line = self.quoting == Quoting::Line && !meaning.is_variable;
        if is_line && (has_signs(text) || (has_digit && !text.contains('_'))) {
            return !is_number && !is_message && self.is_password(text);
        }
        match self.quoting {
            Quoting::Told | Quoting::ToldInQuotes | Quoting::Prose => is_told(text),
            Quoting::Last => is_clearly_told(text) && !meaning.is_variable,
            Quoting::Pair => is_clearly_told(text),
            Quoting::Bare => is_mixed && !meaning.is_variable && is_clearly_told(text),
            Quoting::Line | Quoting::Cell => {
                is_mixed && has_any(text, b"!$^*") && is_clearly_told(text)
            }
            _ => is_tied && !is_plain && !is_number && !is_message && self.is_password(text),
        }
    }

    /// Whether the value belongs to a setting or a field.
    fn is_setting(self) -> bool {
        matches!(
            self.quoting,
            Quoting::Literal
                | Quoting::Field
                | Quoting::QuotedSetting
                | Quoting::Setting
                | Quoting::Pair
                | Quoting::Line
                | Quoting::Flag
        )
    }

    /// Whether the value of `auth` or `creds` is a password, or a user and a password.
    fn is_told_pair(self, text: &str) -> bool {
        let (user, password) = text.split_once(':').unwrap_or(("", text));
        let is_user =
            user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte));
        self.is_setting() && is_user && is_clearly_told(password)
    }

    /// Whether a key in a sentence resembles a password that a person chose.
    fn is_told_key(self, text: &str) -> bool {
        let is_sentence = matches!(
            self.quoting,
            Quoting::Told | Quoting::ToldInQuotes | Quoting::Prose | Quoting::Last
        );
        is_sentence && has_any(text, STRONG_SIGNS) && is_clearly_told(text)
    }

    fn is_key(self, text: &str) -> bool {
        let is_literal = matches!(
            self.quoting,
            Quoting::Literal | Quoting::QuotedSetting | Quoting::Field | Quoting::Argument
        );
        let is_public = PUBLIC_KEYS.iter().any(|start| text.starts_with(start));
        if text.len() < 8 || text.contains(char::is_whitespace) || is_location(text) || is_public {
            return false;
        }
        if text.contains('@') && text.contains('.') && !looks_random(text) {
            return false;
        }
        (is_literal || !is_code(text, Surrounding::Code, true)) && looks_random(text)
    }

    /// Whether the value of a key is a setting and resembles a password that a person chose.
    fn is_strong(self, text: &str, meaning: NameMeaning) -> bool {
        let is_setting = matches!(
            self.quoting,
            Quoting::QuotedSetting
                | Quoting::Setting
                | Quoting::Line
                | Quoting::Pair
                | Quoting::Flag
        );
        let is_told = self.quoting == Quoting::Literal
            && text.bytes().filter(u8::is_ascii_digit).count() > 1
            && is_clearly_told(text);
        let is_pointer = is_type_name(text.trim_end_matches(['*', '&', '?', '!']));
        let is_phrase = is_dashed_phrase(text) && meaning.kind.as_str() != "token";
        (is_setting || is_told)
            && text.len() >= 8
            && (is_phrase || has_any(text, STRONG_SIGNS))
            && !is_pointer
            && !text.contains(char::is_whitespace)
            && !is_plain_word(text)
            && !is_location(text)
            && !mentions_secret(text)
            && !is_code(text, Surrounding::Code, true)
    }

    fn is_hinted(self, text: &str) -> bool {
        let parts = text.split(['-', '_', '.', ':', '/']);
        let drawn: usize = parts
            .filter(|part| part.len() >= 8 && !is_hash(part) && looks_random(part))
            .map(str::len)
            .sum();
        text.len() >= 20 && drawn * 10 >= text.len() * 6 && !is_hash(text) && self.is_key(text)
    }

    /// Whether a cell is a secret, given the meaning of the column's heading.
    pub(crate) fn is_secret_in_column(self, meaning: NameMeaning) -> bool {
        let text = self.text.trim();
        if !(3..=JUDGED).contains(&text.len())
            || text.contains(char::is_whitespace)
            || is_placeholder(text)
        {
            return false;
        }
        let is_password = !is_plain_word(text) && !is_location(text) && !mentions_password(text);
        match meaning.strength {
            Strength::Password => is_password && self.is_column_password(text),
            Strength::LikelyPassword | Strength::QualifiedPassword => {
                is_password && is_unlike_words(text)
            }
            Strength::Key => self.is_key(text) || (has_signs(text) && is_password),
            _ => false,
        }
    }

    /// Accepts any word in a CSV file or in the answer to an SQL query, and only text unlike
    /// ordinary words in a Markdown table.
    fn is_column_password(self, text: &str) -> bool {
        self.quoting == Quoting::Literal || (text.len() >= 4 && is_unlike_words(text))
    }
}

/// Accepts the second argument of `("password", "hunter2")`, but not `"scram-sha-256"`, which may
/// be the next word of a list.
fn is_argument_password(text: &str) -> bool {
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-.:/[]".contains(&byte));
    let has_upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_type = is_type_name(text);
    has_signs(text) || (!is_word && !is_type && (has_upper || !text.contains(['-', '/', '.', ':'])))
}

/// Whether `text`, which only spaces separate from a name such as `password`, is a password: a
/// single word of 6 to 64 bytes with letters and digits. A text with `=` is accepted only if a
/// digit precedes the first `=` and the text resembles a password clearly.
fn is_bare_word_password(text: &str) -> bool {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_one_word = !text.contains(['_', '/', '.', ':', '(', '-', '=']);
    if text.contains('=') && is_clearly_told(text) {
        return text
            .split_once('=')
            .is_some_and(|(left, _)| left.ends_with(|c: char| c.is_ascii_digit()));
    }
    (6..=64).contains(&text.len()) && has_digit && has_letter && is_one_word && !is_type_name(text)
}

/// Accepts `"swordfish"`, but neither short nor capitalised words, which may be labels.
pub(super) fn is_quoted_word(text: &str) -> bool {
    (7..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase())
        && !is_label(text)
        && !reference::names_secret(text)
}

/// Whether `text` is a passphrase rather than a label or a message.
fn is_phrase(text: &str) -> bool {
    text.len() <= 200 && !is_label(text) && text.split_whitespace().count() <= 12
}

/// Accepts `Bearer abc…`, `Basic …`, `Digest username="…", …`, or a bare key.
fn is_authorization(text: &str) -> bool {
    let (scheme, rest) = text.split_once(' ').unwrap_or(("", text));
    let rest = rest.trim();
    if rest.is_empty() || is_placeholder(rest) || is_plain_word(rest) {
        return false;
    }
    let is_scheme = !scheme.is_empty()
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if rest.starts_with('=') || (!is_scheme && !scheme.is_empty()) {
        return false;
    }
    if rest.contains(' ') {
        return is_scheme
            && rest.contains('=')
            && rest.split([',', ' ', '"', '=']).any(looks_random);
    }
    basic::is_pair(rest)
        || looks_random(rest)
        || (is_scheme && rest.len() >= 6 && rest.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Accepts `name=value; name=value` if at least one value looks random.
fn is_cookie(text: &str) -> bool {
    text.split(';').any(|pair| {
        pair.split_once('=').is_some_and(|(name, value)| {
            !name.ends_with(' ')
                && value.len() >= 8
                && !is_placeholder(value)
                && looks_random(value)
        })
    })
}
