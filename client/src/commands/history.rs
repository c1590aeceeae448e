//! `graphiti blame`, `graphiti fix` and `graphiti log`: show what earlier sessions did to a file,
//! what they did about an error, and what they did day by day.

use std::{
    fs,
    io::{self, IsTerminal, Read},
    path::Path,
};

use graphiti_proto::tools::{
    blame_file::{self, BlameAnswer, BlameArguments, BlameRow},
    find_fix::{self, FixAnswer, FixArguments},
    get_log::{self, LogAnswer, LogArguments, LogRow},
    graph::FactRow,
};

use super::{list::outcome_or_state, search::print_error};
use crate::{
    cli::{self, Project},
    connection::{AskError, Connection},
    screen::{Screen, ago, instant, line, local, now},
};

/// Maximum number of bytes of standard input that are sent. Only the end of a longer input is sent,
/// because most programs print the error there.
const MAX_INPUT_BYTES: usize = 16 << 10;

/// A note about a relative path without known changes.
const RELATIVE: &str =
    "A path is relative to the current directory; with --project DIR, it may be relative to DIR.";

pub(super) fn blame(args: cli::Blame, screen: &Screen) -> Result<(), AskError> {
    let exists = |path: &str| Path::new(path).exists();
    let project = super::project(args.project);
    let in_project = |file: &str| in_project(file, project.as_deref(), exists);
    let exists_in_project = |file: &str| exists(&in_project(file));
    check_line_number(&args.file, exists_in_project)?;
    let (given, number) = file_and_line(&args.file, exists_in_project);
    let file = in_project(given);
    let text = match (args.text.filter(|text| !text.trim().is_empty()), number) {
        (Some(text), _) => Some(text),
        (None, Some(number)) => Some(line_of(&file, number)?),
        (None, None) => None,
    };
    let arguments = BlameArguments {
        file: path_or_name(&file, exists),
        text: text.clone(),
        project,
        limit: args.limit,
    };
    let answer: BlameAnswer = Connection::open()?.call(blame_file::NAME, &arguments)?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    if let Some(text) = &text {
        screen.print_wrapped(&screen.dim(format!("Edits that contain: {}", line(text))), 4);
        screen.print("");
    }
    if !answer.files.is_empty() {
        let files: Vec<String> = answer.files.iter().map(|file| line(file)).collect();
        screen.print_wrapped(&format!("Several files have this name: {}.", files.join(", ")), 4);
        screen.print("");
    }
    answer.changes.iter().for_each(|change| print_change(change, screen));
    if answer.changes.is_empty() {
        screen.print(match text {
            Some(_) => {
                format!("No known edit of {} contains this text.", line(&answer.file))
            }
            None => format!("No known session changed {}.", line(&answer.file)),
        });
        if is_relative_path(&file) && !exists(&file) {
            screen.print(screen.dim(RELATIVE));
        }
    }
    print_message(&answer.message, screen);
    Ok(())
}

/// Fails if a file is followed by a colon and a text that is not the number of a line.
fn check_line_number(given: &str, exists: impl Fn(&str) -> bool) -> Result<(), AskError> {
    let (_, number) = file_and_line(given, &exists);
    match given.rsplit_once(':').filter(|_| number.is_none() && !exists(given)) {
        Some((file, text)) if exists(file) => Err(AskError::InvalidInput(format!(
            "`{text}` is not the number of a line of {file}: the first line has the number 1"
        ))),
        _ => Ok(()),
    }
}

/// Returns the path of `file` in the directory of the given project, if `file` is a relative path
/// that does not exist in the current directory. A name without a folder is searched by the daemon.
fn in_project(file: &str, project: Option<&str>, exists: impl Fn(&str) -> bool) -> String {
    match project.map(Path::new).filter(|directory| directory.is_absolute()) {
        Some(directory) if is_relative_path(file) && !exists(file) => {
            directory.join(file).to_string_lossy().into_owned()
        }
        _ => file.to_owned(),
    }
}

/// Whether a text is a relative path with a folder, and not only a name.
fn is_relative_path(file: &str) -> bool {
    file.contains(['/', '\\']) && Path::new(file).is_relative()
}

/// Splits `FILE:LINE`, unless a file exists whose name is the whole text.
fn file_and_line(given: &str, exists: impl Fn(&str) -> bool) -> (&str, Option<usize>) {
    let divided = given.rsplit_once(':').and_then(|(file, number)| {
        let number: usize = number.parse().ok()?;
        (!file.is_empty() && number > 0).then_some((file, Some(number)))
    });
    divided.filter(|_| !exists(given)).unwrap_or((given, None))
}

fn line_of(file: &str, number: usize) -> Result<String, AskError> {
    let path = Path::new(file);
    let text = fs::read_to_string(path).map_err(|error| AskError::file(path, &error))?;
    let Some(text) = text.lines().nth(number - 1).map(str::trim) else {
        let what = match text.lines().count() {
            0 => "the file is empty".to_owned(),
            count => format!("there is no line {number}: the last line is {count}"),
        };
        return Err(AskError::file(path, &what));
    };
    if !text.contains(char::is_alphanumeric) {
        let what = format!("line {number} has no words to search for");
        return Err(AskError::file(path, &what));
    }
    Ok(text.to_owned())
}

/// Returns the absolute path of `file`. If `file` is only a name, and the current directory has no
/// such file, returns the name.
fn path_or_name(file: &str, exists: impl Fn(&str) -> bool) -> String {
    if !file.contains(['/', '\\']) && !exists(file) {
        return file.to_owned();
    }
    super::absolute_path(file)
}

fn print_change(change: &BlameRow, screen: &Screen) {
    let session = &change.session;
    let facts = [
        ago(instant(&change.at), now()),
        line(session.shown_id()),
        line(&session.agent),
        line(session.project_name()),
        line(&outcome_or_state(session).replace('_', " ")),
        change.message.map(|seq| format!("message {seq}")).unwrap_or_default(),
    ];
    let title = line(&session.title);
    screen.print_wrapped(&screen.bold(if title.is_empty() { "(no title)" } else { &title }), 2);
    screen.print(format!("  {}", screen.dim(joined(&facts))));
    screen.print_wrapped(&format!("  {}", line(&change.change)), 2);
    for text in &change.lines {
        let text = format!("    {}", line(text));
        let is_added = text.trim_start().starts_with('+');
        let text = if is_added { screen.good(text) } else { screen.bad(text) };
        screen.print_wrapped(&text, 6);
    }
    change.why.iter().for_each(|text| screen.print_wrapped(&format!("  - {}", line(text)), 4));
    screen.print("");
}

pub(super) fn fix(args: cli::Fix, screen: &Screen) -> Result<(), AskError> {
    let mut error = args.error.join(" ");
    if error.trim().is_empty() || error == "-" {
        error = from_input()?;
    }
    let arguments =
        FixArguments { error, project: super::project(args.project), limit: args.limit };
    let answer: FixAnswer = Connection::open()?.call(find_fix::NAME, &arguments)?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    answer.errors.iter().for_each(|error| print_error(error, screen));
    if !answer.similar.is_empty() {
        screen.print_wrapped(&screen.bold(find_fix::SIMILAR_HEADING), 0);
        answer.similar.iter().for_each(|fact| print_fix(fact, screen));
    }
    if answer.errors.is_empty() && answer.similar.is_empty() {
        screen.print("This error is not known.");
    }
    print_message(&answer.message, screen);
    Ok(())
}

/// Reads the error from standard input. Fails if standard input is a terminal or has no text.
fn from_input() -> Result<String, AskError> {
    let input = io::stdin();
    if input.is_terminal() {
        let what = "no error given: run `graphiti fix ERROR` or `COMMAND 2>&1 | graphiti fix`";
        return Err(AskError::InvalidInput(what.to_owned()));
    }
    let text = end_of(input.lock());
    let text =
        text.map_err(|error| AskError::Failed(format!("cannot read standard input: {error}")))?;
    if text.trim().is_empty() {
        return Err(AskError::InvalidInput("standard input contains no error".to_owned()));
    }
    Ok(text)
}

/// Reads all input, so that the program that writes the input can end. Returns the end of the
/// input, at most [`MAX_INPUT_BYTES`] bytes.
fn end_of(mut input: impl Read) -> io::Result<String> {
    let mut end = Vec::new();
    while input.by_ref().take(MAX_INPUT_BYTES as u64).read_to_end(&mut end)? > 0 {
        end.drain(..end.len().saturating_sub(MAX_INPUT_BYTES));
    }
    let text = String::from_utf8_lossy(&end).into_owned();
    Ok(text[text.ceil_char_boundary(text.len().saturating_sub(MAX_INPUT_BYTES))..].to_owned())
}

fn print_fix(fact: &FactRow, screen: &Screen) {
    screen.print_wrapped(&format!("- {}", line(&fact.fact)), 2);
    let session = fact.sources.last().map(|source| line(&source.short_id)).unwrap_or_default();
    let facts = [ago(instant(&fact.valid_at), now()), state_of_fix(fact), session];
    screen.print(format!("  {}", screen.dim(joined(&facts))));
}

/// Formats the certainty of a fix. For a fix that is no longer true, formats the day since then.
fn state_of_fix(fact: &FactRow) -> String {
    match &fact.invalid_at {
        Some(end) => format!("no longer true since {}", local(end, "%Y-%m-%d")),
        None => line(fact.known_certainty()),
    }
}

pub(super) fn log(args: cli::Log, screen: &Screen) -> Result<(), AskError> {
    let mut connection = Connection::open()?;
    let project = super::project(Project { project: args.project });
    let answer = log_pages(args.limit, |limit, before| {
        let (project, since) = (project.clone(), args.since.clone());
        connection.call(get_log::NAME, &LogArguments { project, since, before, limit })
    })?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    let mut previous_day = String::new();
    for row in &answer.sessions {
        let day = long_date(row.ended_at());
        if day != previous_day {
            screen.print(screen.bold(&day));
            previous_day = day;
        }
        print_row(row, screen);
    }
    if answer.sessions.is_empty() {
        screen.print("No sessions.");
    }
    if answer.next.is_some() && screen.is_terminal() {
        screen.print(screen.dim(format!("… more with -n {}", 2 * args.limit)));
    }
    print_message(&answer.message, screen);
    Ok(())
}

/// Reads the pages of the log until there are `limit` sessions.
fn log_pages<E>(
    limit: usize,
    mut ask: impl FnMut(usize, Option<String>) -> Result<LogAnswer, E>,
) -> Result<LogAnswer, E> {
    let mut answer = ask(limit, None)?;
    while answer.sessions.len() < limit
        && let Some(before) = answer.next.take()
    {
        let page = ask(limit - answer.sessions.len(), Some(before))?;
        answer.next = page.next.filter(|_| !page.sessions.is_empty());
        answer.sessions.extend(page.sessions);
    }
    Ok(answer)
}

fn print_row(row: &LogRow, screen: &Screen) {
    let session = &row.session;
    let title = line(&session.title);
    let time = local(&session.last_activity, "%H:%M");
    screen.print_wrapped(&format!("  {time}  {}", screen.bold(title)), 9);
    let files = match row.files {
        0 => String::new(),
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    let facts = [
        line(session.shown_id()),
        line(&session.agent),
        line(session.project_name()),
        line(&outcome_or_state(session).replace('_', " ")),
        files,
    ];
    screen.print(format!("         {}", screen.dim(joined(&facts))));
    let parts = [
        ("", &row.done),
        ("Decided: ", &row.decided),
        ("Fixed: ", &row.fixed),
        ("Open: ", &row.left),
    ];
    for (label, texts) in parts {
        for text in texts {
            let label = screen.accent(label);
            screen.print_wrapped(&format!("         - {label}{}", line(text)), 11);
        }
    }
    screen.print("");
}

/// Formats the day of an instant, for example `Monday, 2 March 2026`.
fn long_date(at: &str) -> String {
    local(at, "%A, %-d %B %Y")
}

fn joined(facts: &[String]) -> String {
    facts.iter().filter(|fact| !fact.is_empty()).cloned().collect::<Vec<_>>().join(" · ")
}

fn print_message(message: &str, screen: &Screen) {
    if !message.is_empty() {
        screen.print(screen.dim(line(message)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_fix_is_not_shown_as_verified() {
        let mut fact = FactRow { certainty: "verified".to_owned(), ..FactRow::default() };
        assert_eq!(state_of_fix(&fact), "verified");
        fact.invalid_at = Some("2026-11-27T12:00:00Z".to_owned());
        assert!(state_of_fix(&fact).starts_with("no longer true since 2026-11-2"));
    }

    #[test]
    fn the_end_of_long_output_is_sent() {
        let output = format!("{}\nerror: no such file", "Compiling a\n".repeat(200_000));
        let end = end_of(output.as_bytes()).unwrap();
        assert!(end.ends_with("\nerror: no such file"), "{}", &end[end.len() - 40..]);
        assert_eq!(end.len(), MAX_INPUT_BYTES);
        assert_eq!(end_of("ä short one".as_bytes()).unwrap(), "ä short one");
        // Each invalid byte becomes a longer character.
        assert!(
            end_of([&[0xff; 2 * MAX_INPUT_BYTES][..], b"end"].concat().as_slice())
                .unwrap()
                .ends_with("end")
        );
    }

    #[test]
    fn the_log_is_read_page_by_page() {
        let read = |limit: usize, all: usize| {
            let ask = |limit: usize, before: Option<String>| {
                let first: usize = before.map_or(0, |before| before.parse().unwrap());
                let end = all.min(first + limit.min(200));
                let sessions = vec![LogRow::default(); end - first];
                let next = (end < all).then(|| end.to_string());
                Ok::<_, ()>(LogAnswer { sessions, next, ..LogAnswer::default() })
            };
            let answer = log_pages(limit, ask).unwrap();
            (answer.sessions.len(), answer.next)
        };
        assert_eq!(read(20, 300), (20, Some("20".to_owned())));
        assert_eq!(read(450, 500), (450, Some("450".to_owned())));
        assert_eq!(read(450, 300), (300, None));
        assert_eq!(read(20, 0), (0, None));
    }

    #[test]
    fn a_file_that_does_not_exist_here_is_sent_by_its_name() {
        assert_eq!(path_or_name("pool.py", |_| false), "pool.py");
        let root = std::path::absolute("/srv/app").unwrap();
        let directory = std::env::current_dir().unwrap();
        assert!(Path::new(&path_or_name("pool.py", |_| true)).starts_with(&directory));
        let given = root.join("pool.py").to_string_lossy().into_owned();
        assert_eq!(path_or_name(&given, |_| false), given);
    }

    #[test]
    fn the_line_number_follows_the_last_colon() {
        let divided = |given| file_and_line(given, |path| path == "odd:7");
        assert_eq!(divided("src/a.rs:42"), ("src/a.rs", Some(42)));
        assert_eq!(divided("src/a.rs"), ("src/a.rs", None));
        assert_eq!(divided("odd:7"), ("odd:7", None));
        assert_eq!(divided("odd:7:3"), ("odd:7", Some(3)));
        for given in ["C:/a.rs", "a.rs:0", ":3", "a.rs:x"] {
            assert_eq!(divided(given), (given, None));
        }
    }

    #[test]
    fn a_text_after_a_file_and_a_colon_must_be_a_line_number() {
        let exists = |path: &str| ["a.rs", "odd:x"].contains(&path);
        for given in ["a.rs:0", "a.rs:x", "a.rs:", "a.rs:-1"] {
            assert!(check_line_number(given, exists).is_err(), "{given}");
        }
        for given in ["a.rs", "a.rs:7", "odd:x", "gone.rs:x", "C:/a.rs", ":3"] {
            assert!(check_line_number(given, exists).is_ok(), "{given}");
        }
    }

    #[test]
    fn a_path_that_does_not_exist_here_is_relative_to_the_given_project() {
        let app = std::path::absolute("/srv/app").unwrap();
        let project = app.to_string_lossy();
        let wanted = app.join("src/pool.py").to_string_lossy().into_owned();
        assert_eq!(in_project("src/pool.py", Some(&project), |_| false), wanted);
        assert_eq!(in_project("src/pool.py", Some(&project), |_| true), "src/pool.py");
        for (file, project) in [
            ("src/pool.py", None),
            ("src/pool.py", Some("app")),
            ("pool.py", Some(&*project)),
            (&*wanted, Some("/srv/other")),
        ] {
            assert_eq!(in_project(file, project, |_| false), file);
        }
    }

    #[test]
    fn empty_facts_are_omitted() {
        assert_eq!(joined(&["a".to_owned(), String::new(), "b".to_owned()]), "a · b");
    }
}
