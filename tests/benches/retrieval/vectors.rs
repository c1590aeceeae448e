//! Measures how much the vectors of a model improve the search, and how fast vectors are compared.

use std::{path::Path, time::Instant};

use graphiti_tests::Random;
use graphitid::{
    llm::embed::{
        config::{Config, EmbeddingProvider},
        local::Local,
    },
    model::vector::Packed,
    search::{
        rank::SecondRanker,
        vectors::{Ranker, Vectors, texts::TextChunker},
    },
};

use crate::sessions::QuestionSet;

const DIMENSION: usize = 256;
/// Number of timed questions.
const QUESTIONS: usize = 200;

/// A model, and its vectors of a set's sessions.
pub(crate) struct Meanings {
    model: Local,
    vectors: Vectors,
}

impl Meanings {
    /// Computes the vectors with the model in `folder`.
    pub(crate) fn of(set: &QuestionSet, folder: &Path) -> Meanings {
        let config = Config {
            provider: EmbeddingProvider::Local,
            path: Some(folder.to_owned()),
            ..Config::default()
        };
        let model = Local::read(&config).expect("GRAPHITI_MODEL is the folder of a model");
        let mut vectors = Vectors::default();
        let (mut texts, start) = (0, Instant::now());
        for (key, session) in (1_u64..).zip(&set.sessions) {
            let mut chunker = TextChunker::default();
            session.messages.iter().for_each(|message| chunker.add(message.role, &message.text));
            let own: Vec<Packed> =
                chunker.texts().iter().map(|text| packed(&model.vector(text))).collect();
            texts += own.len();
            vectors.put(key, &own);
        }
        println!("  {texts} vectors computed in {:.1} s", start.elapsed().as_secs_f64());
        Meanings { model, vectors }
    }

    pub(crate) fn question(&self, text: &str) -> Packed {
        packed(&self.model.vector(text))
    }

    pub(crate) fn ranker<'r>(&'r self, question: &'r Packed) -> Ranker<'r> {
        Ranker { vectors: &self.vectors, query: question }
    }
}

/// Prints how long it takes to compare a question with `count` vectors, ten per session.
pub(crate) fn run(count: usize) {
    let mut random = Random::new(3);
    let mut vector = || -> Vec<f32> {
        (0..DIMENSION).map(|_| random.below(2_001) as f32 / 1_000.0 - 1.0).collect()
    };
    let mut vectors = Vectors::default();
    for owner in 0..count.div_ceil(10) as u64 {
        let own: Vec<Packed> = (0..10).map(|_| packed(&vector())).collect();
        vectors.put(owner, &own);
    }
    let mut times = Vec::with_capacity(QUESTIONS);
    for _ in 0..QUESTIONS {
        let question = packed(&vector());
        let start = Instant::now();
        let found = Ranker { vectors: &vectors, query: &question }.rank(100, &|_| true);
        times.push(start.elapsed().as_secs_f64() * 1e3);
        assert_eq!(found.len(), 100.min(count.div_ceil(10)));
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{count} vectors of {DIMENSION} in {:.0} MB: p50 {:.1} ms, p99 {:.1} ms, min {:.1} ms",
        vectors.bytes() as f64 / 1e6,
        times[QUESTIONS / 2],
        times[QUESTIONS * 99 / 100],
        times[0]
    );
}

/// Returns the vector scaled to length one.
fn packed(vector: &[f32]) -> Packed {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    let unit: Vec<f32> = vector.iter().map(|number| number / length.max(f32::EPSILON)).collect();
    Packed::new(&unit)
}
