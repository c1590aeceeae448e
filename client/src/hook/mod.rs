//! `graphiti hook`: the program that agents run at their events.
//!
//! The agent waits for the hook. Therefore the hook has short time limits and never fails. If
//! `hooks.async_indexing` is false, the hook of a session's end or compaction waits until the
//! session's episode is created. The hook reads the first complete JSON object on standard input,
//! which may stay open or be empty. The hook sends this event to the daemon, and prints the text
//! that the daemon returns for the agent's context. When a session starts, the hook also starts the
//! daemon if the daemon is down. When the daemon does not accept an event that closes a session
//! (its end or a compaction) in time, the hook writes the event to the [`spool`]. If the handoff is
//! not ready in time at the start of a session, the hooks of the session's next prompts request the
//! handoff again ([`pending_start`]).
//!
//! Agents interpret exit codes and standard output: exit code 2 blocks a prompt. A hook therefore
//! always exits with 0, even after a panic.

mod deadline;
mod pending_start;
mod protocol;
mod spool;

use std::{
    env,
    ffi::OsStr,
    io::{self, BufReader, Write},
    panic,
    path::Path,
    time::Duration,
};

use graphiti_proto::{
    endpoint,
    methods::hook::{self, EventKind, HOOK, HookEvent, HookReply},
    tools::close,
};

use self::{
    deadline::{TimedStdin, within},
    protocol::HookProtocol,
};
use crate::{
    connection::{AskError, Connection},
    start,
};

/// The time limit for reading standard input. By default, all of Claude Code's hooks at the end of
/// a session have 1.5 s together.
const STDIN_LIMIT: Duration = Duration::from_millis(500);
/// The time limit for the daemon to accept an event other than the start of a session.
const EVENT_LIMIT: Duration = Duration::from_millis(60);
/// The time limit for the answer to the start of a session, so that the whole hook takes at most 50
/// ms if the daemon runs.
const CONTEXT_LIMIT: Duration = Duration::from_millis(40);
/// How long the hook of a session's start waits for a daemon that this hook starts.
const START_LIMIT: Duration = Duration::from_millis(1_500);
/// The daemon sets this variable for agents that it runs as models. The sessions of these agents
/// are not the user's sessions.
const MODEL_CALL_VARIABLE: &str = "GRAPHITI_LLM_CALL";

/// Reads an event in the form of the given agent from standard input, and forwards the event.
/// Errors are not reported to the agent.
pub(crate) fn run(agent: Option<&OsStr>) {
    let protocol = HookProtocol::of(agent);
    // An agent shows the errors of its hooks to the user, who cannot act on them.
    let _ = guarded(|| forward_if(protocol, |_| true));
}

/// Forwards an event when `graphiti` runs without arguments, as Claude Code before 2.1.139 runs the
/// hooks of earlier versions of graphiti. Returns whether there was an event.
pub(crate) fn run_bare() -> bool {
    let protocol = HookProtocol::of(None);
    guarded(|| forward_if(protocol, |event| !event.hook_event_name.is_empty())).is_some()
}

/// Runs `work` and suppresses panics, including their messages. Returns `Some` after a panic.
fn guarded(work: impl FnOnce() -> Option<()> + panic::UnwindSafe) -> Option<()> {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let done = panic::catch_unwind(work);
    panic::set_hook(usual);
    done.unwrap_or(Some(()))
}

/// Forwards the event on standard input. Returns `None` if the input has no event, or if
/// `is_wanted` rejects the event. The event is dropped if [`MODEL_CALL_VARIABLE`] is set, or if the
/// event closes a session without a transcript.
fn forward_if(
    protocol: &'static HookProtocol,
    is_wanted: impl FnOnce(&HookEvent) -> bool,
) -> Option<()> {
    let read = |limit| protocol.read(BufReader::new(TimedStdin::within(limit)));
    let event = within(STDIN_LIMIT, read).flatten().filter(is_wanted)?;
    let is_off = env::var_os(MODEL_CALL_VARIABLE).is_some_and(|off| !off.is_empty());
    let never_started = event.kind().ends() && has_no_transcript(&event);
    if !is_off && !never_started {
        forward(protocol, &event);
    }
    Some(())
}

/// Sends an event to the daemon, prints the text for the agent's context, and waits for the episode
/// if the daemon requests the wait.
fn forward(protocol: &HookProtocol, event: &HookEvent) {
    let Some(home) = endpoint::home() else { return };
    let (contexts, accepted) = deliver(event, &home, |event| ask(event, &home));
    if !contexts.is_empty() {
        // The agent may have closed the pipe.
        let answer = protocol.answer(event, &contexts.join("\n\n"));
        let _ = writeln!(io::stdout().lock(), "{answer}");
    }
    if let Some((connection, reply)) = accepted
        && reply.wait_ms > 0
    {
        let timeout = Duration::from_millis(reply.wait_ms).min(protocol.longest_wait);
        let event = event.clone();
        // A timeout is ignored, because the daemon continues in any case.
        let _ = within(timeout, move |limit| wait(connection, &event, limit));
    }
}

/// Sends an event with `ask`, which returns `None` if the daemon does not accept the event. Stores
/// an event that starts or closes a session if the daemon does not accept the event. Also stores a
/// start event if its handoff is late. Sends the stored start event before the session's next
/// prompts, until the handoff is ready or the attempts are used up. Returns the texts for the
/// agent's context, which may contain the handoff even if the daemon does not accept the prompt,
/// and the answer to the event.
fn deliver<C>(
    event: &HookEvent,
    home: &Path,
    mut ask: impl FnMut(&HookEvent) -> Option<(C, HookReply)>,
) -> (Vec<String>, Option<(C, HookReply)>) {
    let kind = event.kind();
    let mut contexts = Vec::new();
    if kind == EventKind::Prompt
        && let Some(start) = pending_start::take(event, home)
    {
        match ask(&start.event) {
            Some((_, reply)) if !reply.is_late => contexts.extend(reply.context),
            _ => pending_start::keep_again(start, home),
        }
    }
    let accepted = ask(event);
    match &accepted {
        None if kind.ends() => spool::store(event, home),
        None if kind == EventKind::Start && event.cwd.is_some() => pending_start::keep(event, home),
        None => {}
        Some((_, reply)) => {
            if reply.is_late {
                pending_start::keep(event, home);
            }
            contexts.extend(reply.context.clone());
        }
    }
    (contexts, accepted)
}

/// Whether the event contains the path of a transcript that does not exist: commands such as
/// `claude mcp list` end sessions that never started. The hook checks this, because the daemon may
/// see another file system.
fn has_no_transcript(event: &HookEvent) -> bool {
    let path = event.transcript_path.as_deref().map(Path::new);
    path.is_some_and(|path| path.is_absolute() && matches!(path.try_exists(), Ok(false)))
}

/// Sends an event to the daemon. If the daemon is down and a session starts in a known directory,
/// starts the daemon, so that it can return the handoff. Returns `None` if the daemon does not
/// accept the event in time.
fn ask(event: &HookEvent, home: &Path) -> Option<(Connection, HookReply)> {
    let is_start = event.kind() == EventKind::Start && event.cwd.is_some();
    let sent = match hook::are_prompts_requested(home) {
        true => event.clone(),
        false => event.without_prompt(),
    };
    let timeout = if is_start { CONTEXT_LIMIT } else { EVENT_LIMIT };
    let again = sent.clone();
    match within(timeout, move |limit| send(&sent, limit))? {
        Ok(answer) => Some(answer),
        Err(AskError::NotRunning { home, .. }) if is_start => {
            let (connection, reply) = within(START_LIMIT, move |limit| {
                start::start_within(&home, limit).ok()?;
                send(&again, CONTEXT_LIMIT).ok()
            })??;
            Some((connection, reply))
        }
        Err(_) => None,
    }
}

fn send(event: &HookEvent, limit: Duration) -> Result<(Connection, HookReply), AskError> {
    let mut connection = Connection::open_within(limit)?;
    let reply = connection.ask(HOOK, event)?;
    Ok((connection, reply))
}

/// Closes the session of the event, and waits for its episode.
fn wait(mut connection: Connection, event: &HookEvent, limit: Duration) -> Result<(), AskError> {
    connection.set_limit(limit)?;
    let session_id = Some(event.session_id.clone());
    let reason = Some(event.close_reason());
    let arguments =
        close::CloseArguments { session_id, reason, ..close::CloseArguments::default() };
    let _: close::CloseAnswer = connection.call(close::NAME, &arguments)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_defect_in_a_hook_is_silent() {
        assert_eq!(guarded(|| None), None);
        assert_eq!(guarded(|| panic!("a defect")), Some(()));
    }

    #[test]
    fn a_late_handoff_is_returned_even_if_the_daemon_does_not_accept_the_prompt() {
        let home = tempfile::tempdir().unwrap();
        let event = |name: &str| HookEvent {
            hook_event_name: name.to_owned(),
            session_id: "s1".to_owned(),
            cwd: Some("/app".to_owned()),
            ..HookEvent::default()
        };
        let late = HookReply { is_late: true, ..HookReply::default() };
        let (contexts, _) =
            deliver(&event("SessionStart"), home.path(), |_| Some(((), late.clone())));
        assert_eq!(contexts, Vec::<String>::new());
        let handoff = HookReply { context: Some("handoff".to_owned()), ..HookReply::default() };
        let prompt = event("UserPromptSubmit");
        let (contexts, accepted) = deliver(&prompt, home.path(), |sent| {
            (sent.kind() == EventKind::Start).then(|| ((), handoff.clone()))
        });
        assert_eq!(contexts, ["handoff"]);
        assert_eq!(accepted, None);
        let (contexts, _) = deliver(&prompt, home.path(), |_| Some(((), HookReply::default())));
        assert_eq!(contexts, Vec::<String>::new());
    }

    #[test]
    fn the_request_for_prompts_can_be_changed() {
        let home = tempfile::tempdir().unwrap();
        for wanted in [false, true, true, false] {
            hook::set_prompts_requested(home.path(), wanted).unwrap();
            assert_eq!(hook::are_prompts_requested(home.path()), wanted);
        }
    }

    #[test]
    fn a_transcript_is_missing_only_if_its_absence_is_certain() {
        let event = |path: Option<&str>| HookEvent {
            transcript_path: path.map(str::to_owned),
            ..HookEvent::default()
        };
        let here = env!("CARGO_MANIFEST_DIR");
        assert!(has_no_transcript(&event(Some(&format!("{here}/no-such.jsonl")))));
        for path in [None, Some(here), Some("relative.jsonl"), Some(""), Some("/\0")] {
            assert!(!has_no_transcript(&event(path)), "{path:?}");
        }
    }
}
