//! Creates the handoff for the next agent in a project: the end of the last session that did work,
//! the user's wishes, the state of the repository, open steps, decisions and failing tests.
//!
//! [`gather`] merges episodes, the latest first, so that a step that a later session has done is
//! not listed as open. [`Handoff::to_text`] renders the result within a number of characters, the
//! most important entries first. The texts come from users, agents and programs: [`guard`] quotes
//! the texts so that none of them reads as an instruction. [`entry`] puts the quotes into labelled
//! fields. The caller chooses the episodes; [`did_work`] recognises the useful ones.

mod entry;
mod guard;
mod lines;
mod other_branches;
mod page;
mod past;
pub mod recall;
mod recorded;
mod render;
mod repeats;
mod seen;
mod state;
mod steps;
mod taken_up;
mod validity;
mod work;

pub use self::{
    lines::{HandoffLine, HandoffText, repeats},
    page::UseRate,
    past::EndedSession,
    render::{HEAD, is_marked_as_record, topic},
    validity::StatementValidity,
    work::did_work,
};
use self::{
    seen::SeenSubjects,
    state::LeftState,
    validity::{SessionValidity, WithoutEnding},
};
use crate::{
    model::{
        Episode,
        evidence::without_parents,
        summary::{EnhancedSessionSummary, Outcome},
        wording::{BY_THE_USER, CHANGED_OUTSIDE, DELETED},
    },
    summarize::command_lines::failed_command,
    text::same_words,
};

const MAX_ENTRY_CHARS: usize = 200;
/// Maximum length, in characters, of the state of a repository.
const MAX_STATE_CHARS: usize = 300;
/// Maximum length, in characters, of the changes outside of the repository.
const MAX_OUTSIDE_CHARS: usize = 600;
/// Maximum length, in characters, of an open end: enough for the whole title of a task.
const MAX_OPEN_END_CHARS: usize = 300;
/// Maximum length, in characters, of a decision with its question and reason.
const MAX_DECISION_CHARS: usize = 300;
/// Maximum length, in characters, of a command that failed and its other form.
const MAX_COMMANDS_CHARS: usize = 320;
/// Number of sessions whose decisions come first. The user's decisions in earlier sessions follow,
/// then the other decisions in earlier sessions.
const DECIDING_SESSIONS: usize = 2;
const MAX_LIST_ENTRIES: usize = 20;
const MAX_FILES: usize = 30;
/// Maximum number of failing tests that are listed for one suite.
const MAX_NAMED_TESTS: usize = 10;

/// The content of a handoff: entries formatted by [`entry`] and names formatted by [`name`]. In
/// every list, the entries of later sessions come first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Handoff {
    /// The sessions that the handoff was made from.
    pub sessions: Vec<EndedSession>,
    /// Wishes of the user that apply from now on.
    pub preferences: Vec<String>,
    /// The state of the repository, a pull request and the changes outside of the repository, as
    /// the last session left them, then unpushed commits and open pull requests that earlier
    /// sessions left on other branches.
    pub repository: Vec<SessionLine>,
    /// Open steps, without steps that a later session is known to have done. The steps of sessions
    /// on other branches than the last session come last.
    pub open_ends: Vec<SessionLine>,
    pub failing_tests: Vec<FailedSuite>,
    /// Decisions of the last sessions, with the reason where it is known.
    pub decisions: Vec<SessionLine>,
    /// Causes that the last session found, and the message of its last commit, if its reports lack
    /// them.
    pub causes: Vec<String>,
    /// Errors that were fixed, each with its known cause, fix and check.
    pub errors: Vec<SessionLine>,
    /// Commands that failed, each with the form that worked.
    pub retried_commands: Vec<SessionLine>,
    /// The last value of each setting that was changed.
    pub settings: Vec<SessionLine>,
    /// Files that were changed.
    pub files: Vec<String>,
}

/// One line of text from an earlier session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLine {
    pub text: String,
    /// Index into [`Handoff::sessions`].
    pub session: usize,
}

/// A test suite whose last run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedSuite {
    /// The name of the framework, such as "pytest".
    pub framework: String,
    pub failed: u32,
    /// Number of tests, without skipped tests.
    pub total: u32,
    /// Names of some tests that failed.
    pub names: Vec<String>,
    /// Index into [`Handoff::sessions`].
    pub session: usize,
}

/// Merges `episodes`, the latest session first, and the user's wishes, the most important wish
/// first.
pub fn gather(
    episodes: &[Episode],
    preferences: &[String],
    validity: &dyn StatementValidity,
) -> Handoff {
    let wishes = preferences.iter().filter_map(|wish| quoted_wish(wish));
    let mut handoff = Handoff { preferences: wishes.collect(), ..Handoff::default() };
    let mut seen = SeenSubjects::default();
    for (session, episode) in episodes.iter().enumerate() {
        let summary = &episode.summary;
        let validity = SessionValidity { session, validity };
        let corrected = |text: &str| validity.without_corrected_wishes(text);
        let past = EndedSession::of(episode, &validity.ending(), &corrected);
        if session == 0 {
            handoff.repository(summary, &past);
            handoff.causes = recorded::causes(summary, &past);
        }
        for line in other_branches::left_work(summary, &past, &handoff.sessions) {
            let line = guard::quote(&guard::with_names(&line), MAX_STATE_CHARS);
            push(&mut handoff.repository, line, session);
        }
        handoff.open_ends(validity, summary, &past);
        handoff.failing_tests(validity, summary, &mut seen);
        handoff.decisions(validity, summary, &past);
        handoff.errors(session, summary);
        handoff.retried_commands(session, summary);
        handoff.settings(session, summary, &mut seen);
        handoff.files(episode);
        handoff.sessions.push(past);
    }
    handoff.rank();
    handoff
}

/// Quotes a wish as [`gather`] lists it; `None` for a wish without words, which is not listed.
pub fn quoted_wish(wish: &str) -> Option<String> {
    // Wishes in a summary are already quoted.
    guard::quote(wish.trim_matches('"'), MAX_ENTRY_CHARS)
}

/// Merges the earlier part of one session with the user's wishes, for [`Handoff::to_short_text`].
/// The text does not quote the requests and reports of the session, so decisions and open ends in
/// them are listed.
pub fn gather_part(
    episode: Option<&Episode>,
    preferences: &[String],
    validity: &dyn StatementValidity,
) -> Handoff {
    let episodes = episode.map_or(&[][..], std::slice::from_ref);
    let mut handoff = gather(episodes, preferences, &WithoutEnding(validity));
    // No fact is made from some decisions in the user's words, for example if a setting already
    // states the decision.
    let decisions =
        episode.iter().flat_map(|episode| episode.summary.key_decisions.iter().flatten());
    for record in decisions.rev() {
        let text = &record.decision;
        if text.starts_with("User: ") && validity.holds(0, text).is_none() {
            push(&mut handoff.decisions, guard::quote(text, MAX_DECISION_CHARS), 0);
        }
    }
    handoff
}

impl Handoff {
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.preferences.is_empty()
    }

    /// Moves the open ends of other branches behind the others, and orders the decisions of earlier
    /// sessions.
    fn rank(&mut self) {
        let Some(last) = self.sessions.first() else { return };
        let sessions = &self.sessions;
        self.open_ends.sort_by_key(|line| sessions[line.session].is_on_another_branch(last));
        self.decisions.sort_by_key(|line| {
            let is_users = line.text.contains(BY_THE_USER) || line.text.starts_with("“User: ");
            (line.session >= DECIDING_SESSIONS).then_some(!is_users)
        });
    }

    /// Adds the state that the last session left. States and pull requests of earlier sessions are
    /// outdated.
    fn repository(&mut self, summary: &EnhancedSessionSummary, past: &EndedSession) {
        let has_one_branch = past.own_branches().count() <= 1;
        let state = LeftState::of(summary, &past.branches).text;
        let state = state.map(|state| guard::with_names(&state::as_seen(&state, has_one_branch)));
        push(&mut self.repository, state.and_then(|line| guard::quote(&line, MAX_STATE_CHARS)), 0);
        // The address of a pull request in a report is more recent.
        let pull_request =
            state::pull_request(summary, has_one_branch).filter(|_| !past.has_reported("/pull/"));
        push(
            &mut self.repository,
            pull_request.and_then(|done| guard::quote(done, MAX_ENTRY_CHARS)),
            0,
        );
        let mut done = summary.completed_tasks.iter().flatten();
        let outside = done.find(|done| done.starts_with(CHANGED_OUTSIDE));
        push(
            &mut self.repository,
            outside.and_then(|done| guard::quote(done, MAX_OUTSIDE_CHARS)),
            0,
        );
    }

    fn open_ends(
        &mut self,
        validity: SessionValidity<'_>,
        summary: &EnhancedSessionSummary,
        past: &EndedSession,
    ) {
        let session = validity.session;
        let is_reported = session == 0 && validity.ending().report.is_some();
        let is_settled = |step: &str| {
            if is_reported && (past.reports(step) || past.offers(step)) {
                return true;
            }
            let is_noted_later = |later: &EndedSession| {
                steps::note(step).is_some_and(|path| later.notes.iter().any(|known| known == path))
            };
            if self.sessions.iter().any(is_noted_later) {
                return true;
            }
            // A step of the last session or of a todo file is open if it is a current fact, even if
            // something similar was done, such as adding the todo file.
            if (session == 0 || steps::note(step).is_some()) && validity.is_fact(step) {
                return false;
            }
            taken_up::is_taken_up(&self.sessions, past, step, validity.is_fact(step))
                || !validity.holds(step)
                || steps::is_no_work(step)
                // A session that completed its work solved its failed steps in another way.
                || summary.outcome == Outcome::Completed && step.starts_with("Resolve `")
                || session > 0 && steps::is_short_lived(step)
        };
        // The failing tests have a separate section.
        let tests_fail = summary.test_results.as_ref().is_some_and(|tests| tests.failed > 0);
        let is_listed = |step: &str| tests_fail && steps::is_about_tests(step);
        let steps = summary.next_steps.iter().flatten();
        let open = steps.filter(|step| !is_listed(step) && !is_settled(step));
        let formatted = |step: &String| match validity.sentence(step) {
            _ if is_reported && past.reports_findings(step) => {
                Some("The findings that it reported at the end were not fixed".to_owned())
            }
            Some(sentence) => {
                guard::quote(past.without_quoted_request(&sentence), MAX_OPEN_END_CHARS)
            }
            None => entry::step(past.without_quoted_request(step)),
        };
        let open: Vec<String> = open.filter_map(formatted).collect();
        for step in open {
            push(&mut self.open_ends, Some(step), session);
        }
    }

    fn failing_tests(
        &mut self,
        validity: SessionValidity<'_>,
        summary: &EnhancedSessionSummary,
        seen: &mut SeenSubjects,
    ) {
        let Some(tests) = &summary.test_results else { return };
        if seen.replaces(tests) {
            return;
        }
        let named = without_parents(tests.failed_tests.as_deref().unwrap_or_default()).into_iter();
        // If the names of the failing tests are known, all of them may have passed since.
        let is_over =
            named.clone().next().is_some() && !named.clone().any(|test| validity.holds(test));
        if tests.failed > 0 && !is_over {
            let names = named.filter(|test| validity.holds(test)).take(MAX_NAMED_TESTS);
            self.failing_tests.push(FailedSuite {
                framework: name(&tests.framework),
                failed: tests.failed,
                total: tests.total.saturating_sub(tests.skipped),
                names: names.filter_map(|name| guard::name(name)).collect(),
                session: validity.session,
            });
        }
    }

    fn decisions(
        &mut self,
        validity: SessionValidity<'_>,
        summary: &EnhancedSessionSummary,
        past: &EndedSession,
    ) {
        // The last decisions of a session are closest to its result.
        for record in summary.key_decisions.iter().flatten().rev() {
            let sentence = validity.sentence(&record.decision);
            // The ending of the last session quotes the requests of the user.
            let is_quoted = |sentence: &String| {
                let quote = sentence.strip_prefix("User: ");
                validity.session == 0 && quote.is_some_and(|quote| past.asks(quote))
            };
            let sentence = sentence.filter(|sentence| !is_quoted(sentence));
            let quote = sentence.and_then(|sentence| guard::quote(&sentence, MAX_DECISION_CHARS));
            push(&mut self.decisions, quote, validity.session);
        }
        if validity.session == 0 {
            for decision in recorded::decisions(summary, past, validity) {
                push(&mut self.decisions, Some(decision), 0);
            }
        }
    }

    fn errors(&mut self, session: usize, summary: &EnhancedSessionSummary) {
        for record in summary.errors_resolved.iter().flatten() {
            push(&mut self.errors, entry::error(record), session);
        }
    }

    fn retried_commands(&mut self, session: usize, summary: &EnhancedSessionSummary) {
        for line in summary.discoveries.iter().flatten() {
            let Some(failed) = failed_command(line) else { continue };
            let is_listed = |known: &SessionLine| known.text.starts_with(&format!("“`{failed}` "));
            // A line that was cut may lack the part in which the commands differ.
            let quote =
                guard::quote(line, MAX_COMMANDS_CHARS).filter(|quote| !quote.ends_with("…”"));
            if !self.retried_commands.iter().any(is_listed) {
                push(&mut self.retried_commands, quote, session);
            }
        }
    }

    fn settings(
        &mut self,
        session: usize,
        summary: &EnhancedSessionSummary,
        seen: &mut SeenSubjects,
    ) {
        // Only the last change of each setting counts.
        for change in summary.config_changes.iter().flatten().rev() {
            let key = (change.file.clone(), change.setting.clone());
            if !seen.settings.contains(&key) {
                seen.settings.push(key);
                push(&mut self.settings, entry::setting(change), session);
            }
        }
    }

    fn files(&mut self, episode: &Episode) {
        let files = episode.summary.files_modified.iter().flatten();
        for file in files.filter(|file| !file.ends_with(DELETED)) {
            let Some(file) = guard::name(episode.project.relative(file)) else { continue };
            if self.files.len() < MAX_FILES && !self.files.contains(&file) {
                self.files.push(file);
            }
        }
    }
}

/// Formats a name for a handoff: only characters that are valid in names, at a limited length.
pub fn name(text: &str) -> String {
    guard::name(text).unwrap_or_default()
}

/// Formats the words of a person or an agent for a field of a handoff: one short line.
pub fn line(text: &str) -> String {
    guard::line(text).unwrap_or_default()
}

/// Adds a text unless the list is full or already has an entry with the same words.
fn push(list: &mut Vec<SessionLine>, text: Option<String>, session: usize) {
    let Some(text) = text else { return };
    if list.len() < MAX_LIST_ENTRIES && !list.iter().any(|known| same_words(&known.text, &text)) {
        list.push(SessionLine { text, session });
    }
}

#[cfg(test)]
mod tests;
