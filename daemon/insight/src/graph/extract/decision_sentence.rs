//! Describes a decision in a sentence for a reader who does not know its session: the subject
//! first, then the choice, its reason, and what the user added.

use std::cmp::Reverse;

use super::{
    context, draft::Draft, fact_selection, phrasing, questions, reference, surroundings, user_words,
};
use crate::{
    graph::text,
    model::{
        evidence::Choice,
        graph::Certainty,
        summary::DecisionRecord,
        transcript::Origin,
        wording::{BY_THE_USER, CHOSEN, NO_REASON, PLAN, USERS_WORDS},
    },
    pattern::pattern,
};

/// Maximum length, in characters, of the explanation of an option.
const MAX_EXPLANATION_CHARS: usize = 240;
/// The approach of a plan repeats the title if it contains at least this share of the title's
/// words.
const REPEATED_SHARE: f64 = 0.75;
/// An explanation mentions the other options if it contains at least this share of their words.
const NAMED_SHARE: f64 = 0.5;
/// Maximum number of files that are added to an unclear title of a plan.
const MAX_PLAN_FILES: usize = 2;

/// A decision with what a reader needs to understand it.
pub(super) struct AskedDecision<'d> {
    record: &'d DecisionRecord,
    /// The question that the decision answers.
    asked: Option<&'d Choice>,
    /// What is decided; empty if it is not known.
    subject: String,
    /// The position of the decision.
    line: Option<Origin>,
}

impl<'d> AskedDecision<'d> {
    pub(super) fn of(
        draft: &Draft<'_>,
        record: &'d DecisionRecord,
        asked: Option<&'d Choice>,
        line: Option<Origin>,
    ) -> AskedDecision<'d> {
        let subject = match asked {
            Some(asked) => match questions::subject(asked) {
                general if general.is_empty() => {
                    questions::above_options(draft, asked).unwrap_or_default()
                }
                subject => subject,
            },
            None => plan_subject(draft, record, line),
        };
        AskedDecision { record, asked, subject, line }
    }

    /// Returns the decision as a sentence; see [`self_contained`].
    pub(super) fn sentence(&self, draft: &Draft<'_>, certainty: Certainty) -> Option<String> {
        self_contained(draft, sentence(self, certainty), self)
    }
}

/// Returns the decision with its subject first, for example `Windows build: skip`.
fn sentence(decision: &AskedDecision<'_>, certainty: Certainty) -> String {
    let AskedDecision { record, asked, subject, .. } = decision;
    let preset = pattern!(r"(?i) ?\((?:recommended|default)\)");
    let stripped = phrasing::self_contained(&preset.replace_all(without_plan_prefix(record), ""));
    let decision =
        label(stripped.as_deref().map_or(without_plan_prefix(record), text::without_full_stop));
    let plain = text::plain(decision);
    let others: Vec<&str> = record
        .alternatives
        .iter()
        .flatten()
        .map(|other| label(text::without_full_stop(other)))
        .filter(|other| !plain.contains(&text::plain(other)) && !leaves_open(other))
        .collect();
    // The parts of an answer in which the user is not sure are not decisions.
    let quote = decision.strip_prefix("User: ").map(fact_selection::unhedged);
    let stated = quote.map(|quote| format!("User: \"{}\"", quote.trim_matches('"')));
    let stated = stated.as_deref().unwrap_or(decision);
    let mut sentence = match subject.as_str() {
        "" => stated.to_owned(),
        subject => format!("{} {stated}", with_colon(subject)),
    };
    let (explanation, rationale) = reason(record, *asked);
    if let Some(explanation) = explanation {
        let explanation = text::cut(text::without_full_stop(explanation), MAX_EXPLANATION_CHARS);
        sentence.push_str(&format!(" ({explanation})"));
    }
    if record.decision.starts_with(PLAN) {
        sentence.push_str(" (accepted plan)");
    }
    if certainty == Certainty::Refuted {
        sentence.push_str(" — decided against");
    }
    if !others.is_empty() {
        let others = others.join("; ");
        let explanation_has_them = explanation.is_some_and(|explanation| {
            let named = text::words(explanation);
            text::share(&text::words(&others), &named) >= NAMED_SHARE
        });
        match takes_all(decision) {
            true if explanation_has_them => {}
            true => sentence.push_str(&format!(" ({others})")),
            false => sentence.push_str(&format!(" — over {others}")),
        }
    }
    let mut sentence = text::sentence(&sentence);
    if let Some(reason) = shown_reason(rationale) {
        sentence.push_str(&format!(" {reason}"));
    }
    sentence
}

/// Formats the reason of a decision. Who decided, and what the user reacted to, are no reasons.
fn shown_reason(rationale: &str) -> Option<String> {
    if rationale == NO_REASON || rationale == USERS_WORDS || rationale.is_empty() {
        return None;
    }
    let is_open = rationale.matches('(').count() > rationale.matches(')').count();
    let end = if is_open { ")" } else { "" };
    if let Some(what) = rationale.strip_prefix(USERS_WORDS).and_then(|rest| rest.strip_prefix(", "))
    {
        return Some(format!("({what}{end})"));
    }
    let label = if rationale.ends_with(BY_THE_USER) { "" } else { "Why: " };
    Some(format!("{label}{}", text::sentence(&format!("{rationale}{end}"))))
}

/// Returns the explanation of the chosen option, and the reason without what the sentence already
/// contains: the question, this explanation, the title of the plan, and the words of the user.
fn reason<'r>(record: &'r DecisionRecord, asked: Option<&'r Choice>) -> (Option<&'r str>, &'r str) {
    let rationale = record.rationale.as_str();
    let Some(asked) = asked else {
        let plan = plan_title(record).map(|_| "Plan accepted by the user");
        return (None, plan.unwrap_or(rationale));
    };
    let chosen = pattern!(r"^(?:(.+) \()?Chosen by the user\b").captures(rationale);
    if let Some(chosen) = chosen {
        let detail = chosen.get(1).map(|detail| detail.as_str());
        return (asked.explanation.as_deref().or(detail), CHOSEN);
    }
    let rationale = rationale.split("; asked: ").next().unwrap_or(rationale);
    let rationale = if rationale.starts_with(USERS_WORDS) { USERS_WORDS } else { rationale };
    (asked.explanation.as_deref(), rationale)
}

/// Returns the title of the accepted plan whose approach is the decision, unless the approach
/// repeats the title.
fn plan_title(record: &DecisionRecord) -> Option<&str> {
    let plan = record.rationale.strip_prefix(PLAN)?;
    let title = plan.strip_suffix(BY_THE_USER)?.strip_suffix(", accepted ")?;
    let share = text::share(&text::words(title), &text::words(&record.decision));
    (share < REPEATED_SHARE).then_some(title)
}

/// Returns the title of an accepted plan; empty if [`plan_title`] returns `None`. Adds the files
/// that the session changed most after `line` to a title such as `Refactoring plan`.
fn plan_subject(draft: &Draft<'_>, record: &DecisionRecord, line: Option<Origin>) -> String {
    let Some(title) = plan_title(record) else { return String::new() };
    let general = pattern!(
        r"(?i)^(?:(?:the|my|our|a|proposed|revised|updated|final|detailed|new) )*(?:[a-z]+(?:ing|ion|ment|up) |fix |work |code |test )*(?:plan|proposal|design|approach|strategy|changes|steps)\W*$"
    );
    let Some(line) = line.filter(|_| general.is_match(title)) else { return title.to_owned() };
    let changed = draft.evidence.changed_files();
    let mut files: Vec<_> = changed.filter(|(_, work)| work.last.follows(line)).collect();
    files.sort_by_key(|(_, work)| Reverse(work.edits + work.writes));
    let project = &draft.episode.project;
    let files: Vec<String> = files
        .into_iter()
        .take(MAX_PLAN_FILES)
        .map(|(path, _)| format!("`{}`", project.relative(path)))
        .collect();
    if files.is_empty() { title.to_owned() } else { format!("{title} of {}", files.join(", ")) }
}

/// Returns the sentence with what a reader needs to understand it: what the user added to an
/// option, and the first of these texts that exists:
/// - the text to which a short sentence of the user refers
/// - another sentence about the subject
/// - the task of the session
///
/// A decision that a model wrote is not changed, unless it answers a question or quotes the user.
/// Returns `None` if the subject is not known and the decision contains no name, in two cases: the
/// user chose an option, or none of these texts exists. A decision of the agent with a reason or a
/// rejected alternative needs none of these texts.
fn self_contained(
    draft: &Draft<'_>,
    mut sentence: String,
    decision: &AskedDecision<'_>,
) -> Option<String> {
    let AskedDecision { record, asked, subject, line } = decision;
    if let Some(added) = asked.and_then(|asked| user_words::addition_to_option(draft, asked)) {
        sentence.push_str(&added);
    }
    let quote = without_plan_prefix(record).strip_prefix("User: ");
    let is_spoken = asked.is_some() || quote.is_some();
    if !is_spoken && !draft.is_from_evidence() {
        return Some(sentence);
    }
    let is_named = fact_selection::names_something(without_plan_prefix(record));
    if asked.is_some_and(|asked| !asked.typed) && subject.is_empty() && !is_named {
        return None;
    }
    let quote = quote.filter(|_| asked.is_none()).zip(*line);
    let object = quote.and_then(|(quote, line)| {
        let object = || user_words::referent_of(draft, quote, line);
        let before = || user_words::sentences_before(draft, quote, line);
        let named = if is_named { None } else { object() };
        named.or_else(|| if user_words::is_vague(quote) { before() } else { None })
    });
    if let Some(object) = object {
        return Some(format!("{sentence} ({object})"));
    }
    if let Some(line) = line.filter(|_| reference::has_bare_subject(without_plan_prefix(record)))
        && let Some(about) = surroundings::sentence_about(draft, without_plan_prefix(record), line)
    {
        return Some(format!("{sentence} ({about})"));
    }
    let is_clear = !subject.is_empty() || is_named || !is_spoken && is_reasoned(record);
    context::with_task(draft, &sentence, *line).or(is_clear.then_some(sentence))
}

/// Whether a decision of the agent has a reason or a rejected alternative.
fn is_reasoned(record: &DecisionRecord) -> bool {
    let has_others = record.alternatives.as_ref().is_some_and(|others| !others.is_empty());
    let reason = record.rationale.as_str();
    has_others || !reason.contains(BY_THE_USER) && shown_reason(reason).is_some()
}

/// Returns an option without its label, for example `Panel` for `Option B: Panel`.
pub(super) fn label(option: &str) -> &str {
    let letter = pattern!(r"^(?:Option|Approach|Choice) [A-Z0-9]{1,2}(?:[:.)]| [-–—]) ?");
    letter.find(option).map_or(option, |found| &option[found.end()..])
}

/// Whether an option leaves the choice to the agent, or chooses nothing, for example `you decide`
/// or `skip`.
fn leaves_open(option: &str) -> bool {
    pattern!(r"(?i)^(?:you decide|let (?:me|claude)\b|other\b|something else|not sure|chat about|type something|skip\b|cancel\b|none\b)")
        .is_match(option)
}

/// Whether an answer chooses all options.
fn takes_all(answer: &str) -> bool {
    pattern!(r"(?i)^(?:both|all)\b|\b(?:mix of )?both$").is_match(answer)
}

fn with_colon(subject: &str) -> String {
    let is_ended = subject.ends_with(['?', '？', ':', '.']);
    if is_ended { subject.to_owned() } else { format!("{subject}:") }
}

/// Returns the decision without the prefix of a plan.
pub(super) fn without_plan_prefix(record: &DecisionRecord) -> &str {
    let decision = text::without_full_stop(&record.decision);
    decision.strip_prefix(PLAN).unwrap_or(decision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_reacted_to_is_no_reason() {
        for (rationale, wanted) in [
            (
                "The user's words, after: The limit is 50.",
                "User: \"keep it\". (after: The limit is 50.)",
            ),
            ("The user's words", "User: \"keep it\"."),
            ("It is smaller", "User: \"keep it\". Why: It is smaller."),
        ] {
            let record = DecisionRecord {
                decision: "User: \"keep it\"".to_owned(),
                rationale: rationale.to_owned(),
                alternatives: None,
            };
            let decision =
                AskedDecision { record: &record, asked: None, subject: String::new(), line: None };
            assert_eq!(sentence(&decision, Certainty::Verified), wanted);
        }
    }
}
