//! Collects the facts about one error in a record: its cause, its fix, what verified the fix, and
//! how often the error came back.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
};

use crate::{
    graph::{FactFilter, Graph, text},
    model::{
        EpisodeId, Fact, Namespace, Timestamp,
        graph::{Certainty, EntityId, EntityKind, FactId, Observation, Relation, Subject},
        wording,
    },
    store::StoreError,
};

/// Everything that is known about an error in one project.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorRecord {
    pub namespace: Namespace,
    /// The message in the latest session that has a statement about the error. If there is no such
    /// session, the message in the pasted text.
    pub message: String,
    pub cause: Option<String>,
    /// The last fix, or the other form in which a command worked after the error.
    pub fix: Option<String>,
    pub verification: Option<String>,
    /// How certain the fix is; `Hypothesis` if there is no fix.
    pub certainty: Certainty,
    /// Whether there is a fix, and the latest fix still holds.
    pub is_fixed: bool,
    /// The sessions in which the error was seen, the earliest first.
    pub episodes: Vec<EpisodeId>,
    /// How often the error was seen after its first fix.
    pub returns: usize,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    /// The fact about the fix.
    pub fix_fact: Option<FactId>,
    /// The facts about the error, the latest first.
    pub facts: Vec<Fact>,
}

/// Maximum number of lines of a pasted text that are looked up: half of them at its start, and half
/// at its end.
const MAX_LINES: usize = 60;
/// Beginnings of lines of tracebacks that do not say which error occurred.
const HEADINGS: &[&str] = &[
    "Traceback (most recent call last)",
    "During handling of the above exception",
    "The above exception was the direct cause",
];
/// Maximum number of parts of a line that are looked up: half of them from its start, and half from
/// its end. A message may be pasted with or without the text before its colons.
const MAX_PARTS: usize = 8;
/// Maximum number of errors whose messages are compared with a pasted text: the errors that were
/// mentioned last.
const MAX_COMPARED_ERRORS: usize = 400;
/// Minimum share of words that two similar messages have in common.
const MIN_COMMON_SHARE: f64 = 0.75;
/// Minimum number of words of each of two similar messages.
const MIN_WORDS: usize = 4;
/// Maximum number of findings of a project among which a command that worked in another form is
/// searched for.
const MAX_COMPARED_FACTS: usize = 400;
/// Minimum length, in bytes, of a shortened message in a fact about a retry.
const MIN_SHORTENED_BYTES: usize = 30;
/// Maximum number of facts about one error.
const MAX_FACTS: usize = 40;

impl Graph<'_> {
    /// Returns the records of the errors in `pasted`. Errors with more words come first. Among
    /// errors with equally many words, the error that was seen last comes first. Folders of paths,
    /// numbers, ids and hashes are ignored. If `pasted` contains no known error, returns the
    /// records of errors with a similar message, the most similar first.
    pub fn error_records(
        &self,
        pasted: &str,
        projects: &[Namespace],
    ) -> Result<Vec<ErrorRecord>, StoreError> {
        let keys: BTreeMap<String, &str> = lines_of(pasted).flat_map(keys_of).collect();
        let mut records = Vec::new();
        for (key, message) in &keys {
            let specificity = text::words(key).len();
            for namespace in projects {
                let record = self.error_in(*namespace, key, message)?;
                records.extend(record.map(|record| (specificity, record)));
            }
        }
        if records.is_empty() {
            let mut similar = self.similar_errors(pasted, projects)?;
            self.add_retries(&mut similar)?;
            return Ok(similar);
        }
        records.sort_by_key(|(specificity, record)| Reverse((*specificity, record.last_at)));
        let mut records: Vec<ErrorRecord> = records.into_iter().map(|(_, record)| record).collect();
        self.add_retries(&mut records)?;
        Ok(records)
    }

    /// Adds a fix to each error that has none, if a current fact says that a command worked in
    /// another form after the error.
    fn add_retries(&self, records: &mut [ErrorRecord]) -> Result<(), StoreError> {
        let mut retries: BTreeMap<Namespace, Vec<Fact>> = BTreeMap::new();
        for record in records.iter_mut().filter(|record| record.fix_fact.is_none()) {
            let known = match retries.entry(record.namespace) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(missing) => missing.insert(self.retries(record.namespace)?),
            };
            let key = text::error_key(&record.message);
            let Some((fact, parts)) = known.iter().find_map(|fact| {
                let parts = wording::retry_parts(&fact.sentence)?;
                is_same_message(parts.message, &key).then_some((fact, parts))
            }) else {
                continue;
            };
            record.fix = Some(format!("`{}` instead of `{}`", parts.worked, parts.failed));
            // An error that came back later is not fixed.
            (record.certainty, record.is_fixed) = (fact.certainty, fact.valid_at >= record.last_at);
            record.fix_fact = Some(fact.id);
            record.facts.push(fact.clone());
        }
        Ok(())
    }

    /// Returns the current facts about commands that worked in another form, the latest first.
    fn retries(&self, namespace: Namespace) -> Result<Vec<Fact>, StoreError> {
        let wanted =
            FactFilter { relations: vec![Relation::FoundOut], at: None, limit: MAX_COMPARED_FACTS };
        let mut facts = self.facts(&[namespace], &wanted)?;
        facts.retain(|fact| {
            wording::is_retry(&fact.sentence) && fact.invalid_at.is_none() && !is_wrong(fact)
        });
        Ok(facts)
    }

    /// Returns the records of errors whose messages share most of their words with a line of
    /// `pasted`, the most similar first.
    fn similar_errors(
        &self,
        pasted: &str,
        projects: &[Namespace],
    ) -> Result<Vec<ErrorRecord>, StoreError> {
        let lines: Vec<BTreeSet<String>> = lines_of(pasted)
            .map(|line| text::words(&text::error_key(line)))
            .filter(|words| words.len() >= MIN_WORDS)
            .collect();
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let mut similar = Vec::new();
        for entity in self.entities(projects, &[EntityKind::Error], MAX_COMPARED_ERRORS)? {
            let key = text::error_key(entity.name.trim_end_matches('…'));
            let words = text::words(&key);
            let likeness =
                |line: &BTreeSet<String>| text::share(&words, line).min(text::share(line, &words));
            let best = lines.iter().map(likeness).max_by(f64::total_cmp).unwrap_or_default();
            if words.len() >= MIN_WORDS && best >= MIN_COMMON_SHARE {
                similar.push((best, entity.namespace, key, entity.name));
            }
        }
        similar.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut records = Vec::new();
        for (_, namespace, key, message) in similar {
            records.extend(self.error_in(namespace, &key, &message)?);
        }
        Ok(records)
    }

    /// Returns the record of the error with this key. The record has the text `message` if the
    /// store has only marks of the error.
    fn error_in(
        &self,
        namespace: Namespace,
        key: &str,
        message: &str,
    ) -> Result<Option<ErrorRecord>, StoreError> {
        let subject = Subject::of("error", namespace, key);
        let mut marks = self.store().marks(subject, Timestamp::MIN)?;
        marks.sort_by_key(|mark| (mark.what.at, mark.episode));
        let seen = || marks.iter().filter(|mark| mark.what.observation == Observation::Seen);
        let (Some(first), Some(last)) = (seen().next(), seen().next_back()) else {
            return Ok(None);
        };
        let solved = marks.iter().find(|mark| mark.what.observation == Observation::Solved);
        let returns =
            solved.map_or(0, |solved| seen().filter(|mark| mark.what.at > solved.what.at).count());
        let mut episodes: Vec<EpisodeId> = seen().map(|mark| mark.episode).collect();
        episodes.sort_unstable();
        episodes.dedup();
        let entity = EntityId::of(EntityKind::Error, namespace, key);
        let wanted = FactFilter {
            relations: vec![Relation::Resolved, Relation::Occurs],
            at: None,
            limit: MAX_FACTS,
        };
        let mut facts = self.around(entity, &wanted)?;
        facts.retain(|fact| fact.source == entity && !is_wrong(fact));
        let fix = facts.iter().find(|fact| fact.relation == Relation::Resolved);
        let detail = |name: &str| {
            let found = fix?.details.iter().find(|(known, _)| known == name);
            found.map(|(_, text)| text.clone())
        };
        let name = self.entity(entity)?.map(|entity| entity.name);
        Ok(Some(ErrorRecord {
            namespace,
            message: name.unwrap_or_else(|| message.to_owned()),
            cause: detail("root_cause"),
            fix: detail("fix"),
            verification: detail("verification"),
            certainty: fix.map_or(Certainty::Hypothesis, |fix| fix.certainty),
            is_fixed: fix.is_some_and(|fix| fix.invalid_at.is_none()),
            episodes,
            returns,
            first_at: first.what.at,
            last_at: last.what.at,
            fix_fact: fix.map(|fix| fix.id),
            facts,
        }))
    }
}

/// Whether the message in a fact about a retry is the message with this error key, or a part of
/// that message. The message in the fact may be shortened at its end.
fn is_same_message(message: &str, key: &str) -> bool {
    let (shown, whole) = (text::plain(&text::error_key(message)), text::plain(key));
    let is_end = |end: &str| end.is_empty() || end.ends_with(' ');
    text::is_specific_error(&shown)
        && (whole.strip_suffix(&shown).is_some_and(is_end)
            || shown.len() >= MIN_SHORTENED_BYTES && whole.starts_with(&shown))
}

/// Whether a correction marks the fact as wrong.
fn is_wrong(fact: &Fact) -> bool {
    fact.details.iter().any(|(name, text)| name == "corrected" && text.starts_with("wrong"))
}

/// Returns the lines of a pasted text that are looked up. The end is always included, because most
/// programs print the error there.
fn lines_of(pasted: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = pasted.lines().collect();
    let lines: Vec<&str> = near_the_ends(&lines, MAX_LINES).collect();
    lines.into_iter().map(str::trim).filter(|line| !is_traceback_heading(line))
}

/// Returns the texts near the start and near the end of `texts`, at most `limit`.
fn near_the_ends<'t>(texts: &[&'t str], limit: usize) -> impl Iterator<Item = &'t str> {
    let is_near = move |at: usize| at < limit / 2 || at + limit / 2 >= texts.len();
    texts.iter().copied().enumerate().filter(move |(at, _)| is_near(*at)).map(|(_, text)| text)
}

/// Whether a line is the heading of a traceback. The error is in the last line of a traceback.
pub fn is_traceback_heading(line: &str) -> bool {
    HEADINGS.iter().any(|heading| line.starts_with(heading))
}

/// Returns fingerprints of the words that distinguish the error in `line` from other errors. Leaves
/// out folders, numbers, ids, and the words that `is_common` accepts.
pub fn words_of_error(line: &str, is_common: impl Fn(&str) -> bool) -> Vec<u64> {
    let key = text::error_key(line);
    let distinctive: Vec<&str> = key.split_whitespace().filter(|word| !is_common(word)).collect();
    text::topic_words(&distinctive.join(" "))
}

/// Whether `sentence` contains, in any form, at least half of `words`, which are
/// [`words_of_error`], and at least two if there are several. Always true without words.
pub fn mentions_error(sentence: &str, words: &[u64]) -> bool {
    let known = text::topic_words(sentence);
    let common = words.iter().filter(|word| known.binary_search(word).is_ok()).count();
    2 * common >= words.len() && common >= words.len().min(2)
}

/// Returns the possible error keys of a line with their texts: the whole line, and the texts after
/// its colons.
fn keys_of(line: &str) -> Vec<(String, &str)> {
    let line = line.trim();
    let after_colons = line.match_indices(": ").map(|(at, _)| &line[at + 2..]);
    let parts: Vec<&str> = std::iter::once(line).chain(after_colons).collect();
    let parts = near_the_ends(&parts, MAX_PARTS);
    let keys = parts.map(|part| (text::error_key(part), part));
    keys.filter(|(key, _)| text::is_specific_error(key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_long_traceback_is_looked_up_and_its_headings_are_not() {
        let frames = "  File \"a.py\", line 3, in run\n    call(x)\n".repeat(200);
        let error = "ValueError: invalid port for the server: '80 80'";
        let pasted = format!("Traceback (most recent call last):\n{frames}{error}\n");
        let lines: Vec<&str> = lines_of(&pasted).collect();
        assert_eq!(lines.last(), Some(&error));
        assert_eq!(lines.len(), MAX_LINES - 1);
        assert!(!lines.iter().any(|line| line.starts_with("Traceback")));
    }

    #[test]
    fn the_message_of_a_retry_may_be_shortened() {
        let key = text::error_key("error: unrecognized subcommand `bun` of rtk 12: try rtk help");
        for (message, wanted) in [
            ("error: unrecognized subcommand 'bun' of rtk 13: try rtk help", true),
            ("error: unrecognized subcommand 'bun' of rtk", true),
            ("unrecognized subcommand 'bun' of rtk 12: try rtk help", true),
            ("error: unrecognized command", false),
            ("error: unrecognized subcommand 'npm' of rtk 12: try rtk help", false),
            ("rtk help", false),
            ("", false),
        ] {
            assert_eq!(is_same_message(message, &key), wanted, "{message}");
        }
        assert!(!is_same_message("cannot open file", &text::error_key("cannot open file b")));
    }

    #[test]
    fn an_error_keeps_its_text_beside_its_key() {
        let keys = keys_of(" /srv/a.rs:12: error: session 0a1b2c3d4e not found in the store ");
        let (key, text) = keys.last().unwrap();
        assert_eq!(key, "session 0 not found in the store");
        assert_eq!(*text, "session 0a1b2c3d4e not found in the store");
    }

    #[test]
    fn the_first_and_the_last_parts_of_a_long_line_are_looked_up() {
        let line =
            "main.go:12: error: start server: listen: bind: no permission for the socket file";
        let texts: Vec<&str> = keys_of(line).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts.first(), Some(&line));
        assert_eq!(texts.last(), Some(&"no permission for the socket file"));
        assert!(texts.contains(&"start server: listen: bind: no permission for the socket file"));
        let long = "outer step: ".repeat(1_000);
        assert!(keys_of(&long).len() <= MAX_PARTS);
    }
}
