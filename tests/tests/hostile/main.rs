//! Tests hostile input: clients, transcripts, links and bytes, and secrets that must not be stored.
//! `e2e/daemon.rs` tests the access of other users of the machine.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a run prints its figures and its seed")]

mod agents;
mod clients;
mod fixture;
mod injections;
mod parsers;
mod passwords;
mod paths;
mod quotes;
mod secrets;
mod steering;
mod terminal;
