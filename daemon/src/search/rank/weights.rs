//! The numbers that the ranking is tuned by.

use crate::search::passage::PassageKind;

/// What each sign of relevance counts. The defaults were found by measuring: `tests/benches/retrieval.rs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// How fast more of the same word stops to count (BM25's k1).
    pub saturation: f32,
    /// How much a long text is held against it (BM25's b).
    pub length: f32,
    /// The share of exact words; the rest goes to words of the same stem.
    pub exact: f32,
    /// Words that are written like names.
    pub name: f32,
    /// Parts of an identifier or path that is asked for as a whole.
    pub in_whole: f32,
    /// Words of a date, which stand in few texts that are of that date.
    pub in_date: f32,
    /// Words about time, place and manner.
    pub faint: f32,
    /// What each [`PassageKind`] of passage counts, by its number.
    pub kinds: [f32; PassageKind::ALL.len()],
    /// The best passages of a session, best first.
    pub best: [f32; 3],
    pub turns: f32,
    /// The best stretch of consecutive passages.
    pub stretch: f32,
    /// How long such a stretch is, in terms.
    pub stretch_terms: u32,
    /// The session as one text.
    pub whole: f32,
    /// Words of the question in their order, near each other.
    pub pairs: f32,
    /// How many of these pairs of words one passage has, if it has two at least.
    pub run: f32,
    /// A date in the question is one of the session's.
    pub date: f32,
    /// The question names the session's project.
    pub named_project: f32,
    /// The session is of the asker's project.
    pub near: f32,
    /// The session is recent: all of it today, half of it after [`Weights::recency_days`].
    pub recency: f32,
    /// The half-life of that.
    pub recency_days: f32,
    /// The second ranker's scores against those of the words.
    pub second: f32,
}

impl Default for Weights {
    fn default() -> Weights {
        let mut kinds = [1.0; PassageKind::ALL.len()];
        for (kind, weight) in [
            (PassageKind::Agent, 0.7),
            (PassageKind::Tool, 0.4),
            (PassageKind::Recap, 0.7),
            (PassageKind::Title, 1.2),
            (PassageKind::File, 0.7),
            (PassageKind::Body, 0.8),
        ] {
            kinds[kind as usize] = weight;
        }
        Weights {
            saturation: 1.2,
            length: 0.75,
            exact: 0.5,
            name: 1.4,
            in_whole: 0.5,
            in_date: 0.3,
            faint: 0.6,
            kinds,
            best: [1.0, 0.5, 0.33],
            turns: 1.0,
            stretch: 1.0,
            stretch_terms: 450,
            whole: 0.6,
            pairs: 0.25,
            run: 1.0,
            date: 0.3,
            named_project: 0.1,
            near: 0.1,
            recency: 0.05,
            recency_days: 30.0,
            second: 0.5,
        }
    }
}

impl Weights {
    pub(crate) fn of_kind(&self, kind: PassageKind) -> f32 {
        self.kinds[kind as usize]
    }

    /// BM25's answer to a word that stands `count` times in a text `relative` times as long as usual.
    pub(crate) fn saturate(&self, count: f32, relative: f32) -> f32 {
        let norm = self.saturation * (1.0 - self.length + self.length * relative);
        count * (self.saturation + 1.0) / (count + norm)
    }
}
