//! Words of the agent that are not told: praise of the result, and states that later work ended.

use crate::{
    model::{
        evidence::{Evidence, FileWork},
        transcript::Origin,
    },
    summarize::report::{Topic, is_phrase, topic_of_sentence},
};

/// Words of a text that names what was done.
const DEED: usize = 9;

/// Whether a text praises the result and tells no deed.
pub(super) fn is_boast(text: &str) -> bool {
    let names_deed = topic_of_sentence(text) == Some(Topic::Done)
        && (text.contains('`') || text.split_whitespace().count() >= DEED);
    is_phrase(Topic::Boast, text) && !names_deed
}

/// Whether a text said at `at` tells how things stood, and something was done or failed since.
pub(super) fn is_past_state(evidence: &Evidence, text: &str, at: Origin) -> bool {
    is_phrase(Topic::Status, text) && was_followed(evidence, at)
}

/// Whether a file was changed, a commit was tried or an error was seen after `at`.
fn was_followed(evidence: &Evidence, at: Origin) -> bool {
    let later = |origin: Origin| origin.source == at.source && origin.line > at.line;
    let changed = |work: &FileWork| work.changed() && later(work.last);
    evidence.files.values().any(changed)
        || evidence.commits.iter().any(|commit| later(commit.origin))
        || evidence.git_events.iter().any(|event| !event.succeeded && later(event.origin))
        || evidence.errors.iter().any(|error| later(error.origin))
}
