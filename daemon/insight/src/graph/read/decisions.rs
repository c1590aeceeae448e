//! Extracts decisions and the rejected alternatives.

use std::collections::BTreeSet;

use super::{
    draft::{ClaimDraft, Draft},
    phrasing, worth,
};
use crate::{
    graph::{standing, text},
    model::{
        Timestamp,
        evidence::Choice,
        graph::{
            Certainty, EntityKind, Observation, Relation, Stance, Subject, Watch, fingerprint,
        },
        summary::DecisionRecord,
        wording::{BY_THE_USER, CHOSEN, NO_REASON, NOT_AS_PLANNED, PLAN, REFUSED, USER_SAID},
    },
    pattern::pattern,
};

/// Maximum characters of the task behind a decision.
const TASK: usize = 100;
/// Maximum characters of a question.
const QUESTION: usize = 200;
/// Answers without meaning of their own.
const GENERIC: &[&str] = &[
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

pub(super) fn read(draft: &mut Draft<'_>) {
    for record in draft.episode.summary.key_decisions.iter().flatten() {
        decided(draft, record);
    }
    let evidence = draft.evidence;
    for commit in &evidence.commits {
        let at = commit.at.unwrap_or_else(|| draft.moments.at(commit.origin));
        mark_replaced(draft, &commit.subject, at);
    }
}

/// Marks the thing that a text says is replaced by another one.
fn mark_replaced(draft: &mut Draft<'_>, told: &str, at: Timestamp) {
    let Some((old, new)) = replaced(told) else { return };
    let named = text::words(&format!("{old} {new} replace replaced switch switched migrate"));
    let about = text::words(told).into_iter().filter(|word| !named.contains(word));
    let about = about.map(|word| fingerprint(&word)).collect();
    let subject = draft.subject("option", &format!("\n{}", option(old)));
    draft.mark(subject, at, Observation::PassedOver(about));
}

/// Returns what is replaced and what takes its place.
fn replaced(told: &str) -> Option<(&str, &str)> {
    let by = pattern!(
        r"(?i)\b(?:replac(?:e|ed|es|ing) (.{2,40}?) (?:with|by)|(?:switch|migrat|mov)(?:e|ed|es|ing|ched|ches)? from (.{2,40}?) to) (.{2,40}?)(?: (?:in|for|and|because|so|as|on)\b|[.,;(]|$)"
    );
    if let Some(parts) = by.captures(told) {
        let old = parts.get(1).or(parts.get(2))?;
        return Some((old.as_str(), parts.get(3)?.as_str()));
    }
    let instead = pattern!(
        r"(?i)\b(?:use[ds]?|using|with|to) (.{2,40}?) (?:instead of|rather than) (.{2,40}?)(?: (?:in|for|and|because|so|as|on)\b|[.,;(]|$)"
    );
    let parts = instead.captures(told)?;
    Some((parts.get(2)?.as_str(), parts.get(1)?.as_str()))
}

fn decided(draft: &mut Draft<'_>, record: &DecisionRecord) {
    let question = question(draft, record);
    let found = draft.places.of(&record.decision);
    let origin = question.map(|choice| choice.origin).or(found.map(|found| found.origin));
    let certainty = match record.rationale.as_str() {
        REFUSED if draft.is_evidence() => Certainty::Refuted,
        rationale
            if draft.is_evidence()
                && (rationale.contains(BY_THE_USER) || rationale.starts_with(USER_SAID)) =>
        {
            Certainty::Verified
        }
        _ => draft.certainty(found),
    };
    if question.is_none() && phrasing::points_back(what(record)) {
        return;
    }
    let is_reasoned = record.rationale != NO_REASON && !record.rationale.is_empty();
    let is_chosen =
        certainty != Certainty::Hypothesis || is_reasoned && worth::is_choice(what(record));
    let is_worth =
        !draft.is_evidence() || is_chosen && worth::is_decision(record, what(record), question);
    let origins: Vec<_> = origin.into_iter().collect();
    let at = draft.moments.of(&origins);
    let (name, asked) = (what(record), question.map(|choice| choice.question.as_str()));
    let name = match asked {
        // `Both` is meaningful only with its question.
        Some(asked) => format!("{name} — {}", text::cut(asked, 100)),
        None => name.to_owned(),
    };
    let source = draft.mention(EntityKind::Decision, &text::plain(&name), &name);
    let options = DecisionOptions::of(draft, record, asked);
    let mut watches = options.watches();
    if let Some(asked) = question {
        watches.extend(settled(draft, asked, at));
        watches.extend(replaceable(draft, record, asked));
    }
    mark_replaced(draft, &record.decision, at);
    if certainty != Certainty::Refuted {
        options.mark(draft, at);
    }
    if !is_worth {
        return;
    }
    draft.claim(
        Relation::Decided,
        (source, draft.project),
        ClaimDraft {
            sentence: in_context(draft, sentence(record, question, certainty), record, question),
            certainty: Some(certainty),
            at: Some(at),
            origins,
            watches,
            others: vec![draft.task],
            details: details(record),
            ..ClaimDraft::default()
        },
    );
}

/// Marks the answer to a question. Another answer to the same question ends the decision.
fn settled(draft: &mut Draft<'_>, asked: &Choice, at: Timestamp) -> Option<Watch> {
    let question = text::plain(&asked.question);
    let answer = fingerprint(&text::plain(&asked.answer));
    if question.is_empty() {
        return None;
    }
    let subject = draft.subject("question", &question);
    draft.mark(subject, at, Observation::Value(answer));
    Some(Watch { subject, stance: Stance::Value(answer) })
}

/// An answer ends, too, when a later decision or commit says that something took its place.
fn replaceable(draft: &Draft<'_>, record: &DecisionRecord, asked: &Choice) -> Option<Watch> {
    let option = option(label(&record.decision));
    if option.is_empty() || GENERIC.contains(&option.as_str()) {
        return None;
    }
    let named = text::words(&option);
    let about = text::words(&asked.question).into_iter().filter(|word| !named.contains(word));
    let subject = draft.subject("option", &format!("\n{option}"));
    Some(Watch { subject, stance: Stance::Chosen(about.map(|word| fingerprint(&word)).collect()) })
}

/// Returns the decision with its subject first: `Windows build: skip`.
fn sentence(record: &DecisionRecord, asked: Option<&Choice>, certainty: Certainty) -> String {
    let stripped = phrasing::alone(what(record));
    let decision = label(stripped.as_deref().map_or(what(record), text::part));
    let plain = text::plain(decision);
    let others: Vec<&str> = record
        .alternatives
        .iter()
        .flatten()
        .map(|other| label(text::part(other)))
        .filter(|other| !plain.contains(&text::plain(other)) && !leaves_open(other))
        .collect();
    let question = asked.map(|asked| text::cut(own_question(&asked.question), QUESTION));
    let question = question.as_deref().unwrap_or_default();
    // A header repeats its question, or tells what the question leaves out.
    let header = asked.and_then(|asked| asked.header.as_deref()).map(str::trim);
    let header =
        header.filter(|header| text::share(&text::words(header), &text::words(question)) < 1.0);
    let subject: Vec<&str> = [header.unwrap_or_default(), question]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let mut sentence = match subject[..] {
        [] => decision.to_owned(),
        _ => format!("{} {decision}", with_colon(&subject.join(": "))),
    };
    if record.decision.starts_with(PLAN) {
        sentence.push_str(" (accepted plan)");
    }
    if certainty == Certainty::Refuted {
        sentence.push_str(" — decided against");
    }
    if !others.is_empty() {
        let others = others.join("; ");
        let all = takes_all(decision);
        let told = if all { format!(" ({others})") } else { format!(" — over {others}") };
        sentence.push_str(&told);
    }
    let mut sentence = text::sentence(&sentence);
    let mut rationale = record.rationale.as_str();
    if !question.is_empty() {
        // The sentence begins with the question and its header.
        rationale = rationale.split("; asked: ").next().unwrap_or(rationale);
        rationale = if rationale.starts_with(CHOSEN) { CHOSEN } else { rationale };
    }
    if rationale != NO_REASON && rationale != USER_SAID && !rationale.is_empty() {
        let is_open = rationale.matches('(').count() > rationale.matches(')').count();
        let end = if is_open { ")" } else { "" };
        sentence.push_str(&format!(" Why: {}", text::sentence(&format!("{rationale}{end}"))));
    }
    sentence
}

/// Adds the task of the session where the words alone do not name their subject: answers, and what
/// the user said.
fn in_context(
    draft: &Draft<'_>,
    mut sentence: String,
    record: &DecisionRecord,
    asked: Option<&Choice>,
) -> String {
    let is_spoken = asked.is_some() || record.decision.starts_with("User: ");
    let told = text::words(&sentence);
    let task = task(draft, &told);
    let about = text::words(&task);
    if is_spoken && !about.is_empty() && text::share(&about, &told) < 0.5 {
        sentence.push_str(&format!("{}{task}”.)", standing::DECIDED_FOR));
    }
    sentence
}

/// Returns what the session was asked for, or its name where that says more about the words.
fn task(draft: &Draft<'_>, told: &BTreeSet<String>) -> String {
    let objective = draft.episode.summary.objective.as_str();
    let ends = [" (began with", " (asked:", " (after `", " (by `", ". ", "? "];
    let ends = ends.into_iter().filter_map(|end| objective.find(end));
    let first = text::part(&objective[..ends.min().unwrap_or(objective.len())]);
    let name = draft.task_name();
    let is_routine = pattern!(r"(?i)\b(?:commit|push|rebase|pull request|pr)\b").is_match(first);
    let of_name = text::share(&text::words(&name), told);
    let is_named = of_name > text::share(&text::words(first), told);
    if is_routine || is_named || text::words(first).len() < 4 {
        return name;
    }
    text::cut(first, TASK)
}

/// Returns an option without its letter: `Option B: Panel`.
fn label(option: &str) -> &str {
    let letter = pattern!(r"^(?:Option|Approach|Choice) [A-Z0-9]{1,2}(?:[:.)]| [-–—]) ?");
    letter.find(option).map_or(option, |found| &option[found.end()..])
}

/// Whether an option leaves the choice to the agent, or for later.
fn leaves_open(option: &str) -> bool {
    pattern!(r"(?i)^(?:you decide|let (?:me|claude)\b|other\b|something else|not sure|chat about|type something|skip\b|cancel\b|none\b)")
        .is_match(option)
}

/// Whether an answer takes all of the options.
fn takes_all(answer: &str) -> bool {
    pattern!(r"(?i)^(?:both|all)\b|\b(?:mix of )?both$").is_match(answer)
}

fn with_colon(subject: &str) -> String {
    let is_ended = subject.ends_with(['?', '？', ':', '.']);
    if is_ended { subject.to_owned() } else { format!("{subject}:") }
}

/// Returns a question without what only introduces it, such as `Next question:`.
fn own_question(question: &str) -> &str {
    let opener = pattern!(
        r"(?i)^(?:the )?(?:next|last|first|second|final|another|one more) question\b[^:?]{0,60}:\s*"
    );
    let question = question.trim();
    let question = opener.find(question).map_or(question, |found| &question[found.end()..]);
    // What follows explains it.
    let end = question.find(['?', '？']).map(|at| question.ceil_char_boundary(at + 1));
    end.map_or(question, |end| &question[..end])
}

/// Returns the decision without the mark of a plan.
fn what(record: &DecisionRecord) -> &str {
    let decision = text::part(&record.decision);
    let plain = decision.strip_prefix(PLAN).or_else(|| decision.strip_prefix(NOT_AS_PLANNED));
    plain.unwrap_or(decision)
}

fn details(record: &DecisionRecord) -> Vec<(String, String)> {
    let mut details = vec![(standing::DECISION.to_owned(), record.decision.clone())];
    if record.rationale != NO_REASON {
        details.push(("rationale".to_owned(), record.rationale.clone()));
    }
    if let Some(others) = &record.alternatives {
        details.push(("alternatives".to_owned(), others.join("; ")));
    }
    details
}

/// The chosen and the rejected options of a decision: a later opposite decision ends it.
struct DecisionOptions {
    chosen: Vec<Subject>,
    passed_over: Vec<Subject>,
    /// Fingerprints of the words that describe the subject.
    about: Vec<u64>,
}

impl DecisionOptions {
    fn of(draft: &Draft<'_>, record: &DecisionRecord, asked: Option<&str>) -> DecisionOptions {
        // An answer depends on its question.
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

    fn watches(&self) -> Vec<Watch> {
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

    fn mark(&self, draft: &mut Draft<'_>, at: Timestamp) {
        for subject in &self.chosen {
            draft.mark(*subject, at, Observation::Chosen(self.about.clone()));
        }
        for subject in &self.passed_over {
            draft.mark(*subject, at, Observation::PassedOver(self.about.clone()));
        }
    }
}

/// Returns the user's question that a decision answers.
fn question<'e>(draft: &Draft<'e>, record: &DecisionRecord) -> Option<&'e Choice> {
    let decision = text::plain(&record.decision);
    let mut choices = draft.evidence.choices.iter();
    choices.rfind(|choice| {
        let answer = text::plain(&choice.answer);
        !choice.alternatives.is_empty() && answer.starts_with(&decision)
    })
}

/// Returns the option that a decision names: `RS256` in `Used RS256 over HS256 for tokens`.
fn chosen(decision: &str) -> &str {
    let choice = pattern!(
        r"(?i)^(?:(?:to )?(?:chose|choose|picked|pick|preferred|prefer|used|use|using|kept|keep|went with|go with|opted for|opt for|adopted|adopt|selected|select|switched (?:back )?to|switch (?:back )?to|moved to|move to|reverted to|stay with|stayed with) (?:to use )?(?:the |a |an )?)?(.{2,60}?)(?: (?:over|instead of|rather than|for|in|as|because|since|so that|to|with|on|when|and|not)\b.*|[,;(].*)?$"
    );
    let parts = choice.captures(decision);
    parts.and_then(|parts| parts.get(1)).map_or(decision, |choice| choice.as_str())
}

fn option(text: &str) -> String {
    text::plain(chosen(text::part(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_is_known_by_the_words_around_it() {
        for (told, wanted) in [
            ("Replace PnP Modal SDK with MPC Core Kit", Some(("PnP Modal SDK", "MPC Core Kit"))),
            ("feat: switch from RS256 to HS256 for tokens", Some(("RS256", "HS256"))),
            ("Use pnpm instead of npm", Some(("npm", "pnpm"))),
            ("Replace the parser", None),
            ("Move the parser to another file", None),
        ] {
            assert_eq!(replaced(told), wanted, "{told}");
        }
    }

    #[test]
    fn what_was_chosen_is_found_in_the_decision() {
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
