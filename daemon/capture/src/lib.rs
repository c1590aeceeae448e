//! Reads messages from transcripts.
//!
//! [`watch`] reports files that may have changed, [`storage`] opens a transcript in any form of
//! storage (for example a [`database`]), [`tail`] reads its new lines, [`salvage`] recovers
//! damaged records, [`mod@format`] interprets records, [`filter`] selects what is kept,
//! [`content_hash`] detects new content, and [`liveness`] determines which agents still run. The
//! engine assigns files to sessions and processes the messages.

use graphitid_core::{model, pattern};
use graphitid_redact as redact;
use graphitid_store as store;

pub mod config;
pub mod content_hash;
pub mod database;
mod error_lines;
pub mod filter;
pub mod format;
pub mod liveness;
pub mod omit;
pub mod open;
mod outcome_text;
pub mod records;
pub mod salvage;
pub mod storage;
pub mod tail;
pub mod watch;
