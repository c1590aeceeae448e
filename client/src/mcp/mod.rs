//! `graphiti mcp`: connects an agent to the daemon over standard input and output.
//!
//! This command forwards lines, and adds the caller to each request. It contains no tools, because
//! the daemon describes the tools. To survive a restart of the daemon, [`relay`] also stores the
//! handshake and the pending requests. When the daemon ends, pending requests are answered with an
//! error. The next request connects again, starts the daemon unless `--no-start` is given, and
//! repeats the handshake. A request that is too long for the daemon is answered with an error; after
//! a line that is too long to be read, the command ends.

mod relay;

use std::{
    io::{self, BufReader, Read, Write},
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
    time::{Duration, Instant},
};

use graphiti_proto::{
    endpoint,
    frame::{LineSplitter, LineTooLong},
};
use interprocess::local_socket::Stream;
use serde_json::Value;

use self::relay::{Relay, Routing};
use crate::{
    caller::meta,
    connection::{self, AskError, Connection},
    start,
};

/// Maximum number of lines that wait to be forwarded. When this number is reached, the reader
/// waits.
const QUEUE_CAPACITY: usize = 64;
/// Maximum length, in bytes, of a line of the agent. The limit is higher than that of the daemon, so
/// that the id of a request that is too long for the daemon can be read and the request be answered.
const LONGEST_HOST_LINE: usize = 64 << 20;
/// How long to retry when the daemon closes new connections. After an earlier connection, also how
/// long to retry when the daemon is down and must not be started.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The interval between connection attempts.
const STEP: Duration = Duration::from_millis(50);
/// How long to wait for pending answers after the agent has closed its output.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(60);

/// What to do when no daemon answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenDown {
    Start,
    /// Report how to start the daemon.
    Report,
}

/// Forwards lines until the agent has closed its output and pending requests are answered.
pub(crate) fn run(when_down: WhenDown) -> Result<(), AskError> {
    let (events, inbox) = mpsc::sync_channel(QUEUE_CAPACITY);
    let from_host = events.clone();
    thread::spawn(move || {
        let lines = LineSplitter::with_limit(LONGEST_HOST_LINE);
        if let Err(error) =
            read_lines(BufReader::new(io::stdin()), lines, &from_host, RelayEvent::Host)
        {
            // Sending fails only when the relay has ended.
            let _ = from_host.send(RelayEvent::HostLineTooLong(error));
        }
        // Sending fails only when the relay has ended.
        let _ = from_host.send(RelayEvent::HostEnded);
    });
    let (relay, timeout) = (Relay::new(&meta()), connection::timeout()?);
    Shim { relay, when_down, timeout, events, daemon: None, connections: 0 }.run(&inbox)
}

enum RelayEvent {
    /// A line of the agent.
    Host(Vec<u8>),
    /// The agent sent a line that is too long to be read.
    HostLineTooLong(LineTooLong),
    /// The agent closed its output.
    HostEnded,
    /// A line of the daemon, with the number of the connection.
    Daemon(u64, Vec<u8>),
    DaemonEnded(u64),
}

struct Shim {
    relay: Relay,
    when_down: WhenDown,
    /// The time without an answer after which the daemon is checked.
    timeout: Duration,
    events: SyncSender<RelayEvent>,
    daemon: Option<Arc<Stream>>,
    /// The number of the current connection; 0 before the first connection.
    connections: u64,
}

impl Shim {
    fn run(mut self, inbox: &Receiver<RelayEvent>) -> Result<(), AskError> {
        let mut ends_at: Option<Instant> = None;
        while ends_at.is_none() || !self.relay.is_idle() {
            let now = Instant::now();
            if ends_at.is_some_and(|at| at <= now) {
                break;
            }
            let left = ends_at.map_or(DRAIN_TIMEOUT, |at| at - now).min(self.timeout);
            let result = match inbox.recv_timeout(left) {
                Err(_) => self.check_daemon(),
                Ok(RelayEvent::Host(line)) => self.handle_host_line(&line),
                Ok(RelayEvent::HostLineTooLong(error)) => {
                    write_to_host(&relay::refusal(Value::Null, &error.to_string()))
                }
                Ok(RelayEvent::HostEnded) => {
                    ends_at = Some(Instant::now() + DRAIN_TIMEOUT);
                    Ok(())
                }
                Ok(RelayEvent::Daemon(of, line)) if of == self.connections => {
                    self.handle_daemon_line(&line)
                }
                Ok(RelayEvent::DaemonEnded(of)) if of == self.connections => self.daemon_ended(),
                // Late lines of an earlier connection.
                Ok(RelayEvent::Daemon(..) | RelayEvent::DaemonEnded(_)) => Ok(()),
            };
            // The agent does not read any more, so the program ends.
            if result.is_err() {
                break;
            }
        }
        Ok(())
    }

    fn handle_host_line(&mut self, line: &[u8]) -> io::Result<()> {
        let line = match self.relay.take_from_host(line) {
            Routing::ToDaemon(line) => line,
            Routing::ToHost(line) => return write_to_host(&line),
            Routing::Nothing => return Ok(()),
        };
        if self.daemon.is_none()
            && let Err(error) = self.connect()
        {
            return write_all_to_host(&self.relay.fail_pending(&error.to_string()));
        }
        if self.write(&line).is_err() {
            self.daemon_ended()?;
        }
        Ok(())
    }

    fn handle_daemon_line(&mut self, line: &[u8]) -> io::Result<()> {
        match self.relay.take_from_daemon(line) {
            Routing::ToDaemon(_) | Routing::Nothing => Ok(()),
            Routing::ToHost(line) => write_to_host(&line),
        }
    }

    /// Answers pending requests with an error if the daemon does not answer on a new connection. A
    /// daemon that needs long for one request still answers on a new connection.
    fn check_daemon(&mut self) -> io::Result<()> {
        if self.relay.is_idle() {
            return Ok(());
        }
        let Err(error @ AskError::NoAnswer(_)) = Connection::open() else { return Ok(()) };
        self.daemon = None;
        // Later answers on the old connection are ignored.
        self.connections += 1;
        write_all_to_host(&self.relay.fail_pending(&error.to_string()))
    }

    /// Answers pending requests with an error. The next request connects again.
    fn daemon_ended(&mut self) -> io::Result<()> {
        self.daemon = None;
        write_all_to_host(&self.relay.fail_pending(
            "graphitid ended before it answered; try again: the next request connects to it again",
        ))
    }

    fn connect(&mut self) -> Result<(), AskError> {
        let stream = Arc::new(self.open()?.into_stream()?);
        self.connections += 1;
        self.daemon = Some(stream.clone());
        let (of, events) = (self.connections, self.events.clone());
        thread::spawn(move || {
            let event = |line| RelayEvent::Daemon(of, line);
            // After a line that is too long, the rest of the connection is not read.
            let _ = read_lines(stream.as_ref(), LineSplitter::default(), &events, event);
            // Sending fails only when the relay has ended.
            let _ = events.send(RelayEvent::DaemonEnded(of));
        });
        for line in self.relay.handshake(of) {
            self.write(&line).map_err(|error| AskError::InvalidAnswer(error.to_string()))?;
        }
        Ok(())
    }

    fn open(&self) -> Result<Connection, AskError> {
        let began = Instant::now();
        loop {
            match (Connection::open(), self.when_down) {
                (Err(AskError::NotRunning { .. }), WhenDown::Start) => {
                    let home = endpoint::home().ok_or(AskError::NoHome)?;
                    return Ok(start::start(&home)?);
                }
                (
                    Err(AskError::NotRunning { .. } | AskError::InvalidAnswer(_)),
                    WhenDown::Report,
                ) if self.connections > 0 && began.elapsed() < RECONNECT_TIMEOUT => {
                    thread::sleep(STEP);
                }
                (Err(AskError::InvalidAnswer(_)), _) if began.elapsed() < RECONNECT_TIMEOUT => {
                    thread::sleep(STEP);
                }
                (outcome, _) => return outcome,
            }
        }
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let Some(daemon) = &self.daemon else { return Err(io::ErrorKind::NotConnected.into()) };
        daemon.as_ref().write_all(line)
    }
}

/// Reads lines until the input ends, the receiver is gone, or a line is too long.
fn read_lines(
    mut from: impl Read,
    mut lines: LineSplitter,
    events: &SyncSender<RelayEvent>,
    event: impl Fn(Vec<u8>) -> RelayEvent,
) -> Result<(), LineTooLong> {
    let mut buffer = [0; 16 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(bytes @ 1..) => lines.push(&buffer[..bytes]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return Ok(()),
        }
        while let Some(line) = lines.next_line()? {
            if !line.trim_ascii().is_empty() && events.send(event(line)).is_err() {
                return Ok(());
            }
        }
    }
}

fn write_all_to_host(lines: &[Vec<u8>]) -> io::Result<()> {
    lines.iter().try_for_each(|line| write_to_host(line))
}

fn write_to_host(line: &[u8]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(line)?;
    output.flush()
}
