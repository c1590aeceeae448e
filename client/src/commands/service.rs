//! `graphiti service`: manages the daemon as a service of the system.

use std::{
    env, fs, io,
    process::{Command, ExitStatus, Stdio},
};

use graphiti_proto::endpoint;

use crate::{
    cli::ServiceAction,
    commands::stop,
    connection::AskError,
    error::StartError,
    program::lasting_program,
    screen::{Screen, block},
    service::{self, CommandLine, InstallPaths, Manager, ServiceVariable},
    start,
};

/// Maximum number of log lines that are shown.
const LINES: usize = 200;

pub(super) fn run(action: ServiceAction, screen: &Screen) -> Result<(), AskError> {
    let paths = install_paths()?;
    let Some(manager) = service::manager(&paths) else {
        let what = "this system has no service manager: start the daemon with `graphiti up`";
        return Err(AskError::Failed(what.to_owned()));
    };
    match action {
        ServiceAction::Install => {
            lasting_program()?;
            install(&manager, stop::quietly, screen)?;
            if !manager.files.is_empty() {
                screen.print(screen.dim(environment_note(&paths.environment())));
            }
            Ok(())
        }
        ServiceAction::Uninstall => uninstall(&manager, screen),
        ServiceAction::Start => {
            run_as_only_daemon(&manager.start, manager.unload.as_ref(), stop::quietly)
        }
        ServiceAction::Stop => run_all(&manager.stop),
        // The exit code of `status` is not 0 while the service is stopped; that is not an error.
        ServiceAction::Status => run_one(&manager.status).map(drop),
        ServiceAction::Logs => logs(&manager, &paths, screen),
    }
}

fn install_paths() -> Result<InstallPaths, AskError> {
    let set = |name: &str| env::var_os(name).filter(|set| !set.is_empty());
    Ok(InstallPaths {
        user_home: env::home_dir().ok_or(AskError::NoHome)?,
        config_home: set("XDG_CONFIG_HOME").map(Into::into),
        daemon: start::daemon().ok_or(StartError::NotFound)?,
        home: endpoint::home().ok_or(AskError::NoHome)?,
        user: user(),
        variables: service::folder_variables(|name| env::var(name).ok()),
    })
}

/// Returns the id of this user: the id of the owner of the home directory.
#[cfg(unix)]
fn user() -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(env::home_dir()?).ok().map(|home| home.uid().to_string())
}

#[cfg(not(unix))]
fn user() -> Option<String> {
    None
}

fn install(
    manager: &Manager,
    stop: impl FnOnce() -> Result<(), AskError>,
    screen: &Screen,
) -> Result<(), AskError> {
    for file in &manager.files {
        let write = || -> io::Result<()> {
            if let Some(folder) = file.path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&file.path, &file.text)
        };
        write().map_err(|error| AskError::NotWritten { path: file.path.clone(), error })?;
        screen.print(format!("Wrote {}", file.path.display()));
    }
    run_as_only_daemon(&manager.install, manager.unload.as_ref(), stop)?;
    screen.print(format!("graphitid is managed by {} from now on.", manager.name));
    Ok(())
}

/// Runs commands that start the service, after `stop` has stopped the running daemon. Otherwise the
/// service fails, because the home is in use, and systemd replaces the socket of the running daemon.
/// Also runs `unload` before these commands.
fn run_as_only_daemon(
    commands: &[CommandLine],
    unload: Option<&CommandLine>,
    stop: impl FnOnce() -> Result<(), AskError>,
) -> Result<(), AskError> {
    match stop() {
        Ok(()) | Err(AskError::NotRunning { .. }) => {}
        Err(error) => return Err(error),
    }
    if let Some(unload) = unload {
        // The command fails if no service is loaded. If it fails for another reason, the commands
        // below fail, too, and report it.
        let _ = program_of(unload).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
    run_all(commands)
}

/// Describes which variables of this shell the service gets.
fn environment_note(variables: &[ServiceVariable]) -> String {
    let names: Vec<&str> = variables.iter().map(|variable| variable.name).collect();
    let keys = "an API key must come from `api_key_file` or `api_key_command` in the settings.";
    match names.is_empty() {
        true => format!("The service gets no variables of this shell: {keys}"),
        false => format!("The service gets only {} of this shell: {keys}", names.join(", ")),
    }
}

fn uninstall(manager: &Manager, screen: &Screen) -> Result<(), AskError> {
    // Stopping fails if the service no longer exists. The files are removed even then.
    let stopped = run_all(&manager.uninstall);
    for file in &manager.files {
        match fs::remove_file(&file.path) {
            Ok(()) => screen.print(format!("Removed {}", file.path.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let what = format!("cannot remove {}: {error}", file.path.display());
                return Err(AskError::Failed(what));
            }
        }
    }
    run_all(&manager.after_removal)?;
    stopped
}

fn logs(manager: &Manager, paths: &InstallPaths, screen: &Screen) -> Result<(), AskError> {
    if let Some(command) = &manager.logs {
        return run_one(command).map(drop);
    }
    let file = paths.home.join(start::LOG);
    let text = fs::read_to_string(&file)
        .map_err(|error| AskError::Failed(format!("cannot read {}: {error}", file.display())))?;
    screen.print(end(&text));
    Ok(())
}

/// Returns the last lines of a log. The log may quote transcripts, so control characters are
/// replaced.
fn end(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    block(&lines[lines.len().saturating_sub(LINES)..].join("\n"))
}

fn run_all(commands: &[CommandLine]) -> Result<(), AskError> {
    for command in commands {
        let status = run_one(command)?;
        if !status.success() {
            return Err(AskError::Failed(format!("`{}` ended with {status}", command.join(" "))));
        }
    }
    Ok(())
}

fn run_one(command: &CommandLine) -> Result<ExitStatus, AskError> {
    let run = program_of(command).status();
    run.map_err(|error| AskError::Failed(format!("cannot run {}: {error}", command[0])))
}

fn program_of(command: &CommandLine) -> Command {
    let (program, arguments) = command.split_first().expect("a command line begins with a program");
    let mut run = Command::new(program);
    run.args(arguments);
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_running_daemon_is_stopped_before_the_service_starts() {
        let folder = tempfile::tempdir().unwrap();
        let stopped = folder.path().join("stopped");
        let is_stopped = ["test", "-e", &stopped.to_string_lossy()].map(str::to_owned).to_vec();
        let stop = || fs::write(&stopped, "").map_err(|error| AskError::Failed(error.to_string()));
        assert!(run_as_only_daemon(std::slice::from_ref(&is_stopped), None, || Ok(())).is_err());
        run_as_only_daemon(&[is_stopped], None, stop).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_loaded_service_is_unloaded_before_it_starts() {
        let folder = tempfile::tempdir().unwrap();
        let loaded = folder.path().join("loaded");
        let command =
            |name: &str| -> CommandLine { vec![name.to_owned(), loaded.to_string_lossy().into()] };
        // Fails if the folder exists.
        let load = [command("mkdir")];
        run_as_only_daemon(&load, Some(&command("rmdir")), || Ok(())).unwrap();
        assert!(run_as_only_daemon(&load, None, || Ok(())).is_err());
        run_as_only_daemon(&load, Some(&command("rmdir")), || Ok(())).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn the_service_starts_only_if_no_daemon_runs() {
        let commands = [vec!["true".to_owned()]];
        let down = || AskError::NotRunning { home: "/app".into(), socket: String::new() };
        run_as_only_daemon(&commands, None, || Err(down())).unwrap();
        let outcome = run_as_only_daemon(&commands, None, || Err(AskError::NoAnswer(None)));
        assert!(matches!(outcome, Err(AskError::NoAnswer(None))));
    }

    #[test]
    fn the_end_of_a_log_is_shown_without_control_characters() {
        let log = format!("{}\u{1b}[2J the\tlast \u{9b}31m\r\n", "before\n".repeat(LINES));
        let end = end(&log);
        assert_eq!(end.lines().count(), LINES);
        assert!(end.ends_with("before\n\u{fffd}[2J the last \u{fffd}31m"), "{end:?}");
    }
}
