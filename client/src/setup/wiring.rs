//! Reports the state of the setup.

use crate::{
    files,
    setup::{SettingsEntry, SetupGoal, Surroundings, agents::AgentSetup, json, plan, toml},
};

/// The state of an agent's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wiring {
    /// The settings are current.
    Complete,
    /// Our entries are incomplete, come from another version, or run the program at another path.
    Outdated,
    /// The settings contain no entry of ours.
    Missing,
    /// The settings cannot be changed. Contains the file and the reason.
    Unreadable(String),
}

/// Returns the state of an agent's settings; optional entries are ignored.
pub(crate) fn wiring(agent: &'static AgentSetup, surroundings: &Surroundings<'_>) -> Wiring {
    let surroundings = &Surroundings { allow: false, ..surroundings.clone() };
    let outstanding = plan(agent, SetupGoal::Install, surroundings);
    if let Some((file, error)) = outstanding.iter().find_map(|change| change.as_ref().err()) {
        return Wiring::Unreadable(format!("{}: {error}", file.display()));
    }
    if outstanding.is_empty() {
        Wiring::Complete
    } else if plan(agent, SetupGoal::Remove, surroundings).is_empty() {
        Wiring::Missing
    } else {
        Wiring::Outdated
    }
}

/// Formats the path of the settings file, and the events for which the file has our hooks in an old
/// form ([`json::outdated_hooks`]).
pub(crate) fn old_hooks(agent: &AgentSetup, surroundings: &Surroundings<'_>) -> Option<String> {
    let settings = (agent.settings)(surroundings);
    let mut hooks =
        settings.iter().filter(|settings| matches!(settings.content, SettingsEntry::Hooks(_)));
    hooks.find_map(|settings| {
        let events = json::outdated_hooks(&files::read_text(&settings.file).ok()?);
        let named = || format!("{} ({})", settings.file.display(), events.join(", "));
        (!events.is_empty()).then(named)
    })
}

/// Whether the agent does not run our hooks yet, because its trust file does not list them as
/// trusted.
pub(crate) fn awaits_trust(agent: &AgentSetup, surroundings: &Surroundings<'_>) -> bool {
    let Some(settings) = agent.trust_file.map(|file| file(surroundings)) else { return false };
    let settings = files::read_text(&settings).unwrap_or_default();
    let hooks = (agent.settings)(surroundings);
    let mut hooks =
        hooks.iter().filter(|settings| matches!(settings.content, SettingsEntry::Hooks(_)));
    !hooks.any(|hooks| toml::trusts_hooks_of(&settings, &hooks.file))
}

/// Describes our entries in the settings of an agent, for people.
pub(crate) fn parts(agent: &AgentSetup, surroundings: &Surroundings<'_>) -> &'static str {
    let settings = (agent.settings)(surroundings);
    let is_server = |content: &SettingsEntry| {
        matches!(content, SettingsEntry::Server(_) | SettingsEntry::TomlServer(_))
    };
    let is_hook = |content: &SettingsEntry| {
        matches!(content, SettingsEntry::Hooks(_) | SettingsEntry::Extension(_))
    };
    let has = |is_part: &dyn Fn(&SettingsEntry) -> bool| {
        settings.iter().any(|settings| is_part(&settings.content))
    };
    match (has(&is_hook), has(&is_server)) {
        (true, true) => "hooks and tools",
        (true, false) => "hooks",
        (false, _) => "tools",
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::setup::{AGENTS, write};

    #[test]
    fn the_setup_is_complete_if_setup_would_change_nothing() {
        let home = tempfile::tempdir().unwrap();
        let claude = &AGENTS[0];
        let wired = |program: &str| wiring(claude, &surroundings(home.path(), program));
        assert_eq!(wired("/opt/graphiti"), Wiring::Missing);
        for change in plan(claude, SetupGoal::Install, &surroundings(home.path(), "/opt/graphiti"))
        {
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
    fn every_agent_has_hooks_and_most_have_tools() {
        let surroundings = surroundings(Path::new("/home/u"), "/opt/graphiti");
        for agent in AGENTS {
            let expected = if agent.name == "pi" { "hooks" } else { "hooks and tools" };
            assert_eq!(parts(agent, &surroundings), expected, "{}", agent.name);
        }
    }

    #[test]
    fn removing_the_setup_restores_the_files_of_every_agent_byte_by_byte() {
        for agent in AGENTS {
            let home = tempfile::tempdir().unwrap();
            let surroundings = surroundings(home.path(), "/my tools/graphiti");
            let files = |goal| -> Vec<_> {
                let changes = plan(agent, goal, &surroundings).into_iter().map(Result::unwrap);
                changes.inspect(|change| write(change).unwrap()).map(|change| change.file).collect()
            };
            let new = files(SetupGoal::Install);
            assert!(!new.is_empty() && new.iter().all(|file| file.is_file()), "{}", agent.name);
            assert_eq!(wiring(agent, &surroundings), Wiring::Complete, "{}", agent.name);
            assert_eq!(files(SetupGoal::Remove), new, "{}", agent.name);
            assert!(new.iter().all(|file| !file.exists()), "{}", agent.name);

            let before = "{\n    \"mine\":true,\t// a note\n}\n";
            let is_json = |file: &&std::path::PathBuf| {
                file.extension().is_some_and(|extension| extension == "json")
            };
            new.iter().filter(is_json).for_each(|file| fs::write(file, before).unwrap());
            files(SetupGoal::Install);
            files(SetupGoal::Remove);
            for file in new.iter().filter(is_json) {
                assert_eq!(fs::read_to_string(file).unwrap(), before, "{}", file.display());
            }
            assert_eq!(wiring(agent, &surroundings), Wiring::Missing, "{}", agent.name);
        }
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
