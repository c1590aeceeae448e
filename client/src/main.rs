//! `graphiti`: what people, hooks and agents run. It asks the daemon and shows what it says.

mod cli;
mod commands;
mod connection;
mod screen;

use std::process::ExitCode;

use clap::Parser;

use crate::{cli::Cli, screen::Screen};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let screen = Screen::new(cli.color);
    match commands::run(cli, &screen) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            screen.complain(&error);
            ExitCode::FAILURE
        }
    }
}
