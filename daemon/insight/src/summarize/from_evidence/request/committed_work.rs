//! Finds the commit that a request led to.

use crate::{
    model::evidence::{Commit, Evidence},
    summarize::from_evidence::{
        errors::refuted::is_superseded_plan,
        repository::commit_messages::is_bookkeeping,
        request::{
            Request, Weight,
            later_requests::{points_at_something, start},
            openings::is_question,
            prompt_of,
            title::is_minor,
            wording::asks_for_work,
        },
        turns::turn_of,
    },
    text::one_line,
};

/// Minimum number of words of an order that is more than an answer to a question of the agent.
const LONG_ORDER: usize = 12;

/// Whether an order came between a question and the first commit. Then the commit is about the
/// order.
pub(super) fn is_followed_by_order(evidence: &Evidence, question: &Request) -> bool {
    let Some(asked) = prompt_of(evidence, question) else { return false };
    let commits = evidence.commits.iter().filter(|commit| !is_bookkeeping(commit));
    let Some(first) = commits.map(|commit| commit.origin).find(|at| at.follows(asked.origin))
    else {
        return false;
    };
    let between = evidence
        .prompts
        .iter()
        .filter(|one| one.origin.follows(asked.origin) && one.origin < first);
    let orders = between.filter(|one| asks_for_work(start(&one.text)));
    orders.filter_map(|one| Request::of(&one.text)).any(|request| {
        request.weight == Weight::Clear
            && request.text.split_whitespace().count() >= LONG_ORDER
            && !is_question(&request.text)
            && !points_at_something(&request.ask)
    })
}

/// Returns the subject of a commit between a request and the next prompt: the last commit that is
/// more than a fix or a test, or else the last one that is more than bookkeeping.
pub(super) fn committed_then(evidence: &Evidence, request: &Request) -> Option<String> {
    let turn = turn_of(evidence, prompt_of(evidence, request)?.origin)?;
    let commits = evidence.commits.iter().rev().filter(|commit| turn.holds(commit.origin));
    let work: Vec<&Commit> = commits.filter(|commit| !is_bookkeeping(commit)).collect();
    let major = work.iter().find(|commit| !is_minor(&commit.subject));
    major.or(work.first()).map(|commit| commit.subject.clone())
}

/// Returns the subject of the newest commit that is more than bookkeeping or a plan that was given
/// up later.
pub(super) fn committed(evidence: &Evidence) -> Option<String> {
    let is_work =
        |commit: &&Commit| !is_bookkeeping(commit) && !is_superseded_plan(evidence, commit);
    let commit = evidence.commits.iter().rev().find(is_work)?;
    Some(one_line(&commit.subject))
}
