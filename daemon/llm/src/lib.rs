//! Sends requests to a language model, with limits on cost and time.
//!
//! [`Client`](client::Client) takes a [`CompletionRequest`](request::CompletionRequest) and returns
//! a [`Reply`](reply::Reply) or an [`Error`](error::Error), whose variant shows who acts on it. The
//! client redacts secrets, marks the material from transcripts so that the model can distinguish it
//! from the instructions ([`material`]), enforces a daily budget ([`ledger`]), retries temporary
//! failures ([`retry`]), stops calling a server that is down ([`breaker`]), and parses JSON in
//! replies ([`json`], [`schema`]). [`resilience`] decides what happens to a session whose request
//! failed. Each file in [`provider`] implements one kind of model. `reach` checks whether a model
//! is available, and sends no prompt. [`prompt`] finds and fills the templates of prompts, and
//! [`embed`] computes vectors of texts.
//!
//! The callers choose the prompts and handle failures. Time, random numbers, the environment,
//! redaction and storage are passed in as [`ports`].

use graphitid_core::{files, model};

pub mod prompt;

pub mod breaker;
pub mod client;
pub mod config;
pub mod embed;
pub mod error;
#[doc(hidden)]
pub mod fuzzing;
pub mod json;
pub mod ledger;
pub mod ledger_file;
pub mod material;
mod money;
pub mod ports;
pub mod price;
pub mod provider;
pub mod reply;
pub mod request;
pub mod resilience;
pub mod retry;
pub mod schema;
pub mod secret;
pub mod tokens;

mod config_section;
mod http;
mod key;
mod process;
mod reach;

#[cfg(test)]
mod tests;
