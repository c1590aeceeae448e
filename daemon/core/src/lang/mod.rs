//! Recognises forms of text, in the same way for every stage: shell command lines, paths,
//! slash commands, decisions, code, and failures of the environment.
//!
//! The stages interpret the result: the purpose of a command, and its effect on a session.

pub mod environment;
pub mod lasting;
pub mod paths;
pub mod prompt;
pub mod prose;
pub mod shell;
