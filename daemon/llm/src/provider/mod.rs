//! The providers: one file and one entry in [`PROVIDERS`] for each.

pub mod anthropic;
pub mod command;
pub mod null;
pub mod openai;

mod dialect;
#[doc(hidden)]
pub(crate) mod fuzzing;

use std::sync::Arc;

use crate::{
    config::{self, Config},
    error::{Error, Failure},
    model::Timestamp,
    ports::{BoxFuture, Ports},
    price::Tariff,
    reply::Completion,
    schema::Schema,
};

/// Calls one kind of model.
///
/// [`Provider::ask`] makes one attempt. The client adds retries, time limits, budgets and JSON
/// parsing. Dropping the future cancels the call; no part of the call may continue to run.
pub trait Provider: Send + Sync {
    /// Returns the provider's name in the configuration.
    fn name(&self) -> &'static str;

    /// Returns the model's name, if it is known before a call.
    fn model(&self) -> Option<&str>;

    /// Returns the price of the model's tokens, if it is known.
    fn tariff(&self) -> Option<Tariff>;

    /// Checks whether the model is available, without sending a prompt. Returns a description of
    /// the result for people.
    fn reach(&self, now: Timestamp) -> BoxFuture<'_, Result<String, Error>>;

    fn ask<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<Completion, Failure>>;
}

#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    pub system: &'c str,
    pub prompt: &'c str,
    pub schema: Option<&'c Schema>,
    /// Whether `prompt` ends with the schema.
    pub schema_in_prompt: bool,
    /// Maximum length of the answer, in tokens.
    pub max_output_tokens: u32,
    pub now: Timestamp,
}

impl Call<'_> {
    /// Returns the prompt, with the schema at its end.
    fn prompt_with_schema(&self) -> String {
        let schema = self.schema.filter(|_| !self.schema_in_prompt);
        format!("{}{}", self.prompt, schema.map_or_else(String::new, Schema::instruction))
    }
}

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

/// Creates a provider; fails when its configuration cannot work.
pub type Make = fn(&Config, &Ports) -> Result<Arc<dyn Provider>, Error>;

pub fn make(config: &Config, ports: &Ports) -> Result<Arc<dyn Provider>, Error> {
    let row = PROVIDERS.iter().find(|(provider, _)| *provider == config.provider);
    let (_, make) = row.expect("each provider has a row");
    make(config, ports)
}
