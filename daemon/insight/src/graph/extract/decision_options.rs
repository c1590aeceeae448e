//! Extracts the options of a decision: what was chosen, what was rejected, and what a later text
//! replaces.

use super::draft::Draft;
use crate::{
    graph::text,
    model::{
        Timestamp,
        graph::{Observation, Stance, Subject, Watch, fingerprint},
        summary::DecisionRecord,
    },
    pattern::pattern,
};

/// Answers that mean nothing without their question.
pub(super) const GENERIC: &[&str] = &[
    "yes",
    "no",
    "ok",
    "both",
    "none",
    "all",
    "other",
    "skip",
    "cancel",
    "default",
    "neither",
    "chat about this",
];

/// Marks an option as rejected if `text` says that another option replaces it.
pub(super) fn mark_replaced(draft: &mut Draft<'_>, text: &str, at: Timestamp) {
    let Some((old, new)) = replaced(text) else { return };
    let named = text::words(&format!("{old} {new} replace replaced switch switched migrate"));
    let about = text::words(text).into_iter().filter(|word| !named.contains(word));
    let about = about.map(|word| fingerprint(&word)).collect();
    let subject = draft.subject("option", &format!("\n{}", option(old)));
    draft.mark(subject, at, Observation::PassedOver(about));
}

/// Returns the replaced option and its replacement.
fn replaced(text: &str) -> Option<(&str, &str)> {
    let by = pattern!(
        r"(?i)\b(?:replac(?:e|ed|es|ing) (.{2,40}?) (?:with|by)|(?:switch|migrat|mov)(?:e|ed|es|ing|ched|ches)? from (.{2,40}?) to) (.{2,40}?)(?: (?:in|for|and|because|so|as|on)\b|[.,;(]|$)"
    );
    if let Some(parts) = by.captures(text) {
        let old = parts.get(1).or(parts.get(2))?;
        return Some((old.as_str(), parts.get(3)?.as_str()));
    }
    let instead = pattern!(
        r"(?i)\b(?:use[ds]?|using|with|to) (.{2,40}?) (?:instead of|rather than) (.{2,40}?)(?: (?:in|for|and|because|so|as|on)\b|[.,;(]|$)"
    );
    let parts = instead.captures(text)?;
    Some((parts.get(2)?.as_str(), parts.get(1)?.as_str()))
}

/// The chosen and the rejected options of a decision. A later opposite decision ends the decision.
pub(super) struct DecisionOptions {
    chosen: Vec<Subject>,
    passed_over: Vec<Subject>,
    /// Fingerprints of the words of the decision outside of its options. They show what is decided.
    /// Empty for an answer to a question.
    about: Vec<u64>,
}

impl DecisionOptions {
    pub(super) fn of(
        draft: &Draft<'_>,
        record: &DecisionRecord,
        asked: Option<&str>,
    ) -> DecisionOptions {
        // The same answer to a different question is a different option.
        let is_asked = asked.is_some();
        let context = asked.map(text::plain).unwrap_or_default();
        let option = |text: &str| {
            let option = option(text);
            let is_one =
                !option.is_empty() && option.len() >= 2 && !GENERIC.contains(&option.as_str());
            is_one.then(|| draft.subject("option", &format!("{context}\n{option}")))
        };
        let others = record.alternatives.iter().flatten();
        let named: String = others
            .clone()
            .map(String::as_str)
            .chain([chosen(&record.decision)])
            .collect::<Vec<_>>()
            .join(" ");
        let named = text::words(&named);
        let about = text::words(&record.decision).into_iter();
        let about = about.filter(|word| !is_asked && !named.contains(word));
        DecisionOptions {
            chosen: option(chosen(&record.decision)).into_iter().collect(),
            passed_over: others.filter_map(|other| option(other)).collect(),
            about: about.map(|word| fingerprint(&word)).collect(),
        }
    }

    pub(super) fn watches(&self) -> Vec<Watch> {
        let chosen = self
            .chosen
            .iter()
            .map(|subject| Watch { subject: *subject, stance: Stance::Chosen(self.about.clone()) });
        let others = self.passed_over.iter().map(|subject| Watch {
            subject: *subject,
            stance: Stance::PassedOver(self.about.clone()),
        });
        chosen.chain(others).collect()
    }

    pub(super) fn mark(&self, draft: &mut Draft<'_>, at: Timestamp) {
        for subject in &self.chosen {
            draft.mark(*subject, at, Observation::Chosen(self.about.clone()));
        }
        for subject in &self.passed_over {
            draft.mark(*subject, at, Observation::PassedOver(self.about.clone()));
        }
    }
}

/// Returns the option that a decision chooses, for example `RS256` in `Used RS256 over HS256 for
/// tokens`.
fn chosen(decision: &str) -> &str {
    let choice = pattern!(
        r"(?i)^(?:(?:to )?(?:chose|choose|picked|pick|preferred|prefer|used|use|using|kept|keep|went with|go with|opted for|opt for|adopted|adopt|selected|select|switched (?:back )?to|switch (?:back )?to|moved to|move to|reverted to|stay with|stayed with) (?:to use )?(?:the |a |an )?)?(.{2,60}?)(?: (?:over|instead of|rather than|for|in|as|because|since|so that|to|with|on|when|and|not)\b.*|[,;(].*)?$"
    );
    let parts = choice.captures(decision);
    parts.and_then(|parts| parts.get(1)).map_or(decision, |choice| choice.as_str())
}

pub(super) fn option(text: &str) -> String {
    text::plain(chosen(text::without_full_stop(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_option_and_its_replacement_are_found() {
        for (text, wanted) in [
            ("Replace PnP Modal SDK with MPC Core Kit", Some(("PnP Modal SDK", "MPC Core Kit"))),
            ("feat: switch from RS256 to HS256 for tokens", Some(("RS256", "HS256"))),
            ("Use pnpm instead of npm", Some(("npm", "pnpm"))),
            ("Replace the parser", None),
            ("Move the parser to another file", None),
        ] {
            assert_eq!(replaced(text), wanted, "{text}");
        }
    }

    #[test]
    fn the_chosen_option_is_found_in_the_decision() {
        for (decision, wanted) in [
            ("Used RS256 over HS256 for JWT signing", "rs256"),
            ("Switched back to HS256", "hs256"),
            ("Keep the old parser instead of a rewrite", "old parser"),
            ("PostgreSQL", "postgresql"),
        ] {
            assert_eq!(option(decision), wanted, "{decision}");
        }
    }
}
