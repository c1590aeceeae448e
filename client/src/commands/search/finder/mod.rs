//! The interactive search: `graphiti search` without words on a terminal, and `graphiti resume`.
//!
//! One thread reads keys, and one thread sends requests to the daemon. On Unix, a third thread waits
//! until the terminal hangs up. All threads send events to the loop in this file. [`state`] decides
//! what an event does, [`view`] draws the screen, and [`terminal`] prints it.

mod requests;
mod state;
mod terminal;
mod view;

use std::{
    sync::mpsc::{self, Receiver, Sender},
    thread,
};

use crossterm::event::{self, Event};
use graphiti_proto::tools::{SessionRow, search_sessions::SearchSessionsArguments};

use self::{
    requests::FinderRequest,
    state::{Finder, FinderEffect, FinderEvent, SelectionAction},
    terminal::RawTerminal,
};
use crate::{
    connection::{AskError, Connection},
    screen::Screen,
    setup::AgentCommand,
};

pub(in crate::commands) use self::state::FinderPurpose;

/// A function that returns the command that resumes a session, or a message for the user if the
/// session cannot be resumed.
pub(in crate::commands) type PrepareResume<'p> =
    &'p mut dyn FnMut(&SessionRow) -> Result<AgentCommand, String>;

/// Searches while the user types. The first query is the query in `filters`; the other members of
/// `filters` apply to each search. Returns the command to run in place of this program.
pub(in crate::commands) fn run(
    filters: SearchSessionsArguments,
    purpose: FinderPurpose,
    prepare: PrepareResume<'_>,
    screen: &Screen,
) -> Result<Option<AgentCommand>, AskError> {
    // A daemon that is not running is reported before the terminal changes.
    let _ = Connection::open()?;
    let mut terminal = RawTerminal::enter().map_err(|error| unusable(&error))?;
    // The terminal is restored before the agent starts.
    search(filters, purpose, prepare, screen, &mut terminal)
}

fn unusable(error: &std::io::Error) -> AskError {
    AskError::Failed(format!("cannot use this terminal: {error}"))
}

/// Runs until the user leaves the search, or chooses a session to resume. Returns the command that
/// resumes the session.
fn search(
    filters: SearchSessionsArguments,
    purpose: FinderPurpose,
    prepare: PrepareResume<'_>,
    screen: &Screen,
    terminal: &mut RawTerminal,
) -> Result<Option<AgentCommand>, AskError> {
    let (requests, request_receiver) = mpsc::channel();
    let (events, event_receiver) = mpsc::channel();
    let (next_key, key_requests) = mpsc::channel();
    let answer_sender = events.clone();
    let mut finder = Finder { query: filters.query.clone(), purpose, ..Finder::default() };
    thread::spawn(move || requests::serve(&filters, &request_receiver, &answer_sender));
    #[cfg(unix)]
    {
        let events = events.clone();
        thread::spawn(move || report_hangup(&events));
    }
    thread::spawn(move || read_keys(&key_requests, &events));
    let mut effect = Some(finder.start());
    let mut is_reading = false;
    loop {
        match effect {
            Some(FinderEffect::Leave) => return Ok(None),
            Some(FinderEffect::Search(query)) => send(&requests, FinderRequest::Search(query)),
            Some(FinderEffect::Open(hit)) => send(&requests, FinderRequest::Open(hit)),
            Some(FinderEffect::Copy(text)) => {
                terminal.copy(&text).map_err(|error| unusable(&error))?;
            }
            Some(FinderEffect::Resume(session)) => match prepare(&session) {
                Ok(command) => return Ok(Some(command)),
                Err(notice) => finder.notice = Some(notice),
            },
            None => {}
        }
        let frame = view::draw(&mut finder, screen, RawTerminal::size());
        terminal.draw(&frame).map_err(|error| unusable(&error))?;
        // After the key that starts an agent, no key is read: the agent reads the next key.
        if !is_reading && finder.awaited != Some(SelectionAction::Resume) {
            send(&next_key, ());
            is_reading = true;
        }
        let Ok(event) = event_receiver.recv() else { return Ok(None) };
        is_reading &= matches!(event, FinderEvent::Searched { .. } | FinderEvent::Opened { .. });
        effect = finder.handle(event);
    }
}

/// Sends a value to a thread, which runs until the channel is closed.
fn send<T>(channel: &Sender<T>, value: T) {
    // Sending fails only when the thread panicked, and its panic was reported.
    let _ = channel.send(value);
}

/// Reads one event of the terminal for each request in `wanted`. The thread therefore reads no key
/// that is meant for a program that is started later.
fn read_keys(wanted: &Receiver<()>, events: &Sender<FinderEvent>) {
    for () in wanted {
        let event = match event::read() {
            Ok(Event::Key(key)) => FinderEvent::Key(key),
            Ok(Event::Paste(text)) => FinderEvent::Pasted(text),
            Ok(_) => FinderEvent::Resized,
            // The terminal is gone.
            Err(_) => return send(events, FinderEvent::Closed),
        };
        send(events, event);
    }
}

/// Waits until the terminal is gone, and reports it. Without this report, [`event::read`] would
/// repeatedly read the end of the input, and the program would not end if it ignores `SIGHUP`.
#[cfg(unix)]
fn report_hangup(events: &Sender<FinderEvent>) {
    use std::os::fd::AsFd;

    use nix::{
        errno::Errno,
        poll::{PollFd, PollFlags, PollTimeout, poll},
    };

    let input = std::io::stdin();
    // Without flags, only a hang-up or an error ends the wait.
    let mut descriptors = [PollFd::new(input.as_fd(), PollFlags::empty())];
    while poll(&mut descriptors, PollTimeout::NONE) == Err(Errno::EINTR) {}
    send(events, FinderEvent::Closed);
}
