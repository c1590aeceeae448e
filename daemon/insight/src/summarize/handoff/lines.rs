//! Lists the lines of a handoff, to count which of them later sessions use.

use crate::{
    model::Episode,
    summarize::handoff::{Handoff, SessionLine, render, repeats::own_state},
    text::{share_of_words, words},
};

/// A session acted on a line if its summary contains at least this share of the line's words.
const REPEATED_SHARE: f64 = 0.6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffLine {
    /// The kind of the line; see [`render::topic`].
    pub topic: String,
    pub text: String,
    /// The id of the session that the line is from.
    pub session_id: String,
}

impl Handoff {
    /// Returns the lines that are in `text`, the text of this handoff, and whose use is counted.
    pub fn lines_in(&self, text: &str) -> Vec<HandoffLine> {
        let session_id = |session: usize| {
            self.sessions.get(session).map_or_else(String::new, |past| past.session_id.clone())
        };
        let line = |topic: &str, text: &str, session: usize| HandoffLine {
            topic: topic.to_owned(),
            text: text.to_owned(),
            session_id: session_id(session),
        };
        // Entries that exceeded the limit of the text are not in it.
        let is_shown = |line: &HandoffLine| text.contains(&line.text);
        let of_list =
            |topic: &'static str, list: &[SessionLine], most: usize| -> Vec<HandoffLine> {
                let lines =
                    list.iter().take(most).map(|entry| line(topic, &entry.text, entry.session));
                lines.filter(is_shown).collect()
            };
        let last = self.sessions.first();
        let ended = last.map(|last| line(render::topic::ENDING, &last.last_words, 0));
        let wishes = self.preferences.iter().take(render::WISHES);
        let wishes = wishes.map(|wish| line(render::topic::WISHES, wish, 0));
        let causes = self.causes.iter().map(|cause| line(render::topic::CAUSES, cause, 0));
        let tests = self.failing_tests.iter();
        let tests = tests
            .filter(|suite| text.contains(&render::failing_suite(suite)))
            .map(|suite| line(render::topic::TESTS, &suite.names.join(" "), suite.session));
        let first = ended.into_iter().chain(wishes).chain(causes).filter(is_shown).chain(tests);
        let mut lines: Vec<HandoffLine> = first.collect();
        let states: Vec<SessionLine> =
            self.repository.iter().map(|line| self.shown_state(line)).collect();
        lines.extend(of_list(render::topic::REPOSITORY, &states, render::STATES));
        lines.extend(of_list(render::topic::OPEN, &self.open_ends, render::OPEN));
        lines.extend(of_list(render::topic::DECISIONS, &self.decisions, render::DECISIONS));
        lines
    }

    /// Returns a state of the repository as the text shows it.
    fn shown_state(&self, line: &SessionLine) -> SessionLine {
        let last = self.sessions.first().filter(|_| line.session == 0);
        last.map_or_else(|| line.clone(), |last| own_state(line, last))
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
