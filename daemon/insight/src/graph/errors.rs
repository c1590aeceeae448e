//! Collects the facts about one error in a record: its cause, its fix, what verified the fix, and
//! how often the error came back.

use std::collections::BTreeSet;

use crate::{
    graph::{FactFilter, Graph, text},
    model::{
        EpisodeId, Fact, Namespace, Timestamp,
        graph::{Certainty, EntityId, EntityKind, Observation, Relation, Subject},
    },
    store::StoreError,
};

/// Everything that is known about an error in one project.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorRecord {
    pub namespace: Namespace,
    /// The message, as in the latest session.
    pub message: String,
    pub cause: Option<String>,
    pub fix: Option<String>,
    pub verification: Option<String>,
    /// How certain the fix is; `Hypothesis` if there is no fix.
    pub certainty: Certainty,
    /// Whether there is a fix that still holds.
    pub is_fixed: bool,
    /// The sessions in which the error was seen, the earliest first.
    pub episodes: Vec<EpisodeId>,
    /// How often the error was seen after its first fix.
    pub returns: usize,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    /// The facts about the error, the latest first.
    pub facts: Vec<Fact>,
}

/// Maximum number of lines of a pasted text that are looked up.
const MAX_LINES: usize = 60;
/// Maximum number of parts of a line that are looked up. A message may be pasted with or without
/// the text before its colons.
const MAX_PARTS: usize = 4;
/// Maximum number of errors whose messages are compared with a pasted text: those seen last.
const MAX_COMPARED_ERRORS: usize = 400;
/// Minimum share of words that two similar messages have in common, and minimum number of words of
/// each message.
const MIN_COMMON_SHARE: f64 = 0.75;
const MIN_WORDS: usize = 4;
/// Maximum number of facts about one error.
const MAX_FACTS: usize = 40;

impl Graph<'_> {
    /// Returns the first of [`Self::error_records`].
    pub fn error_record(
        &self,
        pasted: &str,
        projects: &[Namespace],
    ) -> Result<Option<ErrorRecord>, StoreError> {
        Ok(self.error_records(pasted, projects)?.into_iter().next())
    }

    /// Returns the records of the errors that `pasted` contains, the latest seen first. Folders of
    /// paths, numbers, ids and hashes in the text do not matter. If `pasted` contains no known
    /// error, returns the records of errors with a similar message, the most similar first.
    pub fn error_records(
        &self,
        pasted: &str,
        projects: &[Namespace],
    ) -> Result<Vec<ErrorRecord>, StoreError> {
        let keys: BTreeSet<String> = pasted.lines().take(MAX_LINES).flat_map(keys_of).collect();
        let mut records = Vec::new();
        for (key, namespace) in
            keys.iter().flat_map(|key| projects.iter().map(move |namespace| (key, *namespace)))
        {
            records.extend(self.error_in(namespace, key)?);
        }
        records.sort_by_key(|record| std::cmp::Reverse(record.last_at));
        if records.is_empty() {
            return self.similar_errors(pasted, projects);
        }
        Ok(records)
    }

    /// Returns the records of errors whose messages share most of their words with a line of
    /// `pasted`, the most similar first.
    fn similar_errors(
        &self,
        pasted: &str,
        projects: &[Namespace],
    ) -> Result<Vec<ErrorRecord>, StoreError> {
        let lines: Vec<BTreeSet<String>> = pasted
            .lines()
            .take(MAX_LINES)
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
                similar.push((best, entity.namespace, key));
            }
        }
        similar.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut records = Vec::new();
        for (_, namespace, key) in similar {
            records.extend(self.error_in(namespace, &key)?);
        }
        Ok(records)
    }

    fn error_in(&self, namespace: Namespace, key: &str) -> Result<Option<ErrorRecord>, StoreError> {
        let subject = Subject::of("error", namespace, key);
        let mut marks = self.store().marks(subject, Timestamp::MIN)?;
        marks.sort_by_key(|mark| (mark.what.at, mark.episode));
        let seen = || marks.iter().filter(|mark| mark.what.says == Observation::Seen);
        let (Some(first), Some(last)) = (seen().next(), seen().next_back()) else {
            return Ok(None);
        };
        let solved = marks.iter().find(|mark| mark.what.says == Observation::Solved);
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
            message: name.unwrap_or_else(|| key.to_owned()),
            cause: detail("root_cause"),
            fix: detail("fix"),
            verification: detail("verification"),
            certainty: fix.map_or(Certainty::Hypothesis, |fix| fix.certainty),
            is_fixed: fix.is_some_and(|fix| fix.invalid_at.is_none()),
            episodes,
            returns,
            first_at: first.what.at,
            last_at: last.what.at,
            facts,
        }))
    }
}

/// Whether somebody marked the fact as wrong.
fn is_wrong(fact: &Fact) -> bool {
    fact.details.iter().any(|(name, said)| name == "corrected" && said.starts_with("wrong"))
}

/// Returns the possible error keys of a line: those of the whole line and of the texts after its
/// colons.
fn keys_of(line: &str) -> Vec<String> {
    let line = line.trim();
    let after_colons = line.match_indices(": ").map(|(at, _)| &line[at + 2..]);
    let parts = std::iter::once(line).chain(after_colons).take(MAX_PARTS);
    let keys = parts.map(text::error_key).filter(|key| text::is_specific_error(key));
    keys.collect()
}
