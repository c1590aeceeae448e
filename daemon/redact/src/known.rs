//! Remembers the secrets of a session, so that they are also replaced where nothing marks them:
//! "Uploaded with hunter2-Xk9" after a prompt with `password: hunter2-Xk9`.
//!
//! A secret is remembered as its length and a keyed hash. Some values are not remembered, because
//! other text may contain them: short values, values without a letter, names such as `db-creds-v2`,
//! descriptions such as `AES-256-GCM`, parts of code such as `$request-`, and values without a digit
//! or one of `!#$%&*+?@^~` unless they look random.

use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    SecretKind,
    ansi::PlainText,
    assignment::sentence::is_description,
    placeholder::{is_location, is_variable},
    randomness::looks_random,
    replaced,
    scan::{Finding, MARK, is_edge, merged},
};

/// Minimum length, in bytes, of a remembered secret.
const SHORTEST: usize = 8;
/// Maximum length, in bytes, of a remembered secret.
const LONGEST: usize = 128;
/// Maximum number of remembered secrets. Above this number, the secret that was recognised longest
/// ago is dropped.
const MAX_SECRETS: usize = 64;
/// Number of hexadecimal digits of a stored hash. Another text is unlikely to have the same hash by
/// chance. The key is stored with the hashes, so somebody who has both can test guesses of weak
/// passwords.
const HASH_DIGITS: usize = 12;
/// Maximum number of candidates in one text that are hashed. Above the limit, only whole words
/// between white space are hashed. A text usually exceeds the limit only if it has about a megabyte
/// without white space.
const MAX_HASHES: usize = 1 << 20;

/// The secrets that were recognised in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSecrets {
    /// The key of the hashes. Without a key, no secret is remembered.
    key: String,
    secrets: Vec<HashedSecret>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct HashedSecret {
    length: usize,
    hash: SecretHash,
    kind: SecretKind,
}

/// The keyed hash of a secret, with [`HASH_DIGITS`] digits. The hash is stored as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SecretHash(u64);

impl KnownSecrets {
    /// Creates an empty list. `key` is a random text.
    pub fn new(key: String) -> KnownSecrets {
        KnownSecrets { key, secrets: Vec::new() }
    }

    /// Whether the list has a key for its hashes.
    pub fn has_key(&self) -> bool {
        !self.key.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Remembers a secret, unless other text may contain the same words.
    pub(super) fn note(&mut self, secret: &str, kind: SecretKind) {
        let secret = secret.trim_matches(is_around_secret);
        let is_usable = is_distinctive(secret)
            && !is_name(secret)
            && !is_location(secret)
            && !is_variable(secret)
            && !is_description(secret);
        if !self.has_key() || !is_usable {
            return;
        }
        let hash = SecretHash::of(&self.digest(), secret);
        let is_same = |known: &HashedSecret| known.length == secret.len() && known.hash == hash;
        if let Some(at) = self.secrets.iter().position(is_same) {
            let known = self.secrets.remove(at);
            self.secrets.push(known);
            return;
        }
        if self.secrets.len() >= MAX_SECRETS {
            self.secrets.remove(0);
        }
        self.secrets.push(HashedSecret { length: secret.len(), hash, kind });
    }

    /// Like [`findings`](KnownSecrets::findings), but also finds secrets inside and beside control
    /// sequences of a terminal.
    pub(super) fn findings_beside_colours(&self, text: &str) -> Vec<Finding> {
        let mut findings = self.findings(text);
        let plain = if self.is_empty() { None } else { PlainText::of(text) };
        let Some(plain) = plain else { return findings };
        for finding in self.findings(&plain.text) {
            let range = plain.original(finding.range.clone());
            findings.push(finding.at(range));
        }
        merged(findings)
    }

    /// Returns the remembered secrets in `text`, in order and without overlap.
    pub(super) fn findings(&self, text: &str) -> Vec<Finding> {
        if self.is_empty() {
            return Vec::new();
        }
        KnownSecretSearch::new(self, text, MAX_HASHES).run()
    }

    /// Replaces the remembered secrets in all values of `value`.
    pub fn replace_in(&self, value: &mut Value) {
        let mut pending = vec![value];
        while let Some(value) = pending.pop().filter(|_| !self.is_empty()) {
            match value {
                Value::String(text) => {
                    let findings = self.findings_beside_colours(text);
                    if !findings.is_empty() {
                        *text = replaced(text, &findings);
                    }
                }
                Value::Array(items) => pending.extend(items),
                Value::Object(fields) => pending.extend(fields.values_mut()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }

    /// Returns a digest that has read the key.
    fn digest(&self) -> Sha256 {
        let mut digest = Sha256::new();
        digest.update(self.key.as_bytes());
        digest.update([0]);
        digest
    }
}

/// The search for remembered secrets in one text. The number of its hashes is bounded.
struct KnownSecretSearch<'k, 't> {
    known: &'k KnownSecrets,
    text: &'t str,
    /// The digest before it reads a candidate.
    digest: Sha256,
    /// The lengths of the remembered secrets in descending order.
    lengths: Vec<usize>,
    /// The number of candidates that may still be hashed. When it is 0, only whole words between
    /// white space are hashed.
    hashes_left: usize,
    findings: Vec<Finding>,
}

impl<'k, 't> KnownSecretSearch<'k, 't> {
    fn new(
        known: &'k KnownSecrets,
        text: &'t str,
        hashes_left: usize,
    ) -> KnownSecretSearch<'k, 't> {
        let mut lengths: Vec<usize> = known.secrets.iter().map(|secret| secret.length).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        lengths.dedup();
        let digest = known.digest();
        KnownSecretSearch { known, text, digest, lengths, hashes_left, findings: Vec::new() }
    }

    fn run(mut self) -> Vec<Finding> {
        let mut start = 0;
        for word in self.text.as_bytes().split(u8::is_ascii_whitespace) {
            let range = start..start + word.len();
            start = range.end + 1;
            self.search_word(range);
        }
        self.findings
    }

    /// Searches text without white space.
    fn search_word(&mut self, word: Range<usize>) {
        let bytes = self.text.as_bytes();
        let shortest = self.lengths.last().copied().unwrap_or(SHORTEST);
        let mut at = word.start;
        let mut letter = at;
        while at + shortest <= word.end {
            letter = letter.max(at);
            letter += bytes[letter..word.end]
                .iter()
                .position(u8::is_ascii_alphabetic)
                .unwrap_or(word.end - letter);
            if bytes[at].is_ascii_alphanumeric() && !is_edge(bytes, at, b"") {
                at += 1;
                continue;
            }
            match self.secret_at(at, letter, &word) {
                Some(finding) => {
                    at = finding.range.end;
                    self.findings.push(finding);
                }
                None => at += 1,
            }
        }
    }

    /// Returns the longest remembered secret that begins at `at`. `letter` is the position of the
    /// next letter.
    fn secret_at(&mut self, at: usize, letter: usize, word: &Range<usize>) -> Option<Finding> {
        let KnownSecretSearch { text, .. } = *self;
        for index in 0..self.lengths.len() {
            let range = at..at + self.lengths[index];
            let is_candidate = range.end <= word.end
                && letter < range.end
                && is_complete(text.as_bytes(), &range)
                && [range.start, range.end].iter().all(|edge| text.is_char_boundary(*edge));
            let is_hashed = is_candidate && {
                let is_within_limit = self.hashes_left > 0;
                self.hashes_left = self.hashes_left.saturating_sub(1);
                is_within_limit || range == self.trimmed(word)
            };
            if let Some(kind) = is_hashed.then(|| self.kind_of(&text[range.clone()])).flatten() {
                return Some(Finding::known(range, kind));
            }
        }
        None
    }

    /// Returns the range of `word` without the signs that [`KnownSecrets::note`] removes.
    fn trimmed(&self, word: &Range<usize>) -> Range<usize> {
        let whole = &self.text[word.clone()];
        let rest = whole.trim_start_matches(is_around_secret);
        let start = word.end - rest.len();
        start..start + rest.trim_end_matches(is_around_secret).len()
    }

    fn kind_of(&self, candidate: &str) -> Option<SecretKind> {
        let hash = SecretHash::of(&self.digest, candidate);
        let is_same = |known: &&HashedSecret| known.length == candidate.len() && known.hash == hash;
        self.known.secrets.iter().rev().find(is_same).map(|known| known.kind)
    }
}

impl SecretHash {
    /// `digest` has read the key.
    fn of(digest: &Sha256, secret: &str) -> SecretHash {
        let digest: [u8; 32] = digest.clone().chain_update(secret).finalize().into();
        let last = digest.last_chunk().copied().expect("a digest has 32 bytes");
        SecretHash(u64::from_be_bytes(last) >> (64 - 4 * HASH_DIGITS))
    }
}

impl Serialize for SecretHash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{:0digits$x}", self.0, digits = HASH_DIGITS))
    }
}

impl<'de> Deserialize<'de> for SecretHash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SecretHash, D::Error> {
        let digits = String::deserialize(from)?;
        u64::from_str_radix(&digits, 16).map(SecretHash).map_err(serde::de::Error::custom)
    }
}

/// Whether `c` is a sign of punctuation that is not part of a secret at its start or end.
fn is_around_secret(c: char) -> bool {
    ".,;:'\"`".contains(c)
}

/// Whether the end of `range` is not inside a run of letters and digits.
fn is_complete(bytes: &[u8], range: &Range<usize>) -> bool {
    let is_alphanumeric = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    !is_alphanumeric(range.end) || !is_alphanumeric(range.end - 1)
}

/// Whether `text` has the length of a secret, no white space and a letter, and either looks random
/// or contains a digit or a symbol.
fn is_distinctive(text: &str) -> bool {
    if !(SHORTEST..=LONGEST).contains(&text.len()) {
        return false;
    }
    let is_symbol = |byte: u8| b"!#$%&*+?@^~".contains(&byte);
    let (mut has_letter, mut has_other) = (false, false);
    for byte in text.bytes() {
        if byte.is_ascii_whitespace() || byte.is_ascii_control() {
            return false;
        }
        has_letter |= byte.is_ascii_alphabetic();
        has_other |= byte.is_ascii_digit() || is_symbol(byte);
    }
    has_letter && (has_other || looks_random(text)) && !text.contains(MARK)
}

/// Whether `text` consists of lower-case words, some of them with a short number: `db-creds-v2`,
/// `shop2024`.
fn is_name(text: &str) -> bool {
    let is_word = |word: &str| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_number = letters.is_empty() && word.len() <= 4;
        word.len() - letters.len() <= 4
            && letters.bytes().all(|byte| byte.is_ascii_lowercase())
            && (is_number || !letters.is_empty())
    };
    text.split(['-', '_', '.', '/']).all(is_word)
}

impl Serialize for SecretKind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for SecretKind {
    /// A kind that is unknown, because a newer version wrote it, is read as `secret`.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SecretKind, D::Error> {
        let name = String::deserialize(from)?;
        Ok(SecretKind::of_name(&name).unwrap_or(SecretKind("secret")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Redactor;

    #[test]
    fn a_secret_is_replaced_wherever_it_is_repeated() {
        let mut known = known();
        let prompt =
            redact("user bob and password: hunter2-Xk9, use hunter2-Xk9 twice", &mut known);
        assert_eq!(
            prompt,
            "user bob and password: [REDACTED:password], use [REDACTED:password] twice"
        );
        for (text, wanted) in [
            ("Uploaded with hunter2-Xk9.", "Uploaded with [REDACTED:password]."),
            ("`hunter2-Xk9`", "`[REDACTED:password]`"),
            ("a\\nhunter2-Xk9\\nb", "a\\n[REDACTED:password]\\nb"),
            (
                "bob:hunter2-Xk9@host, (hunter2-Xk9)",
                "bob:[REDACTED:password]@host, ([REDACTED:password])",
            ),
            ("hunter2-Xk91 xhunter2-Xk9 hunter2", "hunter2-Xk91 xhunter2-Xk9 hunter2"),
        ] {
            assert_eq!(redact(text, &mut known), wanted);
        }
    }

    #[test]
    fn colours_hide_no_remembered_secret() {
        let mut known = known();
        redact("password: hunter2-Xk9", &mut known);
        for text in ["\u{1b}[32mhunter2-Xk9\u{1b}[0m", "\u{1b}[1mhun\u{1b}[0mter2-Xk9"] {
            let clean = redact(text, &mut known);
            assert!(clean.contains("[REDACTED:password]") && !clean.contains("ter2"), "{clean:?}");
        }
        redact("password: Tr0ub\u{1b}[1m4dor-77x", &mut known);
        assert_eq!(redact("Tr0ub4dor-77x", &mut known), "[REDACTED:password]");
    }

    #[test]
    fn a_secret_in_a_json_value_is_remembered() {
        let mut known = known();
        let mut input = json!({ "text": "log in with Tr0ub4dor-77x", "password": "Tr0ub4dor-77x" });
        Redactor::new().redact_value_of_session(&mut input, &mut known);
        let mark = "[REDACTED:password]";
        assert_eq!(input, json!({ "text": format!("log in with {mark}"), "password": mark }));
        assert_eq!(
            redact("Logged in with Tr0ub4dor-77x", &mut known),
            format!("Logged in with {mark}")
        );
    }

    #[test]
    fn random_letters_are_remembered() {
        let mut known = known();
        redact("api_key=kJsLqZxVbNmWQwErTyUiOpAs", &mut known);
        assert_eq!(redact("kJsLqZxVbNmWQwErTyUiOpAs", &mut known), "[REDACTED:api-key]");
    }

    #[test]
    fn words_and_names_are_not_remembered() {
        let mut known = known();
        for secret in [
            "swordfish",
            "SwordFish",
            "hunt3r",
            "db-creds-v2",
            "20261127",
            "MyProject",
            "step_2_done",
            "shop2024",
            "postgres16",
            "$request-",
            "$_SERVER[",
            "$env:DB_PASSWORD",
            "argon2id",
            "AES-256-GCM",
            "1Password-managed",
        ] {
            known.note(secret, SecretKind("password"));
            assert!(known.is_empty(), "{secret}");
        }
        for secret in ["$ecret!Word1", "$ecret-Word1", "$ecret.Falcon41", "$ecret:Word1"] {
            let mut known = super::tests::known();
            known.note(secret, SecretKind("password"));
            assert!(!known.is_empty(), "{secret}");
        }
    }

    #[test]
    fn the_saved_list_contains_no_secret_and_survives() {
        let mut before = known();
        redact("password=Tr0ub4dor-77x", &mut before);
        let saved = serde_json::to_string(&before).unwrap();
        assert!(!saved.contains("Tr0ub4dor"), "{saved}");
        let mut after: KnownSecrets = serde_json::from_str(&saved).unwrap();
        assert_eq!(after, before);
        assert_eq!(redact("Tr0ub4dor-77x", &mut after), "[REDACTED:password]");
    }

    #[test]
    fn a_list_of_an_earlier_program_is_read() {
        let saved =
            r#"{"key":"a key","secrets":[{"length":11,"hash":"26b5e72d917d","kind":"password"}]}"#;
        let mut known: KnownSecrets = serde_json::from_str(saved).unwrap();
        assert_eq!(redact("hunter2-Xk9", &mut known), "[REDACTED:password]");
        assert_eq!(serde_json::to_string(&known).unwrap(), saved);
    }

    #[test]
    fn whole_words_are_found_when_the_limit_of_hashes_is_reached() {
        let mut known = known();
        redact("password: hunter2-Xk9", &mut known);
        let text = "a-b1".repeat(10) + " x=hunter2-Xk9 `hunter2-Xk9`.";
        let starts = |hashes_left| -> Vec<usize> {
            let findings = KnownSecretSearch::new(&known, &text, hashes_left).run();
            findings.iter().map(|finding| finding.range.start).collect()
        };
        assert_eq!(starts(MAX_HASHES), [43, 56]);
        assert_eq!(starts(4), [56]);
    }

    #[test]
    fn a_secret_that_is_recognised_again_is_kept() {
        let mut known = known();
        for number in 0..2 * MAX_SECRETS {
            known.note("hunter2-Xk9", SecretKind("password"));
            known.note(&format!("Tr0ub4dor{number:03}"), SecretKind("password"));
        }
        assert_eq!(redact("hunter2-Xk9", &mut known), "[REDACTED:password]");
    }

    #[test]
    fn the_number_of_secrets_is_bounded() {
        let mut known = known();
        for number in 0..2 * MAX_SECRETS {
            known.note(&format!("Tr0ub4dor{number:03}"), SecretKind("password"));
        }
        assert_eq!(known.secrets.len(), MAX_SECRETS);
        assert_eq!(
            redact("Tr0ub4dor000 Tr0ub4dor127", &mut known),
            "Tr0ub4dor000 [REDACTED:password]"
        );
    }

    fn known() -> KnownSecrets {
        KnownSecrets::new("a key".to_owned())
    }

    fn redact(text: &str, known: &mut KnownSecrets) -> String {
        Redactor::new().redact_of_session(text, known).text.into_owned()
    }
}
