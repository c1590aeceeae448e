//! Selects from one report the passages that still hold and that no other section of the summary
//! contains.

use crate::{
    model::{evidence::Evidence, transcript::Origin},
    report::{Report, Topic, is_phrase, topic_of_sentence},
    summarize::from_evidence::{
        entries::Entries,
        errors::refuted::is_about_denied_thing,
        outcome::ending,
        problems,
        reported::{
            answers,
            fate::{Fate, is_followed_by_change, later_changes, next_prompt},
            fixed_later::{is_agreed, is_fixed_later},
            is_finding,
            known::KnownTexts,
            overtaken, published,
            quotable::{addresses_user, depends_on_previous, orders_user_to_act, states_result},
            quote_collector::quoted,
            quoted::{QuotedPassage, complete_answer},
            redescribed::is_redescribed,
            review, transient,
            withdrawn::{has_withdrawn_figure, is_refuted, is_withdrawn, measures_revoked_work},
        },
    },
    text::{one_line, pattern},
};

/// Maximum length, in bytes, of the text of one report.
const OF_A_REPORT: usize = 800;
/// Maximum length, in bytes, of the text of the last report.
const OF_THE_LAST: usize = 1_200;
/// Maximum length, in bytes, of the text of the last report if that is a review.
const OF_A_REVIEW: usize = 2_400;
/// Maximum length, in bytes, of the text of a report about work that did not help, according to the
/// user.
const OF_A_FAILURE: usize = 260;
/// Minimum length, in characters, of the first sentence of an answer that is clear without its
/// question.
const MIN_ANSWER: usize = 25;
/// After this number of later turns with changes, the code is no longer as a report describes it.
const MUCH_WORK: usize = 10;

/// A report with its passages, and what determines which of them are quoted.
pub(crate) struct QuotedReport<'e> {
    report: &'e Report,
    /// The number of earlier reports.
    pub(crate) earlier: usize,
    fate: Fate,
    has_places: bool,
    passages: Vec<QuotedPassage>,
    /// The question that the report answers.
    question: Option<String>,
    /// The request that the report answers, if it answers no question.
    request: Option<String>,
    /// Whether the question is the first prompt of the session.
    asks_first: bool,
    /// Whether the question is hypothetical, for example `what if we used a cache?`. The answer
    /// describes an approach that was not taken.
    is_asked_if: bool,
    /// Whether the user still has to choose or consent, or asked a hypothetical question.
    is_open: bool,
    /// Whether the user agreed and work followed. A list before `let's do that` is a plan.
    is_taken_up: bool,
    is_last: bool,
    /// Whether much work followed, so that the report no longer describes what the code does.
    is_early: bool,
    /// Whether the next prompt reports a problem.
    has_complaint: bool,
}

impl<'e> QuotedReport<'e> {
    pub(crate) fn of(
        entries: &'e Entries<'e>,
        report: &'e Report,
        earlier: usize,
        fate: Fate,
    ) -> QuotedReport<'e> {
        // A progress report states facts, even if it asks how to go on.
        let is_status = answers::prompt_before(entries.evidence, report)
            .is_some_and(answers::asks_about_progress);
        let question = answers::question(entries, report).filter(|_| !is_status);
        let request = answers::request(entries, report).filter(|_| question.is_none());
        let is_asked_if = question.as_deref().is_some_and(|question| {
            pattern!(r"(?i)\bwhat if\b|\bif (?:we|i|you) (?:were|would|did|do|moved?|used?)\b|\b(?:could|should|can) (?:we|i) (?:not |just |also )?\w+|\bwould (?:it|that|this)\b").is_match(question)
        });
        QuotedReport {
            report,
            earlier,
            fate,
            has_places: review::has_places(entries, report),
            passages: quoted(entries, report),
            question,
            request,
            asks_first: entries.evidence.prompts.first().is_some_and(|first| {
                answers::prompt_before(entries.evidence, report) == Some(&first.text)
            }),
            is_asked_if,
            is_open: !report.changed
                && !is_status
                && (report.asks || report.proposes() || is_asked_if),
            is_taken_up: !report.changed
                && is_agreed(entries, report)
                && is_followed_by_change(entries, report),
            is_last: earlier + 1 == entries.reports.reports.len(),
            is_early: report.changed && later_changes(entries, report) >= MUCH_WORK,
            has_complaint: report.changed
                && next_prompt(entries.evidence, report)
                    .is_some_and(|next| problems::is_complaint(entries, next)),
        }
    }

    /// Returns the maximum length, in bytes, of the quoted text.
    pub(crate) fn limit(&self, is_last: bool) -> usize {
        match self.fate {
            Fate::Discarded => 0,
            Fate::Failed => OF_A_FAILURE,
            Fate::Kept if is_last && self.has_places => OF_A_REVIEW,
            Fate::Kept if is_last => OF_THE_LAST,
            Fate::Kept => OF_A_REPORT,
        }
    }

    /// Whether a passage tells what was changed, rather than what was found.
    pub(crate) fn describes_changes(&self, passage: &QuotedPassage) -> bool {
        self.report.changed && !is_finding(passage)
    }

    /// Returns the passages that the summary quotes: those that still hold and that are not among
    /// the texts `known`.
    pub(crate) fn wanted(
        &self,
        entries: &Entries<'_>,
        known: &KnownTexts,
        is_wanted: fn(&Report, &QuotedPassage) -> bool,
    ) -> Vec<QuotedPassage> {
        let mut passages = self.passages.clone();
        // The text above the heading `Answer` only leads to the answer. Findings in that text are
        // quoted after the answer.
        let named = passages.iter().position(|one| one.is_answer && !one.is_empty());
        if let Some(named) = named.filter(|_| self.question.is_some()) {
            let above: Vec<QuotedPassage> = passages.drain(..named).collect();
            passages.extend(above.into_iter().filter(|one| is_finding(one) || one.is_of_review));
        }
        // If the answer is left out, the paragraph after it stays a separate passage.
        let is_quoted = |first: &str| holds(entries, self.report, first) && !known.repeats(first);
        if self.question.is_some()
            && passages.first().and_then(QuotedPassage::first).is_some_and(is_quoted)
        {
            complete_answer(&mut passages, answers::verdict(self.report));
        }
        // The first passage answers the question. If the user still has to choose, the first
        // passage that is not a list answers it, and the others describe approaches that may not be
        // taken.
        let named = passages.iter().position(|one| one.is_answer && !one.is_empty());
        let default = || passages.iter().position(|one| !self.is_open || !one.listed);
        let answer_at = named.or_else(default).unwrap_or(0);
        let mut found = Vec::new();
        for (at, mut passage) in passages.into_iter().enumerate() {
            let is_answer = at == answer_at && self.question.is_some();
            if !is_wanted(self.report, &passage) || !self.is_statement(entries, &passage, is_answer)
            {
                continue;
            }
            let first = passage.first().map(str::to_owned);
            self.remove_obsolete(entries, &mut passage, known);
            let keeps_first = passage.first() == first.as_deref();
            // The remedy of a finding says nothing without the finding.
            if !passage.is_empty() && (keeps_first || !passage.is_of_review) {
                let is_answer = is_answer.then_some(keeps_first);
                found.extend(self.with_request(passage, is_answer, found.is_empty()));
            }
        }
        // The conclusion comes directly after the first passage, so that there is space for it.
        found.get_mut(1..).unwrap_or_default().sort_by_key(|one| !one.concludes);
        found.iter_mut().for_each(|passage| self.remove_refuted_claims(passage));
        found
    }

    /// Whether a passage states facts, rather than plans, instructions or praise.
    fn is_statement(
        &self,
        entries: &Entries<'_>,
        passage: &QuotedPassage,
        is_answer: bool,
    ) -> bool {
        let report = self.report;
        let is_replaced = || {
            passage.first().is_some_and(|first| is_phrase(Topic::Interim, first))
                || passage.is_introduced_by(|text| is_phrase(Topic::Interim, text))
        };
        if !self.is_last && is_replaced() {
            return false;
        }
        let is_no_fact = passage.is_steps()
            && (!report.changed || passage.is_introduced_by(addresses_user))
            || !report.changed && passage.is_introduced_by(orders_user_to_act)
            || passage.is_introduced_by(|text| {
                transient::is_boast(text)
                    || transient::is_past_state(entries.evidence, text, report.origin)
                    || !self.is_last && transient::plans_ahead(text)
            });
        let is_named = is_answer || self.request.is_some();
        let is_unclear = !report.changed && !is_named && passage.lists_fragments();
        let is_fact = passage.is_of_review
            || is_finding(passage) && !report.mostly_proposes() && !self.is_asked_if;
        let is_plan = self.is_taken_up && self.question.is_none() && passage.listed && !is_fact;
        let is_open = self.is_open && !is_fact && (passage.listed || !is_answer);
        !is_no_fact && !is_unclear && !is_plan && !is_open
    }

    /// Removes the parts of a passage that no longer hold or that are among the texts `known`.
    fn remove_obsolete(
        &self,
        entries: &Entries<'_>,
        passage: &mut QuotedPassage,
        known: &KnownTexts,
    ) {
        let (evidence, report) = (entries.evidence, self.report);
        let describes_changes = self.describes_changes(passage);
        let is_known =
            |part: &str| known.repeats(part) || describes_changes && known.is_in_commit(part);
        // If a list has little new text, only its new items are quoted. Any other list is quoted as
        // a whole.
        let is_repeated = !passage.listed || passage.share(is_known) >= 0.5;
        let count = passage.parts.len();
        // If only some names of a short list were quoted, the list would look complete.
        let names = passage.lists_names().then(|| {
            let mut names = passage.clone();
            names.retain(|part| is_still_there(entries, part, report.origin));
            names
        });
        let is_described = self.is_early && !passage.listed && !is_finding(passage);
        let is_revoked = report.changed && overtaken::is_revoked(evidence, report.origin);
        let is_last = self.is_last;
        passage.retain(|part| {
            holds(entries, report, part)
                && !(is_revoked && is_changed_again(evidence, part, report.origin))
                && !is_fixed_later(entries, report, part)
                && (is_last || !is_phrase(Topic::Guess, part) && !transient::leaves_decision(part))
                && (is_last || !transient::plans_ahead(part))
                && (!is_described || states_result_of_report(part))
        });
        if is_repeated {
            passage.remove_repeated(is_known);
        }
        if let Some(names) = names.filter(|names| passage.parts.len() * 2 >= names.parts.len()) {
            *passage = names;
        }
        passage.adjust_after_removal(count);
    }

    /// Adds the question or request to a passage that answers it. `is_answer` is `None` if the
    /// passage is no answer, and otherwise shows whether the answer still has its first sentence.
    fn with_request(
        &self,
        passage: QuotedPassage,
        is_answer: Option<bool>,
        is_first: bool,
    ) -> Option<QuotedPassage> {
        match (&self.question, &self.request) {
            // The first sentence of such an answer only introduces the steps.
            (Some(question), _) if is_answer.is_some() && answers::asks_for_steps(question) => None,
            (Some(_), _) if is_answer == Some(true) && self.is_clear_with_objective(&passage) => {
                Some(passage)
            }
            (Some(question), _) if is_answer == Some(true) => Some(passage.answering(question)),
            // Without its first sentence, an answer may say the opposite.
            (Some(_), _) if is_answer.is_some() || self.is_asked_if => None,
            _ if self.report.changed => {
                Some(passage.before_the_change().reworded(transient::as_it_was_before))
            }
            // Only the request shows what the agent examined.
            (_, Some(request)) if is_first => Some(passage.answering(request)),
            _ => Some(passage),
        }
    }

    /// Whether an answer is clear without its question, because the question is the first prompt,
    /// which is the objective, and the answer is more than a verdict.
    fn is_clear_with_objective(&self, passage: &QuotedPassage) -> bool {
        let is_whole = |first: &str| {
            first.chars().count() >= MIN_ANSWER
                && !answers::is_bare_answer(first)
                && !depends_on_previous(first)
        };
        self.asks_first && passage.verdict.is_none() && passage.first().is_some_and(is_whole)
    }

    /// Removes the cause and the success that the report claims if the user says that something
    /// still fails, and success in general terms if the user reports another problem.
    fn remove_refuted_claims(&self, passage: &mut QuotedPassage) {
        if self.fate == Fate::Failed {
            passage.retain(|part| {
                topic_of_sentence(part) != Some(Topic::Cause) && !transient::claims_success(part)
            });
        }
        if self.has_complaint {
            // The items below the claim are facts, which may still hold.
            if passage.is_introduced_by(transient::claims_general_success) {
                passage.introduction = None;
            }
            passage.retain(|part| !transient::claims_general_success(part));
        }
    }
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

/// Whether the things that a part mentions still exist as described: nothing removed, reverted or
/// reworked them.
fn is_still_there(entries: &Entries<'_>, part: &str, at: Origin) -> bool {
    let evidence = entries.evidence;
    !overtaken::is_gone(entries, part, at)
        && !overtaken::is_about_reverted_file(entries, part)
        && !overtaken::names_deleted_file(evidence, part, at)
        && !overtaken::is_reworked(evidence, part, at)
}

/// Whether a part still holds at the end of the session and is not in another section of the
/// summary.
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
        && !has_withdrawn_figure(entries, part, report.origin)
        && !(report.changed && is_about_denied_thing(evidence, part, report.origin))
        && !measures_revoked_work(entries, part, report.origin)
        && !is_redescribed(entries, report, part)
}

/// Whether the user quoted the part in a later prompt. Users paste the text that they want to have
/// changed.
fn is_corrected(evidence: &Evidence, part: &str, at: Origin) -> bool {
    // Text that is pasted from a terminal has no back quotes.
    let plain = |text: &str| one_line(text).replace('`', "");
    let plain_part = plain(part);
    let mut later = evidence
        .prompts
        .iter()
        .filter(|prompt| prompt.origin.line > at.line && prompt.text.len() >= plain_part.len());
    plain_part.len() >= 20 && later.any(|prompt| plain(&prompt.text).contains(&plain_part))
}
