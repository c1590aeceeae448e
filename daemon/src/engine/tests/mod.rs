//! Tests the engine with a real store, but without a watch: the tests announce the changes. Most
//! tests use real files.

mod damaged;
mod decisions;
mod files;
mod following;
mod forgetting;
mod gemini;
mod interleavings;
mod omitting;
mod opencode;
mod registering;
mod remaking;
mod remembering;
mod secrets;
mod truncating;

use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use tempfile::TempDir;
use tokio::{runtime::Handle, sync::watch, task::JoinHandle};

use crate::{
    capture::{self, format::Formats, watch::Notice},
    clock,
    engine::{
        Engine, EngineEvent, LastRun, Settings, TranscriptFolders,
        crash_tracker::CrashTracker,
        follow::FollowerProgress,
        model_queue::{
            Summarizer, learned_tools::LearnedTools, summary_cache::SummaryCache, usage::UsageStats,
        },
        parse_context::ParseContext,
        projects::Projects,
    },
    llm::{
        self,
        client::Client,
        ledger_file::LedgerFile,
        ports::{Ports, SystemClock},
    },
    model::Message,
    prompt::library::{Folders, Sources, Templates},
    redact::Redactor,
    session,
    store::{Source, Store, sled::SledStore},
    summarize,
};

/// An engine's home, with a folder of transcripts in it.
struct Machine {
    folder: TempDir,
    redactor: Redactor,
    filter: capture::config::Filter,
}

/// An engine that runs.
struct Run {
    engine: Engine,
    task: JoinHandle<()>,
    store: Arc<dyn Store>,
}

impl Machine {
    fn new() -> Machine {
        let (redactor, filter) = (Redactor::new(), capture::config::Filter::default());
        Machine { folder: tempfile::tempdir().unwrap(), redactor, filter }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("projects").join(path)
    }

    fn store(&self) -> SledStore {
        SledStore::open(&self.folder.path().join("db")).unwrap()
    }

    /// Appends a record with `text` to a transcript. All texts must be different.
    fn append(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = File::options().create(true).append(true).open(path).unwrap();
        file.write_all(record(text).as_bytes()).unwrap();
    }

    fn start(&self) -> Run {
        let store: Arc<dyn Store> = Arc::new(self.store());
        let home = self.folder.path();
        let crash_tracker = CrashTracker::open(&home.join("at_work.json"), clock::now());
        let mut followed = FollowerProgress::default();
        followed.position = u64::MAX;
        let followed = watch::channel(followed).1;
        let settings = self.settings(store.clone());
        let (engine, engine_loop) = Engine::new(
            store.clone(),
            settings,
            TranscriptFolders::none(),
            LastRun { followed, crash_tracker },
        )
        .unwrap();
        Run { engine, task: tokio::spawn(engine_loop.run()), store }
    }

    fn settings(&self, store: Arc<dyn Store>) -> Settings {
        let home = self.folder.path().to_owned();
        let learned_tools = Arc::new(LearnedTools::load(store.clone()).unwrap());
        let parse_context = Arc::new(ParseContext {
            filter: self.filter.clone(),
            redactor: self.redactor.clone(),
            learned: learned_tools.shared(),
            formats: Formats::default(),
            summarize: summarize::config::Config::default(),
            makes_episodes: true,
        });
        let usage = Arc::new(UsageStats::open(LedgerFile::new(&home), store.clone()));
        let ports = self.ports(usage.clone());
        let llm = llm::config::Config::default();
        let prompts = crate::prompt::config::Config::default();
        let sources = Sources::new(&prompts, None);
        let summarizer = Arc::new(Summarizer {
            resilience: llm.resilience.clone(),
            close_timeout: llm.timeout,
            client: Arc::new(Client::new(llm, ports)),
            templates: Arc::new(Templates::new(Folders { home, user: None }, sources)),
            parse_context: parse_context.clone(),
            learned_tools,
            usage,
            summaries: Arc::new(SummaryCache::new(store)),
            prompts,
            concurrency: 1,
            runtime: Handle::current(),
        });
        let session = session::Config::default();
        Settings { session, parse_context, summarizer, excluded: Vec::new(), max_age: None }
    }

    fn ports(&self, journal: Arc<UsageStats>) -> Ports {
        Ports {
            clock: Arc::new(SystemClock { now: clock::now }),
            redact: Arc::new(|text| text.into()),
            journal,
            environment: Arc::new(|_| None),
            home: self.folder.path().to_owned(),
        }
    }
}

impl Run {
    /// Announces changed files, as the watch does.
    async fn announce(&self, paths: &[PathBuf]) {
        let notice = EngineEvent::Notice(Notice::Files(paths.to_vec()));
        self.engine.events.send(notice).await.unwrap_or_else(|_| panic!("the engine has ended"));
    }

    async fn settle(&self) {
        self.engine.wait_until_settled(false).await.unwrap();
    }

    async fn stop(self) -> Arc<dyn Store> {
        self.engine.stop().await;
        self.task.await.unwrap();
        self.store
    }
}

fn sources(store: &dyn Store) -> Vec<Source> {
    let mut sources = Vec::new();
    let visit = &mut |source| {
        sources.push(source);
        true
    };
    store.visit_sources(visit).unwrap();
    sources
}

fn messages(store: &dyn Store, source: &Source) -> Vec<Message> {
    store.messages(source.key, 0, usize::MAX).unwrap()
}

fn paths(sources: &[Source]) -> Vec<&Path> {
    sources.iter().map(|source| Path::new(&source.path)).collect()
}

/// Returns a record with `text`, from which its id is derived.
fn record(text: &str) -> String {
    let number: u64 =
        text.bytes().fold(7, |sum, byte| sum * 31 % 281_474_976_710_597 + u64::from(byte));
    let record = serde_json::json!({
        "parentUuid": null,
        "isSidechain": false,
        "cwd": "/work/app",
        "type": "user",
        "uuid": format!("00000000-0000-4000-8000-{number:012x}"),
        "timestamp": clock::now().to_string(),
        "message": { "role": "user", "content": text },
    });
    format!("{record}\n")
}

/// Returns the known projects of a store.
fn projects(store: &Arc<dyn Store>) -> Arc<Projects> {
    Arc::new(Projects::load(store.clone(), None).unwrap())
}
