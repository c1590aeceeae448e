//! Parses a query into words, phrases, filters and dates.
//!
//! Every text is a valid query: text without another meaning is read as words. The forms are
//!
//! | Written | Means |
//! | --- | --- |
//! | `retry bug` | sessions with these words in any form, best first |
//! | `"exact phrase"` | sessions with these words in this order rank higher |
//! | `conf*` | words that begin with `conf` |
//! | `retry -docker`, `-"dry run"` | no sessions with this word or phrase |
//! | `project:api agent:codex file:src/lib.rs` | only sessions that match |
//! | `branch:main role:user tool:Bash in:decisions` | only passages that match |
//! | `date:yesterday after:2026-01-05 before:march date:2026-01` | only passages of that time |
//! | `retry bug of last week` | sessions of last week rank higher |
//! | `what broke last week?` | only sessions of last week, newest first |
//!
//! A minus before a quoted text excludes the text. A minus before a lower-case word of at least
//! three letters excludes the word in two cases: the query has only exclusions and filters, or the
//! word is at the end of the query, after other words, and the query is not a command line. Other
//! words with a minus (`-Wall`, `terraform apply -destroy`, `compiles with -static`) are options
//! and count as words. A query with several lines, or a line of a log, is pasted text. Pasted text
//! consists of words only, except for filters before a line of a log.
//!
//! Values with spaces are quoted (`date:"last week"`). A filter with an invalid value
//! (`date:2026-13-45`, `after:30m`) is searched as words; [`Query::invalid_filters`] reports it.
//! Filters with the same name are alternatives, and so are `role:` and `in:`. Filters with different
//! names, and several dates, must all match. `-` before a filter negates it. `file:`, `project:` and
//! `agent:` apply to the session, the other filters to each passage. `file:` matches the end of a
//! path or one of its segments, `project:` the end of a path or a word of the project's name.

pub mod dates;
mod fields;
mod lexer;
mod list;
mod pasted;
mod spans;

use jiff::Zoned;
use rustc_hash::FxHashSet;

pub use self::fields::{InvalidFilter, filter_form};
use self::{
    lexer::QueryToken,
    spans::{everyday_ranges, is_within, mention_at},
};
use crate::{
    model::Namespace,
    passage::Kinds,
    query::dates::TimeRange,
    rank::Spelling,
    text::{
        self, OwnedWord, TokenForm,
        language::LanguageSet,
        stop::{self, StopClass},
    },
};

/// Maximum number of bytes of a query that an embedding model reads.
const MAX_EMBEDDING_BYTES: usize = 8 * 1024;

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Query {
    /// Words for ranking, in order.
    pub(crate) words: Vec<QueryWord>,
    /// Sessions with these phrases rank higher. The words of the phrases are in `words`, too.
    pub(crate) phrases: Vec<Phrase>,
    /// Phrases that must not occur; a single word is a phrase, too.
    pub(crate) excluded: Vec<Phrase>,
    pub(crate) conditions: Vec<FilterClause>,
    pub(crate) dates: Vec<TimeRange>,
    /// The languages other than English in which the dates may be written.
    pub(crate) date_languages: LanguageSet,
    /// The query without filters and excluded phrases.
    pub(crate) free_text: String,
    /// Whether the query looks like a pasted error message.
    pub(crate) is_error: bool,
    invalid_filters: Vec<InvalidFilter>,
    searched_minus_words: Vec<String>,
    is_shortened: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueryWord {
    pub(crate) text: String,
    pub(crate) form: WordForm,
    pub(crate) position: u32,
    pub(crate) role: WordRole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WordForm {
    /// The word and its other forms.
    Part,
    /// The whole identifier, name or path.
    Whole,
    Prefix,
}

/// The function of a [`QueryWord`] in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordRole {
    /// A word that describes the subject.
    Content,
    /// A word like [`WordRole::Content`] that is written as a name: it is capitalised, but not
    /// because it starts a sentence.
    Name,
    /// A part of an identifier, a name or a path that is also searched as a whole.
    InWhole,
    InDate,
    /// A word with little meaning: about time, place or manner.
    Faint,
    Stop,
}

impl WordRole {
    pub(crate) fn is_meaningful(self) -> bool {
        matches!(self, WordRole::Content | WordRole::Name | WordRole::InWhole)
    }

    fn of_word(word: &str, is_name: bool) -> WordRole {
        match stop::stop_class(word) {
            None if is_name => WordRole::Name,
            None => WordRole::Content,
            Some(StopClass::Faint) => WordRole::Faint,
            Some(StopClass::Stop) => WordRole::Stop,
        }
    }
}

/// Consecutive words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// The words, at least one.
    pub(crate) parts: Vec<String>,
    /// Whether the last part is the prefix of a word.
    pub(crate) is_prefix: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FilterClause {
    pub(crate) filter: Filter,
    pub(crate) is_negated: bool,
}

/// A condition on a session or passage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filter {
    /// The session's project: a name, the end of a path, or a namespace.
    Project(String),
    Agent(String),
    /// A file that the session touched, by the end of its path or by a segment.
    File(String),
    /// The passage's branch, or a segment of it.
    Branch(String),
    /// The tool's name, or a part of it.
    Tool(String),
    Kinds(Kinds),
    /// The time of the passage.
    During(TimeRange),
}

impl Query {
    /// Maximum number of bytes of a query that are parsed. Of a longer query, such as a pasted log,
    /// the start (three quarters of this number) and the end (one quarter) are parsed. Repeated
    /// lines do not count.
    pub const LONGEST: usize = 1024 * 1024;

    /// Parses `text` relative to `now`, in the caller's time zone. Never fails.
    pub fn parse(text: &str, now: &Zoned) -> Query {
        let distinct = pasted::distinct_lines(text);
        let text = &*pasted::shortened(&distinct);
        let is_shortened = text.len() < distinct.len();
        let mut query = Query { is_shortened, ..Query::default() };
        let mut free = String::new();
        let mut prefixes = Vec::new();
        for item in lexer::items(text, now) {
            match item {
                QueryToken::Free(words) | QueryToken::MinusWord(words) => {
                    if let QueryToken::MinusWord(word) = item {
                        query.searched_minus_words.push(word.to_owned());
                    }
                    push_spaced(&mut free, words);
                    push_spaced(&mut query.free_text, words);
                }
                QueryToken::Prefix(word) => {
                    push_spaced(&mut free, word);
                    push_spaced(&mut query.free_text, word);
                    prefixes.push(free.len());
                }
                QueryToken::Phrase { text, is_negated } => {
                    if !is_negated {
                        push_spaced(&mut query.free_text, text);
                        push_spaced(&mut free, text);
                    }
                    query.add_phrase(text, is_negated);
                }
                QueryToken::Filter { filter, is_negated } => {
                    query.conditions.push(FilterClause { filter, is_negated });
                }
                QueryToken::InvalidFilter { text, form } => {
                    push_spaced(&mut free, text);
                    push_spaced(&mut query.free_text, text);
                    query.invalid_filters.push(InvalidFilter { text: text.to_owned(), form });
                }
            }
        }
        query.is_error = pasted::is_error(&query.free_text);
        query.free_text.truncate(query.free_text.floor_char_boundary(MAX_EMBEDDING_BYTES));
        query.add_words(&free, &prefixes, now);
        query.convert_to_list();
        query
    }

    /// Adds a filter as if the query contained `name:value`. Returns whether the name and the value
    /// are known.
    pub fn require(&mut self, name: &str, value: &str, now: &Zoned) -> bool {
        let filter = fields::filter(name, value, now);
        let condition = filter.map(|filter| FilterClause { filter, is_negated: false });
        let is_known = condition.is_some();
        self.conditions.extend(condition);
        self.convert_to_list();
        is_known
    }

    /// For the name in each project filter, adds filters for the directories that `named` returns,
    /// so that a project is found by any of its names.
    pub fn widen_projects(&mut self, named: &dyn Fn(&str) -> Vec<Namespace>) {
        let mut added = Vec::new();
        for condition in &self.conditions {
            let Filter::Project(name) = &condition.filter else { continue };
            let clause = |one: Namespace| FilterClause {
                filter: Filter::Project(one.to_string()),
                is_negated: condition.is_negated,
            };
            added.extend(named(name).into_iter().map(clause));
        }
        self.conditions.extend(added);
    }

    /// Returns the text of a query that consists of a single word or name.
    pub(crate) fn single_name(&self) -> Option<&str> {
        let name = self.free_text.trim_end_matches(['?', '(', ')', '.']);
        (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
    }

    /// If the query is a single name that is written like a file, a symbol, a ticket or a commit,
    /// returns its longest word.
    pub(crate) fn identifier(&self) -> Option<&QueryWord> {
        let name = self.single_name()?.trim_start_matches('-');
        let is_code = name.contains(['.', '_', '/', ':'])
            || name.bytes().any(|byte| byte.is_ascii_digit())
            || name.chars().skip(1).any(char::is_uppercase);
        self.words.iter().filter(|_| is_code).max_by_key(|word| word.text.len())
    }

    /// Returns the query for highlighting: this query, with the spellings that were searched as
    /// further words.
    pub fn spelled(&self, spelled: &[Spelling]) -> Query {
        let mut query = self.clone();
        for Spelling { searched: asked, replacements: used } in spelled {
            let word = query.words.iter().find(|word| word.text == *asked).cloned();
            query.words.extend(word.iter().flat_map(|word| {
                used.iter().map(|text| QueryWord { text: text.clone(), ..word.clone() })
            }));
        }
        query
    }

    /// Returns the query's words for an embedding model, without filters and excluded phrases.
    pub fn text_for_embedding(&self) -> &str {
        &self.free_text
    }

    /// Returns the dates in the query's words. Dates in filters are not included.
    pub fn dates(&self) -> &[TimeRange] {
        &self.dates
    }

    /// Whether the query has nothing to search for: no word, phrase, exclusion, filter or date.
    pub fn is_blank(&self) -> bool {
        self.is_list() && self.excluded.is_empty() && self.conditions.is_empty()
    }

    /// Returns the filters with an invalid value.
    pub fn invalid_filters(&self) -> &[InvalidFilter] {
        &self.invalid_filters
    }

    /// Returns the words with a minus at the end of the query that were searched instead of
    /// excluded, because a word of this form may be an option, such as `-Wall`.
    pub fn searched_minus_words(&self) -> &[String] {
        &self.searched_minus_words
    }

    /// Returns the names of the agents in the filters.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().filter_map(|condition| match &condition.filter {
            Filter::Agent(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Returns the words and phrases that a session must not contain, with a star after a prefix.
    pub fn excluded_phrases(&self) -> Vec<String> {
        let star = |phrase: &Phrase| if phrase.is_prefix { "*" } else { "" };
        self.excluded.iter().map(|one| format!("{}{}", one.parts.join(" "), star(one))).collect()
    }

    /// Whether the middle of the text was not read, because the text is longer than
    /// [`Query::LONGEST`].
    pub fn is_shortened(&self) -> bool {
        self.is_shortened
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
        let languages = mentions.iter().map(|mention| mention.languages);
        self.date_languages = languages.fold(LanguageSet::default(), LanguageSet::union);
        let of_every_day = everyday_ranges(free, &mentions);
        let words = text::words(free);
        let in_whole = positions_in_wholes(&words);
        for word in &words {
            let mention = mention_at(&mentions, word.span.start);
            let is_removed = |mention: Option<&dates::Mention>| {
                mention.is_some_and(|mention| !mention.is_literal)
            };
            // An identifier may begin with the words of a date: `yesterday-sales`.
            if is_removed(mention) && is_removed(mention_at(&mentions, word.span.end - 1)) {
                continue;
            }
            let form = match word.form {
                _ if prefix_ends.contains(&word.span.end) || is_one_unspaced(&word.text) => {
                    WordForm::Prefix
                }
                TokenForm::Part => WordForm::Part,
                TokenForm::Whole => WordForm::Whole,
            };
            let role = match word.form {
                _ if mention.is_some_and(|mention| mention.is_literal) => WordRole::InDate,
                _ if of_every_day.iter().any(|range| is_within(&word.span, range)) => {
                    WordRole::Faint
                }
                TokenForm::Part if in_whole.contains(&word.position) => WordRole::InWhole,
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

/// Whether `word` is one character of a script that is indexed as pairs of characters.
fn is_one_unspaced(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(text::is_unspaced) && characters.next().is_none()
}

/// Whether the word at `start` is capitalised and does not start a sentence.
fn is_name(text: &str, start: usize) -> bool {
    let before = text[..start].trim_end();
    text[start..].starts_with(char::is_uppercase)
        && !before.is_empty()
        && !before.ends_with(['.', '!', '?', ':', '\n'])
}

/// Returns the positions of the parts of all words of [`TokenForm::Whole`].
fn positions_in_wholes(words: &[OwnedWord]) -> FxHashSet<u32> {
    let wholes = words.iter().enumerate().filter(|(_, word)| word.form == TokenForm::Whole);
    let positions = wholes.flat_map(|(at, whole)| {
        let inside = words[at..].iter().take_while(|word| word.span.start < whole.span.end);
        whole.position..=inside.map(|word| word.position).last().unwrap_or(whole.position)
    });
    positions.collect()
}

fn push_spaced(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

#[cfg(test)]
mod tests;
