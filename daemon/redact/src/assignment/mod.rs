//! Secrets that only the adjacent name identifies: `DB_PASSWORD=…`, `"api_key": "…"`, `--password
//! …`, `Authorization: …`.
//!
//! The decision depends on the name ([`name`]), on the syntax between name and value
//! ([`separator`]), on their position ([`position`], [`value`]) and on the value itself
//! ([`judge`]). Code such as `token = get_token()` and types such as `password: string` are not
//! redacted ([`mod@reference`]).

pub(super) mod insert;
pub(super) mod name;
pub(super) mod table;
pub(super) mod value;

mod below;
mod extent;
mod judge;
mod marks;
mod position;
mod reference;
pub(super) mod sentence;
mod separator;
mod sibling;
mod vocabulary;
mod words;

use std::ops::Range;

use memchr::{memchr2, memchr3, memmem};

use crate::{
    SecretKind,
    assignment::{
        extent::Reach,
        name::{NameMeaning, Strength},
        separator::Tie,
    },
    randomness::looks_random,
};

/// Maximum number of bytes of a name before its anchor. The whole name may have twice as many.
const NAME_REACH: usize = 64;

/// Maximum number of bytes before a bare `key`, `token` or `passe` that are searched for qualifying
/// words.
const PHRASE_REACH: usize = 24;

/// Maximum length, in bytes, of a header value.
const HEADER: usize = 8_192;

/// Returns the name around the anchor at `anchor`.
pub(super) fn name_around(text: &[u8], anchor: Range<usize>) -> Range<usize> {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let floor = anchor.start.saturating_sub(NAME_REACH);
    let left = text[floor..anchor.start].iter().rev().take_while(is_name).count();
    let mut end = anchor.end;
    loop {
        end += text[end..].iter().take_while(is_name).count();
        // `contraseña`: in UTF-8 the accented letters of Latin-1 begin with this byte.
        let is_latin = text[end..].starts_with(&[0xC3]) && end - anchor.end < NAME_REACH;
        if !is_latin || end + 2 > text.len() {
            break;
        }
        end += 2;
    }
    let start = anchor.start - left;
    start + escape_length(text, start).min(left)..end
}

/// Returns the secret value of the name at `name`, if it has one.
pub(super) fn secret_after(text: &str, name: Range<usize>) -> Option<(Range<usize>, SecretKind)> {
    if name.len() > 2 * NAME_REACH {
        return None;
    }
    let (tie, at) = separator::read(text.as_bytes(), name.start, name.end)?;
    // `密码：` is followed by a sentence rather than a password.
    let is_ascii = |at: usize| text.as_bytes().get(at).is_none_or(u8::is_ascii);
    if !is_ascii(name.start) && !is_ascii(at) {
        return None;
    }
    let meaning = meaning(text, name.clone())?;
    // `open('/etc/passwd', 'utf8')`: the name is the last segment of a path.
    if tie == Tie::Literal && name.start > 0 && text.as_bytes()[name.start - 1] == b'/' {
        return None;
    }
    let is_machine_made = matches!(meaning.strength, Strength::Key | Strength::Authorization);
    if is_machine_made && is_part_of_id(text.as_bytes(), name.start, at) {
        return None;
    }
    let is_header = matches!(meaning.strength, Strength::Authorization | Strength::Cookie);
    let is_loose = matches!(tie, Tie::Beside | Tie::Column | Tie::Cell | Tie::Prose | Tie::Told);
    if is_header && is_loose {
        return None;
    }
    let is_unquoted = marks::quote(&text.as_bytes()[at..]).is_none();
    if is_header && tie == Tie::Literal && is_unquoted {
        return None;
    }
    let found =
        if is_header && is_unquoted { header(text, at) } else { value::read(text, name, tie, at) }?;
    if !found.value.is_secret(meaning) {
        return None;
    }
    let start = found.range.start + scheme_length(meaning, found.value.text);
    Some((start..found.whole_end(text), meaning.kind))
}

/// Returns the secret value on the line below the label that ends with the name at `name`.
pub(super) fn secret_below(text: &str, name: Range<usize>) -> Option<(Range<usize>, SecretKind)> {
    let below = below::find(text, name.end)?;
    let meaning = meaning(text, name)?;
    below.is_secret(text, meaning).then_some((below.range, meaning.kind))
}

/// Returns the secret in a field before the field that contains the name at `name`.
pub(super) fn secret_in_sibling(
    text: &str,
    name: Range<usize>,
) -> Option<(Range<usize>, SecretKind)> {
    let at = sibling::earlier(text.as_bytes(), name.start)?;
    let meaning = meaning(text, name.clone())?;
    let found = value::read(text, name, Tie::Equals, at)?;
    found.value.is_secret(meaning).then(|| (found.range.clone(), meaning.kind))
}

/// Returns the secret value before the name at `name`, in a sentence such as `use hunter22 as the
/// password`.
pub(super) fn secret_before(text: &str, name: Range<usize>) -> Option<(Range<usize>, SecretKind)> {
    if !text.as_bytes()[..name.start].ends_with(b" ") || name.len() > NAME_REACH {
        return None;
    }
    let value = sentence::value_before(text, &name)?;
    let meaning = meaning(text, name)?;
    let is_accepted = match meaning.strength {
        Strength::Password | Strength::LikelyPassword => true,
        Strength::Key => looks_random(&text[value.clone()]),
        _ => false,
    };
    is_accepted.then_some((value, meaning.kind))
}

/// Returns the meaning of the name. The preceding words are also read for the French `passe` and
/// for a bare `key` or `token` (`mot de passe`, `API key`, `next page token`).
fn meaning(text: &str, name: Range<usize>) -> Option<NameMeaning> {
    let word = &text[name.clone()];
    let in_phrase = || {
        let is_phrase = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b' ';
        let floor = name.start.saturating_sub(PHRASE_REACH);
        let length = text.as_bytes()[floor..name.start].iter().rev().take_while(is_phrase).count();
        name::classify(text[name.start - length..name.end].trim_start())
    };
    if word == "passe" {
        return in_phrase();
    }
    let own = name::classify(word)?;
    let is_bare = ["key", "keys", "token", "tokens", "schlüssel"]
        .iter()
        .any(|bare| word.eq_ignore_ascii_case(bare));
    if !is_bare {
        return Some(own);
    }
    in_phrase()
}

/// Whether the name is part of an identifier: `arn:aws:secretsmanager:eu:123:secret:db`,
/// `"AWS::SecretsManager::Secret": "…"`.
fn is_part_of_id(text: &[u8], name_start: usize, at: usize) -> bool {
    let is_after_colon = text[..name_start].ends_with(b":");
    text[..name_start].ends_with(b"::") || (is_after_colon && text[..at].ends_with(b":"))
}

/// Returns the rest of the line, up to a quote or an escaped line break.
fn header(text: &str, at: usize) -> Option<value::LocatedValue<'_>> {
    let limit = text.floor_char_boundary(text.len().min(at + HEADER));
    let line = &text.as_bytes()[at..limit];
    let line = &line[..memchr3(b'\n', b'"', b'\'', line).unwrap_or(line.len())];
    let line = &line[..memchr2(b'\r', b'`', line).unwrap_or(line.len())];
    let escape =
        ["\\n", "\\r"].iter().filter_map(|escape| memmem::find(line, escape.as_bytes())).min();
    let line = &text[at..at + escape.unwrap_or(line.len())];
    let line = line.trim_end().trim_end_matches('\\');
    value::LocatedValue::new(text, at..at + line.len(), value::Quoting::Literal, Reach::Narrow)
}

/// Returns the length of an `Authorization` header's scheme, which is not redacted.
fn scheme_length(meaning: NameMeaning, value: &str) -> usize {
    match meaning.strength {
        Strength::Authorization => value.find(' ').map_or(0, |at| at + 1),
        _ => 0,
    }
}

/// Returns how many bytes at the start of the name belong to an escape (`\n`, `\u0022`, `%22`).
fn escape_length(text: &[u8], start: usize) -> usize {
    let Some(before) = start.checked_sub(1) else { return 0 };
    match (text[before], text.get(start)) {
        (b'\\', Some(b'u')) => 5,
        (b'\\', Some(b'n' | b't' | b'r' | b'b' | b'f')) => 1,
        (b'%', Some(_)) => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let at = text.to_ascii_lowercase().find("pass").unwrap();
        let name = name_around(text.as_bytes(), at..at + 4);
        secret_after(text, name).map(|(range, _)| &text[range])
    }

    #[test]
    fn passwords_are_found_in_every_notation() {
        for (text, wanted) in [
            ("PASSWORD=hunter2", "hunter2"),
            ("DB_PASSWORD=swordfish\nX=1", "swordfish"),
            ("export PGPASSWORD='my dog eats 5'", "my dog eats 5"),
            ("\"password\": \"hunter2\"", "hunter2"),
            ("{\\\"password\\\":\\\"hunter2\\\"}", "hunter2"),
            ("password: hunter2", "hunter2"),
            ("  password: swordfish\n", "swordfish"),
            ("password = \"pa\\\"ss\"", "pa\\\"ss"),
            ("password: &str = \"hunter2\";", "hunter2"),
            ("password := \"hunter2\"", "hunter2"),
            ("'password' => 'hunter2',", "hunter2"),
            ("cmd --password hunter2 --x", "hunter2"),
            ("cmd --password=hunter2", "hunter2"),
            ("the password is hunter2.", "hunter2"),
            ("<password>hunter2</password>", "hunter2"),
            ("Server=a;Password=swordfish;X=1", "swordfish"),
            ("?user=a&password=hunter2&x=1", "hunter2"),
            ("\\npassword=hunter2\\nx", "hunter2"),
            ("name: DB_PASSWORD\n  value: hunter2", "hunter2"),
            ("password: String::from(\"hunter2\")", "hunter2"),
            ("${DB_PASSWORD:-hunter2}", "hunter2"),
            ("password=\"hunter2", "hunter2"),
            ("User(name=a, password=hunter2)", "hunter2"),
            ("'passphrase': 'correct horse battery staple'", "correct horse battery staple"),
        ] {
            assert_eq!(found(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn other_values_are_not_redacted() {
        for text in [
            "password: string",
            "password: Option<String>,",
            "password = get_password()",
            "password = config.password",
            "login(user, password=password)",
            "password=$DB_PASSWORD",
            "password: process.env.DB_PASSWORD",
            "\"password\": \"your-password\"",
            "\"password\": \"Enter your password\"",
            "\"password\": \"string\"",
            "password is required",
            "--password <value>",
            "--password or --token",
            "PASSWORD=${X}",
            "password == other",
            "password=None",
            "tests pass: 12",
            "password: \"\"",
            "type=\"password\" name=\"x\"",
            "the password, hunter2",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
