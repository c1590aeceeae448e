//! The event loop of the engine: it performs the effects of decisions.
//!
//! It uses the resources that decisions may not use: the clock, the store's writer, the file
//! system, threads and tasks. It makes no decision itself.

mod inbox;
mod watches;
mod workers;

use std::{
    collections::{BTreeSet, HashSet, VecDeque},
    future::Future,
    path::{Path, PathBuf},
    pin::pin,
    sync::{Arc, atomic::Ordering},
};

use tokio::sync::{mpsc, oneshot};

use self::{inbox::Inbox, watches::Watches, workers::Workers};
use crate::{
    capture::{
        format::{FormatHandle, Formats},
        liveness::{self, Life, Process},
        storage,
    },
    clock,
    engine::{
        Engine, EngineEvent, StartError, TranscriptFolders,
        command::EngineCommand,
        defect, duplicates,
        files::{self, FileObservation},
        job::Job,
        job_result::JobResult,
        model_queue::{ModelQuestion, SummarizeOutcome, Summarizer},
        outdated,
        reading::{ReadError, SourceReader},
        remake_permit::{RemakeContext, RemakePermit},
        schedule,
        state::{
            AgentObservation, EngineEffect, EngineState, FolderListing, MAX_SLEEP, ModelAnswer,
            RegisteredFiles, SettleWaiter, answer,
        },
    },
    fault,
    llm::{error::Error, ports::Avoided, request::Purpose},
    model::{SessionKey, Timestamp, session::Session},
    store::{Source, Store, StoreError, Write},
};

/// Performs the effects of the state's decisions.
pub(super) struct Executor {
    state: EngineState,
    engine: Engine,
    reader: Arc<SourceReader>,
    workers: Workers,
    watches: Watches,
    /// Effects of queries that were answered while another effect waited for the disk.
    postponed: Vec<EngineEffect>,
}

impl Executor {
    pub(super) fn new(
        engine: Engine,
        reader: Arc<SourceReader>,
        state: EngineState,
    ) -> Result<Executor, StartError> {
        let workers = Workers::start(schedule::JOBS)?;
        Ok(Executor {
            state,
            engine,
            reader,
            workers,
            watches: Watches::default(),
            postponed: Vec::new(),
        })
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(super) fn reader(&self) -> &Arc<SourceReader> {
        &self.reader
    }

    /// Repairs duplicates, and then handles one event after another until the engine is stopped.
    pub(super) async fn run(mut self, inbox: mpsc::Receiver<EngineEvent>) {
        let mut inbox = Inbox::new(inbox);
        let (store, excluded) = (self.engine.store.clone(), self.state.excluded().to_vec());
        let repaired = repair_duplicates(store.as_ref(), &excluded).await;
        let started = [EngineEvent::DuplicatesRepaired(repaired), EngineEvent::Started];
        for event in started {
            self.handle(event, clock::now(), &mut inbox).await;
        }
        loop {
            fault::point("engine: turn");
            // The event `TurnEnded` and the pause use the same time, so that the pause ends at the
            // first deadline that this event does not handle.
            let turn = clock::now();
            self.handle(EngineEvent::TurnEnded, turn, &mut inbox).await;
            if self.state.is_stopped() {
                break;
            }
            let pause = self.state.pause(turn);
            let event = tokio::select! {
                event = inbox.next() => event,
                () = tokio::time::sleep(pause.unwrap_or(MAX_SLEEP)), if pause.is_some() => None,
            };
            let now = clock::now();
            if let Some(event) = event {
                self.handle(event, now, &mut inbox).await;
            }
            self.handle(EngineEvent::DeadlinesDue, now, &mut inbox).await;
        }
        self.state.reply_to_stop();
    }

    /// Passes an event to the state, and performs the effects.
    async fn handle(&mut self, event: EngineEvent, now: Timestamp, inbox: &mut Inbox) {
        let mut effects = VecDeque::from(self.state.decide(event, now));
        while let Some(effect) = effects.pop_front() {
            let event = self.perform(effect, inbox).await;
            effects.extend(self.postponed.drain(..));
            let Some(event) = event else { continue };
            for effect in self.state.decide(event, now).into_iter().rev() {
                effects.push_front(effect);
            }
        }
    }

    /// Performs an effect. Returns the event that the effect causes immediately, if any.
    async fn perform(&mut self, effect: EngineEffect, inbox: &mut Inbox) -> Option<EngineEvent> {
        match effect {
            EngineEffect::Write(writes) => self.write(writes),
            EngineEffect::Register { sessions, sources } => {
                let registered = register(self.engine.store.clone(), sessions, sources);
                return Some(self.answer_queries_during(inbox, registered).await);
            }
            EngineEffect::RunJob { thread, job } => self.run_job(thread, *job),
            EngineEffect::Identify(paths) => self.identify(paths),
            EngineEffect::ObserveFiles(paths) => {
                let files = paths.into_iter().map(FileObservation::of).collect();
                return Some(EngineEvent::FilesObserved(files));
            }
            EngineEffect::ObserveAgents { folders, known, due } => {
                return Some(observe_agents(folders, known, due));
            }
            EngineEffect::AwaitExit(process) => self.await_exit(process),
            EngineEffect::Ask { summarizer, generation, question } => {
                self.ask(summarizer, generation, *question);
            }
            EngineEffect::CountAvoided(project) => {
                let client = &self.state.summarizer().client;
                client.record_avoided(Purpose::SessionSummary, Avoided::Unchanged, project);
            }
            EngineEffect::PermitRemake { session, parse_context, reply } => {
                let reader = self.reader.clone();
                let context = RemakeContext { session: *session, reader, parse_context };
                answer(reply, RemakePermit::Granted(Box::new(context)));
            }
            EngineEffect::Watch(folders) => return self.watch(folders),
            EngineEffect::FindOutdated => {
                let (reader, formats) = (self.reader.clone(), self.state.formats().clone());
                return Some(
                    self.answer_queries_during(inbox, find_outdated(reader, formats)).await,
                );
            }
            EngineEffect::Rescan { until_no_timeouts, reply } => {
                let scan = self.watches.rescan();
                let waiter = SettleWaiter { until_no_timeouts, scan, reply };
                return Some(EngineEvent::RescanRequested(waiter));
            }
            EngineEffect::LiftQuarantine(session) => self.reader.crash_tracker.try_again(&session),
            EngineEffect::ForgetCrashes(sessions) => {
                sessions.iter().for_each(|session| self.reader.crash_tracker.forget(session));
            }
            EngineEffect::Reply(send) => send(),
            EngineEffect::ReplyWhenSaved(send) => self.reply_when_saved(send),
            EngineEffect::ReplyWhenFound(reply) => self.reply_when_found(reply),
            EngineEffect::StopWork => {
                self.stop_work();
                self.watches.end();
            }
            EngineEffect::FaultPoint(name) => fault::point(name),
        }
        None
    }

    /// Watches `folders`. Returns an event that reports the problem if this fails.
    fn watch(&mut self, folders: TranscriptFolders) -> Option<EngineEvent> {
        let formats = self.state.formats().clone();
        let error = self.watches.restart(folders, formats, &self.engine.events).err()?;
        let problem = format!("cannot watch for changes: {error}");
        Some(EngineEvent::Command(EngineCommand::NoteProblem(problem)))
    }

    /// Answers queries until `work`, which waits for the disk, is done.
    async fn answer_queries_during<T>(
        &mut self,
        inbox: &mut Inbox,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = pin!(work);
        loop {
            let query = tokio::select! {
                done = &mut work => return done,
                query = inbox.next_query() => query,
            };
            for effect in self.state.decide(EngineEvent::Command(query), clock::now()) {
                match effect {
                    EngineEffect::Reply(send) => send(),
                    EngineEffect::Write(writes) => self.write(writes),
                    other => self.postponed.push(other),
                }
            }
        }
    }

    fn write(&self, writes: Vec<Write>) {
        // The result is not needed: after a failed write, the store reports its failure in its
        // health, and the database is reopened.
        let _ = self.engine.store.write(writes);
    }

    fn run_job(&self, thread: usize, job: Job) {
        let (events, reader) = (self.engine.events.clone(), self.reader.clone());
        let panicked = JobResult::failed(&job, ReadError::Defect);
        let ended = move |done: Option<JobResult>| {
            let done = done.unwrap_or(panicked);
            // If the engine has ended, the result is lost, but the session is still due at the next
            // start.
            let _ = events.blocking_send(EngineEvent::JobDone(Box::new(done)));
        };
        self.workers.run(thread, move || job.run(&reader), ended);
    }

    fn identify(&self, paths: Vec<PathBuf>) {
        let formats = self.state.formats().clone();
        self.spawn(async move {
            let identify = move || files::identify(paths, &formats);
            let identified = tokio::task::spawn_blocking(identify).await;
            Some(EngineEvent::Identified(identified.unwrap_or_default()))
        });
    }

    fn await_exit(&self, process: Process) {
        self.spawn(async move {
            // If the system cannot wait for a process, the end of the process is noticed at the
            // next deadline.
            liveness::ended(process).await.is_ok().then_some(EngineEvent::Liveness)
        });
    }

    fn ask(&self, summarizer: Arc<Summarizer>, generation: u64, question: ModelQuestion) {
        let store = self.engine.store.clone();
        let (session, episode) = (question.session.key, question.episode.id);
        self.spawn(async move {
            let ask = move || summarizer.ask(question, store.as_ref());
            let ended = tokio::task::spawn_blocking(ask).await;
            let end = ended.unwrap_or_else(|error| {
                SummarizeOutcome::Failed(Error::BadReply {
                    reason: defect::describe(&error).to_owned(),
                })
            });
            let answered = ModelAnswer { session, episode, end, generation };
            Some(EngineEvent::ModelAnswered(Box::new(answered)))
        });
    }

    /// Runs `work` in parallel to the loop. The loop later handles the event that `work` returns.
    fn spawn(&self, work: impl Future<Output = Option<EngineEvent>> + Send + 'static) {
        let events = self.engine.events.clone();
        tokio::spawn(async move {
            if let Some(event) = work.await {
                // If the engine has ended, the event is lost, but the work is still due at the next
                // start.
                let _ = events.send(event).await;
            }
        });
    }

    fn reply_when_saved(&self, send: Box<dyn FnOnce(Result<u64, StoreError>) + Send>) {
        // Writes are applied in order: when the empty list is done, all earlier lists are done.
        let saved = self.engine.store.write(Vec::new());
        tokio::spawn(async move { send(saved.done().await) });
    }

    fn reply_when_found(&self, reply: oneshot::Sender<()>) {
        // Writes are applied in order: when the empty list is done, all earlier lists are done.
        let saved = self.engine.store.write(Vec::new());
        let engine = self.engine.clone();
        tokio::spawn(async move {
            // If the database accepts no writes, there is nothing new to be indexed.
            if let Ok(position) = saved.done().await
                && engine.wait_until_searchable(position).await.is_err()
            {
                return;
            }
            answer(reply, ());
        });
    }

    fn stop_work(&self) {
        self.reader.stop.store(true, Ordering::Relaxed);
        self.state.summarizer().client.stop();
    }
}

impl Drop for Executor {
    /// Stops readers and model calls, because nothing receives their results any more.
    fn drop(&mut self) {
        self.stop_work();
    }
}

/// Repairs files that an older version registered twice.
async fn repair_duplicates(
    store: &dyn Store,
    excluded: &[PathBuf],
) -> Result<Vec<PathBuf>, StoreError> {
    let is_excluded = |path: &Path| excluded.iter().any(|folder| path.starts_with(folder));
    let is_readable = |path: &Path| storage::exists(path) && !is_excluded(path);
    duplicates::repair(store, &is_readable).await
}

async fn register(
    store: Arc<dyn Store>,
    sessions: Vec<Session>,
    sources: Vec<Source>,
) -> EngineEvent {
    let sessions = sessions.into_iter().map(|session| Write::Session(Box::new(session)));
    let unread = sources.iter().cloned();
    let unread = unread.map(|source| Write::Source { source, checkpoint: None });
    let saved = store.write(sessions.chain(unread).collect()).done().await;
    let observe = |source: Source| {
        let file = FileObservation::of(PathBuf::from(&source.path));
        (source, file)
    };
    let files = sources.into_iter().map(observe).collect();
    EngineEvent::Registered(RegisteredFiles { files, saved: saved.map(drop) })
}

async fn find_outdated(reader: Arc<SourceReader>, formats: Formats) -> EngineEvent {
    let found = tokio::task::spawn_blocking(move || outdated::find(&reader, &formats)).await;
    EngineEvent::OutdatedFound(found.unwrap_or_else(|error| {
        tracing::warn!(error = defect::describe(&error), "failed to compare the formats' rules");
        Ok(BTreeSet::new())
    }))
}

/// Determines which agents run, from their liveness files and from the processes that hooks or
/// liveness files reported before.
fn observe_agents(
    folders: Vec<(FormatHandle, PathBuf)>,
    known: Vec<Process>,
    due: Vec<SessionKey>,
) -> EngineEvent {
    let list = |(format, folder): (FormatHandle, PathBuf)| {
        let listing = liveness::running(&*format, &folder);
        FolderListing { folder, listing }
    };
    let listings = folders.into_iter().map(list).collect();
    let is_gone = |process: &Process| liveness::life(process.pid, process.started) == Life::Gone;
    let gone: HashSet<Process> = known.into_iter().filter(is_gone).collect();
    EngineEvent::AgentsObserved(AgentObservation { listings, gone, due })
}
