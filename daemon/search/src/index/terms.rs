//! Converts the words of a text into index terms.
//!
//! A word is indexed as it is. A word that is not a whole identifier, name or path is also indexed
//! as its stem, with the prefix `~`. An English word that is its own stem is only one term.

use crate::text::{
    self, OwnedWord, TokenForm,
    language::{self, Language, LanguageSet},
    stem,
};

/// The prefix of a stem's term; no word contains it.
const STEM_MARK: char = '~';

/// Calls `emit` with each term of `text` and its position. Positions never decrease.
pub(crate) fn each_term(text: &str, emit: &mut dyn FnMut(&str, u32)) {
    let language = language::of_text(text);
    let mut stem_term = String::new();
    let mut last_pair: Option<OwnedWord> = None;
    text::each_word(text, &mut |word| {
        if let Some(pair) = last_pair.take()
            && pair.span.end <= word.span.start
        {
            emit_last_of(&pair, emit);
        }
        emit(word.text, word.position);
        if word.form == TokenForm::Whole {
            return;
        }
        if word.text.chars().all(text::is_unspaced) && word.text.chars().count() == 2 {
            last_pair = Some(word.to_owned_word());
        }
        let language = language.filter(|_| !stem::is_irregular(word.text));
        let foreign_stem =
            language.and_then(|language| Some((language, language.stem(word.text)?)));
        stem_term.clear();
        match foreign_stem {
            Some((language, stem)) => push_stem_term(language, &stem, &mut stem_term),
            None => stem::with_stem(word.text, |stem| {
                if let Some(stem) = stem.filter(|stem| *stem != word.text) {
                    stem_term.push(STEM_MARK);
                    stem_term.push_str(stem);
                }
            }),
        }
        if !stem_term.is_empty() {
            emit(&stem_term, word.position);
        }
    });
    if let Some(pair) = last_pair {
        emit_last_of(&pair, emit);
    }
}

/// Emits the last character of a run that is indexed as pairs of characters. No pair begins with
/// this character, so it would not be found alone.
fn emit_last_of(pair: &OwnedWord, emit: &mut dyn FnMut(&str, u32)) {
    let last = pair.text.char_indices().next_back().map_or(0, |(at, _)| at);
    emit(&pair.text[last..], pair.position);
}

/// Appends the term of a stem of a language other than English.
fn push_stem_term(language: Language, stem: &str, out: &mut String) {
    out.push_str(&prefix_of(language));
    out.push_str(stem);
}

/// Returns the prefix of the stems of a language: `~` and the number of the language in two digits.
/// No English stem has a digit.
pub(crate) fn prefix_of(language: Language) -> String {
    format!("{STEM_MARK}{:02}", language.number())
}

/// Returns the language of a stem's term; `None` for English stems and for words.
pub(crate) fn language_of(term: &str) -> Option<Language> {
    let number = term.strip_prefix(STEM_MARK)?.get(..2)?.parse().ok()?;
    Language::all().nth(number)
}

/// Returns the words that may have this stem, end with `last` and have at least `before` letters
/// before `last`.
pub(crate) fn compounds_of(stem: &str, last: &str, before: usize) -> Vec<String> {
    let parts = stem.char_indices().skip(before).map(|(at, _)| stem.split_at(at));
    let may_end = |ending: &str| {
        // A stemmer may change the last letter of a stem.
        let changed = ending.char_indices().next_back().map_or(0, |(at, _)| at);
        let is_start = |ending: &str| ending.len() >= MIN_ENDING && last.starts_with(ending);
        is_start(ending) || is_start(&ending[..changed])
    };
    parts
        .filter(|(start, ending)| may_end(ending) && start.chars().all(char::is_alphabetic))
        .map(|(start, _)| format!("{start}{last}"))
        .collect()
}

/// Minimum number of bytes that the last part of a compound and its stem have in common.
const MIN_ENDING: usize = 3;

/// Whether a term is a word rather than a stem.
pub(crate) fn is_word(term: &str) -> bool {
    !term.starts_with(STEM_MARK)
}

/// Returns the terms that find every form of `word`, in English and in `languages`. An English stem
/// that does not change when it is stemmed again is also returned without the prefix.
pub(crate) fn terms_for_all_forms(word: &str, languages: LanguageSet) -> Vec<String> {
    // The words in the lists of `stem` are indexed as English words in texts of all languages.
    let languages = languages.iter().filter(|_| !stem::is_irregular(word));
    let other = languages.filter_map(|language| non_english_stem_term(word, language));
    english(word).into_iter().chain(other).collect()
}

/// Returns the terms that find every form of a word in a text of this language; `None` is English.
pub(crate) fn terms_for_all_forms_in(word: &str, language: Option<Language>) -> Vec<String> {
    match language {
        Some(language) if !stem::is_irregular(word) => {
            non_english_stem_term(word, language).into_iter().collect()
        }
        _ => english(word),
    }
}

fn english(word: &str) -> Vec<String> {
    let Some(stem) = stem::stem(word) else { return Vec::new() };
    let mut terms = vec![format!("{STEM_MARK}{stem}")];
    if stem::stem(&stem).as_deref() == Some(&*stem) {
        terms.push(stem.into_owned());
    }
    terms
}

fn non_english_stem_term(word: &str, language: Language) -> Option<String> {
    let mut term = String::new();
    push_stem_term(language, &language.stem(word)?, &mut term);
    Some(term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_and_its_stem_are_terms_if_they_differ() {
        let mut terms = Vec::new();
        each_term("fix failingTests", &mut |term, position| {
            terms.push(format!("{term}@{position}"));
        });
        assert_eq!(
            terms,
            ["fix@0", "failingtests@1", "failing@1", "~fail@1", "tests@2", "~test@2"]
        );
    }

    #[test]
    fn a_word_of_developers_is_no_form_of_a_shorter_word() {
        for (word, other) in [("login", "log"), ("plugins", "plug"), ("origin", "orig")] {
            let terms = terms_for_all_forms(word, LanguageSet::all());
            let others = terms_for_all_forms(other, LanguageSet::all());
            assert!(terms.iter().all(|term| !others.contains(term)), "{word}: {terms:?}");
        }
    }

    #[test]
    fn a_compound_is_composed_from_its_stem_and_its_last_part() {
        for (stem, last, wanted) in [
            ("datensicher", "sicherung", Some("datensicherung")),
            ("datensicher", "sicherungen", Some("datensicherungen")),
            ("gebruikersbrief", "brieven", Some("gebruikersbrieven")),
            ("suchmog", "moglichkeit", Some("suchmoglichkeit")),
            ("arbeitstag", "tage", Some("arbeitstage")),
            ("speicherort", "orte", Some("speicherorte")),
            ("sicher", "sicherung", None),
            ("datensatz", "sicherung", None),
            ("datensicher", "xyzzyqq", None),
            ("datensi", "sicherung", None),
        ] {
            let compounds = compounds_of(stem, last, 4);
            assert_eq!(compounds, wanted.into_iter().collect::<Vec<_>>(), "{stem} {last}");
        }
    }

    #[test]
    fn the_terms_of_one_form_find_every_other_form() {
        let word_terms = |word: &str| {
            let mut terms = Vec::new();
            each_term(word, &mut |term, _| terms.push(term.to_owned()));
            terms
        };
        for (asked, written) in [
            ("test", "testing"),
            ("testing", "test"),
            ("went", "going"),
            ("config", "configuration"),
            ("configuration", "configs"),
            ("db", "database"),
            ("fix", "fix"),
            ("k8s", "kubernetes"),
            ("kubernetes", "k8s"),
        ] {
            let wanted = terms_for_all_forms(asked, LanguageSet::default());
            assert!(
                word_terms(written).iter().any(|term| wanted.contains(term)),
                "{asked} {written}"
            );
        }
    }
}
