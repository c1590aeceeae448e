//! Recognises arguments that begin with a minus and that the parser of the command line would take
//! for options: words of a query, such as `-docker` and `-project:api`, and pasted text, such as
//! `--- FAIL: TestAdd`.

use std::{ffi::OsString, iter};

use clap::CommandFactory;

use crate::cli::Cli;

/// The names of the filters that a query can contain.
const FIELDS: [&str; 10] =
    ["project", "agent", "branch", "file", "tool", "role", "in", "date", "before", "after"];

/// The filters whose values have no white space.
const WORD_FIELDS: [&str; 4] = ["agent", "tool", "role", "in"];

/// The commands with a query.
const WITH_QUERY: [&str; 2] = ["search", "facts"];
/// The commands with a text that may be pasted.
const WITH_TEXT: [&str; 2] = ["fix", "remember"];

/// Moves arguments that begin with a minus, but are not options, to the end, after `--`. The parser
/// then reads them as words. In a query, the minus means that a hit must not contain the word.
pub(super) fn moved_behind_options(arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(command) = command_with_words(&arguments) else { return arguments };
    let has_query = WITH_QUERY.contains(&command);
    let end = arguments.iter().position(|argument| argument == "--");
    let end = end.unwrap_or(arguments.len());
    let is_excluded = |at: usize| {
        let argument = arguments[at].to_string_lossy();
        let is_word = if has_query { is_exclusion(&argument) } else { is_text(command, &argument) };
        is_word && !(at > 0 && takes_value(command, &arguments[at - 1].to_string_lossy()))
    };
    let (excluded, options): (Vec<usize>, Vec<usize>) = (0..end).partition(|at| is_excluded(*at));
    if excluded.is_empty() {
        return arguments;
    }
    let options = options.into_iter().map(|at| arguments[at].clone());
    let excluded = excluded.into_iter().map(|at| match has_query {
        true => as_phrase(&arguments[at]),
        false => arguments[at].clone(),
    });
    let words = arguments[end..].iter().skip(1).cloned();
    options.chain(iter::once(OsString::from("--"))).chain(words).chain(excluded).collect()
}

/// Whether `argument` is an option whose value is the next argument.
fn takes_value(command: &str, argument: &str) -> bool {
    let all = Cli::command();
    let options = all.find_subcommand(command).into_iter().flat_map(clap::Command::get_arguments);
    let mut options = options.filter(|option| option.get_action().takes_values());
    options.any(|option| match (argument.strip_prefix("--"), argument.strip_prefix('-')) {
        (Some(name), _) => option.get_long() == Some(name),
        (None, Some(letter)) => {
            option.get_short().is_some_and(|short| letter.len() == 1 && letter.starts_with(short))
        }
        _ => false,
    })
}

/// Quotes an excluded text of several words, or the value of a filter, again, because the shell
/// removed the quotes. The value of a filter in [`WORD_FIELDS`] ends at the first white space, as
/// without a minus.
fn as_phrase(argument: &OsString) -> OsString {
    let text = argument.to_string_lossy();
    if !text.contains(char::is_whitespace) || text.contains('"') {
        return argument.clone();
    }
    match text[1..].split_once(':').filter(|(name, _)| FIELDS.contains(name)) {
        Some((name, _)) if WORD_FIELDS.contains(&name) => argument.clone(),
        Some((name, value)) => format!("-{name}:\"{value}\"").into(),
        None => format!("-\"{}\"", &text[1..]).into(),
    }
}

/// Returns the command, if it takes a query or a text.
fn command_with_words(arguments: &[OsString]) -> Option<&'static str> {
    // `--color never` may be before the command.
    let mut words = arguments.iter().enumerate().filter(|(at, argument)| {
        let is_color = *at > 0 && arguments[at - 1] == "--color";
        !is_color && !argument.to_string_lossy().starts_with('-')
    });
    let (_, command) = words.next()?;
    WITH_QUERY.into_iter().chain(WITH_TEXT).find(|known| command == known)
}

/// Whether an argument of a command with a text is a text, and not an option. A text begins with
/// three minuses, or it contains white space and does not begin with an option that takes a value.
fn is_text(command: &str, argument: &str) -> bool {
    if argument.starts_with("---") {
        return true;
    }
    if !argument.starts_with('-') || !argument.contains(char::is_whitespace) {
        return false;
    }
    let name = argument.split_once('=').map_or(argument, |(name, _)| name);
    let letter = argument.get(..2).unwrap_or(argument);
    !takes_value(command, name) && !takes_value(command, letter)
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
    use super::*;
    use crate::cli::{Command, SearchOptions};

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
            (vec!["search", "login", "-docker compose"], "login -\"docker compose\""),
            (vec!["search", "-agent:codex review"], "-agent:codex review"),
            (vec!["search", "-in:files npm"], "-in:files npm"),
            (vec!["search", "npm", "-project:my app"], "npm -project:\"my app\""),
            (vec!["search", "deploy", "-date:last week"], "deploy -date:\"last week\""),
            (vec!["search", "deploy", "-file:my notes.md"], "deploy -file:\"my notes.md\""),
            (vec!["search", "deploy", "-note:my app"], "deploy -\"note:my app\""),
            (vec!["search", "npm", "-project:\"my app\""], "npm -project:\"my app\""),
        ] {
            assert_eq!(search(&arguments).query.join(" "), query, "{arguments:?}");
        }
        let search = search(&["search", "bar", "-n5", "-foo", "-C", "2", "-pshop", "--json"]);
        assert_eq!((search.limit, search.context, search.output.json), (5, Some(2), true));
        assert_eq!(search.project.project.as_deref(), Some("shop"));
        assert_eq!(search.query, ["bar", "-foo"]);
        let value = ["search", "npm", "--branch", "-fix", "login"].map(OsString::from).to_vec();
        assert_eq!(moved_behind_options(value.clone()), value, "the value of an option stays");
        let other = vec![OsString::from("fix"), OsString::from("search"), OsString::from("-foo")];
        assert_eq!(moved_behind_options(other.clone()), other);
    }

    #[test]
    fn a_text_may_begin_with_a_minus() {
        let parse = |arguments: &[&str]| {
            Cli::parse_arguments(arguments.iter().map(OsString::from).collect())
                .map(|cli| cli.command.unwrap())
                .unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
        };
        for (arguments, text) in [
            (vec!["fix", "--- FAIL: TestAdd"], "--- FAIL: TestAdd"),
            (vec!["fix", "-n", "3", "--json", "-Werror: unused x"], "-Werror: unused x"),
            (vec!["fix", "--json", "-n3", "--- FAIL: a", "-p", "my app"], "--- FAIL: a"),
            (vec!["fix", "--project=my app", "x"], "x"),
            (vec!["fix", "---"], "---"),
        ] {
            let Command::Fix(fix) = parse(&arguments) else { panic!("{arguments:?}") };
            assert_eq!(fix.error.join(" "), text, "{arguments:?}");
        }
        let Command::Remember(remember) = parse(&["remember", "--everywhere", "- no jQuery"])
        else {
            panic!("no `remember`")
        };
        assert_eq!(
            (remember.text.join(" "), remember.everywhere),
            ("- no jQuery".to_owned(), true)
        );
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
