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

use std::process::ExitCode;

use clap::Parser;

use crate::{cli::Cli, screen::Screen};

fn main() -> ExitCode {
    // What is written holds what was said in sessions, or steers agents: it is for the user alone.
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // An agent waits for this one, so it does not even wait for the command line to be understood.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == "hook") && arguments.next().is_none() {
        hook::run();
        return ExitCode::SUCCESS;
    }
    let cli = Cli::parse();
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
