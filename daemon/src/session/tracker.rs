//! Holds the live sessions and their deadlines.

use std::collections::{BTreeSet, HashMap};

use crate::{
    model::{
        session::{CloseReason, Session, SessionId, SessionKey, State, Unindexed},
        time::Timestamp,
    },
    session::{
        Config,
        machine::{self, SessionEvent},
    },
};

/// Live sessions by key, with their deadlines in order.
///
/// A session is live unless it is indexed. Indexed sessions are only in the store; the next event
/// loads them again.
#[derive(Debug, Default)]
pub struct Tracker {
    config: Config,
    /// Boxed, so that the table, which doubles its capacity when it grows, reserves only pointers.
    live: HashMap<SessionKey, Box<Session>>,
    by_id: HashMap<SessionId, SessionKey>,
    deadlines: BTreeSet<(Timestamp, SessionKey)>,
    /// Sessions that wait to be imported as history, by their last write.
    history: BTreeSet<(Timestamp, SessionKey)>,
}

/// The effect of an event on a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// The session after the event.
    pub session: Session,
    /// Whether the session has changed.
    pub changed: bool,
    /// The reason, if a job has to be started.
    pub start: Option<CloseReason>,
}

impl Tracker {
    pub fn new(config: Config) -> Tracker {
        Tracker { config, ..Tracker::default() }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Applies new timeouts, also to live sessions.
    pub fn set_config(&mut self, config: Config) {
        self.config = config;
        self.deadlines = self
            .live
            .values()
            .filter_map(|session| Some((machine::deadline(session, &config)?, session.key)))
            .collect();
    }

    /// Tracks `session` from now on, if it is live.
    pub fn track(&mut self, session: Session) {
        self.untrack(session.key);
        if session.state == State::Indexed {
            return;
        }
        if let Some(deadline) = machine::deadline(&session, &self.config) {
            self.deadlines.insert((deadline, session.key));
        }
        if session.state == State::Unindexed(Unindexed::History) {
            self.history.insert((session.last_activity, session.key));
        }
        self.by_id.insert(session.id.clone(), session.key);
        self.live.insert(session.key, Box::new(session));
    }

    /// Stops tracking a session. Returns the session if it was live.
    pub fn untrack(&mut self, key: SessionKey) -> Option<Session> {
        let session = self.live.remove(&key)?;
        if let Some(deadline) = machine::deadline(&session, &self.config) {
            self.deadlines.remove(&(deadline, key));
        }
        self.history.remove(&(session.last_activity, key));
        self.by_id.remove(&session.id);
        Some(*session)
    }

    pub fn get(&self, key: SessionKey) -> Option<&Session> {
        self.live.get(&key).map(AsRef::as_ref)
    }

    /// Returns the live session with this id, which the agent assigned.
    pub fn find(&self, id: &SessionId) -> Option<&Session> {
        self.get(*self.by_id.get(id)?)
    }

    /// Returns all live sessions, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Session> {
        self.live.values().map(AsRef::as_ref)
    }

    /// Applies `event` to `session`, and tracks the result.
    pub fn handle(&mut self, session: &Session, event: SessionEvent, now: Timestamp) -> Transition {
        self.untrack(session.key);
        let mut after = session.clone();
        let start = machine::handle(&mut after, event, now, &self.config);
        let changed = *session != after;
        self.track(after.clone());
        Transition { session: after, changed, start }
    }

    /// Returns the earliest time at which a live session changes without an event.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Returns the live sessions whose deadline has passed, earliest first.
    pub fn due(&self, now: Timestamp) -> Vec<SessionKey> {
        self.deadlines.iter().take_while(|(due, _)| *due <= now).map(|(_, key)| *key).collect()
    }

    /// Corrects times in the future, after the clock was set back to `now`. Returns the
    /// sessions that have changed.
    pub fn clamp_future_times(&mut self, now: Timestamp) -> Vec<Session> {
        let mut moved: Vec<Session> = self.iter().cloned().collect();
        moved.retain_mut(|session| machine::clamp_future_times(session, now));
        moved.iter().for_each(|session| self.track(session.clone()));
        moved
    }

    /// Returns the session of history that was written last. This session is imported next.
    pub fn newest_history(&self) -> Option<SessionKey> {
        self.history.last().map(|(_, key)| *key)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::session::{Failure, SessionId};

    const START: Timestamp = Timestamp::from_seconds(1_000_000);

    #[test]
    fn sessions_fall_due_in_the_order_of_their_deadlines() {
        let mut tracker = Tracker::new(Config::default());
        tracker.track(session(1, 30));
        tracker.track(session(2, 0));
        assert_eq!(tracker.next_deadline(), Some(after(60)));
        assert_eq!(tracker.due(after(59)), []);
        assert_eq!(tracker.due(after(95)), [SessionKey(2), SessionKey(1)]);
    }

    #[test]
    fn a_session_becomes_inactive_and_is_then_closed() {
        let mut tracker = Tracker::new(Config::default());
        tracker.track(session(1, 0));
        let change = tracker.handle(&session(1, 0), SessionEvent::DeadlinePassed, after(60));
        assert_eq!((change.session.state, change.start), (State::Inactive, None));
        assert_eq!(tracker.next_deadline(), Some(after(1_800)));
        let quiet = tracker.get(SessionKey(1)).unwrap().clone();
        let change = tracker.handle(&quiet, SessionEvent::DeadlinePassed, after(1_800));
        assert_eq!(change.start, Some(CloseReason::InactivityTimeout));
        assert_eq!(tracker.next_deadline(), None);
    }

    #[test]
    fn an_indexed_session_is_not_tracked_until_its_next_write() {
        let mut tracker = Tracker::new(Config::default());
        let indexed = Session { state: State::Indexed, ..session(1, 0) };
        tracker.track(indexed.clone());
        assert!(tracker.get(SessionKey(1)).is_none());
        let change = tracker.handle(&indexed, SessionEvent::Written(after(5)), after(5));
        assert!(change.changed);
        assert_eq!(tracker.get(SessionKey(1)).unwrap().last_activity, after(5));
    }

    #[test]
    fn a_session_that_failed_permanently_is_tracked_without_a_deadline() {
        let mut tracker = Tracker::new(Config::default());
        tracker.track(Session { state: failed(None), ..session(1, 0) });
        assert!(tracker.get(SessionKey(1)).is_some());
        assert_eq!(tracker.next_deadline(), None);
    }

    #[test]
    fn the_newest_session_of_history_is_first() {
        let mut tracker = Tracker::new(Config::default());
        for (key, at) in [(1, 10), (2, 30), (3, 20)] {
            let state = State::Unindexed(Unindexed::History);
            tracker.track(Session { state, ..session(key, at) });
        }
        assert_eq!(tracker.newest_history(), Some(SessionKey(2)));
    }

    #[test]
    fn new_timeouts_apply_to_live_sessions_immediately() {
        let mut tracker = Tracker::new(Config::default());
        tracker.track(session(1, 0));
        let check_interval = Duration::from_secs(5);
        tracker.set_config(Config { check_interval, ..Config::default() });
        assert_eq!(tracker.next_deadline(), Some(after(5)));
    }

    #[test]
    fn sessions_end_on_time_after_the_clock_is_set_back() {
        let ahead = 2 * 365 * 86_400;
        let mut tracker = Tracker::new(Config::default());
        tracker.track(session(1, ahead));
        let since = after(ahead);
        let state = State::Unindexed(Unindexed::AgentGone { since });
        tracker.track(Session { state, ..session(2, 0) });
        tracker.track(Session { state: failed(Some(after(ahead))), ..session(3, 0) });
        tracker.track(session(4, 0));
        assert_eq!(tracker.due(after(86_400)), [SessionKey(4)]);
        let mut moved: Vec<SessionKey> =
            tracker.clamp_future_times(after(10)).iter().map(|session| session.key).collect();
        moved.sort_unstable();
        assert_eq!(moved, [SessionKey(1), SessionKey(2), SessionKey(3)]);
        assert_eq!(tracker.clamp_future_times(after(10)), []);
        assert_eq!(tracker.get(SessionKey(1)).unwrap().last_activity, after(10));
        assert_eq!(tracker.due(after(86_400)).len(), 4);
    }

    #[test]
    fn after_a_jump_of_the_clock_into_the_future_a_session_ends_once() {
        let mut tracker = Tracker::new(Config::default());
        tracker.track(session(1, 0));
        let far = after(10 * 365 * 86_400);
        assert_eq!(tracker.due(far), [SessionKey(1)]);
        let change = tracker.handle(&session(1, 0), SessionEvent::DeadlinePassed, far);
        assert_eq!(change.start, Some(CloseReason::InactivityTimeout));
        assert_eq!(tracker.due(Timestamp::MAX), []);
    }

    fn failed(retry_at: Option<Timestamp>) -> State {
        State::Failed(Failure {
            error: "an error".to_owned(),
            attempts: 1,
            retry_at,
            reason: CloseReason::InactivityTimeout,
        })
    }

    fn after(seconds: u64) -> Timestamp {
        START.plus(Duration::from_secs(seconds))
    }

    fn session(key: u64, written: u64) -> Session {
        Session {
            key: SessionKey(key),
            id: SessionId { agent: "claude".to_owned(), id: key.to_string() },
            project: None,
            file: format!("/t/{key}.jsonl"),
            state: State::Active,
            content: None,
            indexed: None,
            started_at: None,
            last_activity: after(written),
        }
    }
}
