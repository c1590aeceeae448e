//! Text of others made harmless, the same way for agents as for people: the code is shared with the
//! client.

pub use graphiti_proto::clean::for_model;
