//! Selects the best excerpt of a text for a query and marks the matching words.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::{Mutex, PoisonError},
};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    index::terms,
    query::{Phrase, Query, WordForm},
    text::{
        self, TokenForm,
        language::{self, Language, LanguageSet},
    },
};

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Snippet {
    /// The text with collapsed white space, and `…` where something was omitted.
    pub text: String,
    /// Byte ranges of `text` that match, in order and without overlap.
    pub marks: Vec<Range<usize>>,
}

/// Maximum number of bytes, from the start of a text, that are searched.
const LOOKED_AT: usize = 256 * 1024;
/// Maximum number of words of one language whose results are remembered. Each takes about 70 bytes.
const MAX_REMEMBERED: usize = 50_000;
/// The share of the snippet, in percent, that may precede the first match. The rest is for the
/// matches: the answer to a question is more often after the words of the question than before.
const LEAD: usize = 15;

/// Marks the matches of a query. One highlighter serves all texts of a result.
pub struct Highlighter {
    exact: FxHashSet<String>,
    /// The words of the query, by each of their forms.
    forms: FxHashMap<String, String>,
    prefixes: Vec<String>,
    phrases: Vec<Phrase>,
    /// The results of [`Highlighter::matched`] for the texts so far, by the number of the texts'
    /// language. Texts repeat most of their words, and stemming a word takes long.
    results: Mutex<HashMap<Option<usize>, WordResults>>,
}

/// The part of the query that each word matches. The map is not an `FxHashMap`, because a
/// transcript could contain many words that were chosen to have equal hashes.
type WordResults = HashMap<Box<str>, Option<String>>;

impl Highlighter {
    /// Creates a highlighter for the query's phrases and meaningful words. If the query has no
    /// meaningful words, all its words are marked.
    pub fn new(query: &Query) -> Highlighter {
        let is_meaningful = query.words.iter().any(|word| word.role.is_meaningful());
        let mut marker = Highlighter {
            exact: FxHashSet::default(),
            forms: FxHashMap::default(),
            prefixes: Vec::new(),
            phrases: query.phrases.clone(),
            results: Mutex::default(),
        };
        let mut known = FxHashSet::default();
        for word in &query.words {
            // A pasted log repeats its words, and stemming a word in all languages takes long.
            if is_meaningful && !word.role.is_meaningful() || !known.insert((word.form, &word.text))
            {
                continue;
            }
            match word.form {
                WordForm::Prefix => marker.prefixes.push(word.text.clone()),
                WordForm::Whole => drop(marker.exact.insert(word.text.clone())),
                WordForm::Part => {
                    marker.exact.insert(word.text.clone());
                    for form in terms::terms_for_all_forms(&word.text, LanguageSet::all()) {
                        marker.forms.entry(form).or_insert_with(|| word.text.clone());
                    }
                }
            }
        }
        marker
    }

    /// Returns the best excerpt of `text`, with about `limit` bytes. If nothing matches, returns
    /// the start of `text`.
    pub fn snippet(&self, text: &str, limit: usize) -> Snippet {
        let text = &text[..text.floor_char_boundary(LOOKED_AT)];
        let matches = self.matches(text);
        let window = best_window(&matches, limit);
        let first = window.first().map_or(0, |found| found.span.start);
        let part = around(text, first, limit);
        let inside = window.iter().filter(|found| found.span.end <= part.end);
        let spans = joined(inside.map(|found| found.span.clone()));
        cut(text, part, &spans)
    }

    /// Returns the parts of the query that a text matches.
    pub(crate) fn parts_in(&self, text: &str) -> HashSet<String> {
        let text = &text[..text.floor_char_boundary(LOOKED_AT)];
        self.matches(text).into_iter().map(|found| found.what).collect()
    }

    /// Returns the matches in the order of the text.
    fn matches(&self, text: &str) -> Vec<Match> {
        let language = language::of_text(text);
        let mut matches = Vec::new();
        let mut parts: Vec<(String, Range<usize>)> = Vec::new();
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let results = results.entry(language.map(Language::number)).or_default();
        text::each_word(text, &mut |word| {
            let what = match word.form {
                TokenForm::Whole => self.exact.get(word.text).cloned(),
                TokenForm::Part => match results.get(word.text) {
                    Some(result) => result.clone(),
                    None => {
                        let result = self.matched(word.text, language);
                        if results.len() < MAX_REMEMBERED {
                            results.insert(word.text.into(), result.clone());
                        }
                        result
                    }
                },
            };
            if let Some(what) = what {
                matches.push(Match { span: word.span.clone(), what });
            }
            if !self.phrases.is_empty() && word.form == TokenForm::Part {
                parts.push((word.text.to_owned(), word.span));
            }
        });
        for phrase in &self.phrases {
            for run in parts.windows(phrase.parts.len()) {
                if matches_phrase(phrase, run) {
                    let span = run[0].1.start..run[run.len() - 1].1.end;
                    matches.push(Match { span, what: format!("\"{}\"", phrase.parts.join(" ")) });
                }
            }
        }
        matches.sort_by_key(|found| (found.span.start, found.span.end));
        matches
    }

    /// Returns the part of the query that a word of a text matches. The word is not a whole
    /// identifier, name or path.
    fn matched(&self, word: &str, language: Option<Language>) -> Option<String> {
        if self.exact.contains(word) {
            return Some(word.to_owned());
        }
        let prefix = self.prefixes.iter().find(|prefix| word.starts_with(prefix.as_str()));
        prefix.cloned().or_else(|| {
            let mut forms = terms::terms_for_all_forms_in(word, language).into_iter();
            forms.find_map(|form| self.forms.get(&form).cloned())
        })
    }
}

struct Match {
    span: Range<usize>,
    /// The part of the query that matches. Different parts count more than repetitions of one part.
    what: String,
}

/// Returns the matches in a window of `limit` bytes without the [`LEAD`]. The window is the one
/// with the most different parts of the query, then the most matches, then the first one.
fn best_window(matches: &[Match], limit: usize) -> &[Match] {
    let (mut best, mut best_worth) = (&matches[..0], 0);
    for (start, first) in matches.iter().enumerate() {
        let end = first.span.start + limit * (100 - LEAD) / 100;
        let rest = &matches[start..];
        let window = &rest[..rest.partition_point(|found| found.span.start < end)];
        let window = &window[..window.len().min(MOST_MARKS)];
        let different: HashSet<&str> = window.iter().map(|found| found.what.as_str()).collect();
        let worth = different.len() * MOST_MARKS + window.len();
        if worth > best_worth {
            (best, best_worth) = (window, worth);
        }
    }
    best
}

const MOST_MARKS: usize = 32;

/// Returns a range of about `limit` bytes of `text`, cut between words if possible. The position
/// `first` is in the first sixth of the range, unless the text ends soon after `first`.
fn around(text: &str, first: usize, limit: usize) -> Range<usize> {
    let lead = limit * LEAD / 100;
    let mut start = text.floor_char_boundary(first.saturating_sub(lead));
    if text.len() - start < limit {
        start = text.ceil_char_boundary(text.len().saturating_sub(limit)).min(first);
    }
    if start > 0 {
        let to_word = text[start..first].find(char::is_whitespace);
        start = to_word.map_or(start, |to_word| start + to_word);
    }
    let mut end = text.floor_char_boundary((start + limit).min(text.len()));
    if end < text.len() {
        let to_word = text[start..end].rfind(char::is_whitespace).map(|to_word| start + to_word);
        end = to_word.filter(|to_word| *to_word > start + limit / 2).unwrap_or(end);
    }
    start..end
}

/// Merges the spans that touch; `spans` is in the order of the text.
fn joined(spans: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

/// Returns the excerpt with collapsed white space, and the spans as ranges of the excerpt.
fn cut(text: &str, part: Range<usize>, spans: &[Range<usize>]) -> Snippet {
    let mut out = String::new();
    if part.start > 0 {
        out.push('…');
    }
    let mut marks: Vec<Range<usize>> = Vec::new();
    let mut spans = spans.iter().peekable();
    let mut open: Option<usize> = None;
    for (offset, c) in text[part.clone()].char_indices() {
        let at = part.start + offset;
        if let Some(span) = spans.peek()
            && at >= span.end
        {
            marks.extend(open.take().map(|start| start..out.trim_end().len()));
            spans.next();
        }
        if c.is_whitespace() {
            if !out.is_empty() && !out.ends_with([' ', '…']) {
                out.push(' ');
            }
            continue;
        }
        if spans.peek().is_some_and(|span| span.start == at) {
            open = Some(out.len());
        }
        out.push(c);
    }
    marks.extend(open.map(|start| start..out.trim_end().len()));
    out.truncate(out.trim_end().len());
    if part.end < text.trim_end().len() {
        out.push('…');
    }
    Snippet { text: out, marks }
}

fn matches_phrase(phrase: &Phrase, run: &[(String, Range<usize>)]) -> bool {
    let last = phrase.parts.len() - 1;
    phrase.parts.iter().zip(run).enumerate().all(|(index, (wanted, (word, _)))| {
        word == wanted || (index == last && phrase.is_prefix && word.starts_with(wanted.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use jiff::{civil::date, tz::TimeZone};

    use super::*;

    fn highlighter(question: &str) -> Highlighter {
        let now = date(2026, 3, 18).at(15, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap();
        Highlighter::new(&Query::parse(question, &now))
    }

    /// Returns the snippet with its marks in brackets.
    fn marked(question: &str, text: &str, limit: usize) -> String {
        marked_by(&highlighter(question), text, limit)
    }

    fn marked_by(highlighter: &Highlighter, text: &str, limit: usize) -> String {
        let Snippet { text, marks } = highlighter.snippet(text, limit);
        let mut shown = String::new();
        let mut at = 0;
        for mark in marks {
            assert!(mark.start >= at && mark.start < mark.end, "{text} {mark:?}");
            shown.push_str(&text[at..mark.start]);
            shown.push('[');
            shown.push_str(&text[mark.clone()]);
            shown.push(']');
            at = mark.end;
        }
        shown + &text[at..]
    }

    #[test]
    fn words_are_marked_in_every_form() {
        for (question, text, wanted) in [
            ("failing test", "The tests fail.", "The [tests] [fail]."),
            ("retry_count", "set retryCount = 3", "set [retryCount] = 3"),
            ("retry", "set retryCount = 3", "set [retry]Count = 3"),
            ("conf*", "my config, my confusion", "my [config], my [confusion]"),
            ("\"dry run\"", "run dry, dry run", "[run] [dry], [dry run]"),
            ("main.rs", "see src/main.rs:4", "see src/[main.rs]:4"),
            ("what is the größe", "GRÖSSE der Größe", "[GRÖSSE] der [Größe]"),
            ("café", "cafe\u{301} und Cafe", "[cafe\u{301}] und [Cafe]"),
            ("全文搜索", "支持全文搜索。", "支持[全文搜索]。"),
            ("the", "on the road", "on [the] road"),
            ("nothing", "some text", "some text"),
            ("", "some text", "some text"),
            ("x", "", ""),
        ] {
            assert_eq!(marked(question, text, 200), wanted, "{question} in {text}");
        }
    }

    #[test]
    fn a_word_is_marked_by_the_language_of_its_text_in_any_order_of_texts() {
        let german = (
            "Die Mahnungen gehen auch an Kunden, die schon mit Karte bezahlt haben",
            "Die [Mahnungen] gehen auch an Kunden, die schon mit Karte bezahlt haben",
        );
        let english =
            ("the word mahnungen is in the log of it", "the word mahnungen is in the log of it");
        for texts in [[german, english, german], [english, german, english]] {
            let highlighter = highlighter("mahnung");
            for (text, wanted) in texts {
                assert_eq!(marked_by(&highlighter, text, 200), wanted);
            }
        }
    }

    #[test]
    fn white_space_is_collapsed_and_marks_are_adjusted() {
        assert_eq!(
            marked("beta gamma", "  alpha\n\n\tbeta   gamma\n", 200),
            "alpha [beta] [gamma]"
        );
        assert_eq!(marked("\"beta gamma\"", "alpha beta\n  gamma x", 200), "alpha [beta gamma] x");
    }

    #[test]
    fn the_excerpt_of_a_long_text_has_the_most_different_words() {
        let filler = "lorem ipsum dolor sit amet ".repeat(200);
        let text = format!("{filler}token token token {filler}the token has expired {filler}");
        let shown = marked("token expired", &text, 120);
        assert!(shown.contains("[token] has [expired]"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.len() < 150, "{shown}");
    }

    #[test]
    fn two_forms_of_a_word_count_as_one_word_of_the_query() {
        let filler = "lorem ipsum dolor sit amet ".repeat(200);
        let text = format!("{filler}test the tests {filler}the tests expired {filler}");
        let shown = marked("tests expire", &text, 120);
        assert!(shown.contains("the [tests] [expired]"), "{shown}");
    }

    #[test]
    fn a_repeated_word_is_read_once() {
        let highlighter = highlighter("to* token to* token_x token_x token");
        assert_eq!(highlighter.prefixes, ["to"]);
        assert_eq!(marked("token to* token", "a token, a tokens", 50), "a [token], a [tokens]");
    }

    #[test]
    fn the_words_are_near_the_beginning_of_an_excerpt() {
        let (before, after) = ("alpha ".repeat(100), " gamma".repeat(100));
        let shown = marked("token", &format!("{before}token{after}"), 200);
        let at = shown.find("[token]").unwrap();
        assert!((10..40).contains(&at), "{shown}");
    }

    #[test]
    fn a_long_text_without_a_match_is_shown_from_its_beginning() {
        let text = "alpha beta ".repeat(100);
        let shown = marked("gamma", &text, 50);
        assert!(shown.starts_with("alpha beta") && shown.ends_with('…'), "{shown}");
    }

    #[test]
    fn a_match_at_the_end_is_shown_with_the_text_before_it() {
        let text = "alpha ".repeat(100) + "omega";
        let shown = marked("omega", &text, 60);
        assert!(shown.ends_with("alpha [omega]") && shown.len() > 50, "{shown}");
    }

    #[test]
    fn marks_are_at_character_boundaries_in_any_text() {
        let pieces = [
            "token",
            "é",
            "搜索",
            "\u{301}",
            "👩‍💻",
            " ",
            "\n",
            "\u{3000}",
            "…",
            "_",
            "/",
            "ﬁ",
            "expired",
            "x",
        ];
        let highlighter = highlighter("token expired 搜索 x* \"x x\"");
        let mut seed: u64 = 5;
        for round in 0..2_000 {
            let mut text = String::new();
            for _ in 0..40 {
                seed = seed
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            }
            let snippet = highlighter.snippet(&text, round % 60);
            let mut at = 0;
            for mark in snippet.marks {
                assert!(mark.start >= at && snippet.text.get(mark.clone()).is_some(), "{text:?}");
                at = mark.end;
            }
        }
    }
}
