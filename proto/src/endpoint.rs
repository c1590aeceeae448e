//! The address of the daemon of a home folder.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// The exit code of a daemon whose home is in use by another daemon (`EX_TEMPFAIL` of sysexits.h).
pub const EXIT_HOME_IN_USE: u8 = 75;

/// Returns graphiti's home folder: `GRAPHITI_HOME`, or `~/.graphiti`. `None` if `GRAPHITI_HOME` is
/// not set and the user's home folder is unknown.
///
/// The path is absolute, because it is passed to programs with other working directories.
pub fn home() -> Option<PathBuf> {
    let set = env::var_os("GRAPHITI_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let home = set.or_else(default_home)?;
    Some(std::path::absolute(&home).unwrap_or(home))
}

fn default_home() -> Option<PathBuf> {
    env::home_dir().map(|home| home.join(".graphiti"))
}

/// The content of `<home>/graphitid.json`, which a daemon writes when it starts to listen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// The process id of the daemon.
    pub pid: u32,
    /// The version of the daemon.
    pub version: String,
    /// The version of the daemon's protocol.
    pub protocol: u32,
    /// The path of the daemon's socket, or the name of its pipe.
    pub socket: String,
}

/// Returns the path of the file with [`Runtime`].
pub fn runtime_file(home: &Path) -> PathBuf {
    home.join("graphitid.json")
}

/// Reads the [`Runtime`] that the daemon of `home` wrote last; `None` if the file does not exist or
/// cannot be parsed. A daemon removes its file when it stops, but not when it is killed.
pub fn runtime(home: &Path) -> Option<Runtime> {
    serde_json::from_str(&fs::read_to_string(runtime_file(home)).ok()?).ok()
}

/// Returns the address of the daemon of `home`: the address in [`Runtime`], or the default address.
pub fn socket(home: &Path) -> String {
    runtime(home).map_or_else(|| default_socket(home), |runtime| runtime.socket)
}

/// Returns the default address of the daemon of `home`.
#[cfg(not(windows))]
pub fn default_socket(home: &Path) -> String {
    home.join("mcp.sock").to_string_lossy().into_owned()
}

/// Returns the default address of the daemon of `home`: the name of a pipe. The name contains the
/// path of `home`, unless `home` is the default home folder.
#[cfg(windows)]
pub fn default_socket(home: &Path) -> String {
    const PIPE: &str = r"\\.\pipe\graphiti_mcp_hook";
    if default_home().is_some_and(|default| default == home) {
        return PIPE.to_owned();
    }
    let name: String =
        home.to_string_lossy().chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    format!("{PIPE}_{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(windows))]
    fn the_socket_is_the_one_in_the_runtime_file_or_the_default() {
        let home = env::temp_dir().join(format!("graphiti-endpoint-{}", std::process::id()));
        fs::create_dir_all(&home).unwrap();
        assert_eq!(socket(&home), home.join("mcp.sock").to_string_lossy());
        let runtime = Runtime {
            pid: 7,
            version: "0.1.0".to_owned(),
            protocol: 1,
            socket: "/elsewhere".to_owned(),
        };
        fs::write(runtime_file(&home), serde_json::to_string(&runtime).unwrap()).unwrap();
        assert_eq!(socket(&home), "/elsewhere");
        fs::write(runtime_file(&home), "{\"pid\":").unwrap();
        assert_eq!(socket(&home), home.join("mcp.sock").to_string_lossy());
        fs::remove_dir_all(&home).unwrap();
    }
}
