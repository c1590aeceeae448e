//! The files and commands for launchd, on macOS.

use crate::service::{InstallPaths, Manager, UnitFile, command};

const AGENT: &str = include_str!("../../../launchd/org.graphiti.graphitid.plist");
const LABEL: &str = "org.graphiti.graphitid";
/// The part of the property list that is replaced by the path on this machine.
const DAEMON: &str = "<string>/usr/local/bin/graphitid</string>";
const END: &str = "</dict>\n</plist>";

pub(super) fn manager(paths: &InstallPaths) -> Manager {
    let path = paths.user_home.join(format!("Library/LaunchAgents/{LABEL}.plist"));
    let user = format!("gui/{}", paths.user.as_deref().unwrap_or("501"));
    let service = format!("{user}/{LABEL}");
    let file = path.to_string_lossy().into_owned();
    let bootstrap = command(&["launchctl", "bootstrap", &user, &file]);
    let bootout = command(&["launchctl", "bootout", &service]);
    Manager {
        name: "launchd",
        files: vec![UnitFile { path, text: agent(paths) }],
        install: vec![bootstrap.clone()],
        uninstall: vec![bootout.clone()],
        after_removal: Vec::new(),
        start: vec![bootstrap],
        stop: vec![bootout],
        status: command(&["launchctl", "print", &service]),
        logs: None,
    }
}

fn agent(paths: &InstallPaths) -> String {
    let daemon = escaped(&paths.daemon.to_string_lossy());
    let text = AGENT.replace(DAEMON, &format!("<string>{daemon}</string>"));
    if paths.home == paths.user_home.join(".graphiti") {
        return text;
    }
    let home = escaped(&paths.home.to_string_lossy());
    let variables = format!(
        "    <key>EnvironmentVariables</key>\n    <dict>\n        <key>GRAPHITI_HOME</key>\n        \
         <string>{home}</string>\n    </dict>\n"
    );
    text.replace(END, &format!("{variables}{END}"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paths_of_this_machine_are_filled_in() {
        let paths = InstallPaths {
            user_home: "/Users/u".into(),
            config_home: None,
            daemon: "/Users/u/a&b/graphitid".into(),
            home: "/Users/u/elsewhere".into(),
            user: Some("502".to_owned()),
        };
        let manager = manager(&paths);
        let text = &manager.files[0].text;
        assert!(text.contains("<string>/Users/u/a&amp;b/graphitid</string>"), "{text}");
        assert!(
            text.contains("<string>/Users/u/elsewhere</string>\n    </dict>\n</dict>"),
            "{text}"
        );
        assert_eq!(manager.stop, [["launchctl", "bootout", "gui/502/org.graphiti.graphitid"]]);
    }
}
