//! Adds up the activity of a session while its transcript is read: for the whole session and for
//! each of its phases.
//!
//! A [`Detector`] receives the entries one by one. A detector is saved together with the read
//! position of its file, and continues at this position. Its size does not depend on the length of
//! the transcript: it keeps sums and a few hundred words.

mod segments;
mod tally;

use std::{borrow::Cow, collections::VecDeque};

use serde::{Deserialize, Serialize};

use crate::{
    activity::{
        classify::Classified,
        detect::{segments::Segments, tally::Tally},
        keywords::{errors_and_files_in, intents_in},
    },
    model::{
        activity::{ActivityVector, Segment, Signals},
        transcript::{Action, Call, Entry, Item, Outcome, ToolResult},
    },
};

/// Maximum number of bytes of a tool's output that are searched.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;
/// Maximum number of calls whose output is awaited.
const MAX_AWAITED_CALLS: usize = 64;
/// Maximum length, in bytes, of the id of a call.
const MAX_ID_BYTES: usize = 128;

/// The activity in one transcript: the main transcript of a session, or that of a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Detector {
    session: Tally,
    segments: Segments,
    /// The ids of calls whose output is significant even if the call succeeds.
    awaited: VecDeque<String>,
}

impl Detector {
    /// Adds the next entry, which is on `line`. `classified` is the classification of a call; a
    /// call without classification is counted, but adds no signals.
    pub fn observe(&mut self, entry: &Entry<'_>, line: u64, classified: Option<&Classified>) {
        let prompt = match &entry.item {
            Item::Prompt(text) => Some(text.as_ref()),
            Item::Command { args, .. } => Some(args.as_ref()),
            _ => None,
        };
        let intents = prompt.map(intents_in).unwrap_or_default();
        self.segments.begin(entry, line, &intents);
        self.each_tally(|tally| tally.prompt(&intents));
        if matches!(entry.item, Item::Call(_)) {
            let signals = classified.map(Classified::signals).copied().unwrap_or_default();
            let unknown = classified.and_then(Classified::unknown);
            self.each_tally(|tally| tally.call(&signals, unknown));
        }
        for text in self.texts(&entry.item) {
            let marks = errors_and_files_in(&text);
            self.each_tally(|tally| tally.text(&marks));
        }
        if matches!(entry.item, Item::Boundary) {
            self.segments.end();
        }
    }

    pub fn vector(&self) -> ActivityVector {
        self.session.vector()
    }

    /// Returns the sums from which [`Self::vector`] is computed.
    pub fn signals(&self) -> Signals {
        self.session.signals()
    }

    pub fn segments(&self) -> Vec<Segment> {
        self.segments.list()
    }

    /// Adds the signals of calls whose tools were unknown at the time and are `known` now.
    pub fn add_known_tools(&mut self, known: &dyn Fn(&str) -> Option<Signals>) {
        self.session.add_known_tools(known);
        self.segments.add_known_tools(known);
    }

    /// Adds a sub-agent's activity to the session, and to the phase in which the sub-agent started.
    /// Call this function on a copy that is made for a summary, because the original continues to
    /// be updated.
    pub fn absorb(&mut self, sub_agent: &Detector) {
        self.session.absorb(&sub_agent.session);
        self.segments.absorb(sub_agent.segments.began(), &sub_agent.session);
    }

    /// Changes the tallies of the session and of the open phase.
    fn each_tally(&mut self, change: impl Fn(&mut Tally)) {
        change(&mut self.session);
        change(self.segments.open());
    }

    /// Returns the texts of an item that are searched for errors and files.
    fn texts<'e>(&mut self, item: &'e Item<'_>) -> Vec<Cow<'e, str>> {
        match item {
            Item::Prompt(text) | Item::Instruction(text) | Item::Reply { text, .. } => {
                vec![Cow::Borrowed(text)]
            }
            Item::Call(call) => {
                self.await_output(call);
                texts_of_call(&call.action)
            }
            Item::Result(result) => self.output(result).into_iter().collect(),
            Item::Command { args, .. } => vec![Cow::Borrowed(args)],
            Item::TaskKey { .. }
            | Item::Answer { .. }
            | Item::Recap { .. }
            | Item::Title { .. }
            | Item::Boundary
            | Item::Interrupted
            | Item::Context(_)
            | Item::Usage { .. }
            | Item::PullRequest { .. }
            | Item::ShellOutput(_)
            | Item::TaskEnded(_)
            | Item::SessionEnded
            | Item::ServiceError(_) => Vec::new(),
        }
    }

    fn await_output(&mut self, call: &Call<'_>) {
        if matches!(call.action, Action::Run { .. } | Action::Delegate { .. } | Action::Other) {
            if self.awaited.len() == MAX_AWAITED_CALLS {
                self.awaited.pop_front();
            }
            self.awaited.push_back(id(&call.id).to_owned());
        }
    }

    /// Returns the output of a call if it is significant: the call failed, or it was a command, a
    /// sub-agent or a tool whose action is not known. The contents of files that were only read are
    /// not significant.
    fn output<'e>(&mut self, result: &'e ToolResult<'_>) -> Option<Cow<'e, str>> {
        let awaited = self.awaited.iter().rposition(|call| call == id(&result.call));
        let is_awaited = awaited.and_then(|at| self.awaited.remove(at)).is_some();
        let failed = matches!(result.outcome, Outcome::Failed(_));
        let is_significant = match result.outcome {
            Outcome::Succeeded | Outcome::Failed(_) => is_awaited || failed,
            Outcome::Rejected | Outcome::Interrupted => false,
        };
        is_significant.then(|| result.content.decode(MAX_OUTPUT_BYTES))
    }
}

fn texts_of_call<'e>(action: &'e Action) -> Vec<Cow<'e, str>> {
    match action {
        Action::Run { command, .. } => vec![Cow::Borrowed(command)],
        Action::Read { path } => vec![Cow::Borrowed(path)],
        Action::Change(changes) => {
            changes.iter().map(|change| Cow::Borrowed(change.path.as_str())).collect()
        }
        Action::Search { path, .. } => {
            path.iter().map(|path| Cow::Borrowed(path.as_str())).collect()
        }
        Action::Delegate { subject, .. } => vec![Cow::Borrowed(subject)],
        Action::Fetch { .. }
        | Action::PlanTasks(_)
        | Action::AddTask { .. }
        | Action::UpdateTask { .. }
        | Action::Ask(_)
        | Action::ProposePlan { .. }
        | Action::Other => Vec::new(),
    }
}

fn id(call: &str) -> &str {
    &call[..call.floor_char_boundary(MAX_ID_BYTES)]
}

#[cfg(test)]
mod tests;
