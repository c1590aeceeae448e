//! `graphiti remember`: stores a preference of the user.

use graphiti_proto::tools::add_memory::{AddMemoryAnswer, AddMemoryArguments, NAME};

use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, line},
};

/// Maximum length, in characters, of the title of a preference.
const TITLE: usize = 80;

pub(super) fn run(args: cli::Remember, screen: &Screen) -> Result<(), AskError> {
    let text = args.text.join(" ");
    let here = || std::env::current_dir().ok().map(|path| path.to_string_lossy().into_owned());
    let project = super::project(cli::Project { project: args.project });
    let arguments = AddMemoryArguments {
        name: text.chars().take(TITLE).collect(),
        episode_body: text,
        group_id: project.or_else(here),
        source_description: "graphiti remember".to_owned(),
        kind: Some("preference".to_owned()),
        everywhere: args.everywhere,
        ..AddMemoryArguments::default()
    };
    let answer: AddMemoryAnswer = Connection::open()?.call(NAME, &arguments)?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    let scope = match (args.everywhere, &arguments.group_id) {
        (false, Some(project)) => format!("for {}", line(project)),
        _ => "for all projects".to_owned(),
    };
    screen.print(format!("Remembered {scope}."));
    if let Some(fact) = &answer.fact {
        let hint = format!("Withdraw it with: graphiti forget --fact {}", line(fact));
        screen.print(screen.dim(hint));
    }
    Ok(())
}
