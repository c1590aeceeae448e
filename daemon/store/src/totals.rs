//! Totals that each write updates, so that a status request does not have to visit every session.

use std::collections::BTreeMap;

use crate::{
    Tally,
    model::{
        SessionKey, Timestamp,
        session::{Session, State, Unindexed},
    },
};

/// Maximum number of an agent's latest sessions in its totals. If a user deletes all of them at
/// once, the next session that changes becomes the latest one, even if other sessions are later.
const LATEST: usize = 16;

/// Totals for the status display.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Totals {
    pub sessions: u64,
    pub messages: u64,
    pub episodes: u64,
}

/// Totals of one agent's sessions and files.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct AgentTotals {
    pub sessions: SessionCounts,
    /// The sum over all files.
    pub tally: Tally,
    /// At most 16 sessions with the latest activity; the session with the earliest activity of them
    /// is the first. When one of them is deleted, the next session that changes takes its place,
    /// even if other sessions have later activity.
    pub latest: Vec<(Timestamp, SessionKey)>,
}

/// Numbers of sessions by state. Sessions that are not listed ([`Session::is_listed`]) are counted
/// only in `empty` or `unread`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SessionCounts {
    pub active: u64,
    pub inactive: u64,
    pub indexing: u64,
    pub indexed: u64,
    pub failed: u64,
    pub unindexed: u64,
    /// Sessions without messages.
    pub empty: u64,
    /// Sessions of the history that were not read yet.
    pub unread: u64,
}

impl AgentTotals {
    pub fn add_session(&mut self, session: &Session) {
        *self.sessions.count_of(session) += 1;
        self.latest.push((session.last_activity, session.key));
        self.latest.sort_unstable();
        if self.latest.len() > LATEST {
            self.latest.remove(0);
        }
    }

    /// Subtracts a session, which must have the state in which it was added.
    pub fn remove_session(&mut self, session: &Session) {
        let count = self.sessions.count_of(session);
        *count = count.saturating_sub(1);
        self.latest.retain(|(_, key)| *key != session.key);
    }
}

impl SessionCounts {
    /// Returns the number of listed sessions.
    #[must_use]
    pub fn listed(&self) -> u64 {
        self.active + self.inactive + self.indexing + self.indexed + self.failed + self.unindexed
    }

    /// Adds the counts of another agent.
    pub fn add(&mut self, other: &SessionCounts) {
        self.active += other.active;
        self.inactive += other.inactive;
        self.indexing += other.indexing;
        self.indexed += other.indexed;
        self.failed += other.failed;
        self.unindexed += other.unindexed;
        self.empty += other.empty;
        self.unread += other.unread;
    }

    fn count_of(&mut self, session: &Session) -> &mut u64 {
        match &session.state {
            State::Unindexed(Unindexed::History) if !session.is_listed() => &mut self.unread,
            _ if !session.is_listed() => &mut self.empty,
            State::Active => &mut self.active,
            State::Inactive => &mut self.inactive,
            State::Indexing(_) => &mut self.indexing,
            State::Indexed => &mut self.indexed,
            State::Failed(_) => &mut self.failed,
            State::Unindexed(_) => &mut self.unindexed,
        }
    }
}

impl Tally {
    /// Adds the counts of another file.
    pub fn add(&mut self, other: &Tally) {
        self.read += other.read;
        self.repaired += other.repaired;
        self.broken += other.broken;
        self.broken_bytes += other.broken_bytes;
        self.restarts += other.restarts;
        for (kind, count) in &other.skipped {
            *self.skipped.entry(kind.clone()).or_default() += count;
        }
    }

    /// Subtracts counts of a file that were added before.
    pub fn subtract(&mut self, other: &Tally) {
        let Tally { read, skipped, repaired, broken, broken_bytes, restarts } = self;
        for (total, part) in [
            (read, other.read),
            (repaired, other.repaired),
            (broken, other.broken),
            (broken_bytes, other.broken_bytes),
            (restarts, other.restarts),
        ] {
            *total = total.saturating_sub(part);
        }
        for (kind, part) in &other.skipped {
            if let Some(total) = skipped.get_mut(kind) {
                *total = total.saturating_sub(*part);
            }
        }
        skipped.retain(|_, count| *count > 0);
    }
}

pub type TotalsByAgent = BTreeMap<String, AgentTotals>;
