//! The lines of a handoff whose use by later sessions is counted.

use crate::{
    model::Episode,
    text::{share_of_words, words},
};

/// A session acted on a line if its summary contains at least this share of the line's words.
const REPEATED_SHARE: f64 = 0.6;

/// A handoff as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffText {
    pub text: String,
    /// The lines of the text whose use is counted.
    pub lines: Vec<HandoffLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffLine {
    /// The kind of the line; see [`topic`](super::topic).
    pub topic: String,
    /// The text that is compared with the work of later sessions: without labels and dates.
    pub text: String,
    /// The id of the session that the line is from.
    pub session_id: String,
}

impl HandoffLine {
    pub(super) fn new(topic: &str, text: &str, session_id: &str) -> HandoffLine {
        let [topic, text, session_id] = [topic, text, session_id].map(str::to_owned);
        HandoffLine { topic, text, session_id }
    }
}

/// Whether a session acted on a line: its objective, completed tasks, changed files and findings
/// together contain most words of the line.
pub fn repeats(episode: &Episode, line: &str) -> bool {
    let summary = &episode.summary;
    let lists = [&summary.completed_tasks, &summary.files_modified, &summary.discoveries];
    let mut done = words(&summary.objective);
    lists.into_iter().flatten().flatten().for_each(|text| done.extend(words(text)));
    let words = words(line);
    words.len() > 1 && share_of_words(&words, &done) >= REPEATED_SHARE
}
