//! From files on disk to messages.
//!
//! [`watch`] says which files may have changed, [`tail`] reads what is new in one, [`salvage`]
//! makes the best of broken records, [`mod@format`] says what a record holds, [`filter`] keeps of it
//! what is wanted, and [`content_hash`] tells whether that is anything new. Which session a file
//! belongs to and what happens to the messages is the engine's business.

pub mod config;
pub mod content_hash;
pub mod filter;
pub mod format;
pub mod liveness;
pub mod open;
pub mod salvage;
pub mod tail;
pub mod watch;
