//! Extracts decisions and the rejected alternatives.

use super::{
    context,
    draft::{ClaimDraft, Draft},
    overtaken, phrasing, reference, worth,
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
        transcript::Origin,
        wording::{BY_THE_USER, CHOSEN, NO_REASON, NOT_AS_PLANNED, PLAN, REFUSED, USER_SAID},
    },
    pattern::pattern,
};

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
    if question.is_none() && reference::points_back(what(record)) {
        return;
    }
    let is_reasoned = record.rationale != NO_REASON && !record.rationale.is_empty();
    let is_chosen =
        certainty != Certainty::Hypothesis || is_reasoned && worth::is_choice(what(record));
    // The user's word stands until another one.
    let is_taken_back = || {
        certainty == Certainty::Hypothesis
            && origin.is_some_and(|line| overtaken::is_taken_back(draft, line, what(record)))
    };
    let is_worth = !draft.is_evidence()
        || is_chosen
            && worth::is_decision(record, label(what(record)), question)
            && !is_taken_back();
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
    let sentence = sentence(record, question, certainty);
    let Some(sentence) = alone(draft, sentence, record, question, origin) else { return };
    draft.claim(
        Relation::Decided,
        (source, draft.project),
        ClaimDraft {
            sentence,
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
    let preset = pattern!(r"(?i) ?\((?:recommended|default)\)");
    let stripped = phrasing::alone(&preset.replace_all(what(record), ""));
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

/// Returns the sentence with what is needed to understand it: what the user added to an option, and
/// the task of the session. `None` where nothing says what it is about.
fn alone(
    draft: &Draft<'_>,
    mut sentence: String,
    record: &DecisionRecord,
    asked: Option<&Choice>,
    line: Option<Origin>,
) -> Option<String> {
    if let Some(added) = asked.and_then(|asked| added(draft, asked)) {
        sentence.push_str(&format!(" In the user's words: “{}”.", text::cut(added, QUESTION)));
    }
    let is_spoken = asked.is_some() || record.decision.starts_with("User: ");
    if !is_spoken && !draft.is_evidence() {
        return Some(sentence);
    }
    let is_named = asked.is_some() || worth::names_something(what(record));
    context::with_task(draft, &sentence, line).or(is_named.then_some(sentence))
}

/// Returns the prompt that chose an option and changed it: `B, but with the prompts`.
fn added<'e>(draft: &Draft<'e>, asked: &Choice) -> Option<&'e str> {
    let mut prompts = draft.evidence.prompts.iter();
    let prompt = prompts.find(|prompt| prompt.origin == asked.origin && !asked.typed)?;
    let changes = pattern!(
        r"(?i)\b(?:but|except|however|without|instead|only|plus|as well|also|aber|außer|ohne|nur|pero|excepto|sin|mais|sauf|sans)\b|但|不过|ただし|でも"
    );
    changes.is_match(&prompt.text).then_some(prompt.text.trim())
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
