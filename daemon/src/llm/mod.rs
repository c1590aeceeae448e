//! Asking a model, whichever it is, within bounds.
//!
//! [`Client`](client::Client) takes a [`CompletionRequest`](request::CompletionRequest) and gives a
//! [`Reply`](reply::Reply) or an [`Error`](error::Error) that says who acts on it. On the way it
//! takes secrets out of what is sent, marks what comes from transcripts so that the model can tell
//! it from the question ([`material`]), keeps to a daily budget ([`ledger`]), repeats what failed
//! in passing ([`retry`]), leaves a server alone that is down ([`breaker`]), and reads JSON out of
//! what comes back ([`json`], [`schema`]). [`resilience`] says what becomes of a session whose
//! question got no answer. One file in [`provider`] speaks to one kind of model. `reach` finds out
//! whether it is there, without a question.
//!
//! What to ask, and what to do without an answer, is the callers' business. Time, chance, the
//! environment, redaction and what survives a restart are given as [`ports`].

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
