//! Ports that record what the client does.

use std::{
    borrow::Cow,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use tempfile::TempDir;
use tokio::sync::Notify;

use crate::{
    client::Client,
    config::{Budget, Config, ProviderKind},
    ledger::Ledger,
    model::{Prompt, Timestamp},
    ports::{BoxFuture, Clock, Journal, Ports, UsageRecord},
    request::{CompletionRequest, Purpose, ReplyFormat},
    schema::Schema,
};

/// The text that is treated as a secret in tests.
pub(super) const SECRET: &str = "hunter-two";
pub(super) const KEY: &str = "test-key-1";

pub(super) struct ClientFixture {
    pub(super) config: Config,
    pub(super) clock: Arc<FakeClock>,
    pub(super) journal: Arc<FakeJournal>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) home: TempDir,
}

pub(super) struct FakeClock {
    now: Mutex<Timestamp>,
    /// The pauses that the client made.
    pub(super) pauses: Mutex<Vec<Duration>>,
    /// A sleep of this length ends when the notification arrives.
    pub(super) limit: Mutex<(Duration, Arc<Notify>)>,
}

#[derive(Default)]
pub(super) struct FakeJournal {
    pub(super) saved: Mutex<Option<Ledger>>,
    pub(super) records: Mutex<Vec<UsageRecord>>,
}

impl ClientFixture {
    pub(super) fn new(provider: ProviderKind) -> ClientFixture {
        let config = Config {
            provider,
            timeout: Duration::from_secs(77),
            daily_budget: Budget::default(),
            ..Config::default()
        };
        let clock = FakeClock {
            now: Mutex::new(Timestamp::from_seconds(1_000_000_000)),
            pauses: Mutex::default(),
            limit: Mutex::new((config.timeout, Arc::default())),
        };
        let environment = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "TEST_KEY"]
            .map(|name| (name.to_owned(), KEY.to_owned()));
        ClientFixture {
            config,
            clock: Arc::new(clock),
            journal: Arc::default(),
            environment: environment.to_vec(),
            home: TempDir::new().unwrap(),
        }
    }

    /// Creates a fixture whose provider is at `address`.
    pub(super) fn at(provider: ProviderKind, address: &str) -> ClientFixture {
        let mut world = ClientFixture::new(provider);
        world.config.base_url = Some(address.to_owned());
        world.config.key.env = Some("TEST_KEY".to_owned());
        world
    }

    pub(super) fn ports(&self) -> Ports {
        let environment = self.environment.clone();
        Ports {
            clock: self.clock.clone(),
            redact: Arc::new(|text| match text.contains(SECRET) {
                true => Cow::Owned(text.replace(SECRET, "[REDACTED]")),
                false => Cow::Borrowed(text),
            }),
            journal: self.journal.clone(),
            environment: Arc::new(move |name| {
                let found = environment.iter().find(|(known, _)| known == name);
                found.map(|(_, value)| value.clone())
            }),
            home: self.home.path().to_owned(),
        }
    }

    pub(super) fn client(&self) -> Client {
        Client::new(self.config.clone(), self.ports())
    }

    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the pauses between calls, in seconds.
    pub(super) fn pauses(&self) -> Vec<f64> {
        self.clock.pauses.lock().unwrap().iter().map(Duration::as_secs_f64).collect()
    }

    pub(super) fn records(&self) -> Vec<UsageRecord> {
        self.journal.records.lock().unwrap().clone()
    }

    /// Lets the time limit expire when `silence` is notified.
    pub(super) fn expire_limit_on(&self, silence: Arc<Notify>) {
        self.clock.limit.lock().unwrap().1 = silence;
    }
}

impl FakeClock {
    pub(super) fn advance(&self, by: Duration) {
        let mut now = self.now.lock().unwrap();
        *now = now.plus(by);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let (limit, reached) = self.limit.lock().unwrap().clone();
        if duration == limit {
            return Box::pin(async move { reached.notified().await });
        }
        self.pauses.lock().unwrap().push(duration);
        self.advance(duration);
        Box::pin(async {})
    }

    fn random(&self) -> u128 {
        999
    }
}

impl Journal for FakeJournal {
    fn load(&self) -> Result<Option<Ledger>, String> {
        Ok(self.saved.lock().unwrap().clone())
    }

    fn save(&self, ledger: &Ledger) -> Result<(), String> {
        *self.saved.lock().unwrap() = Some(ledger.clone());
        Ok(())
    }

    fn record(&self, record: &UsageRecord) {
        self.records.lock().unwrap().push(record.clone());
    }
}

pub(super) fn text_request(material: &str) -> CompletionRequest {
    CompletionRequest {
        purpose: Purpose::MessageSummary,
        prompt: Prompt::about("Summarize this:", material),
        form: ReplyFormat::Text,
        max_output_tokens: 300,
        project: None,
        saved_tokens: 0,
    }
}

pub(super) fn json_request(material: &str) -> CompletionRequest {
    let schema = r#"{"type": "object", "additionalProperties": false, "required": ["goal", "end"],
        "properties": {"goal": {"type": "string"}, "end": {"type": "string", "enum": ["done", "open"]}}}"#;
    CompletionRequest {
        purpose: Purpose::SessionSummary,
        prompt: Prompt::about("Summarize this:", material),
        form: ReplyFormat::Json(Schema::new("summary", schema).unwrap()),
        max_output_tokens: 300,
        project: None,
        saved_tokens: 0,
    }
}
