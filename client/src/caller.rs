//! Describes the caller of this program to the daemon. The daemon finds the current session by this
//! description.
//!
//! Most agents put the id of the session into the environment of the commands and servers that they
//! start. For a server, Codex puts the id into each call of a tool, where the relay reads it. An
//! agent that runs inside another agent inherits the variables of the outer agent, so only the
//! variables of the inner agent count.

use std::env;

use graphiti_proto::rpc::CALLER;
use serde_json::{Value, json};

/// The environment variables by which an agent is recognised.
struct AgentVariables {
    /// The agent's name in the daemon.
    agent: &'static str,
    /// The variables that contain the id of the session.
    session: &'static [&'static str],
    /// The variables that only show that the agent runs.
    markers: &'static [&'static str],
}

const AGENTS: &[AgentVariables] = &[
    AgentVariables {
        agent: "claude",
        session: &["CLAUDE_CODE_SESSION_ID"],
        markers: &["CLAUDECODE"],
    },
    // The session id comes first, because a sub-agent has a different thread id.
    AgentVariables {
        agent: "codex",
        session: &["CODEX_SESSION_ID", "CODEX_THREAD_ID"],
        markers: &[],
    },
    AgentVariables { agent: "gemini", session: &["GEMINI_SESSION_ID"], markers: &["GEMINI_CLI"] },
    AgentVariables {
        agent: "copilot",
        session: &["COPILOT_AGENT_SESSION_ID"],
        markers: &["COPILOT_CLI"],
    },
    AgentVariables { agent: "qwen", session: &["QWEN_CODE_SESSION_ID"], markers: &["QWEN_CODE"] },
    AgentVariables { agent: "cursor", session: &[], markers: &["CURSOR_AGENT"] },
    // The extensions that `graphiti setup` writes for opencode and Pi set the id.
    AgentVariables {
        agent: "opencode",
        session: &["GRAPHITI_OPENCODE_SESSION_ID"],
        markers: &["OPENCODE"],
    },
    AgentVariables {
        agent: "pi",
        session: &["GRAPHITI_PI_SESSION_ID"],
        markers: &["PI_CODING_AGENT"],
    },
];

/// An agent whose variables are in an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedAgent {
    agent: &'static str,
    session: Option<String>,
}

/// A function that looks up a variable in an environment.
type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns the `_meta` of a request: the agent and session of the caller if they are known, the
/// caller's directory, and the ids of this process and its parent.
pub(crate) fn meta() -> Value {
    let directory =
        env::current_dir().ok().map(|directory| directory.to_string_lossy().into_owned());
    let agents = agents_in_environment(&|name| env::var(name).ok());
    let nearest = nearest(agents, outer_environments());
    #[cfg(unix)]
    let processes = [std::process::id(), std::os::unix::process::parent_id()];
    #[cfg(not(unix))]
    let processes = [std::process::id()];
    let (agent, session) = nearest.map_or((None, None), |one| (Some(one.agent), one.session));
    json!({ CALLER: {
        "agent": agent, "session_id": session, "directory": directory, "processes": processes,
    } })
}

/// Returns the environment variables that contain the id of a session.
pub(crate) fn session_variables() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().flat_map(|known| known.session).copied()
}

/// Returns the agents whose variables are in an environment.
fn agents_in_environment(variable: Variable<'_>) -> Vec<NamedAgent> {
    let set = |name: &&'static str| variable(name).filter(|value| !value.is_empty());
    let is_named = |known: &&AgentVariables| {
        known.session.iter().chain(known.markers).any(|name| set(name).is_some())
    };
    let agent = |known: &AgentVariables| NamedAgent {
        agent: known.agent,
        session: known.session.iter().find_map(set),
    };
    AGENTS.iter().filter(is_named).map(agent).collect()
}

/// Returns the innermost agent. If there are several agents, finds the nearest ancestor process
/// whose environment lacks some of these agents, and returns the missing agent. Returns `None` if
/// there are no agents, if several agents are missing, or if no such ancestor is found.
fn nearest(
    mut named_agents: Vec<NamedAgent>,
    mut outer: impl Iterator<Item = Vec<NamedAgent>>,
) -> Option<NamedAgent> {
    if named_agents.len() > 1 {
        let inner = outer.find_map(|outer| {
            let is_inner = |agent: &NamedAgent| {
                !outer
                    .iter()
                    .any(|known| known.agent == agent.agent && known.session == agent.session)
            };
            let inner: Vec<NamedAgent> =
                named_agents.iter().filter(|agent| is_inner(agent)).cloned().collect();
            (!inner.is_empty()).then_some(inner)
        });
        named_agents = inner?;
    }
    match named_agents.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    }
}

/// Returns, for each ancestor of this process, the agents in the environment with which the
/// ancestor was started. The nearest ancestor comes first. Ends at the first environment that
/// cannot be read.
#[cfg(target_os = "linux")]
fn outer_environments() -> impl Iterator<Item = Vec<NamedAgent>> {
    let parent_of = |process: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (_, behind_name) = stat.rsplit_once(')')?;
        behind_name.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent > 1)
    };
    let first = Some(std::os::unix::process::parent_id()).filter(|parent| *parent > 1);
    std::iter::successors(first, parent_of).take(MAX_ANCESTORS).map_while(|process| {
        let environment = std::fs::read(format!("/proc/{process}/environ")).ok()?;
        let variable = |name: &str| {
            environment.split(|byte| *byte == 0).find_map(|entry| {
                let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
                Some(String::from_utf8_lossy(value).into_owned())
            })
        };
        Some(agents_in_environment(&variable))
    })
}

/// Maximum number of ancestors that are examined.
#[cfg(target_os = "linux")]
const MAX_ANCESTORS: usize = 32;

/// Returns nothing: the environments of other processes are read only on Linux.
#[cfg(not(target_os = "linux"))]
fn outer_environments() -> impl Iterator<Item = Vec<NamedAgent>> {
    std::iter::empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(text: &str) -> Vec<NamedAgent> {
        agents_in_environment(&|name| {
            text.split(' ').find_map(|entry| {
                let (key, value) = entry.split_once('=')?;
                (key == name).then(|| value.to_owned())
            })
        })
    }

    fn check(own: &str, outer: &[&str], expected: Option<(&str, Option<&str>)>) {
        let nearest = nearest(environment(own), outer.iter().map(|text| environment(text)));
        let nearest = nearest.as_ref().map(|one| (one.agent, one.session.as_deref()));
        assert_eq!(nearest, expected, "{own}");
    }

    #[test]
    fn each_agent_has_its_own_variable_for_the_session_id() {
        check("HOME=/h", &[], None);
        check("CLAUDE_CODE_SESSION_ID=a CLAUDECODE=1", &[], Some(("claude", Some("a"))));
        check("CODEX_SESSION_ID=a CODEX_THREAD_ID=b", &[], Some(("codex", Some("a"))));
        check("CODEX_THREAD_ID=b", &[], Some(("codex", Some("b"))));
        check("COPILOT_CLI=1 COPILOT_AGENT_SESSION_ID=a", &[], Some(("copilot", Some("a"))));
        check("QWEN_CODE_SESSION_ID=a", &[], Some(("qwen", Some("a"))));
        check("GEMINI_CLI=1", &[], Some(("gemini", None)));
        check("CLAUDE_CODE_SESSION_ID=", &[], None);
    }

    #[test]
    fn the_inner_agent_of_nested_agents_is_returned() {
        let claude = "CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=outer";
        let codex = format!("{claude} CODEX_SESSION_ID=inner");
        // The environments of the inner agent's shell, of the inner agent and of the outer agent.
        check(&codex, &[&codex, claude, ""], Some(("codex", Some("inner"))));
        let gemini = format!("{claude} GEMINI_CLI=1");
        check(&gemini, &[claude, ""], Some(("gemini", None)));
        let other = "CODEX_SESSION_ID=outer CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=inner";
        check(other, &["CODEX_SESSION_ID=outer"], Some(("claude", Some("inner"))));
        // The inner agent was started by another process of the same agent.
        let again = "CODEX_SESSION_ID=outer CLAUDE_CODE_SESSION_ID=inner";
        let middle = "CODEX_SESSION_ID=outer CLAUDE_CODE_SESSION_ID=middle";
        check(again, &[middle], Some(("claude", Some("inner"))));
    }

    #[test]
    fn no_agent_is_returned_if_the_inner_agent_is_unknown() {
        let both = "CLAUDE_CODE_SESSION_ID=a CODEX_SESSION_ID=b";
        check(both, &[], None);
        check(both, &[both, ""], None);
    }
}
