//! Asking, from a question to a reply that can be used: here what others call, in `answers` how a
//! question becomes a reply, in `calls` how one call after the other is made, in `account` what
//! they came to.

mod account;
mod calls;
mod reply;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    runtime::Handle,
    sync::{Semaphore, watch},
};

use crate::llm::{
    breaker::Breaker,
    client::account::Account,
    config::{self, Config},
    error::{Error, Failure},
    ledger::Ledger,
    ports::{Avoided, End, Ports, UsageRecord},
    price::Money,
    provider::{self, Provider},
    reply::{Reply, TokenUsage},
    request::{CompletionRequest, Purpose},
};
use crate::model::Namespace;

/// Asks the configured model. Shared by all who ask; a change of the configuration makes a new
/// one, after the old one was told to [`stop`](Client::stop).
pub struct Client {
    config: Config,
    /// The provider, or why it cannot be one.
    provider: Result<Arc<dyn Provider>, Error>,
    ports: Ports,
    calls: Semaphore,
    breaker: Mutex<Breaker>,
    ledger: Mutex<Ledger>,
    stopped: watch::Sender<bool>,
}

/// Tokens that the marks and what the model is told about them take.
const OVERHEAD: u32 = 500;

impl Client {
    /// A client for `config`. Sends nothing yet. What is wrong with the configuration is the
    /// answer to each question.
    pub fn new(config: Config, ports: Ports) -> Client {
        let provider = provider::make(&config, &ports);
        let ledger = ports.journal.load().unwrap_or_else(|error| {
            tracing::warn!(%error, "the model's ledger cannot be read, starting a new one");
            None
        });
        Client {
            calls: Semaphore::new(usize::try_from(config.concurrency).unwrap_or(1).max(1)),
            config,
            provider,
            ports,
            breaker: Mutex::default(),
            ledger: Mutex::new(ledger.unwrap_or_default()),
            stopped: watch::Sender::new(false),
        }
    }

    /// Whether there is a model to ask at all; questions need not be made for none.
    pub fn is_on(&self) -> bool {
        self.config.provider != config::ProviderKind::None
    }

    /// The model that is asked, as far as that is known beforehand.
    pub fn model(&self) -> String {
        self.model_name(&Account::new())
    }

    /// What such a use of tokens costs; `None` when the price of the model's tokens is not known.
    pub fn price_of(&self, usage: &TokenUsage) -> Option<Money> {
        let tariff = self.provider.as_ref().ok().and_then(|provider| provider.tariff());
        tariff.map(|tariff| tariff.cost(usage))
    }

    /// Tokens that a prompt may have, by [`estimate`](crate::llm::tokens::estimate), when its answer may have
    /// `max_output_tokens`.
    pub fn room(&self, max_output_tokens: u32) -> u32 {
        self.config.context_tokens.saturating_sub(max_output_tokens).saturating_sub(OVERHEAD)
    }

    /// Asks. May take as long as the configured time limit for each of the configured repetitions.
    pub async fn ask(&self, request: &CompletionRequest) -> Result<Reply, Error> {
        if !self.is_on() {
            return Err(Error::Off);
        }
        let mut account = Account::new();
        let mut stopped = self.stopped.subscribe();
        let result = tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => Err(stopping()),
            result = self.answer(request, &mut account) => result,
        };
        let result =
            result.map_err(|error| error.cleaned(|text| (self.ports.redact)(text).into_owned()));
        self.record(request, &account, result.as_ref().err());
        result
    }

    /// The same for a thread that may be blocked, such as a job's. Must not be called on a thread
    /// that runs `runtime`'s tasks.
    pub fn ask_blocking(
        &self,
        runtime: &Handle,
        request: &CompletionRequest,
    ) -> Result<Reply, Error> {
        runtime.block_on(self.ask(request))
    }

    /// Finds out whether the model can be asked, without asking it anything, and says what was
    /// found, for people. May take `limit`.
    pub async fn reach(&self, limit: Duration) -> Result<String, Error> {
        let provider = self.provider.clone()?;
        let found = tokio::select! {
            found = provider.reach(self.ports.clock.now()) => found,
            () = self.ports.clock.sleep(limit) => Err(Failure::lost("no answer in time").error),
        };
        found.map_err(|error| error.cleaned(|text| (self.ports.redact)(text).into_owned()))
    }

    /// Counts a question that need not be asked. Saved with the next one that is.
    pub fn avoided(&self, purpose: Purpose, why: Avoided, project: Option<Namespace>) {
        let now = self.ports.clock.now();
        self.lock_ledger().avoid(purpose, now);
        self.ports.journal.record(&UsageRecord {
            at: now,
            purpose,
            project,
            provider: self.provider_name(),
            model: self.model_name(&Account::new()),
            end: End::Avoided(why),
            calls: 0,
            usage: TokenUsage::default(),
            cost: Some(Money::ZERO),
            saved_tokens: 0,
        });
    }

    /// What was spent, for showing.
    pub fn ledger(&self) -> Ledger {
        self.lock_ledger().clone()
    }

    /// Why no question is asked at present; `None` when they are.
    pub fn outage(&self) -> Option<Error> {
        let unusable = self.provider.as_ref().err().cloned();
        unusable.or_else(|| self.breaker().outage(self.ports.clock.now()))
    }

    /// The model by its name, as far as it is known, and where its prices come from.
    pub fn prices(&self) -> (String, String) {
        let tariff = self.provider.as_ref().ok().and_then(|provider| provider.tariff());
        let unknown = "not known: set `session_tracking.llm.price`";
        let prices = tariff.map_or(unknown.to_owned(), |tariff| tariff.origin().to_string());
        (self.model_name(&Account::new()), prices)
    }

    /// Ends what is being asked, and answers [`Error::Unavailable`] from now on. A call that was
    /// under way stays in the ledger as it was booked, with the most that it may cost.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the ledger and saves it before anyone else can.
    fn change_ledger<T>(&self, change: impl FnOnce(&mut Ledger) -> T) -> T {
        let mut ledger = self.lock_ledger();
        let result = change(&mut ledger);
        if let Err(error) = self.ports.journal.save(&ledger) {
            tracing::warn!(%error, "the model's ledger cannot be saved");
        }
        result
    }

    fn record(&self, request: &CompletionRequest, account: &Account, error: Option<&Error>) {
        self.ports.journal.record(&UsageRecord {
            at: self.ports.clock.now(),
            purpose: request.purpose,
            project: request.project,
            provider: self.provider_name(),
            model: self.model_name(account),
            end: error.map_or(End::Answered, |error| End::Failed(error.kind())),
            calls: account.calls,
            usage: account.usage,
            cost: account.cost,
            saved_tokens: if account.calls > 0 { request.saved_tokens } else { 0 },
        });
    }

    fn provider_name(&self) -> &'static str {
        self.provider.as_ref().map_or("unusable", |provider| provider.name())
    }

    fn model_name(&self, account: &Account) -> String {
        let configured = || Some(self.provider.as_ref().ok()?.model()?.to_owned());
        account.model.clone().or_else(configured).unwrap_or_else(|| "unknown".to_owned())
    }
}

fn stopping() -> Error {
    Error::Unavailable { reason: "the daemon is stopping".to_owned(), retry_after: None }
}
