//! The daemon as a service of the user, in the hands of the system's service manager.
//!
//! Each manager is a list of files to put in place and of commands to run ([`Manager`]); the files
//! are those in `systemd/` and `launchd/`, with the paths of this machine filled in.

mod launchd;
mod systemd;
mod windows;

use std::path::{Path, PathBuf};

/// What is filled in.
pub(crate) struct InstallPaths {
    /// The user's home folder.
    pub(crate) user_home: PathBuf,
    /// Where the user's configuration lies (`XDG_CONFIG_HOME`), when that is set.
    pub(crate) config_home: Option<PathBuf>,
    pub(crate) daemon: PathBuf,
    pub(crate) home: PathBuf,
    /// The user's number, where users have one.
    pub(crate) user: Option<String>,
}

/// A file of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnitFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A program with its arguments.
pub(crate) type CommandLine = Vec<String>;

/// What a service manager is told.
pub(crate) struct Manager {
    pub(crate) name: &'static str,
    /// The files of the service.
    pub(crate) files: Vec<UnitFile>,
    /// After the files are in place.
    pub(crate) install: Vec<CommandLine>,
    /// Before the files are removed.
    pub(crate) uninstall: Vec<CommandLine>,
    /// After the files are removed.
    pub(crate) removed: Vec<CommandLine>,
    pub(crate) start: Vec<CommandLine>,
    pub(crate) stop: Vec<CommandLine>,
    /// Shows how it is.
    pub(crate) status: CommandLine,
    /// Shows its log; `None` when that is the daemon's own file.
    pub(crate) logs: Option<CommandLine>,
}

/// The service manager of this system; `None` where there is none.
pub(crate) fn manager(place: &InstallPaths) -> Option<Manager> {
    if cfg!(target_os = "macos") {
        Some(launchd::manager(place))
    } else if cfg!(windows) {
        Some(windows::manager(place))
    } else {
        // What systemd itself asks: whether it runs this system.
        Path::new("/run/systemd/system").is_dir().then(|| systemd::manager(place))
    }
}

fn command(words: &[&str]) -> CommandLine {
    words.iter().map(|word| (*word).to_owned()).collect()
}
