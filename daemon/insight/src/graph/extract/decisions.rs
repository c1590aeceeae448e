//! Extracts decisions and the rejected alternatives.

use super::{
    decision_options::{self, DecisionOptions},
    decision_sentence::{AskedDecision, label, without_plan_prefix},
    draft::{ClaimDraft, Draft},
    fact_selection,
    locate::{self, SentenceSource, Speaker},
    obsolete, progress, reference, reversal,
};
use crate::{
    graph::{statement_states, text},
    model::{
        Timestamp,
        evidence::Choice,
        graph::{
            Certainty, EntityKind, Observation, Relation, Stance, Subject, Watch, fingerprint,
        },
        summary::DecisionRecord,
        transcript::Origin,
        wording::{BY_THE_USER, DROPPED, NO_REASON, PLAN, USERS_WORDS},
    },
    pattern::pattern,
};

/// A record of the summary belongs to a question or an answer that contains at least this share of
/// the record's words.
const SAME_TEXT_SHARE: f64 = 0.8;
/// A commit carries out a plan if the plan contains at least this share of the words of the
/// commit's subject.
const PLANNED_SHARE: f64 = 0.5;

pub(super) fn read(draft: &mut Draft<'_>) {
    for record in draft.episode.summary.key_decisions.iter().flatten() {
        decided(draft, record);
    }
    let evidence = draft.evidence;
    let commits = evidence.commits.iter();
    for commit in commits.filter(|commit| !progress::is_revert(&commit.subject)) {
        let at = commit.at.unwrap_or_else(|| draft.moments.at(commit.origin));
        decision_options::mark_replaced(draft, &commit.subject, at);
    }
}

fn decided(draft: &mut Draft<'_>, shown: &DecisionRecord) {
    let record = &without_header(draft, shown);
    let question = question(draft, record);
    let found = quoted(draft, record).or_else(|| draft.sentence_index.of(&record.decision));
    let answer = question.or_else(|| answer(draft, record));
    let origin = answer.map(|choice| choice.origin).or(found.map(|found| found.origin));
    let certainty = certainty(draft, record, found);
    if question.is_none() && reference::points_back(without_plan_prefix(record)) {
        return;
    }
    let is_worth_a_fact = !draft.is_from_evidence()
        || is_chosen(record, certainty)
            && fact_selection::is_decision(record, label(without_plan_prefix(record)), question)
            && !is_carried_out(draft, record, origin)
            && !is_retracted(draft, record, certainty, origin);
    let origins: Vec<_> = origin.into_iter().collect();
    let at = draft.moments.of(&origins);
    let (name, asked) =
        (without_plan_prefix(record), question.map(|choice| choice.question.as_str()));
    let name = match asked {
        // `Both` is meaningful only with its question.
        Some(asked) => format!("{name} — {}", text::cut(asked, 100)),
        None => name.to_owned(),
    };
    let source = draft.mention(EntityKind::Decision, &text::plain(&name), &name);
    let options = DecisionOptions::of(draft, record, asked);
    let mut watches = options.watches();
    if let Some(asked) = question {
        watches.extend(mark_answer(draft, asked, at));
        watches.extend(mark_options(draft, asked, at));
        watches.extend(replaceable(draft, record, asked));
    }
    decision_options::mark_replaced(draft, &record.decision, at);
    if certainty != Certainty::Refuted {
        options.mark(draft, at);
    }
    if !is_worth_a_fact {
        return;
    }
    let asked = AskedDecision::of(draft, record, question, origin);
    let Some(sentence) = asked.sentence(draft, certainty) else { return };
    watches.extend(origin.and_then(|line| reversal::watch(draft, record, question, line)));
    draft.claim(
        Relation::Decided,
        source,
        draft.project,
        ClaimDraft {
            sentence,
            certainty: Some(certainty),
            at: Some(at),
            origins,
            watches,
            others: vec![draft.task],
            details: details(shown),
            ..ClaimDraft::default()
        },
    );
}

/// Returns a decision without the header of its question, which the summary puts before the chosen
/// option. The header is a part of the subject of the fact.
fn without_header(draft: &Draft<'_>, shown: &DecisionRecord) -> DecisionRecord {
    let mut choices = draft.evidence.choices.iter();
    let option = choices.find_map(|choice| {
        let header = format!("{}: ", choice.header.as_deref()?.trim());
        let option = shown.decision.strip_prefix(header.as_str())?;
        text::plain(&choice.answer).starts_with(&text::plain(option)).then_some(option)
    });
    DecisionRecord { decision: option.unwrap_or(&shown.decision).to_owned(), ..shown.clone() }
}

fn certainty(
    draft: &Draft<'_>,
    record: &DecisionRecord,
    found: Option<SentenceSource>,
) -> Certainty {
    match record.rationale.as_str() {
        rationale
            if draft.is_from_evidence()
                && !is_unsure(&record.decision)
                && (rationale.contains(BY_THE_USER) || rationale.starts_with(USERS_WORDS)) =>
        {
            Certainty::Verified
        }
        _ if is_unsure(&record.decision) => Certainty::Hypothesis,
        _ => draft.certainty(found),
    }
}

/// Whether a decision is certain, or is a choice with a reason.
fn is_chosen(record: &DecisionRecord, certainty: Certainty) -> bool {
    let is_reasoned = record.rationale != NO_REASON && !record.rationale.is_empty();
    certainty != Certainty::Hypothesis
        || is_reasoned && fact_selection::is_choice(without_plan_prefix(record))
}

/// Whether the agent retracted a decision later. The agent cannot retract a decision of the user.
fn is_retracted(
    draft: &Draft<'_>,
    record: &DecisionRecord,
    certainty: Certainty,
    line: Option<Origin>,
) -> bool {
    certainty == Certainty::Hypothesis
        && line.is_some_and(|line| obsolete::is_retracted(draft, line, without_plan_prefix(record)))
}

/// Whether a decision is an accepted plan that a later commit carries out. Such a plan adds nothing
/// to the commit, unless the plan prefers one alternative to another.
fn is_carried_out(draft: &Draft<'_>, record: &DecisionRecord, line: Option<Origin>) -> bool {
    let is_plan = [&record.decision, &record.rationale].iter().any(|text| text.starts_with(PLAN));
    let prefers = pattern!(
        r"(?i)\b(?:instead of|rather than|no longer)\b|\bstatt\b|\ben (?:lugar|vez) de\b|\bau lieu de\b|而不是|代わりに"
    );
    let plan = text::words(&format!("{} {}", record.decision, record.rationale));
    let mut commits = draft.evidence.commits.iter();
    is_plan
        && !prefers.is_match(&record.decision)
        && line.is_some_and(|line| {
            commits.any(|commit| {
                commit.origin.follows(line)
                    && text::share(&text::words(&commit.subject), &plan) >= PLANNED_SHARE
            })
        })
}

/// Whether a decision is a quote of the user that begins with a doubt: `User: "I think we want …"`.
/// Also considers the quote as facts show it, without its hedged sentences.
fn is_unsure(decision: &str) -> bool {
    let doubt = pattern!(
        r"(?i)^(?:i (?:think|guess|suppose)|maybe|perhaps|probably|not sure|i don['\u{2019}]?t know)\b"
    );
    decision.strip_prefix("User: ").is_some_and(|quote| {
        let shown = fact_selection::unhedged(quote);
        [quote, &shown].iter().any(|quote| doubt.is_match(quote.trim_start_matches(['"', ' '])))
    })
}

/// Marks the answer to a question, and returns the watch by which another answer to the same
/// question ends the decision.
fn mark_answer(draft: &mut Draft<'_>, asked: &Choice, at: Timestamp) -> Option<Watch> {
    let question = text::plain(&asked.question);
    let answer = fingerprint(&text::plain(&asked.answer));
    if question.is_empty() {
        return None;
    }
    let subject = draft.subject("question", &question);
    draft.mark(subject, at, Observation::Value(answer));
    Some(Watch { subject, stance: Stance::Value(answer) })
}

/// Marks the options of a question. The subject of each mark is the header of the dialogue together
/// with the option. The returned watches end the decision if a later question with the same header,
/// but possibly with another text, decides one of these options differently.
fn mark_options(draft: &mut Draft<'_>, asked: &Choice, at: Timestamp) -> Vec<Watch> {
    let header = text::plain(asked.header.as_deref().unwrap_or_default());
    if header.is_empty() || asked.typed {
        return Vec::new();
    }
    let subject = |text: &str| {
        let option = decision_options::option(label(text));
        let is_one = option.len() >= 2 && !decision_options::GENERIC.contains(&option.as_str());
        is_one.then(|| draft.subject("option", &format!("header {header}\n{option}")))
    };
    let chosen: Vec<Subject> = subject(&asked.answer).into_iter().collect();
    let others: Vec<Subject> = asked.alternatives.iter().filter_map(|one| subject(one)).collect();
    for subject in &chosen {
        draft.mark(*subject, at, Observation::Chosen(Vec::new()));
    }
    for subject in &others {
        draft.mark(*subject, at, Observation::PassedOver(Vec::new()));
    }
    let chosen = chosen.into_iter().map(|subject| (subject, Stance::Chosen(Vec::new())));
    let others = others.into_iter().map(|subject| (subject, Stance::PassedOver(Vec::new())));
    chosen.chain(others).map(|(subject, stance)| Watch { subject, stance }).collect()
}

/// Returns the watch that ends an answer when a later decision or commit replaces the chosen
/// option.
fn replaceable(draft: &Draft<'_>, record: &DecisionRecord, asked: &Choice) -> Option<Watch> {
    let option = decision_options::option(label(&record.decision));
    if option.is_empty() || decision_options::GENERIC.contains(&option.as_str()) {
        return None;
    }
    let named = text::words(&option);
    let about = text::words(&asked.question).into_iter().filter(|word| !named.contains(word));
    let subject = draft.subject("option", &format!("\n{option}"));
    Some(Watch { subject, stance: Stance::Chosen(about.map(|word| fingerprint(&word)).collect()) })
}

fn details(record: &DecisionRecord) -> Vec<(String, String)> {
    let mut details = vec![(statement_states::DECISION.to_owned(), record.decision.clone())];
    if record.rationale != NO_REASON {
        details.push(("rationale".to_owned(), record.rationale.clone()));
    }
    if let Some(others) = &record.alternatives {
        details.push(("alternatives".to_owned(), others.join("; ")));
    }
    details
}

/// Returns the user's answer, or the accepted plan, whose words a decision without a question
/// repeats. This answer is the source of the decision, and not the report that offered the
/// options.
fn answer<'e>(draft: &Draft<'e>, record: &DecisionRecord) -> Option<&'e Choice> {
    if !record.rationale.contains(BY_THE_USER) {
        return None;
    }
    let decision = text::words(&record.decision);
    let repeats = |other: &str| text::share(&decision, &text::words(other)) >= SAME_TEXT_SHARE;
    let is_source = |choice: &&Choice| match choice.approach.as_ref().or(choice.background.as_ref())
    {
        _ if choice.answer != "accepted" => repeats(&choice.answer),
        Some(approach) => repeats(approach) || repeats(&choice.question),
        None => repeats(&choice.question),
    };
    draft.evidence.choices.iter().rfind(is_source)
}

/// Returns the position of the prompt that a record quotes, or of the prompt that drops an earlier
/// request. A search by words could find another message that shares more words with the quote.
fn quoted(draft: &Draft<'_>, record: &DecisionRecord) -> Option<SentenceSource> {
    let mut prompts = draft.evidence.prompts.iter();
    let prompt = if record.decision.starts_with(DROPPED) {
        let drops = pattern!(r"(?i)\b(?:never ?mind|forget (?:it|that|about it))\b");
        prompts.rfind(|prompt| drops.is_match(&prompt.text))
    } else {
        let quote = record.decision.strip_prefix("User: ")?;
        let pieces: Vec<String> = quote.split(" … ").map(text::plain).collect();
        prompts.rfind(|prompt| {
            let plain_prompt = text::plain(&prompt.text);
            !locate::is_compaction(&prompt.text)
                && pieces.iter().all(|piece| plain_prompt.contains(piece))
        })
    };
    Some(SentenceSource { origin: prompt?.origin, by: Speaker::User })
}

/// Returns the question to the user that a decision answers.
fn question<'e>(draft: &Draft<'e>, record: &DecisionRecord) -> Option<&'e Choice> {
    let asked = record.rationale.split_once("asked: ").map(|(_, asked)| text::words(asked));
    let decision = text::plain(&record.decision);
    let quote = record.decision.strip_prefix("User: ").map(text::words);
    let is_named = |choice: &Choice| {
        let words = text::words(&choice.question);
        asked.as_ref().is_some_and(|asked| text::share(asked, &words) >= SAME_TEXT_SHARE)
    };
    let is_answer = |choice: &&Choice| match &quote {
        Some(quote) => {
            choice.typed && text::share(quote, &text::words(&choice.answer)) >= SAME_TEXT_SHARE
        }
        // Without other options, many answers have the same words.
        None => {
            text::plain(&choice.answer).starts_with(&decision)
                && (!choice.alternatives.is_empty() || is_named(choice))
        }
    };
    let choices = draft.evidence.choices.iter();
    let answers: Vec<&Choice> = choices.filter(is_answer).collect();
    // Several questions may have the same answer.
    answers.iter().rfind(|choice| is_named(choice)).or(answers.last()).copied()
}
