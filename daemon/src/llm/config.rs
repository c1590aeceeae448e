//! Which model is asked, within what bounds, and what happens when it does not answer.

use std::{path::PathBuf, time::Duration};

/// The model and the bounds of its use.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub provider: ProviderKind,
    /// The model's name; `None` for the provider's usual one.
    pub model: Option<String>,
    /// Where the provider listens; `None` for its own address.
    pub base_url: Option<String>,
    /// Where its key comes from.
    pub key: KeySource,
    /// The program and its arguments, for [`ProviderKind::Command`].
    pub command: Option<Vec<String>>,
    /// How long one call may take.
    pub timeout: Duration,
    /// How often a call is repeated at once, before the retry queue takes over.
    pub max_retries: u32,
    /// Calls at a time, at least 1.
    pub concurrency: u32,
    /// What a day may cost.
    pub daily_budget: Budget,
    /// What tokens cost, where the provider does not say.
    pub price: Price,
    /// What the model can read at once, in tokens.
    pub context_tokens: u32,
    /// What happens when it does not answer.
    pub resilience: Resilience,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderKind {
    /// No one: nothing leaves the machine.
    None,
    Anthropic,
    /// OpenAI's chat completions API, or a server that speaks it.
    OpenAi,
    /// A program: the prompt on its standard input, the reply on its standard output.
    Command,
}

/// Where a key comes from, tried in this order. Never from the configuration itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySource {
    /// The environment variable that holds it; `None` for the provider's usual one.
    pub env: Option<String>,
    /// A file whose content it is.
    pub file: Option<PathBuf>,
    /// A program that prints it, with its arguments.
    pub command: Option<Vec<String>>,
}

/// What a day may cost. `None` is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// A budget in calls.
    pub calls: Option<u32>,
    /// A budget in US dollars.
    pub usd: Option<f64>,
}

/// US dollars a million tokens; `None` for what is known of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    pub input_per_mtok: Option<f64>,
    pub output_per_mtok: Option<f64>,
    /// Of what of the prompt came from the provider's cache; as the prompt, when only that is set.
    pub cached_per_mtok: Option<f64>,
}

/// What happens to a session while the model does not answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Resilience {
    /// What is done at once.
    pub on_unavailable: OnUnavailable,
    /// How often a session is tried again.
    pub max_retries: u32,
    /// The pauses before each try; the last one counts for all further ones.
    pub retry_delays: Vec<Duration>,
    /// The most sessions that wait for a retry.
    pub max_queue_size: u32,
    /// Whether the queue survives a restart.
    pub persist_to_disk: bool,
}

/// What is done at once when the model does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnUnavailable {
    /// The session is marked as failed.
    Fail,
    /// The session is stored as it is, without the model, and left at that.
    StoreRaw,
    /// The same, and the model is asked again later.
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
