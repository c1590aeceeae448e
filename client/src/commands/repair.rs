//! `graphiti repair`: recovers the readable records of damaged databases.

use std::process::Command;

use graphiti_proto::endpoint;

use crate::{cli::Repair, connection::AskError, error::StartError, screen::Screen, start};

/// Runs `graphitid repair`. A running daemon is stopped first, because an open database cannot be
/// repaired, and is started again afterwards.
pub(super) fn run(repair: &Repair, screen: &Screen) -> Result<(), AskError> {
    let home = endpoint::home().ok_or(AskError::NoHome)?;
    if let Some(database) = &repair.database
        && !database.exists()
    {
        return Err(AskError::file(
            database,
            &"it does not exist, so nothing can be recovered from it",
        ));
    }
    let program = start::daemon().ok_or(StartError::NotFound)?;
    let was_running = start::is_running()?;
    if was_running {
        super::stop::quietly()?;
    }
    let mut command = Command::new(&program);
    command.arg("repair").args(&repair.database).env("GRAPHITI_HOME", &home);
    let ended = command
        .status()
        .map_err(|error| AskError::Failed(format!("cannot start {}: {error}", program.display())));
    if was_running {
        start::start(&home)?;
        screen.print("graphitid is running again.");
    }
    match ended? {
        status if status.success() => Ok(()),
        status => Err(AskError::Failed(format!("graphitid repair ended with {status}"))),
    }
}
