//! `graphiti completions` and `graphiti man`: print a completion script and the manual. Both are
//! generated from the definition of the command line.

use std::iter;

use clap::CommandFactory;

use crate::{cli::Cli, screen::Screen};

pub(super) fn completions(shell: clap_complete::Shell, screen: &Screen) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "graphiti", &mut script);
    screen.print_bytes(&script);
}

/// Prints the manual page of the program, followed by the manual pages of the commands.
pub(super) fn manual(screen: &Screen) {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    let subcommands = command.get_subcommands().filter(|command| command.get_name() != "help");
    for command in iter::once(&command).chain(subcommands) {
        // Writing to memory does not fail.
        let _ = clap_mangen::Man::new(command.clone()).render(&mut page);
    }
    screen.print_bytes(&page);
}
