//! Full-text search over sessions.
//!
//! Reading order: how texts become words ([`text`]) and how queries are parsed ([`query`]); what is
//! indexed and how it is stored ([`passage`], [`index`]); how sessions are ranked ([`rank`]); how
//! results are shown ([`snippet`]).
//!
//! The search identifies sessions by number. It keeps a text only until its words are on disk; the
//! caller stores the sessions and their texts. Embeddings ([`vectors`]), if configured, are a
//! second ranker ([`rank::SecondRanker`]).
//!
//! Entities and facts are searched in the same way, in an index of entities and an index of facts.
//! Each entity and each fact has a number and a few text fields, like a session that has only an
//! episode ([`index::IndexChange::entity_or_fact`]).

use graphitid_core::{model, sync};
use graphitid_llm as llm;

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
