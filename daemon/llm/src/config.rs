//! The settings of the language model: the provider, the limits and the handling of outages.

use std::{path::PathBuf, time::Duration};

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub provider: ProviderKind,
    /// The model's name; `None` for the provider's default.
    pub model: Option<String>,
    /// The provider's address; `None` for the provider's default.
    pub base_url: Option<String>,
    pub key: KeySource,
    /// The program and its arguments, for [`ProviderKind::Command`].
    pub command: Option<Vec<String>>,
    /// The time limit of one call.
    pub timeout: Duration,
    /// Maximum number of immediate retries of a call.
    pub max_retries: u32,
    /// The maximum number of concurrent calls, at least 1.
    pub concurrency: u32,
    pub daily_budget: Budget,
    /// The price of tokens, for providers that do not report a cost.
    pub price: Price,
    /// The context window of the model, in tokens.
    pub context_tokens: u32,
    pub resilience: Resilience,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderKind {
    /// No model, so no text is sent to a model.
    None,
    Anthropic,
    /// OpenAI's chat completions API, or a compatible server.
    OpenAi,
    /// A program that reads the prompt from its standard input and prints the reply.
    Command,
}

/// The sources of a key, tried in this order. The configuration never contains the key itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySource {
    /// The environment variable with the key; `None` for the provider's default.
    pub env: Option<String>,
    /// A file that contains the key.
    pub file: Option<PathBuf>,
    /// A program that prints the key, with its arguments.
    pub command: Option<Vec<String>>,
}

/// The limits for one day. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    pub calls: Option<u32>,
    pub usd: Option<f64>,
}

/// US dollars per million tokens; with `None`, the published price of the model applies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    pub input_per_mtok: Option<f64>,
    pub output_per_mtok: Option<f64>,
    /// The price of prompt tokens that the provider had cached. With `None`, `input_per_mtok`
    /// applies, or the published price if `input_per_mtok` is `None`, too.
    pub cached_per_mtok: Option<f64>,
}

/// How a session is handled while the model is unavailable.
#[derive(Clone, Debug, PartialEq)]
pub struct Resilience {
    pub on_unavailable: OnUnavailable,
    /// Maximum number of retries of the request for a session.
    pub max_retries: u32,
    /// The pauses before the retries; the last pause also applies to all further retries.
    pub retry_delays: Vec<Duration>,
    /// The maximum number of sessions that wait for a retry.
    pub max_queue_size: u32,
    /// Whether sessions that wait for a retry still wait after a restart.
    pub persist_to_disk: bool,
}

/// The reaction to an unavailable model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnUnavailable {
    /// The session is marked as failed.
    Fail,
    /// The session is stored without the model, and no retry follows.
    StoreRaw,
    /// The session is stored without the model, and a retry follows.
    StoreRawAndRetry,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            provider: ProviderKind::None,
            model: None,
            base_url: None,
            key: KeySource::default(),
            command: None,
            timeout: Duration::from_secs(60),
            max_retries: 3,
            concurrency: 2,
            daily_budget: Budget { calls: Some(500), usd: None },
            price: Price::default(),
            context_tokens: 100_000,
            resilience: Resilience::default(),
        }
    }
}

impl Default for Resilience {
    fn default() -> Resilience {
        Resilience {
            on_unavailable: OnUnavailable::StoreRawAndRetry,
            max_retries: 5,
            retry_delays: [300, 900, 2_700, 7_200, 21_600].map(Duration::from_secs).to_vec(),
            max_queue_size: 1_000,
            persist_to_disk: true,
        }
    }
}
