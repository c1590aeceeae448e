//! `graphiti`: the program for users, hooks and agents. It sends requests to the daemon and prints
//! the answers. It also starts the daemon, and adds hooks and tools to the settings of agents.

mod caller;
mod cli;
mod commands;
mod connection;
mod error;
mod files;
mod hook;
mod mcp;
mod plugin;
mod program;
mod screen;
mod service;
mod setup;
mod start;

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use crate::{cli::Cli, screen::Screen};

fn main() -> ExitCode {
    // The files that this program writes are private: they contain parts of sessions, or settings
    // by which agents run programs.
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // An agent waits for a hook, so a hook skips the command-line parser. This also prevents parser
    // errors from failing a hook.
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let is_help = |argument: &OsString| argument == "--help" || argument == "-h";
    match arguments.first() {
        Some(first) if first == "hook" && !arguments.iter().any(is_help) => {
            hook::run(arguments.get(1).map(OsString::as_os_str));
            return ExitCode::SUCCESS;
        }
        None if !io::stdin().is_terminal() && hook::run_bare() => return ExitCode::SUCCESS,
        _ => {}
    }
    let cli = match Cli::parse_arguments(arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let screen = Screen::new(cli.color);
    let run = commands::run(cli, &screen);
    match run.and_then(|()| screen.unprinted().map_or(Ok(()), Err)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            screen.complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// Prints a command-line error or the help. Never exits with 2, which agents interpret as a hook's
/// decision.
fn refuse(error: &clap::Error) -> ExitCode {
    // The output may be closed.
    let _ = error.print();
    if let Some(hint) = cli::hint(error) {
        let _ = writeln!(io::stderr(), "\n{hint}");
    }
    if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
