//! Reads the languages of people and agents, in the same way for every stage: shell command lines,
//! paths, hexadecimal text, decisions.
//!
//! The stages interpret the result: the purpose of a command, and its effect on a session.

pub mod hex;
pub mod lasting;
pub mod paths;
pub mod shell;
