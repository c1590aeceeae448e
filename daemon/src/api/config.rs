//! The settings of hooks, of queries, and of the tools that are listed for agents.

use std::{path::PathBuf, time::Duration};

use crate::{engine::sharing::GroupId, model::Namespace};

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub hooks: Hooks,
    pub listed_tools: ListedTools,
    /// How long a query waits for sessions to be indexed before it answers with the existing index.
    pub query_timeout: Duration,
    pub answers: Answers,
}

/// What answers may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// Whether a search includes sessions of projects other than the caller's.
    pub cross_project_search: bool,
    /// The other projects that a search includes; `None` for all.
    pub trusted_namespaces: Option<Vec<Namespace>>,
    /// Whether the document of an episode contains the path of its project.
    pub include_project_path: bool,
    /// The `group_id` of episodes, entities and facts in answers; `None` for the namespace of the
    /// project.
    pub group_id: Option<GroupId>,
}

/// The tools that are listed for an agent. An agent may call any tool by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListedTools {
    /// The tools for daily work, with the usual arguments.
    #[default]
    Core,
    All,
    /// The tools with these names.
    Named(Vec<String>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Hooks {
    /// Whether hook events are processed.
    pub enabled: bool,
    pub socket_enabled: bool,
    /// The path of the socket; `None` for `mcp.sock` in the home folder, or a named pipe on
    /// Windows.
    pub socket_path: Option<PathBuf>,
    /// If `async_indexing` is false, a hook waits at most this long until the session is indexed.
    pub hook_timeout: Duration,
    /// Whether a hook returns when its event is on disk, before the session is indexed.
    pub async_indexing: bool,
    /// Whether a new session starts with a handoff from the last sessions in its project.
    pub handoff: bool,
    pub handoff_max_chars: u32,
    /// Whether the handoff of a shared project also lists the latest sessions of colleagues, with
    /// their next steps.
    pub team_handoff: bool,
    /// Whether the hook of a prompt adds strong matches from earlier sessions to the context.
    pub recall: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            hooks: Hooks::default(),
            listed_tools: ListedTools::default(),
            query_timeout: Duration::from_secs(10),
            answers: Answers::default(),
        }
    }
}

impl Default for Answers {
    fn default() -> Answers {
        Answers {
            cross_project_search: true,
            trusted_namespaces: None,
            include_project_path: true,
            group_id: None,
        }
    }
}

impl Default for Hooks {
    fn default() -> Hooks {
        Hooks {
            enabled: true,
            socket_enabled: true,
            socket_path: None,
            hook_timeout: Duration::from_secs(30),
            async_indexing: true,
            handoff: true,
            handoff_max_chars: 4_000,
            team_handoff: false,
            recall: false,
        }
    }
}
