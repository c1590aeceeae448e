//! Finds lasting statements in the agent's sentences.
//!
//! Precision is more important than recall: a wrong sentence in a summary costs more trust than a
//! missing one. An agent guesses while it works, so only its firm statements of that time count: no
//! guesses, questions or announcements. The reply that ends a turn is the report of the turn, in
//! which more sentences count.

mod claims;
mod dialogue;
mod report;

pub(in crate::summarize) use self::{
    claims::is_intended_choice,
    dialogue::RECOMMENDED,
    report::{describes_rule, says_that_nothing_is_left},
};
pub(super) use self::{
    claims::{intention, is_not_firm},
    dialogue::{asks_about, chosen, option_label},
    report::in_report,
};
use crate::{
    model::{
        evidence::{Statement, StatementKind},
        transcript::Origin,
    },
    summarize::evidence::bounds,
    text::{
        Block, blocks, capitalised, cut, kept, one_line, pattern, same_words, sentences,
        without_list_colon,
    },
};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExtractedStatement {
    pub(super) kind: StatementKind,
    /// The sentence, in one clean line.
    pub(super) text: String,
}

impl ExtractedStatement {
    /// Returns the statement of the line `origin`. `reported` shows whether it is part of the reply
    /// that ends a turn.
    pub(super) fn at(self, origin: Origin, reported: bool) -> Statement {
        Statement { kind: self.kind, text: self.text, origin, reported }
    }
}

/// Minimum and maximum length, in bytes, of a sentence that is considered.
const LENGTH: std::ops::RangeInclusive<usize> = 24..=420;

/// Minimum and maximum length, in bytes, of a diagnosis.
const DIAGNOSIS_BYTES: std::ops::RangeInclusive<usize> = 12..=240;
/// Maximum number of sentences of a paragraph that is searched for a diagnosis.
const DIAGNOSIS_SENTENCES: usize = 3;

/// Returns the firm statements of a text that the agent wrote while it worked.
pub(super) fn while_working(text: &str) -> Vec<ExtractedStatement> {
    let mut found = Vec::new();
    for block in blocks(text) {
        let (Block::Item(text) | Block::Paragraph(text)) = block else { continue };
        let mut announced = false;
        for sentence in clean_sentences(&text) {
            if LENGTH.contains(&sentence.len())
                && let Some(kind) = claims::statement_kind(&sentence, announced)
            {
                found.push(ExtractedStatement { kind, text: sentence.clone() });
            }
            found.extend(claims::conceded(&sentence).map(|text| ExtractedStatement {
                kind: StatementKind::Discovery,
                text: capitalised(text),
            }));
            announced = claims::announces_cause(&sentence);
        }
    }
    found
}

/// Searches the first paragraph of a text, if the paragraph has at most [`DIAGNOSIS_SENTENCES`]
/// sentences. Returns the first firm sentence, without an introduction such as
/// `I see the problem:`. After a failure, such a sentence may explain the failure.
pub(super) fn diagnosis(text: &str) -> Option<String> {
    let Some(Block::Paragraph(first)) = blocks(text).into_iter().next() else { return None };
    let all = clean_sentences(&first);
    let introduction = pattern!(
        r"(?i)^(?:(?:now )?i (?:can )?(?:now )?see|found|got it|ah)\b[^:\u{2014}\u{2013}-]{0,32}(?::| [\u{2014}\u{2013}-]) "
    );
    let restates = pattern!(
        r"(?i)^(?:the |all |some |one |two |three |\d+ |there (?:is|are) )?(?:\w+ ){0,2}(?:tests?|checks?|builds?|commands?|lint\w*|errors?|failures?) (?:\w+ )?(?:fails?|failed|failing|errors?|is|are|remains?|needs?)\b"
    );
    // Such sentences are about the agent's work, or continue an earlier sentence.
    let continues = pattern!(
        r"(?i)^(?:i|we|you|that|this|these|those|it|they|one|since|wrong|good|great|ok(?:ay)?|now|yes|no|done|perfect|almost|hmm|interesting|got it)\b|\b(?:so|let.s|i.ll|i.m|we.ll) (?:let|i|we|update|change|fix|adjust)\b"
    );
    let states = |sentence: &String| {
        let stated = introduction.replace(sentence, "").into_owned();
        let is_firm = DIAGNOSIS_BYTES.contains(&stated.len())
            && !is_not_firm(&stated)
            && !stated.ends_with(':')
            && !restates.is_match(&stated)
            && !continues.is_match(&stated);
        is_firm.then_some(stated)
    };
    (all.len() <= DIAGNOSIS_SENTENCES).then(|| all.iter().find_map(states))?
}

/// Whether the question of a choice is general, so that a new answer does not replace an earlier
/// answer.
pub(super) fn is_general(question: &str) -> bool {
    question.is_empty() || question == RECOMMENDED
}

/// Adds a statement at the end, and removes an earlier statement with the same words. The number of
/// statements of each kind is limited.
pub(super) fn add(statements: &mut Vec<Statement>, mut statement: Statement) {
    let kind = statement.kind;
    statement.text = kept(&cut(&statement.text, bounds::STATEMENT - 20), bounds::STATEMENT);
    let is_same = |one: &Statement| one.kind == kind && same_words(&one.text, &statement.text);
    let known = statements.iter().position(is_same);
    if let Some(at) = known {
        // The later wording replaces the earlier wording, because it usually contains more.
        statements.remove(at);
    }
    statements.push(statement);
    let places: Vec<usize> =
        (0..statements.len()).filter(|at| statements[*at].kind == kind).collect();
    if places.len() > bounds::STATEMENTS_OF_A_KIND {
        statements.remove(places[bounds::STATEMENTS_OF_A_KIND / 3]);
    }
}

/// Returns the sentences of a block, each in one clean line.
fn clean_sentences(block: &str) -> Vec<String> {
    let line = one_line(block);
    sentences(&line).into_iter().filter_map(without_list_colon).collect()
}
