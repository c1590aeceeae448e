//! The client turns a request into a validated reply. This file holds the public interface; `reply`
//! prepares the prompt and validates the reply, `calls` makes the single calls, and `account` adds
//! up their cost.

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

use crate::model::{Namespace, Timestamp};
use crate::{
    breaker::Breaker,
    client::account::Account,
    config::{self, Config},
    error::{Error, Failure},
    ledger::Ledger,
    ports::{Avoided, Ports, RequestOutcome, UsageRecord},
    price::Money,
    provider::{self, Provider},
    reply::{Reply, TokenUsage},
    request::{CompletionRequest, Purpose},
};

/// Sends requests to the configured model. All callers share one client. When the configuration
/// changes, the old client is [stopped](Client::stop) and a new client is created.
pub struct Client {
    config: Config,
    /// The provider, or the error that prevents its creation.
    provider: Result<Arc<dyn Provider>, Error>,
    ports: Ports,
    calls: Semaphore,
    breaker: Mutex<Breaker>,
    /// When the last request was answered; `None` if the last request failed.
    answered_at: Mutex<Option<Timestamp>>,
    ledger: Mutex<Ledger>,
    stopped: watch::Sender<bool>,
}

/// Estimated number of tokens of the marks around the material and of their explanation.
const OVERHEAD: u32 = 500;

impl Client {
    /// Creates a client; sends nothing. With a wrong configuration, each request returns the error.
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
            answered_at: Mutex::default(),
            ledger: Mutex::new(ledger.unwrap_or_default()),
            stopped: watch::Sender::new(false),
        }
    }

    /// Whether a provider is configured.
    pub fn is_on(&self) -> bool {
        self.config.provider != config::ProviderKind::None
    }

    /// Returns the model's name, as far as it is known before a call.
    pub fn model(&self) -> String {
        self.model_name(&Account::new())
    }

    /// Returns the cost of a usage; `None` when the price of the model is not known.
    pub fn price_of(&self, usage: &TokenUsage) -> Option<Money> {
        let tariff = self.provider.as_ref().ok().and_then(|provider| provider.tariff());
        tariff.map(|tariff| tariff.cost(usage))
    }

    /// Returns the maximum number of tokens of a prompt, by [`estimate`](crate::tokens::estimate),
    /// when its answer may have `max_output_tokens`.
    pub fn input_budget(&self, max_output_tokens: u32) -> u32 {
        self.config.context_tokens.saturating_sub(max_output_tokens).saturating_sub(OVERHEAD)
    }

    /// Sends a request. The configured time limit applies to each attempt, but not to the pauses
    /// between attempts or to the wait for other requests.
    pub async fn complete(&self, request: &CompletionRequest) -> Result<Reply, Error> {
        if !self.is_on() {
            return Err(Error::Off);
        }
        let mut account = Account::new();
        let mut stopped = self.stopped.subscribe();
        let result = tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => Err(Error::stopping()),
            result = self.answer(request, &mut account) => result,
        };
        let result =
            result.map_err(|error| error.redacted(|text| (self.ports.redact)(text).into_owned()));
        let answered_at = result.is_ok().then(|| self.ports.clock.now());
        *self.answered_at.lock().unwrap_or_else(PoisonError::into_inner) = answered_at;
        self.record(request, &account, result.as_ref().err());
        result
    }

    /// Same as [`complete`](Client::complete), for a blocking thread such as the thread of a job.
    /// Must not be called on a thread that runs the tasks of `runtime`.
    pub fn complete_blocking(
        &self,
        runtime: &Handle,
        request: &CompletionRequest,
    ) -> Result<Reply, Error> {
        runtime.block_on(self.complete(request))
    }

    /// Returns when the last request was answered; `None` if the last request failed.
    pub fn answered_at(&self) -> Option<Timestamp> {
        *self.answered_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks within `limit` whether the model is reachable, without sending a prompt. Returns a
    /// description of the result for people.
    pub async fn reach(&self, limit: Duration) -> Result<String, Error> {
        let provider = self.provider.clone()?;
        let found = tokio::select! {
            found = provider.reach(self.ports.clock.now()) => found,
            () = self.ports.clock.sleep(limit) => Err(Failure::lost("no answer in time").error),
        };
        found.map_err(|error| error.redacted(|text| (self.ports.redact)(text).into_owned()))
    }

    /// Records a request that was not necessary. The next call saves the ledger with the new count.
    pub fn record_avoided(&self, purpose: Purpose, why: Avoided, project: Option<Namespace>) {
        let now = self.ports.clock.now();
        self.lock_ledger().record_avoided(purpose, now);
        self.ports.journal.record(&UsageRecord {
            at: now,
            purpose,
            project,
            provider: self.provider_name(),
            model: self.model_name(&Account::new()),
            end: RequestOutcome::Avoided(why),
            calls: 0,
            usage: TokenUsage::default(),
            cost: Some(Money::ZERO),
            saved_tokens: 0,
        });
    }

    pub fn ledger(&self) -> Ledger {
        self.lock_ledger().clone()
    }

    /// Returns the error with which all requests fail at present, because the configuration is
    /// wrong or the breaker is open; otherwise `None`. Does not check the budget.
    pub fn outage(&self) -> Option<Error> {
        let unusable = self.provider.as_ref().err().cloned();
        unusable.or_else(|| self.breaker().outage(self.ports.clock.now()))
    }

    /// Returns the model's name, as far as it is known, and the source of its prices.
    pub fn prices(&self) -> (String, String) {
        let tariff = self.provider.as_ref().ok().and_then(|provider| provider.tariff());
        let unknown = "not known: set `session_tracking.llm.price`";
        let prices = tariff.map_or(unknown.to_owned(), |tariff| tariff.origin().to_string());
        (self.model_name(&Account::new()), prices)
    }

    /// Cancels the running requests. Later requests return [`Error::Unavailable`]. A call that was
    /// running stays in the ledger with its maximum cost.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// Admits calls again after an outage, because its cause may have been removed.
    pub fn admit_again(&self) {
        *self.breaker() = Breaker::default();
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the ledger and saves it under one lock.
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
            end: error
                .map_or(RequestOutcome::Answered, |error| RequestOutcome::Failed(error.kind())),
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
