//! Describes how one session ended, and how it relates to the other sessions of a handoff.

use crate::{
    model::{
        CloseReason, Episode, SessionEnding, Timestamp,
        summary::{EnhancedSessionSummary, Outcome},
        wording::{ASKED_LAST, BEFORE_THAT, BEFORE_THE_CHANGE, REQUEST_STATES},
    },
    summarize::{
        handoff::{MAX_ENTRY_CHARS, MAX_LIST_ENTRIES, entry, guard, steps},
        text::{pattern, same_words, share_of_words, words},
    },
};

/// A later request is about an open end if it contains at least this share of the open end's words.
const SAME_TASK_SHARE: f64 = 0.6;
/// Text A repeats text B if B contains at least this share of the words of A.
const REPEATED_SHARE: f64 = 0.9;
/// Minimum number of different words of a step that is compared with a report.
const MIN_REPEATED_WORDS: usize = 6;
const MAX_BRANCHES: usize = 5;
/// Maximum length, in characters, of the text about the last test runs.
const MAX_TESTS_CHARS: usize = 320;

#[derive(Clone, Debug, PartialEq)]
pub struct EndedSession {
    /// The id that the agent gave the session.
    pub session_id: String,
    pub name: String,
    /// What the user asked for first, or else what the session was about.
    pub objective: String,
    /// Whether the objective is a request of the user. Also true if the ending of the session is
    /// unknown.
    pub is_asked: bool,
    /// The later requests of the user, in order.
    pub asked_later: Vec<String>,
    pub outcome: Outcome,
    /// The reason for the outcome; may be empty.
    pub reason: String,
    /// The last report of the agent; may be empty.
    pub last_words: String,
    /// An earlier report; empty if the last report is sufficient or no earlier report is known.
    pub earlier_words: String,
    /// Whether the agent's process exited before the work was complete. After complete work, such
    /// an exit is normal for an agent without hooks, which does not report the end of its session.
    pub was_killed: bool,
    pub ended_at: Timestamp,
    pub branches: Vec<String>,
    pub done: Vec<String>,
    /// The last run of each test suite. If the ending of the session is unknown, this is the last
    /// test run if all its tests passed, or else `None`.
    pub last_tests: Option<String>,
    /// Whether the session ended with a question to the user.
    pub awaits_answer: bool,
    /// The state of the last request that the handoff quotes, if the agent did not answer the request.
    pub last_request: Option<&'static str>,
    /// The paths of the todo files in which open steps are noted.
    pub notes: Vec<String>,
}

impl EndedSession {
    pub(super) fn of(episode: &Episode, ending: &SessionEnding) -> EndedSession {
        let summary = &episode.summary;
        let done = summary.completed_tasks.iter().flatten();
        let line = |text: Option<&str>, limit| {
            text.and_then(|text| guard::line_within(text, limit)).unwrap_or_default()
        };
        let (last, earlier) = match &ending.report {
            Some(report) => (Some(report.as_str()), ending.earlier_report.as_deref()),
            None => split_last_words(summary.last_words.as_deref()),
        };
        let tests = |text: &Option<String>| {
            text.as_deref()
                .and_then(|text| guard::line_within(&guard::with_literals(text), MAX_TESTS_CHARS))
        };
        let asked = ending.first_request.as_deref().unwrap_or(&summary.objective);
        // If later requests follow the first request, a title with the words of the first request
        // is misleading.
        let repeats_first_request = |name: &str| {
            ending.first_request.is_some()
                && !ending.later_requests.is_empty()
                && share_of_words(&words(name), &words(asked)) >= REPEATED_SHARE
        };
        let name = Some(episode.name.as_str())
            .filter(|name| !is_cut(name) && !repeats_first_request(name));
        EndedSession {
            session_id: episode.session_id.id.clone(),
            name: line(name, MAX_ENTRY_CHARS),
            objective: line(Some(asked), SessionEnding::REQUEST_LENGTH),
            is_asked: ending.about.is_none(),
            asked_later: ending
                .later_requests
                .iter()
                .filter_map(|text| guard::line_within(text, SessionEnding::LATER_REQUEST_LENGTH))
                .collect(),
            outcome: summary.outcome,
            reason: line(summary.outcome_reason.as_deref(), MAX_ENTRY_CHARS),
            last_words: line(last, SessionEnding::REPORT_LENGTH),
            earlier_words: line(earlier, SessionEnding::EARLIER_REPORT_LENGTH),
            was_killed: episode.reason == CloseReason::AgentExited
                && summary.outcome != Outcome::Completed,
            ended_at: episode.ended_at,
            branches: branches(episode, ending),
            done: done
                .filter_map(|done| guard::quote(done, MAX_ENTRY_CHARS))
                .take(MAX_LIST_ENTRIES)
                .collect(),
            last_tests: match &ending.report {
                Some(_) => tests(&ending.tests),
                None => summary.test_results.as_ref().and_then(entry::passed_tests),
            },
            awaits_answer: ending.question.is_some(),
            last_request: last_request(
                summary,
                ending.later_requests.last().map_or(asked, String::as_str),
            ),
            notes: (summary.next_steps.iter().flatten())
                .filter_map(|step| steps::note(step).map(str::to_owned))
                .collect(),
        }
    }

    /// Whether a request of this session is about the task `open` of an earlier session.
    pub(super) fn took_up(&self, open: &str) -> bool {
        let wanted = words(open);
        std::iter::once(&self.objective).chain(&self.asked_later).any(|asked| {
            !wanted.is_empty() && same_words(asked, open)
                || wanted.len() > 2 && share_of_words(&wanted, &words(asked)) >= SAME_TASK_SHARE
        })
    }

    /// Whether a request of the user contains almost all words of a text.
    pub(super) fn asks(&self, text: &str) -> bool {
        let wanted = words(text);
        let mut requests = std::iter::once(&self.objective).chain(&self.asked_later);
        self.is_asked
            && requests.any(|asked| share_of_words(&wanted, &words(asked)) >= REPEATED_SHARE)
    }

    /// Whether the last report contains almost all words of a step. False for a step with few
    /// words, and for a step that is noted in a todo file.
    pub(super) fn reports(&self, step: &str) -> bool {
        let wanted = words(step);
        wanted.len() >= MIN_REPEATED_WORDS
            && !step.contains("(todo ")
            && share_of_words(&wanted, &words(&self.last_words)) >= REPEATED_SHARE
    }

    /// Whether this session worked on branches other than the main branch, and `later` worked on
    /// none of them. False if the branches of `later` are unknown.
    pub(super) fn is_on_another_branch(&self, later: &EndedSession) -> bool {
        let mut own = self.own_branches();
        let has_own = own.next().is_some();
        let is_shared = self.own_branches().any(|branch| later.branches.contains(branch));
        has_own && !later.branches.is_empty() && !is_shared
    }

    /// Returns the branches other than the main branch.
    pub(super) fn own_branches(&self) -> impl Iterator<Item = &String> {
        let is_main = |branch: &str| matches!(branch, "main" | "master" | "develop");
        self.branches.iter().filter(move |branch| !is_main(branch))
    }
}

/// Returns the first [`MAX_BRANCHES`] branches of a session that still exist.
fn branches(episode: &Episode, ending: &SessionEnding) -> Vec<String> {
    let is_deleted = |branch: &&String| ending.deleted_branches.contains(branch);
    let kept = episode.branches.iter().filter(|branch| !is_deleted(branch));
    // A detached HEAD, for example during a rebase, is recorded as the branch `HEAD`.
    let branches = kept.filter(|branch| *branch != "HEAD");
    branches.filter_map(|branch| guard::name(branch)).take(MAX_BRANCHES).collect()
}

/// Returns the state of the request `quoted`, if the agent did not answer the request.
fn last_request(summary: &EnhancedSessionSummary, quoted: &str) -> Option<&'static str> {
    summary.next_steps.iter().flatten().find_map(|step| {
        let step = step.strip_prefix(ASKED_LAST)?;
        let state = REQUEST_STATES.into_iter().find(|state| step.starts_with(state))?;
        let is_it = share_of_words(&words(quoted), &words(step)) >= SAME_TASK_SHARE;
        is_it.then_some(state)
    })
}

/// Whether a title is only the end of a sentence, or does not mention its subject. Such a title is
/// left out.
fn is_cut(title: &str) -> bool {
    pattern!(
        r"(?i)\b(?:do|fix|apply|address|implement|update|reflect|handle|change|include|add|use|support|remove) (?:this|that|these|those|it|them|both)\b(?: \(|[.?!]?$)|, so (?:can|could|should|will|must) |^(?i:and|but|or|so|then|than|which|whose|that|because|since|while|where|as well)[ ,]|^(?i:would|could|should|might|must|will|shall) (?i:like|love|prefer|be|have|also|not|need|want)\b|^[,;:.)…]"
    )
    .is_match(title.trim())
}

/// Splits the last words of a summary into the last report and the report before it.
fn split_last_words(words: Option<&str>) -> (Option<&str>, Option<&str>) {
    let Some(words) = words else { return (None, None) };
    if let Some(earlier) = words.strip_prefix(BEFORE_THE_CHANGE) {
        return (None, Some(earlier));
    }
    match words.split_once(BEFORE_THAT) {
        Some((last, earlier)) => (Some(last), Some(earlier)),
        None => (Some(words), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_sentence_is_not_a_title() {
        for (title, wanted) in [
            ("Would like to combine the logic: take the first path", true),
            ("because the key is old", true),
            ("Because", false),
            ("That parser", true),
            ("Sort the keys", false),
            ("Should the key be old?", false),
            ("Update the todo to reflect this (`keys.md`)", true),
            ("Test coverage, so can be ignored", true),
            ("Fix this parser of dates", false),
        ] {
            assert_eq!(is_cut(title), wanted, "{title}");
        }
    }

    #[test]
    fn the_last_report_is_separated_from_the_one_before() {
        for (words, wanted) in [
            ("Pushed.", (Some("Pushed."), None)),
            ("Pushed. Before that: It works.", (Some("Pushed."), Some("It works."))),
            ("Before the last change: It works.", (None, Some("It works."))),
        ] {
            assert_eq!(split_last_words(Some(words)), wanted, "{words}");
        }
    }
}
