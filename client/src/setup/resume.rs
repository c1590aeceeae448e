//! The commands with which an agent resumes a session, or starts one.

use std::{fmt, path::PathBuf};

use graphiti_proto::tools::SessionRow;

use crate::{screen::line, setup::AGENTS};

/// A command line and the directory in which it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentCommand {
    pub(crate) program: &'static str,
    pub(crate) arguments: Vec<String>,
    pub(crate) directory: PathBuf,
}

/// Returns the command that resumes a session, or the reason why there is no command.
pub(crate) fn resume(session: &SessionRow) -> Result<AgentCommand, String> {
    let id = &session.session_id;
    let agent = AGENTS.iter().find(|agent| agent.name == session.agent);
    let Some((program, arguments)) = agent.and_then(|agent| agent.resume.split_first()) else {
        return Err(format!("no command is known that resumes a session of {}", session.agent));
    };
    // The id comes from a transcript. It must not be interpreted as an option.
    let is_id = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !id.chars().all(is_id) || !id.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(format!("{program} cannot resume a session with this id"));
    }
    let arguments = arguments.iter().copied().map(str::to_owned).chain([id.clone()]).collect();
    Ok(AgentCommand { program, arguments, directory: PathBuf::from(&session.project) })
}

/// Returns the command that starts a session of the same agent in the same directory with a first
/// prompt, or the reason why there is no command.
pub(crate) fn start(session: &SessionRow, prompt: &str) -> Result<AgentCommand, String> {
    let agent = AGENTS.iter().find(|agent| agent.name == session.agent);
    let Some((program, arguments)) = agent.and_then(|agent| agent.start.split_first()) else {
        return Err(format!("no command is known that starts {}", session.agent));
    };
    let arguments = arguments.iter().copied().chain([prompt]).map(str::to_owned).collect();
    Ok(AgentCommand { program, arguments, directory: PathBuf::from(&session.project) })
}

impl AgentCommand {
    /// Formats the command as a line for a shell. `last`, which is already quoted, replaces the
    /// last argument.
    pub(crate) fn with_last_argument(&self, last: &str) -> String {
        let directory = quoted(&line(&self.directory.to_string_lossy()));
        let first = self.arguments.split_last().map_or(&[][..], |(_, first)| first);
        let words = first.iter().map(String::as_str).chain([last]);
        let words = std::iter::once(self.program).chain(words).collect::<Vec<_>>().join(" ");
        format!("cd {directory} && {words}")
    }
}

impl fmt::Display for AgentCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.arguments.last().map(|last| line(last)).unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let last = if last.chars().all(is_plain) { last } else { quoted(&last) };
        f.write_str(&self.with_last_argument(&last))
    }
}

/// Quotes a text for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(agent: &str, id: &str) -> SessionRow {
        SessionRow {
            session_id: id.to_owned(),
            agent: agent.to_owned(),
            project: "/work/it's".to_owned(),
            ..SessionRow::default()
        }
    }

    #[test]
    fn each_agent_has_its_own_command() {
        for (agent, command) in [
            ("claude", "claude --resume 0c97-1"),
            ("codex", "codex resume 0c97-1"),
            ("opencode", "opencode --session 0c97-1"),
        ] {
            let resume = resume(&session(agent, "0c97-1")).unwrap().to_string();
            assert_eq!(resume, format!(r"cd '/work/it'\''s' && {command}"));
        }
        assert!(AGENTS.iter().all(|agent| resume(&session(agent.name, "a")).is_ok()));
        assert!(resume(&session("unknown", "a")).is_err());
    }

    #[test]
    fn each_agent_starts_with_a_first_prompt() {
        for (agent, command) in [
            ("claude", "claude 'Continue'\\''s'"),
            ("gemini", "gemini --prompt-interactive 'Continue'\\''s'"),
            ("opencode", "opencode --prompt 'Continue'\\''s'"),
        ] {
            let start = start(&session(agent, "a"), "Continue's").unwrap();
            assert_eq!(start.to_string(), format!(r"cd '/work/it'\''s' && {command}"));
        }
        assert!(AGENTS.iter().all(|agent| start(&session(agent.name, "a"), "x").is_ok()));
        assert!(start(&session("unknown", "a"), "x").is_err());
    }

    #[test]
    fn an_id_is_never_an_option_or_part_of_a_shell_line() {
        for id in ["--dangerously", "a;b", "a b", "", "$(a)"] {
            assert!(resume(&session("claude", id)).is_err(), "{id}");
        }
    }
}
