//! Whom to ask: one file a provider, one line a provider in [`PROVIDERS`].

pub mod anthropic;
pub mod command;
pub mod null;
pub mod openai;

mod dialect;
#[doc(hidden)]
pub(in crate::llm) mod fuzzing;

use std::sync::Arc;

use crate::{
    llm::{
        config::{self, Config},
        error::{Error, Failure},
        ports::{BoxFuture, Ports},
        price::Tariff,
        reply::Completion,
        schema::Schema,
    },
    model::Timestamp,
};

/// Speaks to one kind of model.
///
/// One call is one attempt: repeating, time limits, budgets and reading JSON are the client's.
/// A call is given up by dropping its future, which must leave nothing running.
pub trait Provider: Send + Sync {
    /// Its name in the configuration.
    fn name(&self) -> &'static str;

    /// The model that is asked, as far as that is known beforehand.
    fn model(&self) -> Option<&str>;

    /// What its tokens cost, as far as that is known.
    fn tariff(&self) -> Option<Tariff>;

    /// Finds out whether it can be asked, without asking it anything, and says what was found, for
    /// people.
    fn reach(&self, now: Timestamp) -> BoxFuture<'_, Result<String, Error>>;

    fn ask<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<Completion, Failure>>;
}

/// One attempt to get an answer.
#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    /// What the model is told first.
    pub system: &'c str,
    pub prompt: &'c str,
    /// The form of the answer, for JSON.
    pub schema: Option<&'c Schema>,
    /// How long it may be, in tokens.
    pub max_output_tokens: u32,
    pub now: Timestamp,
}

/// How each provider is made.
pub const PROVIDERS: &[(config::ProviderKind, Make)] = &[
    (config::ProviderKind::None, |_, _| Ok(Arc::new(null::NullProvider))),
    (config::ProviderKind::Anthropic, |config, ports| {
        Ok(Arc::new(anthropic::Anthropic::new(config, ports)?))
    }),
    (config::ProviderKind::OpenAi, |config, ports| {
        Ok(Arc::new(openai::OpenAi::new(config, ports)?))
    }),
    (config::ProviderKind::Command, |config, ports| {
        Ok(Arc::new(command::Program::new(config, ports)?))
    }),
];

/// Makes a provider; fails when its configuration cannot work.
pub type Make = fn(&Config, &Ports) -> Result<Arc<dyn Provider>, Error>;

pub fn make(config: &Config, ports: &Ports) -> Result<Arc<dyn Provider>, Error> {
    let row = PROVIDERS.iter().find(|(provider, _)| *provider == config.provider);
    let (_, make) = row.expect("each provider has a row");
    make(config, ports)
}
