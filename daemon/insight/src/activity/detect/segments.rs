//! Splits a session into phases.
//!
//! A phase ends when the agent's context is compacted, after a pause of more than half an hour, or
//! when the user requests something of another kind. The last criterion is a guess, so it applies
//! only after several calls. Such a split is undone if the new phase is short, or if its work is
//! similar to the work of the phase before.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    activity::detect::tally::{self, Tally, intent_signals},
    model::{
        activity::{Activity, ActivityVector, Segment, Signals},
        time::Timestamp,
        transcript::{Entry, Item},
    },
};

/// The pause that ends a phase.
const PAUSE: Duration = Duration::from_secs(30 * 60);
/// Maximum number of closed phases. If there are more, the two oldest are merged.
const MAX_CLOSED_PHASES: usize = 50;
/// Minimum number of calls of a phase that a request of another kind may end.
const MIN_CALLS_BEFORE_SPLIT: u32 = 8;
/// Minimum number of calls of a phase that only a request started. A phase with fewer calls is
/// merged into the phase before it.
const MIN_CALLS_AFTER_SPLIT: u32 = 4;
/// Minimum similarity of two requests of the same kind, from 0 to 1.
const MIN_REQUEST_SIMILARITY: f64 = 0.35;
/// Maximum similarity, from 0 to 1, of two phases that a request separates. More similar phases are
/// merged.
const MAX_PHASE_SIMILARITY: f64 = 0.92;

/// The phases so far; the last one is still open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Segments {
    closed: Vec<ClosedPhase>,
    open: OpenPhase,
    /// Whether the last phase has ended and no new one has started.
    ended: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct ClosedPhase {
    span: PhaseSpan,
    signals: Signals,
    calls: u32,
    unknown: BTreeMap<String, u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct OpenPhase {
    span: PhaseSpan,
    tally: Tally,
    /// Whether only a request of another kind started the phase.
    by_request: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct PhaseSpan {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    first_line: u64,
    last_line: u64,
}

impl Segments {
    /// Extends the open phase by an entry. If the phase ends before this entry, starts a new one.
    pub(crate) fn begin(&mut self, entry: &Entry<'_>, line: u64, intents: &[&str]) {
        if !is_conversation(&entry.item) {
            return;
        }
        let paused = matches!((self.open.span.to, entry.at), (Some(last), Some(at)) if at.since(last) > PAUSE);
        let another = matches!(entry.item, Item::Prompt(_) | Item::Command { .. })
            && self.differs_in_kind(intents);
        if self.open.span.first_line != 0 && (self.ended || paused || another) {
            self.close();
            self.open.by_request = another && !self.ended && !paused;
        }
        self.ended = false;
        self.open.span.extend(entry.at, line);
    }

    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Returns the sums of the open phase.
    pub(crate) fn open(&mut self) -> &mut Tally {
        &mut self.open.tally
    }

    /// Returns the start of the first phase.
    pub(crate) fn began(&self) -> Option<Timestamp> {
        self.closed.first().map_or(self.open.span.from, |first| first.span.from)
    }

    /// Returns the phases, in order, without those that have neither calls nor signals.
    pub(crate) fn list(&self) -> Vec<Segment> {
        let mut all = self.clone();
        if all.open.span.first_line != 0 {
            all.close();
        }
        all.closed
            .iter()
            .filter(|closed| !closed.signals.is_empty() || closed.calls > 0)
            .map(ClosedPhase::segment)
            .collect()
    }

    /// Adds the signals of calls whose tools are known now.
    pub(crate) fn add_known_tools(&mut self, known: &dyn Fn(&str) -> Option<Signals>) {
        self.open.tally.add_known_tools(known);
        for closed in &mut self.closed {
            let signals = &mut closed.signals;
            tally::take_known(&mut closed.unknown, known, |of_call, calls| {
                signals.add_all(of_call, calls * tally::weight_of_calls());
            });
        }
    }

    /// Adds a sub-agent's work to the phase in which the sub-agent started.
    pub(crate) fn absorb(&mut self, began: Option<Timestamp>, work: &Tally) {
        let in_open =
            began.is_none_or(|began| self.open.span.from.is_none_or(|from| from <= began));
        let closed = self.closed.iter_mut().rev().find(|closed| {
            began.is_some_and(|began| closed.span.from.is_some_and(|from| from <= began))
        });
        match closed {
            Some(closed) if !in_open => {
                closed.signals.add_all(&work.signals(), 1.0);
                closed.calls = closed.calls.saturating_add(work.calls);
                work.unknown.iter().for_each(|(tool, calls)| {
                    tally::note_unknown(&mut closed.unknown, tool, *calls);
                });
            }
            _ => self.open.tally.absorb(work),
        }
    }

    /// Whether a request with these keywords differs in kind from the requests of the open phase.
    fn differs_in_kind(&self, intents: &[&str]) -> bool {
        let running = &self.open.tally;
        let comparable = !intents.is_empty() && !running.intents.is_empty();
        if !comparable || running.calls < MIN_CALLS_BEFORE_SPLIT {
            return false;
        }
        let asked = intent_signals(|word| intents.contains(&word));
        similarity(&asked, &intent_signals(|word| running.intents.contains(word)))
            < MIN_REQUEST_SIMILARITY
    }

    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        let closed = ClosedPhase {
            span: open.span,
            signals: open.tally.signals(),
            calls: open.tally.calls,
            unknown: open.tally.unknown,
        };
        match self.closed.last_mut() {
            Some(last) if open.by_request && closed.continues(last) => last.absorb(&closed),
            _ => self.closed.push(closed),
        }
        while self.closed.len() > MAX_CLOSED_PHASES {
            let oldest = self.closed.remove(0);
            let second = std::mem::replace(&mut self.closed[0], oldest);
            self.closed[0].absorb(&second);
        }
    }
}

impl ClosedPhase {
    fn continues(&self, before: &ClosedPhase) -> bool {
        self.calls < MIN_CALLS_AFTER_SPLIT
            || similarity(&self.signals, &before.signals) > MAX_PHASE_SIMILARITY
    }

    fn absorb(&mut self, next: &ClosedPhase) {
        self.span.to = next.span.to.or(self.span.to);
        self.span.last_line = next.span.last_line;
        self.signals.add_all(&next.signals, 1.0);
        self.calls = self.calls.saturating_add(next.calls);
        next.unknown
            .iter()
            .for_each(|(tool, calls)| tally::note_unknown(&mut self.unknown, tool, *calls));
    }

    fn segment(&self) -> Segment {
        let vector = ActivityVector::from_signals(&self.signals);
        Segment {
            from: self.span.from,
            to: self.span.to,
            first_line: self.span.first_line,
            last_line: self.span.last_line,
            calls: self.calls,
            vector,
            label: label(&vector),
        }
    }
}

impl PhaseSpan {
    fn extend(&mut self, at: Option<Timestamp>, line: u64) {
        if self.first_line == 0 {
            self.first_line = line;
        }
        self.last_line = self.last_line.max(line);
        self.from = self.from.or(at);
        self.to = self.to.max(at);
    }
}

/// Returns the names of the one or two strongest activities, or `mixed` if no activity is strong.
fn label(vector: &ActivityVector) -> String {
    const NAMED: usize = 2;
    const CLOSE: f64 = 0.6;
    let near =
        vector.dominant_activities().into_iter().filter(|activity| vector.get(*activity) >= CLOSE);
    let names: Vec<&str> = near.take(NAMED).map(Activity::as_str).collect();
    if names.is_empty() { "mixed".to_owned() } else { names.join(", ") }
}

/// Returns the similarity of two sums: 1 for the same mixture, 0 for nothing in common.
fn similarity(one: &Signals, other: &Signals) -> f64 {
    let product = |a: &Signals, b: &Signals| {
        a.iter().zip(b.iter()).map(|((_, a), (_, b))| a * b).sum::<f64>()
    };
    let lengths = (product(one, one) * product(other, other)).sqrt();
    if lengths > 0.0 { product(one, other) / lengths } else { 0.0 }
}

/// Whether an item belongs to the conversation. Items that a program adds neither start nor extend
/// a phase, because their time may be missing or much later.
fn is_conversation(item: &Item<'_>) -> bool {
    match item {
        Item::Prompt(_)
        | Item::Command { .. }
        | Item::Instruction(_)
        | Item::Reply { .. }
        | Item::Call(_)
        | Item::Result(_)
        | Item::Answer { .. } => true,
        Item::TaskKey { .. }
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
        | Item::ServiceError(_) => false,
    }
}
