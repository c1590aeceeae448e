//! Replaces files in one step. The client uses the same code.

pub use graphiti_proto::files::{replace, sync_folder};
