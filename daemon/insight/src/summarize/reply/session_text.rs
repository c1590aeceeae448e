//! The texts of a session in the forms that the checks of a model's claims need.

use std::{cell::LazyCell, collections::BTreeSet};

use serde_json::Value;

use crate::{
    summarize::reply::{Grounds, ground::contains_whole_name},
    text::{pattern, share_of_words, words},
};

/// The minimum share of a statement's meaningful words that the session must contain.
const MIN_SHARE: f64 = 0.25;
/// Replaces [`MIN_SHARE`] for a statement with names of which the session contains none.
const MIN_SHARE_WITH_UNKNOWN_NAMES: f64 = 0.5;
/// The minimum share of English function words among the words of an English text.
const MIN_ENGLISH_SHARE: f64 = 1.0 / 12.0;
/// Minimum length, in characters, of a hash that is looked up.
const HASH: usize = 7;

pub(super) struct SessionText {
    /// The meaningful words of all texts.
    words: BTreeSet<String>,
    /// All texts, in lower case.
    pub(super) all: String,
    /// The user's texts, as [`plain`] returns them.
    user: Vec<String>,
    /// The texts of the user and of the agent.
    pub(super) dialogue: Vec<String>,
    is_english: bool,
}

impl SessionText {
    pub(super) fn of(grounds: &Grounds<'_>) -> SessionText {
        let Grounds { evidence, packed, .. } = grounds;
        let typed = evidence.prompts.iter().map(|prompt| &prompt.text);
        let answers = evidence.choices.iter().flat_map(|choice| {
            [Some(&choice.answer), choice.words.as_ref(), choice.explanation.as_ref()]
        });
        let user: Vec<&String> = typed.chain(answers.flatten()).chain(&packed.prompts).collect();
        let reports = evidence.reports.iter().map(|report| &report.text);
        let statements = evidence.statements.iter().chain(&evidence.report);
        let recaps = evidence.recaps.iter().map(|recap| &recap.text);
        let agent = reports
            .chain(statements.map(|statement| &statement.text))
            .chain(evidence.last_reply.as_ref().map(|reply| &reply.text))
            .chain(recaps)
            .chain(&packed.replies);
        let dialogue: Vec<String> = user.iter().copied().chain(agent).cloned().collect();
        let mut all = packed.parts.join("\n");
        let evidence_json = serde_json::to_value(evidence).expect("evidence is plain data");
        push_texts(&evidence_json, &mut all);
        evidence.files.keys().for_each(|file| push_text(file, &mut all));
        SessionText {
            words: words(&all),
            all: all.to_lowercase(),
            user: user.into_iter().map(|text| plain(text)).collect(),
            is_english: is_english(&dialogue.join("\n")),
            dialogue,
        }
    }

    /// Returns whether each hash of a commit in `text` occurs in the session.
    pub(super) fn has_hashes(&self, text: &str) -> bool {
        // A number is a hash only after such a word, and a hexadecimal word only with a digit.
        let named = pattern!(r"(?i)\b(?:commit|revision|hash|sha):? [`(]*([0-9a-f]{7,40})\b");
        let bare = pattern!(r"\b[0-9a-f]{7,40}\b");
        let is_mixed = |hash: &&str| {
            hash.contains(|c: char| c.is_ascii_digit())
                && hash.contains(|c: char| c.is_alphabetic())
        };
        let bare = bare.find_iter(text).map(|found| found.as_str()).filter(is_mixed);
        let named = named.captures_iter(text).filter_map(|found| Some(found.get(1)?.as_str()));
        bare.chain(named).all(|hash| self.all.contains(&hash[..HASH].to_lowercase()))
    }

    /// Returns whether each quotation in `text` that is attributed to the user occurs in a text of
    /// the user. What the user chose, asked or confirmed may be in the words of the agent, so such
    /// a quotation may occur in any text of the session.
    pub(super) fn has_quotes(&self, text: &str) -> bool {
        let after = pattern!(
            r#"(?i)(?:\buser(?:'s|’s)?[ \w,]{0,30} (?:(?P<wrote>said|says|wrote|writes|words?)|stated|insisted|answered|replied|explained|asked|told|decided|chose|requested|confirmed)\b|(?P<label>^\W*user:))[^"“”«».!?]{0,40}["“«](?P<quote>[^"“”«»]{3,})["”»]"#
        );
        let condition =
            pattern!(r"(?i)\b(?:when|whenever|if|once|after|until|unless)\b[^,.;:!?]*$");
        let before = pattern!(
            r#"(?i)["“«]([^"“”«»]{3,})["”»][,.]? \(?(?:as |said |says |wrote |per )+the user\b"#
        );
        let all = LazyCell::new(|| plain(&self.all));
        let holds = after.captures_iter(text).all(|found| {
            let start = found.get(0).map_or(0, |whole| whole.start());
            let is_written = found.name("wrote").or(found.name("label")).is_some();
            condition.is_match(&text[..start])
                || self.is_of_user(&found["quote"])
                || !is_written && contains_quote(&all, &found["quote"])
        });
        holds && before.captures_iter(text).all(|found| self.is_of_user(&found[1]))
    }

    /// Returns whether the user wrote `quote`, which may have gaps.
    pub(super) fn is_of_user(&self, quote: &str) -> bool {
        self.user.iter().any(|text| contains_quote(text, quote))
    }

    /// Returns whether a statement is about the session: it contains a name of the session, or
    /// enough words of the session. Statements in another language than the session are accepted.
    pub(super) fn is_about(&self, statement: &str) -> bool {
        let claimed = words(statement);
        if claimed.is_empty() || !self.is_english || !is_english(statement) {
            return true;
        }
        let names = names(statement);
        let is_known = |name: &String| contains_whole_name(&self.all, name);
        let needed = match names.is_empty() {
            true => MIN_SHARE,
            false => MIN_SHARE_WITH_UNKNOWN_NAMES,
        };
        names.iter().any(is_known) || share_of_words(&claimed, &self.words) >= needed
    }

    /// Returns whether a step that removes something is in the session: the session must contain a
    /// word for a removal, a name in the step, or at least two other words of the step and all of
    /// these words.
    pub(super) fn has_removal(&self, step: &str) -> bool {
        let removal = pattern!(r"(?i)^(?:delete|remove|drop|wipe|erase|destroy|purge)\b");
        let removals = pattern!(
            r"\b(?:delet|remov|drop|wip(?:e|ing)|eras|destroy|purg|clean|clear|prun|uninstall|rm\b|get rid|gone|obsolete|unused|no longer)"
        );
        !removal.is_match(step)
            || !self.is_english
            || removals.is_match(&self.all)
            || names(step).iter().any(|name| contains_whole_name(&self.all, name))
            || self.has_all_words(&removal.replace(step, ""))
    }

    /// Whether `text` has at least two meaningful words, and the session contains all of them.
    fn has_all_words(&self, text: &str) -> bool {
        let wanted = words(text);
        wanted.len() > 1 && wanted.is_subset(&self.words)
    }
}

/// Adds all texts of a JSON document to `all`, without the names of fields.
fn push_texts(value: &Value, all: &mut String) {
    match value {
        Value::String(text) => push_text(text, all),
        Value::Array(items) => items.iter().for_each(|item| push_texts(item, all)),
        Value::Object(fields) => fields.values().for_each(|field| push_texts(field, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn push_text(text: &str, all: &mut String) {
    all.push('\n');
    all.push_str(text);
}

/// Returns a text in lower case, with single blanks and plain ellipses, without quotation marks.
fn plain(text: &str) -> String {
    let text = text.replace(['"', '“', '”', '«', '»', '\'', '’', '‘', '`', '*'], "");
    let text = text.replace('…', "...").to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a text that [`plain`] returned contains `quote`, which may have gaps.
fn contains_quote(text: &str, quote: &str) -> bool {
    let quote = plain(quote);
    let pieces = quote.split("...").map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric()));
    pieces.into_iter().all(|piece| text.contains(piece))
}

/// Returns the names in a statement, in lower case: code, identifiers, and words with a capital
/// letter after the first word of a sentence.
fn names(statement: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_first = true;
    for token in statement.split_whitespace() {
        let is_code = token.starts_with('`');
        let name = token.trim_matches(|c: char| !c.is_alphanumeric());
        let mut letters = name.chars();
        let is_capitalized = letters.next().is_some_and(char::is_uppercase);
        let is_mixed = letters.any(|c| c.is_uppercase() || c.is_numeric() || "_./:".contains(c));
        let has_letter = name.chars().any(char::is_alphabetic);
        if has_letter && name.len() > 1 && (is_code || is_mixed || is_capitalized && !is_first) {
            found.push(name.to_lowercase());
        }
        is_first = token.ends_with(['.', '!', '?', ':', '"']);
    }
    found
}

/// Returns whether enough words of a text are English function words, and most of its function
/// words are English.
fn is_english(text: &str) -> bool {
    let english = pattern!(r"(?i)\b(?:the|and|is|of|to|it|that|not|for|with)\b");
    let others = pattern!(
        r"(?i)\b(?:der|die|das|und|nicht|ist|el|los|que|para|por|les|une|est|pour|não|uma|een|het|niet|och|att|och|jest|nie)\b|[\x{370}-\x{1fff}\x{3040}-\x{9fff}\x{ac00}-\x{d7af}]{2,}"
    );
    let all = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
    let found = english.find_iter(text).count();
    others.find_iter(text).count() < found && found as f64 >= all as f64 * MIN_ENGLISH_SHARE
}
