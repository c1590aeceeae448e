//! From a transcript to a structured summary.
//!
//! [`evidence`] reads facts out of a transcript while it grows.

pub mod evidence;
mod recap;
mod text;
