//! Puts an episode together from what is known of a session.

use crate::{
    engine::job::{self, Done},
    model::{
        ActivityVector, CloseReason, Episode, Evidence, Project, Timestamp,
        activity::Signals,
        episode::Author,
        session::{Content, Session},
    },
    summarize,
};

/// The episode of a session as the evidence tells it, without any model.
pub fn from_evidence(
    session: &Session,
    reason: &CloseReason,
    done: &Done,
    (content, config): (Content, &summarize::config::Config),
    now: Timestamp,
) -> Episode {
    let evidence = merged_evidence(done);
    let project = done
        .digest
        .project
        .clone()
        .or_else(|| session.project.clone())
        .unwrap_or_else(unknown_project);
    let context = summarize::Context {
        project: Some(&project),
        session_file: Some(&session.file),
        threshold: config.extraction_threshold,
    };
    let activity = config.manual_vector().unwrap_or_else(|| activity(done));
    let mut summary = summarize::summarize(&evidence, &context, activity);
    if !config.include_decisions {
        summary.key_decisions = None;
    }
    if !config.include_errors_resolved {
        summary.errors_resolved = None;
    }
    let name = summarize::name(&evidence, &context);
    let started_at = evidence.span.first.or(session.started_at).unwrap_or(session.last_activity);
    let ended_at = evidence.span.last.unwrap_or(session.last_activity).max(started_at);
    Episode {
        id: job::new_episode_id(ended_at),
        session: session.key,
        session_id: session.id.clone(),
        project,
        name,
        summary,
        author: Author::Evidence,
        file: session.file.clone(),
        content_hash: content.hash,
        reason: reason.clone(),
        branches: evidence.branches,
        started_at,
        ended_at,
        created_at: now,
    }
}

/// The summary of an episode as Markdown.
pub fn markdown(episode: &Episode) -> String {
    summarize::markdown::to_markdown(&episode.summary)
}

fn merged_evidence(done: &Done) -> Evidence {
    let mut files = done.files.iter().map(|file| file.state.evidence());
    let Some(mut merged) = files.next().cloned() else { return Evidence::default() };
    for sub_agent in files {
        summarize::evidence::absorb(&mut merged, sub_agent);
    }
    merged
}

/// The activity of the session's own file; that of its sub-agents is what it asked them for.
fn activity(done: &Done) -> ActivityVector {
    done.files.first().map_or_else(
        || ActivityVector::from_signals(&Signals::default()),
        |file| file.state.detector.vector(),
    )
}

/// For a transcript that never says where it was written.
fn unknown_project() -> Project {
    Project::new("/unknown")
}
