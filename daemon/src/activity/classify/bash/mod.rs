//! Shell command lines: taken apart by a real grammar, each command looked up in a table of
//! programs, the line as a whole judged by the command that it is there for.
//!
//! What the table does not hold is judged by words, and what these do not say is unknown: the
//! chain then asks its caches, and in the end a model.

mod args;
mod guard;
mod inner;
pub(crate) mod judge;
mod line;
mod parse;
mod program;
mod script;
mod special;
mod word;

pub use self::line::ClassifiedLine;

use crate::{
    activity::classify::bash::{
        inner::Inner,
        judge::Judged,
        parse::{CommandPosition, ShellCommand},
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

/// The command line that runs `words`, each quoted where it must be.
pub(crate) fn line_of<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    let quoted = |word: &str| {
        if !word.is_empty() && word.chars().all(plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.map(quoted).collect::<Vec<_>>().join(" ")
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
