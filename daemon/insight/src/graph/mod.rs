//! Converts summaries into entities and facts, and answers queries about them.
//!
//! [`mod@extract`] extracts the claims of one episode, without a model. [`fact_validity`] computes
//! from the claims of all episodes when each fact was true and how certain it is. [`query`] reads
//! entities and facts from the store. [`Graph::preferences`] returns the user's lasting wishes.
//! [`Graph::error_records`] returns what is known about an error. [`Graph::statement_states`]
//! returns which statements of an episode still hold. Other modules store the claims and search
//! entities by words.

pub mod config;
mod errors;
pub mod extract;
pub mod fact_validity;
mod preferences;
pub mod query;
mod quoted_reports;
mod statement_states;
mod text;

pub use self::{
    errors::{ErrorRecord, is_traceback_heading, mentions_error, words_of_error},
    extract::extract,
    preferences::Preference,
    query::{EntitiesAndFacts, FactFilter, Graph},
    statement_states::StatementStates,
};

use crate::model::Fact;

/// The name of the attribute that marks a fact as listed only on demand.
const MINOR: &str = "minor";

/// The sentence at the end of the text about an error if no run of its session verified the fix.
const UNCHECKED: &str = "No run verified the fix.";

/// Whether a fact is listed by default: its relation repeats neither the git history nor the list
/// of sessions, and the fact is not marked as minor.
pub fn is_listed(fact: &Fact) -> bool {
    !fact.relation.repeats_history() && !fact.details.iter().any(|(name, _)| name == MINOR)
}

#[cfg(test)]
mod history_tests;
