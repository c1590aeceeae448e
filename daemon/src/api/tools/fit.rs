//! Shortens the answer to a search to the length that is allowed for a model.
//!
//! Lengths are costs ([`cost`](super::text::cost::cost)): a text with more tokens per byte counts
//! as longer.

use graphiti_proto::tools::{Detail, errors::ErrorRow, search_sessions::Hit};

use super::{session_search::TEXT_HITS, text};
use crate::{
    api::client_context::{ClientContext, ReplyForm},
    search::rank::Weights,
};

/// Maximum cost of the text for a model that requests the default number of sessions, without the
/// lines after the sessions. This cost corresponds to 1,300 tokens.
const TEXT_COST: usize = 5_200;
/// Same as [`TEXT_COST`], for a model that requests long passages.
const FULL_TEXT_COST: usize = 16_000;
/// Maximum cost of the text for any model.
const MAX_TEXT_COST: usize = 35_000;

/// Sessions share the space in proportion to this power of the ratio between their score and the
/// best score.
const SHARE_POWER: i32 = 6;
/// A session whose share is smaller than the largest share divided by this number has only its
/// line, unless the other sessions leave space.
const MIN_SHARE_DIVISOR: usize = 8;

/// Removes the hits and passages that do not fit into a reply. The limit is a size for a structured
/// reply, and a cost for a text. If a known `error` is given, the text begins with a line about it.
pub(super) fn fit_reply(
    client: &ClientContext,
    hits: &mut Vec<Hit>,
    error: Option<&ErrorRow>,
    limit: usize,
    detail: Detail,
) {
    if client.reply_form == ReplyForm::Structured {
        return client.reply_budget.fit(hits);
    }
    let first_line = error.map_or(0, text::search::error_cost);
    fit_hits(hits, text_budget(limit, detail).saturating_sub(first_line));
}

/// Returns the maximum cost of the text for a model. The cost is larger for more sessions and
/// for long passages.
pub(super) fn text_budget(limit: usize, detail: Detail) -> usize {
    let budget = match detail {
        Detail::Ids | Detail::Passages => TEXT_COST,
        Detail::Full => FULL_TEXT_COST,
    };
    (budget * limit.div_ceil(TEXT_HITS)).min(MAX_TEXT_COST)
}

/// Returns the parts of `cost` for the passages of each session, by the scores of the sessions.
///
/// A session whose score is clearly below the best score is seldom the right session: of 80
/// questions about recorded sessions, the second session was right in none of the 56 questions in
/// which its score was less than 0.8 of the best score, and in 6 of the other 24.
///
/// The sessions that worked on the identifier of a query have equal parts: their scores only order
/// them by time. If no score is positive, as in a list, all parts are equal.
pub(super) fn shares(scores: &[f64], cost: usize) -> Vec<usize> {
    let most = f64::from(Weights::default().identifier);
    let scores = scores.iter().map(|score| score.clamp(0.0, most));
    let best = scores.clone().fold(0.0, f64::max);
    let weights =
        scores.map(|score| if best > 0.0 { (score / best).powi(SHARE_POWER) } else { 1.0 });
    let all: f64 = weights.clone().sum();
    weights.map(|weight| (cost as f64 * weight / all) as usize).collect()
}

/// Returns the scores by which space is shared. A session without passages needs no space. A
/// session of the team has no score: it gets the score of the preceding session of this machine, or
/// the best score if no session of this machine precedes it.
fn scores(hits: &[Hit]) -> Vec<f64> {
    let own = hits.iter().filter(|hit| hit.team.is_none()).map(|hit| hit.score);
    let mut before = own.fold(0.0, f64::max);
    let score = |hit: &Hit| {
        before = if hit.team.is_none() { hit.score } else { before };
        if hit.passages.is_empty() { 0.0 } else { before }
    };
    hits.iter().map(score).collect()
}

/// Keeps as many sessions as fit into a text of the cost `left`, but at least one. The remaining
/// space is for passages: first the best passage of each session, unless its share is very small,
/// then the passages that fit into the session's share ([`shares`]), then the other passages: a
/// session in which the same question was asked has the best score, but often no answer.
fn fit_hits(hits: &mut Vec<Hit>, mut left: usize) {
    let sizes: Vec<_> = hits.iter().map(text::search::sizes).collect();
    let fitting = sizes.iter().take_while(|(line, _)| take(&mut left, *line)).count().max(1);
    hits.truncate(fitting);
    let mut shares = shares(&scores(hits), left);
    let least = shares.iter().max().map_or(0, |largest| largest / MIN_SHARE_DIVISOR);
    let mut kept = vec![0; hits.len()];
    for stage in [Stage::BestPassage, Stage::Share, Stage::Rest] {
        for ((kept, share), (_, passages)) in kept.iter_mut().zip(&mut shares).zip(&sizes) {
            // If a passage does not fit, the later passages of its session are left out, too.
            while let Some(size) = passages.get(*kept)
                && stage.admits(*kept, *size, *share, least)
                && take(&mut left, *size)
            {
                *share = share.saturating_sub(*size);
                *kept += 1;
            }
        }
    }
    for (hit, kept) in hits.iter_mut().zip(kept) {
        hit.passages.truncate(kept);
    }
}

/// Subtracts `size` from the space `left` and returns true if it fits.
fn take(left: &mut usize, size: usize) -> bool {
    let rest = left.checked_sub(size);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// The order in which passages get space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    BestPassage,
    Share,
    Rest,
}

impl Stage {
    /// Whether the next passage of a session, of the cost `size`, gets space if `kept` passages are
    /// kept and `share` remains of the session's share. The best passage needs a share of at least
    /// `least`, unless space remains.
    fn admits(self, kept: usize, size: usize, share: usize, least: usize) -> bool {
        match self {
            Stage::BestPassage => kept == 0 && share >= least,
            Stage::Share => kept > 0 && size <= share,
            Stage::Rest => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::tools::session_search::MAX_HITS;
    use graphiti_proto::tools::{TeamOrigin, search_sessions::MatchedPassage};

    #[test]
    fn the_best_passages_of_all_sessions_come_before_second_passages() {
        let passage = || MatchedPassage { text: "x".repeat(80), ..MatchedPassage::default() };
        let hit = || Hit { passages: vec![passage(), passage(), passage()], ..Hit::default() };
        let (line, passages) = text::search::sizes(&hit());
        let kept = |left: usize| {
            let mut hits = vec![hit(), hit()];
            fit_hits(&mut hits, left);
            hits.iter().map(|hit| hit.passages.len()).collect::<Vec<_>>()
        };
        let lines = 2 * line;
        assert_eq!(kept(10_000), [3, 3]);
        assert_eq!(kept(lines + 3 * passages[0]), [2, 1]);
        assert_eq!(kept(lines + passages[0]), [1, 0]);
        assert_eq!(kept(line), [0]);
        assert_eq!(kept(0), [0]);
    }

    #[test]
    fn a_session_with_a_clearly_lower_score_gets_little_space() {
        assert_eq!(shares(&[2.0, 1.0, 0.0, -1.0], 6_500), [6_400, 100, 0, 0]);
        assert_eq!(shares(&[0.0, 0.0], 900), [450, 450], "a list has no scores");
        assert_eq!(shares(&[303.0, 203.0, 103.0], 900), [300; 3], "identifiers");
        assert_eq!(shares(&[], 900), [0; 0]);

        let passage = || MatchedPassage { text: "x".repeat(80), ..MatchedPassage::default() };
        let hit = |score| Hit { score, passages: vec![passage(); 4], ..Hit::default() };
        let (line, passages) = text::search::sizes(&hit(1.0));
        let kept = |scores: &[f64], left: usize| {
            let mut hits: Vec<Hit> = scores.iter().copied().map(hit).collect();
            fit_hits(&mut hits, scores.len() * line + left);
            hits.iter().map(|hit| hit.passages.len()).collect::<Vec<_>>()
        };
        let space = 5 * passages[0];
        assert_eq!(kept(&[1.0, 1.0], space), [3, 2]);
        assert_eq!(kept(&[1.0, 0.8], space), [4, 1]);
        assert_eq!(kept(&[1.0, 0.3], space), [4, 1], "a small share gets the remaining space");
        let little = 4 * passages[0];
        assert_eq!(kept(&[1.0, 0.3], little), [4, 0], "a small share has only the line");
        assert_eq!(kept(&[1.0, 0.8], little), [3, 1]);
    }

    #[test]
    fn sessions_of_the_team_have_space_and_sessions_without_passages_take_none() {
        let passage = || MatchedPassage { text: "x".repeat(80), ..MatchedPassage::default() };
        let own =
            |score, passages| Hit { score, passages: vec![passage(); passages], ..Hit::default() };
        let of_team = || Hit { team: Some(TeamOrigin::default()), ..own(0.0, 1) };
        assert_eq!(scores(&[of_team(), own(3.0, 2), of_team()]), [3.0; 3]);
        assert_eq!(scores(&[own(9.0, 0), own(3.0, 2)]), [0.0, 3.0]);
        let mut hits = vec![own(3.0, 4), of_team()];
        fit_hits(&mut hits, 10_000);
        assert_eq!(hits[1].passages.len(), 1);
    }

    #[test]
    fn the_text_is_larger_for_more_sessions_and_long_passages() {
        assert_eq!(text_budget(TEXT_HITS, Detail::Passages), TEXT_COST);
        assert_eq!(text_budget(2 * TEXT_HITS, Detail::Ids), 2 * TEXT_COST);
        assert_eq!(text_budget(1, Detail::Full), FULL_TEXT_COST);
        assert_eq!(text_budget(MAX_HITS, Detail::Full), MAX_TEXT_COST);
    }
}
