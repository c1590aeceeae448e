//! The commands, a file each.

mod close;
mod list;
mod search;
mod shell;
mod show;
mod status;
mod unindexed;

use std::path::Path;

use graphiti_proto::methods::{self, Reloaded};
use serde_json::{Value, json};

use crate::{
    cli::{Cli, Command, Project},
    connection::{AskError, Connection},
    screen::{Screen, line},
};

/// Does what the command line says.
pub(crate) fn run(cli: Cli, screen: &Screen) -> Result<(), AskError> {
    match cli.command {
        Command::Status(status) => status::run(&status, screen),
        Command::List(list) => list::run(list, screen),
        Command::Show(show) => show::run(show, screen),
        Command::Search(search) => search::run(search, screen),
        Command::Close(close) => close::run(close, screen),
        Command::Unindexed(unindexed) => unindexed::run(unindexed, screen),
        Command::Reload => reload(screen),
        Command::Stop => stop(screen),
        Command::Completions(completions) => {
            shell::completions(completions.shell);
            Ok(())
        }
        Command::Man => {
            shell::manual();
            Ok(())
        }
    }
}

fn reload(screen: &Screen) -> Result<(), AskError> {
    let reloaded: Reloaded = Connection::open()?.ask(methods::RELOAD, &json!({}))?;
    for problem in &reloaded.problems {
        screen.print(screen.bad(line(problem)));
    }
    for change in &reloaded.changes {
        screen.print(line(change));
    }
    if !reloaded.problems.is_empty() {
        screen.print("The old settings stay in force.");
    } else if reloaded.changes.is_empty() {
        screen.print("Nothing changed.");
    }
    Ok(())
}

fn stop(screen: &Screen) -> Result<(), AskError> {
    let _: Value = Connection::open()?.ask(methods::STOP, &json!({}))?;
    screen.print("graphitid is stopping.");
    Ok(())
}

/// The project as the daemon wants it: a namespace as it is, a directory by its whole path.
fn project(project: Project) -> Option<String> {
    let given = project.project?;
    let is_namespace = given.len() == 8 && given.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_namespace && !Path::new(&given).exists() {
        return Some(given);
    }
    let path = std::path::absolute(&given).unwrap_or_else(|_| given.clone().into());
    // `..` is resolved where the directory is there; one that is gone may still have sessions.
    let path = path.canonicalize().unwrap_or(path);
    Some(path.to_string_lossy().into_owned())
}
