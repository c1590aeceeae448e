//! Checks a model's answer against the evidence and merges it into the summary.
//!
//! The model contributes prose: objective, completed tasks, decisions, findings, next steps,
//! causes, fixes and reasons. It also contributes topics, relations and, if the transcript does not
//! show it, the outcome. Facts that were read from the transcript (files, tests, tools, settings,
//! counts, times) stay unchanged. A claim is dropped and counted
//!
//! - if it states a result of tests that no test run shows,
//! - if its setting is not in the evidence,
//! - if the session did not touch its file, and no command, prompt, commit subject, message or note
//!   that the model received mentions the file; for a completed task or a fix, a message or note is
//!   enough only if the evidence is incomplete,
//! - if it contains the hash of a commit that the session does not contain,
//! - if it states a push, merge, deployment or publication of which the session shows nothing,
//! - if it quotes words of the user that the user did not write, or a choice or request of the user
//!   that is in no text of the session,
//! - if it is a decision, a next step or a discovery that shares neither a name nor enough words
//!   with the session,
//! - if it is a next step that removes something, and the session contains no word for a removal,
//!   none of the names in the step, and not all of the step's other words,
//! - if it is a resolved error that names a test which failed to the end.
//!
//! The objective is not checked.

mod acts;
mod claims;
mod ground;
mod session_text;

use crate::{
    model::{
        EnhancedSessionSummary,
        summary::{ConfigChange, DecisionRecord, ErrorResolution, RelationRecord},
        wording::{NO_REASON, NOT_STATED, USERS_WORDS},
    },
    text::{cut, one_line, same_words, share_of_words, words},
};

pub use self::{claims::Claims, ground::Grounds};
use self::{ground::FileRelation, session_text::SessionText};

/// A summary with the accepted claims of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    pub summary: EnhancedSessionSummary,
    /// Number of claims that were dropped for lack of evidence.
    pub dropped: u32,
}

/// Maximum number of entries in a list.
const MAX_ENTRIES: usize = 12;
/// Maximum length, in characters, of an entry.
const MAX_ENTRY_CHARS: usize = 300;
/// Maximum length, in characters, of the objective and of the root cause.
const MAX_LONG_ENTRY_CHARS: usize = 600;
/// Maximum length, in characters, of a topic or of an entity's name.
const MAX_TOPIC_CHARS: usize = 60;

/// Merges the `claims` of a model into the summary that was derived from evidence.
pub fn merge(evidence: EnhancedSessionSummary, claims: Claims, grounds: &Grounds<'_>) -> Merged {
    let session = SessionText::of(grounds);
    let mut checker = ClaimChecker { grounds, session, dropped: Vec::new() };
    let mut summary = evidence;
    if let Some(objective) = claims.objective.and_then(|text| long_line(&text)) {
        summary.objective = objective;
    }
    // An outcome with a reason was read from the transcript, for example an unanswered question.
    if summary.outcome_reason.is_none() {
        summary.outcome = claims.outcome.unwrap_or(summary.outcome);
    }
    let tasks = checker.tasks(claims.completed_tasks);
    summary.completed_tasks = some(tasks).or(summary.completed_tasks);
    let decisions = checker.decisions(claims.key_decisions);
    summary.key_decisions =
        some(with_user_decisions(decisions, summary.key_decisions.unwrap_or_default()));
    let steps = checker.steps(claims.next_steps);
    summary.next_steps = some(steps).or(summary.next_steps);
    let discoveries = checker.statements(claims.discoveries);
    summary.discoveries = some(discoveries).or(summary.discoveries);
    summary.topics = some(checker.accepted(claims.topics, MAX_TOPIC_CHARS, FileRelation::Known));
    summary.relations = some(checker.relations(claims.relations));
    let cause = claims.root_cause_analysis.into_iter().collect();
    let cause = checker.accepted(cause, MAX_LONG_ENTRY_CHARS, FileRelation::Known).pop();
    summary.root_cause_analysis = cause.or(summary.root_cause_analysis);
    let errors = checker.errors(claims.errors_resolved);
    summary.errors_resolved = some(joined(errors, summary.errors_resolved.unwrap_or_default()));
    summary.config_changes =
        some(checker.reasons(claims.config_changes, summary.config_changes.unwrap_or_default()));
    Merged { summary, dropped: u32::try_from(checker.dropped.len()).unwrap_or(u32::MAX) }
}

struct ClaimChecker<'g> {
    grounds: &'g Grounds<'g>,
    session: SessionText,
    /// The dropped claims. A claim that the model repeats is listed once.
    dropped: Vec<String>,
}

impl ClaimChecker<'_> {
    /// Keeps the completed tasks whose files were touched.
    fn tasks(&mut self, entries: Vec<String>) -> Vec<String> {
        self.accepted(entries, MAX_ENTRY_CHARS, FileRelation::Touched)
    }

    /// Keeps the statements that are about the session and whose files are
    /// [`FileRelation::Known`].
    fn statements(&mut self, entries: Vec<String>) -> Vec<String> {
        let is_empty = |entry: &str| line(entry, MAX_ENTRY_CHARS).is_none();
        let entries = entries.into_iter().filter(|entry| is_empty(entry) || self.is_about(entry));
        let entries = entries.collect();
        self.accepted(entries, MAX_ENTRY_CHARS, FileRelation::Known)
    }

    /// Keeps the next steps that are about the session. A step that removes something needs words
    /// about a removal in the session.
    fn steps(&mut self, entries: Vec<String>) -> Vec<String> {
        let (known, others): (Vec<String>, Vec<String>) =
            entries.into_iter().partition(|entry| self.session.has_removal(entry));
        others.into_iter().for_each(|entry| self.drop(entry));
        self.statements(known)
    }

    /// Returns whether a statement is about the session; drops other statements.
    fn is_about(&mut self, statement: &str) -> bool {
        let is_about = self.session.is_about(statement);
        if !is_about {
            self.drop(statement.to_owned());
        }
        is_about
    }

    fn accepted(
        &mut self,
        entries: Vec<String>,
        length: usize,
        files: FileRelation,
    ) -> Vec<String> {
        let mut kept: Vec<String> = Vec::new();
        for entry in entries {
            let Some(entry) = line(&entry, length) else { continue };
            if !self.accepts(&[&entry], files) || kept.iter().any(|known| same_words(known, &entry))
            {
                continue;
            }
            kept.push(entry);
        }
        kept.truncate(MAX_ENTRIES);
        kept
    }

    fn accepts(&mut self, texts: &[&str], files: FileRelation) -> bool {
        let (grounds, session) = (self.grounds, &self.session);
        let is_grounded = texts.iter().all(|text| {
            grounds.has(files, text)
                && grounds.tests_hold(text)
                && session.has_hashes(text)
                && session.has_quotes(text)
                && acts::are_shown(text, grounds.evidence, session)
        });
        if !is_grounded {
            self.drop(texts.join(" "));
        }
        is_grounded
    }

    fn drop(&mut self, claim: String) {
        if !self.dropped.iter().any(|known| same_words(known, &claim)) {
            self.dropped.push(claim);
        }
    }

    fn decisions(&mut self, decisions: Vec<DecisionRecord>) -> Vec<DecisionRecord> {
        let mut kept: Vec<DecisionRecord> = Vec::new();
        for DecisionRecord { decision, rationale, alternatives } in decisions {
            let Some(decision) = line(&decision, MAX_ENTRY_CHARS) else { continue };
            let rationale =
                line(&rationale, MAX_ENTRY_CHARS).unwrap_or_else(|| NO_REASON.to_owned());
            if !self.accepts(&[&decision, &rationale], FileRelation::Known)
                || !self.is_about(&reasoned(&decision, &rationale))
                || !self.is_quote(&decision, &rationale)
                || kept.iter().any(|known| same_words(&known.decision, &decision))
            {
                continue;
            }
            let alternatives: Vec<String> = alternatives
                .into_iter()
                .flatten()
                .filter_map(|one| line(&one, MAX_ENTRY_CHARS))
                .filter(|one| self.accepts(&[one], FileRelation::Known))
                .take(MAX_ENTRIES)
                .collect();
            kept.push(DecisionRecord { decision, rationale, alternatives: some(alternatives) });
        }
        kept.truncate(MAX_ENTRIES);
        kept
    }

    /// Returns whether a decision that claims to be in the user's words is in their words; drops
    /// other decisions.
    fn is_quote(&mut self, decision: &str, rationale: &str) -> bool {
        let is_quote = !rationale.starts_with(USERS_WORDS)
            || self.session.is_of_user(decision)
            || rationale.contains(['"', '“', '«']);
        if !is_quote {
            self.drop(decision.to_owned());
        }
        is_quote
    }

    /// Keeps the accepted records. A record with a wrong verification loses only its verification,
    /// because the rest may be true.
    fn errors(&mut self, errors: Vec<ErrorResolution>) -> Vec<ErrorResolution> {
        let mut kept: Vec<ErrorResolution> = Vec::new();
        for claimed in errors {
            let Some(error) = line(&claimed.error, MAX_ENTRY_CHARS) else { continue };
            let stated =
                |text: &str| line(text, MAX_ENTRY_CHARS).unwrap_or_else(|| NOT_STATED.to_owned());
            let (root_cause, fix) = (stated(&claimed.root_cause), stated(&claimed.fix));
            if self.grounds.still_fails(&error) {
                self.drop(error);
                continue;
            }
            if !self.accepts(&[&error, &root_cause], FileRelation::Known)
                || !self.accepts(&[&fix], FileRelation::Touched)
            {
                continue;
            }
            let mut verification = stated(&claimed.verification);
            if !self.accepts(&[&verification], FileRelation::Known) {
                verification = NOT_STATED.to_owned();
            }
            kept.push(ErrorResolution { error, root_cause, fix, verification });
        }
        kept.truncate(MAX_ENTRIES);
        kept
    }

    fn relations(&mut self, relations: Vec<RelationRecord>) -> Vec<RelationRecord> {
        let mut kept: Vec<RelationRecord> = Vec::new();
        for claimed in relations {
            let named = |text: &str| line(text, MAX_TOPIC_CHARS);
            let (Some(source), Some(relation), Some(target)) =
                (named(&claimed.source), named(&claimed.relation), named(&claimed.target))
            else {
                continue;
            };
            let sentence = line(&claimed.sentence, MAX_ENTRY_CHARS);
            let sentence = sentence.unwrap_or_else(|| format!("{source} {relation} {target}"));
            if same_words(&source, &target)
                || !self.accepts(&[&source, &target, &sentence], FileRelation::Known)
                || kept.iter().any(|known| same_words(&known.sentence, &sentence))
            {
                continue;
            }
            kept.push(RelationRecord { source, relation, target, sentence });
        }
        kept.truncate(MAX_ENTRIES);
        kept
    }

    /// Adds the accepted reasons of the model to the settings `read` from the evidence, and drops
    /// claims about other settings.
    fn reasons(
        &mut self,
        claimed: Vec<ConfigChange>,
        mut read: Vec<ConfigChange>,
    ) -> Vec<ConfigChange> {
        for claim in claimed {
            let known = read.iter_mut().find(|change| is_same_setting(change, &claim));
            match known {
                None => self.drop(format!("{} {}", claim.file, claim.setting)),
                Some(change) if change.reason == NOT_STATED => {
                    let reason = line(&claim.reason, MAX_ENTRY_CHARS);
                    let reason = reason.filter(|one| self.accepts(&[one], FileRelation::Known));
                    change.reason = reason.unwrap_or_else(|| NOT_STATED.to_owned());
                }
                Some(_) => {}
            }
        }
        read
    }
}

/// Returns the model's decisions, and the decisions in `read` that quote the user. If the model has
/// no decisions, returns all decisions in `read`.
fn with_user_decisions(
    claimed: Vec<DecisionRecord>,
    read: Vec<DecisionRecord>,
) -> Vec<DecisionRecord> {
    if claimed.is_empty() {
        return read;
    }
    let is_claimed = |decision: &str| claimed.iter().any(|one| same_words(&one.decision, decision));
    let is_missing =
        |one: &DecisionRecord| one.rationale.starts_with(USERS_WORDS) && !is_claimed(&one.decision);
    let missing: Vec<DecisionRecord> = read.into_iter().filter(is_missing).collect();
    [missing, claimed].concat()
}

/// Returns a decision with its reason, if it is stated.
fn reasoned(decision: &str, rationale: &str) -> String {
    match rationale {
        NO_REASON => decision.to_owned(),
        rationale => format!("{decision}: {rationale}"),
    }
}

/// Joins the model's error records, completed from the evidence, with the errors of the evidence
/// that the model does not mention.
fn joined(claimed: Vec<ErrorResolution>, read: Vec<ErrorResolution>) -> Vec<ErrorResolution> {
    let mut joined = claimed;
    // Indexes of the claims that are not joined with an entry of `read` yet.
    let mut open: Vec<usize> = (0..joined.len()).collect();
    let mut unclaimed: Vec<ErrorResolution> = Vec::new();
    for seen in read {
        let seen_words = words(&seen.error);
        let same = open.iter().position(|at| {
            let claimed_words = words(&joined[*at].error);
            share_of_words(&claimed_words, &seen_words) >= 0.5
                || share_of_words(&seen_words, &claimed_words) >= 0.5
        });
        match same {
            Some(found) => {
                let one = &mut joined[open.remove(found)];
                one.error = seen.error;
                if seen.verification != NOT_STATED {
                    one.verification = seen.verification;
                }
                if one.fix == NOT_STATED {
                    one.fix = seen.fix;
                }
                if one.root_cause == NOT_STATED {
                    one.root_cause = seen.root_cause;
                }
            }
            None => unclaimed.push(seen),
        }
    }
    joined.extend(unclaimed);
    joined.truncate(MAX_ENTRIES);
    joined
}

fn is_same_setting(change: &ConfigChange, claim: &ConfigChange) -> bool {
    let last = |key: &str| key.rsplit(['.', '/']).next().unwrap_or(key).trim().to_lowercase();
    let same_file = ground::is_same_file(&change.file, &claim.file);
    same_file && last(&change.setting) == last(&claim.setting)
}

fn line(text: &str, length: usize) -> Option<String> {
    let line = cut(&one_line(text), length);
    let is_empty = line.is_empty()
        || ["none", "null", "n/a", NOT_STATED].iter().any(|no| line.eq_ignore_ascii_case(no));
    (!is_empty).then_some(line)
}

fn long_line(text: &str) -> Option<String> {
    line(text, MAX_LONG_ENTRY_CHARS)
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

#[cfg(test)]
mod tests;
