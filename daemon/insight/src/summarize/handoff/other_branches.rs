//! Describes the work that an earlier session left on branches that no later session used: commits
//! without a push, and open pull requests.

use crate::{
    model::{
        summary::EnhancedSessionSummary,
        wording::{LAST_COMMIT_NOT_PUSHED, NOT_PUSHED},
    },
    summarize::handoff::{
        past::EndedSession,
        state::{self, LeftState},
    },
    text::{contains_name, pattern},
};

/// Returns the unpushed commits and the open pull request of an earlier session on another branch
/// than the sessions `later`, the last session first. A session of `later` that used the branch or
/// names the pull request shows a more recent state.
pub(super) fn left_work(
    summary: &EnhancedSessionSummary,
    past: &EndedSession,
    later: &[EndedSession],
) -> Vec<String> {
    if later.is_empty() || !later.iter().all(|later| past.is_on_another_branch(later)) {
        return Vec::new();
    }
    let request = state::pull_request(summary, past.own_branches().count() <= 1);
    let request = request.filter(|request| is_open(request, later)).map(str::to_owned);
    unpushed(summary, past).into_iter().chain(request).collect()
}

/// Returns the branch and the last commit, if the commit was not pushed.
fn unpushed(summary: &EnhancedSessionSummary, past: &EndedSession) -> Option<String> {
    let state = LeftState::of(summary, &past.branches).text?;
    let is_missing =
        |part: &str| part.starts_with(NOT_PUSHED) || part.starts_with(LAST_COMMIT_NOT_PUSHED);
    let is_part = |part: &&str| {
        part.starts_with("branch `") || part.starts_with("last commit `") || is_missing(part)
    };
    let parts: Vec<&str> = state.split("; ").filter(is_part).collect();
    (parts.len() > 1 && parts.iter().any(|part| is_missing(part)))
        .then(|| state::as_seen(&parts.join("; "), true))
}

fn is_open(request: &str, later: &[EndedSession]) -> bool {
    let has_ended =
        pattern!(r"(?i)\bmerged\b|^closed | \(closed without a merge\):").is_match(request);
    let Some(number) = pattern!(r"#[0-9]+|/pull/[0-9]+").find(request) else { return false };
    let number = number.as_str().replace("/pull/", "#");
    !has_ended
        && !later.iter().any(|later| {
            let texts = [&later.objective, &later.last_words, &later.earlier_words];
            let mut texts = texts.into_iter().chain(&later.done).chain(&later.asked_later);
            texts.any(|text| contains_name(text, &number))
        })
}
