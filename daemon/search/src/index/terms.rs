//! Converts the words of a text into index terms.
//!
//! A word is indexed as it is, and also as its stem with a mark in front if the stem differs. A
//! word that is its own stem is therefore one term.

use crate::text::{self, TokenForm, stem};

/// The prefix of a stem's term; no word contains it.
const STEM_MARK: char = '~';

/// Calls `emit` with each term of `text` and its position. Positions never decrease.
pub(crate) fn each_term(text: &str, emit: &mut dyn FnMut(&str, u32)) {
    let mut marked = String::new();
    text::each_word(text, &mut |word| {
        emit(word.text, word.position);
        if word.form == TokenForm::Part
            && let Some(stem) = stem::stem(word.text)
            && stem != word.text
        {
            marked.clear();
            marked.push(STEM_MARK);
            marked.push_str(&stem);
            emit(&marked, word.position);
        }
    });
}

/// Returns the terms under which every form of `word` is found; `word` itself may be one of them.
pub(crate) fn of_forms(word: &str) -> Vec<String> {
    let Some(stem) = stem::stem(word) else { return Vec::new() };
    let mut terms = vec![format!("{STEM_MARK}{stem}")];
    if stem::stem(&stem).as_deref() == Some(&*stem) {
        terms.push(stem.into_owned());
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_term_and_so_is_its_stem_where_they_differ() {
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
    fn every_form_is_found_under_the_terms_of_any() {
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
        ] {
            let wanted = of_forms(asked);
            assert!(
                word_terms(written).iter().any(|term| wanted.contains(term)),
                "{asked} {written}"
            );
        }
    }
}
