//! What a person or an agent asks, as words, phrases, filters and dates.
//!
//! Every text is a question: what cannot be read as anything else is words. The forms are
//!
//! | Written | Means |
//! | --- | --- |
//! | `retry bug` | sessions about these words, in any form, best first |
//! | `"exact phrase"` | sessions that hold these words in this order |
//! | `conf*` | words that begin so |
//! | `-docker`, `-"dry run"` | no sessions that hold this |
//! | `project:api agent:codex branch:main file:src/lib.rs` | sessions there; `file:` and `project:` match whole path segments |
//! | `role:user tool:Bash in:decisions` | only such passages |
//! | `date:yesterday after:2026-01-05 before:march date:2026-01` | only what was said then |
//! | `what broke last week?` | sessions of last week first |
//! | `what did we do last week?` | sessions of last week alone, newest first |
//!
//! Values with spaces stand in quotes (`date:"last week"`). Several filters of one name mean any of
//! them (of several dates all), of different names all of them; `-` before a filter turns it round.
//! `file:`, `project:` and `agent:` are about the session, the others about each passage.

pub mod dates;
mod fields;
mod lexer;

use std::ops::RangeInclusive;

use jiff::Zoned;

use self::lexer::QueryToken;
use crate::search::{
    passage::Kinds,
    query::dates::TimeRange,
    text::{
        self, OwnedWord, TokenForm,
        stop::{self, Emptiness},
    },
};

/// What happens every day: "what happened yesterday" asks for all of that day.
const OF_EVERY_DAY: &[&str] = &["happen", "happened", "happens", "work", "worked", "working"];

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Query {
    /// Words to rank by, in order.
    pub(crate) words: Vec<QueryWord>,
    /// Phrases that must be there.
    pub(crate) phrases: Vec<Phrase>,
    /// Phrases that must not be there; a word is a phrase of one.
    pub(crate) excluded: Vec<Phrase>,
    /// What sessions or passages must be like.
    pub(crate) conditions: Vec<FilterClause>,
    /// Times that the question names.
    pub(crate) dates: Vec<TimeRange>,
    /// The question without its filters and what it excludes.
    pub(crate) said: String,
}

/// A word to rank by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueryWord {
    pub(crate) text: String,
    pub(crate) form: WordForm,
    /// Its place among the parts of the question.
    pub(crate) position: u32,
    /// How it stands in the question.
    pub(crate) role: WordRole,
}

/// What a [`QueryWord`] matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordForm {
    /// The word and its other forms.
    Part,
    /// The whole identifier, name or path.
    Whole,
    /// Words that begin with it.
    Prefix,
}

/// How a [`QueryWord`] stands in the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordRole {
    /// It says what is looked for.
    Content,
    /// The same, and it is written like a name: with a capital, though not at the beginning.
    Name,
    /// It is part of an identifier, a name or a path that is looked for as a whole.
    InWhole,
    /// It is part of a date.
    InDate,
    /// It says little: a word about time, place or manner.
    Faint,
    Stop,
}

impl WordRole {
    /// Whether it says what is looked for.
    pub(crate) fn says_something(self) -> bool {
        matches!(self, WordRole::Content | WordRole::Name | WordRole::InWhole)
    }

    fn of_word(word: &str, is_name: bool) -> WordRole {
        match stop::emptiness(word) {
            None if is_name => WordRole::Name,
            None => WordRole::Content,
            Some(Emptiness::Faint) => WordRole::Faint,
            Some(Emptiness::Empty) => WordRole::Stop,
        }
    }
}

/// Words in this order, one right after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// The parts, at least one.
    pub(crate) parts: Vec<String>,
    /// Whether the last one is the beginning of a word.
    pub(crate) is_prefix: bool,
}

/// A filter, or its opposite.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FilterClause {
    pub(crate) filter: Filter,
    pub(crate) is_negated: bool,
}

/// What a session or passage must be like.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filter {
    /// The session's project: a name, the end of a path, or a namespace.
    Project(String),
    Agent(String),
    /// A file that the session touched, by the end of its path or a segment.
    File(String),
    /// The passage's branch, whole or a segment.
    Branch(String),
    /// The tool called, whole or a part of its name.
    Tool(String),
    /// What the passage is.
    Kinds(Kinds),
    /// When it was said.
    During(TimeRange),
}

impl Query {
    /// Of a longer question only this many bytes are read: enough for a pasted stack trace.
    pub const LONGEST: usize = 8 * 1024;

    /// Reads `text` as asked at `now`, whose time zone is the asker's. Never fails.
    pub fn parse(text: &str, now: &Zoned) -> Query {
        let text = &text[..text.floor_char_boundary(Query::LONGEST)];
        let mut query = Query::default();
        let mut free = String::new();
        let mut prefixes = Vec::new();
        for item in lexer::items(text, now) {
            match item {
                QueryToken::Free(words) => {
                    push_spaced(&mut free, words);
                    push_spaced(&mut query.said, words);
                }
                QueryToken::Prefix(word) => {
                    push_spaced(&mut free, word);
                    push_spaced(&mut query.said, word);
                    prefixes.push(free.len());
                }
                QueryToken::Phrase { text, is_negated } => {
                    if !is_negated {
                        push_spaced(&mut query.said, text);
                    }
                    query.add_phrase(text, is_negated);
                }
                QueryToken::Filter { filter, is_negated } => {
                    query.conditions.push(FilterClause { filter, is_negated });
                }
            }
        }
        query.add_words(&free, &prefixes, now);
        query.ask_for_all();
        query
    }

    /// Adds a filter by its name and value, as if `name:value` stood in the question. Says whether
    /// there is such a filter and such a value of it.
    pub fn require(&mut self, name: &str, value: &str, now: &Zoned) -> bool {
        let filter = fields::filter(name, value, now);
        let condition = filter.map(|filter| FilterClause { filter, is_negated: false });
        let is_known = condition.is_some();
        self.conditions.extend(condition);
        self.ask_for_all();
        is_known
    }

    /// Words that say nothing ask for all that is of the time, or as the filters have it. One that
    /// alone may be a date (`march`) is a word.
    fn ask_for_all(&mut self) {
        let names_a_time = !self.dates.is_empty();
        let says_nothing = |word: &QueryWord| {
            matches!(word.role, WordRole::Stop | WordRole::InDate)
                || names_a_time && OF_EVERY_DAY.contains(&word.text.as_str())
        };
        let is_a_word = |words: &[QueryWord]| {
            !words.is_empty() && words.iter().all(|word| word.role == WordRole::InDate)
        };
        if !self.phrases.is_empty()
            || !self.words.iter().all(says_nothing)
            || self.conditions.is_empty() && (!names_a_time || is_a_word(&self.words))
        {
            return;
        }
        self.words.clear();
        let from = self.dates.iter().map(|range| range.from).min();
        let to = self.dates.iter().map(|range| range.to).max();
        if let (Some(from), Some(to)) = (from, to) {
            let filter = Filter::During(TimeRange { from, to });
            self.conditions.push(FilterClause { filter, is_negated: false });
        }
        self.dates.clear();
    }

    /// Whether there is nothing to rank by: what remains is a list, newest first.
    pub fn is_list(&self) -> bool {
        self.words.is_empty() && self.phrases.is_empty()
    }

    /// What is asked in words, for a model: without filters and what the question excludes.
    pub fn said(&self) -> &str {
        &self.said
    }

    /// The times that the question names; filters not counted.
    pub fn dates(&self) -> &[TimeRange] {
        &self.dates
    }

    fn add_phrase(&mut self, text: &str, is_negated: bool) {
        let is_prefix = text.ends_with('*');
        let words = text::words(text).into_iter().filter(|word| word.form == TokenForm::Part);
        let parts: Vec<String> = words.map(|word| word.text).collect();
        if parts.is_empty() {
            return;
        }
        let phrases = if is_negated { &mut self.excluded } else { &mut self.phrases };
        phrases.push(Phrase { parts, is_prefix });
    }

    fn add_words(&mut self, free: &str, prefix_ends: &[usize], now: &Zoned) {
        let mentions = dates::mentions(free, now);
        self.dates = mentions.iter().map(|mention| mention.range).collect();
        let words = text::words(free);
        let wholes = parts_of_wholes(&words);
        for word in &words {
            let mention = mentions.iter().find(|mention| mention.span.contains(&word.span.start));
            if mention.is_some_and(|mention| !mention.is_literal) {
                continue;
            }
            let form = match word.form {
                _ if prefix_ends.contains(&word.span.end) => WordForm::Prefix,
                TokenForm::Part => WordForm::Part,
                TokenForm::Whole => WordForm::Whole,
            };
            let role = match word.form {
                _ if mention.is_some() => WordRole::InDate,
                TokenForm::Part if wholes.iter().any(|parts| parts.contains(&word.position)) => {
                    WordRole::InWhole
                }
                TokenForm::Part if form == WordForm::Part => {
                    WordRole::of_word(&word.text, is_name(free, word.span.start))
                }
                _ => WordRole::Content,
            };
            let (text, position) = (word.text.clone(), word.position);
            self.words.push(QueryWord { text, form, position, role });
        }
    }
}

/// Whether the word at `start` has a capital that the beginning of a sentence does not explain.
fn is_name(text: &str, start: usize) -> bool {
    let before = text[..start].trim_end();
    text[start..].starts_with(char::is_uppercase)
        && !before.is_empty()
        && !before.ends_with(['.', '!', '?', ':', '\n'])
}

/// The positions that each whole stands for.
fn parts_of_wholes(words: &[OwnedWord]) -> Vec<RangeInclusive<u32>> {
    let wholes = words.iter().enumerate().filter(|(_, word)| word.form == TokenForm::Whole);
    let parts = wholes.map(|(at, whole)| {
        let inside = words[at..].iter().take_while(|word| word.span.start < whole.span.end);
        whole.position..=inside.map(|word| word.position).last().unwrap_or(whole.position)
    });
    parts.collect()
}

fn push_spaced(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

#[cfg(test)]
mod tests;
