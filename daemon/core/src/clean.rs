//! Removes harmful characters from external text, in the same way for agents and for people. The
//! client uses the same code.

pub use graphiti_proto::clean::for_model;
