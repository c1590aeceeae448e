//! What shell command lines are for: each command is looked up in the table of programs, and the
//! line as a whole is judged by its most important command.
//!
//! A program that the table does not hold is judged by its words. When these say nothing the
//! program is unknown: the chain then asks its caches, and in the end a model.

pub(crate) mod judge;
mod line;
mod script;
mod special;

pub use self::line::ClassifiedLine;

use crate::{
    activity::classify::bash::judge::Judged,
    lang::shell::{
        inner::{self, Inner},
        parse::{self, CommandPosition, ShellCommand},
    },
    model::tool::BashCommandClassification,
};

/// Bash commands of a line that are classified.
const MOST_COMMANDS: usize = 64;
/// Scripts given as a word inside one another.
const DEEPEST_SCRIPT: usize = 3;

/// Classifies each simple command of `line`, those inside `$(...)` included and marked. A line that
/// is no shell, or hopelessly broken, is judged by its first words.
pub fn classify(line: &str) -> Vec<BashCommandClassification> {
    classify_line(line).into_commands()
}

/// As [`classify`], and says which command the line is there for.
pub fn classify_line(line: &str) -> ClassifiedLine {
    let mut found = Vec::new();
    for command in parse::commands(line) {
        expand(command, 0, &mut found);
    }
    ClassifiedLine::new(found)
}

fn expand(mut command: ShellCommand, depth: usize, found: &mut Vec<(Judged, CommandPosition)>) {
    if found.len() >= MOST_COMMANDS {
        return;
    }
    if command.words.first().is_some_and(|word| word == "xargs" || word == "parallel") {
        // What is done with each name is what the names were listed for.
        command.place.in_pipeline = 0;
    }
    match inner::of(&command.words, &command.redirects) {
        Inner::Command(words) => command.words = words,
        Inner::Script(script) if depth < DEEPEST_SCRIPT => {
            let commands = parse::commands_of_script(&script, command.place);
            if !commands.is_empty() {
                commands.into_iter().for_each(|command| expand(command, depth + 1, found));
                return;
            }
        }
        Inner::Script(_) => {}
    }
    found.push((judge::judge(&command), command.place));
}

#[cfg(test)]
mod tests;
