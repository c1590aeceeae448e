//! `graphiti unindexed`: lists sessions that have no summary yet.

use graphiti_proto::tools::list_unindexed::{ListUnindexedAnswer, ListUnindexedArguments, NAME};

use super::list;
use crate::{
    cli,
    connection::{AskError, Connection},
    screen::Screen,
};

pub(super) fn run(args: cli::Unindexed, screen: &Screen) -> Result<(), AskError> {
    let arguments = ListUnindexedArguments {
        project_namespace: super::project(args.project),
        ..ListUnindexedArguments::default()
    };
    let answer: ListUnindexedAnswer = Connection::open()?.call(NAME, &arguments)?;
    if args.output.json {
        screen.print_json(&answer);
    } else if answer.sessions.is_empty() {
        screen.print("No session waits for its summary.");
    } else {
        list::print(&answer.sessions, screen);
    }
    Ok(())
}
