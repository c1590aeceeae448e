//! What a summary writes where nobody said anything, and how it marks whose word something is.
//!
//! Those who write summaries use these words; those who read them tell by these words what was
//! said from what only fills its place.

/// A cause, a fix or a reason of a change that nobody named.
pub const NOT_STATED: &str = "not stated";
/// The same of a decision.
pub const NO_REASON: &str = "Reason not stated";
/// Nothing in the session shows that an error is gone.
pub const NOT_VERIFIED: &str = "not verified in the session";
/// That it is gone is told by what the agent wrote when its context was compacted, and shown by
/// nothing.
pub const TOLD_BY_RECAP: &str = "as the agent's own recap tells it";
/// Begins a plan that was accepted.
pub const PLAN: &str = "Plan: ";
/// Begins a plan that was refused.
pub const NOT_AS_PLANNED: &str = "Not as planned: ";
/// Ends a rationale that is the user's word, as in [`ACCEPTED`] and [`CHOSEN`].
pub const BY_THE_USER: &str = "by the user";
/// The user said yes to what was proposed.
pub const ACCEPTED: &str = "Accepted by the user";
/// The user chose among several.
pub const CHOSEN: &str = "Chosen by the user";
/// The user said no.
pub const REFUSED: &str = "Refused by the user";
/// Begins the rationale of a decision that quotes the user.
pub const USER_SAID: &str = "The user's words";
/// The new value of a setting that was taken out.
pub const REMOVED: &str = "(removed)";

/// Whether a text only fills the place of what nobody said.
pub fn is_filler(text: &str) -> bool {
    [NOT_STATED, NO_REASON, NOT_VERIFIED, TOLD_BY_RECAP, USER_SAID].contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_s_word_is_known_by_its_end() {
        assert!([ACCEPTED, CHOSEN, REFUSED].iter().all(|word| word.ends_with(BY_THE_USER)));
    }
}
