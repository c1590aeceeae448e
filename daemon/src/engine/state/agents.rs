//! The agent processes that run, from the agents' own liveness files and from their hooks.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use super::{EngineEffect, EngineState};
use crate::{
    capture::{format::RunningSession, liveness::Process},
    engine::redaction,
    model::{SessionKey, Timestamp, session::State as SessionState},
    session::SessionEvent,
};

/// Maximum number of running sessions, and of ended ones, that are known from hooks. Those that
/// were reported longest ago are dropped first.
const REPORTED: usize = 256;

/// Maximum time by which the last record of an agent may be dated later than its noticed end.
const LAST_WORDS: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Agents {
    /// The sessions that liveness files report, by id.
    noted: HashMap<String, RunningSession>,
    /// The sessions that hooks reported, the latest last.
    reported: Vec<Reported>,
    /// Sessions whose agent ended, with the time, the latest last.
    ended: VecDeque<(String, Timestamp)>,
}

/// The running agents, as observed for [`EngineEffect::ObserveAgents`].
pub(in crate::engine) struct AgentObservation {
    /// The sessions that liveness files name.
    pub(in crate::engine) running: Vec<RunningSession>,
    /// The reported processes that have ended.
    pub(in crate::engine) gone: HashSet<Process>,
    /// The sessions whose deadline had passed before the observation.
    pub(in crate::engine) due: Vec<SessionKey>,
}

#[derive(Debug)]
struct Reported {
    running: RunningSession,
    /// Whether two reports named the same process. A wrapper around the hook is a new process each
    /// time, and its end means nothing.
    is_certain: bool,
}

impl Agents {
    /// Returns the running sessions with the processes of their agents. When a process has several
    /// sessions, its current one is first; liveness files that name several do not show which one
    /// that is.
    pub(super) fn iter(&self) -> impl Iterator<Item = &RunningSession> {
        let is_alone = |running: &&RunningSession| {
            let others =
                self.noted.values().filter(|other| process_of(other) == process_of(running));
            others.count() == 1
        };
        let reported = self.reported.iter().rev().map(|reported| &reported.running);
        self.noted.values().filter(is_alone).chain(reported)
    }

    /// Whether a process is known to run a session.
    fn knows(&self, process: Process) -> bool {
        let reported = self.reported.iter().map(|reported| &reported.running);
        self.noted.values().chain(reported).any(|known| process_of(known) == process)
    }

    /// Records a hook's report. Returns whether the process is new.
    fn report(&mut self, running: RunningSession) -> bool {
        let same = |one: &RunningSession| (one.pid, one.started) == (running.pid, running.started);
        let is_new = !self.reported.iter().any(|known| same(&known.running));
        self.ended.retain(|(session, _)| *session != running.session);
        let before =
            self.reported.iter().position(|known| known.running.session == running.session);
        let before = before.map(|at| self.reported.remove(at));
        let is_certain = before.is_some_and(|known| same(&known.running));
        if self.reported.len() == REPORTED {
            self.reported.remove(0);
        }
        self.reported.push(Reported { running, is_certain });
        is_new
    }

    fn forget(&mut self, session: &str) {
        self.reported.retain(|known| known.running.session != session);
    }

    /// Records that the agent of a session ended.
    fn note_end(&mut self, session: &str, now: Timestamp) {
        self.ended.retain(|(known, _)| known != session);
        if self.ended.len() == REPORTED {
            self.ended.pop_front();
        }
        self.ended.push_back((session.to_owned(), now));
    }

    /// Whether a record written at this time belongs to an agent that has ended.
    fn has_ended(&self, session: &str, written: Timestamp) -> bool {
        let end = self.ended.iter().find(|(known, _)| known == session);
        end.is_some_and(|(_, end)| written <= end.plus(LAST_WORDS))
    }

    /// Replaces the sessions that liveness files report. Returns the sessions whose agent has
    /// exited or switched to another session.
    fn update(
        &mut self,
        found: HashMap<String, RunningSession>,
        is_gone: impl Fn(&RunningSession) -> bool,
    ) -> HashSet<String> {
        self.ended.retain(|(session, _)| !found.contains_key(session));
        let before = std::mem::replace(&mut self.noted, found);
        let mut gone: HashSet<String> =
            before.into_keys().filter(|session| !self.noted.contains_key(session)).collect();
        let noted = &self.noted;
        let has_moved_on =
            |running: &RunningSession| noted.values().any(|noted| noted.pid == running.pid);
        self.reported.retain(|Reported { running, is_certain }| {
            if noted.contains_key(&running.session) {
                return true;
            }
            if is_gone(running) && *is_certain {
                gone.insert(running.session.clone());
            }
            !is_gone(running) && !has_moved_on(running)
        });
        gone
    }
}

impl EngineState {
    /// Records a hook's report of a running agent.
    pub(super) fn agent_runs(&mut self, running: RunningSession) {
        let process = process_of(&running);
        if self.agents.report(running) {
            self.effects.push(EngineEffect::AwaitExit(process));
        }
    }

    /// Records that the agent itself reported the end of a session.
    pub(super) fn agent_ended(&mut self, session: &str, now: Timestamp) {
        self.agents.forget(session);
        self.agents.note_end(session, now);
    }

    /// Ends an active session whose agent has ended: the last records of the agent were read only
    /// now.
    pub(super) fn end_if_agent_is_gone(&mut self, key: SessionKey, now: Timestamp) {
        let Some(session) = self.tracker.get(key) else { return };
        let is_active = matches!(session.state, SessionState::Active);
        if is_active && self.agents.has_ended(&session.id.id, session.last_activity) {
            self.session_event(key, SessionEvent::AgentGone, now);
        }
    }

    /// Requests an observation of the agents. The deadlines of `due` are handled afterwards, so
    /// that a session whose agent has exited ends for that reason.
    pub(super) fn look_for_agents(&mut self, due: Vec<SessionKey>) {
        let reported = self.agents.reported.iter().map(|known| process_of(&known.running));
        self.effects.push(EngineEffect::ObserveAgents {
            folders: self.folders.liveness.clone(),
            reported: reported.collect(),
            due,
        });
    }

    /// Ends the sessions whose agent is no longer running, and handles the deadlines of the
    /// others.
    pub(super) fn agents_observed(&mut self, observation: AgentObservation, now: Timestamp) {
        let AgentObservation { running, gone, due } = observation;
        self.update_agents(running, &gone, now);
        for session in due {
            self.session_event(session, SessionEvent::DeadlinePassed, now);
        }
    }

    fn update_agents(
        &mut self,
        running: Vec<RunningSession>,
        gone: &HashSet<Process>,
        now: Timestamp,
    ) {
        let found: HashMap<String, RunningSession> = running
            .into_iter()
            .map(|running| {
                let session = redaction::id(&running.session).into_owned();
                (session.clone(), RunningSession { session, ..running })
            })
            .collect();
        let fresh: HashSet<Process> = found.values().map(process_of).collect();
        let fresh = fresh.into_iter().filter(|process| !self.agents.knows(*process));
        self.effects.extend(fresh.map(EngineEffect::AwaitExit));
        let gone = self.agents.update(found, |running| gone.contains(&process_of(running)));
        if gone.is_empty() {
            return;
        }
        gone.iter().for_each(|session| self.agents.note_end(session, now));
        for session in self.keys(|session| gone.contains(&session.id.id)) {
            tracing::info!(session = session.0, "the agent of the session is gone");
            self.session_event(session, SessionEvent::AgentGone, now);
        }
    }
}

fn process_of(running: &RunningSession) -> Process {
    Process { pid: running.pid, started: running.started }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_reported_twice_and_ended_is_gone() {
        let mut agents = Agents::default();
        assert!(agents.report(running("a", 1)));
        assert!(!agents.report(running("a", 1)));
        assert_eq!(agents.update(HashMap::new(), |_| false), HashSet::new());
        assert_eq!(agents.update(HashMap::new(), |_| true), ["a".to_owned()].into());
        assert_eq!(agents.iter().count(), 0);
    }

    #[test]
    fn the_end_of_a_wrapper_around_the_hook_means_nothing() {
        let mut agents = Agents::default();
        agents.report(running("a", 1));
        agents.report(running("a", 2));
        assert_eq!(agents.update(HashMap::new(), |_| true), HashSet::new());
        assert_eq!(agents.iter().count(), 0);
    }

    #[test]
    fn a_process_is_in_the_session_that_it_reported_last_unless_its_file_says_more() {
        let mut agents = Agents::default();
        for session in ["a", "b", "a"] {
            agents.report(running(session, 1));
        }
        assert_eq!(agents.iter().next(), Some(&running("a", 1)));
        let found = HashMap::from([("c".to_owned(), running("c", 1))]);
        assert_eq!(agents.update(found, |_| false), HashSet::new());
        assert_eq!(agents.iter().collect::<Vec<_>>(), [&running("c", 1)]);
    }

    #[test]
    fn of_several_locked_sessions_the_one_that_was_reported_last_is_current() {
        let mut agents = Agents::default();
        agents.report(running("a", 1));
        agents.report(running("b", 1));
        let found = ["a", "b", "c"].map(|session| (session.to_owned(), running(session, 1)));
        assert_eq!(agents.update(found.into(), |_| false), HashSet::new());
        assert_eq!(agents.iter().collect::<Vec<_>>(), [&running("b", 1), &running("a", 1)]);
        let found = [("a".to_owned(), running("a", 1))];
        assert_eq!(agents.update(found.into(), |_| false), ["b".to_owned(), "c".to_owned()].into());
        assert_eq!(agents.iter().next(), Some(&running("a", 1)));
    }

    #[test]
    fn a_session_that_its_agent_ended_is_not_looked_for() {
        let mut agents = Agents::default();
        agents.report(running("a", 1));
        agents.report(running("a", 1));
        agents.forget("a");
        assert_eq!(agents.update(HashMap::new(), |_| true), HashSet::new());
    }

    #[test]
    fn what_an_agent_wrote_before_its_end_does_not_begin_its_session_anew() {
        let at = Timestamp::from_seconds;
        let mut agents = Agents::default();
        agents.note_end("a", at(100));
        assert!(agents.has_ended("a", at(99)) && agents.has_ended("a", at(101)));
        assert!(!agents.has_ended("a", at(200)), "somebody goes on with it");
        assert!(!agents.has_ended("b", at(99)));
        agents.report(running("a", 2));
        assert!(!agents.has_ended("a", at(99)), "it was resumed");
        agents.note_end("a", at(100));
        agents.update(HashMap::from([("a".to_owned(), running("a", 3))]), |_| false);
        assert!(!agents.has_ended("a", at(99)), "its file says that it runs");
    }

    #[test]
    fn a_session_whose_liveness_file_is_deleted_is_over() {
        let mut agents = Agents::default();
        let found = HashMap::from([("a".to_owned(), running("a", 1))]);
        assert_eq!(agents.update(found, |_| false), HashSet::new());
        assert_eq!(agents.update(HashMap::new(), |_| false), ["a".to_owned()].into());
    }

    #[test]
    fn the_sessions_reported_longest_ago_are_dropped() {
        let mut agents = Agents::default();
        for number in 0..=REPORTED {
            agents.report(running(&number.to_string(), 1));
        }
        assert_eq!(agents.iter().count(), REPORTED);
        assert!(agents.iter().all(|running| running.session != "0"));
    }

    fn running(session: &str, pid: u32) -> RunningSession {
        RunningSession { session: session.to_owned(), pid, started: Some(7), cwd: None }
    }
}
