//! Classifies shell command lines: each command is looked up in the table of programs, and the most
//! important command determines the class of the line.
//!
//! A program that is not in the table is classified by the words of its command. If the words are
//! not meaningful, the command is unknown. An unknown command is then classified by stored answers,
//! and finally by a model.

pub(crate) mod command;
mod line;
mod script;
mod special;

pub use self::line::ClassifiedLine;

use crate::{
    activity::classify::bash::command::ClassifiedCommand,
    lang::shell::{
        inner::{self, Inner, MAX_SCRIPT_DEPTH},
        parse::{self, ShellCommand},
    },
    model::tool::{BashCommandClassification, ToolDomain, ToolIntent},
};

/// Maximum number of commands of a line that are classified.
const MAX_COMMANDS: usize = 64;

/// Classifies each simple command of `line`. Commands inside `$(...)` are marked. A line with
/// invalid shell syntax is only split at its operators. If this is not possible either, only the
/// first words of its first lines are classified.
pub fn classify(line: &str) -> Vec<BashCommandClassification> {
    classify_line(line).into_commands()
}

/// Same as [`classify`]; the result can also select the main command.
pub fn classify_line(line: &str) -> ClassifiedLine {
    let mut commands = Vec::new();
    for command in parse::commands(line) {
        expand(command, 0, &mut commands);
    }
    ClassifiedLine { commands }
}

/// Whether a task with this name, such as `test:unit`, runs tests.
pub(crate) fn is_test_task(name: &str) -> bool {
    script::of_name(name) == Some((ToolIntent::Validate, ToolDomain::Testing))
}

fn expand(mut command: ShellCommand, depth: usize, found: &mut Vec<ClassifiedCommand>) {
    if found.len() >= MAX_COMMANDS {
        return;
    }
    if command.words.first().is_some_and(|word| word == "xargs" || word == "parallel") {
        // `xargs` runs a command on the names that an earlier command lists, so this command ranks
        // like the first command of the pipeline.
        command.place.in_pipeline = 0;
    }
    match inner::of(&command.words, &command.redirects) {
        Inner::Command(words) => command.words = words,
        Inner::Script(script) if depth < MAX_SCRIPT_DEPTH => {
            let commands = parse::commands_of_script(&script, command.place);
            if !commands.is_empty() {
                commands.into_iter().for_each(|command| expand(command, depth + 1, found));
                return;
            }
        }
        Inner::Script(_) => {}
    }
    found.push(command::classify_command(&command));
}

#[cfg(test)]
mod tests;
