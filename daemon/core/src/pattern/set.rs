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
/// then only the [`Candidates`], the expressions whose literals are in the text, are matched, each
/// one by itself. The candidates serve any number of questions about the text. A
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

/// The indexes of the expressions of an [`ExpressionSet`] that may match a text, ordered by rank.
#[derive(Debug)]
pub struct Candidates(Box<[usize]>);

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
        let literals = AhoCorasick::new(required_by.keys())
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

    /// Returns the expressions whose required literals are in `text`.
    pub fn candidates(&self, text: &str) -> Candidates {
        let mut candidates = self.always.clone();
        for found in self.literals.find_overlapping_iter(&text.to_ascii_lowercase()) {
            candidates.extend(&self.required_by[found.pattern().as_usize()]);
        }
        candidates.sort_unstable();
        candidates.dedup();
        Candidates(candidates.into())
    }

    /// Returns whether an expression matches `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.first_match(text, &self.candidates(text), |_| true).is_some()
    }

    /// Returns the ranks of the candidates.
    pub fn ranks(&self, candidates: &Candidates) -> impl Iterator<Item = usize> {
        candidates.0.iter().map(|at| self.expressions[*at].rank)
    }

    /// Returns the lowest of the wanted ranks whose expressions match `text`, of which `candidates`
    /// are the candidates.
    pub fn first_match(
        &self,
        text: &str,
        candidates: &Candidates,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut candidates = candidates.0.iter().map(|at| &self.expressions[*at]);
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
            let candidates = set.candidates(text);
            assert_eq!(set.first_match(text, &candidates, |_| true), first, "{text}");
            let found = set.first_match(text, &candidates, |rank| rank > 1);
            assert_eq!(found, without_first, "{text}");
            assert_eq!(set.is_match(text), first.is_some(), "{text}");
        }
    }

    #[test]
    fn only_expressions_whose_literals_are_in_the_text_are_candidates() {
        let expressions = [(1, r"\bsolved by\b"), (2, r"\bsolv\w+"), (3, r"^\w+$")];
        let expressions = expressions.map(|(rank, pattern)| (rank, pattern.to_owned()));
        let set = ExpressionSet::new(expressions.to_vec(), Config::new().case_insensitive(true));
        for (text, expected) in [("SOLVED.", vec![2, 3]), ("It works.", vec![3])] {
            let ranks: Vec<usize> = set.ranks(&set.candidates(text)).collect();
            assert_eq!(ranks, expected, "{text}");
        }
    }
}
