//! Extracts the task of the session and its outcome.

use super::{
    draft::{ClaimDraft, Draft},
    ending,
};
use crate::{
    graph::text,
    model::{
        graph::{Certainty, EntityKind, Observation, Relation, Stance, Watch, fingerprint},
        summary::Outcome,
    },
};

/// Adds the claim about the task. Must be called last, because the claim refers to all topics,
/// tools and persons that were mentioned so far.
pub(super) fn read(draft: &mut Draft<'_>) {
    let (episode, summary) = (draft.episode, &draft.episode.summary);
    let state = match summary.outcome {
        Outcome::Completed => "done",
        Outcome::Blocked => "blocked",
        Outcome::InProgress => "in progress",
        Outcome::Abandoned => "given up",
    };
    let name = text::cut(text::without_full_stop(&episode.name), 120);
    let objective = text::without_full_stop(&summary.objective);
    let objective = match objective.strip_prefix(name.as_str()) {
        Some(rest) if text::words(rest).is_empty() => String::new(),
        Some(rest) => format!(" {}", text::sentence(rest.trim_start_matches(['.', ' ']))),
        None => format!(" Goal: {}", text::sentence(objective)),
    };
    let value = fingerprint(state);
    let subject = draft.subject("task", &draft.task.to_string());
    draft.mark(subject, episode.ended_at, Observation::Value(value));
    // If a model reports completion, only a commit or a successful last test run proves it.
    let evidence = draft.evidence;
    let is_proven = draft.is_from_evidence()
        || summary.outcome != Outcome::Completed
        || !evidence.commits.is_empty()
        || evidence.tests.last().is_some_and(|run| run.failed == 0 && run.passed > 0);
    let ending = ending::of(draft);
    let ending = ending.named().into_iter();
    let mut details = vec![("outcome".to_owned(), summary.outcome.as_str().to_owned())];
    details.extend(ending.map(|(name, text)| (name.to_owned(), text.to_owned())));
    let topics = draft.mentioned(&[EntityKind::Topic, EntityKind::Tool, EntityKind::Person]);
    draft.claim(
        Relation::TaskState,
        draft.task,
        draft.project,
        ClaimDraft {
            detail: state.to_owned(),
            sentence: format!("“{name}” is {state}.{objective}"),
            certainty: Some(if is_proven { Certainty::Verified } else { Certainty::Hypothesis }),
            at: Some(episode.ended_at),
            watches: vec![Watch { subject, stance: Stance::Value(value) }],
            others: topics,
            details,
            ..ClaimDraft::default()
        },
    );
}
