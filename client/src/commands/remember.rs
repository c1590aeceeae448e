//! `graphiti remember`: stores a preference of the user.

use std::path::{Path, PathBuf};

use graphiti_proto::tools::{
    add_memory::{AddMemoryAnswer, AddMemoryArguments, NAME},
    list_sessions::{self, ListSessionsAnswer, ListSessionsArguments},
};

use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, cut, line, local},
};

/// Number of digits of a fact's id that are shown.
const FACT_ID: usize = 8;
/// Maximum width, in columns, of the title of a preference.
const TITLE: usize = 80;

pub(super) fn run(args: cli::Remember, screen: &Screen) -> Result<(), AskError> {
    let text = args.text.join(" ");
    if text.trim().is_empty() {
        let what = "say what to remember, such as: graphiti remember \"never push to main\"";
        return Err(AskError::InvalidInput(what.to_owned()));
    }
    let here = || std::env::current_dir().ok().map(|path| path.to_string_lossy().into_owned());
    let mut connection = Connection::open()?;
    let project = super::project(cli::Project { project: args.project });
    let project = project.map(|given| directory(&mut connection, given)).transpose()?;
    let arguments = AddMemoryArguments {
        name: cut(&text, TITLE),
        episode_body: text,
        group_id: project.or_else(here),
        source_description: "graphiti remember".to_owned(),
        kind: Some("preference".to_owned()),
        everywhere: args.everywhere,
        ..AddMemoryArguments::default()
    };
    let answer: AddMemoryAnswer = connection.call(NAME, &arguments)?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    let scope = match (args.everywhere, &arguments.group_id) {
        (false, Some(project)) => format!("for {}", line(project)),
        _ => "for all projects".to_owned(),
    };
    screen.print(match &answer.known_since {
        Some(since) => format!("Known already {scope}, since {}.", day(since)),
        None => format!("Remembered {scope}."),
    });
    if let Some(text) = &answer.redacted {
        screen.print(screen.warn(replaced(text)));
    }
    if let Some(project) = arguments.group_id.as_ref().filter(|_| !args.everywhere)
        && is_no_project(project, &[std::env::home_dir().unwrap_or_default(), std::env::temp_dir()])
    {
        let hint = "Only sessions in this folder itself get it; --everywhere is for all projects.";
        screen.print(screen.warn(hint));
    }
    if let Some(earlier) = &answer.contradicts {
        let fact: String = line(&earlier.fact).chars().take(FACT_ID).collect();
        screen.print(screen.warn(format!(
            "This may contradict {fact} “{}” ({}); withdraw that with: graphiti forget --fact {fact}",
            line(&earlier.text),
            day(&earlier.since)
        )));
    }
    if let Some(fact) = &answer.fact {
        let hint = format!("Withdraw it with: graphiti forget --fact {}", line(fact));
        screen.print(screen.dim(hint));
    }
    Ok(())
}

/// Whether a directory is the root, or one of the `common` folders, such as the user's home folder.
/// Sessions rarely run there.
fn is_no_project(directory: &str, common: &[PathBuf]) -> bool {
    let path = Path::new(directory);
    path.has_root() && path.parent().is_none() || common.iter().any(|folder| folder == path)
}

/// Says that a part of the text was replaced. `text` is the stored text around this part.
fn replaced(text: &str) -> String {
    format!("A part of the text was replaced, because it looks like a secret: “{}”", line(text))
}

/// Formats a time as a local day.
fn day(time: &str) -> String {
    local(time, "%Y-%m-%d")
}

/// Returns the directory of the given project; a namespace is returned unchanged. Fails for a
/// directory that does not exist and has no sessions, because no session would get the preference.
fn directory(connection: &mut Connection, given: String) -> Result<String, AskError> {
    if is_namespace(&given) || Path::new(&given).is_dir() {
        return Ok(given);
    }
    // A daemon of an older version returns no sessions for an unknown name.
    let arguments = ListSessionsArguments {
        project: Some(given.clone()),
        limit: 1,
        ..ListSessionsArguments::default()
    };
    let answer: ListSessionsAnswer = connection.call(list_sessions::NAME, &arguments)?;
    let known = answer.sessions.into_iter().map(|session| session.project).next();
    match known.filter(|directory| !directory.is_empty()) {
        Some(_) if Path::new(&given).is_absolute() => Ok(given),
        Some(directory) => Ok(directory),
        None => {
            let what = format!(
                "{given} is not a directory, and no session of it is known: give the directory of a \
                 project to `-p`"
            );
            Err(AskError::InvalidInput(what))
        }
    }
}

fn is_namespace(given: &str) -> bool {
    given.len() == 8 && given.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_folder_and_the_root_are_not_projects() {
        let common = ["/home/ada".into(), "/tmp".into()];
        for folder in ["/home/ada", "/tmp", "/tmp/", "/"] {
            assert!(is_no_project(folder, &common), "{folder}");
        }
        for project in ["/home/ada/app", "/home", "/app", "/tmp/app", "0a1b2c3d"] {
            assert!(!is_no_project(project, &common), "{project}");
        }
    }

    #[test]
    fn a_replaced_part_is_shown_on_one_line() {
        assert_eq!(
            replaced("the pin is [REDACTED:pin]\nand"),
            "A part of the text was replaced, because it looks like a secret: “the pin is \
             [REDACTED:pin] and”"
        );
    }
}
