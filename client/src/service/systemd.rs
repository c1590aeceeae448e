//! The files and commands for the user instance of systemd.

use std::path::PathBuf;

use crate::service::{InstallPaths, Manager, UnitFile, command};

const SERVICE: &str = include_str!("../../../systemd/graphitid.service");
const SOCKET: &str = include_str!("../../../systemd/graphitid.socket");
/// The placeholder for the path of the program.
const EXEC_START_LINE: &str = "ExecStart=/usr/bin/graphitid\n";
const LISTEN_STREAM_LINE: &str = "ListenStream=%h/.graphiti/mcp.sock\n";

pub(super) fn manager(place: &InstallPaths) -> Manager {
    let units = folder(place);
    let systemctl = |words: &[&str]| command(&[&["systemctl", "--user"], words].concat());
    let both = ["graphitid.socket", "graphitid.service"];
    let with = |verbs: &[&str]| vec![systemctl(&[verbs, &both].concat())];
    let reload = systemctl(&["daemon-reload"]);
    Manager {
        name: "systemd",
        files: vec![
            UnitFile { path: units.join("graphitid.service"), text: service(place) },
            UnitFile { path: units.join("graphitid.socket"), text: socket(place) },
        ],
        install: [vec![reload.clone()], with(&["enable", "--now"])].concat(),
        uninstall: with(&["disable", "--now"]),
        removed: vec![reload],
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

fn folder(place: &InstallPaths) -> PathBuf {
    let config = place.config_home.clone().unwrap_or_else(|| place.user_home.join(".config"));
    config.join("systemd/user")
}

fn service(place: &InstallPaths) -> String {
    let daemon = escaped(&place.daemon.to_string_lossy());
    let mut line = format!("ExecStart={daemon}\n");
    if !is_default_home(place) {
        let home = escaped(&format!("GRAPHITI_HOME={}", place.home.display()));
        line.push_str(&format!("Environment={home}\n"));
    }
    SERVICE.replace(EXEC_START_LINE, &line)
}

fn socket(place: &InstallPaths) -> String {
    if is_default_home(place) {
        return SOCKET.to_owned();
    }
    let socket = place.home.join("mcp.sock").to_string_lossy().replace('%', "%%");
    SOCKET.replace(LISTEN_STREAM_LINE, &format!("ListenStream={socket}\n"))
}

fn is_default_home(place: &InstallPaths) -> bool {
    place.home == place.user_home.join(".graphiti")
}

/// Escapes the program of `ExecStart=` or a variable of `Environment=`. systemd does not expand `$`
/// in them, but it would in arguments of the program.
fn escaped(text: &str) -> String {
    let text = text.replace('%', "%%").replace('\\', "\\\\").replace('"', "\\\"");
    if text.contains(char::is_whitespace) || text.contains('\\') {
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
        let mut place = InstallPaths {
            user_home: "/home/u".into(),
            config_home: None,
            daemon: "/home/u/my tools/100%/graphitid".into(),
            home: "/home/u/.graphiti".into(),
            user: None,
        };
        let usual = manager(&place);
        assert_eq!(
            usual.files[0].path,
            PathBuf::from("/home/u/.config/systemd/user/graphitid.service")
        );
        let text = &usual.files[0].text;
        assert!(text.contains("\nExecStart=\"/home/u/my tools/100%%/graphitid\"\n"), "{text}");
        assert!(!text.contains("GRAPHITI_HOME"));
        assert_eq!(usual.files[1].text, SOCKET);

        place.home = "/data/g".into();
        let moved = manager(&place);
        assert!(moved.files[0].text.contains("\nEnvironment=GRAPHITI_HOME=/data/g\n"));
        assert!(moved.files[1].text.contains("\nListenStream=/data/g/mcp.sock\n"));

        place.daemon = "/data/$a/graphitid".into();
        place.home = "/data/$a/g".into();
        let text = manager(&place).files.remove(0).text;
        assert!(text.contains("\nExecStart=/data/$a/graphitid\n"), "{text}");
        assert!(text.contains("\nEnvironment=GRAPHITI_HOME=/data/$a/g\n"), "{text}");
    }
}
