//! Properties of words that distinguish passwords from names, types and messages.

use crate::randomness::looks_random;

/// Characters that are common in passwords and rare in names.
const SIGNS: &[u8] = b"!@#$%^&*+?~=";

/// Accepts text with a digit or a special character, and words with hyphens, but neither numbers of
/// up to five digits nor names of types.
pub(super) fn is_unlike_words(text: &str) -> bool {
    let has_letter = text.chars().any(char::is_alphabetic);
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let is_number = !has_letter && text.len() < 6;
    !is_number && (has_digit || has_signs(text) || is_dashed_phrase(text)) && !is_type_name(text)
}

/// Accepts text with a letter, one of [`SIGNS`], and a digit or a capital.
pub(super) fn has_signs(text: &str) -> bool {
    has_any(text, SIGNS)
}

pub(super) fn has_any(text: &str, signs: &[u8]) -> bool {
    let has_letter = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let has_sign = text.bytes().any(|byte| signs.contains(&byte));
    let is_varied = text.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    has_letter && has_sign && is_varied
}

/// Accepts `blaue-katze-am-see`: at least three words, not all of them short.
pub(super) fn is_dashed_phrase(text: &str) -> bool {
    let mut words = text.split('-');
    let are_words = words.clone().all(|word| {
        (1..=16).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    are_words
        && words.clone().count() >= 3
        && words.any(|word| word.len() >= 4)
        && !["up-to-date", "out-of-date", "end-to-end", "one-time-use", "read-only-access"]
            .contains(&text)
}

/// Whether `text` is about passwords (`auth/wrong-password`) rather than a password.
pub(super) fn mentions_password(text: &str) -> bool {
    mentions(text, &["password", "passwd", "passphrase", "required"]) || is_translated_label(text)
}

/// Whether `text` is a label in another language: `Kennwort`, `Mot de passe`, `Neues Passwort`.
fn is_translated_label(text: &str) -> bool {
    const LABELS: [&str; 18] = [
        "passwort",
        "kennwort",
        "contrase",
        "mot de passe",
        "wachtwoord",
        "hasło",
        "senha",
        "lösenord",
        "heslo",
        "şifre",
        "parola",
        "jelszó",
        "salasana",
        "пароль",
        "密码",
        "密碼",
        "パスワード",
        "비밀번호",
    ];
    let lower = text.to_lowercase();
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit() || b"!@#$%^&*+=".contains(&byte));
    !has_digit && LABELS.iter().any(|label| lower.contains(label))
}

/// Whether `text` is about secrets of any kind: `db-credentials`, `github-access-token`.
pub(super) fn mentions_secret(text: &str) -> bool {
    mentions_password(text)
        || mentions(text, &["secret", "credential", "token", "key", "cert", "config"])
}

pub(super) fn mentions(text: &str, words: &[&str]) -> bool {
    let lower = text.to_ascii_lowercase();
    words.iter().any(|word| lower.contains(word))
        && !text.bytes().any(|byte| byte.is_ascii_digit() || b"!@#$%^&*+=".contains(&byte))
}

/// Names of types and algorithms that end with a number (`u32`, `sha256`), without the number.
#[rustfmt::skip]
const SIZED_TYPES: &[&str] = &[
    "argon", "base", "bcrypt", "f", "float", "hs", "i", "int", "md", "ntlmv", "oauth", "pbkdf",
    "rs", "sha", "str", "u", "uint", "utf", "v", "vec",
];

/// Accepts type names (`CharArray`, `SecretStr`, `__u32`), and numbers such as `0x1F`.
pub(super) fn is_type_name(text: &str) -> bool {
    let name = text.trim_start_matches('_').trim_end_matches("_t");
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let lower = stem.to_ascii_lowercase();
    let is_sized = SIZED_TYPES.contains(&lower.as_str());
    let is_named = name == stem
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !has_digits_inside(name)
        && !looks_random(name);
    is_sized || is_named || is_hex_literal(text)
}

pub(super) fn is_hex_literal(text: &str) -> bool {
    text.starts_with("0x") && text.bytes().skip(2).all(|byte| byte.is_ascii_hexdigit())
}

/// Accepts `Falcon41berlin`, but neither `OAuth2Token` nor `Vec3f`.
pub(super) fn has_digits_inside(name: &str) -> bool {
    name.as_bytes()
        .windows(3)
        .any(|bytes| bytes[0].is_ascii_digit() && bytes[1..].iter().all(u8::is_ascii_lowercase))
}
