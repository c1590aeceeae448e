//! Summaries become things and facts, and questions about them are answered.
//!
//! [`mod@read`] says what one episode claims, without a model; [`mod@derive`] works out from what all
//! episodes say when each fact held and how sure it is; [`query`] asks the store for both. Storing
//! what is read, and finding things by words, are left to others.

pub mod config;
pub mod derive;
pub mod query;
pub mod read;
mod text;

pub use self::{
    query::{EpisodeThings, FactFilter, Graph},
    read::read,
};

#[cfg(test)]
mod histories;
