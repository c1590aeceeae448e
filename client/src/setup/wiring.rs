//! Reports how much of the setup is complete.

use crate::{
    files,
    setup::{Content, Surroundings, Wish, agents::AgentSetup, json, plan},
};

/// The state of an agent's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wiring {
    /// The settings are current.
    Complete,
    /// The settings name a program in another location, or another version wrote them.
    Outdated,
    /// The settings contain no entry of ours.
    Missing,
    /// The settings cannot be changed; holds the file and the reason.
    Unreadable(String),
}

/// Returns the state of an agent's settings; optional entries are ignored.
pub(crate) fn wiring(agent: &'static AgentSetup, surroundings: &Surroundings<'_>) -> Wiring {
    let surroundings = &Surroundings { allow: false, ..surroundings.clone() };
    let outstanding = plan(agent, Wish::Install, surroundings);
    if let Some((file, error)) = outstanding.iter().find_map(|change| change.as_ref().err()) {
        return Wiring::Unreadable(format!("{}: {error}", file.display()));
    }
    if outstanding.is_empty() {
        Wiring::Complete
    } else if plan(agent, Wish::Remove, surroundings).is_empty() {
        Wiring::Missing
    } else {
        Wiring::Outdated
    }
}

/// Returns the hooks of which older versions of the agent drop the argument: the file and the
/// events.
pub(crate) fn old_hooks(agent: &AgentSetup, surroundings: &Surroundings<'_>) -> Option<String> {
    let settings = (agent.settings)(surroundings);
    let mut hooks =
        settings.iter().filter(|settings| matches!(settings.content, Content::Hooks(_)));
    hooks.find_map(|settings| {
        let events = json::outdated_hooks(&files::read_text(&settings.file).ok()?);
        let named = || format!("{} ({})", settings.file.display(), events.join(", "));
        (!events.is_empty()).then(named)
    })
}

/// Whether an agent supports hooks; other agents only use the tools.
pub(crate) fn has_hooks(agent: &AgentSetup, surroundings: &Surroundings<'_>) -> bool {
    let settings = (agent.settings)(surroundings);
    settings.iter().any(|settings| matches!(settings.content, Content::Hooks(_)))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::setup::{AGENTS, write};

    #[test]
    fn an_agent_is_wired_when_setup_has_nothing_left_to_do() {
        let home = tempfile::tempdir().unwrap();
        let claude = &AGENTS[0];
        let wired = |program: &str| wiring(claude, &surroundings(home.path(), program));
        assert_eq!(wired("/opt/graphiti"), Wiring::Missing);
        for change in plan(claude, Wish::Install, &surroundings(home.path(), "/opt/graphiti")) {
            write(&change.unwrap()).unwrap();
        }
        assert_eq!(wired("/opt/graphiti"), Wiring::Complete);
        assert_eq!(wired("/usr/bin/graphiti"), Wiring::Outdated);
        let settings = home.path().join(".claude/settings.json");
        let text = fs::read_to_string(&settings).unwrap();
        // The form in which Claude Code before 2.1.139 leaves the hooks of our earlier versions.
        fs::write(&settings, text.replace("graphiti hook", "graphiti")).unwrap();
        let hooks = old_hooks(claude, &surroundings(home.path(), "/opt/graphiti"));
        assert!(hooks.is_some_and(|hooks| hooks.contains("UserPromptSubmit")));
        assert_eq!(wired("/opt/graphiti"), Wiring::Outdated);
        fs::write(home.path().join(".claude/settings.json"), "{").unwrap();
        assert!(
            matches!(wired("/opt/graphiti"), Wiring::Unreadable(why) if why.contains("settings.json"))
        );
    }

    #[test]
    fn some_agents_have_only_tools() {
        let surroundings = surroundings(Path::new("/home/u"), "/opt/graphiti");
        let with: Vec<&str> = AGENTS
            .iter()
            .filter(|agent| has_hooks(agent, &surroundings))
            .map(|agent| agent.name)
            .collect();
        assert_eq!(with, ["claude", "codex", "gemini", "copilot"]);
    }

    fn surroundings(home: &Path, program: &str) -> Surroundings<'static> {
        Surroundings {
            home: home.to_owned(),
            project: None,
            program: program.into(),
            variable: &|_| None,
            allow: true,
        }
    }
}
