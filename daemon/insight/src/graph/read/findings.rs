//! Extracts findings, completed tasks, open tasks and dead ends.

use super::draft::{ClaimDraft, Draft};
use crate::{
    graph::text,
    model::{
        evidence::StatementKind,
        graph::{Certainty, Observation, Relation, Stance, Watch, fingerprint},
    },
};

/// Maximum number of dead ends of one session.
const DEAD_ENDS: usize = 8;
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
        tell(draft, Relation::DeadEnd, "Dead end: ", text);
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

fn tell(draft: &mut Draft<'_>, relation: Relation, label: &str, text: &str) {
    let found = draft.places.of(text);
    let certainty = match relation {
        Relation::DeadEnd => Certainty::Refuted,
        _ => draft.certainty(found),
    };
    draft.claim(
        relation,
        (draft.task, draft.project),
        ClaimDraft {
            detail: text::plain(text),
            sentence: format!("{label}{}", text::sentence(text)),
            certainty: Some(certainty),
            origins: found.map(|found| found.origin).into_iter().collect(),
            ..ClaimDraft::default()
        },
    );
}

fn done(draft: &mut Draft<'_>, text: &str) {
    let found = draft.places.of(text);
    let origins: Vec<_> = found.map(|found| found.origin).into_iter().collect();
    let at = draft.moments.of(&origins);
    let subject = draft.subject("to do", &text::plain(text));
    draft.mark(subject, at, Observation::Value(fingerprint(DONE)));
    // A commit proves the task.
    let is_seen = draft.evidence.commits.iter().any(|commit| text.contains(&commit.hash));
    let certainty = match draft.certainty(found) {
        Certainty::Hypothesis if is_seen => Certainty::Verified,
        other => other,
    };
    let task = draft.task_name();
    let is_task = text::plain(text) == text::plain(&draft.episode.name);
    let context = if is_task { String::new() } else { format!(" (for “{task}”)") };
    draft.claim(
        Relation::Did,
        (draft.task, draft.project),
        ClaimDraft {
            detail: text::plain(text),
            sentence: format!("{}{context}.", text::part(text)),
            certainty: Some(certainty),
            at: Some(at),
            origins,
            ..ClaimDraft::default()
        },
    );
}

fn left_open(draft: &mut Draft<'_>, text: &str) {
    let subject = draft.subject("to do", &text::plain(text));
    let value = fingerprint(OPEN);
    let found = draft.places.of(text);
    let task = draft.task_name();
    let certainty = if draft.is_evidence() { Certainty::Verified } else { draft.certainty(found) };
    draft.claim(
        Relation::LeftOpen,
        (draft.task, draft.project),
        ClaimDraft {
            detail: text::plain(text),
            sentence: format!("Left open in “{task}”: {}", text::sentence(text)),
            certainty: Some(certainty),
            // The task is open from the end of the session on, regardless of when it was mentioned.
            at: Some(draft.episode.ended_at),
            origins: found.map(|found| found.origin).into_iter().collect(),
            watches: vec![Watch { subject, stance: Stance::Value(value) }],
            ..ClaimDraft::default()
        },
    );
}
