//! `graphiti stop`: asks the daemon to stop. With `--force`, it kills a daemon that does not stop.

use graphiti_proto::{endpoint, methods};
use serde_json::{Value, json};

use crate::{
    cli,
    connection::{AskError, Connection},
    plugin,
    screen::Screen,
    setup::{self, Surroundings, Wiring},
    start,
};

/// A note: the daemon does not stay stopped.
const RESTARTED: &str = "An agent's next session or use of a tool starts it again; `graphiti setup --remove` prevents that.";

pub(super) fn run(stop: &cli::Stop, screen: &Screen) -> Result<(), AskError> {
    let home = endpoint::home().ok_or(AskError::NoHome)?;
    match ask() {
        Ok(()) if start::wait_until_stopped(&home) => {
            screen.print("graphitid has stopped.");
            if is_set_up() {
                screen.print(screen.dim(RESTARTED));
            }
            return Ok(());
        }
        Err(error) if !stop.force => return Err(without_start(error)),
        Ok(()) if !stop.force => {
            let what = "graphitid is stopping, but has not ended yet; `graphiti stop --force` ends it at once";
            return Err(AskError::Failed(what.to_owned()));
        }
        // The daemon runs if a process holds the lock of the home directory, even if the request
        // failed.
        requested => match start::kill(&home) {
            Ok(true) => {}
            Ok(false) => {
                requested.map_err(|error| without_daemon(error, &endpoint::socket(&home)))?;
                screen.print("graphitid has stopped.");
                return Ok(());
            }
            Err(error) => {
                return Err(AskError::Failed(format!("cannot kill graphitid: {error}")));
            }
        },
    }
    screen.print("graphitid was killed. No stored data was lost.");
    Ok(())
}

/// Returns the error to report if a request failed and no daemon owns the home. A process that
/// accepts the connection but does not answer is then another program, which `--force` does not
/// kill.
fn without_daemon(error: AskError, socket: &str) -> AskError {
    match error {
        AskError::NoAnswer(_) => AskError::Failed(format!(
            "no graphitid runs, but another program listens at {socket} and does not answer: end this program, or set `session_tracking.hooks.socket_path` to another address"
        )),
        error => without_start(error),
    }
}

/// Removes the hint to start the daemon from the error that no daemon runs.
fn without_start(error: AskError) -> AskError {
    match error {
        AskError::NotRunning { home, socket } => AskError::Failed(format!(
            "graphitid is not running for {}: nothing answers at {socket}",
            home.display()
        )),
        error => error,
    }
}

/// Whether an agent of this user may start the daemon again.
fn is_set_up() -> bool {
    Surroundings::of_user().is_ok_and(|surroundings| {
        setup::installed(&surroundings).any(|agent| {
            let is_plugin =
                agent.name == plugin::AGENT && plugin::is_enabled(&(agent.folder)(&surroundings));
            is_plugin || setup::wiring(agent, &surroundings) != Wiring::Missing
        })
    })
}

/// Stops the daemon, and waits for its end, without output.
pub(super) fn quietly() -> Result<(), AskError> {
    let home = endpoint::home().ok_or(AskError::NoHome)?;
    ask()?;
    if start::wait_until_stopped(&home) {
        return Ok(());
    }
    let what = "graphitid is stopping, but has not ended yet; try again when it has ended";
    Err(AskError::Failed(what.to_owned()))
}

/// Asks the daemon to stop. The protocol version is not checked, because after an update the old
/// daemon has to be stopped.
fn ask() -> Result<(), AskError> {
    match Connection::open_quickly()?.ask::<Value>(methods::STOP, &json!({})) {
        // The daemon may exit before it sends its answer.
        Ok(_) | Err(AskError::InvalidAnswer(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_at_the_socket_is_not_to_be_stopped_by_force() {
        let error = without_daemon(AskError::NoAnswer(None), "/h/mcp.sock").to_string();
        assert!(error.contains("another program listens at /h/mcp.sock"), "{error}");
        assert!(!error.contains("--force"), "{error}");
        let down = AskError::NotRunning { home: "/app".into(), socket: "/app/mcp.sock".to_owned() };
        let error = without_daemon(down, "/app/mcp.sock").to_string();
        assert_eq!(error, "graphitid is not running for /app: nothing answers at /app/mcp.sock");
        let kept = without_daemon(AskError::NoHome, "/h/mcp.sock");
        assert!(matches!(kept, AskError::NoHome));
    }
}
