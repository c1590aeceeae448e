//! Combines the word ranking with a second ranker, such as one that compares vectors.
//!
//! The scores of both rankers are standardised (z-scores) and added with a weight. In measurements,
//! this improved the results, and rank fusion made them worse.

use std::collections::HashMap;

use crate::model::SessionKey;

pub trait SecondRanker {
    /// Returns at most `limit` of the best sessions that `admits` accepts, with scores on any
    /// scale; a higher score is better.
    fn rank(&self, limit: usize, admits: &dyn Fn(SessionKey) -> bool) -> Vec<(SessionKey, f32)>;

    /// Returns the minimum score of a session that contains no word of the query. Without a
    /// minimum, the nearest session would match even a meaningless query.
    fn floor(&self) -> f32;
}

/// Adds the scores of a second ranker, times `weight`, to the scores of the words. A session that
/// one ranker does not list gets the lowest score of this ranker. The result has the scale of
/// `words`. If one list is empty, returns the other list unchanged.
pub(crate) fn fuse(words: &[(u64, f32)], second: &[(u64, f32)], weight: f32) -> Vec<(u64, f32)> {
    let (Some(word_scale), Some(second_scale)) = (Scale::of(words), Scale::of(second)) else {
        return if words.is_empty() { second.to_vec() } else { words.to_vec() };
    };
    let second_of: HashMap<u64, f32> = second.iter().copied().collect();
    let known: HashMap<u64, f32> = words.iter().copied().collect();
    let only_second = second.iter().filter(|(session, _)| !known.contains_key(session));
    let all =
        words.iter().copied().chain(only_second.map(|(session, _)| (*session, word_scale.least)));
    all.map(|(session, score)| {
        let other = second_of.get(&session).copied().unwrap_or(second_scale.least);
        (session, score + weight * word_scale.deviation * second_scale.z(other))
    })
    .collect()
}

struct Scale {
    mean: f32,
    deviation: f32,
    least: f32,
}

impl Scale {
    fn of(scores: &[(u64, f32)]) -> Option<Scale> {
        if scores.is_empty() {
            return None;
        }
        let count = scores.len() as f32;
        let mean = scores.iter().map(|(_, score)| score).sum::<f32>() / count;
        let variance = scores.iter().map(|(_, score)| (score - mean).powi(2)).sum::<f32>() / count;
        let least = scores.iter().map(|(_, score)| *score).fold(f32::INFINITY, f32::min);
        Some(Scale { mean, deviation: variance.sqrt(), least })
    }

    fn z(&self, score: f32) -> f32 {
        if self.deviation > f32::EPSILON { (score - self.mean) / self.deviation } else { 0.0 }
    }
}
