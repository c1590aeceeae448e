//! Tests of the real daemon with real transcripts.
//!
//! The transcripts are not part of this repository. The tests look for them in `../shared/corpus`,
//! or in the folder in the environment variable `GRAPHITI_CORPUS`. Without transcripts, the tests
//! check nothing.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agents;
mod models;
mod tools;
mod transcripts;
