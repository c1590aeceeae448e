//! Removes secrets from text before it is stored or sent.
//!
//! [`Redactor::redact`] replaces keys, tokens, passwords and private keys in text by
//! `[REDACTED:<kind>]`; [`Redactor::redact_value`] replaces them in JSON values. They find
//! - secrets of a recognisable form, and numbers of payment cards and bank accounts: the table in
//!   `rules`, private key blocks (`block`), passwords in URLs (`url`);
//! - secrets that an adjacent name identifies: `assignment`.
//!
//! They do not redact placeholders, code, references to variables, ids that give no access, and
//! hashes. Password hashes are an exception: they are redacted. Whether a part of a text is
//! redacted depends only on nearby text, and on the secrets that were recognised earlier in the
//! same session ([`KnownSecrets`]). The callers decide whether and where to redact. This module
//! neither logs nor keeps any text.

mod ansi;
mod assignment;
mod basic;
mod block;
mod check;
mod json;
mod known;
mod placeholder;
mod randomness;
mod rule;
mod rule_parts;
mod rules;
mod scan;
mod url;

use std::{borrow::Cow, collections::BTreeMap, fmt};

use graphitid_core::releasable;

pub use crate::known::KnownSecrets;
use crate::{
    ansi::PlainText,
    rules::RULES,
    scan::{Finding, MARK, RuleScanner},
};

/// The version of the rules. It increases by one whenever the rules find more secrets: text that
/// was stored under an older version should then be redacted again.
pub const RULES_VERSION: u32 = 9;

/// Maximum number of passes over a text. A further pass is necessary if a replacement makes an
/// adjacent secret recognisable, which is rare. Private keys within each other, which occur only in
/// tests, need one pass each.
const PASSES: usize = 16;

/// The scanner. The whole process shares it, because its creation takes some milliseconds and it
/// takes 4 MB of memory.
static SCANNER: SharedScanner = SharedScanner::new(RuleScanner::new);

type SharedScanner = releasable::Releasable<RuleScanner>;

#[derive(Clone)]
pub struct Redactor {
    scanner: &'static SharedScanner,
}

/// The kind of a secret, as shown in its replacement: `github-token`, `password`, ….
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretKind(&'static str);

/// The number of replaced secrets of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretCounts(BTreeMap<SecretKind, u32>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactedText<'t> {
    /// Borrowed when nothing was replaced.
    pub text: Cow<'t, str>,
    pub counts: SecretCounts,
}

impl Redactor {
    /// Creates a redactor. The creation is cheap, because the rules are compiled on first use.
    pub fn new() -> Redactor {
        Redactor { scanner: &SCANNER }
    }

    /// Replaces every secret in `text`. The function is idempotent unless more than [`PASSES`]
    /// secrets are nested.
    pub fn redact<'t>(&self, text: &'t str) -> RedactedText<'t> {
        self.redact_noting(text, &mut |_, _| {})
    }

    /// Replaces every secret in a text of a session, including the secrets in `known`. Adds the
    /// secrets that were recognised in `text` to `known`.
    pub fn redact_of_session<'t>(
        &self,
        text: &'t str,
        known: &mut KnownSecrets,
    ) -> RedactedText<'t> {
        let mut redacted = self.redact_noting(text, &mut |secret, kind| known.note(secret, kind));
        replace_known(&mut redacted, known);
        redacted
    }

    /// Redacts a text, and calls `note` with each secret.
    fn redact_noting<'t>(
        &self,
        text: &'t str,
        note: &mut dyn FnMut(&str, SecretKind),
    ) -> RedactedText<'t> {
        let mut text = Cow::Borrowed(text);
        let mut counts = SecretCounts::default();
        for _ in 0..PASSES {
            let findings = self.findings(&text);
            if findings.is_empty() {
                break;
            }
            let clean = replaced(&text, &findings);
            // All findings are replacements of an earlier pass.
            if clean == text {
                break;
            }
            for finding in &findings {
                counts.add(finding.kind, 1);
                let secret = &text[finding.range.clone()];
                let plain = PlainText::of(secret);
                note(plain.as_ref().map_or(secret, |plain| &plain.text), finding.kind);
            }
            text = Cow::Owned(clean);
        }
        RedactedText { text, counts }
    }

    /// Returns all secrets of `text`. If the text has control sequences of a terminal, also scans
    /// the text without them.
    fn findings(&self, text: &str) -> Vec<Finding> {
        let scanner = self.scanner.get();
        let findings = scanner.findings(text);
        let Some(plain) = PlainText::of(text) else { return findings };
        let in_plain = scanner.findings(&plain.text).into_iter();
        let more = in_plain.map(|finding| {
            let range = plain.original(finding.range.clone());
            finding.at(range)
        });
        scan::merged(findings.into_iter().chain(more).collect())
    }
}

impl Default for Redactor {
    fn default() -> Redactor {
        Redactor::new()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl SecretKind {
    /// Kinds of secrets that a name, a URL or a key block identifies. [`RULES`] contains further
    /// kinds, such as `password`.
    const OTHERS: &'static [&'static str] = &[
        "algolia-key",
        "api-key",
        "auth0-secret",
        "azure-key",
        "cohere-key",
        "datadog-key",
        "deepgram-key",
        "deepseek-key",
        "fastly-token",
        "mistral-key",
        "private-key",
        "secret",
        "together-key",
        "token",
        "twilio-key",
        "url-password",
        "voyage-key",
    ];

    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// Returns the text that replaces a secret of this kind.
    fn mark(self) -> String {
        format!("{MARK}{self}]")
    }

    fn is_known(name: &str) -> bool {
        SecretKind::of_name(name).is_some()
    }

    fn of_name(name: &str) -> Option<SecretKind> {
        let other = SecretKind::OTHERS.iter().find(|other| **other == name);
        let of_rule = || RULES.iter().map(|rule| rule.kind).find(|kind| kind.0 == name);
        other.map(|other| SecretKind(other)).or_else(of_rule)
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl SecretCounts {
    /// Returns each kind with the number of its replacements.
    pub fn iter(&self) -> impl Iterator<Item = (SecretKind, u32)> + '_ {
        self.0.iter().map(|(kind, count)| (*kind, *count))
    }

    pub fn total(&self) -> u32 {
        self.0.values().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn merge(&mut self, other: &SecretCounts) {
        for (kind, count) in other.iter() {
            self.add(kind, count);
        }
    }

    fn add(&mut self, kind: SecretKind, count: u32) {
        *self.0.entry(kind).or_default() += count;
    }
}

fn replace_known(redacted: &mut RedactedText<'_>, known: &KnownSecrets) {
    let findings = known.findings_beside_colours(&redacted.text);
    if !findings.is_empty() {
        redacted.text = Cow::Owned(replaced(&redacted.text, &findings));
        findings.iter().for_each(|finding| redacted.counts.add(finding.kind, 1));
    }
}

fn replaced(text: &str, findings: &[Finding]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    for finding in findings {
        clean.push_str(&text[at..finding.range.start]);
        clean.push_str(MARK);
        clean.push_str(finding.kind.as_str());
        clean.push(']');
        at = finding.range.end;
    }
    clean.push_str(&text[at..]);
    clean
}

#[cfg(test)]
mod tests;
