//! Extracts decisions and the rejected alternatives.

use super::{
    context,
    decision_options::{self, DecisionOptions},
    draft::{ClaimDraft, Draft},
    locate::{self, SentenceSource, Speaker},
    overtaken, phrasing, questions, reference, worth,
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

/// Maximum length, in characters, of the quoted prompt with which the user chose an option.
const MAX_QUOTED_CHARS: usize = 300;
/// Minimum number of words of a prompt that says more than the choice.
const MIN_ADDED_WORDS: usize = 10;
/// Minimum share of common words by which a question or an answer is recognised as that of a
/// record.
const SAME_TEXT_SHARE: f64 = 0.8;
/// Maximum length, in characters, of the explanation of an option.
const MAX_EXPLANATION_CHARS: usize = 240;
/// Minimum share of the words of a plan's title by which its approach repeats the title.
const REPEATED_SHARE: f64 = 0.75;

pub(super) fn read(draft: &mut Draft<'_>) {
    for record in draft.episode.summary.key_decisions.iter().flatten() {
        decided(draft, record);
    }
    let evidence = draft.evidence;
    for commit in &evidence.commits {
        let at = commit.at.unwrap_or_else(|| draft.moments.at(commit.origin));
        decision_options::mark_replaced(draft, &commit.subject, at);
    }
}

fn decided(draft: &mut Draft<'_>, record: &DecisionRecord) {
    let question = question(draft, record);
    let found = quoted(draft, record).or_else(|| draft.sentence_index.of(&record.decision));
    let answer = question.or_else(|| answer(draft, record));
    let origin = answer.map(|choice| choice.origin).or(found.map(|found| found.origin));
    let certainty = match record.rationale.as_str() {
        REFUSED if draft.is_from_evidence() => Certainty::Refuted,
        rationale
            if draft.is_from_evidence()
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
    // Only a later decision ends a decision of the user.
    let is_retracted = || {
        certainty == Certainty::Hypothesis
            && origin.is_some_and(|line| overtaken::is_retracted(draft, line, what(record)))
    };
    let is_worth = !draft.is_from_evidence()
        || is_chosen
            && worth::is_decision(record, label(what(record)), question)
            && !is_retracted();
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
        watches.extend(mark_answer(draft, asked, at));
        watches.extend(mark_options(draft, asked, at));
        watches.extend(replaceable(draft, record, asked));
    }
    decision_options::mark_replaced(draft, &record.decision, at);
    if certainty != Certainty::Refuted {
        options.mark(draft, at);
    }
    if !is_worth {
        return;
    }
    let sentence = sentence(record, question, certainty);
    let Some(sentence) = self_contained(draft, sentence, record, question, origin) else { return };
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

/// Marks the options of a question under the header of its dialogue. The returned watches end the
/// decision if a later question with the same header, but possibly with another text, decides one
/// of these options differently.
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

/// Returns the decision with its subject first: `Windows build: skip`.
fn sentence(record: &DecisionRecord, asked: Option<&Choice>, certainty: Certainty) -> String {
    let preset = pattern!(r"(?i) ?\((?:recommended|default)\)");
    let stripped = phrasing::self_contained(&preset.replace_all(what(record), ""));
    let decision = label(stripped.as_deref().map_or(what(record), text::without_full_stop));
    let plain = text::plain(decision);
    let others: Vec<&str> = record
        .alternatives
        .iter()
        .flatten()
        .map(|other| label(text::without_full_stop(other)))
        .filter(|other| !plain.contains(&text::plain(other)) && !leaves_open(other))
        .collect();
    let subject = match asked {
        Some(asked) => questions::subject(asked),
        None => plan_title(record).unwrap_or_default().to_owned(),
    };
    // The parts of an answer in which the user is not sure are not decisions.
    let quote = decision.strip_prefix("User: ").map(worth::unhedged);
    let stated = quote.map(|quote| format!("User: \"{}\"", quote.trim_matches('"')));
    let stated = stated.as_deref().unwrap_or(decision);
    let mut sentence = match subject.as_str() {
        "" => stated.to_owned(),
        subject => format!("{} {stated}", with_colon(subject)),
    };
    let (explanation, rationale) = reason(record, asked);
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
        let all = takes_all(decision);
        let stated = if all { format!(" ({others})") } else { format!(" — over {others}") };
        sentence.push_str(&stated);
    }
    let mut sentence = text::sentence(&sentence);
    if rationale != NO_REASON && rationale != USER_SAID && !rationale.is_empty() {
        let is_open = rationale.matches('(').count() > rationale.matches(')').count();
        let end = if is_open { ")" } else { "" };
        sentence.push_str(&format!(" Why: {}", text::sentence(&format!("{rationale}{end}"))));
    }
    sentence
}

/// Returns the explanation of the chosen option, and the reason without what the sentence already
/// says: the question, this explanation, the title of the plan, and the words of the user.
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
    let rationale = if rationale.starts_with(USER_SAID) { USER_SAID } else { rationale };
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

/// Returns the sentence with what a reader needs to understand it: what the user added to an
/// option, and the task of the session. Returns `None` if the sentence names nothing and no task
/// can be added.
fn self_contained(
    draft: &Draft<'_>,
    mut sentence: String,
    record: &DecisionRecord,
    asked: Option<&Choice>,
    line: Option<Origin>,
) -> Option<String> {
    if let Some(words) = asked.and_then(|asked| words_of_choice(draft, asked)) {
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let verb = if changes_option(&words) { "changed it" } else { "said" };
        sentence.push_str(&format!(" The user {verb}: “{}”.", text::cut(&words, MAX_QUOTED_CHARS)));
    }
    let is_spoken = asked.is_some() || record.decision.starts_with("User: ");
    if !is_spoken && !draft.is_from_evidence() {
        return Some(sentence);
    }
    let has_subject = asked.is_some_and(|asked| !questions::subject(asked).is_empty());
    let is_named = has_subject || worth::names_something(what(record));
    context::with_task(draft, &sentence, line).or(is_named.then_some(sentence))
}

/// Returns the user's words if the user chose an option and said more: `B, but with the prompts`.
fn words_of_choice<'e>(draft: &Draft<'e>, asked: &'e Choice) -> Option<&'e str> {
    let mut prompts = draft.evidence.prompts.iter();
    let prompt = prompts.find(|prompt| prompt.origin == asked.origin && !asked.typed);
    let prompt = asked.words.as_deref().or(prompt.map(|prompt| prompt.text.as_str()))?.trim();
    let says_more = prompt.split_whitespace().count() >= MIN_ADDED_WORDS
        && prompt.chars().count() <= MAX_QUOTED_CHARS
        && !prompt.contains('?');
    (changes_option(prompt) || says_more).then_some(prompt)
}

/// Whether the words that choose an option change it.
fn changes_option(words: &str) -> bool {
    pattern!(
        r"(?i)\b(?:but|except|however|without|instead|only|plus|as well|also|require\w*|make sure|must|should|keep|needs?|not|don.t|aber|außer|ohne|nur|pero|excepto|sin|mais|sauf|sans)\b|但|不过|ただし|でも"
    )
    .is_match(words)
}

/// Returns an option without its label: `Panel` for `Option B: Panel`.
fn label(option: &str) -> &str {
    let letter = pattern!(r"^(?:Option|Approach|Choice) [A-Z0-9]{1,2}(?:[:.)]| [-–—]) ?");
    letter.find(option).map_or(option, |found| &option[found.end()..])
}

/// Whether an option leaves the choice to the agent, or postpones it.
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
fn what(record: &DecisionRecord) -> &str {
    let decision = text::without_full_stop(&record.decision);
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

/// Returns the answer of the user that a decision without a question repeats, or the plan that the
/// user accepted. The source of the decision is this answer, and not the report that offered it.
fn answer<'e>(draft: &Draft<'e>, record: &DecisionRecord) -> Option<&'e Choice> {
    if !record.rationale.contains(BY_THE_USER) {
        return None;
    }
    let decision = text::words(&record.decision);
    let repeats = |said: &str| text::share(&decision, &text::words(said)) >= SAME_TEXT_SHARE;
    let is_source = |choice: &&Choice| match choice.approach.as_ref().or(choice.background.as_ref())
    {
        _ if choice.answer != "accepted" => repeats(&choice.answer),
        Some(approach) => repeats(approach) || repeats(&choice.question),
        None => repeats(&choice.question),
    };
    draft.evidence.choices.iter().rfind(is_source)
}

/// Returns the prompt that a record quotes, or the prompt that dropped the earlier request. Other
/// messages may share more words with the quote.
fn quoted(draft: &Draft<'_>, record: &DecisionRecord) -> Option<SentenceSource> {
    let mut prompts = draft.evidence.prompts.iter();
    let prompt = if record.rationale.contains("never mind") {
        let drops = pattern!(r"(?i)\b(?:never ?mind|forget (?:it|that|about it))\b");
        prompts.rfind(|prompt| drops.is_match(&prompt.text))
    } else {
        let quote = record.decision.strip_prefix("User: ")?;
        let pieces: Vec<String> = quote.split(" … ").map(text::plain).collect();
        prompts.rfind(|prompt| {
            let said = text::plain(&prompt.text);
            !locate::is_compaction(&prompt.text) && pieces.iter().all(|piece| said.contains(piece))
        })
    };
    Some(SentenceSource { origin: prompt?.origin, by: Speaker::User })
}

/// Returns the question to the user that a decision answers.
fn question<'e>(draft: &Draft<'e>, record: &DecisionRecord) -> Option<&'e Choice> {
    let asked = record.rationale.split_once("asked: ").map(|(_, asked)| text::words(asked));
    let decision = text::plain(&record.decision);
    let quote = record.decision.strip_prefix("User: ").map(text::words);
    let is_answer = |choice: &&Choice| match &quote {
        Some(quote) => {
            choice.typed && text::share(quote, &text::words(&choice.answer)) >= SAME_TEXT_SHARE
        }
        None => {
            !choice.alternatives.is_empty() && text::plain(&choice.answer).starts_with(&decision)
        }
    };
    let choices = draft.evidence.choices.iter();
    let answers: Vec<&Choice> = choices.filter(is_answer).collect();
    // Several questions may have the same answer.
    let is_named = |choice: &&&Choice| {
        let words = text::words(&choice.question);
        asked.as_ref().is_some_and(|asked| text::share(asked, &words) >= SAME_TEXT_SHARE)
    };
    answers.iter().rfind(is_named).or(answers.last()).copied()
}
