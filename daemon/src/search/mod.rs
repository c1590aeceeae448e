//! Full-text search: which session was that in?
//!
//! Read in this order: how texts become words ([`text`]) and what is made of a question
//! ([`query`]); what is indexed and how it is kept ([`passage`], [`index`]); how sessions are ranked
//! ([`rank`]); what is shown of them ([`snippet`]).
//!
//! The search knows sessions by their numbers and keeps none of their text: whoever asks has both.
//! Embeddings, when there are any ([`vectors`]), are another ranker ([`rank::SecondRanker`]).
//!
//! Entities and facts are found by the same engine: each is a thing with a number and a few fields
//! of text, like a session that has only an episode, in an index of its own
//! ([`index::IndexChange::thing`]).

pub mod config;
pub mod index;
pub mod passage;
pub mod query;
pub mod rank;
pub mod snippet;
#[cfg(test)]
mod testing;
pub(crate) mod text;
pub mod vectors;
