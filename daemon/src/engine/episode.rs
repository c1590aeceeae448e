//! Creates the episode of a session from its evidence, and converts episodes to text.

pub use crate::summarize::{cut, handoff, markdown::NEXT_STEPS};
use crate::{
    activity::Detector,
    engine::{
        entities::StatementStates, job_result::JobResult, new_episode::new_episode_id, redaction,
    },
    model::{
        ActivityVector, CloseReason, EnhancedSessionSummary, Episode, Evidence, Project, Timestamp,
        activity::{Segment, Signals},
        episode::Author,
        session::{Content, Session},
    },
    summarize::{self, conversation::ConversationSummary},
};

/// What an episode is made of.
pub struct EpisodeSource<'s> {
    pub session: &'s Session,
    /// The result of the job that read the session.
    pub done: &'s JobResult,
    /// The content of the session, which the job read.
    pub content: Content,
}

/// Creates an episode from evidence, without a model.
pub fn from_evidence(
    source: &EpisodeSource<'_>,
    reason: &CloseReason,
    config: &summarize::config::Config,
    now: Timestamp,
) -> Episode {
    let EpisodeSource { session, done, content } = *source;
    let evidence = merged_evidence(done);
    let project = done
        .digest
        .project
        .clone()
        .or_else(|| session.project.clone())
        .unwrap_or_else(unknown_project);
    let activity = config.manual_vector().unwrap_or_else(|| activity(done));
    // Paths are relative to the root of the repository, because several of the repository's folders
    // may contain files of the same name.
    let root = done.digest.root.as_ref().unwrap_or(&project);
    let mut summary = summary(&evidence, session, root, config, activity);
    summary.phases = done.files.first().and_then(|file| phases(&file.state.detector));
    let name = summarize::name(&evidence, &context(session, root, config));
    let started_at = evidence.span.first.or(session.started_at).unwrap_or(session.last_activity);
    let ended_at = evidence.span.last.unwrap_or(session.last_activity).max(started_at);
    Episode {
        id: new_episode_id(ended_at),
        session: session.key,
        session_id: session.id.clone(),
        project,
        name,
        summary,
        author: Author::Evidence,
        file: redaction::text(&session.file).into_owned(),
        content_hash: content.hash,
        reason: reason.clone(),
        branches: evidence.branches,
        started_at,
        ended_at,
        created_at: now,
        external: None,
        rules: summarize::RULES_VERSION,
    }
}

/// Returns the episode as a conversation: overview, topics, decisions, code references and key
/// points.
pub fn conversation(episode: &Episode) -> ConversationSummary {
    ConversationSummary::of(&episode.summary)
}

/// Returns the phases of the activity, if there is more than one phase.
pub(super) fn phases(detector: &Detector) -> Option<Vec<Segment>> {
    Some(detector.segments()).filter(|phases| phases.len() > 1)
}

/// Creates the summary of a session from evidence, with paths relative to `project`.
pub(super) fn summary(
    evidence: &Evidence,
    session: &Session,
    project: &Project,
    config: &summarize::config::Config,
    activity: ActivityVector,
) -> EnhancedSessionSummary {
    let context = context(session, project, config);
    let mut summary = summarize::summarize(evidence, &context, activity);
    if let Some(file) = &mut summary.session_file {
        *file = redaction::text(file).into_owned();
    }
    if !config.include_decisions {
        summary.key_decisions = None;
    }
    if !config.include_errors_resolved {
        summary.errors_resolved = None;
    }
    summary
}

/// Returns the title of a session that starts with `prompt`.
pub fn title(prompt: &str) -> String {
    summarize::title(prompt)
}

/// Returns the summary of an episode for an agent that continues the work, the most useful parts
/// first.
pub fn page(episode: &Episode) -> String {
    match episode.text() {
        Some(text) => text.to_owned(),
        None => summarize::markdown::to_page(&episode.summary, &episode.name),
    }
}

/// Same as [`page()`], with a note at each open end, decision and wish that no longer holds.
pub fn page_with_states(episode: &Episode, states: &StatementStates) -> String {
    let mut episode = episode.clone();
    states.mark(&mut episode.summary);
    page(&episode)
}

/// Returns the summary of an episode as Markdown, as documents contain it.
pub fn markdown(episode: &Episode) -> String {
    match episode.text() {
        Some(text) => text.to_owned(),
        None => summarize::markdown::to_markdown(&episode.summary),
    }
}

fn context<'c>(
    session: &'c Session,
    project: &'c Project,
    config: &summarize::config::Config,
) -> summarize::Context<'c> {
    summarize::Context {
        project: Some(project),
        session_file: Some(&session.file),
        threshold: config.extraction_threshold,
    }
}

/// Returns the episode as a document: front matter with its origin, in the format of the original
/// Graphiti, then the summary. Without paths, the document has only the hash of the project's path.
pub fn document(episode: &Episode, include_paths: bool) -> String {
    document_with(episode, include_paths, &[])
}

/// Same as [`document`], with further members of the front matter.
pub(super) fn document_with(
    episode: &Episode,
    include_paths: bool,
    further: &[(&str, &str)],
) -> String {
    let summary = &episode.summary;
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let further = further.iter().map(|(name, value)| format!("  {name}: {}\n", text(value)));
    let mut more: String = further.collect();
    if let Author::Model(model) = &episode.author {
        more.push_str(&format!("  model: {}\n", text(model)));
    }
    if episode.rules > 0 {
        more.push_str(&format!("  rules: {}\n", episode.rules));
    }
    if !episode.branches.is_empty() {
        more.push_str(&format!("  branches: {}\n", serde_json::json!(episode.branches)));
    }
    if let Some(content) = &episode.external {
        more.push_str(&format!("  source: {}\n", text(&content.source)));
        more.push_str(&format!("  source_description: {}\n", text(&content.description)));
        let from = content.from.as_ref();
        from.into_iter().for_each(|from| more.push_str(&format!("  hostname: {}\n", text(from))));
    }
    let minutes = episode.ended_at.since(episode.started_at).as_secs() / 60;
    let members = [
        ("version", "1".to_owned()),
        ("episode_uuid", text(&episode.id.to_string())),
        ("name", text(&episode.name)),
        ("agent", text(&episode.session_id.agent)),
        ("session_id", text(&episode.session_id.id)),
        ("project_namespace", text(&episode.project.namespace().to_string())),
        ("project_path", text(episode.project.path())),
        ("started_at", text(&episode.started_at.to_string())),
        ("ended_at", text(&episode.ended_at.to_string())),
        ("indexed_at", text(&episode.created_at.to_string())),
        ("close_reason", text(&episode.reason.name())),
        ("session_file", text(&episode.file)),
        ("content_hash", text(&episode.content_hash.to_string())),
        ("message_count", summary.message_count.unwrap_or(0).to_string()),
        ("duration_minutes", minutes.to_string()),
    ];
    let is_included = |key: &str| include_paths || !matches!(key, "project_path" | "session_file");
    let members = members.iter().filter(|(key, _)| is_included(key));
    let members: String = members.map(|(key, value)| format!("  {key}: {value}\n")).collect();
    format!("---\ngraphiti_session_metadata:\n{members}{more}---\n\n{}", markdown(episode))
}

/// Returns the evidence of all files of a session.
pub(super) fn merged_evidence(done: &JobResult) -> Evidence {
    let mut files = done.files.iter();
    let Some(own) = files.next() else { return Evidence::default() };
    let mut merged = own.state.evidence().clone();
    for file in files {
        let id = file.source.sub_agent.as_deref();
        summarize::evidence::absorb(&mut merged, file.state.evidence(), id);
    }
    merged
}

/// The path of the project of sessions whose directory is not known.
const UNKNOWN_PROJECT: &str = "/unknown";

/// Returns the project of sessions whose directory is not known.
pub fn unknown_project() -> Project {
    Project::new(UNKNOWN_PROJECT)
}

/// Whether `project` is the project of the sessions whose directory is not known.
pub fn is_unknown_project(project: &Project) -> bool {
    project.path() == UNKNOWN_PROJECT
}

/// Returns the activity of the session's own file. The files of sub-agents do not count, because
/// sub-agents only execute tasks of the session.
fn activity(done: &JobResult) -> ActivityVector {
    done.files.first().map_or_else(
        || ActivityVector::from_signals(&Signals::default()),
        |file| file.state.detector.vector(),
    )
}
