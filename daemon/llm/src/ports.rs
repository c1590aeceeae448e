//! The interfaces that the client needs from its environment.

use std::{borrow::Cow, path::PathBuf, pin::Pin, sync::Arc, time::Duration};

use crate::{
    ledger::Ledger,
    model::{Namespace, Timestamp},
    price::Money,
    reply::TokenUsage,
    request::Purpose,
};

pub type BoxFuture<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

pub type Redact = Arc<dyn for<'t> Fn(&'t str) -> Cow<'t, str> + Send + Sync>;

pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

#[derive(Clone)]
pub struct Ports {
    pub clock: Arc<dyn Clock>,
    pub redact: Redact,
    pub journal: Arc<dyn Journal>,
    /// Reads the environment variables that contain keys.
    pub environment: Environment,
    /// The home folder of `graphitid`. A program that prints a key runs in this folder; a program
    /// that serves as the model runs in a subfolder.
    pub home: PathBuf,
}

pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Returns an unpredictable number.
    fn random(&self) -> u128;
}

#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    pub now: fn() -> Timestamp,
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        (self.now)()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn random(&self) -> u128 {
        uuid::Uuid::new_v4().as_u128()
    }
}

/// Stores the ledger and records each request. The client calls these methods during a request,
/// so implementations should be fast.
pub trait Journal: Send + Sync {
    /// Returns the ledger that was saved last; `None` if no ledger was saved. If the ledger cannot
    /// be read, the client logs the error and starts a new ledger.
    fn load(&self) -> Result<Option<Ledger>, String>;

    /// Saves the ledger. If the ledger cannot be saved, the client logs the error, and the usage
    /// counts only until a restart.
    fn save(&self, ledger: &Ledger) -> Result<(), String>;

    /// Records a request that was answered, failed or avoided.
    fn record(&self, record: &UsageRecord);
}

#[derive(Clone, Debug, PartialEq)]
pub struct UsageRecord {
    pub at: Timestamp,
    pub purpose: Purpose,
    pub project: Option<Namespace>,
    pub provider: &'static str,
    /// The model's name, as far as it is known.
    pub model: String,
    pub end: RequestOutcome,
    /// Number of calls, including failed ones.
    pub calls: u32,
    pub usage: TokenUsage,
    /// `None` when the cost is unknown.
    pub cost: Option<Money>,
    /// Estimated tokens of the material that the prompt omits.
    pub saved_tokens: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    Answered,
    /// The request failed with an [`Error`](crate::error::Error) of this kind.
    Failed(&'static str),
    Avoided(Avoided),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Avoided {
    Cached,
    Unchanged,
    /// The transcript contains the answer, such as the agent's own summary.
    Recap,
    /// All tools of the session were classified already, by built-in rules or by earlier answers.
    Known,
}
