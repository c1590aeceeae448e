//! Runs the daemon as a user service of the system's service manager.
//!
//! Each manager is a list of files to install and of commands to run ([`Manager`]). The files come
//! from `systemd/` and `launchd/`, with the paths of this machine filled in. The task scheduler of
//! Windows needs no files.

mod launchd;
mod systemd;
mod windows;

use std::path::{Path, PathBuf};

/// The values that replace the placeholders in the service files.
pub(crate) struct InstallPaths {
    pub(crate) user_home: PathBuf,
    /// The user's configuration folder (`XDG_CONFIG_HOME`), when it is set.
    pub(crate) config_home: Option<PathBuf>,
    pub(crate) daemon: PathBuf,
    pub(crate) home: PathBuf,
    /// The user id, if the system has user ids.
    pub(crate) user: Option<String>,
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
