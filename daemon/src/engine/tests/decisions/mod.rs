//! Tests the decisions of the engine without tasks and threads, and, except in [`orders`], without
//! real files. The tests perform the effects themselves: they determine when a job, a batch of
//! files or a model returns, and with which result.

mod jobs;
mod model_queue;
mod orders;
mod remaking;
mod sources;
mod waiting;

use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use tokio::{
    runtime::{Builder, Runtime},
    sync::oneshot,
};

use super::{Machine, projects, sources as stored_sources};
use crate::{
    capture::{
        format::{Formats, Identity},
        liveness::Process,
        watch::Notice,
    },
    engine::{
        EngineEvent, Settings, TranscriptFolders,
        command::EngineCommand,
        crash_tracker::CrashTracker,
        files::{FileObservation, IdentifiedFile, IdentifyResult},
        forgotten::Forgotten,
        job::Job,
        job_result::{GatherOutcome, JobResult, SessionDigest},
        memory_use::MemoryUse,
        model_queue::ModelQuestion,
        pipeline::SourceState,
        reading::{ReadProgress, SourceReader},
        record_locks::RecordLocks,
        registration::OtherPath,
        remake_permit::{RemakeContext, RemakePermit},
        state::{
            AgentObservation, EngineEffect, EngineState, RegisteredFiles, SettleWaiter, answer,
        },
    },
    llm::{self, client::Client, config::ProviderKind},
    model::{
        CloseReason, ContentHash, SessionId, SessionKey, Timestamp,
        session::{Content, Indexed, Session, State},
    },
    store::{FileStamp, Source, Store, Write, contract},
};

const START: Timestamp = Timestamp::from_seconds(1_000_000);

/// The state of an engine, and the parts of the executor that a test replaces.
struct Decider {
    state: EngineState,
    settings: Settings,
    store: Arc<dyn Store>,
    reader: Arc<SourceReader>,
    now: Timestamp,
    /// The simulated file system, which is used unless `observes_disk` is set.
    files: BTreeMap<PathBuf, FileStamp>,
    observes_disk: bool,
    /// Processes that have ended.
    gone: HashSet<Process>,
    /// Batches of new files that have to be identified.
    batches: VecDeque<Vec<PathBuf>>,
    /// Jobs that were started.
    jobs: VecDeque<Job>,
    /// Questions with running requests, and the generation of their summarizer.
    questions: VecDeque<(Box<ModelQuestion>, u64)>,
    /// The number of the latest requested scan.
    scan: u64,
    /// How often the watches were started.
    watches: usize,
    /// The performed writes, fault points and replies after a save, in this order.
    performed: Vec<String>,
    _runtime: Runtime,
    _machine: Arc<Machine>,
}

impl Decider {
    fn new() -> Decider {
        Decider::with(|_, _| {}, &[], "")
    }

    /// Creates a state with a store that contains `writes`, and with the notes of crashes of an
    /// earlier run.
    fn with(
        change: impl FnOnce(&Machine, &mut Settings),
        writes: &[Write],
        crashes: &str,
    ) -> Decider {
        Decider::over(Arc::new(Machine::new()), change, writes, crashes)
    }

    fn over(
        machine: Arc<Machine>,
        change: impl FnOnce(&Machine, &mut Settings),
        writes: &[Write],
        crashes: &str,
    ) -> Decider {
        let runtime = Builder::new_current_thread().build().unwrap();
        let entered = runtime.enter();
        let store: Arc<dyn Store> = Arc::new(machine.store());
        store.write(writes.to_vec()).wait().unwrap();
        let mut settings = machine.settings(store.clone());
        change(&machine, &mut settings);
        let notes = machine.folder.path().join("at_work.json");
        std::fs::write(&notes, crashes).unwrap();
        let reader = Arc::new(SourceReader {
            projects: projects(&store),
            memory_use: Arc::new(MemoryUse::load(store.clone()).unwrap()),
            store: store.clone(),
            locks: RecordLocks::default(),
            crash_tracker: CrashTracker::open(&notes, START),
            forgotten: Arc::new(Forgotten::load(store.as_ref()).unwrap()),
            stop: AtomicBool::new(false),
            bytes: AtomicU64::new(0),
        });
        let folders = TranscriptFolders::none();
        let state = EngineState::new(reader.clone(), settings.clone(), folders, START).unwrap();
        drop(entered);
        let mut decider = Decider {
            state,
            settings,
            store,
            reader,
            now: START,
            files: BTreeMap::new(),
            observes_disk: false,
            gone: HashSet::new(),
            batches: VecDeque::new(),
            jobs: VecDeque::new(),
            questions: VecDeque::new(),
            scan: 0,
            watches: 0,
            performed: Vec::new(),
            _runtime: runtime,
            _machine: machine,
        };
        decider.decide(EngineEvent::Started);
        decider.turn(EngineEvent::Notice(Notice::Complete { asked: 0 }));
        decider.performed.clear();
        decider
    }

    /// Performs a turn of the executor's loop.
    fn turn(&mut self, event: EngineEvent) {
        self.decide(event);
        self.decide(EngineEvent::DeadlinesDue);
        self.decide(EngineEvent::TurnEnded);
    }

    /// Performs a turn in which only time has passed.
    fn pass(&mut self, span: Duration) {
        self.now = self.now.plus(span);
        self.decide(EngineEvent::DeadlinesDue);
        self.decide(EngineEvent::TurnEnded);
    }

    /// Sends a command, and returns the receiver of its reply.
    fn command<T>(
        &mut self,
        command: impl FnOnce(oneshot::Sender<T>) -> EngineCommand,
    ) -> oneshot::Receiver<T> {
        let (reply, answer) = oneshot::channel();
        self.turn(EngineEvent::Command(command(reply)));
        answer
    }

    /// Decides on an event and performs the effects, as the executor does.
    fn decide(&mut self, event: EngineEvent) {
        let mut effects = VecDeque::from(self.state.decide(event, self.now));
        while let Some(effect) = effects.pop_front() {
            let Some(event) = self.perform(effect) else { continue };
            for effect in self.state.decide(event, self.now).into_iter().rev() {
                effects.push_front(effect);
            }
        }
    }

    fn perform(&mut self, effect: EngineEffect) -> Option<EngineEvent> {
        match effect {
            EngineEffect::Write(writes) => self.write(writes),
            EngineEffect::Register { sessions, sources } => {
                let session = |session| Write::Session(Box::new(session));
                self.write(sessions.into_iter().map(session).collect());
                let unread =
                    |source: &Source| Write::Source { source: source.clone(), checkpoint: None };
                self.write(sources.iter().map(unread).collect());
                let observe = |source: Source| {
                    let file = self.observe(Path::new(&source.path));
                    (source, file)
                };
                let files = sources.into_iter().map(observe).collect();
                return Some(EngineEvent::Registered(RegisteredFiles { files, saved: Ok(()) }));
            }
            EngineEffect::RunJob { job, .. } => self.jobs.push_back(*job),
            EngineEffect::Identify(paths) => self.batches.push_back(paths),
            EngineEffect::ObserveFiles(paths) => {
                let files = paths.iter().map(|path| self.observe(path)).collect();
                return Some(EngineEvent::FilesObserved(files));
            }
            EngineEffect::ObserveAgents { known, due, .. } => {
                let is_gone = |process: &Process| self.gone.contains(process);
                let gone = known.into_iter().filter(is_gone).collect();
                let observation = AgentObservation { listings: Vec::new(), gone, due };
                return Some(EngineEvent::AgentsObserved(observation));
            }
            EngineEffect::Ask { generation, question, .. } => {
                self.questions.push_back((question, generation));
            }
            EngineEffect::Rescan { until_no_timeouts, reply } => {
                self.scan += 1;
                let waiter = SettleWaiter { until_no_timeouts, scan: self.scan, reply };
                return Some(EngineEvent::RescanRequested(waiter));
            }
            EngineEffect::Reply(send) => send(),
            EngineEffect::ReplyWhenSaved(send) => {
                self.performed.push("reply".to_owned());
                send(self.store.write(Vec::new()).wait());
            }
            EngineEffect::ReplyWhenFound(reply) => {
                // The caller may have stopped waiting.
                let _ = reply.send(());
            }
            EngineEffect::LiftQuarantine(session) => self.reader.crash_tracker.try_again(&session),
            EngineEffect::ForgetCrashes(sessions) => {
                sessions.iter().for_each(|session| self.reader.crash_tracker.forget(session));
            }
            EngineEffect::PermitRemake { session, parse_context, reply } => {
                let (session, reader) = (*session, self.reader.clone());
                let context = RemakeContext { session, reader, parse_context };
                answer(reply, RemakePermit::Granted(Box::new(context)));
            }
            EngineEffect::FaultPoint(name) => self.performed.push(name.to_owned()),
            EngineEffect::AwaitExit(_)
            | EngineEffect::FindOutdated
            | EngineEffect::CountAvoided(_)
            | EngineEffect::StopWork => {}
            EngineEffect::Watch(_) => self.watches += 1,
        }
        None
    }

    fn write(&mut self, writes: Vec<Write>) {
        let names: Vec<&str> = writes.iter().map(name_of).collect();
        self.performed.push(names.join(" + "));
        self.store.write(writes).wait().unwrap();
    }

    fn observe(&self, path: &Path) -> FileObservation {
        if self.observes_disk {
            return FileObservation::of(path.to_owned());
        }
        let stamp = self.files.get(path).copied();
        FileObservation { path: path.to_owned(), exists: stamp.is_some(), stamp }
    }

    /// Creates or changes a file. Its path has the form `/folder/session` or
    /// `/folder/session/sub-agent`.
    fn put(&mut self, path: &str, file: u64, length: u64) {
        let stamp = FileStamp { file, length, modified: self.now.micros() };
        self.files.insert(path.into(), stamp);
    }

    fn announce(&mut self, paths: &[&str]) {
        let paths = paths.iter().map(PathBuf::from).collect();
        self.turn(EngineEvent::Notice(Notice::Files(paths)));
    }

    /// Identifies the files of the oldest batch that exist now.
    fn identify(&mut self) {
        let batch = self.batches.pop_front().expect("a batch waits to be identified");
        let found = batch.into_iter().filter_map(|path| self.identified(path)).collect();
        self.turn(EngineEvent::Identified(IdentifyResult { found, ..IdentifyResult::default() }));
    }

    fn identified(&self, path: PathBuf) -> Option<IdentifiedFile> {
        let stamp = *self.files.get(&path)?;
        let mut names = path.to_str().unwrap().split('/').skip(2).map(str::to_owned);
        let (session, sub_agent) = (names.next().unwrap(), names.next());
        let identity = Identity { session, sub_agent, directory: None };
        let format = Formats::default().of_agent("claude").unwrap();
        let path_text = path.to_str().unwrap();
        let other = match path_text.strip_prefix("/archive/") {
            Some(name) => format!("/p/{name}"),
            None => path_text.replace("/p/", "/archive/"),
        };
        let exists = self.files.contains_key(Path::new(&other));
        let other_paths = vec![OtherPath { path: other, exists }];
        Some(IdentifiedFile { path, format, identity, stamp, other_paths })
    }

    /// Returns the result of a job that reads each of its files to the end and finds `new`
    /// messages.
    fn read(&mut self, job: &Job, new: usize) -> JobResult {
        let files = job.files.iter().map(|file| self.read_file(&file.source, new)).collect();
        let content = Content { hash: ContentHash([7; 32]), messages: 1 };
        JobResult {
            session: job.session.key,
            files,
            others: BTreeMap::new(),
            digest: SessionDigest {
                content: Some(content),
                last_at: Some(self.now),
                ..SessionDigest::default()
            },
            index: None,
            gathered: GatherOutcome::NotRequested,
            errors: Vec::new(),
        }
    }

    fn read_file(&mut self, source: &Source, new: usize) -> ReadProgress {
        let stamp = self.files.get(Path::new(&source.path)).copied();
        let source = match stamp {
            Some(stamp) => Source { stamp, offset: stamp.length, ..source.clone() },
            None => source.clone(),
        };
        let write = Write::Source { source: source.clone(), checkpoint: None };
        self.store.write(vec![write]).wait().unwrap();
        ReadProgress {
            state: Box::new(SourceState::new(source.key.number)),
            source,
            new_messages: new,
            moved: new > 0,
            exists: stamp.is_some(),
            was_replaced: false,
            is_saved: true,
        }
    }

    /// Ends the oldest job with the result of [`Decider::read`].
    fn finish(&mut self, new: usize) {
        let job = self.jobs.pop_front().expect("a job runs");
        let done = self.read(&job, new);
        self.turn(EngineEvent::JobDone(Box::new(done)));
    }

    /// Creates a file that is registered and read.
    fn follow(&mut self, path: &str, file: u64) {
        self.put(path, file, 10);
        self.announce(&[path]);
        self.identify();
        self.finish(1);
        self.performed.clear();
    }

    fn after(&self, seconds: u64) -> Timestamp {
        self.now.plus(Duration::from_secs(seconds))
    }

    /// Applies the same settings again.
    fn reload(&mut self) {
        let (settings, folders) = (Box::new(self.settings.clone()), TranscriptFolders::none());
        self.command(|reply| EngineCommand::Reload { settings, folders, reply });
    }

    fn session(&self, id: &str) -> Session {
        let id = SessionId { agent: "claude".to_owned(), id: id.to_owned() };
        let key = self.store.find_session(&id).unwrap().expect("the session is registered");
        self.store.session(key).unwrap().unwrap()
    }

    fn state_of(&self, id: &str) -> &'static str {
        self.session(id).state.as_str()
    }

    /// Returns the registered paths, by session and number.
    fn paths(&self) -> Vec<String> {
        stored_sources(self.store.as_ref()).into_iter().map(|source| source.path).collect()
    }

    /// Returns the numbers of the files that the running jobs read.
    fn due_files(&self) -> Vec<u32> {
        let files = self.jobs.iter().flat_map(|job| &job.files);
        files.map(|file| file.source.key.number).collect()
    }
}

fn name_of(write: &Write) -> &'static str {
    match write {
        Write::Session(_) => "session",
        Write::Source { .. } => "source",
        Write::Episode(_) => "episode",
        Write::Statements { .. } => "statements",
        Write::Note(_) => "note",
        _ => "other",
    }
}

/// Switches a model on. The test answers the requests instead of a model.
fn with_model(machine: &Machine, settings: &mut Settings) {
    let summarizer = Arc::get_mut(&mut settings.summarizer).unwrap();
    let config =
        llm::config::Config { provider: ProviderKind::Command, ..llm::config::Config::default() };
    let ports = machine.ports(summarizer.usage.clone());
    summarizer.client = Arc::new(Client::new(config, ports));
}

/// Returns a session that has an episode, with the writes that store both.
fn indexed(key: u64, id: &str) -> (Session, Vec<Write>) {
    let session = contract::session(SessionKey(key), id);
    let episode = contract::episode(&session, 2_000);
    let indexed = Indexed {
        episode: episode.id,
        hash: ContentHash([3; 32]),
        at: START,
        reason: CloseReason::InactivityTimeout,
    };
    let session = Session { indexed: Some(indexed), state: State::Indexed, ..session };
    let source = contract::source_of(&session, 0);
    let writes = vec![
        Write::Session(Box::new(session.clone())),
        Write::Source { source, checkpoint: None },
        Write::Episode(Box::new(episode)),
    ];
    (session, writes)
}
