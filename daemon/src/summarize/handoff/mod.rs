//! What the next agent in a project needs now: what the last sessions were for, how they stand,
//! what was decided, what is open, what fails.
//!
//! [`gather`] puts it together out of episodes, the latest first, so that what a later session
//! settled is not told as open any more; [`Handoff::to_text`] writes it in as many characters as
//! there are, the most needed first. What an agent is told this way was written by others:
//! [`guard`] quotes it, so that none of it reads as an order, and [`entry`] puts the quotes into
//! labelled fields. Which episodes, and when, is left to others.

mod entry;
mod guard;
mod render;

use crate::{
    model::{
        Episode, Timestamp,
        summary::{EnhancedSessionSummary, Outcome},
    },
    summarize::text::{same_words, share_of_words, words},
};

/// Characters of one entry at most.
const ENTRY: usize = 280;
/// Entries of one kind at most.
const ENTRIES: usize = 20;
/// Files named at most.
const FILES: usize = 30;
/// Failing tests named at most, of one suite.
const TESTS: usize = 10;
/// Branches of a session named at most.
const BRANCHES: usize = 5;

/// What is handed over: entries as [`entry`] writes them, and names as [`name`] does. Every list
/// begins with what is newest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Handoff {
    /// The sessions it was made from.
    pub sessions: Vec<Past>,
    /// What is left to do, and nobody is known to have done since.
    pub open_ends: Vec<Told>,
    /// Test suites whose last run failed.
    pub failing_tests: Vec<Failing>,
    /// What was decided, with the reason where one is known.
    pub decisions: Vec<Told>,
    /// Errors that were met and fixed: what went wrong, why, and what helped.
    pub errors: Vec<Told>,
    /// Settings as they were left.
    pub settings: Vec<Told>,
    /// Files that were changed.
    pub files: Vec<String>,
}

/// An earlier session.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// The agent's id of it.
    pub session_id: String,
    /// Its title.
    pub name: String,
    /// What it was for.
    pub objective: String,
    /// How it ended.
    pub outcome: Outcome,
    /// When it ended.
    pub ended_at: Timestamp,
    /// Branches worked on.
    pub branches: Vec<String>,
    /// What was done in it.
    pub done: Vec<String>,
}

/// Something that a session told, as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What.
    pub text: String,
    /// By which of [`Handoff::sessions`].
    pub session: usize,
}

/// A test suite whose last run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// "pytest".
    pub framework: String,
    /// Tests that failed.
    pub failed: u32,
    /// Tests run.
    pub total: u32,
    /// Names of some that failed.
    pub names: Vec<String>,
    /// In which of [`Handoff::sessions`].
    pub session: usize,
}

/// Puts together what `episodes`, the latest session first, hand over; empty when they are.
pub fn gather(episodes: &[Episode]) -> Handoff {
    let mut handoff = Handoff::default();
    let mut seen = Seen::default();
    for (session, episode) in episodes.iter().enumerate() {
        let summary = &episode.summary;
        let past = past(episode);
        handoff.open_ends(session, summary, &past.done);
        handoff.failing_tests(session, summary, &mut seen);
        handoff.decisions(session, summary);
        handoff.errors(session, summary);
        handoff.settings(session, summary, &mut seen);
        handoff.files(episode);
        handoff.sessions.push(past);
    }
    handoff
}

/// What a later session has said already.
#[derive(Default)]
struct Seen {
    frameworks: Vec<String>,
    settings: Vec<(String, String)>,
}

impl Handoff {
    /// Whether there is nothing to hand over.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    fn open_ends(&mut self, session: usize, summary: &EnhancedSessionSummary, done: &[String]) {
        let later = self.sessions.iter().flat_map(|past| &past.done).chain(done);
        let settled: Vec<String> = later.cloned().collect();
        // What its tests' last run says stands on its own.
        let tests_fail = summary.test_results.as_ref().is_some_and(|tests| tests.failed > 0);
        let is_told = |step: &str| tests_fail && is_about_tests(step);
        let steps = summary.next_steps.iter().flatten().filter(|step| !is_told(step));
        for step in steps {
            if !settled.iter().any(|done| settles(done, step)) {
                push(&mut self.open_ends, entry::step(step), session);
            }
        }
    }

    fn failing_tests(&mut self, session: usize, summary: &EnhancedSessionSummary, seen: &mut Seen) {
        let Some(tests) = &summary.test_results else { return };
        if seen.frameworks.contains(&tests.framework) {
            return;
        }
        seen.frameworks.push(tests.framework.clone());
        if tests.failed > 0 {
            let names = tests.failed_tests.iter().flatten().take(TESTS);
            self.failing_tests.push(Failing {
                framework: name(&tests.framework),
                failed: tests.failed,
                total: tests.total,
                names: names.filter_map(|name| guard::name(name)).collect(),
                session,
            });
        }
    }

    fn decisions(&mut self, session: usize, summary: &EnhancedSessionSummary) {
        for record in summary.key_decisions.iter().flatten() {
            push(&mut self.decisions, entry::decision(record), session);
        }
    }

    fn errors(&mut self, session: usize, summary: &EnhancedSessionSummary) {
        for record in summary.errors_resolved.iter().flatten() {
            push(&mut self.errors, entry::error(record), session);
        }
    }

    fn settings(&mut self, session: usize, summary: &EnhancedSessionSummary, seen: &mut Seen) {
        // The last change of a setting in a session is the one that holds.
        for change in summary.config_changes.iter().flatten().rev() {
            let key = (change.file.clone(), change.setting.clone());
            if !seen.settings.contains(&key) {
                seen.settings.push(key);
                push(&mut self.settings, entry::setting(change), session);
            }
        }
    }

    fn files(&mut self, episode: &Episode) {
        for file in episode.summary.files_modified.iter().flatten() {
            let Some(file) = guard::name(episode.project.relative(file)) else { continue };
            if self.files.len() < FILES && !self.files.contains(&file) {
                self.files.push(file);
            }
        }
    }
}

/// A name of others as a handoff shows it: the characters of names alone, and not many of them.
pub fn name(text: &str) -> String {
    guard::name(text).unwrap_or_default()
}

/// What a person or an agent said as a field of its own shows it: one short line.
pub fn line(text: &str) -> String {
    guard::line(text).unwrap_or_default()
}

fn past(episode: &Episode) -> Past {
    let summary = &episode.summary;
    let done = summary.completed_tasks.iter().chain(&summary.discoveries).flatten();
    let branches = episode.branches.iter().filter_map(|branch| guard::name(branch));
    Past {
        session_id: episode.session_id.id.clone(),
        name: line(&episode.name),
        objective: line(&summary.objective),
        outcome: summary.outcome,
        ended_at: episode.ended_at,
        branches: branches.take(BRANCHES).collect(),
        done: done.filter_map(|done| guard::quote(done, ENTRY)).take(ENTRIES).collect(),
    }
}

/// Whether what was done is what a step asked for: most of its words, in whatever form.
fn settles(done: &str, step: &str) -> bool {
    let asked = words(step);
    same_words(done, step) || asked.len() > 2 && share_of_words(&asked, &words(done)) >= 0.7
}

/// Adds what no later session has said in the same words.
fn push(list: &mut Vec<Told>, text: Option<String>, session: usize) {
    let Some(text) = text else { return };
    if list.len() < ENTRIES && !list.iter().any(|told| same_words(&told.text, &text)) {
        list.push(Told { text, session });
    }
}

/// The step that a summary derives from its tests' last run.
fn is_about_tests(step: &str) -> bool {
    let step = step.to_ascii_lowercase();
    step.starts_with("fix ") && step.contains("failing test")
}

#[cfg(test)]
mod tests;
