//! The files and commands for launchd, on macOS.

use crate::service::{InstallPaths, Manager, ServiceVariable, UnitFile, command};

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
        unload: Some(bootout.clone()),
        start: vec![bootstrap],
        stop: vec![bootout],
        status: command(&["launchctl", "print", &service]),
        logs: None,
    }
}

fn agent(paths: &InstallPaths) -> String {
    let daemon = escaped(&paths.daemon.to_string_lossy());
    let text = AGENT.replace(DAEMON, &format!("<string>{daemon}</string>"));
    let entry = |variable: &ServiceVariable| {
        let (name, value) = (variable.name, escaped(&variable.value));
        format!("        <key>{name}</key>\n        <string>{value}</string>\n")
    };
    let entries: String = paths.environment().iter().map(entry).collect();
    if entries.is_empty() {
        return text;
    }
    let variables =
        format!("    <key>EnvironmentVariables</key>\n    <dict>\n{entries}    </dict>\n");
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
        let mut paths = InstallPaths {
            user_home: "/Users/u".into(),
            config_home: None,
            daemon: "/Users/u/a&b/graphitid".into(),
            home: "/Users/u/data/graphiti".into(),
            user: Some("502".to_owned()),
            variables: Vec::new(),
        };
        let moved = manager(&paths);
        let text = &moved.files[0].text;
        assert!(text.contains("<string>/Users/u/a&amp;b/graphitid</string>"), "{text}");
        assert!(
            text.contains("<string>/Users/u/data/graphiti</string>\n    </dict>\n</dict>"),
            "{text}"
        );
        assert_eq!(moved.stop, [["launchctl", "bootout", "gui/502/org.graphiti.graphitid"]]);

        assert_eq!(moved.unload.as_ref(), moved.stop.first());

        paths.variables = vec![ServiceVariable { name: "CODEX_HOME", value: "/a<b".to_owned() }];
        let text = manager(&paths).files.remove(0).text;
        let expected = "<string>/Users/u/data/graphiti</string>\n        <key>CODEX_HOME</key>\n        \
                        <string>/a&lt;b</string>\n    </dict>\n</dict>";
        assert!(text.contains(expected), "{text}");
        paths.home = "/Users/u/.graphiti".into();
        paths.variables.clear();
        assert!(!manager(&paths).files[0].text.contains("EnvironmentVariables"));
    }
}
