//! `graphiti`: what people, hooks and agents run. It asks the daemon and shows what it says.

mod cli;
mod commands;
mod connection;
mod files;
mod hook;
mod mcp;
mod plugin;
mod screen;
mod service;
mod setup;
mod start;

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal},
    process::ExitCode,
};

use clap::Parser;

use crate::{cli::Cli, screen::Screen};

fn main() -> ExitCode {
    // What is written holds what was said in sessions, or steers agents: it is for the user alone.
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // An agent waits for a hook, so it does not even wait for the command line to be understood; nor
    // may anything in that keep it from ending well.
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let is_help = |argument: &OsString| argument == "--help" || argument == "-h";
    match arguments.first() {
        Some(first) if first == "hook" && !arguments.iter().any(is_help) => {
            hook::run();
            return ExitCode::SUCCESS;
        }
        None if !io::stdin().is_terminal() && hook::run_bare() => return ExitCode::SUCCESS,
        _ => {}
    }
    let cli = match Cli::try_parse() {
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

/// Says what is wrong with the command line, or the help that it asks for. Never with exit 2, which
/// agents take as the verdict of a hook.
fn refuse(error: &clap::Error) -> ExitCode {
    // Nobody may be there to read it.
    let _ = error.print();
    if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
