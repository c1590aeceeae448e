//! What a session meant: what was being done, the summary, the graph. `daemon/src/lib.rs` has the map, and
//! `tests/tests/rules/layers.rs` which of the three may name which.

use graphitid_core::{clean, lang, model, pattern};
use graphitid_llm as llm;
use graphitid_store as store;

pub mod activity;
pub mod graph;
pub mod summarize;
