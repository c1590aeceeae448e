//! A job reads the new lines of a session's files. If an episode is due, the job then creates it.
//! Otherwise, if a question to a model is due, the job prepares the question.
//!
//! At most one job works on a session at any time, so a job owns the session's files and states.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

use crate::{
    activity::classify::Unknowns,
    capture::{content_hash, format::FormatHandle},
    engine::{
        episode::{self, EpisodeSource},
        figures,
        job_result::{GatherOutcome, IndexOutcome, JobResult, SessionDigest},
        model_queue::ModelQuestion,
        new_episode::NewEpisode,
        parse_context::ParseContext,
        pipeline::SourceState,
        reading::{ReadError, ReadProgress, ReadRequest, SavePolicy, SourceReader, saved_messages},
        truncated_messages::LocatedMessage,
    },
    fault, graph,
    model::{
        CloseReason, Project, SessionKey, Timestamp,
        episode::Author,
        session::{Content, Session},
    },
    store::{Source, SourceKey, Store, StoreError},
};

pub struct Job {
    /// The session at the start of the job. Its `indexed` is `None` if the job has to create a new
    /// episode even if the session did not change.
    pub session: Session,
    pub format: FormatHandle,
    pub parse_context: Arc<ParseContext>,
    /// The files that are read.
    pub files: Vec<JobFile>,
    /// The files that are not read, and whose numbers of messages are unknown.
    pub uncounted: Vec<SourceKey>,
    /// Whether the files are read from their start.
    pub from_start: bool,
    pub save: SavePolicy,
    /// Why an episode is created; `None` if the job creates no episode.
    pub index: Option<CloseReason>,
    /// Whether to prepare a question to a model.
    pub gather: bool,
    /// When the job starts.
    pub now: Timestamp,
}

/// A file of a session.
pub struct JobFile {
    pub source: Source,
    /// The state of the file; `None` to load the saved state.
    pub state: Option<Box<SourceState>>,
}

impl JobResult {
    /// Returns the result of a job that panicked or was not started.
    pub(super) fn failed(job: &Job, error: ReadError) -> JobResult {
        JobResult::not_started(job.session.key, job.index.is_some(), job.gather, error)
    }

    /// Returns the result of a job that could not be prepared. `is_index_due` means that the job
    /// should have created an episode, and `gather` that it should have prepared a question.
    pub(super) fn not_started(
        session: SessionKey,
        is_index_due: bool,
        gather: bool,
        error: ReadError,
    ) -> JobResult {
        let failed = error.to_string();
        JobResult {
            session,
            files: Vec::new(),
            others: BTreeMap::new(),
            digest: SessionDigest::default(),
            gathered: match gather {
                true => GatherOutcome::Failed(failed.clone()),
                false => GatherOutcome::NotRequested,
            },
            index: is_index_due.then_some(IndexOutcome::Failed(failed)),
            errors: vec![error],
        }
    }
}

impl Job {
    /// Runs the job. Blocks: call it on a separate thread.
    pub fn run(self, reader: &SourceReader) -> JobResult {
        let Job { session, format, parse_context, uncounted, from_start, save, now, .. } = self;
        let (files, index, gather) = (self.files, self.index, self.gather);
        let known = files.iter().map(|file| file.source.offset).sum();
        let begun = reader.crash_tracker.begin(&session.id, known);
        fault::point("job: begun");
        let mut done = JobResult {
            session: session.key,
            files: Vec::with_capacity(files.len()),
            others: saved_counts(reader.store.as_ref(), uncounted),
            digest: SessionDigest::default(),
            index: None,
            gathered: GatherOutcome::NotRequested,
            errors: Vec::new(),
        };
        for JobFile { source, state } in files {
            let (format, parse_context) = (format.clone(), parse_context.clone());
            let request = ReadRequest { format, parse_context, source, state, from_start, save };
            match reader.read(request) {
                Ok(read) => done.files.push(read),
                Err(error) => done.errors.push(error),
            }
        }
        done.digest = SessionDigest::of(&done.files);
        if let Some(project) = &done.digest.project {
            reader.projects.note(project, now);
            done.digest.root = Some(reader.projects.root(project));
        }
        if gather && index.is_none() {
            done.gathered = gather_question(&session, &done, reader);
        }
        // If the daemon stops during the job, the episode stays due and is created after the next
        // start.
        let is_stopped = reader.stop.load(Ordering::Relaxed);
        if let Some(reason) = index.filter(|_| !is_stopped) {
            let outcome = match done.errors.first() {
                None => make_episode(&session, &reason, &done, &parse_context, now),
                Some(error) => IndexOutcome::Failed(error.to_string()),
            };
            if let IndexOutcome::Made(made) = &outcome {
                reader.memory_use.ended(&made.episode);
            }
            done.index = Some(outcome);
        }
        if !is_stopped {
            begun.done();
        }
        done
    }
}

/// Returns the numbers of messages of files, without files whose number is not saved.
fn saved_counts(store: &dyn Store, sources: Vec<SourceKey>) -> BTreeMap<SourceKey, u32> {
    let mut counts = BTreeMap::new();
    for source in sources {
        match saved_messages(store, source) {
            Ok(count) => counts.extend(count.map(|count| (source, count))),
            Err(error) => tracing::warn!(%error, "the messages of a session are not counted again"),
        }
    }
    counts
}

impl SessionDigest {
    /// Returns the digest of the files that a job read. The project is the project of the first
    /// file, which is the session's own file if the job read it.
    pub fn of(files: &[ReadProgress]) -> SessionDigest {
        let hash = content_hash::of_session(files.iter().map(|file| file.state.hasher.hash()));
        let evidence = || files.iter().map(|file| file.state.evidence());
        let messages = evidence().map(|evidence| evidence.counts.messages).sum();
        SessionDigest {
            content: hash.map(|hash| Content { hash, messages }),
            project: files
                .first()
                .and_then(|file| project(&file.source.path, file.state.evidence())),
            root: None,
            started_at: evidence().filter_map(|evidence| evidence.span.first).min(),
            last_at: files.iter().filter_map(last_at).max(),
        }
    }
}

/// Returns the latest time in a file, or the time when the file was modified if its last message
/// has no time.
fn last_at(file: &ReadProgress) -> Option<Timestamp> {
    let modified = || Timestamp::from_micros(file.source.stamp.modified);
    file.state.last_at.or_else(|| (file.state.next_seq > 0).then(modified))
}

/// Returns the project of the working directory after which the transcript's folder is named. If no
/// working directory matches the folder, returns the project of the first working directory.
///
/// The name of the folder is lossy (`-` replaces every character that is not an ASCII letter or
/// digit): a directory can be compared with the name, but cannot be derived from it.
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
    if !parse_context.makes_episodes {
        return IndexOutcome::NotWanted;
    }
    if let Some(indexed) = &session.indexed
        && indexed.hash == content.hash
    {
        // The episode may be missing because a user deleted it. Then it is not created again.
        let hash = content.hash;
        tracing::info!(session = %session.id, %hash, "session unchanged, skipping index");
        return IndexOutcome::Unchanged;
    }
    let source = EpisodeSource { session, done, content };
    let episode = episode::from_evidence(&source, reason, &parse_context.summarize, now);
    let evidence = episode::merged_evidence(done);
    let statements = graph::extract(&episode, &evidence);
    let figures = Some(figures::of_evidence(&evidence, session));
    IndexOutcome::Made(Box::new(NewEpisode { episode, statements, figures }))
}

fn gather_question(session: &Session, done: &JobResult, reader: &SourceReader) -> GatherOutcome {
    if let Some(error) = done.errors.first() {
        return GatherOutcome::Failed(error.to_string());
    }
    match question(session, done, reader) {
        Ok(Some(question)) => GatherOutcome::Question(Box::new(question)),
        Ok(None) => GatherOutcome::Nothing,
        Err(error) => GatherOutcome::Failed(error.to_string()),
    }
}

/// Returns the question about a session; `None` if the episode of the session is missing, outdated
/// or written by a model.
fn question(
    session: &Session,
    done: &JobResult,
    reader: &SourceReader,
) -> Result<Option<ModelQuestion>, StoreError> {
    let (Some(indexed), Some(content)) = (&session.indexed, done.digest.content) else {
        return Ok(None);
    };
    if content.hash != indexed.hash {
        return Ok(None);
    }
    let episode = reader.store.episode(indexed.episode)?;
    let Some(episode) = episode.filter(|episode| episode.author == Author::Evidence) else {
        return Ok(None);
    };
    let mut unknowns = Unknowns::default();
    done.files.iter().for_each(|file| unknowns.absorb(&file.state.unknowns));
    Ok(Some(ModelQuestion {
        session: session.clone(),
        episode,
        root: done.digest.root.clone(),
        evidence: episode::merged_evidence(done),
        detector: done.files.first().map(|file| file.state.detector.clone()).unwrap_or_default(),
        unknowns,
        truncated: truncated(done),
    }))
}

/// Returns the truncated messages of all files, the most relevant first.
fn truncated(done: &JobResult) -> Vec<LocatedMessage> {
    let of_file = |file: &ReadProgress| {
        let Source { key, path, .. } = file.source.clone();
        let truncated = file.state.truncated.iter().cloned();
        truncated
            .map(move |message| LocatedMessage { source: key, path: path.clone(), message })
            .collect::<Vec<_>>()
    };
    let mut truncated: Vec<LocatedMessage> = done.files.iter().flat_map(of_file).collect();
    truncated.sort_by(|a, b| {
        b.message.relevance().cmp(&a.message.relevance()).then(a.source.cmp(&b.source))
    });
    truncated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::truncated_messages::{KeptText, MessagePosition, Relevance, TruncatedMessage},
        model::{
            Evidence, Role,
            session::Indexed,
            transcript::{Item, LazyText, Outcome, ToolResult},
        },
        store::{FileStamp, contract},
    };

    fn session() -> Session {
        contract::session(SessionKey(1), "a")
    }

    fn file(number: u32, state: SourceState) -> ReadProgress {
        let stamp = FileStamp { modified: 9_000_000, ..FileStamp::default() };
        ReadProgress {
            source: Source { stamp, ..contract::source_of(&session(), number) },
            state: Box::new(state),
            new_messages: 0,
            moved: true,
            exists: true,
            was_replaced: false,
            is_saved: true,
        }
    }

    fn done(files: Vec<ReadProgress>) -> JobResult {
        let digest = SessionDigest::of(&files);
        let (index, gathered, errors) = (None, GatherOutcome::NotRequested, Vec::new());
        let others = BTreeMap::new();
        JobResult { session: SessionKey(1), files, others, digest, index, gathered, errors }
    }

    #[test]
    fn the_project_is_the_directory_after_which_the_folder_is_named() {
        let of = |path: &str, directories: &[&str]| {
            let directories = directories.iter().map(|one| (*one).to_owned()).collect();
            let project = project(path, &Evidence { directories, ..Evidence::default() })?;
            Some(project.path().to_owned())
        };
        let directories = ["/home/ada/lib", "/home/ada/my_app"];
        let wanted = |project: &str| Some(project.to_owned());
        assert_eq!(of("/t/-home-ada-my-app/a.jsonl", &directories), wanted("/home/ada/my_app"));
        assert_eq!(of("/t/-home-ada/a.jsonl", &directories), wanted("/home/ada/lib"));
        assert_eq!(of("/t/-home-ada-my-app/a.jsonl", &[]), None);
    }

    #[test]
    fn a_file_whose_last_message_has_no_time_has_the_time_of_its_modification() {
        let state = |messages, last: Option<i64>| {
            let mut state = SourceState::new(0);
            state.next_seq = messages;
            state.last_at = last.map(Timestamp::from_seconds);
            state
        };
        for (files, wanted) in [
            (vec![state(2, Some(3))], Some(3)),
            (vec![state(2, None)], Some(9)),
            // A file without messages has no time.
            (vec![state(0, None)], None),
            (vec![state(2, Some(3)), state(1, Some(5))], Some(5)),
            (vec![state(2, Some(30)), state(1, None)], Some(30)),
        ] {
            let files: Vec<ReadProgress> =
                (0..).zip(files).map(|(at, one)| file(at, one)).collect();
            let last = SessionDigest::of(&files).last_at;
            assert_eq!(last, wanted.map(Timestamp::from_seconds));
        }
    }

    #[test]
    fn an_episode_is_made_of_content_that_changed() {
        let now = Timestamp::from_seconds(9_000);
        let mut state = SourceState::new(0);
        state.hasher.add(Role::User, "Fix the login");
        let done = done(vec![file(0, state)]);
        let content = done.digest.content.unwrap();
        let indexed = |hash| Session {
            indexed: Some(Indexed {
                episode: contract::episode(&session(), 2_000).id,
                hash,
                at: now,
                reason: CloseReason::InactivityTimeout,
            }),
            ..session()
        };
        let made = |session: &Session, done: &JobResult, makes_episodes| {
            let settings = ParseContext { makes_episodes, ..ParseContext::of_defaults() };
            let reason = CloseReason::InactivityTimeout;
            match make_episode(session, &reason, done, &settings, now) {
                IndexOutcome::Made(made) => {
                    assert_eq!(made.episode.content_hash, content.hash);
                    "made"
                }
                IndexOutcome::Unchanged => "unchanged",
                IndexOutcome::Nothing => "nothing",
                IndexOutcome::NotWanted => "not wanted",
                IndexOutcome::Failed(_) => "failed",
            }
        };
        let other = crate::model::session::ContentHash([8; 32]);
        assert_eq!(made(&session(), &done, true), "made");
        assert_eq!(made(&indexed(other), &done, true), "made");
        assert_eq!(made(&indexed(content.hash), &done, true), "unchanged");
        assert_eq!(made(&indexed(other), &done, false), "not wanted");
        let empty = self::done(vec![file(0, SourceState::new(0))]);
        assert_eq!(made(&session(), &empty, true), "nothing");
    }

    #[test]
    fn the_most_relevant_truncated_message_is_first() {
        let state = |outputs: &[(u32, Outcome)]| {
            let mut state = SourceState::new(0);
            for (seq, outcome) in outputs {
                let content = LazyText::plain("a long output");
                let call = "a".into();
                let item = Item::Result(ToolResult { call, outcome: *outcome, content });
                let (position, kept) =
                    (MessagePosition { seq: *seq, at: 0 }, KeptText { role: Role::Tool, text: "" });
                let message = TruncatedMessage::new(position, &item, Relevance::Normal, kept);
                state.truncated.note(message);
            }
            state
        };
        let own = state(&[(1, Outcome::Succeeded), (2, Outcome::Succeeded)]);
        let of_sub_agent = state(&[(1, Outcome::Succeeded), (7, Outcome::Failed(None))]);
        let found = truncated(&done(vec![file(0, own), file(1, of_sub_agent)]));
        let order: Vec<(u32, u32)> =
            found.iter().map(|one| (one.source.number, one.message.seq)).collect();
        assert_eq!(order, [(1, 7), (0, 1), (1, 1), (0, 2)]);
    }
}
