//! Creates the clients of the models from the configuration.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::runtime::Handle;

use crate::{
    clock,
    config::Config,
    engine::{
        embedding::EmbeddingService,
        model_queue::{
            Summarizer, learned_tools::LearnedTools, summary_cache::SummaryCache, usage::UsageStats,
        },
        parse_context::ParseContext,
    },
    llm::{
        self,
        client::Client,
        embed::Embeddings,
        ledger_file::LedgerFile,
        ports::{Ports, SystemClock},
        provider::command,
    },
    prompt::library::{Folders, Sources, Templates},
    redact::Redactor,
    store::{Store, StoreError},
};

/// The default file with classifications of tools, in the home folder.
const TOOL_CACHE_FILE: &str = "tool_classification_cache.json";
/// Maximum size, in bytes, of the file with classifications.
const MAX_BYTES: u64 = 64 << 20;

/// The clients of models, with the state that is kept when the configuration changes.
pub(super) struct Models {
    home: PathBuf,
    redactor: Redactor,
    pub(super) learned_tools: Arc<LearnedTools>,
    usage: Arc<UsageStats>,
    summaries: Arc<SummaryCache>,
    client: Arc<Client>,
    /// The settings from which the client was created.
    config: llm::config::Config,
}

impl Models {
    /// Creates the clients for the daemon of `home`. Imports the file with classifications of
    /// tools, if there is one.
    pub(super) fn new(
        home: &Path,
        store: Arc<dyn Store>,
        redactor: Redactor,
        config: &Config,
    ) -> Result<Models, StoreError> {
        let learned_tools = Arc::new(LearnedTools::load(store.clone())?);
        let configured = config.summarize.tool_classification_cache.clone();
        import_tool_classifications(
            &learned_tools,
            &configured.unwrap_or_else(|| home.join(TOOL_CACHE_FILE)),
        );
        let summaries = Arc::new(SummaryCache::new(store.clone()));
        let usage = Arc::new(UsageStats::open(LedgerFile::new(home), store));
        let llm = config.llm.clone();
        let client = client(home, &redactor, usage.clone(), llm.clone());
        Ok(Models {
            home: home.to_owned(),
            redactor,
            learned_tools,
            usage,
            summaries,
            client,
            config: llm,
        })
    }

    pub(super) fn embeddings(&self, config: &Config) -> Arc<Embeddings> {
        let ports = ports(&self.home, &self.redactor, self.usage.clone());
        Arc::new(Embeddings::new(config.search.embeddings.clone(), ports))
    }

    /// Replaces the embedder if its settings in `config` are different.
    pub(super) fn update_embedding(&self, embedding: &EmbeddingService, config: &Config) {
        if *embedding.model().config() != config.search.embeddings {
            embedding.set_model(self.embeddings(config));
        }
    }

    /// Returns the summarizer for `config`. Keeps the client and its ledger, unless the settings of
    /// the client have changed. A client that is kept may send requests again after an outage,
    /// because the user may have removed the cause (such as the mode of the key file).
    pub(super) fn summarizer(
        &mut self,
        config: &Config,
        parse_context: Arc<ParseContext>,
    ) -> Arc<Summarizer> {
        if self.config != config.llm {
            self.client.stop();
            self.config = config.llm.clone();
            self.client =
                client(&self.home, &self.redactor, self.usage.clone(), config.llm.clone());
        } else {
            self.client.admit_again();
        }
        let folders = Folders { home: self.home.clone(), user: std::env::home_dir() };
        let sources = Sources::new(&config.prompt, config.summarize.template.as_deref());
        Arc::new(Summarizer {
            client: self.client.clone(),
            templates: Arc::new(Templates::new(folders, sources)),
            parse_context,
            learned_tools: self.learned_tools.clone(),
            usage: self.usage.clone(),
            summaries: self.summaries.clone(),
            prompts: config.prompt.clone(),
            resilience: config.llm.resilience.clone(),
            concurrency: usize::try_from(config.llm.concurrency).unwrap_or(1).max(1),
            close_timeout: config.llm.timeout,
            runtime: Handle::current(),
        })
    }

    /// Returns the paths of the working directory of the program that serves as a model, with and
    /// without symbolic links. The sessions of this program must not count as sessions of the user.
    pub(super) fn excluded_folders(&self) -> Vec<PathBuf> {
        let folder = command::directory(&self.home);
        let real = self.home.canonicalize().map(|home| command::directory(&home));
        real.ok().into_iter().chain([folder]).collect()
    }
}

fn client(
    home: &Path,
    redactor: &Redactor,
    journal: Arc<UsageStats>,
    config: llm::config::Config,
) -> Arc<Client> {
    Arc::new(Client::new(config, ports(home, redactor, journal)))
}

fn ports(home: &Path, redactor: &Redactor, journal: Arc<UsageStats>) -> Ports {
    let redactor = redactor.clone();
    Ports {
        clock: Arc::new(SystemClock { now: clock::now }),
        redact: Arc::new(move |text| redactor.redact(text).text),
        journal,
        environment: Arc::new(|name| std::env::var(name).ok()),
        home: home.to_owned(),
    }
}

fn import_tool_classifications(learned_tools: &LearnedTools, file: &Path) {
    let is_usable =
        fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= MAX_BYTES);
    if !is_usable {
        return;
    }
    let read = fs::read(file).map_err(|error| error.to_string());
    let read = read.and_then(|text| serde_json::from_slice(&text).map_err(|e| e.to_string()));
    match read {
        Ok(document) => {
            let (taken, known, unreadable) = learned_tools.import(&document);
            tracing::info!(file = %file.display(), taken, known, unreadable, "classifications of tools imported");
        }
        Err(error) => {
            tracing::warn!(file = %file.display(), error, "cannot read the classifications of tools");
        }
    }
}
