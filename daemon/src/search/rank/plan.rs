//! What to look up for a question, and how rare it is.

use crate::search::{
    index::{
        cursor::Cursor,
        shard::{Depth, Shard},
        terms,
        view::View,
    },
    query::{Phrase, Query, QueryWord, Standing, WordForm},
    rank::{phrase, weights::Weights},
};

/// Questions of more words than this are ranked by the rarest of them.
const MOST_UNITS: usize = 24;
/// A prefix stands for at most so many words.
const MOST_PREFIXED: usize = 64;
/// Between two words of a pair may stand so many others.
const PAIR_GAP: u32 = 3;

/// What a question is ranked by.
pub(crate) struct Plan {
    pub(crate) units: Vec<Unit>,
    /// Words that follow one another in the question.
    pub(crate) pairs: Vec<Pair>,
    pub(crate) passages: f32,
    /// The usual length of a passage, in terms.
    pub(crate) passage_length: f32,
    pub(crate) sessions: f32,
    /// The usual length of a session, in terms.
    pub(crate) session_length: f32,
}

/// One word, prefix or phrase of the question.
pub(crate) struct Unit {
    /// As it is shown.
    pub(crate) label: String,
    pub(crate) weight: f32,
    /// Whether a session must hold it.
    pub(crate) is_required: bool,
    source: Source,
    /// Among passages: of the very word, and of all its forms.
    pub(crate) exact_rarity: f32,
    pub(crate) rarity: f32,
    /// Passages that hold any form.
    pub(crate) frequency: u64,
}

/// Two units, the second so many words after the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    pub(crate) first: usize,
    pub(crate) second: usize,
    pub(crate) distance: u32,
}

enum Source {
    Terms(Vec<TermList>),
    Prefix(String),
    Phrase(Phrase),
}

struct TermList {
    term: String,
    matches: Matches,
}

/// Which of a unit's counts a list adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matches {
    /// The word as asked.
    Exact,
    /// Another form of it.
    Form,
    /// The word as asked, which is also what its forms have in common.
    Both,
}

/// A walk through one of a unit's lists.
pub(crate) struct Walk<'s> {
    pub(crate) unit: usize,
    pub(crate) matches: Matches,
    pub(crate) cursor: Cursor<'s>,
}

impl Plan {
    pub(crate) fn new(query: &Query, view: &View<'_>, weights: &Weights) -> tantivy::Result<Plan> {
        let passages = view.passages().max(1) as f32;
        let sessions = view.sessions().max(1) as f32;
        let length = view.length().max(1) as f32;
        let mut plan = Plan {
            units: Vec::new(),
            pairs: Vec::new(),
            passages,
            passage_length: length / passages,
            sessions,
            session_length: length / sessions,
        };
        for phrase in &query.phrases {
            plan.units.push(Unit::of_phrase(phrase));
        }
        let words = ranked_words(&query.words);
        let mut unit_of = Vec::with_capacity(words.len());
        for word in &words {
            unit_of.push(plan.add_word(word, weights));
        }
        plan.pairs = pairs(&words, &unit_of);
        plan.count(view)?;
        plan.keep_rarest();
        Ok(plan)
    }

    /// The walks of all units through a shard.
    pub(crate) fn walks<'s>(
        &self,
        shard: &Shard<'s>,
        depth: Depth,
    ) -> tantivy::Result<Vec<Walk<'s>>> {
        let mut walks = Vec::new();
        for (index, unit) in self.units.iter().enumerate() {
            for (matches, cursor) in unit.walks(shard, depth)? {
                walks.push(Walk { unit: index, matches, cursor });
            }
        }
        Ok(walks)
    }

    fn add_word(&mut self, word: &QueryWord, weights: &Weights) -> usize {
        let label = match word.form {
            WordForm::Prefix => format!("{}*", word.text),
            WordForm::Part | WordForm::Whole => word.text.clone(),
        };
        if let Some(known) = self.units.iter().position(|unit| unit.label == label) {
            return known;
        }
        let weight = match word.standing {
            Standing::Content | Standing::Stop => 1.0,
            Standing::InWhole => weights.in_whole,
            Standing::InDate => weights.in_date,
        };
        self.units.push(Unit {
            label,
            weight,
            is_required: false,
            source: Source::of_word(word),
            exact_rarity: 0.0,
            rarity: 0.0,
            frequency: 0,
        });
        self.units.len() - 1
    }

    /// Finds out how rare the units are.
    fn count(&mut self, view: &View<'_>) -> tantivy::Result<()> {
        for unit in &mut self.units {
            let (mut exact, mut any) = (0, 0);
            for shard in &view.shards {
                let (in_exact, in_any) = unit.frequencies(shard)?;
                exact += in_exact;
                any += in_any;
            }
            unit.exact_rarity = rarity(exact as f32, self.passages);
            unit.rarity = rarity(any as f32, self.passages);
            unit.frequency = any.max(exact);
        }
        Ok(())
    }

    /// Puts the units that are not the rarest out of use, in their places.
    fn keep_rarest(&mut self) {
        let mut worth: Vec<f32> = self.units.iter().map(Unit::worth).collect();
        worth.sort_by(|one, other| other.total_cmp(one));
        let Some(least) = worth.get(MOST_UNITS - 1) else { return };
        for unit in &mut self.units {
            if unit.worth() < *least && !unit.is_required {
                unit.source = Source::Terms(Vec::new());
                unit.frequency = 0;
            }
        }
    }
}

/// How much a word says that stands in `frequency` of `all` texts (BM25's inverse frequency).
pub(crate) fn rarity(frequency: f32, all: f32) -> f32 {
    let frequency = frequency.min(all);
    (1.0 + (all - frequency + 0.5) / (frequency + 0.5)).ln()
}

impl Unit {
    fn of_phrase(phrase: &Phrase) -> Unit {
        Unit {
            label: format!("\"{}\"", phrase.parts.join(" ")),
            weight: 1.5,
            is_required: true,
            source: Source::Phrase(phrase.clone()),
            exact_rarity: 0.0,
            rarity: 0.0,
            frequency: 0,
        }
    }

    fn worth(&self) -> f32 {
        self.weight * self.rarity
    }

    fn walks<'s>(
        &self,
        shard: &Shard<'s>,
        depth: Depth,
    ) -> tantivy::Result<Vec<(Matches, Cursor<'s>)>> {
        let walks = match &self.source {
            Source::Terms(lists) => {
                let mut walks = Vec::new();
                for list in lists {
                    walks.extend(
                        shard.walk(&list.term, depth)?.map(|cursor| (list.matches, cursor)),
                    );
                }
                walks
            }
            Source::Prefix(prefix) => {
                vec![(Matches::Both, Cursor::made(with_prefix(shard, prefix)?))]
            }
            Source::Phrase(phrase) => {
                vec![(Matches::Both, Cursor::made(phrase::documents(shard, phrase)?))]
            }
        };
        Ok(walks)
    }

    /// Passages of a shard that hold the very word, and any form of it.
    fn frequencies(&self, shard: &Shard<'_>) -> tantivy::Result<(u64, u64)> {
        let (mut exact, mut any) = (0, 0);
        match &self.source {
            Source::Terms(lists) => {
                for list in lists {
                    let frequency = u64::from(shard.frequency(&list.term)?);
                    exact += if list.matches == Matches::Form { 0 } else { frequency };
                    any += if list.matches == Matches::Exact { 0 } else { frequency };
                }
                let has_forms = lists.iter().any(|list| list.matches != Matches::Exact);
                any = if has_forms { any } else { exact };
            }
            Source::Prefix(prefix) => {
                any = with_prefix(shard, prefix)?.len() as u64;
                exact = any;
            }
            Source::Phrase(phrase) => {
                any = phrase::documents(shard, phrase)?.len() as u64;
                exact = any;
            }
        }
        Ok((exact, any))
    }
}

impl Source {
    fn of_word(word: &QueryWord) -> Source {
        let list = |term: &str, matches| TermList { term: term.to_owned(), matches };
        match word.form {
            WordForm::Prefix => Source::Prefix(word.text.clone()),
            WordForm::Whole => Source::Terms(vec![list(&word.text, Matches::Both)]),
            WordForm::Part => {
                let forms = terms::of_forms(&word.text);
                if forms.is_empty() {
                    return Source::Terms(vec![list(&word.text, Matches::Both)]);
                }
                let is_own_form = forms.contains(&word.text);
                let mut lists: Vec<TermList> = Vec::new();
                for form in &forms {
                    let is_word = *form == word.text;
                    lists.push(list(form, if is_word { Matches::Both } else { Matches::Form }));
                }
                if !is_own_form {
                    lists.push(list(&word.text, Matches::Exact));
                }
                Source::Terms(lists)
            }
        }
    }
}

/// The words that say something; all of them when none does.
fn ranked_words(words: &[QueryWord]) -> Vec<QueryWord> {
    let content = |word: &&QueryWord| word.standing != Standing::Stop;
    let says_something =
        words.iter().any(|word| matches!(word.standing, Standing::Content | Standing::InWhole));
    if says_something { words.iter().filter(content).cloned().collect() } else { words.to_vec() }
}

fn pairs(words: &[QueryWord], unit_of: &[usize]) -> Vec<Pair> {
    let parts: Vec<(u32, usize)> = words
        .iter()
        .zip(unit_of)
        .filter(|(word, _)| word.form == WordForm::Part)
        .map(|(word, unit)| (word.position, *unit))
        .collect();
    let mut pairs: Vec<Pair> = Vec::new();
    for two in parts.windows(2) {
        let [(first_at, first), (second_at, second)] = two else { continue };
        let distance = second_at - first_at;
        let pair = Pair { first: *first, second: *second, distance };
        let is_new = pairs.iter().all(|known| (known.first, known.second) != (*first, *second));
        if first != second && (1..=PAIR_GAP).contains(&distance) && is_new {
            pairs.push(pair);
        }
    }
    pairs
}

fn with_prefix(shard: &Shard<'_>, prefix: &str) -> tantivy::Result<Vec<(u32, u32)>> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for word in shard.words_with_prefix(prefix, MOST_PREFIXED)? {
        let Some(mut cursor) = shard.walk(&word, Depth::Counts)? else { continue };
        while cursor.document() != crate::search::index::cursor::DONE {
            found.push((cursor.document(), cursor.count()));
            cursor.advance();
        }
    }
    found.sort_unstable();
    found.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    Ok(found)
}
