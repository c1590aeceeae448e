//! Jobs: what starts them and what comes of them.

use std::time::Duration;

use super::EngineState;
use crate::{
    engine::{
        Closed, EngineError, EngineEvent,
        command::CloseOutcome,
        crash_tracker::Quarantine,
        defect, files, forks,
        job::{GatherOutcome, IndexOutcome, Job, JobFile, JobResult, NewEpisode, SessionDigest},
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

/// Pauses in seconds before a failed job is tried again (`resilience.retry_queue` of Graphiti).
const RETRIES: [u64; 5] = [300, 900, 2_700, 7_200, 21_600];
/// After so many sessions of history a line in the log says how far the import is.
const SAY_PROGRESS: usize = 50;

impl EngineState {
    /// Starts whatever can be started.
    pub(super) fn start_work(&mut self, now: Timestamp) {
        if self.stopping.is_none() {
            self.identify_some();
            self.import_history(now);
            self.start_asking(now);
        }
        while let Some((key, due)) = self.schedule.next(now) {
            match self.prepare(key, due, now) {
                Ok(Some(job)) => match self.left_alone(&job, now) {
                    Some(done) => self.job_ended(done, now),
                    None => self.start(job),
                },
                Ok(None) => {
                    self.schedule.ended(key);
                    self.gathered(key, GatherOutcome::Nothing);
                }
                Err(error) => {
                    self.schedule.ended(key);
                    self.gathered(key, GatherOutcome::Nothing);
                    self.note_problem(error.to_string());
                }
            }
        }
    }

    /// Begins with the next session of history, once all files are known: the newest comes first.
    fn import_history(&mut self, now: Timestamp) {
        let all_known = self.scanned && self.discovery.is_empty();
        if all_known
            && self.schedule.wants_history()
            && self.engine.has_room().is_ok()
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
        let Some(session) = self.session(key) else { return Ok(None) };
        let Some(format) = files::format_of(&session.id.agent) else { return Ok(None) };
        // An episode is made of all files; else only those are read that changed, or that are
        // held and to be saved.
        let everything = due.index.is_some() || due.gather || due.anew;
        let mut files = Vec::new();
        for source in self.engine.store.sources_of(key)? {
            let is_due =
                due.files.contains(&source.key.number) || due.save && self.states.holds(source.key);
            if everything || is_due {
                files.push(match self.states.take(source.key) {
                    Some((source, state)) => JobFile { source, state: Some(state) },
                    None => JobFile { source, state: None },
                });
            }
        }
        if files.is_empty() && !everything {
            return Ok(None);
        }
        let save = if everything || due.save { SavePolicy::Now } else { SavePolicy::WhenDue };
        let parse_context = self.settings.parse_context.clone();
        let DueWork { index, gather, anew, .. } = due;
        Ok(Some(Job { session, format, parse_context, files, anew, save, index, gather, now }))
    }

    /// The end of a job that is not started at present; its files are looked at again later.
    fn left_alone(&mut self, job: &Job, now: Timestamp) -> Option<JobResult> {
        let Quarantine { deaths, pause } =
            self.reader.crash_tracker.left_alone(&job.session.id, now)?;
        for file in &job.files {
            self.unreadable.add((&file.source.path).into(), now);
        }
        let hours = pause.as_secs() / (60 * 60);
        let why = ReadError::Quarantine { session: job.session.id.id.clone(), deaths, hours };
        Some(JobResult::broken(job.session.key, (job.index.is_some(), job.gather), why))
    }

    fn start(&mut self, job: Job) {
        let (events, reader) = (self.engine.events.clone(), self.reader.clone());
        let (session, asked) = (job.session.key, (job.index.is_some(), job.gather));
        let ended = move |done: Option<JobResult>| {
            let defect = || ReadError::Defect(defect::PANIC.to_owned());
            let done = done.unwrap_or_else(|| JobResult::broken(session, asked, defect()));
            drop(events.blocking_send(EngineEvent::JobDone(Box::new(done))));
        };
        self.workers.run(self.schedule.thread_of(session), move || job.run(&reader), ended);
    }

    pub(super) fn job_ended(&mut self, done: JobResult, now: Timestamp) {
        let JobResult { session: key, files, digest, index, gathered, error } = done;
        self.schedule.ended(key);
        if let Some(error) = &error {
            self.note_problem(error.to_string());
            if let ReadError::File { path, .. } = error {
                self.unreadable.add(path.into(), now);
            }
        }
        let Some(before) = self.session(key) else {
            self.not_gathered(key);
            return;
        };
        let mut session = before.clone();
        if error.is_none() {
            note_digest(&mut session, &digest, &files);
        }
        let new_messages = files.iter().any(|file| file.new_messages > 0);
        let is_gone = !files.is_empty() && !files.iter().any(|file| file.there);
        if files.iter().any(|file| file.was_replaced) {
            self.read_copies_anew(key);
        }
        let is_saved = files.iter().any(|file| file.saved);
        self.hold_states(files, &session);
        if new_messages {
            session = self.written(session, &before, digest.last_at, now);
        } else if is_gone && index.is_none() {
            session = self.move_on(&session, SessionEvent::AgentGone, now);
        } else {
            self.tracker.hold(session.clone());
        }
        let is_news = session.project != before.project || is_saved && !self.is_stored(&session);
        if is_news && session.state == before.state {
            self.save_session(session.clone());
        }
        match (index, error) {
            // It stays due, and is taken up when the store is opened anew.
            (Some(_), Some(ReadError::Store(error))) if is_over(&error) => {
                self.not_gathered(key);
                self.reply_to_waiting(&session, Err(EngineError::Failed(error.to_string())));
            }
            (Some(end), _) => {
                self.not_gathered(key);
                self.index_ended(&session, end, now);
            }
            (None, _) => self.gathered(key, gathered),
        }
        self.end_if_agent_is_gone(key, now);
    }

    /// The session after messages came in. What a transcript says of its own time decides: one
    /// that was copied here is as old as its last message, not as the file.
    fn written(
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
            // The job itself read them: they are part of the episode.
            SessionState::Indexing(_) => {
                session.last_activity = session.last_activity.max(at);
                self.tracker.hold(session.clone());
                session
            }
            _ if is_first => {
                session.state = machine::first_state(at, now, self.tracker.config());
                self.tracker.hold(session.clone());
                self.save_session(session.clone());
                session
            }
            _ => self.move_on(&session, SessionEvent::Written(at), now),
        }
    }

    fn index_ended(&mut self, before: &Session, end: IndexOutcome, now: Timestamp) {
        let SessionState::Indexing(indexing) = &before.state else { return };
        let how = match &end {
            IndexOutcome::Made(_) if before.indexed.is_some() => Ok(CloseOutcome::Replaced),
            IndexOutcome::Made(_) => Ok(CloseOutcome::Indexed),
            IndexOutcome::Unchanged => Ok(CloseOutcome::Unchanged),
            IndexOutcome::Nothing => Ok(CloseOutcome::Empty),
            IndexOutcome::Failed(error) => Err(EngineError::Failed(error.clone())),
        };
        if indexing.reason == CloseReason::HistorySync {
            self.history_advanced();
        }
        let (reason, stands) = (indexing.reason.clone(), stands(&end));
        let (end, made) = job_end(end, indexing, now);
        let after = self.move_on_with(before, SessionEvent::JobEnded(end), made, now);
        match &how {
            Ok(how) => tracing::info!(session = %after.id, ?how, "session closed"),
            Err(error) => tracing::warn!(session = %after.id, %error, "session not indexed"),
        }
        if let Some(is_new) = stands {
            self.episode_stands(&after, &reason, (is_new, now));
        }
        // Another job follows for those who asked while this one ran.
        if !matches!(after.state, SessionState::Indexing(_)) {
            self.reply_to_waiting(&after, how);
        }
    }

    /// Counts a session of history, and says now and then how far the import is.
    fn history_advanced(&mut self) {
        self.history_done += 1;
        let done = self.history_done;
        if self.tracker.newest_history().is_none() {
            tracing::info!(sessions = done, "history imported");
        } else if done.is_multiple_of(SAY_PROGRESS) {
            let history = SessionState::Unindexed(Unindexed::History);
            let left = self.keys(|session| session.state == history).len();
            tracing::info!(done, left, "importing history");
        }
    }

    /// Tells those who wait for a session how its job ended, once that is safe on disk.
    fn reply_to_waiting(&mut self, session: &Session, how: Result<CloseOutcome, EngineError>) {
        let Some(waiting) = self.waiting.remove(&session.key) else { return };
        let key = session.key;
        let episode = session.indexed.as_ref().map(|indexed| indexed.episode);
        // One that was deleted is none.
        let episode = episode.filter(|id| matches!(self.engine.store.episode(*id), Ok(Some(_))));
        // Writes are applied in order: behind an empty list all earlier ones are safe.
        let saved = self.engine.store.write(Vec::new());
        tokio::spawn(async move {
            let saved = saved.done().await.map_err(|error| EngineError::Failed(error.to_string()));
            let closed = saved
                .and_then(|position| Ok(Closed { session: key, episode, how: how?, position }));
            for reply in waiting {
                drop(reply.send(closed.clone()));
            }
        });
    }

    /// Whether the store has a session as it is now, and not just the states of its files.
    fn is_stored(&self, session: &Session) -> bool {
        let stored = self.engine.store.session(session.key);
        stored.is_ok_and(|stored| stored.as_ref() == Some(session))
    }

    /// A file of the session was replaced, and what it said before is gone: copies of it left that
    /// to it, and have it themselves from now on.
    fn read_copies_anew(&mut self, session: SessionKey) {
        let store = self.engine.store.as_ref();
        let copies = forks::relatives(store, session).and_then(|mut copies| {
            let has_several = store.sources_of(session)?.len() > 1;
            copies.extend(has_several.then_some(session));
            Ok(copies)
        });
        match copies {
            Ok(copies) => copies.into_iter().for_each(|copy| {
                self.schedule.add(copy, Queue::Live, |due| due.anew = true);
            }),
            Err(error) => self.note_problem(error.to_string()),
        }
    }

    /// Holds the states of files that may soon be read on.
    fn hold_states(&mut self, files: Vec<ReadProgress>, session: &Session) {
        let is_live = matches!(session.state, SessionState::Active);
        for file in files {
            if !file.saved || is_live && file.there {
                self.states.put(file);
            }
        }
        if let Some(session) = self.states.make_room() {
            self.schedule.add(session, Queue::Live, |due| due.save = true);
        }
    }
}

/// Whether a store takes nothing more until it is opened anew.
fn is_over(error: &StoreError) -> bool {
    match error {
        StoreError::Full(_) | StoreError::Backend(_) | StoreError::Closed => true,
        StoreError::Damaged { .. } | StoreError::Unreadable(_) | StoreError::TooNew { .. } => false,
    }
}

/// Whether a session has an episode after a job, and a new one.
fn stands(end: &IndexOutcome) -> Option<bool> {
    match end {
        IndexOutcome::Made(_) => Some(true),
        IndexOutcome::Unchanged => Some(false),
        IndexOutcome::Nothing | IndexOutcome::Failed(_) => None,
    }
}

/// What the end of a job means for the session, and the episode to be stored with it.
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
        IndexOutcome::Nothing => (JobEnd::Nothing, None),
        IndexOutcome::Failed(error) => {
            let pause = RETRIES.get(indexing.attempts as usize).copied().map(Duration::from_secs);
            let error = redaction::owned(error);
            (JobEnd::Failed { error, retry_at: pause.map(|pause| now.plus(pause)) }, None)
        }
    }
}

/// Puts what a job found out about a session into it. The session's own file says what it is
/// about; a job that read only sub-agents' files leaves that, unless they are all that is left.
fn note_digest(session: &mut Session, digest: &SessionDigest, files: &[ReadProgress]) {
    let has_own_file = !session.file.is_empty();
    if !has_own_file || files.iter().any(|file| file.source.key.number == 0) {
        session.project = digest.project.clone().or(session.project.take());
        session.content = digest.content.or(session.content);
    }
    session.started_at = [session.started_at, digest.started_at].into_iter().flatten().min();
}
