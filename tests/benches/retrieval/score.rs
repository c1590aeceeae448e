//! Computes how well a ranking answers questions.

/// The sums of the measures over all questions of a set.
#[derive(Clone, Copy, Default)]
pub(crate) struct RankingScore {
    questions: f64,
    recall_1: f64,
    recall_5: f64,
    recall_10: f64,
    reciprocal_rank_sum: f64,
    gain: f64,
}

impl RankingScore {
    /// Counts one question: `ranked` contains the names of the found sessions, the best first.
    pub(crate) fn count(&mut self, ranked: &[&str], answers: &[String]) {
        let is_answer = |name: &&str| answers.iter().any(|answer| answer == name);
        let place = ranked.iter().position(&is_answer);
        let within = |limit: usize| f64::from(u8::from(place.is_some_and(|place| place < limit)));
        self.questions += 1.0;
        self.recall_1 += within(1);
        self.recall_5 += within(5);
        self.recall_10 += within(10);
        self.reciprocal_rank_sum += place.map_or(0.0, |place| 1.0 / (place as f64 + 1.0));
        let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let ideal: f64 = (0..answers.len().min(10)).map(gain).sum();
        let found = ranked.iter().take(10).enumerate().filter(|(_, name)| is_answer(name));
        self.gain += found.map(|(place, _)| gain(place)).sum::<f64>() / ideal;
    }
}

impl RankingScore {
    /// Formats only recall and reciprocal rank.
    pub(crate) fn summary_line(&self) -> String {
        let mean = |sum: f64| sum / self.questions.max(1.0);
        format!("R@5 {:.3}  MRR {:.3}", mean(self.recall_5), mean(self.reciprocal_rank_sum))
    }
}

impl std::fmt::Display for RankingScore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mean = |sum: f64| sum / self.questions.max(1.0);
        write!(
            f,
            "R@1 {:.3}  R@5 {:.3}  R@10 {:.3}  MRR {:.3}  NDCG@10 {:.3}",
            mean(self.recall_1),
            mean(self.recall_5),
            mean(self.recall_10),
            mean(self.reciprocal_rank_sum),
            mean(self.gain)
        )
    }
}
