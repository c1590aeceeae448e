//! Information about the client of a request.

use graphiti_proto::{rpc::CALLER, tools::STRUCTURED};
use serde::Serialize;
use serde_json::Value;

use crate::{
    api::{mcp::ClientKind, progress::ProgressReporter},
    engine::{Engine, Process},
};

#[derive(Clone, Debug, Default)]
pub struct ClientContext {
    /// The agent in which the client runs, if the client reports it.
    pub agent: Option<String>,
    /// The session that the client reports as its own (`CLAUDE_CODE_SESSION_ID`).
    pub session_id: Option<String>,
    /// The session that started the client. This session may have ended since.
    pub started_in: Option<String>,
    pub directory: Option<String>,
    /// The process ids of the client and its ancestors, nearest first.
    pub processes: Vec<u32>,
    pub reply_budget: ReplyBudget,
    pub reply_form: ReplyForm,
    /// Whether the sessions of the client's agent are followed.
    pub(in crate::api) kind: ClientKind,
    pub progress: ProgressReporter,
}

/// The maximum size of an answer to a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyBudget {
    /// No limit, for a program.
    #[default]
    Unbounded,
    /// Maximum number of bytes of JSON, for an agent, because an answer uses the agent's context
    /// window.
    Bytes(usize),
}

/// The form of a tool's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyForm {
    /// JSON, as `structuredContent` and as text, for a program.
    #[default]
    Structured,
    /// Markdown for a model, and nothing else.
    Text,
}

/// Maximum size, in bytes, of an answer to an agent: about ten thousand tokens, above which agents
/// show a warning.
pub const AGENT_REPLY_BUDGET: ReplyBudget = ReplyBudget::Bytes(36_000);

/// The argument with which an agent requests structured data from a tool.
pub(in crate::api) const STRUCTURED_ARGUMENT: &str = "structured";

/// Maximum number of ancestors that the daemon looks up, and of processes that a client can report.
const MAX_PROCESSES: usize = 32;

impl ClientContext {
    /// Combines the process id of the peer of a connection with the information in the request.
    pub fn new(peer: Option<u32>, params: &Value) -> ClientContext {
        let reported = &params["_meta"][CALLER];
        let text =
            |key: &str| reported[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let mut processes: Vec<u32> = peer.map(ancestors).unwrap_or_default();
        let reported_processes =
            reported["processes"].as_array().into_iter().flatten().take(MAX_PROCESSES);
        for process in
            reported_processes.filter_map(Value::as_u64).filter_map(|n| u32::try_from(n).ok())
        {
            if !processes.contains(&process) {
                processes.push(process);
            }
        }
        ClientContext {
            agent: text("agent"),
            session_id: text("session_id"),
            started_in: text("started_in"),
            directory: text("directory"),
            processes,
            reply_form: match params["_meta"][STRUCTURED].as_bool() {
                Some(false) => ReplyForm::Text,
                Some(true) | None => ReplyForm::Structured,
            },
            ..ClientContext::default()
        }
    }

    /// Adapts the context to an agent. An agent gets text, unless it requests structured data in
    /// `_meta` or in an argument of the tool.
    pub(in crate::api) fn for_agent(self, params: &Value, kind: ClientKind) -> ClientContext {
        let requested = params["_meta"][STRUCTURED].as_bool();
        let requested = requested.or(params["arguments"][STRUCTURED_ARGUMENT].as_bool());
        let reply_form =
            if requested == Some(true) { ReplyForm::Structured } else { ReplyForm::Text };
        ClientContext { reply_budget: AGENT_REPLY_BUDGET, reply_form, kind, ..self }
    }

    /// Whether the answer goes into the context of a model.
    pub fn is_agent(&self) -> bool {
        self.reply_budget == AGENT_REPLY_BUDGET
    }

    /// Whether the request comes from an agent, or from a command that an agent runs.
    pub(in crate::api) fn runs_in_agent(&self) -> bool {
        self.is_agent() || self.agent.is_some()
    }

    /// Returns the name of the agent in whose session the client runs; `None` when the agent is not
    /// known.
    pub(in crate::api) fn own_agent(&self) -> Option<&str> {
        match self.kind {
            ClientKind::Followed(agent) => Some(agent),
            ClientKind::Unfollowed | ClientKind::Unknown => self.agent.as_deref(),
        }
    }

    pub(in crate::api) fn is_unfollowed(&self, engine: &Engine) -> bool {
        self.kind == ClientKind::Unfollowed
            || self.own_agent().is_some_and(|agent| !engine.follows(agent))
    }

    /// Returns the process of the agent that ran the client as a hook; `None` when the process is
    /// not known. This process is the nearest ancestor that is not a shell, because agents run
    /// hooks through a shell.
    pub fn agent(&self) -> Option<Process> {
        self.processes.iter().skip(1).find_map(|pid| agent(*pid))
    }
}

impl ReplyBudget {
    /// Keeps the first rows that fit the budget, but at least one row.
    pub fn fit<T: Serialize>(self, rows: &mut Vec<T>) {
        let ReplyBudget::Bytes(reply_budget) = self else { return };
        let mut used = 0;
        let fitting = rows.iter().take_while(|row| {
            used += serde_json::to_vec(row).map_or(0, |bytes| bytes.len());
            used <= reply_budget
        });
        let fitting = fitting.count().max(1);
        rows.truncate(fitting);
    }

    /// Returns the budget in bytes, but at most `most`.
    pub fn bytes(self, most: usize) -> usize {
        match self {
            ReplyBudget::Unbounded => most,
            ReplyBudget::Bytes(reply_budget) => reply_budget.min(most),
        }
    }
}

/// Returns the process with this id; `None` if the process is a shell, or its name cannot be read.
#[cfg(target_os = "linux")]
fn agent(pid: u32) -> Option<Process> {
    const SHELLS: &[&str] = &["sh", "ash", "bash", "dash", "fish", "ksh", "mksh", "tcsh", "zsh"];
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    (!SHELLS.contains(&name.trim_end())).then(|| Process::of(pid))
}

/// On other systems, the name of a process is not known.
#[cfg(not(target_os = "linux"))]
fn agent(_pid: u32) -> Option<Process> {
    None
}

/// Returns a process and its ancestors, nearest first.
#[cfg(target_os = "linux")]
fn ancestors(process: u32) -> Vec<u32> {
    let mut found = vec![process];
    while found.len() < MAX_PROCESSES {
        let Some(parent) = found.last().and_then(|process| parent(*process)) else { break };
        if parent <= 1 || found.contains(&parent) {
            break;
        }
        found.push(parent);
    }
    found
}

/// Returns the id of the parent process: in `/proc/<pid>/stat`, the second field after the name of
/// the process in parentheses.
#[cfg(target_os = "linux")]
fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(1)?.parse().ok()
}

/// On other systems, the client reports its ancestors itself.
#[cfg(not(target_os = "linux"))]
fn ancestors(process: u32) -> Vec<u32> {
    vec![process]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_context_comes_from_the_metadata_of_a_request() {
        let params = json!({"_meta": {"graphiti/caller": {
            "agent": "codex", "session_id": "abc", "directory": "/a", "processes": [4194304, 4194303]
        }}});
        let client = ClientContext::new(None, &params);
        assert_eq!(client.own_agent(), Some("codex"));
        let other = ClientKind::Followed("claude");
        assert_eq!(client.clone().for_agent(&params, other).own_agent(), Some("claude"));
        assert_eq!(client.session_id.as_deref(), Some("abc"));
        assert_eq!(client.directory.as_deref(), Some("/a"));
        assert_eq!(client.processes, [4_194_304, 4_194_303]);
        let silent = ClientContext::new(None, &Value::Null);
        assert_eq!((silent.session_id, silent.directory, silent.processes), (None, None, vec![]));
    }

    #[test]
    fn a_program_gets_structured_data_and_an_agent_text_by_default() {
        let requested = |wanted: bool| json!({ "_meta": { STRUCTURED: wanted } });
        let program = |params: &Value| ClientContext::new(None, params).reply_form;
        assert_eq!(program(&json!({})), ReplyForm::Structured);
        assert_eq!(program(&requested(true)), ReplyForm::Structured);
        assert_eq!(program(&requested(false)), ReplyForm::Text);
        let agent = |params: &Value| {
            ClientContext::new(None, params).for_agent(params, ClientKind::Unknown).reply_form
        };
        assert_eq!(agent(&json!({})), ReplyForm::Text);
        assert_eq!(agent(&requested(true)), ReplyForm::Structured);
        let argument = json!({ "arguments": { "structured": true } });
        assert_eq!(agent(&argument), ReplyForm::Structured);
    }

    #[test]
    fn the_last_rows_are_left_out_but_never_all() {
        for (reply_budget, left) in
            [(ReplyBudget::Unbounded, 3), (ReplyBudget::Bytes(11), 2), (ReplyBudget::Bytes(1), 1)]
        {
            let mut rows = vec!["aaa", "bbb", "ccc"];
            reply_budget.fit(&mut rows);
            assert_eq!(rows.len(), left, "{reply_budget:?}");
        }
        ReplyBudget::Bytes(1).fit::<u8>(&mut Vec::new());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_first_ancestor_of_a_process_is_its_parent() {
        let found = ancestors(std::process::id());
        assert_eq!(found[..2], [std::process::id(), std::os::unix::process::parent_id()]);
    }
}
