//! Removes the sessions whose agents have just exited from a list of live sessions.

use crate::{
    capture::{
        format::RunningSession,
        liveness::{self, Life},
    },
    model::session::Session,
};

pub(super) fn has_exited(agent: &RunningSession) -> bool {
    liveness::life(agent.pid, agent.started) == Life::Gone
}

/// Removes the sessions whose known processes have all exited. One exited process does not show
/// that the agent has exited: the process may be a wrapper around a hook, which exits before the
/// agent.
pub(super) fn remove_exited(
    live: &mut Vec<Session>,
    agents: &[RunningSession],
    has_exited: impl Fn(&RunningSession) -> bool,
) {
    live.retain(|session| {
        let mut own = agents.iter().filter(|agent| agent.session == session.id.id).peekable();
        own.peek().is_none() || !own.all(&has_exited)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::SessionKey, store::contract};

    #[test]
    fn a_session_whose_agent_has_just_exited_is_not_at_work() {
        let session =
            |number: u64| contract::session(SessionKey(number), &format!("aaaa-{number}"));
        let mut live = vec![session(1), session(2), session(3)];
        let agent = |number: u32| RunningSession {
            session: live[number as usize - 1].id.id.clone(),
            pid: number,
            started: Some(7),
            cwd: None,
        };
        let agents = [agent(1), agent(2)];
        remove_exited(&mut live, &agents, |agent| agent.pid == 2);
        let keys: Vec<u64> = live.iter().map(|session| session.key.0).collect();
        assert_eq!(keys, [1, 3]);
    }

    #[test]
    fn a_session_of_a_running_agent_is_at_work_after_a_wrapper_around_its_hook_exited() {
        let session = contract::session(SessionKey(1), "aaaa-1");
        let process = |pid: u32| RunningSession {
            session: session.id.id.clone(),
            pid,
            started: Some(7),
            cwd: None,
        };
        let processes = [process(1), process(2)];
        let left = |exited: &[u32]| {
            let mut live = vec![session.clone()];
            remove_exited(&mut live, &processes, |process| exited.contains(&process.pid));
            live.len()
        };
        assert_eq!((left(&[2]), left(&[1]), left(&[1, 2])), (1, 1, 0));
    }
}
