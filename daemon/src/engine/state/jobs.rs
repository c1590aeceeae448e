//! Starts jobs and handles their results.

use std::time::Duration;

use super::{EngineEffect, EngineState, answer};
use crate::{
    engine::{
        Closed, EngineError,
        command::CloseOutcome,
        crash_tracker::Quarantine,
        job::{Job, JobFile},
        job_result::{GatherOutcome, IndexOutcome, JobResult, SessionDigest},
        new_episode::NewEpisode,
        reading::{ReadError, ReadProgress, SavePolicy},
        redaction,
        schedule::{DueWork, Queue},
    },
    model::{
        CloseReason, SessionKey, Timestamp,
        session::{Indexed, Indexing, Session, State as SessionState, Unindexed},
    },
    session::{JobEnd, SessionEvent, machine},
    store::StoreError,
};

/// Seconds before each retry of a failed job. The default delays of requests to models have the
/// same values (`resilience.retry_queue.retry_delays_seconds`).
pub(super) const RETRIES: [u64; 5] = [300, 900, 2_700, 7_200, 21_600];
/// The longest of these pauses.
pub(super) const LONGEST_RETRY: Duration = Duration::from_secs(RETRIES[RETRIES.len() - 1]);
/// The number of imported sessions of history after which the progress is logged.
const LOG_PROGRESS: usize = 50;

impl EngineState {
    /// Starts all work that can start now.
    pub(super) fn start_work(&mut self, now: Timestamp) {
        if self.stopping.is_none() {
            self.identify_some();
            self.import_history(now);
            self.start_questions(now);
        }
        while let Some((key, due)) = self.schedule.next(now) {
            let (is_index_due, gather) = (due.index.is_some(), due.gather);
            if due.from_start {
                self.rereads.begin(key);
            }
            let fail = |error| JobResult::not_started(key, is_index_due, gather, error);
            match self.prepare(key, due, now) {
                Ok(Some(job)) => match self.quarantined(&job, now) {
                    Some(done) => self.job_ended(done, now),
                    None => self.run_job(job),
                },
                Ok(None) => match self.session(key).filter(|_| is_index_due) {
                    Some(session) => {
                        let agent = session.id.agent.clone();
                        self.job_ended(fail(ReadError::UnknownFormat { agent }), now);
                    }
                    None => {
                        self.schedule.ended(key);
                        self.reread_not_started(key);
                        self.gathered(key, GatherOutcome::Nothing, now);
                    }
                },
                Err(error) => self.job_ended(fail(error.into()), now),
            }
        }
    }

    /// Starts to import the newest session of history, if all files are known.
    fn import_history(&mut self, now: Timestamp) {
        if self.knows_all_files()
            && self.schedule.wants_history()
            && self.view.check_writable().is_ok()
            && let Some(session) = self.tracker.newest_history()
        {
            self.session_event(session, SessionEvent::HistoryReached, now);
        }
    }

    fn prepare(
        &mut self,
        key: SessionKey,
        due: DueWork,
        now: Timestamp,
    ) -> Result<Option<Job>, StoreError> {
        let Some(session) = self.try_session(key)? else { return Ok(None) };
        let Some(format) = self.formats().of_agent(&session.id.agent) else { return Ok(None) };
        // A job for an episode or a question, or from the start, needs all files. Other jobs need
        // only the files that changed and, to save states, the files whose states are in memory.
        let everything = due.index.is_some() || due.gather || due.from_start;
        let (mut files, mut uncounted) = (Vec::new(), Vec::new());
        for source in self.view.sources_of(key)? {
            let is_due = due.files.contains(&source.key.number)
                || due.save && self.source_states.holds(source.key);
            if everything || is_due {
                files.push(match self.source_states.take(source.key) {
                    Some((source, state)) => JobFile { source, state: Some(state) },
                    None => JobFile { source, state: None },
                });
            } else if !self.message_counts.has(source.key) {
                uncounted.push(source.key);
            }
        }
        if files.is_empty() && !everything {
            return Ok(None);
        }
        let save = if everything || due.save { SavePolicy::Now } else { SavePolicy::WhenDue };
        let parse_context = self.settings.parse_context.clone();
        let DueWork { index, again, gather, from_start, .. } = due;
        let session = Session { indexed: session.indexed.filter(|_| !again), ..session };
        Ok(Some(Job {
            session,
            format,
            parse_context,
            files,
            uncounted,
            from_start,
            save,
            index,
            gather,
            now,
        }))
    }

    /// Returns the result of a job that must not start because its session is quarantined; `None`
    /// if the job may start. The files of a quarantined session are retried later.
    fn quarantined(&mut self, job: &Job, now: Timestamp) -> Option<JobResult> {
        let Quarantine { deaths, pause } = self.view.quarantine(&job.session.id, now)?;
        for file in &job.files {
            self.unreadable.add((&file.source.path).into(), now);
        }
        let hours = pause.as_secs() / (60 * 60);
        let why = ReadError::Quarantined { session: job.session.id.id.clone(), deaths, hours };
        Some(JobResult::failed(job, why))
    }

    fn run_job(&mut self, job: Job) {
        let thread = self.schedule.thread_of(job.session.key);
        self.effects.push(EngineEffect::RunJob { thread, job: Box::new(job) });
    }

    pub(super) fn job_ended(&mut self, done: JobResult, now: Timestamp) {
        let JobResult { session: key, files, others, digest, index, gathered, errors } = done;
        self.schedule.ended(key);
        self.reread_ended(key, &errors, now);
        for error in &errors {
            self.note_problem(error.to_string());
            if let ReadError::File { path, .. } = error {
                self.unreadable.add(path.into(), now);
            }
        }
        let Some(before) = self.session(key) else {
            self.unknown_gathered(key, gathered, now);
            return;
        };
        let mut session = before.clone();
        self.note_message_counts(&files, others);
        if errors.is_empty() {
            note_digest(&mut session, &digest, &files, self.count_messages(key));
        }
        let new_messages = files.iter().any(|file| file.new_messages > 0);
        let is_gone = has_no_own_file(&files);
        if files.iter().any(|file| file.was_replaced) {
            self.reread_copies(key);
        }
        let has_ended = files
            .iter()
            .any(|file| file.source.key.number == 0 && file.moved && file.state.is_ended);
        let is_saved = files.iter().any(|file| file.is_saved);
        self.cache_states(files, &session);
        if new_messages {
            session = self.messages_added(session, &before, digest.last_at, now);
        } else if is_gone && index.is_none() {
            session = self.apply_event(&session, SessionEvent::AgentGone, now);
        } else {
            self.tracker.track(session.clone());
        }
        let is_news = session.project != before.project || is_saved && !self.is_stored(&session);
        if is_news && session.state == before.state {
            self.save_session(session.clone());
        }
        let store_failure = errors
            .iter()
            .find(|error| matches!(error, ReadError::Store(error) if self.needs_reopening(error)));
        match (index, store_failure) {
            // The episode stays due until the store is reopened.
            (Some(_), Some(error)) => {
                self.not_gathered(key);
                self.reply_to_waiting(&session, Err(EngineError::Failed(error.to_string())));
            }
            (Some(end), _) => {
                self.not_gathered(key);
                self.index_ended(&session, end, now);
            }
            (None, _) => self.gathered(key, gathered, now),
        }
        if has_ended && matches!(session.state, SessionState::Active) {
            self.agent_ended(&before.id.id, now);
        }
        self.end_if_agent_is_gone(key, now);
    }

    /// Updates a session after new messages. `last_at` is a time in the transcript if possible, not
    /// the time of the file, because the transcript may have been copied to this machine later.
    fn messages_added(
        &mut self,
        mut session: Session,
        before: &Session,
        last_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Session {
        let at = last_at.map_or(now, |at| at.min(now));
        let is_first = before.content.is_none();
        if is_first {
            session.last_activity = at;
        }
        match session.state {
            // This job or the next job creates the episode with these messages.
            SessionState::Indexing(_) => {
                session.last_activity = session.last_activity.max(at);
                self.tracker.track(session.clone());
                session
            }
            _ if is_first => {
                session.state = machine::first_state(at, now, self.tracker.config());
                self.tracker.track(session.clone());
                self.save_session(session.clone());
                session
            }
            _ => self.apply_event(&session, SessionEvent::Written(at), now),
        }
    }

    fn index_ended(&mut self, before: &Session, end: IndexOutcome, now: Timestamp) {
        let SessionState::Indexing(indexing) = &before.state else { return };
        let how = match &end {
            IndexOutcome::Made(_) if before.indexed.is_some() => Ok(CloseOutcome::Replaced),
            IndexOutcome::Made(_) => Ok(CloseOutcome::Indexed),
            IndexOutcome::Unchanged => Ok(CloseOutcome::Unchanged),
            IndexOutcome::Nothing => Ok(CloseOutcome::Empty),
            IndexOutcome::NotWanted => Ok(CloseOutcome::NotWanted),
            IndexOutcome::Failed(error) => Err(EngineError::Failed(error.clone())),
        };
        if indexing.reason == CloseReason::HistorySync && indexing.attempts == 0 {
            self.history_advanced();
        }
        let (reason, has_new_episode) = (indexing.reason.clone(), has_new_episode(&end));
        let (end, made) = job_end(end, indexing, now);
        let after = self.apply_event_with_episode(before, SessionEvent::JobEnded(end), made, now);
        match &how {
            Ok(how) => tracing::info!(session = %after.id, ?how, "session closed"),
            Err(error) => tracing::warn!(session = %after.id, %error, "session not indexed"),
        }
        if after.state == SessionState::Indexed {
            self.message_counts.forget(after.key);
        }
        if let Some(is_new) = has_new_episode {
            self.queue_closed(&after, &reason, is_new, now);
        }
        // If another close was requested during the job, another job follows. The callers wait
        // for its result.
        if !matches!(after.state, SessionState::Indexing(_)) {
            self.reply_to_waiting(&after, how);
        }
    }

    /// Counts a session of history after the first attempt to import it, and logs the progress at
    /// intervals.
    fn history_advanced(&mut self) {
        self.history_done += 1;
        let done = self.history_done;
        if self.tracker.newest_history().is_none() {
            tracing::info!(sessions = done, "history imported");
        } else if done.is_multiple_of(LOG_PROGRESS) {
            let history = SessionState::Unindexed(Unindexed::History);
            let left = self.keys(|session| session.state == history).len();
            tracing::info!(done, left, "importing history");
        }
    }

    /// Replies to the callers that wait for a session's job, as soon as its result is durable.
    fn reply_to_waiting(&mut self, session: &Session, how: Result<CloseOutcome, EngineError>) {
        let Some(waiting) = self.waiting.remove(&session.key) else { return };
        let key = session.key;
        let episode = session.indexed.as_ref().map(|indexed| indexed.episode);
        // A user may have deleted the episode.
        let episode = episode.filter(|id| self.has_episode(*id));
        self.effects.push(EngineEffect::ReplyWhenSaved(Box::new(move |saved| {
            let closed = saved
                .map_err(EngineError::from)
                .and_then(|position| Ok(Closed { session: key, episode, how: how?, position }));
            for reply in waiting {
                answer(reply, closed.clone());
            }
        })));
    }

    /// Whether the error lasts until the store is reopened. After a failed write, the store reports
    /// its failure. After a failed read, it continues, and is not reopened.
    pub(super) fn needs_reopening(&self, error: &StoreError) -> bool {
        match error {
            StoreError::Full(_) | StoreError::Closed => true,
            StoreError::Backend(_) => self.view.check_writable().is_err(),
            StoreError::Damaged { .. } | StoreError::Unreadable(_) | StoreError::TooNew(_) => false,
        }
    }

    /// Whether the store has this version of a session.
    fn is_stored(&self, session: &Session) -> bool {
        let stored = self.stored_session(session.key);
        stored.is_ok_and(|stored| stored.as_ref() == Some(session))
    }

    /// Caches the states that are not saved, and the states of files that may soon be read again.
    /// If the cache is full, evicts saved states, or schedules a job that saves states.
    fn cache_states(&mut self, files: Vec<ReadProgress>, session: &Session) {
        let is_live = matches!(session.state, SessionState::Active);
        for file in files {
            if !file.is_saved || is_live && file.exists {
                self.source_states.put(file);
            }
        }
        if let Some(session) = self.source_states.evict() {
            self.schedule.add(session, Queue::Live, |due| due.save = true);
        }
    }
}

/// Whether a job made a new episode (`true`) or kept the current one because the session did not
/// change (`false`); `None` for all other outcomes.
fn has_new_episode(end: &IndexOutcome) -> Option<bool> {
    match end {
        IndexOutcome::Made(_) => Some(true),
        IndexOutcome::Unchanged => Some(false),
        IndexOutcome::Nothing | IndexOutcome::NotWanted | IndexOutcome::Failed(_) => None,
    }
}

/// Splits the outcome of a job into the event for the session and the episode to be stored.
fn job_end(
    end: IndexOutcome,
    indexing: &Indexing,
    now: Timestamp,
) -> (JobEnd, Option<Box<NewEpisode>>) {
    match end {
        IndexOutcome::Made(made) => {
            let (id, hash) = (made.episode.id, made.episode.content_hash);
            let reason = made.episode.reason.clone();
            (JobEnd::Made(Indexed { episode: id, hash, at: now, reason }), Some(made))
        }
        IndexOutcome::Unchanged => (JobEnd::Unchanged, None),
        IndexOutcome::Nothing | IndexOutcome::NotWanted => (JobEnd::Nothing, None),
        IndexOutcome::Failed(error) => {
            let pause = RETRIES.get(indexing.attempts as usize).copied().map(Duration::from_secs);
            let error = redaction::owned(error);
            (JobEnd::Failed { error, retry_at: pause.map(|pause| now.plus(pause)) }, None)
        }
    }
}

/// Whether a job found none of the session's own files that it had to read.
fn has_no_own_file(files: &[ReadProgress]) -> bool {
    let mut own_files = files.iter().filter(|file| file.source.sub_agent.is_none()).peekable();
    own_files.peek().is_some() && own_files.all(|file| !file.exists)
}

/// Updates a session with the digest of a job. The session's own file determines the project and
/// the content. So a job that read only files of sub-agents changes the project and the content
/// only if the session has no own file. `messages` is the number of messages of all files; if it is
/// `None`, the known number is kept.
fn note_digest(
    session: &mut Session,
    digest: &SessionDigest,
    files: &[ReadProgress],
    messages: Option<u32>,
) {
    let messages = messages.or(session.content.map(|content| content.messages));
    let has_own_file = !session.file.is_empty();
    if !has_own_file || files.iter().any(|file| file.source.key.number == 0) {
        session.project = digest.project.clone().or(session.project.take());
        session.content = digest.content.or(session.content);
    }
    if let (Some(content), Some(messages)) = (&mut session.content, messages) {
        content.messages = messages;
    }
    session.started_at = [session.started_at, digest.started_at].into_iter().flatten().min();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::pipeline::SourceState,
        model::{
            Project,
            session::{Content, ContentHash},
        },
        store::contract,
    };

    #[test]
    fn a_failed_job_is_retried_after_each_pause_and_then_given_up() {
        let now = Timestamp::from_seconds(1_000);
        let retry_at = |attempts| {
            let indexing = Indexing {
                reason: CloseReason::InactivityTimeout,
                since: now,
                attempts,
                written_since: false,
                again: None,
            };
            match job_end(IndexOutcome::Failed("no".to_owned()), &indexing, now).0 {
                JobEnd::Failed { retry_at, .. } => retry_at,
                end => panic!("{end:?}"),
            }
        };
        for (attempts, pause) in (0..).zip(RETRIES) {
            assert_eq!(retry_at(attempts), Some(now.plus(Duration::from_secs(pause))));
        }
        assert_eq!(retry_at(5), None);
        assert_eq!(retry_at(u32::MAX), None);
    }

    #[test]
    fn the_own_file_of_a_session_determines_its_project_and_content() {
        let content = Content { hash: ContentHash([8; 32]), messages: 12 };
        let digest = SessionDigest {
            content: Some(content),
            project: Some(Project::new("/home/ada/lib")),
            root: None,
            started_at: Some(Timestamp::from_seconds(500)),
            last_at: None,
        };
        let before = contract::session(SessionKey(1), "a");
        let noted = |before: &Session, number, digest: &SessionDigest| {
            let file = ReadProgress {
                source: contract::source_of(before, number),
                state: Box::new(SourceState::new(number)),
                new_messages: 1,
                moved: true,
                exists: true,
                was_replaced: false,
                is_saved: true,
            };
            let mut session = before.clone();
            note_digest(&mut session, digest, &[file], None);
            session
        };
        let by_own_file = noted(&before, 0, &digest);
        assert_eq!(by_own_file.content, Some(content));
        assert_eq!(by_own_file.project, digest.project);
        let by_sub_agent = noted(&before, 1, &digest);
        assert_eq!(by_sub_agent.content, before.content);
        assert_eq!(by_sub_agent.project, before.project);
        assert_eq!(by_sub_agent.started_at, digest.started_at);
        let without_file = Session { file: String::new(), ..before.clone() };
        assert_eq!(noted(&without_file, 1, &digest).content, Some(content));
        // A digest without values, and with a later start, changes nothing.
        let later = Some(Timestamp::from_seconds(5_000));
        let empty = SessionDigest { started_at: later, ..SessionDigest::default() };
        assert_eq!(noted(&before, 0, &empty), before);
        // The number of messages of all files is not known.
        let counted = Session { content: Some(Content { messages: 500, ..content }), ..before };
        assert_eq!(noted(&counted, 0, &digest).content, counted.content);
    }
}
