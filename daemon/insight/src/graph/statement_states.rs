//! Computes which open ends, decisions, wishes and failing tests of an episode still hold, and how
//! its session ended. Handoffs and recalled statements share this computation.

use std::collections::HashMap;

use crate::{
    graph::{
        Graph,
        fact_validity::CORRECTED,
        quoted_reports::{parts, says, without_statements},
    },
    model::{
        EpisodeId, Fact, SessionEnding, Timestamp,
        graph::{EntityOrFact, Relation, Verdict},
        summary::EnhancedSessionSummary,
    },
    store::StoreError,
    text::same_words,
};

/// Names of attributes of facts. Each attribute contains the text of a statement in the summary.
pub(super) const STEP: &str = "step";
pub(super) const DECISION: &str = "decision";
pub(super) const TEST: &str = "test";

/// The current state of the statements of an episode, and how its session ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementStates {
    /// The statements, by their texts in the summary.
    statements: HashMap<String, StatementState>,
    /// The user's wishes, whose texts in the summary are quoted.
    wishes: Vec<StatementState>,
    ending: SessionEnding,
}

/// Whether a statement still holds, and the sentence of its fact.
#[derive(Clone, Debug, PartialEq)]
struct StatementState {
    holds: bool,
    sentence: String,
    /// The correction of the fact by a user or an agent.
    verdict: Option<Verdict>,
}

impl StatementState {
    fn of(fact: &Fact, now: Timestamp) -> StatementState {
        let mut details = fact.details.iter();
        let note = details.find(|(name, _)| name == CORRECTED).map(|(_, note)| note);
        let verdict = note.and_then(|note| note.split_whitespace().next());
        StatementState {
            // The start of a fact is not compared with `now`: the clock of the machine that wrote
            // the transcript may be ahead.
            holds: fact.invalid_at.is_none_or(|end| end > now),
            sentence: without_session(&fact.sentence).to_owned(),
            verdict: verdict.and_then(Verdict::parse),
        }
    }

    /// Whether a user or an agent ended the statement.
    fn is_corrected(&self) -> bool {
        !self.holds && matches!(self.verdict, Some(Verdict::Wrong | Verdict::Done))
    }

    /// Returns a note about a statement that does not hold.
    fn note(&self) -> Option<&'static str> {
        match self.verdict {
            _ if self.holds => None,
            Some(Verdict::Wrong) => Some(" (marked wrong)"),
            Some(Verdict::Done) => Some(" (marked done)"),
            Some(Verdict::Keep) | None => Some(" (ended)"),
        }
    }
}

impl StatementStates {
    /// Collects the statements of `episode` among `facts`, and whether each holds at `now`.
    pub fn of<'f>(
        facts: impl IntoIterator<Item = &'f Fact>,
        episode: EpisodeId,
        now: Timestamp,
    ) -> StatementStates {
        let mut states = StatementStates::default();
        for fact in facts.into_iter().filter(|fact| fact.episodes.contains(&episode)) {
            if fact.relation == Relation::TaskState {
                fact.details.iter().for_each(|(name, text)| states.ending.set(name, text));
                continue;
            }
            let texts = fact
                .details
                .iter()
                .filter(|(name, _)| Some(name.as_str()) == text_attribute(fact.relation));
            let state = StatementState::of(fact, now);
            texts.for_each(|(_, text)| states.add(text, &state));
            if fact.relation == Relation::Prefers {
                states.wishes.push(state);
            }
        }
        states
    }

    /// Adds the state of a fact that was made from the statement `text`. If several facts were made
    /// from it, one for each item of a list, the statement holds as long as one of them does.
    fn add(&mut self, text: &str, state: &StatementState) {
        let mut added = state.clone();
        if let Some(known) = self.statements.get(text).filter(|one| one.sentence != added.sentence)
        {
            text.clone_into(&mut added.sentence);
            added.holds |= known.holds;
        }
        self.statements.insert(text.to_owned(), added);
    }

    /// Whether a statement of the summary holds; `None` if no fact was made from the statement.
    pub fn holds(&self, text: &str) -> Option<bool> {
        self.statements.get(text).map(|statement| statement.holds)
    }

    pub fn ending(&self) -> &SessionEnding {
        &self.ending
    }

    /// Adds a note to each open end, decision and wish of the summary that no longer holds.
    pub fn mark(&self, summary: &mut EnhancedSessionSummary) {
        let note = |text: &str| self.statements.get(text).and_then(StatementState::note);
        let decisions = summary.key_decisions.iter_mut().flatten();
        let texts = decisions.map(|record| &mut record.decision);
        for text in texts.chain(summary.next_steps.iter_mut().flatten()) {
            text.push_str(note(text).unwrap_or_default());
        }
        for wish in summary.preferences.iter_mut().flatten() {
            wish.push_str(match self.wish(wish) {
                Some(state) if state.verdict == Some(Verdict::Done) => " (withdrawn)",
                state => state.and_then(StatementState::note).unwrap_or_default(),
            });
        }
    }

    /// Removes the wishes that no longer hold from the summary.
    pub fn remove_ended_wishes(&self, summary: &mut EnhancedSessionSummary) {
        if let Some(wishes) = &mut summary.preferences {
            wishes.retain(|wish| self.wish(wish).is_none_or(|state| state.holds));
        }
    }

    /// Returns the state of a wish of the summary. If the wish was withdrawn and stated again, the
    /// state that holds takes precedence.
    fn wish(&self, wish: &str) -> Option<&StatementState> {
        let plain = |text: &str| text.replace(['"', '“', '”'], "");
        let is_same = |state: &&StatementState| plain(&state.sentence) == plain(wish);
        let is_similar = |state: &&StatementState| same_words(&state.sentence, wish);
        let wishes = self.wishes.iter();
        let similar = || wishes.clone().filter(is_similar).max_by_key(|state| state.holds);
        wishes.clone().filter(is_same).max_by_key(|state| state.holds).or_else(similar)
    }

    /// Returns a text without the wishes that were marked as wrong or done. A wish is removed only
    /// if the text contains all of its sentences, one after the other, or if the text was cut
    /// within the wish. Sentences of wishes that hold stay.
    pub fn without_corrected_wishes(&self, text: &str) -> String {
        if !self.wishes.iter().any(StatementState::is_corrected) {
            return text.to_owned();
        }
        let text_parts: Vec<&str> = parts(text).collect();
        let is_run = |run: &[&str], wish: &[&str]| {
            run.iter().zip(wish).all(|(part, sentence)| states(part, sentence))
        };
        let contains = |wish: &[&str]| {
            let mut runs = text_parts.windows(wish.len().max(1));
            let lengths = 1..=wish.len().min(text_parts.len());
            let mut ends = lengths.map(|length| &text_parts[text_parts.len() - length..]);
            runs.any(|run| is_run(run, wish))
                || text.ends_with('…') && ends.any(|end| is_run(end, wish))
        };
        let holding = self.wishes.iter().filter(|state| state.holds);
        let kept: Vec<&str> = holding.flat_map(|state| parts(&state.sentence)).collect();
        let corrected = self.wishes.iter().filter(|state| state.is_corrected());
        let corrected = corrected.map(|state| parts(&state.sentence).collect::<Vec<_>>());
        let removed: Vec<(&str, &str)> = corrected
            .filter(|wish| contains(wish))
            .flatten()
            .filter(|sentence| !kept.iter().any(|kept| says(sentence, kept, kept)))
            .map(|sentence| (sentence, sentence))
            .collect();
        if removed.is_empty() { text.to_owned() } else { without_statements(text, &removed) }
    }

    /// Removes the wishes that were marked as wrong or done from the quoted requests.
    fn correct_requests(&mut self) {
        // A first request that is only a wish becomes empty, but is kept: a handoff without a first
        // request would quote the objective, which repeats the wish.
        let first = self.ending.first_request.as_deref();
        let first = first.map(|request| self.without_corrected_wishes(request));
        let later = self.ending.later_requests.iter();
        let later: Vec<String> = later
            .map(|request| self.without_corrected_wishes(request))
            .filter(|request| !request.is_empty())
            .collect();
        self.ending.first_request = first;
        self.ending.later_requests = later;
    }

    /// Removes the statements that were marked as wrong or done from the quoted reports.
    fn correct_reports(&mut self) {
        let corrected = self.statements.iter().filter(|(_, state)| state.is_corrected());
        let corrected: Vec<(&str, &str)> =
            corrected.map(|(text, state)| (text.as_str(), state.sentence.as_str())).collect();
        for report in [&mut self.ending.report, &mut self.ending.earlier_report] {
            if let Some(text) = report.as_mut().filter(|_| !corrected.is_empty()) {
                *text = without_statements(text, &corrected);
            }
        }
    }

    /// Returns the sentence of the fact that was made from a statement of the summary, if it holds.
    pub fn sentence(&self, text: &str) -> Option<&str> {
        let statement = self.statements.get(text).filter(|statement| statement.holds)?;
        Some(&statement.sentence)
    }
}

/// Whether a part of a text, or the part without its label, is a sentence of a wish.
fn states(part: &str, sentence: &str) -> bool {
    let item = part.split_once(": ").map(|(_, item)| item);
    [Some(part), item].into_iter().flatten().any(|part| says(part, sentence, sentence))
}

/// Separates an open end from the name of its session.
pub(super) const LEFT_OPEN_IN: &str = " — left open in “";
/// Separates a decision, a finding or a wish from the task of its session.
pub(super) const DECIDED_FOR: &str = " (For “";

/// Returns a sentence without the name or the task of its session.
fn without_session(sentence: &str) -> &str {
    let ends = [LEFT_OPEN_IN, DECIDED_FOR].into_iter().filter_map(|mark| sentence.rfind(mark));
    &sentence[..ends.min().unwrap_or(sentence.len())]
}

/// Returns the name of the attribute that contains the text of the statement in the summary.
fn text_attribute(relation: Relation) -> Option<&'static str> {
    match relation {
        Relation::LeftOpen => Some(STEP),
        Relation::Decided => Some(DECISION),
        Relation::Fails => Some(TEST),
        _ => None,
    }
}

impl Graph<'_> {
    /// Returns which open ends, decisions, wishes and failing tests of an episode hold at `now`,
    /// and how the session ended, without reported statements and requested wishes that were marked
    /// as wrong or done.
    pub fn statement_states(
        &self,
        episode: EpisodeId,
        now: Timestamp,
    ) -> Result<StatementStates, StoreError> {
        let mut facts = Vec::new();
        let mut ending = SessionEnding::default();
        for thing in self.store().entities_and_facts_of(episode)? {
            let EntityOrFact::Fact(key) = thing else { continue };
            let relation = self.last_claim(key)?.map(|claim| claim.relation);
            if relation.is_some_and(|relation| {
                relation == Relation::Prefers || text_attribute(relation).is_some()
            }) {
                facts.extend(self.spans(key)?);
            }
            if relation == Some(Relation::TaskState) {
                // Sessions with the same title share this fact, but each session has its own
                // ending.
                let claims = self.store().claims(key)?.into_iter();
                for own in claims.filter(|attributed| attributed.episode == episode) {
                    own.what.details.iter().for_each(|(name, text)| ending.set(name, text));
                }
            }
        }
        let mut states = StatementStates { ending, ..StatementStates::of(&facts, episode, now) };
        states.correct_reports();
        states.correct_requests();
        Ok(states)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        graph::fact_validity,
        model::graph::{Attributed, Correction, CorrectionAuthor},
        store::contract,
    };

    const NOW: Timestamp = Timestamp::from_seconds(100);

    fn stated(relation: Relation, text: &str, sentence: &str, verdict: Option<Verdict>) -> Fact {
        let mut claim = contract::statements(10).claims.remove(0);
        claim.relation = relation;
        claim.sentence = sentence.to_owned();
        let attribute = text_attribute(relation).map(|name| (name.to_owned(), text.to_owned()));
        claim.details = attribute.into_iter().collect();
        let correction =
            verdict.map(|verdict| Correction { verdict, author: CorrectionAuthor::User, at: NOW });
        let key = claim.key;
        let claim = Attributed { episode: episode(), created_at: claim.at, what: claim };
        fact_validity::facts(key, &[claim], &[], correction.as_ref()).remove(0)
    }

    fn episode() -> EpisodeId {
        EpisodeId::new(NOW, [1; 10])
    }

    #[test]
    fn corrected_statements_are_marked_in_the_summary_and_not_quoted_from_reports() {
        let pool = "Use a pool of 8 connections";
        let runbook = "Write the runbook for the gateway alarm";
        let webhook = "Remove the legacy webhook endpoint";
        let tabs = "Always use tabs in Python files";
        let (wrong, done, keep) = (Verdict::Wrong, Verdict::Done, Verdict::Keep);
        let facts = [
            stated(Relation::Decided, pool, pool, Some(wrong)),
            stated(Relation::LeftOpen, runbook, runbook, Some(done)),
            stated(Relation::LeftOpen, webhook, webhook, Some(keep)),
            stated(Relation::Prefers, "", tabs, Some(wrong)),
        ];
        let mut states = StatementStates::of(&facts, episode(), NOW);
        let mut summary: EnhancedSessionSummary = serde_json::from_value(serde_json::json!({
            "objective": "", "outcome": "completed",
            "next_steps": [runbook, webhook],
            "key_decisions": [{ "decision": pool, "rationale": "it is easier" }],
            "preferences": [format!("\"{tabs}\""), "\"Never push to main\""],
        }))
        .unwrap();
        states.mark(&mut summary);
        assert_eq!(
            summary.next_steps.unwrap(),
            [format!("{runbook} (marked done)"), webhook.to_owned()]
        );
        assert_eq!(summary.key_decisions.unwrap()[0].decision, format!("{pool} (marked wrong)"));
        assert_eq!(
            summary.preferences.unwrap(),
            [format!("\"{tabs}\" (marked wrong)"), "\"Never push to main\"".to_owned()]
        );
        states.ending.report = Some(format!("{pool}. Left open: {runbook}; {webhook}."));
        states.correct_reports();
        assert_eq!(states.ending.report.unwrap(), format!("Left open: {webhook}."));
    }

    #[test]
    fn a_corrected_wish_is_not_quoted_from_a_request() {
        let tabs = "Always use tabs in Python files";
        let runbook = "Write the runbook for the gateway alarm";
        let wrong = Verdict::Wrong;
        let facts = [
            stated(Relation::Prefers, "", tabs, Some(wrong)),
            stated(Relation::Prefers, "", "Never push to main", None),
            stated(Relation::Prefers, "", "Answer in German. Keep code in English.", Some(wrong)),
            stated(Relation::LeftOpen, runbook, runbook, Some(Verdict::Done)),
        ];
        let mut states = StatementStates::of(&facts, episode(), NOW);
        let mut quoted = |first: &str, later: &[&str]| {
            states.ending.first_request = Some(first.to_owned());
            states.ending.later_requests = later.iter().map(|&text| text.to_owned()).collect();
            states.correct_requests();
            (states.ending.first_request.clone().unwrap(), states.ending.later_requests.clone())
        };
        let export = "Add the export to the report page.";
        assert_eq!(quoted(&format!("{tabs}. {export}"), &[tabs]), (export.to_owned(), vec![]));
        assert_eq!(quoted(tabs, &[]).0, "");
        let both = format!("Answer in German. Keep code in English. {export}");
        assert_eq!(quoted(&both, &[]).0, export);
        // A request was made even if its task is done, and the other wishes still hold.
        for kept in [
            // Only a part of a wish, which is an order here.
            "Keep code in English.".to_owned(),
            "Keep code in English. Answer in German.".to_owned(),
            format!("{runbook}. Never push to main."),
            "Never use tabs in Python files.".to_owned(),
            "Replace the tabs in the Python files of the importer by spaces.".to_owned(),
        ] {
            assert_eq!(quoted(&kept, &[&kept]), (kept.clone(), vec![kept]));
        }
    }

    #[test]
    fn short_wishes_are_removed_from_a_text_and_sentences_of_wishes_that_hold_stay() {
        let wrong = Some(Verdict::Wrong);
        let facts = [
            stated(Relation::Prefers, "", "Use pnpm.", wrong),
            stated(Relation::Prefers, "", "请始终使用制表符缩进", wrong),
            stated(Relation::Prefers, "", "Answer in German. Keep code in English.", wrong),
            stated(Relation::Prefers, "", "Keep code in English", None),
        ];
        let states = StatementStates::of(&facts, episode(), NOW);
        for (text, wanted) in [
            ("Use pnpm. Add the export.", "Add the export."),
            ("use “pnpm”", ""),
            ("请始终使用制表符缩进。添加导出。", "添加导出。"),
            ("Answer in German. Keep code in English. Go on.", "Keep code in English. Go on."),
            ("Use pnpm for the export.", "Use pnpm for the export."),
            ("Do not use pnpm.", "Do not use pnpm."),
            ("请始终使用空格缩进。", "请始终使用空格缩进。"),
        ] {
            assert_eq!(states.without_corrected_wishes(text), wanted);
        }
    }

    #[test]
    fn a_wish_is_removed_from_a_text_that_was_cut_within_the_wish() {
        let wrong = Some(Verdict::Wrong);
        let facts = [
            stated(Relation::Prefers, "", "Always use tabs in Python files", wrong),
            stated(
                Relation::Prefers,
                "",
                "Answer in German everywhere. Keep code in English.",
                wrong,
            ),
        ];
        let states = StatementStates::of(&facts, episode(), NOW);
        for (text, wanted) in [
            ("Add the export. Always use tabs in Pyth…", "Add the export."),
            ("Add the export. Answer in German every…", "Add the export."),
            ("Add it. Answer in German everywhere. Keep code in Eng…", "Add it."),
            ("Always use tabs in PHP f…", "Always use tabs in PHP f…"),
            ("Always use t…", "Always use t…"),
            ("Always use tabs in Pyth", "Always use tabs in Pyth"),
            ("Never always use tabs in Pyth…", "Never always use tabs in Pyth…"),
            ("Keep code in English. Add the exp…", "Keep code in English. Add the exp…"),
        ] {
            assert_eq!(states.without_corrected_wishes(text), wanted);
        }
    }

    #[test]
    fn a_wish_that_was_stated_again_holds() {
        let tabs = "Always use tabs in Python files";
        let facts = [
            stated(Relation::Prefers, "", tabs, Some(Verdict::Wrong)),
            stated(Relation::Prefers, "", tabs, None),
        ];
        let states = StatementStates::of(&facts, episode(), NOW);
        let mut summary: EnhancedSessionSummary = serde_json::from_value(serde_json::json!({
            "objective": "", "outcome": "completed", "preferences": [tabs],
        }))
        .unwrap();
        states.remove_ended_wishes(&mut summary);
        assert_eq!(summary.preferences.unwrap(), [tabs]);
        assert_eq!(states.without_corrected_wishes(tabs), tabs);
    }

    #[test]
    fn only_wishes_that_ended_are_removed_from_a_summary() {
        let tabs = "Always use tabs in Python files";
        let facts = [stated(Relation::Prefers, "", tabs, Some(Verdict::Done))];
        let mut summary: EnhancedSessionSummary = serde_json::from_value(serde_json::json!({
            "objective": "", "outcome": "completed",
            "preferences": [format!("\"{tabs}\""), "\"Never push to main\""],
        }))
        .unwrap();
        StatementStates::of(&facts, episode(), NOW).remove_ended_wishes(&mut summary);
        assert_eq!(summary.preferences.unwrap(), ["\"Never push to main\""]);
    }
}
