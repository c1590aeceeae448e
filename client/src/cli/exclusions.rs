//! Recognises the words of a query that begin with a minus, such as `-docker` and `-project:api`,
//! which the parser of the command line would take for options.

use std::{ffi::OsString, iter};

/// The names of the filters that a query can contain.
const FIELDS: [&str; 10] =
    ["project", "agent", "branch", "file", "tool", "role", "in", "date", "before", "after"];

/// Moves the words of a query that begin with a minus to the end, after `--`. There, the parser
/// takes them for words, and the query excludes them.
pub(super) fn moved_behind_options(arguments: Vec<OsString>) -> Vec<OsString> {
    if !has_query(&arguments) {
        return arguments;
    }
    let end = arguments.iter().position(|argument| argument == "--");
    let end = end.unwrap_or(arguments.len());
    let (options, excluded): (Vec<&OsString>, Vec<&OsString>) =
        arguments[..end].iter().partition(|argument| !is_exclusion(&argument.to_string_lossy()));
    if excluded.is_empty() {
        return arguments;
    }
    let words = arguments[end..].iter().skip(1);
    let separator = OsString::from("--");
    options
        .into_iter()
        .chain(iter::once(&separator))
        .chain(words)
        .chain(excluded)
        .cloned()
        .collect()
}

/// Whether the command takes a query.
fn has_query(arguments: &[OsString]) -> bool {
    // `--color never` may be before the command.
    let mut words = arguments.iter().enumerate().filter(|(at, argument)| {
        let is_color = *at > 0 && arguments[at - 1] == "--color";
        !is_color && !argument.to_string_lossy().starts_with('-')
    });
    words.next().is_some_and(|(_, command)| command == "search" || command == "facts")
}

/// Whether an argument of a command with a query is an excluded word or filter, and not an option.
/// The options of one letter are `-p NAME`, `-n COUNT`, `-C COUNT`, `-h` and `-V`.
fn is_exclusion(argument: &str) -> bool {
    let Some(word) = argument.strip_prefix('-') else { return false };
    let name = word.split_once(':').filter(|(_, value)| !value.is_empty()).map(|(name, _)| name);
    if name.is_some_and(|name| FIELDS.contains(&name)) {
        return true;
    }
    let mut letters = word.chars();
    let (first, second) = (letters.next().unwrap_or('-'), letters.next());
    match first {
        '-' | 'p' => false,
        'n' | 'C' => second.is_some_and(char::is_alphabetic),
        'h' | 'V' => second.is_some() && word != "help",
        _ => second.is_some() || !first.is_ascii(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::{Cli, Command, SearchOptions};

    fn search(arguments: &[&str]) -> SearchOptions {
        let command = Cli::parse_arguments(arguments.iter().map(OsString::from).collect());
        match command.map(|cli| cli.command) {
            Ok(Some(Command::Search(search))) => search,
            other => panic!("{arguments:?}: {other:?}"),
        }
    }

    #[test]
    fn a_word_with_a_minus_is_part_of_the_query() {
        for (arguments, query) in [
            (vec!["search", "npm", "-project:cli"], "npm -project:cli"),
            (vec!["search", "-project:cli", "npm"], "npm -project:cli"),
            (vec!["search", "bar", "-foo"], "bar -foo"),
            (vec!["--color", "never", "search", "-foo", "bar"], "bar -foo"),
            (vec!["search", "bar", "-npm", "--", "-n"], "bar -n -npm"),
            (vec!["search", "--", "bar", "-foo"], "bar -foo"),
        ] {
            assert_eq!(search(&arguments).query.join(" "), query, "{arguments:?}");
        }
        let search = search(&["search", "bar", "-n5", "-foo", "-C", "2", "-pshop", "--json"]);
        assert_eq!((search.limit, search.context, search.output.json), (5, Some(2), true));
        assert_eq!(search.project.project.as_deref(), Some("shop"));
        assert_eq!(search.query, ["bar", "-foo"]);
        let other = vec![OsString::from("fix"), OsString::from("search"), OsString::from("-foo")];
        assert_eq!(moved_behind_options(other.clone()), other);
    }

    #[test]
    fn options_of_one_letter_are_known() {
        let command = Cli::command();
        for name in ["search", "facts"] {
            let options = command.find_subcommand(name).unwrap().get_arguments();
            for letter in options.filter_map(clap::Arg::get_short) {
                assert!(!is_exclusion(&format!("-{letter}")), "{letter}");
                assert!(matches!(letter, 'p' | 'n' | 'C' | 'h' | 'V'), "{letter}");
            }
        }
    }
}
