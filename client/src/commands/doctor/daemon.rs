//! Examines the daemon (whether it answers, its version and its configuration), and who has access
//! to its home and its socket.

use std::time::Duration;

use graphiti_proto::PROTOCOL;

use super::{
    Finding,
    observations::{Access, DaemonProbe, Observations},
};
use crate::{connection::update_hint, screen::span, start::LOG};

/// Maximum length, in bytes, of a socket's path on this system.
const MAX_SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn examine(seen: &Observations) -> Vec<Finding> {
    let findings = [Some(running(seen)), version(seen), configuration(seen)];
    let places = [Some(home(seen)), socket(seen)];
    findings.into_iter().chain(places).flatten().collect()
}

fn running(seen: &Observations) -> Finding {
    const ABOUT: &str = "daemon";
    match &seen.daemon {
        DaemonProbe::Answers(answers) => {
            let up = span(Duration::from_secs(answers.health.uptime_seconds));
            Finding::ok(ABOUT, format!("it answers (pid {}, up {up})", answers.welcome.pid))
        }
        DaemonProbe::OtherProtocol(welcome) => {
            Finding::ok(ABOUT, format!("it answers (pid {})", welcome.pid))
        }
        DaemonProbe::Down if seen.program.is_none() => Finding::bad(
            ABOUT,
            "graphitid is neither in the folder of this program nor on PATH",
            "install graphitid (see README), or put its folder on PATH",
        ),
        DaemonProbe::Down => {
            let waiting = match seen.spooled {
                0 => String::new(),
                count => format!("; hook events that wait for the daemon: {count}"),
            };
            Finding::bad(
                ABOUT,
                format!("it is not running{waiting}"),
                "graphiti up; to start it at each login: graphiti service install",
            )
        }
        DaemonProbe::Silent(pid) => {
            let pid = pid.map_or(String::new(), |pid| format!(" (pid {pid})"));
            Finding::bad(
                ABOUT,
                format!("it accepts connections, but does not answer{pid}"),
                format!("graphiti stop --force, then graphiti up; {}", log_hint(seen)),
            )
        }
        DaemonProbe::Failing(why) => Finding::bad(
            ABOUT,
            format!("a request to it failed: {why}"),
            format!("graphiti stop, then graphiti up; {}", log_hint(seen)),
        ),
    }
}

fn log_hint(seen: &Observations) -> String {
    format!("see the end of its log ({}, or graphiti service logs)", seen.home.join(LOG).display())
}

fn version(seen: &Observations) -> Option<Finding> {
    const ABOUT: &str = "version";
    let welcome = match &seen.daemon {
        DaemonProbe::Answers(answers) => &answers.welcome,
        DaemonProbe::OtherProtocol(welcome) => welcome,
        DaemonProbe::Down | DaemonProbe::Silent(_) | DaemonProbe::Failing(_) => return None,
    };
    let daemon_version = &welcome.version;
    Some(if welcome.protocol != PROTOCOL {
        let what = format!(
            "graphitid {daemon_version} uses protocol {}, graphiti {VERSION} uses {PROTOCOL}",
            welcome.protocol
        );
        Finding::bad(ABOUT, what, update_hint(welcome.protocol))
    } else if daemon_version == VERSION {
        Finding::ok(ABOUT, format!("both programs are {VERSION}"))
    } else {
        Finding::warn(
            ABOUT,
            format!(
                "graphitid is {daemon_version}, graphiti is {VERSION}; both use the same protocol"
            ),
            "after an update: graphiti stop, then graphiti up",
        )
    })
}

fn configuration(seen: &Observations) -> Option<Finding> {
    const ABOUT: &str = "configuration";
    const REMEDY: &str = "graphitid config check shows details; then graphiti reload";
    seen.program.as_ref()?;
    Some(match (&seen.misconfigured, &seen.config_notice) {
        (None, None) => Finding::ok(ABOUT, "no problem was found"),
        (None, Some(notice)) => Finding::warn(ABOUT, notice, REMEDY),
        (Some(why), _) => Finding::bad(ABOUT, why, REMEDY),
    })
}

fn home(seen: &Observations) -> Finding {
    const ABOUT: &str = "home";
    let path = seen.home.display();
    if let Some(why) = &seen.unwritable {
        return Finding::bad(
            ABOUT,
            format!("graphitid cannot write to {why}"),
            "give yourself write access, or set GRAPHITI_HOME to a folder that can be written to",
        );
    }
    match seen.home_access {
        Access::Absent => Finding::ok(ABOUT, format!("{path} does not exist yet")),
        Access::Unknown => Finding::ok(ABOUT, path.to_string()),
        access @ Access::Mode(mode) if access.is_private() => {
            Finding::ok(ABOUT, format!("only you have access to {path} ({mode:04o})"))
        }
        Access::Mode(mode) => Finding::bad(
            ABOUT,
            format!("{path} is open to others ({mode:04o})"),
            format!("chmod 700 {path}"),
        ),
    }
}

fn socket(seen: &Observations) -> Option<Finding> {
    const ABOUT: &str = "socket";
    let socket = &seen.socket;
    let path = &socket.path;
    let place = if *path == socket.usual { "" } else { ", as configured" };
    Some(match socket.access {
        Access::Absent | Access::Mode(_) if path.len() > MAX_SOCKET_PATH_BYTES && cfg!(unix) => {
            Finding::bad(
                ABOUT,
                format!(
                    "its path has {} bytes; this system allows only {MAX_SOCKET_PATH_BYTES}",
                    path.len()
                ),
                "set hooks.socket_path, or GRAPHITI_HOME to a folder with a shorter path",
            )
        }
        Access::Absent => return None,
        Access::Unknown => Finding::ok(ABOUT, format!("{path}{place}")),
        Access::Mode(_) if !socket.is_socket => {
            Finding::bad(ABOUT, format!("{path} is not a socket"), format!("move {path} away"))
        }
        access @ Access::Mode(mode) if access.is_private() => {
            Finding::ok(ABOUT, format!("only you have access to {path} ({mode:04o}){place}"))
        }
        // On macOS, the daemon cannot set the mode of its socket, but a private folder prevents
        // access to the socket.
        Access::Mode(mode) if is_in_private_home(seen) => {
            Finding::ok(ABOUT, format!("{path} ({mode:04o}) is protected by its folder"))
        }
        Access::Mode(mode) => Finding::bad(
            ABOUT,
            format!("{path} is open to others ({mode:04o})"),
            format!("chmod 600 {path}"),
        ),
    })
}

fn is_in_private_home(seen: &Observations) -> bool {
    let inside = std::path::Path::new(&seen.socket.path).starts_with(&seen.home);
    inside && seen.home_access.is_private()
}
