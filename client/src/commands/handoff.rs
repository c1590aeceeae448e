//! `graphiti handoff`: prints the information that the next session in a project needs.

use graphiti_proto::tools::get_handoff::{GetHandoffAnswer, GetHandoffArguments, NAME};

use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, block, line},
};

pub(super) fn run(args: cli::Handoff, screen: &Screen) -> Result<(), AskError> {
    let arguments = GetHandoffArguments {
        project: super::project(args.project),
        sessions: args.sessions,
        max_chars: args.max_chars,
    };
    let answer: GetHandoffAnswer = Connection::open()?.call(NAME, &arguments)?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    if !answer.text.is_empty() {
        for text in block(&answer.text).lines() {
            screen.print_wrapped(text, indent(text));
        }
    }
    if !answer.ongoing.is_empty() {
        screen.print(screen.bold("\nRunning now:"));
    }
    for session in &answer.ongoing {
        screen.print_wrapped(&format!("- {}", line(&session.description())), 2);
    }
    if !answer.message.is_empty() {
        screen.print_wrapped(&screen.dim(line(&answer.message)), 0);
    }
    Ok(())
}

/// Returns the indentation of the wrapped lines of an entry of a list; 0 for other text.
fn indent(text: &str) -> usize {
    let entry = text.trim_start();
    if entry.starts_with("- ") { text.len() - entry.len() + 2 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_entries_of_lists_are_indented() {
        for (text, expected) in [
            ("- an entry", 2),
            ("  - an inner entry", 4),
            ("Ended 2026-03-01", 0),
            ("-v is an option", 0),
            ("  more", 0),
        ] {
            assert_eq!(indent(text), expected, "{text}");
        }
    }
}
