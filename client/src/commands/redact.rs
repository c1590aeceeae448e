//! `graphiti redact --again`: applies the current redaction rules to stored or exported text.

use std::{
    io::{self, Write},
    process::Command,
};

use graphiti_proto::endpoint;

use crate::{cli, connection::AskError, error::StartError, screen::Screen, start};

/// Runs `graphitid redact`. For the database, a running daemon is stopped first, because an open
/// database cannot be rewritten, and is started again afterwards.
pub(super) fn run(redact: &cli::Redact, screen: &Screen) -> Result<(), AskError> {
    let home = endpoint::home().ok_or(AskError::NoHome)?;
    let program = start::daemon().ok_or(StartError::NotFound)?;
    let mut command = Command::new(&program);
    command.arg("redact").env("GRAPHITI_HOME", &home);
    command.args(redact.run.then_some("--run")).args(redact.output.json.then_some("--json"));
    command.arg("--").args(&redact.exports);
    let pauses = redact.exports.is_empty() && start::is_running()?;
    if pauses {
        // The message goes to standard error and is not essential, so a failure to write it is
        // ignored.
        let _ = writeln!(
            io::stderr(),
            "graphitid is stopped during the redaction. It is started again afterwards, and then reads what agents wrote in the meantime."
        );
        super::stop::quietly()?;
    }
    let ended = command
        .status()
        .map_err(|error| AskError::Failed(format!("cannot start {}: {error}", program.display())));
    if pauses {
        start::start(&home)?;
    }
    match ended? {
        status if status.success() => {}
        status => return Err(AskError::Failed(format!("graphitid redact ended with {status}"))),
    }
    if !redact.output.json {
        print_next_step(redact, screen);
    }
    Ok(())
}

fn print_next_step(redact: &cli::Redact, screen: &Screen) {
    match (redact.run, redact.exports.is_empty()) {
        (false, _) => {}
        (true, true) => {
            screen.print("To redact earlier exports: graphiti redact --again FILE|FOLDER...");
        }
        (true, false) => screen.print("Copies of these files in other places are not changed."),
    }
}
