//! Extracts findings, root causes, dead ends, completed tasks and open ends.

use std::collections::BTreeSet;

use super::{
    context,
    draft::{ClaimDraft, Draft},
    fact_selection,
    locate::{self, SentenceSource, Speaker},
    obsolete, open_end_watches, phrasing, reference, surroundings, symptoms,
};
use crate::{
    graph::{statement_states, text},
    model::{
        evidence::StatementKind,
        graph::{Certainty, Observation, Relation, fingerprint},
        transcript::{Origin, TaskState},
        wording::{CAUSE_BEFORE_CHANGE, USER_REPORTED, without_source},
    },
    pattern::pattern,
};

const MAX_DEAD_ENDS: usize = 8;
/// Minimum share of common words of two texts about the same work.
const SAME_WORK_SHARE: f64 = 0.6;
/// Minimum share of common words of two findings with the same content.
const REPEATED_SHARE: f64 = 0.75;
/// A text before a colon is a complete title if it has at least this number of words. If it has
/// fewer words, the title also contains the text after the colon, unless that text is longer than
/// [`MAX_TITLE_REST_BYTES`].
const MIN_TITLE_WORDS: usize = 5;
const MAX_TITLE_REST_BYTES: usize = 60;
/// Minimum number of items of a list whose items are open ends of their own.
const MIN_LIST_ITEMS: usize = 3;
/// Minimum number of words of each item of the list.
const MIN_ITEM_WORDS: usize = 3;
/// The value that marks a task as completed.
const DONE: &str = "done";

pub(super) fn read(draft: &mut Draft<'_>) {
    let (summary, evidence) = (&draft.episode.summary, draft.evidence);
    let statements = evidence.statements.iter().chain(&evidence.report);
    let dead_ends: Vec<&str> = statements
        .filter(|one| one.kind == StatementKind::DeadEnd)
        .map(|one| one.text.as_str())
        .take(MAX_DEAD_ENDS)
        .collect();
    let mut earlier = Vec::new();
    for text in &dead_ends {
        add_finding(draft, &mut earlier, FindingDraft::of(Relation::DeadEnd, text));
    }
    // A cause that was found before the session changed the files, or a problem that the user
    // reported, may not exist any more.
    let is_old =
        |text: &str| text.starts_with(CAUSE_BEFORE_CHANGE) || text.starts_with(USER_REPORTED);
    for text in summary.discoveries.iter().flatten().filter(|text| !is_old(text)) {
        let text = without_source(text);
        let words = text::words(text);
        let is_dead_end =
            dead_ends.iter().any(|dead| text::share(&words, &text::words(dead)) > 0.9);
        if !is_dead_end {
            add_finding(draft, &mut earlier, FindingDraft::of(Relation::FoundOut, text));
        }
    }
    // Each cause explains its own failure.
    for cause in summary.root_cause_analysis.iter().flat_map(|causes| causes.lines()) {
        let mut errors = summary.errors_resolved.iter().flatten();
        if !errors.any(|error| cause.contains(&error.root_cause)) {
            add_finding(draft, &mut earlier, FindingDraft::of(Relation::CausedBy, cause));
        }
    }
    // Pull requests are separate statements.
    let tasks = summary.completed_tasks.iter().flatten();
    for text in tasks.filter(|text| !text.starts_with("Pull request #")) {
        done(draft, text);
    }
    // An offer of the agent is not an open task.
    let steps = summary.next_steps.iter().flatten();
    for step in steps.filter(|text| !text.starts_with("Offered: ")) {
        for open_end in OpenEnd::all(step) {
            left_open(draft, &open_end);
        }
    }
}

/// Returns the title of a noted step, with the path of its note. If `step` contains only the path,
/// the title is made from the path.
fn title(step: &str) -> Option<String> {
    let titled = pattern!(r"^(.+?)(?:(: .+))? \(todo `([^`]+)`\)$");
    if let Some(parts) = titled.captures(step) {
        // A title may contain a colon itself: `Security review: deferred findings`.
        let rest = parts.get(2).map_or("", |rest| rest.as_str());
        let is_whole = parts[1].split_whitespace().count() >= MIN_TITLE_WORDS
            || rest.len() > MAX_TITLE_REST_BYTES;
        let rest = if is_whole { "" } else { rest };
        return Some(format!("{}{rest} (noted in `{}`)", &parts[1], &parts[3]));
    }
    let saved = pattern!(r"^Todo saved: `([^`]+/(?:\d{4}-\d\d-\d\d-)?([^`/]+)\.\w+)`$");
    let parts = saved.captures(step)?;
    let words = parts[2].replace(['-', '_'], " ");
    let mut letters = words.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    Some(format!("{first}{} (noted in `{}`)", letters.as_str(), &parts[1]))
}

/// A finding, a cause or a dead end of a session.
#[derive(Clone, Copy)]
struct FindingDraft<'t> {
    relation: Relation,
    text: &'t str,
}

impl<'t> FindingDraft<'t> {
    fn of(relation: Relation, text: &'t str) -> FindingDraft<'t> {
        // The answer may be understandable even if its question is not.
        let answer = fact_selection::split_question(text)
            .filter(|(question, _)| !fact_selection::is_clear_question(question));
        FindingDraft { relation, text: answer.map_or(text, |(_, answer)| answer) }
    }

    fn is_worth(self, text: &str) -> bool {
        match self.relation {
            Relation::DeadEnd => fact_selection::is_dead_end(text),
            Relation::CausedBy => fact_selection::is_cause(text),
            _ => fact_selection::is_finding(text),
        }
    }

    fn label(self) -> &'static str {
        match self.relation {
            Relation::DeadEnd => "Tried and given up: ",
            Relation::CausedBy => "Root cause: ",
            _ => "",
        }
    }

    /// Whether a statement of the agent is obsolete. Each statement is obsolete if it was retracted
    /// or contradicted later. A finding is also obsolete if it is advice that work followed, or if
    /// the session changed the file that the finding is about. A cause is also obsolete if no work
    /// followed it, because it is then a guess.
    fn is_obsolete(self, draft: &Draft<'_>, source: Option<SentenceSource>) -> bool {
        let Some(SentenceSource { origin, by: Speaker::Agent }) = source else { return false };
        let is_followed = || obsolete::is_followed_by_work(draft, origin);
        let is_ended = match self.relation {
            Relation::DeadEnd => false,
            Relation::CausedBy => !is_followed(),
            _ => {
                obsolete::is_advice(self.text) && is_followed()
                    || obsolete::is_about_changed_file(draft, origin, self.text)
            }
        };
        is_ended || obsolete::is_retracted(draft, origin, self.text)
    }
}

/// Adds a finding, unless it repeats an earlier finding or [`self_contained`] returns `None`.
/// `earlier` has the words of earlier findings.
fn add_finding(
    draft: &mut Draft<'_>,
    earlier: &mut Vec<BTreeSet<String>>,
    finding: FindingDraft<'_>,
) {
    let FindingDraft { relation, text } = finding;
    let found =
        locate::source_of_retry(draft.evidence, text).or_else(|| draft.sentence_index.of(text));
    let sentence = self_contained(draft, finding, found);
    let words = text::words(text);
    let repeats = |other: &BTreeSet<String>| {
        text::share(&words, other) >= REPEATED_SHARE || text::share(other, &words) >= REPEATED_SHARE
    };
    let Some(sentence) = sentence.filter(|_| !earlier.iter().any(repeats)) else {
        // The mentions of entities in the text are recorded even without a fact.
        draft.mention_entities_in(text);
        return;
    };
    earlier.push(words);
    let watches = open_end_watches::failing_tests(draft, text);
    let certainty = match (relation, found) {
        (Relation::DeadEnd, _) => Certainty::Refuted,
        // A statement of the agent stays a hypothesis, even if tests pass later.
        (_, Some(SentenceSource { by: Speaker::User | Speaker::Tool, .. })) => Certainty::Verified,
        _ => Certainty::Hypothesis,
    };
    draft.claim(
        relation,
        draft.task,
        draft.project,
        ClaimDraft {
            detail: text::plain(text),
            sentence,
            certainty: Some(certainty),
            origins: found.map(|found| found.origin).into_iter().collect(),
            watches,
            is_of_project: found.is_some_and(|found| found.by == Speaker::Tool),
            ..ClaimDraft::default()
        },
    );
}

/// Returns a finding as a sentence that can be understood without its session. Returns `None` if no
/// such sentence can be made, or if the finding is obsolete or not worth remembering. A finding
/// that a model wrote is always worth remembering.
fn self_contained(
    draft: &Draft<'_>,
    finding: FindingDraft<'_>,
    found: Option<SentenceSource>,
) -> Option<String> {
    if !draft.is_from_evidence() {
        let plain = phrasing::self_contained(finding.text)?;
        return Some(format!("{}{}", finding.label(), text::sentence(&plain)));
    }
    let whole = surroundings::complete(draft, finding.text)?;
    let plain = phrasing::self_contained(&whole.text)?;
    if !finding.is_worth(&plain) || finding.is_obsolete(draft, found) {
        return None;
    }
    if let Some(heading) = whole.heading {
        return Some(format!("{}{heading}: {}", finding.label(), text::sentence(&plain)));
    }
    let line = found.map(|found| found.origin);
    if finding.relation == Relation::CausedBy {
        return with_failure(draft, &plain, line);
    }
    let plain = fact_selection::without_courtesy(&surroundings::with_verdict(draft, &plain));
    let sentence = text::sentence(&plain);
    let is_answer = fact_selection::split_question(&plain).is_some();
    let sentence = format!("{}{sentence}", finding.label());
    if is_answer || !reference::has_bare_subject(&plain) {
        return Some(sentence);
    }
    match line.and_then(|line| surroundings::sentence_about(draft, &plain, line)) {
        Some(about) => Some(format!("{sentence} ({about})")),
        None => context::with_task(draft, &sentence, line),
    }
}

/// Returns a root cause with the failure that it explains. Returns `None` if neither the cause nor
/// the task of the session mentions a failure.
fn with_failure(draft: &Draft<'_>, cause: &str, line: Option<Origin>) -> Option<String> {
    let cause = text::sentence(cause);
    if let Some(failure) = symptoms::of_cause(draft, &cause, line) {
        return Some(format!("Root cause of “{failure}”: {cause}"));
    }
    let sentence = format!("Root cause: {cause}");
    let sentence = context::with_task(draft, &sentence, line).unwrap_or(sentence);
    if symptoms::says_what_failed(&sentence) || sentence.contains(statement_states::DECIDED_FOR) {
        return symptoms::says_what_failed(&sentence).then_some(sentence);
    }
    // The cause has the words of the task, but does not say what was wrong.
    let sentence = format!("{sentence}{}{}”.)", statement_states::DECIDED_FOR, draft.task_name());
    symptoms::says_what_failed(&sentence).then_some(sentence)
}

fn done(draft: &mut Draft<'_>, text: &str) {
    let found = draft.sentence_index.of(text);
    let origins: Vec<_> = found.map(|found| found.origin).into_iter().collect();
    let at = draft.moments.of(&origins);
    let subject = draft.subject("to do", &text::plain(text));
    draft.mark(subject, at, Observation::Value(fingerprint(DONE)));
    let Some(sentence) = phrasing::self_contained(text) else { return };
    let certainty =
        if is_proven(draft, text) { Certainty::Verified } else { Certainty::Hypothesis };
    let task = draft.task_name();
    let is_task = text::plain(text) == text::plain(&draft.episode.name);
    let context = if is_task { String::new() } else { format!(" (for “{task}”)") };
    draft.claim(
        Relation::Did,
        draft.task,
        draft.project,
        ClaimDraft {
            detail: text::plain(text),
            sentence: format!("{}{context}.", text::without_full_stop(&sentence)),
            certainty: Some(certainty),
            at: Some(at),
            origins,
            ..ClaimDraft::default()
        },
    );
}

/// Whether a commit, a command or a completed task proves that `text` was done.
fn is_proven(draft: &Draft<'_>, text: &str) -> bool {
    let words = text::words(text);
    let is_committed = draft.evidence.commits.iter().any(|commit| {
        !commit.hash.is_empty() && text.contains(&commit.hash)
            || text::share(&words, &text::words(&commit.subject)) >= SAME_WORK_SHARE
            || text::share(&words, &text::words(&commit.body)) >= SAME_WORK_SHARE
    });
    let mut outside = draft.evidence.outside_changes.iter();
    is_committed
        || outside.any(|change| text.contains(&change.text))
        || draft.evidence.tasks.iter().any(|task| {
            task.state == TaskState::Completed
                && text::share(&text::words(&task.subject), &words) >= SAME_WORK_SHARE
        })
}

/// A step that the session left open, or one item of a step that is a list.
struct OpenEnd<'s> {
    step: &'s str,
    /// The step, or the item after the introduction of its list.
    text: String,
    /// The part of the text that says what is to be done.
    item: &'s str,
}

impl<'s> OpenEnd<'s> {
    /// Returns the items of a step that consists of an introduction and a list with `; ` between
    /// its items, or else the step. Each item is finished by other work.
    fn all(step: &'s str) -> Vec<OpenEnd<'s>> {
        let list = pattern!(r"^([^:`;]{8,160}): (.+)$").captures(step);
        let parts = list.as_ref().and_then(|list| Some((list.get(1)?, list.get(2)?)));
        let items: Vec<&str> = parts.map_or(Vec::new(), |(_, items)| {
            items.as_str().split("; ").map(|item| item.trim_end_matches('.')).collect()
        });
        let is_list = items.len() >= MIN_LIST_ITEMS
            && items.iter().all(|item| item.split_whitespace().count() >= MIN_ITEM_WORDS);
        match parts.filter(|_| is_list && open_end_watches::note_path(step).is_none()) {
            Some((introduction, _)) => {
                let text = |item| format!("{}: {item}", introduction.as_str());
                items.into_iter().map(|item| OpenEnd { step, text: text(item), item }).collect()
            }
            None => vec![OpenEnd { step, text: step.to_owned(), item: step }],
        }
    }
}

fn left_open(draft: &mut Draft<'_>, open_end: &OpenEnd<'_>) {
    let text = open_end.text.as_str();
    // A step that was noted in a file is worth remembering.
    let is_noted = open_end_watches::note_path(text).is_some();
    let is_worth =
        |text: &String| is_noted || !draft.is_from_evidence() || fact_selection::is_open_end(text);
    let is_open = |text: &String| !phrasing::describes_finished_work(text) && is_worth(text);
    let Some(sentence) = phrasing::self_contained(text).filter(is_open) else {
        return;
    };
    let noted = noted_title(draft, text).or_else(|| title(&sentence));
    let found = draft.sentence_index.of(text);
    let words = text::words(text);
    let is_listed = draft.evidence.tasks.iter().any(|task| {
        matches!(task.state, TaskState::Pending | TaskState::InProgress)
            && text::share(&text::words(&task.subject), &words) >= SAME_WORK_SHARE
    });
    let is_users = found.is_some_and(|found| found.by == Speaker::User);
    let noted_at = note_origin(draft, text);
    // A step of the agent's task list matters only in its session.
    if is_listed && draft.is_from_evidence() {
        return;
    }
    draft.claim(
        Relation::LeftOpen,
        draft.task,
        draft.project,
        ClaimDraft {
            detail: text::plain(text),
            // A noted step belongs to its note rather than to the work of one session.
            sentence: match noted {
                Some(noted) => text::sentence(&noted),
                None => format!(
                    "{}{}{}”.",
                    text::without_full_stop(&sentence),
                    statement_states::LEFT_OPEN_IN,
                    context::work_at(draft, found.map(|found| found.origin), &words)
                ),
            },
            certainty: Some(match is_users || noted_at.is_some() {
                true => Certainty::Verified,
                false => Certainty::Hypothesis,
            }),
            // The task is open from the end of the session on, regardless of when it was mentioned.
            at: Some(draft.episode.ended_at),
            origins: noted_at.or(found.map(|found| found.origin)).into_iter().collect(),
            watches: open_end_watches::watches(draft, open_end.item),
            details: vec![(statement_states::STEP.to_owned(), open_end.step.to_owned())],
            ..ClaimDraft::default()
        },
    );
}

/// Returns the position where the note of a step was written.
fn note_origin(draft: &Draft<'_>, step: &str) -> Option<Origin> {
    let path = open_end_watches::note_path(step)?;
    let mut notes = draft.evidence.work_notes.iter();
    notes.rfind(|note| note.path.ends_with(path)).map(|note| note.origin)
}

/// Returns the title in the note of a step, with the path of the note. Returns `None` for a title
/// of one word.
fn noted_title(draft: &Draft<'_>, step: &str) -> Option<String> {
    let path = open_end_watches::note_path(step)?;
    let mut notes = draft.evidence.work_notes.iter();
    let note = notes.rfind(|note| note.path.ends_with(path))?;
    let title = pattern!(r#"(?m)^(?:title: *["']?(.+?)["']?|# +(?:(?i:todo): *)?(.+?)) *$"#);
    let found = title.captures(&note.text)?;
    let title = found.get(1).or(found.get(2))?.as_str();
    (title.split_whitespace().count() > 1).then(|| format!("{title} (noted in `{path}`)"))
}
