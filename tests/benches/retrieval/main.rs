//! Measures how well and how fast the search finds sessions.
//!
//!     cargo bench -p graphiti-tests --bench retrieval -- quality
//!     cargo bench -p graphiti-tests --bench retrieval --features fts5-baseline -- quality
//!     cargo bench -p graphiti-tests --bench retrieval -- tune
//!     cargo bench -p graphiti-tests --bench retrieval -- volume 1000 10000 100000
//!
//!     cargo bench -p graphiti-tests --bench retrieval -- vectors 100000 1000000
//!     cargo bench -p graphiti-tests --bench retrieval --features tokens -- replies
//!
//! If `GRAPHITI_HITS` is set, all hits are printed with their scores, so that two versions can be
//! compared.
//!
//! If `GRAPHITI_CORPUS` is set, quality is also measured with the transcripts in this folder. If
//! `GRAPHITI_MODEL` is set, quality is also measured with the vectors of the model in this folder.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod coding;
mod corpus;
#[cfg(feature = "fts5-baseline")]
mod fts;
mod needles;
mod replies;
mod score;
mod sessions;
mod synthetic;
mod tune;
mod vectors;
mod volume;

use std::path::Path;

use graphiti_tests::Random;
use graphitid::search::{
    index::{Position, SearchIndex},
    query::Query,
    rank::{RankRequest, Results, Scope, SecondRanker, Weights},
};

use crate::{score::RankingScore, sessions::QuestionSet};

/// Number of meaningless questions.
const NONSENSE: usize = 50;

/// The tokenizers of SQLite that are compared.
#[cfg(feature = "fts5-baseline")]
const TOKENIZERS: [&str; 2] = ["unicode61", "porter unicode61"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, folder, ..] = &arguments[..]
        && command == volume::MEASURE_INDEX
    {
        return volume::measure_index(Path::new(folder));
    }
    if arguments.iter().any(|argument| argument == "replies") {
        return replies::run();
    }
    let counts: Vec<usize> =
        arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    if arguments.iter().any(|argument| argument == "vectors") {
        counts.into_iter().for_each(vectors::run);
        return;
    }
    if !counts.is_empty() {
        counts.into_iter().for_each(volume::run);
        return;
    }
    coding_questions();
    let set = synthetic::make();
    quality(&set);
    needles(set);
    let Some(folder) = std::env::var_os("GRAPHITI_CORPUS") else {
        println!("GRAPHITI_CORPUS is not set: no transcripts to measure on");
        return;
    };
    let set = corpus::load(Path::new(&folder));
    quality(&set);
    needles(set);
}

/// Prints how well and how fast the search answers each set of questions about the coding sessions.
fn coding_questions() {
    let mut set = coding::sessions();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let index = build(&set, folder.path());
    let titled = tempfile::tempdir().expect("a temporary folder can be made");
    let with_episodes = build(&set, titled.path());
    for (key, session) in (1_u64..).zip(&set.sessions) {
        if let Some(change) = session.episode(key) {
            with_episodes.apply(change, Position(1_000 + key));
        }
    }
    println!(
        "coding: {} sessions; right of the bar: titles and objectives are indexed, too",
        set.sessions.len()
    );
    for (name, questions) in coding::question_sets() {
        set.questions = questions;
        let start = std::time::Instant::now();
        let score = ask_all(&set, &index, &Weights::default(), None, true);
        let each = start.elapsed() / u32::try_from(set.questions.len()).unwrap_or(1);
        let titled = ask_all(&set, &with_episodes, &Weights::default(), None, false);
        let count = set.questions.len();
        println!("  {name:20} {count:3}  {score}  |  {} {each:?}", titled.summary_line());
        #[cfg(feature = "fts5-baseline")]
        for tokenizer in TOKENIZERS {
            println!("    {tokenizer:22} {}", fts::score(&set, tokenizer));
        }
    }
}

fn quality(set: &QuestionSet) {
    println!("{}: {} sessions, {} questions", set.name, set.sessions.len(), set.questions.len());
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let index = build(set, folder.path());
    if std::env::args().any(|argument| argument == "tune") {
        return tune::run(set, &index);
    }
    println!("  ours             {}", ask_all(set, &index, &Weights::default(), None, true));
    if let Some(folder) = std::env::var_os("GRAPHITI_MODEL") {
        let meanings = vectors::Meanings::of(set, Path::new(&folder));
        for second in [0.25, 0.5, 0.75, 1.0] {
            let weights = Weights { second, ..Weights::default() };
            let score = ask_all(set, &index, &weights, Some(&meanings), false);
            println!("  with vectors {second:.2}  {score}");
        }
        println!("  {}", nonsense(set, &index, &meanings));
    }
    #[cfg(feature = "fts5-baseline")]
    for tokenizer in TOKENIZERS {
        println!("  {tokenizer:16} {}", fts::score(set, tokenizer));
    }
}

/// Prints how well the search finds sentences that occur only once in all sessions.
fn needles(set: QuestionSet) {
    let mut set = needles::hide(set);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let index = build(&set, folder.path());
    let score = ask_all(&set, &index, &Weights::default(), None, true);
    println!("  {} needles       {score}", set.questions.len());
    for (name, is_misspelled) in [("spelled right", false), ("one typing error", true)] {
        set.questions = needles::questions_with_names(&mut set.sessions, is_misspelled);
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let index = build(&set, folder.path());
        let score = ask_all(&set, &index, &Weights::default(), None, true);
        println!("  {} needles by three words, {name:16} {score}", set.questions.len());
    }
}

/// Returns how many meaningless questions find sessions. Some session always has the nearest
/// vector, even if no session answers the question.
fn nonsense(set: &QuestionSet, index: &SearchIndex, meanings: &vectors::Meanings) -> String {
    let mut random = Random::new(7);
    let (mut answered, mut sessions) = (0, 0);
    for _ in 0..NONSENSE {
        let mut word = || -> String {
            (0..3 + random.below(7)).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
        };
        let text = [word(), word(), word()].join(" ");
        let query = Query::parse(&text, &set.now);
        let meant = meanings.question(query.text_for_embedding());
        let ranker = meanings.ranker(&meant);
        let request = RankRequest {
            query: &query,
            scope: &Scope::default(),
            now: graphitid::model::Timestamp::from_micros(set.now.timestamp().as_microsecond()),
            limit: 10,
            weights: &Weights::default(),
            second: Some(&ranker),
            session_filter: None,
        };
        let found = index.search(&request).expect("the index can be read").sessions.len();
        answered += usize::from(found > 0);
        sessions += found;
    }
    format!("nonsense: {answered} of {NONSENSE} questions answered, {sessions} sessions")
}

fn build(set: &QuestionSet, folder: &Path) -> SearchIndex {
    let index = SearchIndex::create(folder).expect("an index can be made in an empty folder");
    for (key, session) in (1_u64..).zip(&set.sessions) {
        let backlog = index.apply(session.change(key), Position(key));
        if backlog.is_full() {
            index.commit().expect("the index can be written");
        }
    }
    index.commit().expect("the index can be written");
    index
}

/// Prints the sessions and passages that a question found.
fn print_hits(question: &str, results: &Results) {
    for hit in &results.sessions {
        let places = hit.passages.iter().map(|passage| passage.place);
        println!(
            "hit {question:?} {} {} {:?}",
            hit.session.0,
            hit.score,
            places.collect::<Vec<_>>()
        );
    }
}

fn ask_all(
    set: &QuestionSet,
    index: &SearchIndex,
    weights: &Weights,
    meanings: Option<&vectors::Meanings>,
    verbose: bool,
) -> RankingScore {
    let mut score = RankingScore::default();
    let now = graphitid::model::Timestamp::from_micros(set.now.timestamp().as_microsecond());
    let verbose = verbose && std::env::var_os("GRAPHITI_MISSES").is_some();
    for question in &set.questions {
        let query = Query::parse(&question.text, &set.now);
        let meant = meanings.map(|meanings| meanings.question(query.text_for_embedding()));
        let ranker = meanings.zip(meant.as_ref()).map(|(meanings, meant)| meanings.ranker(meant));
        let request = RankRequest {
            query: &query,
            scope: &Scope::default(),
            now,
            limit: 10,
            weights,
            second: ranker.as_ref().map(|ranker| ranker as &dyn SecondRanker),
            session_filter: None,
        };
        let results = index.search(&request).expect("the index can be read");
        let ranked: Vec<&str> = results
            .sessions
            .iter()
            .map(|hit| set.sessions[hit.session.0 as usize - 1].name.as_str())
            .collect();
        if std::env::var_os("GRAPHITI_HITS").is_some() {
            print_hits(&question.text, &results);
        }
        if verbose {
            let place = ranked.iter().position(|name| question.answers.iter().any(|it| it == name));
            if place != Some(0) {
                println!(
                    "{place:?}\t{}\t{}\tfirst {}",
                    question.text,
                    question.answers[0],
                    ranked.first().unwrap_or(&"")
                );
            }
        }
        score.count(&ranked, &question.answers);
    }
    score
}
