//! `graphiti hook`: what an agent runs at its events.
//!
//! The agent waits for it, so it is gone in a moment whatever happens, says nothing that the event's
//! contract does not want, and never fails. It reads the first whole JSON object on its standard
//! input (which may stay open, or empty), hands it to the daemon, and leaves the event in the
//! [`spool`] when the daemon does not take it in time.

mod deadline;
mod spool;

use std::{
    env,
    io::{self, BufReader, Write},
    time::Duration,
};

use graphiti_proto::{
    endpoint,
    methods::hook::{Event, HOOK, Kind, Taken},
    tools::close,
};
use serde_json::json;

use self::deadline::{Input, within};
use crate::connection::{AskError, Connection};

/// An agent that wrote nothing in this time will not write any more. All of Claude Code's hooks at
/// the end of a session have 1.5 s together.
const STDIN: Duration = Duration::from_millis(500);
/// The daemon takes an event in this time, or it is left in the spool.
const ANSWER: Duration = Duration::from_millis(60);
/// A new session waits no longer for what earlier ones left (50 ms from start to end).
const CONTEXT: Duration = Duration::from_millis(40);
/// The longest that Claude Code lets a hook at the end of a session run.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Set by the daemon for agents that it asks itself: their sessions are none of the user's.
const OFF: &str = "GRAPHITI_LLM_CALL";

/// Hands the event on standard input over. There is nothing that the agent should know about how
/// that went.
pub(crate) fn run() {
    if env::var_os(OFF).is_some_and(|off| !off.is_empty()) {
        return;
    }
    let Some(home) = endpoint::home() else { return };
    let Some(event) = within(STDIN, read).flatten() else { return };
    let patience = if event.kind() == Kind::Start { CONTEXT } else { ANSWER };
    let told = event.clone();
    let Some(Ok((connection, taken))) = within(patience, move |limit| hand_over(&told, limit))
    else {
        if event.kind().ends() {
            spool::leave(&event, &home);
        }
        return;
    };
    if let Some(context) = &taken.context {
        say(&event, context);
    }
    if taken.wait_ms > 0 {
        let patience = Duration::from_millis(taken.wait_ms).min(LONGEST_WAIT);
        // Whether the episode is made in time or not, the daemon goes on.
        drop(within(patience, move |limit| wait(connection, &event, limit)));
    }
}

/// The first whole object on standard input.
fn read(limit: Duration) -> Option<Event> {
    Event::first(BufReader::new(Input::within(limit)))
}

fn hand_over(event: &Event, limit: Duration) -> Result<(Connection, Taken), AskError> {
    let mut connection = Connection::open_within(limit)?;
    let taken = connection.ask(HOOK, event)?;
    Ok((connection, taken))
}

/// Waits for the episode of the session that has ended.
fn wait(mut connection: Connection, event: &Event, limit: Duration) -> Result<(), AskError> {
    connection.set_limit(limit)?;
    let session_id = Some(event.session_id.clone());
    let arguments = close::Arguments { session_id, reason: Some(event.close_reason()) };
    let _: close::Answer = connection.call(close::NAME, &arguments)?;
    Ok(())
}

/// Adds to the session's context, in the only form that is taken for it everywhere.
fn say(event: &Event, context: &str) {
    let envelope = json!({ "hookSpecificOutput": {
        "hookEventName": event.hook_event_name,
        "additionalContext": context,
    } });
    drop(writeln!(io::stdout().lock(), "{envelope}"));
}
