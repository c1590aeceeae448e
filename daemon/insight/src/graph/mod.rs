//! Converts summaries into entities and facts, and answers queries about them.
//!
//! [`mod@read`] extracts the claims of one episode, without a model. [`mod@derive`] computes from
//! the claims of all episodes when each fact was true and how certain it is. [`query`] reads both
//! from the store, [`Graph::preferences`] the wishes that hold for a project, and
//! [`Graph::standing`] what of an episode still holds. Other modules store the claims and search entities by words.

pub mod config;
pub mod derive;
mod errors;
mod preferences;
pub mod query;
pub mod read;
mod standing;
mod text;

pub use self::{
    errors::ErrorRecord,
    preferences::Preference,
    query::{EpisodeThings, FactFilter, Graph},
    read::read,
    standing::Standing,
};

#[cfg(test)]
mod histories;
