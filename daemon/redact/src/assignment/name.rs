//! Classifies names by the kind of value that they denote.

use std::borrow::Cow;

use crate::{
    SecretKind,
    assignment::vocabulary::{ASPECTS, MAPPING, NEUTRAL, OPEN, PASSING, PROVIDERS, UNLOCKING},
};

/// Parts of names: in a text, only names that contain one of them are found and classified. Many
/// parts lack the first letter, so that two parts (`oken`, `OKEN`) cover three spellings (`Token`,
/// `token`, `TOKEN`).
#[rustfmt::skip]
pub(crate) const ANCHORS: &[&str] = &[
    "pass", "Pass", "PASS", "pw", "Pw", "PW", "ecret", "ECRET", "oken", "OKEN", "key", "Key",
    "KEY", "redential", "REDENTIAL", "auth", "Auth", "AUTH", "ookie", "OOKIE", "PSK", "psk",
    // Words of other languages in ASCII.
    "ennwort", "ENNWORT", "eheimnis", "EHEIMNIS", "chluessel", "CHLUESSEL",
    "ugangsdaten", "ZUGANGSDATEN", "ontrase", "CONTRASE", "clave", "Clave", "CLAVE",
    "redencial", "REDENCIAL", "mdp", "MDP", "senha", "Senha", "SENHA", "achtwoord",
    "ACHTWOORD", "haslo", "HASLO", "hrase", "HRASE", "creds", "CREDS", "ccess_code", "CCESS_CODE", "ccessCode",
    "ccess code",
    "heslo", "Heslo",
    // Words of other languages with other letters.
    "chlüssel", "CHLÜSSEL", "hasło", "Hasło", "HASŁO", "ösenord", "ÖSENORD", "şifre", "Şifre", "ŞIFRE",
    "ароль", "АРОЛЬ", "密码", "密碼",
    "口令", "パスワード", "비밀번호",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameMeaning {
    /// How certain it is that the value is a secret.
    pub(crate) strength: Strength,
    /// The kind of the secret, which is shown in its replacement.
    pub(crate) kind: SecretKind,
    /// Whether the name is written as an environment variable and is specific enough that any
    /// plausible value is a secret: `ADMIN_API_KEY`, but neither `KEY` nor `TOKEN_FILE`.
    pub(crate) is_variable: bool,
}

/// The certainty that the value is a secret, and its expected form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    /// A password. People choose passwords, so the value may consist of words.
    Password,
    /// A password under an ambiguous name (`pass`): a plain word is not accepted.
    LikelyPassword,
    /// A password under a name with a further word (`PASSWORD_MYSQL`): the value must resemble a
    /// secret.
    QualifiedPassword,
    /// A generated key or token: the value must look random.
    Key,
    /// Possibly a key: the value must be long, random and not a hash.
    Hint,
    /// A key, or the base64 of a user and a password.
    Credential,
    /// The `Authorization` header: a scheme and credentials.
    Authorization,
    /// The `Cookie` and `Set-Cookie` headers.
    Cookie,
}

/// Maximum number of words of a name that are considered.
const WORDS: usize = 10;

/// Classifies a `name` such as `DB_PASSWORD`, `spring.mail.password` or `x-api-key`.
pub(crate) fn classify(name: &str) -> Option<NameMeaning> {
    let name = name.trim_matches(['-', '.', '_']);
    // The last segment of `auth.token` is decisive, unless it is only `.value`.
    let name = name.strip_suffix(".value").unwrap_or(name);
    let segment = name.rsplit('.').next().unwrap_or(name);
    let mut words = [""; WORDS];
    let count = split(segment, &mut words);
    let words = &words[..count];
    let (at, (strength, kind)) = words
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, word)| own_word(&words[..at], word).map(|found| (at, found)))?;
    let rest = &words[at + 1..];
    // Vault's `secret_id` is a secret, while a `key_id` is not.
    let is_secret_id = kind == "secret"
        && strength == Strength::Key
        && matches!(rest, [word] if word.eq_ignore_ascii_case("id"));
    let strength = if is_secret_id { strength } else { after(strength, segment, rest)? };
    let is_specific_enough = match strength {
        Strength::QualifiedPassword => false,
        Strength::Password | Strength::LikelyPassword | Strength::Key => true,
        Strength::Hint => at > 0 && kind == "secret" && !is_among(MAPPING, words[at - 1]),
        Strength::Credential if is_among(&["credential"], words[at]) => at > 0,
        Strength::Credential => !is_among(&["auth", "creds"], words[at]),
        Strength::Authorization | Strength::Cookie => false,
    };
    let has_neutral_rest = is_secret_id || rest.iter().all(|word| is_neutral(word));
    let kind = match strength {
        Strength::Key | Strength::Hint => provider(words).unwrap_or(kind),
        _ => kind,
    };
    let is_variable = is_specific_enough && has_neutral_rest && is_upper_case(segment);
    Some(NameMeaning { strength, kind: SecretKind(kind), is_variable })
}

/// Returns the meaning of `word`, given the preceding words.
fn own_word(before: &[&str], word: &str) -> Option<(Strength, &'static str)> {
    let previous = before.last().copied().unwrap_or("");
    let is = |wanted: &[&str]| wanted.iter().any(|end| word.eq_ignore_ascii_case(end));
    let ends = |wanted: &[&str]| wanted.iter().any(|end| ends_with(word, end));
    if may_end_password(word)
        && (ends(&["password", "passwd", "passphrase", "passcode", "passwort", "pwd", "psk"])
            || is(&[
                "passw",
                "dbpass",
                "userpass",
                "rootpass",
                "adminpass",
                "smtppass",
                "mailpass",
            ])
            || is_joined_password(previous, word)
            || (is(&["pass", "phrase", "pw"])
                && !before.is_empty()
                && !is_open(previous)
                && !is_among(PASSING, previous))
            || is_password_in_other_language(before, word))
    {
        return Some((Strength::Password, "password"));
    }
    if (is(&["pass"]) || word == "pw" || word == "PW") && !is_among(PASSING, previous) {
        return Some((Strength::LikelyPassword, "password"));
    }
    if is(&["authorization"]) {
        return Some((Strength::Authorization, "authorization"));
    }
    if is(&["cookie", "cookies"]) {
        return Some((Strength::Cookie, "cookie"));
    }
    if ends(&["token", "tokens"]) {
        let is_public = before.ends_with(&["Public", "Key"]);
        return (!is_open(previous) && !is_public).then_some((Strength::Key, "token"));
    }
    if is(&["secret"]) && previous.eq_ignore_ascii_case("existing") {
        return None;
    }
    if ends(&["secret", "secrets", "geheimnis"]) || is(&["secreto", "secreta"]) {
        return Some((Strength::Key, "secret"));
    }
    if ends(&["apikey", "secretkey", "accesskey", "privatekey", "authkey", "signingkey"]) {
        return Some((Strength::Key, "api-key"));
    }
    if is(&["key", "keys", "schlüssel", "schluessel"]) {
        let unlocks = UNLOCKING.iter().any(|word| ends_with(previous, word));
        let kind = if previous.eq_ignore_ascii_case("private") { "private-key" } else { "api-key" };
        return match () {
            () if is_open(previous) => None,
            () if unlocks => Some((Strength::Key, kind)),
            () => Some((Strength::Hint, "secret")),
        };
    }
    let is_credential =
        is(&["creds", "credential", "credentials", "auth", "zugangsdaten", "credenciales"]);
    is_credential.then_some((Strength::Credential, "secret"))
}

/// Whether the last letters of `word` end a word for a password. Most words in names end otherwise.
fn may_end_password(word: &str) -> bool {
    let [.., before, last] = word.as_bytes() else { return false };
    let ends: [&[u8; 2]; 17] = [
        b"rd", b"wd", b"ss", b"se", b"de", b"rt", b"sk", b"sw", b"pw", b"dp", b"na", b"ia", b"ve",
        b"ha", b"lo", b"re", b"th",
    ];
    !before.is_ascii()
        || !last.is_ascii()
        || ends.contains(&&[before.to_ascii_lowercase(), last.to_ascii_lowercase()])
}

/// Matches words that are joined with `pass` or `pw` (`sshpass`, `rootpw`), and pairs of words such
/// as `access code`.
fn is_joined_password(previous: &str, word: &str) -> bool {
    let is = |wanted: &[&str]| wanted.iter().any(|end| word.eq_ignore_ascii_case(end));
    let follows = |wanted: &str| previous.eq_ignore_ascii_case(wanted);
    match word.as_bytes() {
        [.., b's' | b'S'] => is(&[
            "storepass",
            "keypass",
            "ftppass",
            "ldappass",
            "bindpass",
            "authpass",
            "sshpass",
            "pgpass",
            "mysqlpass",
            "sqlpass",
            "vaultpass",
            "sudopass",
        ]),
        [.., b'w' | b'W'] => is(&[
            "rootpw", "bindpw", "dbpw", "sqlpw", "userpw", "adminpw", "sshpw", "mypw", "pgpw",
            "sudopw",
        ]),
        [.., b'h' | b'H'] => is(&["auth"]) && follows("rediscli"),
        [.., b'd' | b'D'] => is(&["word"]) && follows("pass"),
        [.., b'e' | b'E'] => is(&["code"]) && follows("access"),
        _ => false,
    }
}

/// Matches words for a password that are not English.
fn is_password_in_other_language(before: &[&str], word: &str) -> bool {
    let lower = if word.is_ascii() { Cow::Borrowed(word) } else { word.to_lowercase().into() };
    let is = |wanted: &[&str]| wanted.iter().any(|end| lower.eq_ignore_ascii_case(end));
    let is_passe =
        is(&["passe"]) && before.last().is_some_and(|word| *word == "de" || *word == "DE");
    is_passe
        || ends_with(word, "kennwort")
        || ends_with(word, "wachtwoord")
        || is(&["contraseña", "contrasena", "contrasenia", "clave", "senha", "motdepasse", "mdp"])
        || is(&["hasło", "haslo", "lösenord", "heslo", "şifre", "пароль", "ароль"])
        || (!word.is_ascii() && is_asian_password(word))
}

fn is_asian_password(word: &str) -> bool {
    ["密码", "密碼", "口令", "パスワード", "비밀번호"].iter().any(|end| word.ends_with(end))
}

/// Returns the strength of a name in which the words `rest` follow the word for the secret; `None`
/// if the name denotes something else.
fn after(strength: Strength, segment: &str, rest: &[&str]) -> Option<Strength> {
    if rest.iter().all(|word| is_neutral(word)) {
        return Some(strength);
    }
    if matches!(strength, Strength::Password | Strength::LikelyPassword) {
        let is_qualified = !rest.iter().any(|word| is_among(ASPECTS, word));
        return is_qualified.then_some(Strength::QualifiedPassword);
    }
    // `TOKEN_ACME` may be a token of Acme, `TOKEN_TYPE` is not one; the value decides.
    is_upper_case(segment).then_some(Strength::Hint)
}

fn is_neutral(word: &str) -> bool {
    word.len() == 1 || is_among(NEUTRAL, word)
}

fn is_upper_case(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_uppercase())
        && !name.bytes().any(|byte| byte.is_ascii_lowercase())
}

fn is_among(words: &[&str], word: &str) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn provider(words: &[&str]) -> Option<&'static str> {
    PROVIDERS
        .iter()
        .find(|(name, _)| words.iter().any(|word| word.eq_ignore_ascii_case(name)))
        .map(|(_, kind)| *kind)
}

fn is_open(word: &str) -> bool {
    is_among(OPEN, word)
}

fn ends_with(word: &str, end: &str) -> bool {
    word.len() >= end.len()
        && word.as_bytes()[word.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
}

/// Splits at characters other than letters and digits, and at changes of case (`accessKeyID`), and
/// removes digits at the end of a word, except in `auth0`. Returns the number of words. If there
/// are more than [`WORDS`], only the last words are kept.
fn split<'n>(name: &'n str, words: &mut [&'n str; WORDS]) -> usize {
    let bytes = name.as_bytes();
    let mut count = 0;
    let mut start = 0;
    for at in 0..=bytes.len() {
        if at < bytes.len() && !begins_word(bytes, at) && is_word_byte(bytes[at]) {
            continue;
        }
        let word = &name[start..at];
        let trimmed = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let word = if trimmed.eq_ignore_ascii_case("auth") { word } else { trimmed };
        if !word.is_empty() {
            if count == WORDS {
                words.rotate_left(1);
                count -= 1;
            }
            words[count] = word;
            count += 1;
        }
        start = at + usize::from(bytes.get(at).is_some_and(|byte| !is_word_byte(*byte)));
    }
    count
}

/// Whether `byte` belongs to a letter or a digit of any alphabet.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Whether the byte at `at` is a capital that starts a word.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    if at == 0 || !bytes[at].is_ascii_uppercase() {
        return false;
    }
    let follows_lower = bytes[at - 1].is_ascii_lowercase() || bytes[at - 1].is_ascii_digit();
    let leads_lower =
        bytes[at - 1].is_ascii_uppercase() && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    follows_lower || leads_lower
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strength(name: &str) -> Option<Strength> {
        classify(name).map(|meaning| meaning.strength)
    }

    #[test]
    fn names_of_passwords() {
        for name in [
            "password",
            "PASSWORD",
            "DB_PASSWORD",
            "dbPassword",
            "spring.datasource.password",
            "PGPASSWORD",
            "MYSQL_ROOT_PASSWORD",
            "passwd",
            "user_pass",
            "DB_PASS",
            "rootPw",
            "PASSWORD_PROD",
            "new-password",
            "passphrase",
            "password1",
            "wifi_psk",
            "mypassword",
        ] {
            assert_eq!(strength(name), Some(Strength::Password), "{name}");
        }
    }

    #[test]
    fn names_of_keys() {
        for name in [
            "token",
            "access_token",
            "authToken",
            "_authToken",
            "x-api-key",
            "apiKey",
            "APIKEY",
            "OPENAI_API_KEY",
            "client_secret",
            "clientSecret",
            "SECRET_KEY_BASE",
            "AccountKey",
            "aws_secret_access_key",
            "secretAccessKey",
            "privateKey",
            "signing_key",
            "secret_id",
            "X-Auth-Token",
            "accessToken.value",
            "TOKEN2",
            "API key",
            "Secret access key",
            "client-key-data",
        ] {
            assert_eq!(strength(name), Some(Strength::Key), "{name}");
        }
    }

    #[test]
    fn names_that_hint() {
        assert_eq!(strength("pass"), Some(Strength::LikelyPassword));
        for name in ["key", "STRIPE_KEY", "TOKEN_ACME", "cosmosKey"] {
            assert_eq!(strength(name), Some(Strength::Hint), "{name}");
        }
        for name in ["auth", "_auth", "credentials"] {
            assert_eq!(strength(name), Some(Strength::Credential), "{name}");
        }
    }

    #[test]
    fn other_names_are_ignored() {
        for name in [
            "token_count",
            "tokenType",
            "max_tokens",
            "input_tokens",
            "next_page_token",
            "tokenizer",
            "public_key",
            "primaryKey",
            "keyboard",
            "keyword",
            "monkey",
            "author",
            "authority",
            "password_hash",
            "passwordField",
            "password.length",
            "secret_name",
            "key_id",
            "bypass",
            "compass",
            "passed",
            "secretary",
            "authenticate",
            "--password-stdin",
            "api_key_env",
            "next page token",
        ] {
            assert_eq!(strength(name), None, "{name}");
        }
    }

    #[test]
    fn a_provider_in_the_name_is_the_kind() {
        for (name, kind) in [
            ("MISTRAL_API_KEY", "mistral-key"),
            ("DD_API_KEY", "datadog-key"),
            ("aws_secret_access_key", "aws-secret-key"),
            ("AUTH0_CLIENT_SECRET", "auth0-secret"),
            ("API_KEY", "api-key"),
            ("DB_PASSWORD", "password"),
        ] {
            assert_eq!(
                classify(name).map(|meaning| meaning.kind),
                Some(SecretKind(kind)),
                "{name}"
            );
        }
    }
}
