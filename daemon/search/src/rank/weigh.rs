//! Normalises and weighs the relevance signals.

use std::time::Duration;

use crate::{
    index::{facts::CardFacts, passages::seconds},
    model::{Project, Timestamp},
    query::dates::TimeRange,
    rank::{RankRequest, measure::SessionSignals, results::Signal},
    text::{self, TokenForm},
};

/// Returns the maximum of each signal over all candidates.
pub(crate) fn strongest<'s>(all: impl Iterator<Item = &'s SessionSignals>) -> SessionSignals {
    all.fold(SessionSignals::default(), |most, signals| SessionSignals {
        turns: most.turns.max(signals.turns),
        stretch: most.stretch.max(signals.stretch),
        whole: most.whole.max(signals.whole),
        pairs: most.pairs.max(signals.pairs),
        pairs_together: most.pairs_together.max(signals.pairs_together),
    })
}

/// Returns the parts of a session's score: its signals, most of them relative to the maxima, and
/// signals from its card.
pub(crate) fn weigh(
    signals: &SessionSignals,
    most: &SessionSignals,
    card: &CardFacts,
    request: &RankRequest<'_>,
) -> Vec<Signal> {
    let weights = request.weights;
    let scaled = |value: f32, most: f32| if most > 0.0 { value / most } else { 0.0 };
    let all = [
        ("best passages", scaled(signals.turns, most.turns), weights.best_passages),
        ("best stretch", scaled(signals.stretch, most.stretch), weights.sequence),
        ("whole session", scaled(signals.whole, most.whole), weights.whole),
        ("word order", scaled(signals.pairs, most.pairs), weights.pairs),
        ("word order in one passage", signals.pairs_together, weights.pairs_in_passage),
        ("date", nearness_to_date(card, request), weights.date),
        ("project named", yes(is_named(card, request)), weights.named_project),
        ("same project", yes(is_near(card, request)), weights.near),
        ("recency", recency(card, request), weights.recency),
    ];
    let all = all.into_iter().filter(|(_, strength, weight)| strength * weight != 0.0);
    all.map(|(name, strength, weight)| Signal { name, strength, share: strength * weight })
        .collect()
}

fn yes(is: bool) -> f32 {
    if is { 1.0 } else { 0.0 }
}

/// Returns 1 for a session of the query's date, less for a session within [`AROUND`] of the date,
/// and 0 for other sessions. A session often reports events of an earlier day, and seldom of a
/// later day.
fn nearness_to_date(card: &CardFacts, request: &RankRequest<'_>) -> f32 {
    let at = Timestamp::from_seconds;
    let nearness = |range: &TimeRange| {
        if range.overlaps(at(card.started), at(card.ended)) {
            1.0
        } else if range.to <= at(card.started) && at(card.started) < range.to.plus(AROUND) {
            request.weights.date_after
        } else if at(card.ended) < range.from && range.from < at(card.ended).plus(AROUND) {
            request.weights.date_before
        } else {
            0.0
        }
    };
    request.query.dates().iter().map(nearness).fold(0.0, f32::max)
}

const AROUND: Duration = Duration::from_secs(7 * 24 * 3_600);

fn is_near(card: &CardFacts, request: &RankRequest<'_>) -> bool {
    request.scope.near.iter().any(|near| near.number() == card.namespace)
}

fn recency(card: &CardFacts, request: &RankRequest<'_>) -> f32 {
    let age = (seconds(request.now) - card.ended).max(0) as f32 / 86_400.0;
    0.5_f32.powf(age / request.weights.recency_days)
}

/// Whether the query contains the words of the project's name.
fn is_named(card: &CardFacts, request: &RankRequest<'_>) -> bool {
    let Some(project) = &card.project else { return false };
    let name = text::words(Project::new(project).name());
    let (parts, wholes): (Vec<_>, Vec<_>) =
        name.iter().partition(|word| word.form == TokenForm::Part);
    let is_in_query =
        |word: &&text::OwnedWord| request.query.words.iter().any(|asked| asked.text == word.text);
    wholes.iter().any(is_in_query) || (!parts.is_empty() && parts.iter().all(is_in_query))
}
