//! Whose turn it is: the states of a session and the deadlines that move it on.

pub mod config;
