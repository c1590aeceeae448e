//! Starts the engine.

use std::sync::{
    Arc, RwLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use tokio::sync::{mpsc, watch};

use crate::{
    clock,
    engine::{
        Engine, EngineEvent, Settings, StartError, TranscriptFolders, crash_tracker::CrashTracker,
        executor::Executor, follow::FollowerProgress, forgotten::Forgotten, memory_use::MemoryUse,
        projects::Projects, reading::SourceReader, record_locks::RecordLocks, redaction,
        state::EngineState,
    },
    store::Store,
};

/// The capacity of the event channel. When the channel is full, its senders wait, so that no event
/// is lost. Only [`Engine::agent_runs`] and [`Engine::agent_ended`] drop their reports.
const EVENT_CAPACITY: usize = 256;

pub struct EngineLoop {
    executor: Executor,
    inbox: mpsc::Receiver<EngineEvent>,
}

/// What the engine needs to continue after the last run.
pub struct LastRun {
    /// The current progress of the search index.
    pub followed: watch::Receiver<FollowerProgress>,
    /// The sessions that were being worked on when the last run ended.
    pub crash_tracker: CrashTracker,
}

impl EngineLoop {
    /// Runs until the engine is stopped.
    pub async fn run(self) {
        let reader = self.executor.reader().clone();
        let go_on = move || !reader.stop.load(Ordering::Relaxed);
        let projects = self.executor.engine().projects.clone();
        // Until this task ends, requests use the projects that are known from the last run.
        tokio::task::spawn_blocking(move || projects.note_all(clock::now(), &go_on));
        self.executor.run(self.inbox).await;
    }
}

impl Engine {
    /// Creates an engine. It does nothing until its loop runs.
    pub fn new(
        store: Arc<dyn Store>,
        settings: Settings,
        folders: TranscriptFolders,
        last_run: LastRun,
    ) -> Result<(Engine, EngineLoop), StartError> {
        let LastRun { followed, crash_tracker } = last_run;
        let (events, inbox) = mpsc::channel(EVENT_CAPACITY);
        redaction::note::note_new(store.as_ref())?;
        let forgotten = Arc::new(Forgotten::load(store.as_ref())?);
        let projects = Arc::new(Projects::load(store.clone(), std::env::home_dir())?);
        let memory_use = Arc::new(MemoryUse::load(store.clone())?);
        let reader = Arc::new(SourceReader {
            store: store.clone(),
            locks: RecordLocks::default(),
            crash_tracker,
            forgotten: forgotten.clone(),
            projects: projects.clone(),
            memory_use: memory_use.clone(),
            stop: AtomicBool::new(false),
            bytes: AtomicU64::new(0),
        });
        let older_summaries = Arc::default();
        let formats = Arc::new(RwLock::new(settings.parse_context.formats.clone()));
        let engine = Engine {
            events,
            store,
            followed,
            forgotten,
            older_summaries,
            older_by_model: Arc::default(),
            projects,
            memory_use,
            formats,
            adding_memory: Arc::default(),
        };
        let state = EngineState::new(reader.clone(), settings, folders, clock::now())?;
        let executor = Executor::new(engine.clone(), reader, state)?;
        Ok((engine, EngineLoop { executor, inbox }))
    }
}
