//! Derives the meaning of a session: its activity, its summary, its entities and facts.
//! `daemon/src/lib.rs` describes how the modules are connected, and `tests/tests/rules/layers.rs`
//! lists the permitted dependencies of the three modules.

use graphitid_core::{clean, lang, model, pattern, releasable};
use graphitid_llm as llm;
use graphitid_store as store;

pub mod activity;
pub mod graph;
pub mod summarize;
