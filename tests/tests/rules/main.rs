//! Rules about the source itself.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod layers;
