//! Describes how one session ended, and how it relates to the other sessions of a handoff.

use crate::{
    model::{
        CloseReason, Episode, SessionEnding, Timestamp,
        summary::{EnhancedSessionSummary, Outcome},
        wording::{
            ASKED_LAST, BEFORE_THAT, BEFORE_THE_CHANGE, NOT_FIXED, REQUEST_STATES, SUGGESTED,
        },
    },
    summarize::handoff::{
        MAX_ENTRY_CHARS, MAX_LIST_ENTRIES, entry, guard, state::LeftState, steps,
    },
    text::{contains_name, lacks_number, pattern, same_words, share_of_words, words},
};

/// A later request is about an open end if it contains at least this share of the open end's words.
const SAME_TASK_SHARE: f64 = 0.6;
/// Text A repeats text B if B contains at least this share of the words of A.
const REPEATED_SHARE: f64 = 0.9;
/// Minimum number of different words of a step that is compared with a report.
const MIN_REPEATED_WORDS: usize = 6;
/// Minimum number of names of a step that is a list of names.
const MIN_LISTED_NAMES: usize = 3;
const MAX_BRANCHES: usize = 5;
const MAX_OTHER_TASKS: usize = 2;
const MAX_TASK_CHARS: usize = 160;
/// A list of names is in a report if the report also contains this share of the list's words.
const LISTED_SHARE: f64 = 0.4;
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
    /// Later tasks of the summary's objective that no quoted request mentions.
    pub other_tasks: Vec<String>,
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
    /// The branch on which the session ended.
    pub end_branch: Option<String>,
    pub done: Vec<String>,
    /// The last run of each test suite. If the ending of the session is unknown, this is the last
    /// test run if all its tests passed, or else `None`. `None` if the last reports state the same
    /// results.
    pub last_tests: Option<String>,
    /// Whether the session ended with a question to the user.
    pub awaits_answer: bool,
    /// The state of the last request that the handoff quotes, if the agent did not answer the
    /// request.
    pub last_request: Option<&'static str>,
    /// The paths of the todo files in which open steps are noted.
    pub notes: Vec<String>,
}

impl EndedSession {
    /// Describes the end of a session. The function `corrected` removes the wishes that were marked
    /// as wrong or done. It gets the whole texts, because a wish that was cut is not recognised.
    pub(super) fn of(
        episode: &Episode,
        ending: &SessionEnding,
        corrected: &dyn Fn(&str) -> String,
    ) -> EndedSession {
        let summary = &episode.summary;
        let done = summary.completed_tasks.iter().flatten();
        let asked = ending.first_request.as_deref().unwrap_or(&summary.objective);
        let asked_later: Vec<String> = ending
            .later_requests
            .iter()
            .filter_map(|text| guard::line_within(text, SessionEnding::LATER_REQUEST_LENGTH))
            .collect();
        let (last_words, earlier_words) = reports(summary, ending);
        let branches = branches(episode, ending);
        let end_branch = LeftState::of(summary, &branches).branch;
        let end_branch = end_branch.and_then(|branch| guard::name(&branch));
        EndedSession {
            session_id: episode.session_id.id.clone(),
            name: line(title(episode, ending, asked).map(corrected).as_deref(), MAX_ENTRY_CHARS),
            objective: line(Some(&corrected(asked)), SessionEnding::REQUEST_LENGTH),
            is_asked: ending.about.is_none(),
            other_tasks: (other_tasks(episode, ending, &asked_later).into_iter())
                .filter_map(|task| guard::line_within(&corrected(task), MAX_TASK_CHARS))
                .collect(),
            asked_later,
            outcome: summary.outcome,
            reason: line(summary.outcome_reason.as_deref(), MAX_ENTRY_CHARS),
            last_tests: last_tests(summary, ending)
                .filter(|tests| !states(&last_words, tests) && !states(&earlier_words, tests)),
            last_words,
            earlier_words,
            was_killed: episode.reason == CloseReason::AgentExited
                && summary.outcome != Outcome::Completed,
            ended_at: episode.ended_at,
            // The order of several recorded branches does not show which one was the last.
            end_branch: end_branch.or_else(|| match branches.as_slice() {
                [one] => Some(one.clone()),
                _ => None,
            }),
            branches,
            done: done
                .filter_map(|done| guard::quote(done, MAX_ENTRY_CHARS))
                .take(MAX_LIST_ENTRIES)
                .collect(),
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
            let is_similar = !wanted.is_empty() && same_words(asked, open)
                || wanted.len() > 2 && share_of_words(&wanted, &words(asked)) >= SAME_TASK_SHARE;
            is_similar && !lacks_number(asked, open)
        })
    }

    /// Whether a request of this session repeats the task `open` of an earlier session, and not
    /// only a similar task: `Add the PDF export` does not repeat `Add the CSV export`.
    pub(super) fn repeats(&self, open: &str) -> bool {
        let wanted = words(open);
        let mut requests = std::iter::once(&self.objective).chain(&self.asked_later);
        !wanted.is_empty()
            && requests.any(|asked| {
                share_of_words(&wanted, &words(asked)) >= REPEATED_SHARE
                    && !lacks_number(asked, open)
            })
    }

    /// Whether a request of the user contains almost all words of a text.
    pub(super) fn asks(&self, text: &str) -> bool {
        let wanted = words(text);
        let mut requests = std::iter::once(&self.objective).chain(&self.asked_later);
        self.is_asked
            && requests.any(|asked| share_of_words(&wanted, &words(asked)) >= REPEATED_SHARE)
    }

    /// Whether the last report contains almost all words of a step, or all the names that the step
    /// lists. False for a step with few words, and for a step that is noted in a todo file.
    pub(super) fn reports(&self, step: &str) -> bool {
        let wanted = words(step);
        let names = step.split('`').skip(1).step_by(2);
        let is_list = !step.starts_with(NOT_FIXED) && names.clone().count() >= MIN_LISTED_NAMES;
        wanted.len() >= MIN_REPEATED_WORDS
            && !step.contains("(todo ")
            && (share_of_words(&wanted, &words(&self.last_words)) >= REPEATED_SHARE
                || is_list
                    && share_of_words(&wanted, &words(&self.last_words)) >= LISTED_SHARE
                    && names.clone().all(|name| contains_name(&self.last_words, name)))
    }

    /// Returns a step without the request that explains it, if the ending quotes this request.
    pub(super) fn without_quoted_request<'s>(&self, step: &'s str) -> &'s str {
        step.split_once(" and asked: ")
            .filter(|(_, asked)| self.asks(asked))
            .map_or(step, |(step, _)| step)
    }

    /// Whether a step is an offer of the last report, or a suggestion that the last report repeats.
    pub(super) fn offers(&self, step: &str) -> bool {
        steps::is_in_report(step)
            && step.strip_prefix(SUGGESTED).is_none_or(|step| self.has_reported_words(step))
    }

    /// Whether a step only lists where the findings of the last report are.
    pub(super) fn reports_findings(&self, step: &str) -> bool {
        let Some(list) = step.strip_prefix(NOT_FIXED) else { return false };
        let mut places = list.split('`').skip(1).step_by(2).peekable();
        places.peek().is_some() && places.all(|place| self.last_words.contains(place))
    }

    /// Whether a quoted report contains a text.
    pub(super) fn has_reported(&self, text: &str) -> bool {
        [&self.last_words, &self.earlier_words].iter().any(|report| report.contains(text))
    }

    /// Whether the quoted reports, the title and the first request together contain most words of a
    /// text.
    pub(super) fn has_reported_words(&self, text: &str) -> bool {
        self.reported_share(text) >= SAME_TASK_SHARE
    }

    /// Returns the share of the words of a text that the quoted reports, the title and the first
    /// request contain.
    pub(super) fn reported_share(&self, text: &str) -> f64 {
        let texts = [&self.last_words, &self.earlier_words, &self.objective, &self.name];
        let known = texts.into_iter().flat_map(|text| words(text)).collect();
        share_of_words(&words(text), &known)
    }

    /// Whether this session worked on branches other than the main branch, and `later` worked on
    /// none of them. False if the branches of `later` are unknown.
    pub(super) fn is_on_another_branch(&self, later: &EndedSession) -> bool {
        let mut own = self.own_branches();
        let has_own = own.next().is_some();
        let is_shared = self.own_branches().any(|branch| later.branches.contains(branch));
        has_own && !later.branches.is_empty() && !is_shared
    }

    /// Returns the branch of the work, unless `later` worked on this branch, too.
    pub(super) fn branch_unlike(&self, later: &EndedSession) -> Option<&String> {
        let is_other = self.is_on_another_branch(later);
        let mut own = self.own_branches().filter(|_| is_other);
        let first = own.next()?;
        Some(own.find(|branch| Some(*branch) == self.end_branch.as_ref()).unwrap_or(first))
    }

    /// Returns the branches other than the main branch.
    pub(super) fn own_branches(&self) -> impl Iterator<Item = &String> {
        let is_main = |branch: &str| matches!(branch, "main" | "master" | "develop");
        self.branches.iter().filter(move |branch| !is_main(branch))
    }
}

fn line(text: Option<&str>, limit: usize) -> String {
    text.and_then(|text| guard::line_within(text, limit)).unwrap_or_default()
}

/// Returns the last report and the report before it.
fn reports(summary: &EnhancedSessionSummary, ending: &SessionEnding) -> (String, String) {
    let (last, earlier) = match &ending.report {
        Some(report) => (Some(report.as_str()), ending.earlier_report.as_deref()),
        None => split_last_words(summary.last_words.as_deref()),
    };
    (line(last, SessionEnding::REPORT_LENGTH), line(earlier, SessionEnding::EARLIER_REPORT_LENGTH))
}

fn last_tests(summary: &EnhancedSessionSummary, ending: &SessionEnding) -> Option<String> {
    match &ending.report {
        Some(_) => {
            guard::line_within(&guard::with_literals(ending.tests.as_deref()?), MAX_TESTS_CHARS)
        }
        None => summary.test_results.as_ref().and_then(entry::passed_tests),
    }
}

/// Returns the title of a session. If later requests follow the first request, a title with the
/// words of the first request is misleading.
fn title<'e>(episode: &'e Episode, ending: &SessionEnding, asked: &str) -> Option<&'e str> {
    let name = episode.name.as_str();
    let has_later = ending.first_request.is_some() && !ending.later_requests.is_empty();
    let repeats_first = has_later && share_of_words(&words(name), &words(asked)) >= REPEATED_SHARE;
    (!is_cut(name) && !repeats_first).then_some(name)
}

/// Returns the last tasks that the objective of the summary lists after its first task, without
/// those that a later request or the title mentions. Empty if the objective itself is quoted.
fn other_tasks<'e>(
    episode: &'e Episode,
    ending: &SessionEnding,
    asked_later: &[String],
) -> Vec<&'e str> {
    let Some(first) = &ending.first_request else { return Vec::new() };
    let texts = asked_later.iter().chain([first, &episode.name]);
    let known: Vec<_> = texts.map(|text| words(text)).collect();
    let later = episode.summary.objective.split_once(" Later: ").map_or("", |(_, later)| later);
    let is_new = |task: &&str| {
        let wanted = words(task);
        wanted.len() > 1
            && known.iter().all(|known| share_of_words(&wanted, known) < SAME_TASK_SHARE)
    };
    let tasks: Vec<&str> = later.trim_end_matches('.').split("; ").filter(is_new).collect();
    tasks[tasks.len().saturating_sub(MAX_OTHER_TASKS)..].to_vec()
}

/// Whether a report states the results of the last test runs: all of them passed, and the report
/// has the number of passed tests or the command.
fn states(report: &str, tests: &str) -> bool {
    let counts =
        pattern!(r"(?i)\b(\d+)(?:/\d+)? (?:[a-z-]+ ){0,2}(?:tests?|specs?|passed|pass|passing)\b");
    let passes = pattern!(r"(?i)\bpass(?:ed|es|ing)?\b").is_match(report);
    let result = pattern!(r"^(?:(\d+) of \d+(?: [a-z]+)? )?passed \(`([^`]+)`\)$");
    tests.split("; ").all(|suite| {
        result.captures(suite).is_some_and(|found| {
            let count = found.get(1).map(|count| count.as_str());
            let has_count = counts.captures_iter(report).any(|stated| Some(&stated[1]) == count);
            passes && (has_count || report.contains(&format!("`{}", &found[2])))
        })
    })
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
    fn a_report_states_results_by_their_number_or_command() {
        for (report, tests, wanted) in [
            ("All 1232 tests pass", "1232 of 1232 passed (`bun test`)", true),
            ("All 12 tests pass", "1232 of 1232 passed (`bun test`)", false),
            ("`go test ./...` passed.", "2 of 2 packages passed (`go test`)", true),
            ("All tests pass", "2 of 2 packages passed (`go test`)", false),
            ("All 6 tests pass", "6 of 6 passed (`jest`), before its last edit", false),
            ("All 6 tests pass", "6 of 6 passed (`jest`); 2 of 3 failed (`pytest`)", false),
        ] {
            assert_eq!(states(report, tests), wanted, "{report}: {tests}");
        }
    }

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
