//! Scans a text once. Finds the anchors: the literals of the rules
//! ([`Rule::anchors`](crate::rule::Rule::anchors)), parts of names, and the starts of URLs, private
//! keys and replacements. At each anchor, applies the rules for that anchor.
//!
//! All anchors are searched at once, so that text without anchors costs one pass. The work at each
//! anchor is bounded: a pattern reads a limited window, and replaced text is not read again.

use std::{ops::Range, sync::OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex_automata::{Anchored, Input, meta, util::syntax};

use crate::{
    SecretKind,
    assignment::{self, table::SecretTable},
    block, check,
    rule::Start,
    rules::RULES,
    url,
};

/// The start of a replacement.
pub(super) const MARK: &str = "[REDACTED:";

/// The rules, and the automaton that searches for their anchors.
pub(super) struct RuleScanner {
    anchors: AhoCorasick,
    /// Indexed by the number of the anchor.
    actions: Vec<Vec<AnchorAction>>,
    /// Indexed by the number of the rule. A pattern is compiled when it is first tried.
    patterns: Vec<OnceLock<meta::Regex>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) range: Range<usize>,
    pub(super) kind: SecretKind,
    /// Whether the secret was recognised by its form. Then its kind is more precise than a kind
    /// that was derived from a name beside the secret.
    is_specific: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnchorAction {
    Rule(usize),
    Name,
    Insert,
    Address,
    PrivateKey,
    PuttyKey,
    Mark,
}

impl Finding {
    /// Returns the finding of a secret that was recognised earlier.
    pub(super) fn known(range: Range<usize>, kind: SecretKind) -> Finding {
        Finding { range, kind, is_specific: true }
    }
}

impl RuleScanner {
    pub(super) fn new() -> RuleScanner {
        let mut anchors: Vec<&str> = Vec::new();
        let mut actions: Vec<Vec<AnchorAction>> = Vec::new();
        for (anchor, action) in table() {
            match anchors.iter().position(|known| *known == anchor) {
                Some(at) => actions[at].push(action),
                None => {
                    anchors.push(anchor);
                    actions.push(vec![action]);
                }
            }
        }
        let anchors = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .match_kind(MatchKind::Standard)
            .build(anchors)
            .expect("a few hundred short literals fit the automaton");
        let patterns = RULES.iter().map(|_| OnceLock::new()).collect();
        RuleScanner { anchors, actions, patterns }
    }

    /// Returns all secrets of `text`, in order and without overlap.
    pub(super) fn findings(&self, text: &str) -> Vec<Finding> {
        merged(self.scan(text).findings)
    }

    fn scan<'s, 't>(&'s self, text: &'t str) -> Pass<'s, 't> {
        let mut pass = Pass {
            scanner: self,
            text,
            findings: Vec::new(),
            named: 0,
            replaced: 0..0,
            blocks: 0,
            tables: 0,
            refused: Vec::new(),
            refused_bytes: 0,
        };
        for hit in self.anchors.find_overlapping_iter(text) {
            for action in &self.actions[hit.pattern().as_usize()] {
                pass.act(*action, hit.range());
            }
        }
        pass
    }

    fn pattern(&self, rule: usize) -> &meta::Regex {
        self.patterns[rule].get_or_init(|| compile(RULES[rule].pattern))
    }
}

fn table() -> impl Iterator<Item = (&'static str, AnchorAction)> {
    let rules = RULES.iter().enumerate().flat_map(|(index, rule)| {
        rule.anchors.iter().map(move |anchor| (*anchor, AnchorAction::Rule(index)))
    });
    let names = assignment::name::ANCHORS.iter().map(|anchor| (*anchor, AnchorAction::Name));
    let inserts = [
        "INSERT INTO ",
        "insert into ",
        "Insert into ",
        "Insert Into ",
        "IGNORE INTO ",
        "ignore into ",
        "REPLACE INTO ",
        "replace into ",
    ];
    let inserts = inserts.map(|anchor| (anchor, AnchorAction::Insert));
    let others = [
        ("://", AnchorAction::Address),
        ("PRIVATE KEY", AnchorAction::PrivateKey),
        ("Private-Lines:", AnchorAction::PuttyKey),
        (MARK, AnchorAction::Mark),
    ];
    rules.chain(names).chain(inserts).chain(others)
}

/// The state of a pass over one text.
struct Pass<'s, 't> {
    scanner: &'s RuleScanner,
    text: &'t str,
    findings: Vec<Finding>,
    /// Names were read up to this position.
    named: usize,
    /// The last range that must not be scanned again: a secret that was found by its form, or a
    /// replacement.
    replaced: Range<usize>,
    /// Private key blocks were searched up to this position.
    blocks: usize,
    /// Tables were read up to this position.
    tables: usize,
    /// The end of the last match of each rule that its check refused, by the number of the rule.
    /// Empty before the first such match.
    refused: Vec<usize>,
    /// The total length of the matches that were refused.
    refused_bytes: usize,
}

/// Maximum total length, in bytes, of refused matches. Above the limit, a rule is not tried again
/// inside its last refused match. Usually only a text that repeats an anchor thousands of times
/// without white space exceeds the limit.
const MAX_REFUSED: usize = 1 << 20;

impl Pass<'_, '_> {
    fn act(&mut self, action: AnchorAction, anchor: Range<usize>) {
        if self.replaced.contains(&anchor.start) {
            return;
        }
        match action {
            AnchorAction::Rule(rule) => self.try_rule(rule, anchor),
            AnchorAction::Name => self.try_name(anchor),
            AnchorAction::Insert if anchor.start >= self.tables => {
                self.add_table(assignment::insert::rows_after(self.text, anchor.end));
            }
            AnchorAction::Insert => {}
            AnchorAction::Address => {
                if let Some(range) = url::secret_after(self.text, anchor.end) {
                    self.add(range, SecretKind("url-password"), true);
                }
            }
            AnchorAction::PrivateKey => {
                if let Some(range) = block::around(self.text, anchor, self.blocks) {
                    self.blocks = range.end;
                    self.add(range, SecretKind("private-key"), true);
                }
            }
            AnchorAction::PuttyKey => {
                if let Some(range) = block::putty(self.text, anchor) {
                    self.add(range, SecretKind("private-key"), true);
                }
            }
            AnchorAction::Mark => {
                if let Some(end) = mark_end(self.text, anchor.end) {
                    self.replaced = anchor.start..end;
                }
            }
        }
    }

    fn try_name(&mut self, anchor: Range<usize>) {
        if anchor.start < self.named {
            return;
        }
        let name = assignment::name_around(self.text.as_bytes(), anchor);
        self.named = name.end;
        let start = name.start;
        if let Some((range, kind)) = assignment::secret_after(self.text, name.clone()) {
            // Names inside replaced text are ignored.
            self.named = self.named.max(range.end);
            self.add(range, kind, false);
            return;
        }
        let other = assignment::secret_before(self.text, name.clone())
            .or_else(|| assignment::secret_below(self.text, name.clone()))
            .or_else(|| assignment::secret_in_sibling(self.text, name));
        if let Some((range, kind)) = other {
            self.add(range, kind, false);
        }
        if start >= self.tables {
            self.add_table(assignment::table::below(self.text, start));
        }
    }

    /// Adds the secrets of a table. Each table is read only once.
    fn add_table(&mut self, table: Option<SecretTable>) {
        let Some(table) = table else { return };
        self.tables = table.end;
        for (range, kind) in table.secrets {
            self.add(range, kind, false);
        }
    }

    fn try_rule(&mut self, index: usize, anchor: Range<usize>) {
        let rule = &RULES[index];
        let is_refused = self.refused.get(index).is_some_and(|end| anchor.start < *end);
        if is_refused && self.refused_bytes > MAX_REFUSED {
            return;
        }
        let bytes = self.text.as_bytes();
        let start = match rule.start {
            Start::Anywhere => anchor.start,
            Start::Edge if is_edge(bytes, anchor.start, b"") => anchor.start,
            Start::Run if is_edge(bytes, anchor.start, b"_-") => anchor.start,
            Start::Alone if is_edge(bytes, anchor.start, b"_-+/") => anchor.start,
            Start::Edge | Start::Run | Start::Alone => return,
            Start::Back(reach) => anchor.start.saturating_sub(reach),
        };
        let anchored =
            if matches!(rule.start, Start::Back(_)) { Anchored::No } else { Anchored::Yes };
        let end = bytes.len().min(anchor.start + rule.window);
        let input = Input::new(bytes).range(start..end).anchored(anchored);
        let pattern = self.scanner.pattern(index);
        let Some(secret) = secret_of(pattern, &input, &anchor) else { return };
        let start = self.text.floor_char_boundary(secret.start);
        let end = self.text.ceil_char_boundary(secret.end);
        // The line break after a list of codes separates it from other text.
        let range = start..start + self.text[start..end].trim_end().len();
        if check::passes(rule, self.text, &range) {
            self.add(range, rule.kind, true);
        } else {
            self.refused.resize(RULES.len(), 0);
            self.refused[index] = range.end;
            self.refused_bytes += range.len();
        }
    }

    /// Adds a finding, extended to the end of its last word, so that no part of the secret remains.
    fn add(&mut self, range: Range<usize>, kind: SecretKind, is_specific: bool) {
        if range.is_empty() {
            return;
        }
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let ends_in_word = self.text.as_bytes()[range.end - 1].is_ascii_alphanumeric();
        let rest = match ends_in_word {
            true => self.text.as_bytes()[range.end..].iter().take_while(is_word).count(),
            false => 0,
        };
        let range = range.start..range.end + rest;
        if is_specific {
            self.replaced = range.clone();
        }
        self.findings.push(Finding { range, kind, is_specific });
    }
}

/// Maximum number of matches before an anchor, such as the same setting in the lines above.
const EARLIER_MATCHES: usize = 8;

/// Returns the first group of the match that contains the anchor, or the whole match if no group
/// matched; `None` if no match contains the anchor.
fn secret_of(
    pattern: &meta::Regex,
    input: &Input<'_>,
    anchor: &Range<usize>,
) -> Option<Range<usize>> {
    let mut input = input.clone();
    // Most anchors are not part of a secret. This search rejects them without an allocation.
    let mut whole = pattern.search(&input)?.range();
    for _ in 0..EARLIER_MATCHES {
        if whole.end >= anchor.end || whole.is_empty() || input.get_anchored().is_anchored() {
            break;
        }
        input.set_start(whole.end);
        whole = pattern.search(&input)?.range();
    }
    if whole.start > anchor.start || anchor.end > whole.end {
        return None;
    }
    let mut captures = pattern.create_captures();
    pattern.search_captures(&input, &mut captures);
    let group = (1..captures.group_len()).find_map(|group| captures.get_group(group));
    Some(group.map_or(whole, |group| group.range()))
}

/// Whether a word may begin at `at`: at the start of the text, after an escape (`\n`, `\u0022`,
/// `%3D`), or after a byte that is not a letter, not a digit and not in `others`.
pub(super) fn is_edge(text: &[u8], at: usize, others: &[u8]) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    let byte = text[before];
    let is_escape = |length: usize, open: u8| at >= length && text[at - length] == open;
    !(byte.is_ascii_alphanumeric() || others.contains(&byte))
        || (is_escape(2, b'\\') && b"nrtbf".contains(&byte))
        || (is_escape(6, b'\\') && text[at - 5] == b'u')
        || (is_escape(3, b'%') && byte.is_ascii_hexdigit())
}

/// Returns the end of the replacement whose kind begins at `at`, if the kind is known.
fn mark_end(text: &str, at: usize) -> Option<usize> {
    let limit = text.floor_char_boundary(text.len().min(at + 40));
    let (kind, _) = text[at..limit].split_once(']')?;
    SecretKind::is_known(kind).then_some(at + kind.len() + 1)
}

impl Finding {
    pub(super) fn at(self, range: Range<usize>) -> Finding {
        Finding { range, ..self }
    }
}

/// Sorts the findings and merges overlapping findings.
pub(super) fn merged(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.range.start, !finding.is_specific));
    let mut apart: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        match apart.last_mut() {
            Some(last) if finding.range.start < last.range.end => {
                last.range.end = last.range.end.max(finding.range.end);
                if finding.is_specific && !last.is_specific {
                    last.kind = finding.kind;
                    last.is_specific = true;
                }
            }
            _ => apart.push(finding),
        }
    }
    apart
}

fn compile(pattern: &str) -> meta::Regex {
    let bytes = syntax::Config::new().unicode(false).utf8(false);
    let config = meta::Config::new().utf8_empty(false);
    meta::Regex::builder()
        .syntax(bytes)
        .configure(config)
        .build(pattern)
        .expect("a test compiles every pattern of the table")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_has_usable_anchors() {
        for rule in RULES {
            compile(rule.pattern);
            assert!(!rule.anchors.is_empty(), "{}", rule.pattern);
            for anchor in rule.anchors {
                assert!(anchor.len() >= 2 && anchor.is_ascii(), "{anchor}");
            }
        }
    }

    #[test]
    fn the_work_on_refused_matches_is_bounded() {
        let scanner = RuleScanner::new();
        for anchor in ["xoxa-", "figd_", "secret-test-", "$1$a/"] {
            let text = anchor.repeat(50_000 / anchor.len());
            let pass = scanner.scan(&text);
            assert!(pass.refused_bytes < 2 * MAX_REFUSED, "{anchor}: {}", pass.refused_bytes);
        }
        let token = "xoxb-123456789012-kJ8s2Lq0Zx9Vb4NmW7Tq5Rw8";
        let text = "xoxa-".repeat(10_000) + " " + token;
        assert_eq!(scanner.findings(&text).len(), 1);
    }

    #[test]
    fn an_edge_is_recognised_beside_escapes() {
        for (text, wanted) in [
            ("@", true),
            (" @", true),
            ("_@", true),
            ("x@", false),
            ("9@", false),
            ("\\n@", true),
            ("\\u0022@", true),
            ("%3D@", true),
            ("é@", true),
        ] {
            let at = text.find('@').unwrap();
            assert_eq!(is_edge(text.as_bytes(), at, b""), wanted, "{text}");
        }
        assert!(!is_edge(b"_@", 1, b"_-"));
    }
}
