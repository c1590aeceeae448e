//! The commands for the task scheduler of Windows, which starts the daemon at logon.

use crate::service::{InstallPaths, Manager, command};

const TASK: &str = "graphitid";

pub(super) fn manager(paths: &InstallPaths) -> Manager {
    let daemon = format!("\"{}\" --home \"{}\"", paths.daemon.display(), paths.home.display());
    let create = [
        "schtasks", "/Create", "/F", "/TN", TASK, "/SC", "ONLOGON", "/RL", "LIMITED", "/TR",
        &daemon,
    ];
    let start = command(&["schtasks", "/Run", "/TN", TASK]);
    let stop = command(&["schtasks", "/End", "/TN", TASK]);
    Manager {
        name: "the task scheduler",
        files: Vec::new(),
        install: vec![command(&create), start.clone()],
        uninstall: vec![stop.clone(), command(&["schtasks", "/Delete", "/F", "/TN", TASK])],
        after_removal: Vec::new(),
        unload: None,
        start: vec![start],
        stop: vec![stop],
        status: command(&["schtasks", "/Query", "/V", "/FO", "LIST", "/TN", TASK]),
        logs: None,
    }
}
