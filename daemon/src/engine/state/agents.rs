//! The running agent processes, known from the agents' liveness files and from their hooks.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::PathBuf,
    time::Duration,
};

use super::{EngineEffect, EngineState};
use crate::{
    capture::{
        format::RunningSession,
        liveness::{LivenessListing, Process},
    },
    engine::redaction,
    model::{SessionKey, Timestamp, session::State as SessionState},
    session::SessionEvent,
};

/// Maximum number of running sessions that hooks reported, and of ended sessions. The oldest are
/// dropped first.
const MAX_REPORTED: usize = 256;

/// A record belongs to an agent that has ended if the time of the record is at most this much later
/// than the time at which the end was noticed.
const END_TOLERANCE: Duration = Duration::from_secs(5);

/// If a process that a hook reported still runs this long after the report, it is the agent. A
/// wrapper around the hook would have exited with the hook. A hook waits up to 60 s for an episode.
const MIN_AGENT_TIME: Duration = Duration::from_secs(90);

/// How long a session counts as running if its process runs, but its liveness file may be
/// unreadable. The time begins with the first listing without the session. The time is limited,
/// because another file of the folder may stay unreadable.
const UNLISTED: Duration = Duration::from_secs(300);

#[derive(Debug, Default)]
pub(super) struct Agents {
    /// The sessions that liveness files report, by id.
    from_liveness_files: HashMap<String, RunningSession>,
    /// Where these sessions were listed last, by id.
    listed: HashMap<String, LastListing>,
    /// The sessions that hooks reported, the latest last.
    reported: Vec<ReportedSession>,
    /// Sessions whose agent ended, with the time at which the end was noticed, the latest last.
    ended: VecDeque<(String, Timestamp)>,
}

/// The running agents, as observed for [`EngineEffect::ObserveAgents`].
pub(in crate::engine) struct AgentObservation {
    pub(in crate::engine) listings: Vec<FolderListing>,
    /// The known processes that have ended.
    pub(in crate::engine) gone: HashSet<Process>,
    /// The sessions whose deadline had passed before the observation.
    pub(in crate::engine) due: Vec<SessionKey>,
}

/// The sessions in the liveness files of a folder.
pub(in crate::engine) struct FolderListing {
    pub(in crate::engine) folder: PathBuf,
    pub(in crate::engine) listing: LivenessListing,
}

#[derive(Debug)]
struct LastListing {
    folder: PathBuf,
    /// The time of the first later listing, which lacks the session.
    missing_since: Option<Timestamp>,
}

#[derive(Debug)]
struct ReportedSession {
    running: RunningSession,
    /// Whether the last two reports of the session contained the same process, or the process was
    /// seen running [`MIN_AGENT_TIME`] after the last report. If a wrapper runs the hook, each
    /// report contains a different process. The end of such a process is ignored.
    is_confirmed: bool,
    /// The time of the last report.
    at: Timestamp,
}

impl Agents {
    /// Returns the running sessions with the processes of their agents. If a process has several
    /// sessions, the current session is first. If several liveness files contain the same process,
    /// the files do not show which session is current. The sessions in these files are left out,
    /// unless a hook reported them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &RunningSession> {
        let is_alone = |running: &&RunningSession| {
            let others = self
                .from_liveness_files
                .values()
                .filter(|other| process_of(other) == process_of(running));
            others.count() == 1
        };
        let reported = self.reported.iter().rev().map(|reported| &reported.running);
        self.from_liveness_files.values().filter(is_alone).chain(reported)
    }

    /// Returns the processes that are known to run a session.
    fn processes(&self) -> impl Iterator<Item = Process> {
        let reported = self.reported.iter().map(|reported| &reported.running);
        self.from_liveness_files.values().chain(reported).map(process_of)
    }

    /// Returns the listed sessions. Also returns sessions that were listed before, if their folder
    /// could not be read completely, and their process runs and is not listed with another session.
    fn found(
        &mut self,
        listings: Vec<FolderListing>,
        is_gone: impl Fn(&RunningSession) -> bool,
        now: Timestamp,
    ) -> HashMap<String, RunningSession> {
        let mut found = HashMap::new();
        let mut partial = HashSet::new();
        for FolderListing { folder, listing } in listings {
            for running in listing.running.into_values() {
                let session = redaction::id(&running.session).into_owned();
                let listing = LastListing { folder: folder.clone(), missing_since: None };
                self.listed.insert(session.clone(), listing);
                found.insert(session.clone(), RunningSession { session, ..running });
            }
            partial.extend(listing.is_partial.then_some(folder));
        }
        for (_, listing) in self.listed.iter_mut().filter(|(id, _)| !found.contains_key(*id)) {
            listing.missing_since.get_or_insert(now);
        }
        let processes: HashSet<Process> = found.values().map(process_of).collect();
        let is_kept = |known: &&RunningSession| {
            let is_recent = self.listed.get(&known.session).is_some_and(|listed| {
                let is_recent = |since: Timestamp| now.since(since) < UNLISTED;
                partial.contains(&listed.folder) && listed.missing_since.is_some_and(is_recent)
            });
            is_recent && !processes.contains(&process_of(known)) && !is_gone(known)
        };
        let kept = self.from_liveness_files.values().filter(is_kept);
        found.extend(kept.map(|known| (known.session.clone(), known.clone())));
        self.listed.retain(|session, _| found.contains_key(session));
        found
    }

    /// Records a hook's report. Returns whether the process is new.
    fn report(&mut self, running: RunningSession, now: Timestamp) -> bool {
        let same = |one: &RunningSession| (one.pid, one.started) == (running.pid, running.started);
        let is_new = !self.reported.iter().any(|known| same(&known.running));
        self.ended.retain(|(session, _)| *session != running.session);
        let before =
            self.reported.iter().position(|known| known.running.session == running.session);
        let before = before.map(|at| self.reported.remove(at));
        let is_confirmed = before.is_some_and(|known| same(&known.running));
        if self.reported.len() == MAX_REPORTED {
            self.reported.remove(0);
        }
        self.reported.push(ReportedSession { running, is_confirmed, at: now });
        is_new
    }

    fn forget(&mut self, session: &str) {
        self.reported.retain(|known| known.running.session != session);
    }

    /// Records that the agent of a session ended.
    fn note_end(&mut self, session: &str, now: Timestamp) {
        self.ended.retain(|(known, _)| known != session);
        if self.ended.len() == MAX_REPORTED {
            self.ended.pop_front();
        }
        self.ended.push_back((session.to_owned(), now));
    }

    /// Whether the agent that wrote a record of the session at the time `written` has ended.
    fn has_ended(&self, session: &str, written: Timestamp) -> bool {
        let end = self.ended.iter().find(|(known, _)| known == session);
        end.is_some_and(|(_, end)| written <= end.plus(END_TOLERANCE))
    }

    /// Replaces the sessions that liveness files report. Returns the sessions that have ended: the
    /// sessions that no liveness file lists any more, and the sessions that hooks reported and
    /// whose confirmed process has exited.
    fn update(
        &mut self,
        found: HashMap<String, RunningSession>,
        is_gone: impl Fn(&RunningSession) -> bool,
        now: Timestamp,
    ) -> HashSet<String> {
        self.ended.retain(|(session, _)| !found.contains_key(session));
        let before = std::mem::replace(&mut self.from_liveness_files, found);
        let mut gone: HashSet<String> = before
            .into_keys()
            .filter(|session| !self.from_liveness_files.contains_key(session))
            .collect();
        let from_liveness_files = &self.from_liveness_files;
        let is_in_other_session = |running: &RunningSession| {
            from_liveness_files
                .values()
                .any(|from_liveness_files| from_liveness_files.pid == running.pid)
        };
        self.reported.retain_mut(|ReportedSession { running, is_confirmed, at }| {
            let is_gone = is_gone(running);
            // If the start time is not known, this may be another process with the same id.
            let is_known = !is_gone && running.started.is_some();
            *is_confirmed |= is_known && now.since(*at) >= MIN_AGENT_TIME;
            if from_liveness_files.contains_key(&running.session) {
                return !is_gone;
            }
            if is_gone && *is_confirmed {
                gone.insert(running.session.clone());
            }
            !is_gone && !is_in_other_session(running)
        });
        gone
    }
}

impl EngineState {
    /// Records a hook's report of a running agent.
    pub(super) fn agent_runs(&mut self, running: RunningSession, now: Timestamp) {
        let process = process_of(&running);
        if self.agents.report(running, now) {
            self.effects.push(EngineEffect::AwaitExit(process));
        }
    }

    /// Records that the agent itself reported the end of a session.
    pub(super) fn agent_ended(&mut self, session: &str, now: Timestamp) {
        self.agents.forget(session);
        self.agents.note_end(session, now);
    }

    /// Ends an active session whose agent has ended. The session may be active because the last
    /// records of the agent were read after its end.
    pub(super) fn end_if_agent_is_gone(&mut self, key: SessionKey, now: Timestamp) {
        let Some(session) = self.tracker.get(key) else { return };
        let is_active = matches!(session.state, SessionState::Active);
        if is_active && self.agents.has_ended(&session.id.id, session.last_activity) {
            self.session_event(key, SessionEvent::AgentGone, now);
        }
    }

    /// Requests an observation of the agents. The deadlines of `due` are handled afterwards, so
    /// that a session whose agent has exited ends for this reason, and not by its deadline.
    pub(super) fn request_agent_observation(&mut self, due: Vec<SessionKey>) {
        self.effects.push(EngineEffect::ObserveAgents {
            folders: self.folders.liveness.clone(),
            known: self.agents.processes().collect(),
            due,
        });
    }

    /// Ends the sessions whose agent is no longer running, and then handles the deadlines that had
    /// passed before the observation.
    pub(super) fn agents_observed(&mut self, observation: AgentObservation, now: Timestamp) {
        let AgentObservation { listings, gone, due } = observation;
        self.update_agents(listings, &gone, now);
        for session in due {
            self.session_event(session, SessionEvent::DeadlinePassed, now);
        }
    }

    fn update_agents(
        &mut self,
        listings: Vec<FolderListing>,
        gone: &HashSet<Process>,
        now: Timestamp,
    ) {
        let is_gone = |running: &RunningSession| gone.contains(&process_of(running));
        let known: HashSet<Process> = self.agents.processes().collect();
        let found = self.agents.found(listings, is_gone, now);
        let fresh: HashSet<Process> = found.values().map(process_of).collect();
        let fresh = fresh.into_iter().filter(|process| !known.contains(process));
        self.effects.extend(fresh.map(EngineEffect::AwaitExit));
        let gone = self.agents.update(found, is_gone, now);
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

    const NOW: Timestamp = Timestamp::from_seconds(1_000);

    #[test]
    fn an_agent_that_was_reported_twice_and_exited_has_ended() {
        let mut agents = Agents::default();
        assert!(agents.report(running("a", 1), NOW));
        assert!(!agents.report(running("a", 1), NOW));
        assert_eq!(agents.update(HashMap::new(), |_| false, NOW), HashSet::new());
        assert_eq!(agents.update(HashMap::new(), |_| true, NOW), ["a".to_owned()].into());
        assert_eq!(agents.iter().count(), 0);
    }

    #[test]
    fn the_end_of_a_wrapper_around_the_hook_is_ignored() {
        let mut agents = Agents::default();
        agents.report(running("a", 1), NOW);
        agents.report(running("a", 2), NOW);
        assert_eq!(agents.update(HashMap::new(), |_| true, NOW), HashSet::new());
        assert_eq!(agents.iter().count(), 0);
    }

    #[test]
    fn a_process_that_was_seen_long_after_its_only_report_is_the_agent() {
        let mut agents = Agents::default();
        agents.report(running("a", 1), NOW);
        let late = NOW.plus(MIN_AGENT_TIME);
        assert_eq!(agents.update(HashMap::new(), |_| false, late), HashSet::new());
        assert_eq!(agents.update(HashMap::new(), |_| true, late), ["a".to_owned()].into());
    }

    #[test]
    fn a_process_that_was_only_seen_soon_after_its_report_may_be_a_wrapper() {
        let gone_after = |seen: Option<Duration>, running: RunningSession| {
            let mut agents = Agents::default();
            agents.report(running, NOW);
            if let Some(seen) = seen {
                agents.update(HashMap::new(), |_| false, NOW.plus(seen));
            }
            agents.update(HashMap::new(), |_| true, NOW.plus(100 * MIN_AGENT_TIME))
        };
        let soon = MIN_AGENT_TIME - Duration::from_secs(1);
        for seen in [None, Some(Duration::ZERO), Some(soon)] {
            assert_eq!(gone_after(seen, running("a", 1)), HashSet::new(), "{seen:?}");
        }
        let reusable = RunningSession { started: None, ..running("a", 1) };
        assert_eq!(gone_after(Some(MIN_AGENT_TIME), reusable), HashSet::new());
    }

    #[test]
    fn an_exited_wrapper_is_removed_while_a_liveness_file_lists_the_session() {
        let mut agents = Agents::default();
        agents.report(running("a", 2), NOW);
        let found = HashMap::from([("a".to_owned(), running("a", 1))]);
        assert_eq!(agents.update(found.clone(), |_| false, NOW), HashSet::new());
        assert_eq!(agents.iter().count(), 2);
        let is_wrapper = |running: &RunningSession| running.pid == 2;
        assert_eq!(agents.update(found, is_wrapper, NOW), HashSet::new());
        assert_eq!(agents.iter().collect::<Vec<_>>(), [&running("a", 1)]);
    }

    #[test]
    fn the_session_in_a_liveness_file_takes_precedence_over_the_last_reported_session() {
        let mut agents = Agents::default();
        for session in ["a", "b", "a"] {
            agents.report(running(session, 1), NOW);
        }
        assert_eq!(agents.iter().next(), Some(&running("a", 1)));
        let found = HashMap::from([("c".to_owned(), running("c", 1))]);
        assert_eq!(agents.update(found, |_| false, NOW), HashSet::new());
        assert_eq!(agents.iter().collect::<Vec<_>>(), [&running("c", 1)]);
    }

    #[test]
    fn of_several_sessions_with_liveness_files_the_last_reported_one_is_current() {
        let mut agents = Agents::default();
        agents.report(running("a", 1), NOW);
        agents.report(running("b", 1), NOW);
        let found = ["a", "b", "c"].map(|session| (session.to_owned(), running(session, 1)));
        assert_eq!(agents.update(found.into(), |_| false, NOW), HashSet::new());
        assert_eq!(agents.iter().collect::<Vec<_>>(), [&running("b", 1), &running("a", 1)]);
        let found = [("a".to_owned(), running("a", 1))];
        assert_eq!(
            agents.update(found.into(), |_| false, NOW),
            ["b".to_owned(), "c".to_owned()].into()
        );
        assert_eq!(agents.iter().next(), Some(&running("a", 1)));
    }

    #[test]
    fn a_session_that_its_agent_ended_does_not_end_again() {
        let mut agents = Agents::default();
        agents.report(running("a", 1), NOW);
        agents.report(running("a", 1), NOW);
        agents.forget("a");
        assert_eq!(agents.update(HashMap::new(), |_| true, NOW), HashSet::new());
    }

    #[test]
    fn records_from_before_the_end_of_an_agent_belong_to_the_ended_agent() {
        let at = Timestamp::from_seconds;
        let mut agents = Agents::default();
        agents.note_end("a", at(100));
        assert!(agents.has_ended("a", at(99)) && agents.has_ended("a", at(101)));
        assert!(!agents.has_ended("a", at(200)), "the session was continued");
        assert!(!agents.has_ended("b", at(99)));
        agents.report(running("a", 2), NOW);
        assert!(!agents.has_ended("a", at(99)), "the session was resumed");
        agents.note_end("a", at(100));
        agents.update(HashMap::from([("a".to_owned(), running("a", 3))]), |_| false, NOW);
        assert!(!agents.has_ended("a", at(99)), "a liveness file lists the session");
    }

    #[test]
    fn a_session_whose_liveness_file_is_deleted_has_ended() {
        let mut agents = Agents::default();
        let found = HashMap::from([("a".to_owned(), running("a", 1))]);
        assert_eq!(agents.update(found, |_| false, NOW), HashSet::new());
        assert_eq!(agents.update(HashMap::new(), |_| false, NOW), ["a".to_owned()].into());
    }

    #[test]
    fn a_session_is_kept_if_its_folder_is_partly_unreadable_and_its_process_runs() {
        let mut agents = Agents::default();
        let listing = |folder: &str, sessions: &[(&str, u32)], is_partial| {
            let found = sessions.iter().map(|(session, pid)| running(session, *pid));
            let running = found.map(|found| (found.session.clone(), found)).collect();
            FolderListing {
                folder: folder.into(),
                listing: LivenessListing { running, is_partial },
            }
        };
        let mut ended = |listings, gone: u32, now: Timestamp| {
            let is_gone = |running: &RunningSession| running.pid == gone;
            let found = agents.found(listings, is_gone, now);
            let mut ended: Vec<String> = agents.update(found, is_gone, now).into_iter().collect();
            ended.sort();
            ended
        };
        let own = [("a", 1), ("b", 2), ("c", 3)];
        let whole = vec![listing("/p", &own, false), listing("/q", &[("d", 4)], false)];
        assert_eq!(ended(whole, 0, NOW), [""; 0]);
        // The process of session `b` has ended, and the process of session `c` runs session `e`.
        let partial = || vec![listing("/p", &[("e", 3)], true), listing("/q", &[], false)];
        let first = NOW.plus(2 * UNLISTED);
        assert_eq!(ended(partial(), 2, first), ["b", "c", "d"]);
        let before = first.plus(UNLISTED - Duration::from_secs(1));
        assert_eq!(ended(partial(), 0, before), [""; 0]);
        let listed = vec![listing("/p", &[("a", 1), ("e", 3)], true), listing("/q", &[], false)];
        assert_eq!(ended(listed, 0, before), [""; 0]);
        let first = before.plus(UNLISTED);
        assert_eq!(ended(partial(), 0, first), [""; 0]);
        assert_eq!(ended(partial(), 0, first.plus(UNLISTED)), ["a"]);
    }

    #[test]
    fn the_sessions_reported_longest_ago_are_dropped() {
        let mut agents = Agents::default();
        for number in 0..=MAX_REPORTED {
            agents.report(running(&number.to_string(), 1), NOW);
        }
        assert_eq!(agents.iter().count(), MAX_REPORTED);
        assert!(agents.iter().all(|running| running.session != "0"));
    }

    fn running(session: &str, pid: u32) -> RunningSession {
        RunningSession { session: session.to_owned(), pid, started: Some(7), cwd: None }
    }
}
