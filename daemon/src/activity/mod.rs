//! What a session was about: how much of each of eight activities it shows, as a whole and phase by
//! phase, and what kind of tool each of its calls was.
//!
//! [`classify`] says what a call is for; [`detect`] adds up what calls, prompts and errors say.
//! Both are pure: the caches that they learn into are values which the store keeps, and asking a
//! model about tools that nobody knows is left to the engine.

pub mod classify;
pub mod detect;

mod keywords;
mod words;

pub use self::detect::Detector;
