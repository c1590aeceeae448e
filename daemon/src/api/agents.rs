//! Finds the agent that a request names.

use std::collections::BTreeSet;

use graphiti_proto::rpc::{Error, code};

use super::DaemonState;
use crate::{model::episode::MEMORY, search::query::Query};

/// Returns the given agent in the spelling of its sessions; `None` if no agent is given.
///
/// # Errors
///
/// When the agent is not followed and no session of the agent is known.
pub(super) fn agent_argument(
    daemon: &DaemonState,
    given: Option<&str>,
) -> Result<Option<String>, Error> {
    let Some(given) = given.map(str::trim).filter(|given| !given.is_empty()) else {
        return Ok(None);
    };
    known(all(daemon).into_iter(), given).map(Some)
}

/// Returns a sentence about an agent in the filters of a query that is not known; `None` if all
/// agents are known. Remembered texts are found as sessions of [`MEMORY`].
pub(super) fn unknown_agent(daemon: &DaemonState, query: &Query) -> Option<String> {
    let agents = || all(daemon).into_iter();
    let mut names = query.agents().filter(|name| !name.eq_ignore_ascii_case(MEMORY));
    names.find_map(|name| known(agents(), name).err()).map(|error| format!("{}.", error.message))
}

/// Returns the agents that are followed or have sessions.
fn all(daemon: &DaemonState) -> Vec<String> {
    let formats = daemon.engine.formats();
    let followed = formats.iter().map(|format| format.agent().to_owned());
    daemon.engine.store().totals_by_agent().into_keys().chain(followed).collect()
}

fn known(agents: impl Iterator<Item = String>, given: &str) -> Result<String, Error> {
    let agents: BTreeSet<String> = agents.filter(|agent| agent != MEMORY).collect();
    if let Some(agent) = agents.iter().find(|agent| agent.eq_ignore_ascii_case(given)) {
        return Ok(agent.clone());
    }
    let agents: Vec<String> = agents.iter().map(|agent| format!("`{agent}`")).collect();
    let what = format!("`agent` must be one of {}, not `{given}`", agents.join(", "));
    Err(Error::new(code::INVALID_PARAMS, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_known_by_its_name_in_any_case() {
        let find = |given| known(["codex", "claude", MEMORY].map(str::to_owned).into_iter(), given);
        assert_eq!(find("CLAUDE").unwrap(), "claude");
        let error = find("foo").unwrap_err().message;
        assert_eq!(error, "`agent` must be one of `claude`, `codex`, not `foo`");
        assert!(find(MEMORY).is_err());
    }
}
