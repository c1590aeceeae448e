//! The command by which an agent resumes a session.

use std::{fmt, path::PathBuf};

use graphiti_proto::tools::SessionRow;

use crate::{screen::line, setup::AGENTS};

/// A command line and the directory in which it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResumeCommand {
    pub(crate) program: &'static str,
    pub(crate) arguments: Vec<String>,
    pub(crate) directory: PathBuf,
}

/// Returns the command that resumes a session, or why there is none.
pub(crate) fn resume(session: &SessionRow) -> Result<ResumeCommand, String> {
    let id = &session.session_id;
    let agent = AGENTS.iter().find(|agent| agent.name == session.agent);
    let Some((program, arguments)) = agent.and_then(|agent| agent.resume.split_first()) else {
        return Err(format!("no command is known that resumes a session of {}", session.agent));
    };
    // The id comes from a transcript: it must not be taken for an option.
    let is_id = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !id.chars().all(is_id) || !id.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(format!("{program} cannot resume a session with this id"));
    }
    let arguments = arguments.iter().copied().map(str::to_owned).chain([id.clone()]).collect();
    Ok(ResumeCommand { program, arguments, directory: PathBuf::from(&session.project) })
}

impl fmt::Display for ResumeCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory = line(&self.directory.to_string_lossy()).replace('\'', r"'\''");
        write!(f, "cd '{directory}' && {} {}", self.program, self.arguments.join(" "))
    }
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
    fn an_id_is_never_an_option_or_part_of_a_shell_line() {
        for id in ["--dangerously", "a;b", "a b", "", "$(a)"] {
            assert!(resume(&session("claude", id)).is_err(), "{id}");
        }
    }
}
