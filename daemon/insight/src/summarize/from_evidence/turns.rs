//! Divides a session into turns: a prompt, and everything up to the next prompt.

use crate::{
    model::{
        evidence::{Evidence, Quote, Statement, StatementKind},
        transcript::Origin,
    },
    summarize::from_evidence::request::{Request, Weight},
    text::pattern,
};

/// A prompt, and what happened before the next prompt.
pub(super) struct Turn<'e> {
    pub(super) prompt: &'e Quote,
    /// The line of the next prompt; [`u64::MAX`] for the last turn.
    pub(super) end: u64,
}

impl Turn<'_> {
    /// Whether something at `origin` belongs to the turn. The position must be in the same
    /// transcript as the prompt.
    pub(super) fn holds(&self, origin: Origin) -> bool {
        let start = self.prompt.origin;
        origin.source == start.source && (start.line..self.end).contains(&origin.line)
    }

    /// Returns the request, if it can be understood alone.
    pub(super) fn request(&self) -> Option<Request> {
        Request::of(&self.prompt.text).filter(|request| request.weight >= Weight::Vague)
    }

    /// Whether the user reports that something does not work.
    pub(super) fn reports_a_problem(&self) -> bool {
        names_a_problem(&self.prompt.text[..self.prompt.text.floor_char_boundary(600)])
    }
}

/// Whether a text of the user says that something does not work.
pub(super) fn names_a_problem(text: &str) -> bool {
    let text = pattern!(r"(?i)\bisn.t (?:much|many)\b").replace_all(text, "");
    pattern!(
            r"(?i)\b(?:fix|bugs?|errors?|fail(?:s|ed|ing|ure)?|broken|broke|crash(?:es|ed)?|issues?|not work(?:ing)?|(?:doesn't|does not|don't|didn't|isn't|won't|can't) \w+|wrong|why (?:is|are|does|do|did|am)|problem|unhappy|stuck|hangs?|slow|missing|exception|traceback|weird|annoying)\b"
        )
        .is_match(&text)
}

/// Returns the turns whose prompts are in the evidence.
pub(super) fn turns(evidence: &Evidence) -> Vec<Turn<'_>> {
    let ends = evidence.prompts.iter().skip(1).map(|prompt| prompt.origin.line).chain([u64::MAX]);
    evidence.prompts.iter().zip(ends).map(|(prompt, end)| Turn { prompt, end }).collect()
}

/// Returns the turn that `origin` belongs to.
pub(super) fn turn_of(evidence: &Evidence, origin: Origin) -> Option<Turn<'_>> {
    turns(evidence).into_iter().find(|turn| turn.holds(origin))
}

/// Returns the last statement of a kind in the turn. Statements of its report are preferred.
pub(super) fn last_statement<'e>(
    evidence: &'e Evidence,
    turn: &Turn<'_>,
    kind: StatementKind,
) -> Option<&'e Statement> {
    let all = evidence.statements.iter().chain(&evidence.report);
    let found = || all.clone().filter(|one| one.kind == kind && turn.holds(one.origin));
    found().rfind(|one| one.reported).or_else(|| found().next_back())
}
