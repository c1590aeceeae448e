//! The files and commands for the user instance of systemd.

use std::path::PathBuf;

use crate::service::{InstallPaths, Manager, ServiceVariable, UnitFile, command};

const SERVICE: &str = include_str!("../../../systemd/graphitid.service");
const SOCKET: &str = include_str!("../../../systemd/graphitid.socket");
/// The line in `graphitid.service` that is replaced by a line with the path on this machine.
const EXEC_START_LINE: &str = "ExecStart=/usr/bin/graphitid\n";
const LISTEN_STREAM_LINE: &str = "ListenStream=%h/.graphiti/mcp.sock\n";

pub(super) fn manager(paths: &InstallPaths) -> Manager {
    let units = folder(paths);
    let systemctl = |words: &[&str]| command(&[&["systemctl", "--user"], words].concat());
    let both = ["graphitid.socket", "graphitid.service"];
    let with = |verbs: &[&str]| vec![systemctl(&[verbs, &both].concat())];
    let reload = systemctl(&["daemon-reload"]);
    Manager {
        name: "systemd",
        files: vec![
            UnitFile { path: units.join("graphitid.service"), text: service(paths) },
            UnitFile { path: units.join("graphitid.socket"), text: socket(paths) },
        ],
        install: [vec![reload.clone()], with(&["enable", "--now"])].concat(),
        uninstall: with(&["disable", "--now"]),
        after_removal: vec![reload],
        unload: None,
        start: with(&["start"]),
        stop: with(&["stop"]),
        status: systemctl(&["status", "--no-pager", "graphitid.service"]),
        logs: Some(command(&[
            "journalctl",
            "--user",
            "-u",
            "graphitid",
            "-n",
            "200",
            "--no-pager",
        ])),
    }
}

fn folder(paths: &InstallPaths) -> PathBuf {
    let config = paths.config_home.clone().unwrap_or_else(|| paths.user_home.join(".config"));
    config.join("systemd/user")
}

fn service(paths: &InstallPaths) -> String {
    let daemon = escaped(&paths.daemon.to_string_lossy());
    let mut line = format!("ExecStart={daemon}\n");
    for ServiceVariable { name, value } in paths.environment() {
        line.push_str(&format!("Environment={}\n", escaped(&format!("{name}={value}"))));
    }
    SERVICE.replace(EXEC_START_LINE, &line)
}

fn socket(paths: &InstallPaths) -> String {
    if paths.is_default_home() {
        return SOCKET.to_owned();
    }
    let socket = paths.home.join("mcp.sock").to_string_lossy().replace('%', "%%");
    SOCKET.replace(LISTEN_STREAM_LINE, &format!("ListenStream={socket}\n"))
}

/// Escapes the program of `ExecStart=` or a variable of `Environment=`. `$` is not escaped, because
/// systemd expands it only in the arguments of the program.
fn escaped(text: &str) -> String {
    let text = text.replace('%', "%%").replace('\\', "\\\\").replace('"', "\\\"");
    if text.contains(|c: char| c.is_whitespace() || "\\'".contains(c)) {
        format!("\"{text}\"")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paths_of_this_machine_are_filled_in() {
        let mut paths = InstallPaths {
            user_home: "/home/u".into(),
            config_home: None,
            daemon: "/home/u/my tools/100%/graphitid".into(),
            home: "/home/u/.graphiti".into(),
            user: None,
            variables: Vec::new(),
        };
        let usual = manager(&paths);
        assert_eq!(
            usual.files[0].path,
            PathBuf::from("/home/u/.config/systemd/user/graphitid.service")
        );
        let text = &usual.files[0].text;
        assert!(text.contains("\nExecStart=\"/home/u/my tools/100%%/graphitid\"\n"), "{text}");
        assert!(!text.contains("GRAPHITI_HOME"));
        assert_eq!(usual.files[1].text, SOCKET);

        paths.home = "/data/g".into();
        let moved = manager(&paths);
        assert!(moved.files[0].text.contains("\nEnvironment=GRAPHITI_HOME=/data/g\n"));
        assert!(moved.files[1].text.contains("\nListenStream=/data/g/mcp.sock\n"));

        paths.daemon = "/data/$a/graphitid".into();
        paths.home = "/data/$a/g".into();
        let text = manager(&paths).files.remove(0).text;
        assert!(text.contains("\nExecStart=/data/$a/graphitid\n"), "{text}");
        assert!(text.contains("\nEnvironment=GRAPHITI_HOME=/data/$a/g\n"), "{text}");

        let codex = "/data/ada's codex".to_owned();
        paths.variables = vec![ServiceVariable { name: "CODEX_HOME", value: codex }];
        let text = manager(&paths).files.remove(0).text;
        let expected = "\nEnvironment=GRAPHITI_HOME=/data/$a/g\n\
                        Environment=\"CODEX_HOME=/data/ada's codex\"\n";
        assert!(text.contains(expected), "{text}");
    }
}
