//! The agents that can be set up, and their settings files.

use std::path::PathBuf;

use graphiti_proto::tools;
use serde_json::json;

use crate::setup::{
    Settings, SettingsEntry, Surroundings,
    command::shell_line,
    extension,
    json::{Hook, HookForm},
    toml::Server,
};

pub(crate) struct AgentSetup {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// The name for people.
    pub(crate) title: &'static str,
    /// The command that resumes a session, without its last argument: the id of the session.
    pub(crate) resume: &'static [&'static str],
    /// The command that starts a session, without its last argument: the first prompt.
    pub(crate) start: &'static [&'static str],
    /// What the user has to do after the setup.
    pub(crate) note: Option<&'static str>,
    /// What the agent may do without confirmation, unless `--no-allow` is given.
    pub(crate) offer: Option<&'static str>,
    /// The agent's folder, which shows that the agent is installed.
    pub(crate) folder: fn(&Surroundings<'_>) -> PathBuf,
    /// The file with the hooks that the user trusts, if the agent asks the user.
    pub(crate) trust_file: Option<fn(&Surroundings<'_>) -> PathBuf>,
    /// The settings files with our entries.
    pub(crate) settings: fn(&Surroundings<'_>) -> Vec<Settings>,
}

pub(crate) const AGENTS: &[AgentSetup] =
    &[CLAUDE, CODEX, GEMINI, COPILOT, QWEN, CURSOR, OPENCODE, PI];

/// Returns the names of [`AGENTS`], for the command line.
pub(crate) fn agent_names() -> Vec<&'static str> {
    AGENTS.iter().map(|agent| agent.name).collect()
}

/// Returns the agents whose folder is on this machine.
pub(crate) fn installed(
    surroundings: &Surroundings<'_>,
) -> impl Iterator<Item = &'static AgentSetup> {
    AGENTS.iter().filter(|agent| (agent.folder)(surroundings).is_dir())
}

/// The read-only tools, which an agent may be allowed to use without confirmation.
pub(crate) const READING_TOOLS: &[&str] = &[
    tools::get_handoff::NAME,
    tools::search_sessions::NAME,
    tools::search_memory_facts::NAME,
    tools::search_nodes::NAME,
    tools::search_memory_nodes::NAME,
    tools::get_episode_entities::NAME,
    tools::blame_file::NAME,
    tools::find_fix::NAME,
    tools::get_log::NAME,
    tools::list_sessions::NAME,
    tools::get_session::NAME,
    tools::list_unindexed::NAME,
    tools::health::NAME,
    tools::status::NAME,
    tools::failed_episodes::NAME,
    tools::get_episodes::NAME,
];

/// The time limit of a hook, in seconds. A hook takes milliseconds; the limit is for very busy
/// machines.
const TIMEOUT: u32 = 5;
/// The time limit, in seconds, of a hook that waits for the episode when `hooks.async_indexing` is
/// false.
const LAST_TIMEOUT: u32 = 60;

const CLAUDE: AgentSetup = AgentSetup {
    name: "claude",
    title: "Claude Code",
    resume: &["claude", "--resume"],
    start: &["claude"],
    note: None,
    offer: Some(
        "Claude Code may use the read-only tools without asking; --no-allow omits this permission.",
    ),
    folder: |surroundings| surroundings.folder("CLAUDE_CONFIG_DIR", ".claude"),
    trust_file: None,
    settings: |surroundings| {
        let folder = (CLAUDE.folder)(surroundings);
        // The file with the user's servers is next to the folder, unless the folder was moved.
        let is_moved = surroundings.value_of("CLAUDE_CONFIG_DIR").is_some();
        let servers = match &surroundings.project {
            Some(project) => project.join(".mcp.json"),
            None if is_moved => folder.join(".claude.json"),
            None => surroundings.home.join(".claude.json"),
        };
        let hooks = [
            ("SessionStart", TIMEOUT),
            ("UserPromptSubmit", TIMEOUT),
            ("Stop", TIMEOUT),
            ("SubagentStop", TIMEOUT),
            ("PreCompact", LAST_TIMEOUT),
            ("PostCompact", TIMEOUT),
            ("SessionEnd", LAST_TIMEOUT),
        ];
        let file = surroundings.project_or_user_folder(&folder, ".claude").join("settings.json");
        let allowed = READING_TOOLS.iter().map(|tool| format!("mcp__graphiti__{tool}"));
        vec![
            Settings { file: file.clone(), content: surroundings.hooks("hook", &hooks) },
            Settings { file, content: SettingsEntry::Allowed(allowed.collect()) },
            Settings { file: servers, content: surroundings.server(json!({ "type": "stdio" })) },
        ]
    },
};

const CODEX: AgentSetup = AgentSetup {
    name: "codex",
    title: "Codex CLI",
    resume: &["codex", "resume"],
    start: &["codex"],
    note: Some(
        "Codex asks at its next start on the terminal whether you trust these hooks: they do not run \
         until you agree. The command /hooks in Codex lists them.",
    ),
    offer: None,
    folder: |surroundings| surroundings.folder("CODEX_HOME", ".codex"),
    trust_file: Some(|surroundings| (CODEX.folder)(surroundings).join("config.toml")),
    settings: |surroundings| {
        let folder = surroundings.project_or_user_folder(&(CODEX.folder)(surroundings), ".codex");
        let events = [
            ("SessionStart", TIMEOUT),
            ("UserPromptSubmit", TIMEOUT),
            ("Stop", TIMEOUT),
            ("PreCompact", TIMEOUT),
            ("PostCompact", TIMEOUT),
            // Codex allows this hook at most 3 seconds.
            ("SessionEnd", 3),
        ];
        let program = surroundings.program.to_string_lossy().into_owned();
        let server = Server { program, home: surroundings.graphiti_home() };
        vec![
            Settings {
                file: folder.join("hooks.json"),
                content: surroundings.hooks("hook codex", &events),
            },
            Settings {
                file: folder.join("config.toml"),
                content: SettingsEntry::TomlServer(server),
            },
        ]
    },
};

const GEMINI: AgentSetup = AgentSetup {
    name: "gemini",
    title: "Gemini CLI",
    resume: &["gemini", "--resume"],
    start: &["gemini", "--prompt-interactive"],
    note: None,
    offer: Some(
        "Gemini trusts graphiti and uses all its tools without asking; --no-allow omits this permission.",
    ),
    folder: |surroundings| {
        let home = surroundings.value_of("GEMINI_CLI_HOME").map(PathBuf::from);
        home.unwrap_or_else(|| surroundings.home.clone()).join(".gemini")
    },
    trust_file: None,
    settings: |surroundings| {
        let folder = surroundings.project_or_user_folder(&(GEMINI.folder)(surroundings), ".gemini");
        let file = folder.join("settings.json");
        // Gemini's time limits are in milliseconds.
        let limit = TIMEOUT * 1000;
        // PreCompress is omitted, because it fires before every call of the model, even if nothing is
        // compressed.
        let events = ["SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"];
        let hooks = surroundings.hooks("hook gemini", &events.map(|event| (event, limit)));
        vec![
            Settings { file: file.clone(), content: hooks },
            Settings { file: file.clone(), content: surroundings.server(json!({})) },
            Settings { file, content: SettingsEntry::Trust },
        ]
    },
};

const COPILOT: AgentSetup = AgentSetup {
    name: "copilot",
    title: "Copilot CLI",
    resume: &["copilot", "--resume"],
    start: &["copilot", "--interactive"],
    note: None,
    offer: None,
    folder: |surroundings| surroundings.folder("COPILOT_HOME", ".copilot"),
    trust_file: None,
    settings: |surroundings| {
        if surroundings.project.is_some() {
            return Vec::new();
        }
        let folder = (COPILOT.folder)(surroundings);
        // Events whose names begin with a capital letter have the members of Claude Code's events.
        // UserPromptSubmit is omitted, because it also fires for the prompts of sub-agents, with other
        // session ids.
        let events = ["SessionStart", "Stop", "PreCompact", "SessionEnd"];
        let more = json!({ "type": "local", "tools": ["*"] });
        vec![
            Settings {
                file: folder.join("settings.json"),
                content: surroundings.hooks("hook copilot", &events.map(|event| (event, TIMEOUT))),
            },
            Settings { file: folder.join("mcp-config.json"), content: surroundings.server(more) },
        ]
    },
};

const QWEN: AgentSetup = AgentSetup {
    name: "qwen",
    title: "Qwen Code",
    resume: &["qwen", "--resume"],
    start: &["qwen", "--prompt-interactive"],
    note: None,
    offer: Some(
        "Qwen Code trusts graphiti and uses all its tools without asking; --no-allow omits this permission.",
    ),
    folder: |surroundings| surroundings.folder("QWEN_HOME", ".qwen"),
    trust_file: None,
    settings: |surroundings| {
        let folder = surroundings.project_or_user_folder(&(QWEN.folder)(surroundings), ".qwen");
        let file = folder.join("settings.json");
        let events =
            ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "PostCompact", "SessionEnd"];
        let hooks = surroundings.hooks("hook qwen", &events.map(|event| (event, TIMEOUT)));
        vec![
            Settings { file: file.clone(), content: hooks },
            Settings { file: file.clone(), content: surroundings.server(json!({})) },
            Settings { file, content: SettingsEntry::Trust },
        ]
    },
};

const CURSOR: AgentSetup = AgentSetup {
    name: "cursor",
    title: "Cursor",
    resume: &["cursor-agent", "--resume"],
    start: &["cursor-agent"],
    note: None,
    offer: None,
    folder: |surroundings| surroundings.home.join(".cursor"),
    trust_file: None,
    settings: |surroundings| {
        let folder = surroundings.project_or_user_folder(&(CURSOR.folder)(surroundings), ".cursor");
        let handler = json!({ "command": shell_line(&surroundings.program, "hook cursor") });
        let hook = |event| Hook { event, handler: handler.clone(), form: HookForm::Flat };
        let events = ["sessionStart", "beforeSubmitPrompt", "stop", "preCompact", "sessionEnd"];
        vec![
            Settings {
                file: folder.join("hooks.json"),
                content: SettingsEntry::Hooks(events.map(hook).into()),
            },
            Settings { file: folder.join("mcp.json"), content: surroundings.server(json!({})) },
        ]
    },
};

const OPENCODE: AgentSetup = AgentSetup {
    name: "opencode",
    title: "opencode",
    resume: &["opencode", "--session"],
    start: &["opencode", "--prompt"],
    note: None,
    offer: None,
    folder: |surroundings| surroundings.folder("XDG_CONFIG_HOME", ".config").join("opencode"),
    trust_file: None,
    settings: |surroundings| {
        let users = (OPENCODE.folder)(surroundings);
        let folder = surroundings.project.clone().unwrap_or_else(|| users.clone());
        let with_comments = folder.join("opencode.jsonc");
        let plain = folder.join("opencode.json");
        let program = surroundings.program.to_string_lossy();
        let server = json!({ "type": "local", "command": [program, "mcp"], "enabled": true });
        let extension = extension::filled_in(extension::OPENCODE, &surroundings.program);
        let extensions = surroundings.project_or_user_folder(&users, ".opencode").join("plugins");
        vec![
            Settings {
                file: if with_comments.is_file() { with_comments } else { plain },
                content: SettingsEntry::Server(server),
            },
            Settings {
                file: extensions.join("graphiti.js"),
                content: SettingsEntry::Extension(extension),
            },
        ]
    },
};

const PI: AgentSetup = AgentSetup {
    name: "pi",
    title: "Pi",
    resume: &["pi", "--session"],
    start: &["pi"],
    note: None,
    offer: None,
    folder: |surroundings| surroundings.folder("PI_CODING_AGENT_DIR", ".pi/agent"),
    trust_file: None,
    settings: |surroundings| {
        let folder = surroundings.project_or_user_folder(&(PI.folder)(surroundings), ".pi");
        let extension = extension::filled_in(extension::PI, &surroundings.program);
        let file = folder.join("extensions").join("graphiti.ts");
        vec![Settings { file, content: SettingsEntry::Extension(extension) }]
    },
};

impl Surroundings<'_> {
    /// Returns an agent's folder: from an environment variable, or in the user's home.
    pub(crate) fn folder(&self, variable: &str, usual: &str) -> PathBuf {
        self.value_of(variable).map_or_else(|| self.home.join(usual), PathBuf::from)
    }

    /// Returns the value of an environment variable. An empty variable counts as unset, as in the
    /// agents.
    fn value_of(&self, variable: &str) -> Option<String> {
        (self.variable)(variable).filter(|value| !value.is_empty())
    }

    /// Returns the agent's folder `projects` in the selected project, or the folder `users` if no
    /// project is selected.
    fn project_or_user_folder(&self, users: &std::path::Path, projects: &str) -> PathBuf {
        self.project.as_ref().map_or_else(|| users.to_owned(), |project| project.join(projects))
    }

    /// Returns our server entry with the agent's additional members.
    fn server(&self, mut server: serde_json::Value) -> SettingsEntry {
        server["command"] = json!(self.program.to_string_lossy());
        server["args"] = json!(["mcp"]);
        SettingsEntry::Server(server)
    }

    /// Returns the daemon's home if `GRAPHITI_HOME` sets it.
    fn graphiti_home(&self) -> Option<String> {
        let home = self.value_of("GRAPHITI_HOME")?;
        let home = std::path::absolute(&home).unwrap_or_else(|_| home.into());
        Some(home.to_string_lossy().into_owned())
    }

    /// Returns our hooks for events with their time limits, in the form of Claude Code.
    fn hooks(&self, argument: &str, events: &[(&'static str, u32)]) -> SettingsEntry {
        let command = shell_line(&self.program, argument);
        let hook = |&(event, limit): &(&'static str, u32)| Hook {
            event,
            handler: json!({ "type": "command", "command": command, "timeout": limit }),
            form: HookForm::Grouped,
        };
        SettingsEntry::Hooks(events.iter().map(hook).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_variable_moves_the_settings_unless_it_is_empty() {
        let servers = |agent: &AgentSetup, variable: &str, value: Option<&str>| {
            let surroundings = Surroundings {
                home: "/home/u".into(),
                project: None,
                program: "/opt/graphiti".into(),
                variable: &|name| value.filter(|_| name == variable).map(str::to_owned),
                allow: true,
            };
            (agent.settings)(&surroundings).pop().unwrap().file
        };
        for (agent, variable, usual, moved) in [
            // Claude's servers are next to its folder, but in a folder that was moved.
            (&CLAUDE, "CLAUDE_CONFIG_DIR", "/home/u/.claude.json", "/moved/.claude.json"),
            (
                &GEMINI,
                "GEMINI_CLI_HOME",
                "/home/u/.gemini/settings.json",
                "/moved/.gemini/settings.json",
            ),
            // Cursor CLI reads hooks only in the user's home, wherever this variable points.
            (&CURSOR, "CURSOR_CONFIG_DIR", "/home/u/.cursor/mcp.json", "/home/u/.cursor/mcp.json"),
        ] {
            assert_eq!(servers(agent, variable, Some("/moved")), PathBuf::from(moved));
            assert_eq!(servers(agent, variable, None), PathBuf::from(usual));
            assert_eq!(servers(agent, variable, Some("")), PathBuf::from(usual));
        }
    }
}
