//! Determines the activity of a session: the intensity of each of eight activities, for the whole
//! session and for each phase, and the class of each tool call.
//!
//! [`classify`] classifies calls; [`detect`] adds up the signals of calls, prompts and errors. Both
//! are pure: the store saves the classifications of learned tools, and the engine sends unknown
//! tools to a model.

pub mod classify;
pub mod detect;

mod keywords;
mod words;

pub use self::detect::Detector;
