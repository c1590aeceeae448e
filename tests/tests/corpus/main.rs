//! Real transcripts through the real daemon.
//!
//! They are not part of this repository: tests look for them in `../shared/corpus` beside it, or where
//! `GRAPHITI_CORPUS` says, and without them they check nothing.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod models;
mod tools;
mod transcripts;
