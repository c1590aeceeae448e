//! The work on one session: read what is new in its files, and perhaps make its episode.
//!
//! At any time at most one job works on a session, so that a job may take the session's files and
//! states for its own.

use std::sync::{Arc, atomic::Ordering};

use crate::{
    activity::classify::Unknowns,
    capture::{content_hash, format::Format},
    engine::{
        episode,
        model_queue::ModelQuestion,
        pipeline::{ParseContext, SourceState},
        reading::{self, ReadError, ReadProgress, ReadRequest, SavePolicy, SourceReader},
        truncated_messages::LocatedMessage,
    },
    graph,
    model::{
        CloseReason, Episode, EpisodeId, Project, SessionKey, Timestamp,
        episode::Author,
        graph::Statements,
        session::{Content, Session},
    },
    store::Source,
};

/// What a job is to do.
pub struct Job {
    /// The session as it is when the job begins.
    pub session: Session,
    /// Its agent's format.
    pub format: &'static dyn Format,
    /// What is kept of transcripts.
    pub parse_context: Arc<ParseContext>,
    /// The files to be read, with their states where these are at hand.
    pub files: Vec<JobFile>,
    /// Whether the files are read from their beginning.
    pub anew: bool,
    /// When states are saved.
    pub save: SavePolicy,
    /// Why an episode is to be made, if one is.
    pub index: Option<CloseReason>,
    /// Whether what is known of the session is to be gathered, for asking a model.
    pub gather: bool,
    /// When the job begins.
    pub now: Timestamp,
}

/// A file of a session.
pub struct JobFile {
    /// The file.
    pub source: Source,
    /// Its state, unless it has to be loaded.
    pub state: Option<Box<SourceState>>,
}

/// How a job ended.
pub struct JobResult {
    /// The session it worked on.
    pub session: SessionKey,
    /// How far each file was read.
    pub files: Vec<ReadProgress>,
    /// What the session says now.
    pub digest: SessionDigest,
    /// How making the episode ended, if one was to be made.
    pub index: Option<IndexOutcome>,
    /// What is known of the session, for asking a model about its episode.
    pub gathered: GatherOutcome,
    /// What went wrong with reading, if something did.
    pub error: Option<ReadError>,
}

/// What was gathered for asking a model.
pub enum GatherOutcome {
    /// It was not asked for.
    NotAsked,
    /// There is nothing to be asked: the session went on, or a model wrote its episode.
    Nothing,
    /// This.
    Question(Box<ModelQuestion>),
}

/// A new episode, and what it says of things and facts.
pub struct NewEpisode {
    /// The episode.
    pub episode: Episode,
    /// What it says.
    pub statements: Statements,
}

/// How making an episode ended.
pub enum IndexOutcome {
    /// This is it; it is not stored yet.
    Made(Box<NewEpisode>),
    /// The session says what it said when it was last indexed.
    Unchanged,
    /// The session says nothing yet.
    Nothing,
    /// It failed, and why.
    Failed(String),
}

/// What is known of a session from its files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionDigest {
    /// What it says; `None` when that is nothing yet.
    pub content: Option<Content>,
    /// Where it was started.
    pub project: Option<Project>,
    /// When its first message was written.
    pub started_at: Option<Timestamp>,
    /// The latest time in it.
    pub last_at: Option<Timestamp>,
}

impl JobResult {
    /// The end of a job that hit a defect of the program, or was not even begun.
    pub(super) fn broken(
        session: SessionKey,
        (index, gather): (bool, bool),
        error: ReadError,
    ) -> JobResult {
        let failed = IndexOutcome::Failed(error.to_string());
        JobResult {
            session,
            files: Vec::new(),
            digest: SessionDigest::default(),
            index: index.then_some(failed),
            gathered: if gather { GatherOutcome::Nothing } else { GatherOutcome::NotAsked },
            error: Some(error),
        }
    }
}

impl Job {
    /// Does it. Blocks; for a thread of its own.
    pub fn run(self, reader: &SourceReader) -> JobResult {
        let Job { session, format, parse_context, files, anew, save, index, gather, now } = self;
        let known = files.iter().map(|file| file.source.offset).sum();
        let begun = reader.crash_tracker.begin(&session.id, known);
        let mut done = JobResult {
            session: session.key,
            files: Vec::with_capacity(files.len()),
            digest: SessionDigest::default(),
            index: None,
            gathered: GatherOutcome::NotAsked,
            error: None,
        };
        for JobFile { source, state } in files {
            let parse_context = parse_context.clone();
            let request = ReadRequest { format, parse_context, source, state, anew, save };
            match reader.read(request) {
                Ok(read) => done.files.push(read),
                Err(error) => done.error = Some(error),
            }
        }
        done.digest = SessionDigest::of(&done.files);
        if gather && index.is_none() {
            let question = question(&session, &done, reader).map(Box::new);
            done.gathered = question.map_or(GatherOutcome::Nothing, GatherOutcome::Question);
        }
        // A session that was not read to its end stays due, and is taken up at the next start.
        let is_stopped = reader.stop.load(Ordering::Relaxed);
        if let Some(reason) = index.filter(|_| !is_stopped) {
            done.index = Some(match &done.error {
                None => make_episode(&session, &reason, &done, &parse_context, now),
                Some(error) => IndexOutcome::Failed(error.to_string()),
            });
        }
        if !is_stopped {
            begun.done();
        }
        done
    }
}

impl SessionDigest {
    /// What is known from all files of a session, the session's own first.
    pub fn of(files: &[ReadProgress]) -> SessionDigest {
        let hash = content_hash::of_session(files.iter().map(|file| file.state.hasher.hash()));
        let evidence = || files.iter().map(|file| file.state.evidence());
        let messages = evidence().map(|evidence| evidence.counts.messages).sum();
        SessionDigest {
            content: hash.map(|hash| Content { hash, messages }),
            project: files
                .first()
                .and_then(|file| project(&file.source.path, file.state.evidence())),
            started_at: evidence().filter_map(|evidence| evidence.span.first).min(),
            last_at: files.iter().filter_map(|file| file.state.last_at).max(),
        }
    }
}

/// The directory that the transcript's folder is named after, else the first one worked in.
///
/// The name is lossy (every character that is no letter or digit became `-`), so it can confirm a
/// directory but not tell it.
fn project(path: &str, evidence: &crate::model::Evidence) -> Option<Project> {
    let folder = std::path::Path::new(path).parent()?.file_name()?.to_str()?;
    let slug = |directory: &str| -> String {
        directory.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    };
    let named = evidence.directories.iter().find(|directory| slug(directory) == folder);
    named.or(evidence.directories.first()).map(|directory| Project::new(directory))
}

fn make_episode(
    session: &Session,
    reason: &CloseReason,
    done: &JobResult,
    parse_context: &ParseContext,
    now: Timestamp,
) -> IndexOutcome {
    let Some(content) = done.digest.content else { return IndexOutcome::Nothing };
    if let Some(indexed) = &session.indexed
        && indexed.hash == content.hash
    {
        // Perhaps its episode was deleted since: then it is not wanted.
        let hash = content.hash;
        tracing::info!(session = %session.id, %hash, "session unchanged, skipping index");
        return IndexOutcome::Unchanged;
    }
    let episode =
        episode::from_evidence(session, reason, done, (content, &parse_context.summarize), now);
    let statements = graph::read(&episode, &episode::merged_evidence(done));
    IndexOutcome::Made(Box::new(NewEpisode { episode, statements }))
}

/// What is known of a session, as long as its episode is of what it says now and no model wrote
/// it.
fn question(session: &Session, done: &JobResult, reader: &SourceReader) -> Option<ModelQuestion> {
    let indexed = session.indexed.as_ref()?;
    if done.digest.content?.hash != indexed.hash {
        return None;
    }
    let episode = reader.store.episode(indexed.episode).ok().flatten()?;
    if episode.author != Author::Evidence {
        return None;
    }
    let mut unknowns = Unknowns::default();
    done.files.iter().for_each(|file| unknowns.absorb(&file.state.unknowns));
    Some(ModelQuestion {
        session: session.clone(),
        episode,
        evidence: episode::merged_evidence(done),
        detector: done.files.first().map(|file| file.state.detector.clone()).unwrap_or_default(),
        unknowns,
        truncated: truncated(done),
    })
}

/// The messages of all files that are kept in short, those that say most first.
fn truncated(done: &JobResult) -> Vec<LocatedMessage> {
    let of_file = |file: &ReadProgress| {
        let Source { key, path, .. } = file.source.clone();
        let truncated = file.state.truncated.iter().cloned();
        truncated
            .map(move |long| LocatedMessage { source: key, path: path.clone(), long })
            .collect::<Vec<_>>()
    };
    let mut truncated: Vec<LocatedMessage> = done.files.iter().flat_map(of_file).collect();
    truncated.sort_by(|a, b| b.long.worth().cmp(&a.long.worth()).then(a.source.cmp(&b.source)));
    truncated
}

/// Whether a file of a session has anything that was not read.
pub fn needs_reading(source: &Source) -> bool {
    !reading::is_untouched(source)
}

/// A new name for an episode of a session that ended at `ended_at`.
pub(crate) fn new_episode_id(ended_at: Timestamp) -> EpisodeId {
    let random = uuid::Uuid::new_v4().into_bytes();
    EpisodeId::new(ended_at, *random.first_chunk().expect("a UUID has sixteen bytes"))
}
