//! Secrets out, before anything is stored or sent.
//!
//! [`Redactor::redact`] replaces keys, tokens, passwords and private keys in text by
//! `[REDACTED:<kind>]`, [`Redactor::redact_value`] does so in JSON. Found are
//! - what has a form of its own: the table in `rules`, private key blocks (`block`), passwords
//!   in addresses (`url`);
//! - what a name beside it gives away: `assignment`.
//!
//! Left alone are hashes and ids that open nothing, placeholders, references to variables, and
//! code. What a secret is does not depend on anything but the text near it, so a text may be cut
//! anywhere. Whether and where to redact is the callers' business; nothing here logs or keeps what
//! it saw.

mod assignment;
mod basic;
mod block;
mod json;
mod placeholder;
mod randomness;
mod rules;
mod scan;
mod url;

use std::{borrow::Cow, collections::BTreeMap, fmt, sync::LazyLock};

use crate::redact::{
    rules::RULES,
    scan::{Finding, MARK, RuleScanner},
};

/// The version of the rules. It grows by one whenever a secret that came through before is found
/// now: text that was stored under an older version is worth redacting again.
pub const RULES_VERSION: u32 = 2;

/// How often a text is gone over at most: what stands in for one secret can, rarely, be what
/// makes a neighbour recognisable. Keys within keys, as only a test writes them, need a pass each.
const PASSES: usize = 16;

/// One for the whole process: it takes some milliseconds to make.
static SCANNER: LazyLock<RuleScanner> = LazyLock::new(RuleScanner::new);

/// Finds and replaces secrets.
#[derive(Clone)]
pub struct Redactor {
    scanner: &'static LazyLock<RuleScanner>,
}

/// What a secret is, as shown in its place: `github-token`, `password`, ….
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretKind(&'static str);

/// How many secrets of each kind were replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretCounts(BTreeMap<SecretKind, u32>);

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactedText<'t> {
    /// The text; borrowed when there was nothing to replace.
    pub text: Cow<'t, str>,
    /// What was replaced.
    pub counts: SecretCounts,
}

impl Redactor {
    /// The automaton over all anchors, and each pattern, are made when first needed.
    pub fn new() -> Redactor {
        Redactor { scanner: &SCANNER }
    }

    /// Replaces every secret in `text`. Doing so again changes nothing, unless more than [`PASSES`]
    /// stand within each other.
    pub fn redact<'t>(&self, text: &'t str) -> RedactedText<'t> {
        let mut text = Cow::Borrowed(text);
        let mut counts = SecretCounts::default();
        for _ in 0..PASSES {
            let findings = self.scanner.findings(&text);
            if findings.is_empty() {
                break;
            }
            let clean = replaced(&text, &findings);
            // What was found is what stands in for a secret already.
            if clean == text {
                break;
            }
            for finding in &findings {
                counts.add(finding.kind, 1);
            }
            text = Cow::Owned(clean);
        }
        RedactedText { text, counts }
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
    /// Kinds that no row of the table has.
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

    /// Its name.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// What stands in the text instead of a secret of this kind.
    fn mark(self) -> String {
        format!("{MARK}{self}]")
    }

    fn is_known(name: &str) -> bool {
        SecretKind::OTHERS.contains(&name) || RULES.iter().any(|rule| rule.kind.0 == name)
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl SecretCounts {
    /// Each kind that was replaced, by name, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (SecretKind, u32)> + '_ {
        self.0.iter().map(|(kind, count)| (*kind, *count))
    }

    /// How many secrets were replaced.
    pub fn total(&self) -> u32 {
        self.0.values().sum()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds what was replaced elsewhere.
    pub fn merge(&mut self, other: &SecretCounts) {
        for (kind, count) in other.iter() {
            self.add(kind, count);
        }
    }

    fn add(&mut self, kind: SecretKind, count: u32) {
        *self.0.entry(kind).or_default() += count;
    }
}

/// `text` with each finding replaced by its mark.
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
