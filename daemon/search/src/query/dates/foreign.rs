//! Parses dates in the languages of [`languages`].

use std::{borrow::Cow, sync::LazyLock};

use jiff::civil::Date;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    query::dates::{
        DateMatch,
        calendar::{DateContext, Days, Unit},
        languages::{self, DateLanguage},
        lexer::Lexeme,
        point,
    },
    text::{self, everyday, language::LanguageSet},
};

pub(super) struct ForeignDate {
    pub(super) read: DateMatch,
    /// The languages that have this expression.
    pub(super) languages: LanguageSet,
}

/// Parses the expression at the start of `lexemes`. `context` contains the lexemes of the whole
/// text. An expression that is also a word of another language is accepted only if the context is
/// in the language of the expression, or if there is no context.
pub(super) fn read(
    lexemes: &[Lexeme<'_>],
    context: Option<&[Lexeme<'_>]>,
    time: DateContext,
) -> Option<ForeignDate> {
    let patterns = &*PATTERNS;
    let first = folded(lexemes.first()?);
    let by_word = patterns.by_word.get(&*first).into_iter().flatten();
    let is_value = patterns.is_value(&first, lexemes.get(1));
    let by_value = patterns.by_value.iter().filter(|_| is_value);
    by_word.chain(by_value).find_map(|pattern| {
        let found = pattern.read(lexemes, patterns, time)?;
        let is_certain =
            !pattern.is_ambiguous || context.is_none_or(|context| is_in(found.languages, context));
        is_certain.then_some(found)
    })
}

/// Whether more words of a text are frequent in one of `languages` than in any other language.
fn is_in(languages: LanguageSet, context: &[Lexeme<'_>]) -> bool {
    let mut counts: FxHashMap<usize, u32> = FxHashMap::default();
    for lexeme in context.iter().take(LONGEST_CONTEXT) {
        for language in everyday::languages_with(&folded(lexeme)).iter() {
            *counts.entry(language.number()).or_default() += 1;
        }
    }
    let own = languages.iter().map(|language| counts.remove(&language.number()).unwrap_or(0)).max();
    let other = counts.into_values().max();
    own.is_some_and(|own| own > other.unwrap_or(0))
}

/// Maximum number of words by which the language of a text is determined.
const LONGEST_CONTEXT: usize = 60;

static PATTERNS: LazyLock<DatePatterns> = LazyLock::new(|| {
    let mut patterns = DatePatterns::default();
    languages::LANGUAGES.iter().for_each(|language| patterns.add_language(language));
    let longest_first = |pattern: &DatePattern| std::cmp::Reverse(pattern.tokens.len());
    patterns.by_word.values_mut().for_each(|of_word| of_word.sort_by_key(longest_first));
    patterns.by_value.sort_by_key(longest_first);
    patterns.add_second_words();
    patterns
});

#[derive(Default)]
struct DatePatterns {
    /// The patterns that begin with a word, by their first word.
    by_word: FxHashMap<String, Vec<DatePattern>>,
    /// The patterns that begin with a value, that is, with another [`PatternToken`] than a word.
    by_value: Vec<DatePattern>,
    /// The words that may follow the value at the start of a pattern. Most numbers of a pasted log
    /// are rejected, because none of these words follows.
    second_words: FxHashSet<String>,
    units: WordValues<Unit>,
    counts: WordValues<i64>,
    months: WordValues<i8>,
}

/// The value of each word, and the languages that have the word.
type WordValues<V> = FxHashMap<String, (V, LanguageSet)>;

struct DatePattern {
    tokens: Vec<PatternToken>,
    meaning: PatternMeaning,
    languages: LanguageSet,
    is_ambiguous: bool,
}

#[derive(PartialEq, Eq)]
enum PatternToken {
    Word(String),
    Count,
    Unit,
    Day,
    Month,
    Year,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PatternMeaning {
    /// A unit, and how many units before the current unit it is.
    Before(Unit, i64),
    Ago,
    Latest,
    DayOfMonth,
}

impl DatePatterns {
    fn add_language(&mut self, language: &DateLanguage) {
        let only = LanguageSet::default().with(language.language);
        for (unit, back, patterns) in language.relative {
            self.add_patterns(patterns, PatternMeaning::Before(*unit, *back), only);
        }
        self.add_patterns(language.ago, PatternMeaning::Ago, only);
        self.add_patterns(language.latest, PatternMeaning::Latest, only);
        self.add_patterns(language.days, PatternMeaning::DayOfMonth, only);
        for year in language.years.split('|') {
            for day in language.days.split('|') {
                self.add_patterns(&format!("{day} {year}"), PatternMeaning::DayOfMonth, only);
            }
        }
        for (unit, forms) in language.units {
            add_values(&mut self.units, forms, *unit, only);
        }
        for (count, forms) in (1..).zip(language.counts.split(',')) {
            add_values(&mut self.counts, forms, count, only);
        }
        for (month, forms) in (1..).zip(language.months.split(',')) {
            add_values(&mut self.months, forms, month, only);
        }
    }

    fn add_patterns(&mut self, patterns: &str, meaning: PatternMeaning, languages: LanguageSet) {
        for pattern in patterns.split('|') {
            let words = pattern.split_ascii_whitespace().filter(|word| *word != "?");
            let tokens: Vec<PatternToken> = words.map(PatternToken::parse).collect();
            let same_start = match tokens.first() {
                Some(PatternToken::Word(word)) => self.by_word.entry(word.clone()).or_default(),
                _ => &mut self.by_value,
            };
            let is_same = |one: &&mut DatePattern| one.tokens == tokens && one.meaning == meaning;
            if let Some(known) = same_start.iter_mut().find(is_same) {
                known.languages = known.languages.union(languages);
                continue;
            }
            let is_ambiguous = pattern.ends_with('?');
            same_start.push(DatePattern { tokens, meaning, languages, is_ambiguous });
        }
    }

    fn add_second_words(&mut self) {
        let second = self.by_value.iter().filter_map(|pattern| match pattern.tokens.get(1)? {
            PatternToken::Word(word) => Some(word),
            _ => None,
        });
        let words = second.chain(self.units.keys()).chain(self.months.keys());
        self.second_words = words.cloned().collect();
    }

    /// Whether a pattern of [`DatePatterns::by_value`] may begin with these words.
    fn is_value(&self, first: &str, second: Option<&Lexeme<'_>>) -> bool {
        let is_value = first.starts_with(|c: char| c.is_ascii_digit())
            || self.counts.contains_key(first)
            || self.units.contains_key(first);
        is_value && second.is_some_and(|second| self.second_words.contains(&*folded(second)))
    }
}

fn add_values<V: Copy>(values: &mut WordValues<V>, forms: &str, value: V, only: LanguageSet) {
    for form in forms.split_whitespace() {
        let (_, languages) = values.entry(text::folded(form)).or_insert((value, only));
        *languages = languages.union(only);
    }
}

impl PatternToken {
    fn parse(word: &str) -> PatternToken {
        match word {
            "COUNT" => PatternToken::Count,
            "UNIT" => PatternToken::Unit,
            "DAY" => PatternToken::Day,
            "MONTH" => PatternToken::Month,
            "YEAR" => PatternToken::Year,
            word => PatternToken::Word(text::folded(word)),
        }
    }
}

struct DateValues {
    count: i64,
    unit: Unit,
    day: i8,
    month: i8,
    year: Option<i16>,
    languages: LanguageSet,
}

impl DatePattern {
    fn read(
        &self,
        lexemes: &[Lexeme<'_>],
        all: &DatePatterns,
        time: DateContext,
    ) -> Option<ForeignDate> {
        let today = time.today;
        let lexemes = lexemes.get(..self.tokens.len())?;
        let languages = self.languages;
        let mut values =
            DateValues { count: 1, unit: Unit::Day, day: 1, month: 1, year: None, languages };
        for (token, lexeme) in self.tokens.iter().zip(lexemes) {
            values.add(token, &folded(lexeme), all, today)?;
        }
        let DateValues { count, unit, day, month, year, languages } = values;
        if languages.is_empty() {
            return None;
        }
        let days = match self.meaning {
            PatternMeaning::Before(unit, back) => unit.before(today, back),
            PatternMeaning::Ago => time.ago(unit, count),
            PatternMeaning::Latest => unit.latest(today, count),
            PatternMeaning::DayOfMonth => Days::one(point::day_of_month(day, month, year, today)?),
        };
        let is_literal = self.meaning == PatternMeaning::DayOfMonth;
        let read = DateMatch { length: lexemes.len(), days, is_literal, recurrence: None };
        Some(ForeignDate { read, languages })
    }
}

impl DateValues {
    /// Adds the value of `word`; `None` if the word does not match `token`.
    fn add(
        &mut self,
        token: &PatternToken,
        word: &str,
        all: &DatePatterns,
        today: Date,
    ) -> Option<()> {
        match token {
            PatternToken::Word(wanted) if wanted == word => {}
            PatternToken::Word(_) => return None,
            PatternToken::Count => match all.counts.get(word) {
                Some((count, languages)) => {
                    self.count = *count;
                    self.restrict(*languages);
                }
                None => self.count = point::count_of_digits(word)?,
            },
            PatternToken::Unit => {
                let (unit, languages) = all.units.get(word)?;
                self.unit = *unit;
                self.restrict(*languages);
            }
            PatternToken::Month => {
                let (month, languages) = all.months.get(word)?;
                self.month = *month;
                self.restrict(*languages);
            }
            PatternToken::Day => self.day = day(word)?,
            PatternToken::Year => self.year = Some(point::year(word, today)?),
        }
        Some(())
    }

    fn restrict(&mut self, languages: LanguageSet) {
        self.languages = self.languages.intersection(languages);
    }
}

/// Parses the number of a day, which may be an ordinal: `3`, `1er`, `1º`.
fn day(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
    let is_number = matches!(&word[digits.len()..], "" | "er" | "o");
    digits.parse().ok().filter(|day| is_number && (1..=31).contains(day))
}

/// Returns the text of a lexeme without accents.
fn folded<'l>(lexeme: &'l Lexeme<'_>) -> Cow<'l, str> {
    if lexeme.text.is_ascii() {
        Cow::Borrowed(&lexeme.text)
    } else {
        Cow::Owned(text::folded(&lexeme.text))
    }
}
