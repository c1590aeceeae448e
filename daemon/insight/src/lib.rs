//! Derives the meaning of a session: its activity, its summary, its entities and facts.
//! `daemon/src/lib.rs` has the map, and `tests/tests/rules/layers.rs` the permitted dependencies of
//! the three modules.

use graphitid_core::{clean, lang, model, pattern, releasable};
use graphitid_llm as llm;
use graphitid_store as store;

pub mod activity;
pub mod graph;
pub mod summarize;
