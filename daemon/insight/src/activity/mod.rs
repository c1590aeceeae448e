//! Determines the activity of a session: the intensity of each of eight activities, for the whole
//! session and for each phase, and the class of each tool call.
//!
//! [`classify`] classifies calls; [`detect`] adds up the signals of calls, prompts and errors. Both
//! are pure: the caches of learned tools are values that the store saves, and the engine asks a
//! model about unknown tools.

pub mod classify;
pub mod detect;

mod keywords;
mod words;

pub use self::detect::Detector;
