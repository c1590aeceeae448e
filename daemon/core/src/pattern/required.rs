//! Computes the required literals of an expression: each match of the expression contains at least
//! one of them. A text without these literals needs no search by the expression.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

/// Maximum number of texts to which a part of an expression is expanded.
const MAX_TEXTS: usize = 64;

/// Maximum number of characters of a class that is expanded.
const MAX_CHARACTERS: usize = 8;

/// Minimum length, in bytes, of a literal. Shorter literals occur in too many texts.
const MIN_BYTES: usize = 2;

/// Literals of this length are as good as longer ones.
const ENOUGH_BYTES: usize = 6;

type Literals = Vec<Vec<u8>>;

/// Returns the required literals of `expression`, in lower case: each match contains at least one
/// of them, if the case of ASCII letters is ignored. Returns `None` if they are unknown, or if one
/// of them is shorter than [`MIN_BYTES`].
pub(super) fn required_literals(expression: &Hir) -> Option<Literals> {
    let literals = PartLiterals::of(expression).required()?;
    (shortest(&literals) >= MIN_BYTES).then_some(literals)
}

/// The texts and literals of the matches of a part of an expression. The case of ASCII letters is
/// ignored.
#[derive(Default)]
struct PartLiterals {
    /// All texts that the part can match, if there are few.
    texts: Option<Literals>,
    /// Required literals: each match contains at least one of them.
    required: Option<Literals>,
}

impl PartLiterals {
    fn of(part: &Hir) -> PartLiterals {
        match part.kind() {
            HirKind::Empty | HirKind::Look(_) => PartLiterals::with_texts(vec![Vec::new()]),
            HirKind::Literal(literal) => {
                PartLiterals::with_texts(vec![literal.0.to_ascii_lowercase()])
            }
            HirKind::Class(class) => PartLiterals { texts: characters(class), required: None },
            HirKind::Repetition(repetition) => PartLiterals::of_repetition(repetition),
            HirKind::Capture(capture) => PartLiterals::of(&capture.sub),
            HirKind::Concat(parts) => PartLiterals::of_sequence(parts),
            HirKind::Alternation(parts) => PartLiterals::of_alternatives(parts),
        }
    }

    fn with_texts(texts: Literals) -> PartLiterals {
        PartLiterals { texts: Some(texts), required: None }
    }

    fn of_repetition(repetition: &Repetition) -> PartLiterals {
        let part = PartLiterals::of(&repetition.sub);
        match (repetition.min, repetition.max, part.texts) {
            (0, Some(1), Some(mut texts)) if texts.len() < MAX_TEXTS => {
                texts.push(Vec::new());
                PartLiterals::with_texts(texts)
            }
            (0, ..) => PartLiterals::default(),
            (_, _, texts) => PartLiterals {
                texts: None,
                required: PartLiterals { texts, required: part.required }.required(),
            },
        }
    }

    fn of_alternatives(parts: &[Hir]) -> PartLiterals {
        let parts: Vec<PartLiterals> = parts.iter().map(PartLiterals::of).collect();
        let texts: Option<Vec<Literals>> = parts.iter().map(|part| part.texts.clone()).collect();
        let texts = texts.map(|texts| texts.concat()).filter(|texts| texts.len() <= MAX_TEXTS);
        let required: Option<Vec<Literals>> =
            parts.into_iter().map(PartLiterals::required).collect();
        PartLiterals { texts, required: required.map(|required| required.concat()) }
    }

    fn of_sequence(parts: &[Hir]) -> PartLiterals {
        let mut required = None;
        // The texts of the last parts. These parts follow each other.
        let mut texts = vec![Vec::new()];
        let mut has_all_texts = true;
        for part in parts {
            let part = PartLiterals::of(part);
            if let Some(joined) = part.texts.as_ref().and_then(|next| joined(&texts, next)) {
                texts = joined;
                continue;
            }
            has_all_texts = false;
            required = better(better(required, Some(texts)), part.required);
            texts = part.texts.unwrap_or_else(|| vec![Vec::new()]);
        }
        match has_all_texts {
            true => PartLiterals::with_texts(texts),
            false => PartLiterals { texts: None, required: better(required, Some(texts)) },
        }
    }

    fn required(self) -> Option<Literals> {
        better(self.required, self.texts)
    }
}

/// Returns the characters of a class, if there are few.
fn characters(class: &Class) -> Option<Literals> {
    let all: Literals = match class {
        Class::Unicode(class) => {
            let all = class.ranges().iter().flat_map(|range| range.start()..=range.end());
            let lower = all.map(|c| c.to_ascii_lowercase().to_string().into_bytes());
            lower.take(MAX_CHARACTERS + 1).collect()
        }
        Class::Bytes(class) => {
            let all = class.ranges().iter().flat_map(|range| range.start()..=range.end());
            all.map(|byte| vec![byte.to_ascii_lowercase()]).take(MAX_CHARACTERS + 1).collect()
        }
    };
    let is_small = all.len() <= MAX_CHARACTERS;
    is_small.then(|| all.into_iter().collect::<BTreeSet<_>>().into_iter().collect())
}

/// Returns each combination of a text of `starts` and a text of `ends`, if there are not too many
/// combinations.
fn joined(starts: &Literals, ends: &Literals) -> Option<Literals> {
    let join = |start: &Vec<u8>| -> Literals {
        ends.iter().map(|end| [start.as_slice(), end].concat()).collect()
    };
    (starts.len() * ends.len() <= MAX_TEXTS).then(|| starts.iter().flat_map(join).collect())
}

/// Returns the literals that probably occur in fewer texts: the list whose shortest literal is
/// longer (up to [`ENOUGH_BYTES`]), or else the list with fewer literals.
fn better(first: Option<Literals>, second: Option<Literals>) -> Option<Literals> {
    let rank = |literals: &Literals| {
        (shortest(literals).min(ENOUGH_BYTES), std::cmp::Reverse(literals.len()))
    };
    let usable = [first, second].into_iter().flatten().filter(|literals| shortest(literals) > 0);
    usable.max_by_key(rank)
}

fn shortest(literals: &Literals) -> usize {
    literals.iter().map(Vec::len).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarest_literals_of_an_expression_are_required() {
        for (expression, expected) in [
            (r"\bstill (?:needs?|open)\b", vec!["still need", "still needs", "still open"]),
            (r"(?i)^(?:added|built)\b.{0,60}\bit", vec!["added", "built"]),
            (r"A?bcd.*(?:efg)+", vec!["efg"]),
            (r"(?:so )?\w+ed by", vec!["ed by"]),
            (r"(?:to|in)[ -]x|yz", vec!["in x", "in-x", "to x", "to-x", "yz"]),
            (r"(?i)Großk", vec!["großk", "groß\u{212a}", "groẞk", "groẞ\u{212a}"]),
            (r"(?:ab|.c)d", vec![]),
            (r"x{2}|yz", vec![]),
            (r"(?:abc)*|def", vec![]),
            (r"[a-z]+", vec![]),
        ] {
            let parsed = regex_syntax::parse(expression).expect("the expression is valid");
            let required = required_literals(&parsed).unwrap_or_default();
            let mut required: Vec<_> =
                required.iter().map(|literal| String::from_utf8_lossy(literal)).collect();
            required.sort();
            assert_eq!(required, expected, "{expression}");
        }
    }
}
