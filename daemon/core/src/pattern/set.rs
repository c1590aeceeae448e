//! A set of expressions, of which few match a text.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use aho_corasick::AhoCorasick;
use regex_automata::{
    meta,
    nfa::thompson::WhichCaptures,
    util::syntax::{self, Config},
};

use crate::pattern::required::required_literals;

/// Expressions with ranks. One pass over a text finds the literals that the expressions require;
/// then only the expressions whose literals are in the text are matched, each one by itself. A
/// single automaton of all expressions would have more states than its cache holds, and would
/// therefore be built again for almost every text.
pub struct ExpressionSet {
    syntax: Config,
    literals: AhoCorasick,
    /// For each literal, the indexes of the expressions that require it.
    required_by: Vec<Vec<usize>>,
    /// The indexes of the expressions that require no literal.
    always: Vec<usize>,
    /// Ordered by rank.
    expressions: Vec<Expression>,
}

struct Expression {
    rank: usize,
    pattern: String,
    /// Compiled when it is first matched.
    compiled: OnceLock<meta::Regex>,
}

impl ExpressionSet {
    /// # Panics
    ///
    /// If an expression is not valid.
    pub fn new(mut expressions: Vec<(usize, String)>, syntax: Config) -> ExpressionSet {
        expressions.sort_by_key(|(rank, _)| *rank);
        let mut always = Vec::new();
        let mut required_by: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        for (at, (_, pattern)) in expressions.iter().enumerate() {
            let parsed = syntax::parse_with(pattern, &syntax).expect("the expression is valid");
            match required_literals(&parsed) {
                Some(literals) => {
                    for literal in literals.into_iter().collect::<BTreeSet<_>>() {
                        required_by.entry(literal).or_default().push(at);
                    }
                }
                None => always.push(at),
            }
        }
        let literals = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(required_by.keys())
            .expect("the literals of a few hundred expressions fit the automaton");
        let expressions = expressions.into_iter().map(|(rank, pattern)| Expression {
            rank,
            pattern,
            compiled: OnceLock::new(),
        });
        ExpressionSet {
            syntax,
            literals,
            required_by: required_by.into_values().collect(),
            always,
            expressions: expressions.collect(),
        }
    }

    /// Returns the lowest of the wanted ranks whose expressions match `text`.
    pub fn first_match(&self, text: &str, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let mut candidates = self.always.clone();
        for found in self.literals.find_overlapping_iter(text) {
            candidates.extend(&self.required_by[found.pattern().as_usize()]);
        }
        candidates.sort_unstable();
        candidates.dedup();
        let mut candidates = candidates.into_iter().map(|at| &self.expressions[at]);
        let is_match = |expression: &&Expression| {
            is_wanted(expression.rank) && expression.compiled(&self.syntax).is_match(text)
        };
        candidates.find(is_match).map(|expression| expression.rank)
    }
}

impl Expression {
    /// Compiles the expression without the automata that are built during a search, because these
    /// automata save time only in long texts.
    fn compiled(&self, syntax: &Config) -> &meta::Regex {
        self.compiled.get_or_init(|| {
            meta::Regex::builder()
                .syntax(*syntax)
                .configure(
                    meta::Config::new()
                        .utf8_empty(syntax.get_utf8())
                        .which_captures(WhichCaptures::Implicit)
                        .hybrid(false),
                )
                .build(&self.pattern)
                .expect("the expression is valid")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rank_that_matches_is_found() {
        let expressions =
            [(2, r"\bfixed\b"), (1, r"\bnot (?:yet )?fixed\b"), (3, r"^\w+$"), (2, "solved|done")];
        let expressions = expressions.map(|(rank, pattern)| (rank, pattern.to_owned()));
        let set = ExpressionSet::new(expressions.to_vec(), Config::new().case_insensitive(true));
        for (text, first, without_first) in [
            ("Not yet fixed.", Some(1), Some(2)),
            ("It is FIXED.", Some(2), Some(2)),
            ("done", Some(2), Some(2)),
            ("Undone.", Some(2), Some(2)),
            ("größer", Some(3), Some(3)),
            ("It works.", None, None),
        ] {
            assert_eq!(set.first_match(text, |_| true), first, "{text}");
            assert_eq!(set.first_match(text, |rank| rank > 1), without_first, "{text}");
        }
    }
}
