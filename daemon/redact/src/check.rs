//! Decides whether a text that matched the pattern of a rule is a secret.

use std::ops::Range;

use crate::{
    assignment::sentence,
    basic,
    placeholder::{is_placeholder, is_plain_word},
    randomness::{entropy, looks_random},
    rule::{Check, Rule},
};

/// Maximum number of bytes before and after a code that are searched for words about its meaning.
const CONTEXT: usize = 120;

/// Maximum number of bytes of a command before one of its values.
const COMMAND: usize = 1_024;

/// Whether the match of `rule` at `range` is a secret.
pub(super) fn passes(rule: &Rule, text: &str, range: &Range<usize>) -> bool {
    let secret = &text[range.clone()];
    match rule.check {
        Check::Nothing => true,
        Check::Drawn => {
            let has_digit = secret.bytes().any(|byte| byte.is_ascii_digit());
            has_digit && looks_random(secret) && !is_placeholder(secret)
        }
        Check::Password => is_password(secret),
        Check::Chosen => {
            is_password(secret) && secret.bytes().any(|byte| byte.is_ascii_lowercase())
        }
        Check::Told => sentence::is_told(secret),
        Check::ClearlyTold => sentence::is_clearly_told(secret),
        Check::SeedWords => !secret.split([' ', ',']).any(|word| FUNCTION_WORDS.contains(&word)),
        Check::Varied => entropy(secret.as_bytes()) >= 2.5 && !is_placeholder(secret),
        Check::Mixed => {
            let is_mixed = looks_random(secret) || secret.bytes().any(|byte| byte.is_ascii_digit());
            is_mixed && entropy(secret.as_bytes()) >= 2.5 && !is_placeholder(secret)
        }
        Check::Random => looks_random(secret) && !is_placeholder(secret),
        Check::BasicPair => basic::is_pair(secret),
        Check::PinOfPerson => {
            !is_near(text, range, &ELECTRONICS) && !follows(text, range, &PIN, &VERSIONS)
        }
        Check::LoginCode => {
            is_near(text, range, &LOGIN) && !follows(text, range, &CODE, &PROGRAM_CODES)
        }
        Check::RecoveryCodes => are_recovery_codes(secret),
        Check::CardNumber => is_card_number(secret),
        Check::AccountNumber => is_account_number(secret),
        Check::OfKubernetes => {
            let start = text.ceil_char_boundary(range.start.saturating_sub(COMMAND));
            let is_of_secret = text[start..range.start].contains("create secret ");
            is_of_secret && sentence::is_told(secret)
        }
    }
}

/// Whether one of `words` is near `range`, possibly with a number: `GPIO17`.
fn is_near(text: &str, range: &Range<usize>, words: &[&str]) -> bool {
    let start = text.ceil_char_boundary(range.start.saturating_sub(CONTEXT));
    let end = text.floor_char_boundary(text.len().min(range.end + CONTEXT));
    let mut near = text[start..end].split(|c: char| !c.is_ascii_alphanumeric());
    near.any(|word| is_any_of(word.trim_end_matches(|c: char| c.is_ascii_digit()), words))
}

/// Whether one of `words` precedes the words of `name` on the line before `range`, as in `exit code
/// is`.
fn follows(text: &str, range: &Range<usize>, name: &[&str], words: &[&str]) -> bool {
    let start = text.ceil_char_boundary(range.start.saturating_sub(CONTEXT));
    let line = text[start..range.start].rsplit('\n').next().unwrap_or_default();
    let mut before =
        line.rsplit(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    before.find(|word| !is_any_of(word, name)).is_some_and(|word| is_any_of(word, words))
}

fn is_any_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Words for electronics, whose pins have numbers.
const ELECTRONICS: [&str; 10] =
    ["arduino", "board", "boards", "gpio", "gpios", "led", "leds", "pinmode", "relay", "servo"];

/// Words for logins with a code.
const LOGIN: [&str; 7] = ["2fa", "authenticator", "mfa", "otp", "sms", "totp", "verification"];

const PIN: [&str; 5] = ["code", "is", "number", "pin", "was"];

/// Words before `pin`, with which a number is a version or a date.
const VERSIONS: [&str; 6] = ["dependency", "edition", "nightly", "nixpkgs", "toolchain", "version"];

const CODE: [&str; 2] = ["code", "is"];

/// Words before `code`, with which a number is no one-time code.
const PROGRAM_CODES: [&str; 12] = [
    "area", "country", "error", "exit", "http", "postal", "response", "result", "return", "source",
    "status", "zip",
];

/// Whether most words of a list are codes: they contain digits.
fn are_recovery_codes(list: &str) -> bool {
    let is_number = |word: &&str| word.len() > 3;
    let words = list.split([' ', '\t', '\r', '\n', ',', ';']).filter(is_number);
    let (mut count, mut codes) = (0, 0);
    for word in words {
        count += 1;
        codes += usize::from(word.bytes().any(|byte| byte.is_ascii_digit()));
    }
    count > 0 && codes * 3 >= count * 2 && !is_placeholder(list)
}

/// The beginnings of card numbers that the documentation of payment services gives for tests.
const TEST_CARDS: [&str; 10] = [
    "222300", "371449", "378282", "400000", "401288", "411111", "424242", "510510", "555555",
    "601111",
];

/// Whether the digits of `text` are the number of a card: their Luhn checksum is 0.
fn is_card_number(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let value = u32::from(digit - b'0') << (at % 2);
            value / 10 + value % 10
        })
        .sum();
    sum.is_multiple_of(10)
        && entropy(digits.as_bytes()) >= 2.0
        && !TEST_CARDS.iter().any(|start| digits.starts_with(start))
}

/// Account numbers of documentation.
const TEST_ACCOUNTS: [&str; 4] = [
    "DE89370400440532013000",
    "FR1420041010050500013M02606",
    "GB29NWBK60161331926819",
    "GB82WEST12345698765432",
];

/// Whether `text` is an IBAN: its checksum modulo 97 is 1.
fn is_account_number(text: &str) -> bool {
    let number: String = text.chars().filter(|c| *c != ' ').collect();
    if !(15..=34).contains(&number.len()) || TEST_ACCOUNTS.contains(&number.as_str()) {
        return false;
    }
    let (head, tail) = number.split_at(4);
    let digits = tail.chars().chain(head.chars()).filter_map(|c| c.to_digit(36));
    let rest = digits.fold(0, |rest, value| {
        let shift = if value < 10 { 10 } else { 100 };
        (rest * shift + value) % 97
    });
    rest == 1
}

fn is_password(secret: &str) -> bool {
    secret.len() >= 2
        && !is_placeholder(secret)
        && !is_plain_word(secret)
        && !secret.starts_with("file:")
}

/// Common English words that are in no list of seed words. Text with such a word is prose.
const FUNCTION_WORDS: [&str; 7] = ["and", "are", "for", "from", "the", "which", "with"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_cards_and_accounts_are_recognised_by_their_checksums() {
        for number in ["4539 5787 6362 1486", "5425-2334-3010-9903", "374245455400126"] {
            assert!(is_card_number(number), "{number}");
        }
        for other in ["4539 5787 6362 1487", "4242424242424242", "0000000000000000"] {
            assert!(!is_card_number(other), "{other}");
        }
        for number in ["DE02 1203 0000 0000 2020 51", "AT026000000001349870"] {
            assert!(is_account_number(number), "{number}");
        }
        for other in ["DE02 1203 0000 0000 2020 52", "DE89370400440532013000", "DE02"] {
            assert!(!is_account_number(other), "{other}");
        }
    }
}
