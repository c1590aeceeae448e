//! Those who mean harm, or behave as if they did, against the real daemon: clients, transcripts, links.
//!
//! What each parser stands is in `parsers.rs`, what another user may not in `daemon.rs`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agents;
mod clients;
mod injections;
mod paths;
mod quotes;
mod secrets;
mod steering;
mod terminal;
