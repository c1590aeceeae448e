//! Finds the order that a session began with: a short first order, or the first order of work after
//! an opening prompt that orders none, such as a question.

use crate::{
    model::{evidence::Evidence, transcript::Origin},
    summarize::from_evidence::{
        decisions::listed_options::picked,
        request::{
            Request, Weight,
            later_requests::{is_no_request, led_to_change, points_at_something},
            openings::{
                is_bare_command, is_check, is_preparation, is_question, is_remark, is_talk,
            },
            prompt_of,
            wording::orders_work,
        },
        turns::{names_a_problem, turn_of},
    },
    text::{pattern, without_full_stop},
};

/// Maximum number of requests after an opening question that are searched for the first order. An
/// order that led to a change may come later.
const SOON: usize = 3;

/// A report with fewer characters only acknowledges a request.
const ACKNOWLEDGEMENT: usize = 80;

/// Minimum number of words of a clause that contains the object of the order after it.
const CLAUSE: usize = 5;

/// Returns the index of the first order of work after an opening question, check, remark, talk or
/// preparation.
pub(crate) fn first_order(
    evidence: &Evidence,
    requests: &[Request],
    first: usize,
) -> Option<usize> {
    let opening = &requests[first].text;
    let prepares = is_preparation(opening);
    let remarks = is_remark(opening) && !names_a_problem(opening);
    if !(is_question(opening) || is_talk(opening) || is_check(opening) || remarks || prepares)
        || picked(evidence, &requests[first]).is_some()
    {
        return None;
    }
    let is_order = |request: &Request| {
        let orders = || {
            let asks = request.is_order
                && !is_no_request(&request.ask)
                && (!evidence.changes_files() || led_to_change(evidence, request));
            (asks || orders_work(&request.text))
                && (names_object_before(request) || !points_at_something(&request.ask))
        };
        request.weight == Weight::Clear
            && request.text.split_whitespace().count() >= 5
            && (prepares || orders())
            && !is_only_acknowledged(evidence, request)
            && !corrects_plan(evidence, request)
            && (request.is_order || !request.text.ends_with('?'))
    };
    let may_be = |at: &usize| *at <= first + SOON || led_to_change(evidence, &requests[*at]);
    let mut orders = (first + 1..requests.len()).filter(may_be);
    let order = orders.find(|at| is_order(&requests[*at]))?;
    // If work began before that order, the order is only a later part of the session's work.
    (prepares || !has_begun(evidence, &requests[first], &requests[order])).then_some(order)
}

/// Whether the user refused a plan with this request. The request before the plan orders the work.
fn corrects_plan(evidence: &Evidence, request: &Request) -> bool {
    let Some(asked) = prompt_of(evidence, request) else { return false };
    let is_plan = |call: &String| call.starts_with("ExitPlanMode");
    let mut corrections = evidence.corrections.iter();
    corrections.any(|one| one.origin == asked.origin && one.refused.as_ref().is_some_and(is_plan))
}

/// Whether the agent did nothing for a request and only acknowledged it in a short report. Then the
/// request usually announces what the user will do.
fn is_only_acknowledged(evidence: &Evidence, request: &Request) -> bool {
    let turn = prompt_of(evidence, request).and_then(|asked| turn_of(evidence, asked.origin));
    let Some(turn) = turn else { return false };
    let report = evidence.reports.iter().rfind(|report| turn.holds(report.origin));
    report.is_some_and(|report| report.text.chars().count() < ACKNOWLEDGEMENT)
        && !led_to_change(evidence, request)
        && !evidence.commands.iter().any(|run| turn.holds(run.origin))
        && !evidence.delegations.iter().any(|one| turn.holds(one.origin))
}

/// Whether a clause before the order may contain its object, for example `I don't like the links,
/// replace them`.
pub(crate) fn names_object_before(request: &Request) -> bool {
    let text = request.text.to_lowercase();
    let ask = request.ask.to_lowercase();
    let start = text.find(without_full_stop(&ask)).unwrap_or(0);
    text[..start].split_whitespace().count() >= CLAUSE
}

/// Whether something was changed between two requests. Checks the evidence of work, because
/// requests between them may be missing.
fn has_begun(evidence: &Evidence, first: &Request, order: &Request) -> bool {
    let (Some(first), Some(order)) = (prompt_of(evidence, first), prompt_of(evidence, order))
    else {
        return false;
    };
    let span = first.origin.line..order.origin.line;
    let is_between = |at: Origin| at.source == first.origin.source && span.contains(&at.line);
    let mut reports = evidence.reports.iter().filter(|report| report.changed);
    let mut commits = evidence.commits.iter();
    reports.any(|report| is_between(report.origin))
        || commits.any(|commit| is_between(commit.origin))
        || evidence.changed_files().any(|(_, work)| is_between(work.last))
}

/// Whether a short request says what the work is about, as in `add dark mode` or `all tests fail`.
/// The request must have led to a change, unless the session changed nothing.
pub(super) fn is_short_request(evidence: &Evidence, request: &Request) -> bool {
    request.weight == Weight::Vague
        && if request.is_order { orders_something(request) } else { says_what_fails(&request.text) }
        && (led_to_change(evidence, request) || !evidence.changes_files())
}

/// Whether a short order has an object other than a pronoun, and orders a change.
fn orders_something(request: &Request) -> bool {
    let names_nothing = pattern!(
        r"(?i)^\w+(?: up| out)?(?:[.!]*$| (?:it|this|that|these|those|them|one|everything|anything|something|stuff|again|on|now|please|over|first|away|here|there|working|so)\b| all[.!]*$)|^(?:run|use|read|check|look|find|show|see|list|search|explain|verify|open|start|enter|test|try|tell|help|review|analy[sz]e)\b"
    );
    !is_bare_command(&request.text)
        && !points_at_something(&request.ask)
        && !names_nothing.is_match(&request.ask)
}

/// Whether a short text names a thing that does not work.
fn says_what_fails(text: &str) -> bool {
    let begins_with_noun = !pattern!(
        r"(?i)^(?:it|this|that|these|those|they|there|still|same|why|how|what|no|yes|ok|okay|sorry|hm+)\b"
    )
    .is_match(text);
    begins_with_noun
        && names_a_problem(text)
        && !text.ends_with('?')
        && text.split_whitespace().count() >= 3
}
