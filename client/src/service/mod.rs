//! Runs the daemon as a user service of the system's service manager.
//!
//! Each manager is a list of files to install and of commands to run ([`Manager`]). The files come
//! from `systemd/` and `launchd/`, with the paths of this machine filled in. The task scheduler of
//! Windows needs no files.
//!
//! systemd and launchd do not run the user's shell. Therefore, the files contain the variables of
//! the shell that move the folders of agents ([`FOLDER_VARIABLES`]).

mod launchd;
mod systemd;
mod windows;

use std::path::{Path, PathBuf};

/// The variables by which the daemon finds the folders of the agents.
const FOLDER_VARIABLES: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "CURSOR_CONFIG_DIR",
    "GEMINI_CLI_HOME",
    "PI_CODING_AGENT_DIR",
    "QWEN_HOME",
    "QWEN_RUNTIME_DIR",
    "XDG_DATA_HOME",
];

/// An environment variable of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceVariable {
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

/// The values that replace the placeholders in the service files.
pub(crate) struct InstallPaths {
    pub(crate) user_home: PathBuf,
    /// The user's configuration folder (`XDG_CONFIG_HOME`), when it is set.
    pub(crate) config_home: Option<PathBuf>,
    pub(crate) daemon: PathBuf,
    pub(crate) home: PathBuf,
    /// The user id, if the system has user ids.
    pub(crate) user: Option<String>,
    /// The variables that move the folders of agents; see [`folder_variables`].
    pub(crate) variables: Vec<ServiceVariable>,
}

impl InstallPaths {
    fn is_default_home(&self) -> bool {
        self.home == self.user_home.join(".graphiti")
    }

    /// Returns the variables that the service file sets.
    pub(crate) fn environment(&self) -> Vec<ServiceVariable> {
        let home = || ServiceVariable {
            name: "GRAPHITI_HOME",
            value: self.home.to_string_lossy().into_owned(),
        };
        let home = (!self.is_default_home()).then(home);
        home.into_iter().chain(self.variables.iter().cloned()).collect()
    }
}

/// Returns the variables of [`FOLDER_VARIABLES`] that `variable` finds. A value with a control
/// character is omitted, because it would end a line of the service file.
pub(crate) fn folder_variables(
    variable: impl Fn(&'static str) -> Option<String>,
) -> Vec<ServiceVariable> {
    let found = |name: &&'static str| {
        let value = variable(name).filter(|value| !value.is_empty())?;
        (!value.contains(char::is_control)).then_some(ServiceVariable { name, value })
    };
    FOLDER_VARIABLES.iter().filter_map(found).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnitFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A program with its arguments.
pub(crate) type CommandLine = Vec<String>;

/// The files and commands of a service manager.
pub(crate) struct Manager {
    pub(crate) name: &'static str,
    /// The files of the service.
    pub(crate) files: Vec<UnitFile>,
    /// The commands to run after the files are installed.
    pub(crate) install: Vec<CommandLine>,
    /// The commands to run before the files are removed.
    pub(crate) uninstall: Vec<CommandLine>,
    /// The commands to run after the files are removed.
    pub(crate) after_removal: Vec<CommandLine>,
    /// Unloads the earlier service before the commands of `install` or `start`, which fail if the
    /// service is loaded. This command fails if no service is loaded.
    pub(crate) unload: Option<CommandLine>,
    pub(crate) start: Vec<CommandLine>,
    pub(crate) stop: Vec<CommandLine>,
    /// Shows the state of the service.
    pub(crate) status: CommandLine,
    /// Shows the log; `None` when the daemon writes its own log file.
    pub(crate) logs: Option<CommandLine>,
}

/// Returns the service manager of macOS or Windows, or systemd if it runs, otherwise `None`.
pub(crate) fn manager(paths: &InstallPaths) -> Option<Manager> {
    if cfg!(target_os = "macos") {
        Some(launchd::manager(paths))
    } else if cfg!(windows) {
        Some(windows::manager(paths))
    } else {
        // The documentation of systemd recommends this test.
        Path::new("/run/systemd/system").is_dir().then(|| systemd::manager(paths))
    }
}

fn command(words: &[&str]) -> CommandLine {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_set_variables_of_the_agents_folders_are_passed_to_the_service() {
        let found = folder_variables(|name| match name {
            "CODEX_HOME" => Some("/data/codex".to_owned()),
            "QWEN_HOME" => Some(String::new()),
            "COPILOT_HOME" => Some("/data\nExecStart=/bin/false".to_owned()),
            _ => None,
        });
        let expected = ServiceVariable { name: "CODEX_HOME", value: "/data/codex".to_owned() };
        assert_eq!(found, [expected]);
    }
}
