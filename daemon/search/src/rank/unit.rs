//! One search term of a query: a word with its forms, a prefix, or a phrase.

use crate::{
    index::{
        cursor::Cursor,
        shard::{PostingDetail, Shard, ShardTerm},
        terms,
        view::View,
    },
    query::{Phrase, QueryWord, WordForm, WordRole},
    rank::{
        lists::{self, List},
        weights::Weights,
    },
};

/// The weight of a phrase, relative to a word.
const PHRASE_WEIGHT: f32 = 1.5;

/// The weight of another spelling of a word, relative to the weight of the word in the query.
const SPELLED_WEIGHT: f32 = 0.9;

pub(crate) struct Unit {
    /// The text for the explanation.
    pub(crate) label: String,
    pub(crate) weight: f32,
    source: PostingSource,
    /// The inverse frequency of the exact word among passages.
    pub(crate) exact_rarity: f32,
    /// The inverse frequency of all forms of the word among passages.
    pub(crate) rarity: f32,
    /// Approximate number of passages that contain any form.
    pub(crate) frequency: u64,
}

enum PostingSource {
    /// Posting lists of the index, by term.
    Terms(Vec<UnitTerm>),
    /// Computed lists, one for each shard.
    Computed(Vec<List>),
}

struct UnitTerm {
    text: String,
    matches: Matches,
    /// The term in each shard; empty before the term is looked up.
    found: Vec<Option<ShardTerm>>,
}

/// The form of a word that a list contains. The form decides to which counts of the unit the list
/// contributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matches {
    /// The word as it is in the query.
    Exact,
    Form,
    /// The word as it is in the query, which is also the stem of its forms.
    Both,
}

pub(crate) struct UnitCursor<'w> {
    pub(crate) unit: usize,
    pub(crate) matches: Matches,
    pub(crate) cursor: Cursor<'w>,
}

/// Occurrences of a unit in a text: exact, and in any form.
pub(crate) type UnitCounts = [f32; 2];

/// Adds the count of the cursor's current document to `counts`.
#[inline]
pub(crate) fn count(cursor: &Cursor<'_>, matches: Matches, counts: &mut UnitCounts) {
    let count = cursor.count() as f32;
    if matches != Matches::Form {
        counts[0] += count;
    }
    if matches != Matches::Exact {
        counts[1] += count;
    }
}

impl UnitTerm {
    fn new(text: String, matches: Matches) -> UnitTerm {
        UnitTerm { text, matches, found: Vec::new() }
    }

    fn frequency(&self) -> u64 {
        self.found.iter().flatten().map(|found| u64::from(found.frequency())).sum()
    }
}

impl Unit {
    pub(crate) fn of_word(
        word: &QueryWord,
        view: &View<'_>,
        weights: &Weights,
    ) -> tantivy::Result<Unit> {
        let weight = match word.role {
            WordRole::Content | WordRole::Stop => 1.0,
            WordRole::Name => weights.name,
            WordRole::InWhole => weights.in_whole,
            WordRole::InDate => weights.in_date,
            WordRole::Faint => weights.faint,
        };
        let source = match word.form {
            WordForm::Part => PostingSource::Terms(terms_of(&word.text, view)),
            WordForm::Whole => {
                PostingSource::Terms(vec![UnitTerm::new(word.text.clone(), Matches::Both)])
            }
            WordForm::Prefix => {
                computed_source(view, |shard| lists::with_prefix(shard, &word.text))?
            }
        };
        Unit { weight, ..Unit::new(label(word), source) }.counted(view)
    }

    pub(crate) fn of_spellings(
        word: &Unit,
        spellings: &[String],
        view: &View<'_>,
    ) -> tantivy::Result<Unit> {
        let mut terms: Vec<UnitTerm> = Vec::new();
        for term in spellings.iter().flat_map(|spelling| terms_of(spelling, view)) {
            if terms.iter().all(|known| known.text != term.text) {
                terms.push(term);
            }
        }
        let weight = word.weight * SPELLED_WEIGHT;
        Unit { weight, ..Unit::new(word.label.clone(), PostingSource::Terms(terms)) }.counted(view)
    }

    pub(crate) fn of_phrase(phrase: &Phrase, view: &View<'_>) -> tantivy::Result<Unit> {
        let source = computed_source(view, |shard| {
            lists::with_phrase(shard, phrase, lists::MAX_PREFIX_MATCHES)
        })?;
        let label = format!("\"{}\"", phrase.parts.join(" "));
        Unit { weight: PHRASE_WEIGHT, ..Unit::new(label, source) }.counted(view)
    }

    /// Returns the score of `counts` in a text with `relative` times the average length.
    pub(crate) fn score(&self, counts: UnitCounts, relative: f32, weights: &Weights) -> f32 {
        self.score_as([self.exact_rarity, self.rarity], counts, relative, weights)
    }

    /// Same as [`Unit::score`], with other inverse frequencies of the exact word and of any form.
    pub(crate) fn score_as(
        &self,
        rarity: [f32; 2],
        counts: UnitCounts,
        relative: f32,
        weights: &Weights,
    ) -> f32 {
        let exact = rarity[0] * weights.saturate(counts[0], relative);
        let any = rarity[1] * weights.saturate(counts[1], relative);
        self.weight * (weights.exact * exact + (1.0 - weights.exact) * any)
    }

    /// Returns the cursors over the unit's lists in `shard`.
    pub(crate) fn cursors<'w>(
        &'w self,
        shard: &Shard<'w>,
        detail: PostingDetail,
    ) -> tantivy::Result<Vec<(Matches, Cursor<'w>)>> {
        match &self.source {
            PostingSource::Terms(terms) => {
                let mut cursors = Vec::with_capacity(terms.len());
                for term in terms {
                    let Some(found) = &term.found[shard.number] else { continue };
                    let cursor = shard.cursor_of_term(&term.text, found, detail)?;
                    cursors.extend(cursor.map(|cursor| (term.matches, cursor)));
                }
                Ok(cursors)
            }
            PostingSource::Computed(lists) => {
                Ok(vec![(Matches::Both, Cursor::computed(&lists[shard.number]))])
            }
        }
    }

    pub(crate) fn weighted_rarity(&self) -> f32 {
        self.weight * self.rarity
    }

    /// Returns the weight among the words of a long query, in which numbers are less relevant.
    pub(crate) fn weighted_rarity_in_log(&self) -> f32 {
        let has_digits = self.label.bytes().any(|byte| byte.is_ascii_digit());
        if has_digits { 0.3 * self.weighted_rarity() } else { self.weighted_rarity() }
    }

    fn new(label: String, source: PostingSource) -> Unit {
        Unit { label, weight: 1.0, source, exact_rarity: 0.0, rarity: 0.0, frequency: 0 }
    }

    fn counted(mut self, view: &View<'_>) -> tantivy::Result<Unit> {
        let (mut exact, mut any) = (0, 0);
        match &mut self.source {
            PostingSource::Terms(terms) => {
                for term in &mut *terms {
                    let found = view.shards.iter().map(|shard| shard.term(&term.text));
                    term.found = found.collect::<tantivy::Result<_>>()?;
                    let frequency = term.frequency();
                    exact += if term.matches == Matches::Form { 0 } else { frequency };
                    any += if term.matches == Matches::Exact { 0 } else { frequency };
                }
                terms.retain(|term| term.frequency() > 0);
            }
            PostingSource::Computed(lists) => {
                any = lists.iter().map(|list| list.len() as u64).sum();
                exact = any;
            }
        }
        self.exact_rarity = rarity(exact as f32, view.passages() as f32);
        self.rarity = rarity(any as f32, view.passages() as f32);
        self.frequency = any.max(exact);
        Ok(self)
    }
}

/// Returns the inverse document frequency (BM25) of a word that `frequency` of `all` texts contain.
pub(crate) fn rarity(frequency: f32, all: f32) -> f32 {
    let frequency = frequency.min(all);
    (1.0 + (all - frequency + 0.5) / (frequency + 0.5)).ln()
}

/// Returns the text for the explanation. Words of a query with equal texts share a unit.
pub(crate) fn label(word: &QueryWord) -> String {
    match word.form {
        WordForm::Prefix => format!("{}*", word.text),
        WordForm::Part | WordForm::Whole => word.text.clone(),
    }
}

fn terms_of(word: &str, view: &View<'_>) -> Vec<UnitTerm> {
    let forms = terms::terms_for_all_forms(word, view.languages());
    let is_own_form = forms.iter().any(|form| form == word);
    let matches = |form: &String| if form == word { Matches::Both } else { Matches::Form };
    let mut terms: Vec<UnitTerm> =
        forms.into_iter().map(|form| UnitTerm::new(form.clone(), matches(&form))).collect();
    if terms.is_empty() {
        terms.push(UnitTerm::new(word.to_owned(), Matches::Both));
    } else if !is_own_form {
        terms.push(UnitTerm::new(word.to_owned(), Matches::Exact));
    }
    terms
}

fn computed_source(
    view: &View<'_>,
    list: impl Fn(&Shard<'_>) -> tantivy::Result<List>,
) -> tantivy::Result<PostingSource> {
    Ok(PostingSource::Computed(view.shards.iter().map(list).collect::<tantivy::Result<_>>()?))
}
