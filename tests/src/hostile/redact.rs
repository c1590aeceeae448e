//! Checks that redacting again changes nothing, and that text without secrets stays the same.

use std::sync::LazyLock;

use graphitid::redact::Redactor;
use serde_json::Value;

pub(super) static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::new);

pub(super) const WORDS: &[&str] = &[
    "password",
    "PASSWORD=",
    "api_key",
    "token: ",
    "secret",
    "Authorization: ",
    "Bearer ",
    "Basic ",
    "Cookie: a=",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "ghp_",
    "AKIA",
    "sk-",
    "eyJ",
    "://a:",
    "@",
    "[REDACTED:",
    "[REDACTED:token]",
    "&quot;",
    "%3D",
    "\\u0022",
    "mysql -p",
    "curl -u ",
    "hunter2swordfish",
    "MIIEvQIBADANBgkqhkiG9w0BAQEF",
    "=>",
    "${",
    ":-",
    "||",
    "PGPASSWORD=Falcon!Berlin41 ",
    "password: |\n  ",
    "| User | Password |\n|---|---|\n",
    "| a | swordfish1 |\n",
    "user,password\n",
    "bob,swordfish1\n",
    "--password ",
    "-e \"DB_PASSWORD=",
    "<key>Password</key><string>",
    "type=\"password\" value=\"",
    "contrase\u{f1}a: ",
    "key.pem:3:",
    "mnemonic: ",
    "[client]\npassword = ",
    "Falcon(Berlin<41&x;y",
];

pub(super) fn check(bytes: &[u8]) {
    let text = super::text(bytes);
    let once = REDACTOR.redact(&text);
    // Private keys within each other need one pass each, and one call makes at most sixteen passes.
    let more = text.matches("PRIVATE KEY").count() / 16;
    let again = |text: String| REDACTOR.redact(&text).text.into_owned();
    let clean = (0..more).fold(once.text.clone().into_owned(), |text, _| again(text));
    let twice = REDACTOR.redact(&clean);
    assert_eq!(clean, twice.text, "redacting again changes something");
    assert!(twice.counts.is_empty(), "redacting again finds something");
    if once.counts.is_empty() {
        assert_eq!(once.text, text, "text without secrets was changed");
    }
    // A replacement is short, and a secret has several characters.
    assert!(once.text.len() <= 16 * text.len() + 64, "the text grew");
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        let mut once = value;
        (0..=more).for_each(|_| drop(REDACTOR.redact_value(&mut once)));
        let mut twice = once.clone();
        REDACTOR.redact_value(&mut twice);
        assert_eq!(once, twice, "redacting JSON again changes something");
    }
}
