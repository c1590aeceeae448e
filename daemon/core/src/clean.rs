//! Removes harmful characters from external text, in the same way for agents and for people: the
//! code is shared with the client.

pub use graphiti_proto::clean::for_model;
