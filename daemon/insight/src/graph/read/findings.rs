//! Extracts findings, completed tasks, open tasks and dead ends.

use super::{
    draft::{ClaimDraft, Draft},
    locate::{SentenceSource, Speaker},
    phrasing, worth,
};
use crate::{
    graph::{standing, text},
    model::{
        evidence::StatementKind,
        graph::{Certainty, Observation, Relation, Stance, Watch, fingerprint},
        transcript::{Origin, TaskState},
    },
    pattern::pattern,
};

/// Maximum number of dead ends of one session.
const DEAD_ENDS: usize = 8;
/// The minimum share of words of two texts about the same work.
const SAME: f64 = 0.6;
/// Minimum number of words of a title before a colon, and maximum bytes behind it that belong to it.
const TITLE: usize = 5;
const LONG_TITLE: usize = 60;
/// The value of open and of completed tasks.
const OPEN: &str = "open";
const DONE: &str = "done";

pub(super) fn read(draft: &mut Draft<'_>) {
    let (summary, evidence) = (&draft.episode.summary, draft.evidence);
    let said = evidence.statements.iter().chain(&evidence.report);
    let dead_ends: Vec<&str> = said
        .filter(|one| one.kind == StatementKind::DeadEnd)
        .map(|one| one.text.as_str())
        .take(DEAD_ENDS)
        .collect();
    for text in &dead_ends {
        tell(draft, Relation::DeadEnd, "Tried and given up: ", text);
    }
    for text in summary.discoveries.iter().flatten() {
        let words = text::words(text);
        let is_dead_end =
            dead_ends.iter().any(|dead| text::share(&words, &text::words(dead)) > 0.9);
        if !is_dead_end {
            tell(draft, Relation::FoundOut, "", text);
        }
    }
    if let Some(cause) = summary.root_cause_analysis.as_deref()
        && !summary.errors_resolved.iter().flatten().any(|error| cause.contains(&error.root_cause))
    {
        tell(draft, Relation::CausedBy, "Root cause: ", cause);
    }
    // Pull requests are separate statements.
    let tasks = summary.completed_tasks.iter().flatten();
    for text in tasks.filter(|text| !text.starts_with("Pull request #")) {
        done(draft, text);
    }
    // An offer of the agent is not an open task.
    let steps = summary.next_steps.iter().flatten();
    for text in steps.filter(|text| !text.starts_with("Offered: ")) {
        left_open(draft, text);
    }
}

/// Returns what a note asks for by its title: the summary tells the beginning of its text, too, or
/// only its path.
fn title(step: &str) -> Option<String> {
    let told = pattern!(r"^(.+?)(?:(: .+))? \(todo `([^`]+)`\)$");
    if let Some(parts) = told.captures(step) {
        // A title may contain a colon itself: `Security review: deferred findings`.
        let rest = parts.get(2).map_or("", |rest| rest.as_str());
        let is_whole = parts[1].split_whitespace().count() >= TITLE || rest.len() > LONG_TITLE;
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

fn tell(draft: &mut Draft<'_>, relation: Relation, label: &str, text: &str) {
    let is_worth = match relation {
        Relation::DeadEnd => worth::is_dead_end,
        Relation::CausedBy => worth::is_cause,
        _ => worth::is_finding,
    };
    // What a model writes was selected by it.
    let is_worth = |text: &String| !draft.is_evidence() || is_worth(text);
    let Some(sentence) = phrasing::alone(text).filter(is_worth) else {
        // What it names is known nevertheless.
        draft.named_in(text);
        return;
    };
    let found = draft.places.of(text);
    let is_overtaken = found.is_some_and(|found| {
        draft.is_evidence() && worth::is_advice(text) && is_followed_by_work(draft, found.origin)
    });
    if relation == Relation::FoundOut && is_overtaken {
        draft.named_in(text);
        return;
    }
    let certainty = match (relation, found) {
        (Relation::DeadEnd, _) => Certainty::Refuted,
        // What the agent says of the code is supposed, whatever passes later.
        (_, Some(SentenceSource { by: Speaker::User, .. })) => Certainty::Verified,
        _ => Certainty::Hypothesis,
    };
    draft.claim(
        relation,
        (draft.task, draft.project),
        ClaimDraft {
            detail: text::plain(text),
            sentence: format!("{label}{}", text::sentence(&sentence)),
            certainty: Some(certainty),
            origins: found.map(|found| found.origin).into_iter().collect(),
            ..ClaimDraft::default()
        },
    );
}

/// Whether the session committed after a line.
fn is_followed_by_work(draft: &Draft<'_>, line: Origin) -> bool {
    let mut commits = draft.evidence.commits.iter();
    commits.any(|commit| commit.origin.source == line.source && commit.origin.line > line.line)
}

fn done(draft: &mut Draft<'_>, text: &str) {
    let found = draft.places.of(text);
    let origins: Vec<_> = found.map(|found| found.origin).into_iter().collect();
    let at = draft.moments.of(&origins);
    let subject = draft.subject("to do", &text::plain(text));
    draft.mark(subject, at, Observation::Value(fingerprint(DONE)));
    let Some(sentence) = phrasing::alone(text) else { return };
    let certainty = if is_shown(draft, text) { Certainty::Verified } else { Certainty::Hypothesis };
    let task = draft.task_name();
    let is_task = text::plain(text) == text::plain(&draft.episode.name);
    let context = if is_task { String::new() } else { format!(" (for “{task}”)") };
    draft.claim(
        Relation::Did,
        (draft.task, draft.project),
        ClaimDraft {
            detail: text::plain(text),
            sentence: format!("{}{context}.", text::part(&sentence)),
            certainty: Some(certainty),
            at: Some(at),
            origins,
            ..ClaimDraft::default()
        },
    );
}

/// Whether a commit or a closed task proves that `text` was done.
fn is_shown(draft: &Draft<'_>, text: &str) -> bool {
    let words = text::words(text);
    let mut commits = draft.evidence.commits.iter();
    let is_committed = commits.any(|commit| {
        text.contains(&commit.hash)
            || text::share(&words, &text::words(&commit.subject)) >= SAME
            || text::share(&words, &text::words(&commit.body)) >= SAME
    });
    let mut tasks = draft.evidence.tasks.iter();
    is_committed
        || tasks.any(|task| {
            task.state == TaskState::Completed
                && text::share(&text::words(&task.subject), &words) >= SAME
        })
}

fn left_open(draft: &mut Draft<'_>, text: &str) {
    let is_worth = |text: &String| !draft.is_evidence() || worth::is_open_end(text);
    let is_open = |text: &String| !phrasing::is_past(text) && is_worth(text);
    let Some(sentence) = phrasing::alone(text).filter(is_open) else {
        return;
    };
    let sentence = title(&sentence).unwrap_or(sentence);
    let found = draft.places.of(text);
    let words = text::words(text);
    let is_task = draft.evidence.tasks.iter().any(|task| {
        matches!(task.state, TaskState::Pending | TaskState::InProgress)
            && text::share(&text::words(&task.subject), &words) >= SAME
    });
    let is_users = found.is_some_and(|found| found.by == Speaker::User);
    // A step of the agent's list of tasks belongs to its session.
    if is_task && draft.is_evidence() {
        return;
    }
    draft.claim(
        Relation::LeftOpen,
        (draft.task, draft.project),
        ClaimDraft {
            detail: text::plain(text),
            sentence: format!(
                "{}{}{}”.",
                text::part(&sentence),
                standing::LEFT_OPEN_IN,
                draft.task_name()
            ),
            certainty: Some(if is_users { Certainty::Verified } else { Certainty::Hypothesis }),
            // The task is open from the end of the session on, regardless of when it was mentioned.
            at: Some(draft.episode.ended_at),
            origins: found.map(|found| found.origin).into_iter().collect(),
            watches: open_end_watches(draft, text),
            details: vec![(standing::STEP.to_owned(), text.to_owned())],
            ..ClaimDraft::default()
        },
    );
}

/// Returns the name of the file in which a step is noted.
fn note(step: &str) -> Option<&str> {
    let path = pattern!(r"(?:\(todo `|^Todo saved: `)([^`]+)`").captures(step)?.get(1)?;
    path.as_str().rsplit('/').next()
}

/// What closes an open end: a sentence about the same, the success of the command that it names,
/// or the tests, where it asks for them.
fn open_end_watches(draft: &Draft<'_>, text: &str) -> Vec<Watch> {
    let broken = |subject| Watch { subject, stance: Stance::Broken };
    let mut watches = vec![
        Watch {
            subject: draft.subject("to do", &text::plain(text)),
            stance: Stance::Value(fingerprint(OPEN)),
        },
        Watch {
            subject: super::progress::open_end(draft),
            stance: Stance::Words(text::topic_words(text)),
        },
    ];
    for quoted in super::names::quoted(text).filter(|quoted| quoted.contains(' ')) {
        watches.push(broken(draft.subject("command", &text::command_key(quoted))));
    }
    let names_tests = pattern!(
        r"(?i)\b(?:run|rerun|re-run|execute|repeat) (?:\w+ ){0,3}(?:tests?|suite)\b|\b(?:tests?|suite) (?:were|was|have|has|are|is) not (?:been )?(?:yet )?run\b|\bfix (?:\w+ ){0,4}(?:failing|failed|broken) tests?\b"
    );
    if names_tests.is_match(text) {
        watches.push(broken(draft.subject("tested", "")));
    }
    // A note that is moved or removed was dealt with.
    watches.extend(note(text).map(|name| broken(draft.subject("note", name))));
    for run in &draft.evidence.tests {
        for test in run.failed_tests.iter().filter(|test| text.contains(test.as_str())) {
            watches.extend(super::test_runs::watches(draft, test, run));
        }
    }
    watches
}
