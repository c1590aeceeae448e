//! Selects text from the reports of all turns: results from turns that changed something, and
//! findings from the others. The last report gets the most space. Text that a later report repeats,
//! or that the user rejected, is left out.

pub(super) mod answers;
pub(super) mod fate;
pub(super) mod fixed_later;
pub(super) mod introductions;
pub(super) mod items;
pub(super) mod overtaken;
#[cfg(test)]
pub(crate) mod overtaken_scenarios;
mod published;
pub(super) mod quotable;
pub(super) mod quote_collector;
pub(super) mod quoted;
#[cfg(test)]
pub(crate) mod quoting_scenarios;
pub(super) mod redescribed;
pub(super) mod review;
#[cfg(test)]
pub(crate) mod series_scenarios;
pub(super) mod transient;
pub(super) mod verdicts;
pub(super) mod withdrawn;

use std::collections::BTreeSet;

use crate::{
    model::{evidence::Evidence, transcript::Origin},
    summarize::{
        from_evidence::{
            entries::Entries,
            outcome::ending,
            reported::{
                fate::{Fate, fate, is_followed_by_change, later_changes},
                fixed_later::{is_agreed, is_fixed_later},
                quotable::{depends_on_previous, is_balanced, is_list_of_addresses, states_result},
                quote_collector::quoted,
                quoted::{QuotedPassage, complete_answer},
                redescribed::is_redescribed,
                withdrawn::{is_refuted, is_withdrawn},
            },
            repository::commit_messages,
        },
        report::{Report, Topic, is_phrase, topic_of_sentence},
        text::{one_line, pattern, share_of_words, words},
    },
};

/// Maximum length, in bytes, of all results together.
const RESULTS: usize = 2_800;
/// Maximum length, in bytes, of all findings together.
const FINDINGS: usize = 2_400;
/// Maximum length, in bytes, of the beginnings of all earlier reports together. They do not count
/// towards [`RESULTS`] and [`FINDINGS`].
const BEGINNINGS: usize = 2_000;
/// Minimum and maximum space, in bytes, for the beginning of one earlier report.
const BEGINNING: std::ops::RangeInclusive<usize> = 160..=300;
/// Maximum length, in bytes, of the text of one report.
const OF_A_REPORT: usize = 800;
/// Maximum length, in bytes, of the text of the last report.
const OF_THE_LAST: usize = 1_200;
/// Maximum length, in bytes, of the text of the last report if that is a review.
const OF_A_REVIEW: usize = 2_400;
/// Maximum length, in bytes, of the text of a report about work that did not help, according to the
/// user.
const OF_A_FAILURE: usize = 260;
/// Minimum length, in bytes, of the quoted text of a report that describes work.
const SUBSTANCE: usize = 200;
/// A part that has at least this share of its words in another text repeats that text.
const REPEATED: f64 = 0.75;
/// Number of later turns with changes after which the code is no longer as a report describes it.
const MUCH_WORK: usize = 10;

/// Returns the results that the reports of turns with changes describe.
pub(super) fn results(entries: &Entries<'_>) -> Vec<String> {
    selected(entries, RESULTS, |report, quoted| report.changed && !is_finding(quoted))
}

/// Returns the findings: the text of the other reports, and text under headings such as
/// `Root cause`.
pub(super) fn findings(entries: &Entries<'_>) -> Vec<String> {
    selected(entries, FINDINGS, |report, quoted| !report.changed || is_finding(quoted))
}

fn is_finding(quoted: &QuotedPassage) -> bool {
    matches!(quoted.topic, Some(Topic::Finding | Topic::Cause))
}

/// Returns the lines of the wanted passages in order. The latest reports are chosen first. When
/// they have used up `room`, only the beginning of each earlier report is quoted, because each
/// report answers a request of its own.
fn selected(
    entries: &Entries<'_>,
    room: usize,
    is_wanted: fn(&Report, &QuotedPassage) -> bool,
) -> Vec<String> {
    let ended = ending::last_words(entries).unwrap_or_default();
    let mut known: Vec<BTreeSet<String>> = vec![words(&ended)];
    let commits = entries.evidence.commits.iter();
    known.extend(commits.map(|commit| words(&commit_messages::subject_with_excerpt(commit))));
    let mut chosen: Vec<Vec<String>> = Vec::new();
    let (mut left, mut beginnings) = (room, BEGINNINGS);
    // After a short last report such as `Committed.`, the report before it gets the space of a
    // last report.
    let mut is_last = true;
    let reports = &entries.reports.reports;
    for (earlier, report) in reports.iter().enumerate().rev() {
        let fate = fate(entries, report);
        let limit = match fate {
            Fate::Discarded => continue,
            Fate::Failed => OF_A_FAILURE,
            Fate::Kept if is_last && review::is_review(entries, report) => OF_A_REVIEW,
            Fate::Kept if is_last => OF_THE_LAST,
            Fate::Kept => OF_A_REPORT,
        };
        let share = (beginnings / (earlier + 1)).clamp(*BEGINNING.start(), *BEGINNING.end());
        let is_beginning = left < share;
        let limit = if is_beginning { share.min(beginnings) } else { limit.min(left) };
        let mut taken = 0;
        let mut of_report = Vec::new();
        for one in wanted(entries, report, &known, is_wanted) {
            // A user who says that something still fails refutes the cause and the success that
            // the report claims.
            let mut one = one;
            one.retain(|part| {
                fate != Fate::Failed
                    || topic_of_sentence(part) != Some(Topic::Cause)
                        && !transient::claims_success(part)
            });
            let free = limit.saturating_sub(taken);
            let line = if is_beginning { one.beginning(free) } else { one.line(free) };
            let Some(line) = line else { continue };
            let longest = if taken > 0 { limit } else { limit.max(*BEGINNING.end()) };
            if taken + line.len() > longest {
                break;
            }
            if !is_clear_alone(&line)
                || known.iter().any(|other| share_of_words(&words(&line), other) >= REPEATED)
                || published::is_in_commit(entries.evidence, &line)
            {
                continue;
            }
            taken += line.len();
            known.push(words(&line));
            of_report.push(line);
        }
        let spent = if is_beginning { &mut beginnings } else { &mut left };
        *spent = spent.saturating_sub(taken);
        is_last &= taken < SUBSTANCE;
        chosen.push(of_report);
    }
    chosen.into_iter().rev().flatten().collect()
}

/// Returns the passages of a report that the summary quotes: those that still hold and that no
/// other section of the summary contains.
fn wanted(
    entries: &Entries<'_>,
    report: &Report,
    known: &[BTreeSet<String>],
    is_wanted: fn(&Report, &QuotedPassage) -> bool,
) -> Vec<QuotedPassage> {
    // A progress report states facts, even if it asks how to go on.
    let is_status =
        answers::prompt_before(entries.evidence, report).is_some_and(answers::asks_about_progress);
    let question = answers::question(entries, report).filter(|_| !is_status);
    let request = answers::request(entries, report).filter(|_| question.is_none());
    // An answer to `what if` describes an approach that was not taken.
    let is_asked_if = question.as_deref().is_some_and(|question| {
        pattern!(r"(?i)\bwhat if\b|\bif (?:we|i|you) (?:were|would|did|do|moved?|used?)\b|\b(?:could|should|can) (?:we|i) (?:not |just |also )?\w+|\bwould (?:it|that|this)\b").is_match(question)
    });
    let is_open =
        !report.changed && !is_status && (report.asks || report.proposes() || is_asked_if);
    // A list before `let's do that` is a plan.
    let is_taken_up =
        !report.changed && is_agreed(entries, report) && is_followed_by_change(entries, report);
    let mut found = Vec::new();
    let mut all = quoted(entries, report);
    // If the answer is left out, the paragraph after it stays a passage of its own.
    let is_quoted = |first: &str| {
        let told = words(first);
        holds(entries, report, first)
            && !known.iter().any(|other| share_of_words(&told, other) >= REPEATED)
    };
    if question.is_some() && all.first().and_then(QuotedPassage::first).is_some_and(is_quoted) {
        complete_answer(&mut all, answers::verdict(report));
    }
    let is_last = entries.reports.reports.last().is_some_and(|last| last.origin == report.origin);
    // After much more work, an early report no longer describes what the code does.
    let is_early = report.changed && later_changes(entries, report) >= MUCH_WORK;
    // An answer may begin with a list of the parts of the question.
    let answer_at = all.iter().position(|one| !is_open || !one.listed).unwrap_or(0);
    for (at, mut one) in all.into_iter().enumerate() {
        let is_no_fact = one.is_steps() && (!report.changed || one.is_for_the_user())
            || one.is_introduced_by(|text| {
                transient::is_boast(text)
                    || transient::is_past_state(entries.evidence, text, report.origin)
                    || !is_last && transient::plans_ahead(text)
            });
        // The first passage answers the question. If the user still has to choose, the first passage
        // that is not a list answers it, and the others describe approaches that may not be taken.
        let is_answer = at == answer_at && question.is_some();
        let is_fact = is_finding(&one) && !report.mostly_proposes() && !is_asked_if;
        let is_open = is_open && !one.is_of_review && !is_fact;
        let is_plan =
            is_taken_up && question.is_none() && one.listed && !one.is_of_review && !is_fact;
        if !is_wanted(report, &one)
            || is_no_fact
            || is_plan
            || is_open && (one.listed || !is_answer)
        {
            continue;
        }
        let first = one.first().map(str::to_owned);
        let is_told = |part: &str| {
            let told = words(part);
            known.iter().any(|other| share_of_words(&told, other) >= REPEATED)
        };
        // If a list has little new text, only its new items are quoted. Any other list is quoted as
        // a whole.
        let is_repeated = !one.listed || one.share(is_told) >= 0.5;
        let (count, is_listed) = (one.count(), one.listed);
        // If only some names of a short list are quoted, a reader takes them for the whole list.
        let names = one.lists_names().then(|| {
            let mut names = one.clone();
            names.retain(|part| is_still_there(entries, part, report.origin));
            names
        });
        let is_described = is_early && !is_listed && !is_finding(&one);
        let is_revoked = report.changed && overtaken::is_revoked(entries.evidence, report.origin);
        one.retain(|part| {
            holds(entries, report, part)
                && !(is_revoked && is_changed_again(entries.evidence, part, report.origin))
                && !is_fixed_later(entries, report, part)
                && (is_last || !is_phrase(Topic::Guess, part) && !transient::leaves_decision(part))
                && (is_last || !transient::plans_ahead(part))
                && (!is_described || states_result_of_report(part))
        });
        if is_repeated {
            one.remove_repeated(is_told);
        }
        if let Some(names) = names.filter(|names| one.count() * 2 >= names.count()) {
            one = names;
        }
        one.adjust_after_removal(count);
        // The remedy of a finding says nothing without the finding.
        let is_headless = one.is_of_review && one.first() != first.as_deref();
        if !one.is_empty() && !is_headless {
            found.push(match &question {
                Some(question) if is_answer && one.first() == first.as_deref() => {
                    one.answering(question)
                }
                // Without its first sentence, an answer may say the opposite.
                Some(_) if is_answer || is_asked_if => continue,
                _ if report.changed => {
                    one.before_the_change().reworded(transient::as_it_was_before)
                }
                // Only the request says what was looked at.
                _ if found.is_empty() && request.is_some() => {
                    one.answering(request.as_deref().unwrap_or_default())
                }
                _ => one,
            });
        }
    }
    // The conclusion comes directly after the first passage, so that there is room for it.
    found.get_mut(1..).unwrap_or_default().sort_by_key(|one| !one.concludes);
    found
}

/// Whether a sentence says what was done rather than what the code does.
fn states_result_of_report(sentence: &str) -> bool {
    states_result(sentence)
        || topic_of_sentence(sentence) == Some(Topic::Done)
        || pattern!(r"(?i)^(?:i|we)(?:['\u{2019}]ve| have)? |^(?:[a-z]+ly )?[a-z]+ed\b|\b(?:was|were|has been|have been) ")
            .is_match(sentence)
}

/// Whether a part says what was done to a file that was changed again after `at`, for example
/// `` `a.md`: Updated the table ``.
fn is_changed_again(evidence: &Evidence, part: &str, at: Origin) -> bool {
    states_result(part) && overtaken::is_changed_since(evidence, part, at)
}

/// Whether a line can be understood alone.
fn is_clear_alone(line: &str) -> bool {
    let answer = line.split_once(" Answer: ").map(|(_, answer)| answer);
    if answer.is_none() && answers::is_bare_answer(line) {
        return false;
    }
    if answer.is_some_and(|answer| is_phrase(Topic::Resolved, answer)) {
        return true;
    }
    let line = answer.unwrap_or(line);
    let prose = line.split('`').step_by(2).flat_map(str::split_whitespace);
    // A very short answer is useful only at the time of the question.
    let least = if answer.is_some() { 4 } else { 2 };
    let prose = prose.filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 3);
    (!depends_on_previous(line) || answer.is_some() && answers::is_bare_answer(line))
        && !counts_unnamed(line)
        && !is_list_of_addresses(line)
        && is_balanced(line)
        && !line.ends_with([':', ',', '…', '('])
        && line.len() >= 20
        && (line.contains('`') || !line.is_ascii() || line.split_whitespace().count() >= 5)
        && (prose.count() >= least || !line.is_ascii())
}

/// Whether a short line only counts things, as in `I removed both wrong checks`.
fn counts_unnamed(line: &str) -> bool {
    !line.contains(['`', ':'])
        && pattern!(r"(?i)^(?:(?:i|we)(?:['’]ve| have)? )?(?:now |also )?\w+ed (?:both|these|those|the (?:two|three|four))(?: \w+){1,2}\b(?: to\b| now\b|[.!]?$)")
            .is_match(line)
}

/// Whether the things that a part mentions still exist as described: nothing removed, reverted or
/// reworked them.
fn is_still_there(entries: &Entries<'_>, part: &str, at: Origin) -> bool {
    let evidence = entries.evidence;
    !overtaken::is_gone(entries, part, at)
        && !overtaken::names_what_was_taken_back(entries, part)
        && !overtaken::names_deleted_file(evidence, part, at)
        && !overtaken::is_reworked(evidence, part, at)
}

/// Whether a part still holds at the end and is not in another section of the summary.
fn holds(entries: &Entries<'_>, report: &Report, part: &str) -> bool {
    let evidence = entries.evidence;
    let counts_tests = transient::is_run_of_checks(part) && !evidence.tests.is_empty();
    let promises = report.changed && transient::promises(part);
    !counts_tests
        && !promises
        && !ending::claims_unseen_tests(evidence, part)
        && !overtaken::is_tried_again(evidence, part, report.origin)
        && !transient::is_boast(part)
        && !transient::is_past_state(evidence, part, report.origin)
        && !transient::is_unmeasured_effect(evidence, part)
        && !transient::is_refuted_success(evidence, part)
        && !overtaken::is_address_gone(evidence, part, report.origin)
        && !published::is_publication(part)
        && !transient::is_metadata(part)
        && !published::names_a_commit(&evidence.commits, part)
        && !is_corrected(evidence, part, report.origin)
        && (report.changed
            || !is_refuted(entries, part, report.origin)
                && !is_withdrawn(entries, part, report.origin))
        && is_still_there(entries, part, report.origin)
        && !is_redescribed(entries, report, part)
}

/// Whether the user quoted the part in a later prompt. Users paste what they want changed.
fn is_corrected(evidence: &Evidence, part: &str, at: Origin) -> bool {
    // Text that is pasted from a terminal has no back quotes.
    let plain = |text: &str| one_line(text).replace('`', "");
    let told = plain(part);
    let mut later = evidence.prompts.iter().filter(|prompt| prompt.origin.line > at.line);
    told.len() >= 20 && later.any(|prompt| plain(&prompt.text).contains(&told))
}
