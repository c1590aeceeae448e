//! `graphiti hook`: what an agent runs at its events.
//!
//! The agent waits for it, so it is gone in a moment whatever happens, says nothing that the event's
//! contract does not want, and never fails. It reads the first whole JSON object on its standard
//! input (which may stay open, or empty), hands it to the daemon, and leaves the event in the
//! [`spool`] when the daemon does not take it in time.
//!
//! One thread does what may block; the other keeps the time.

mod spool;

use std::{
    env,
    io::{self, BufRead, Read, Write},
    path::Path,
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

use graphiti_proto::{
    endpoint,
    methods::hook::{Event, HOOK, Kind, Taken},
    tools::close,
};
use serde::Deserialize;
use serde_json::json;

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
/// The longest input of a hook: a prompt may be a whole file.
const LONGEST_INPUT: u64 = 32 << 20;
/// Set by the daemon for agents that it asks itself: their sessions are none of the user's.
const OFF: &str = "GRAPHITI_LLM_CALL";

/// How far the other thread is.
enum Step {
    /// This is what happened.
    Read(Event),
    /// The daemon has it, and wants this to be done.
    Taken(Taken),
    /// It is all over.
    Over,
}

/// Hands the event on standard input over. There is nothing that the agent should know about how
/// that went.
pub(crate) fn run() {
    if env::var_os(OFF).is_some_and(|off| !off.is_empty()) {
        return;
    }
    let Some(home) = endpoint::home() else { return };
    let (steps, taken) = mpsc::channel();
    let worker = thread::Builder::new().name("hook".to_owned()).spawn(move || work(&steps));
    if worker.is_ok() {
        watch(&taken, &home);
    }
}

fn watch(steps: &Receiver<Step>, home: &Path) {
    let Ok(Step::Read(event)) = steps.recv_timeout(STDIN) else { return };
    let patience = if event.kind() == Kind::Start { CONTEXT } else { ANSWER };
    let taken = match steps.recv_timeout(patience) {
        Ok(Step::Taken(taken)) => taken,
        Ok(Step::Read(_) | Step::Over) | Err(_) => {
            if event.kind().ends() {
                spool::leave(&event, home);
            }
            return;
        }
    };
    if let Some(context) = taken.context {
        say(&event, &context);
    }
    let until = Instant::now() + Duration::from_millis(taken.wait_ms).min(LONGEST_WAIT);
    // Whether the episode is made in time or not, the daemon goes on.
    let _: Result<Step, RecvTimeoutError> =
        steps.recv_timeout(until.saturating_duration_since(Instant::now()));
}

/// Errors of the channel mean that nobody waits any more.
fn work(steps: &Sender<Step>) {
    let Some(event) = read() else { return };
    drop(steps.send(Step::Read(event.clone())));
    if let Err(_error) = hand_over(&event, steps) {
        drop(steps.send(Step::Over));
    }
}

/// The first whole object on standard input.
fn read() -> Option<Event> {
    let mut input = io::stdin().lock();
    if input.fill_buf().ok()?.starts_with(b"\xef\xbb\xbf") {
        input.consume(3);
    }
    Event::deserialize(&mut serde_json::Deserializer::from_reader(input.take(LONGEST_INPUT))).ok()
}

fn hand_over(event: &Event, steps: &Sender<Step>) -> Result<(), AskError> {
    let mut connection = Connection::open_quickly()?;
    let taken: Taken = connection.ask(HOOK, event)?;
    let waits = taken.wait_ms > 0;
    drop(steps.send(Step::Taken(taken)));
    if waits {
        let session_id = Some(event.session_id.clone());
        let arguments = close::Arguments { session_id, reason: Some(event.close_reason()) };
        let _: close::Answer = connection.call(close::NAME, &arguments)?;
    }
    drop(steps.send(Step::Over));
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
