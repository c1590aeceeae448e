//! `graphiti close`: closes a session, and waits for its summary unless `--no-wait` is given.

use graphiti_proto::{methods, tools::close};
use serde_json::{Value, json};

use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, line},
};

pub(super) fn run(args: cli::Close, screen: &Screen) -> Result<(), AskError> {
    let cli::Close { session: session_id, reason, no_wait, again, output } = args;
    let mut connection = Connection::open_for_work()?;
    if again {
        connection.require(methods::CLOSE_AGAIN, "`--again`")?;
    }
    if no_wait {
        let close = methods::Close { session_id, reason, ..methods::Close::default() };
        let _: Value = connection.ask(methods::CLOSE, &close)?;
        if output.json {
            screen.print_json(&json!({ "status": "accepted" }));
        } else {
            screen.print("The session will be closed.");
        }
        return Ok(());
    }
    let answer: close::CloseAnswer =
        connection.call(close::NAME, &close::CloseArguments { session_id, reason, again })?;
    if output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    let short: String = answer.session_id.chars().take(8).collect();
    screen.print(format!("{}  {}", screen.accent(line(&short)), line(&answer.message)));
    if let Some(episode) = &answer.episode_uuid {
        screen.print(screen.dim(format!("          episode {}", line(episode))));
    }
    Ok(())
}
