//! Derives the meaning of a session: its activity, its summary, its entities and facts.
//! [`summarize`] and [`graph`] both read the prompts and reports of a session with `report`, which
//! uses `text`. `daemon/src/lib.rs` describes how the modules are connected, and
//! `tests/tests/rules/layers.rs` lists their permitted dependencies.

use graphitid_core::{clean, lang, model, pattern, releasable};
use graphitid_llm as llm;
use graphitid_store as store;

pub mod activity;
pub mod graph;
mod report;
pub mod summarize;
mod text;
