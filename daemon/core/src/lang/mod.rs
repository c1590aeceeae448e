//! Reading what people and agents write, the same way for every stage: shell command lines, paths,
//! hexadecimal text.
//!
//! What a command is for, and what follows for a session, is left to the stages.

pub mod hex;
pub mod paths;
pub mod shell;
