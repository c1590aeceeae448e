//! What asking a model needs of the world around it.

use std::{borrow::Cow, path::PathBuf, pin::Pin, sync::Arc, time::Duration};

use crate::{
    llm::{ledger::Ledger, price::Money, reply::TokenUsage, request::Purpose},
    model::{Namespace, Timestamp},
};

/// A future that is given away.
pub type BoxFuture<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

/// Takes secrets out of a text.
pub type Redact = Arc<dyn for<'t> Fn(&'t str) -> Cow<'t, str> + Send + Sync>;

/// An environment variable's value.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

#[derive(Clone)]
pub struct Ports {
    pub clock: Arc<dyn Clock>,
    /// What takes secrets out.
    pub redact: Redact,
    /// What survives a restart, and who is told of each call.
    pub journal: Arc<dyn Journal>,
    /// The environment, for keys.
    pub environment: Environment,
    /// Graphiti's folder; a program that is asked works in a folder in it.
    pub home: PathBuf,
}

pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// A number that no one can guess.
    fn random(&self) -> u128;
}

/// The clock of this machine.
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

/// What survives a restart, and who is told of each call. Both are called while a question is
/// being asked, so they should not take long.
pub trait Journal: Send + Sync {
    /// The ledger as it was saved last; `None` when it never was. The error is for the log.
    fn load(&self) -> Result<Option<Ledger>, String>;

    /// Saves it. The error is for the log: without its ledger the budget holds until a restart.
    fn save(&self, ledger: &Ledger) -> Result<(), String>;

    /// Takes note of a question that was asked, or that need not be.
    fn record(&self, record: &UsageRecord);
}

/// What became of one question.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageRecord {
    pub at: Timestamp,
    /// What it was for.
    pub purpose: Purpose,
    /// The project that it was about.
    pub project: Option<Namespace>,
    pub provider: &'static str,
    /// The model's name, as far as it is known.
    pub model: String,
    pub end: End,
    /// Calls that it took, with those that failed.
    pub calls: u32,
    pub usage: TokenUsage,
    /// What they cost; `None` when that is not known.
    pub cost: Option<Money>,
    /// Tokens of what it was about that were not sent.
    pub saved_tokens: u64,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Calls that got an answer.
    Answered,
    /// With an [`Error`](crate::llm::error::Error) of this kind.
    Failed(&'static str),
    /// It was not asked.
    Avoided(Avoided),
}

/// Why a question was not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Avoided {
    /// The answer was kept from before.
    Cached,
    /// What it is about did not change.
    Unchanged,
    /// The transcript holds the answer, such as the agent's own recap.
    Recap,
    /// Rules of our own answer it, such as those for tools.
    Known,
}
