//! Sends requests to the daemon.
//!
//! When the time limit of an answer has passed, the client checks whether the daemon still answers
//! on a new connection. If the daemon answers, the client waits again, as often as [`AnswerLimit`]
//! allows; otherwise, it reports an error. With [`AnswerLimit::OneTimeout`], for example in a hook,
//! the client does not wait again. On Windows the client waits without this check, because pipes
//! have no time limits there.

use std::{
    env,
    io::{self, Read, Write},
    time::Duration,
};

use graphiti_proto::{
    PROTOCOL, endpoint,
    frame::LineSplitter,
    methods::{self, Hello, Welcome},
    rpc::{Request, Response},
    tools::STRUCTURED,
};
use interprocess::{
    ConnectWaitMode,
    local_socket::{ConnectOptions, GenericFilePath, Stream, prelude::*},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::caller::meta;
pub(crate) use crate::error::{AskError, update_hint};

/// The environment variable for the time limit of an answer, in seconds.
pub(crate) const TIMEOUT: &str = "GRAPHITI_TIMEOUT";
/// The default time limit of an answer.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum time to wait for the next line of an answer while the daemon answers other requests, as
/// a multiple of the time limit.
const MAX_TIMEOUTS: u32 = 6;

/// A connection to the daemon of this user's home.
pub(crate) struct Connection {
    stream: Stream,
    lines: LineSplitter,
    next_id: u64,
    answer_limit: AnswerLimit,
    /// The daemon's answer to `graphiti/hello`; the default if that request was not sent.
    welcome: Welcome,
}

/// How long to wait for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerLimit {
    /// The time limit.
    OneTimeout,
    /// [`MAX_TIMEOUTS`] times the limit, as long as the daemon answers other requests.
    SeveralTimeouts,
    /// No limit, as long as the daemon answers other requests.
    Unlimited,
}

/// The progress of a request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ProgressStep {
    pub(crate) progress: u64,
    /// Total number of steps; 0 when it is unknown.
    pub(crate) total: u64,
    /// The daemon's current activity.
    pub(crate) message: String,
}

/// Returns the time limit of an answer: from the environment, or the default.
pub(crate) fn timeout() -> Result<Duration, AskError> {
    let Some(set) = env::var_os(TIMEOUT).filter(|set| !set.is_empty()) else {
        return Ok(DEFAULT_TIMEOUT);
    };
    let seconds = set.to_str().and_then(|text| text.trim().parse().ok());
    let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    timeout.filter(|timeout| !timeout.is_zero()).ok_or_else(|| {
        let set = set.display();
        AskError::InvalidInput(format!(
            "{TIMEOUT} is `{set}`, but must be a number of seconds above 0"
        ))
    })
}

impl Connection {
    /// Connects and checks that the protocol versions match.
    pub(crate) fn open() -> Result<Connection, AskError> {
        let mut connection = Connection::open_quickly()?;
        connection.answer_limit = AnswerLimit::OneTimeout;
        let hello = Hello { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned() };
        let welcome: Welcome = connection.ask(methods::HELLO, &hello)?;
        if welcome.protocol != PROTOCOL {
            let Welcome { version, protocol: daemon, .. } = welcome;
            return Err(AskError::OtherProtocol { version, daemon });
        }
        connection.welcome = welcome;
        connection.answer_limit = AnswerLimit::SeveralTimeouts;
        Ok(connection)
    }

    /// Connects for long operations: waits for each answer as long as the daemon answers other
    /// requests.
    pub(crate) fn open_for_work() -> Result<Connection, AskError> {
        Ok(Connection { answer_limit: AnswerLimit::Unlimited, ..Connection::open()? })
    }

    /// Returns an error if the daemon lacks `capability`, one of [`methods::CAPABILITIES`]. Such a
    /// daemon would ignore `part` of the request.
    pub(crate) fn require(
        &self,
        capability: &'static str,
        part: &'static str,
    ) -> Result<(), AskError> {
        check_capability(&self.welcome, capability, part)
    }

    /// Connects without checking the protocol version.
    pub(crate) fn open_quickly() -> Result<Connection, AskError> {
        Connection::open_within(timeout()?)
    }

    /// Connects without checking the protocol version, with `limit` for the connection and for each
    /// answer.
    pub(crate) fn open_within(limit: Duration) -> Result<Connection, AskError> {
        let connection = Connection::open_as(ConnectWaitMode::Timeout(limit))?;
        connection.set_limit(limit)?;
        Ok(connection)
    }

    /// Changes the time limit for reading and writing. Without effect on Windows.
    pub(crate) fn set_limit(&self, limit: Duration) -> Result<(), AskError> {
        #[cfg(unix)]
        {
            let set = self.stream.set_recv_timeout(Some(limit));
            set.and_then(|()| self.stream.set_send_timeout(Some(limit)))
                .map_err(|error| AskError::InvalidAnswer(error.to_string()))?;
        }
        // Pipes of Windows have no time limits.
        #[cfg(not(unix))]
        let _ = limit;
        Ok(())
    }

    fn open_as(wait: ConnectWaitMode) -> Result<Connection, AskError> {
        let home = endpoint::home().ok_or(AskError::NoHome)?;
        let socket = endpoint::socket(&home);
        let unreachable = |error| AskError::Unreachable { socket: socket.clone(), error };
        let name = socket.as_str().to_fs_name::<GenericFilePath>().map_err(unreachable)?;
        let connected = ConnectOptions::new().name(name).wait_mode(wait).connect_sync();
        let stream = connected.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                AskError::NotRunning { home: home.clone(), socket: socket.clone() }
            }
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => no_answer(),
            _ => unreachable(error),
        })?;
        let answer_limit = AnswerLimit::OneTimeout;
        let (lines, welcome) = (LineSplitter::default(), Welcome::default());
        Ok(Connection { stream, lines, next_id: 1, answer_limit, welcome })
    }

    /// Returns the stream without a time limit for reading.
    pub(crate) fn into_stream(self) -> Result<Stream, AskError> {
        #[cfg(unix)]
        {
            let unset = self.stream.set_recv_timeout(None);
            unset.map_err(|error| AskError::InvalidAnswer(error.to_string()))?;
        }
        Ok(self.stream)
    }

    /// Calls a method of the daemon that is not a tool.
    pub(crate) fn ask<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, AskError> {
        let mut params = serde_json::to_value(params).expect("arguments have only string keys");
        if params.is_object() {
            params["_meta"] = meta();
        }
        let outcome = self.request(|id| Request::new(id, method, params))?;
        read(outcome)
    }

    pub(crate) fn call<T: DeserializeOwned>(
        &mut self,
        tool: &str,
        arguments: &impl Serialize,
    ) -> Result<T, AskError> {
        self.call_watched(tool, arguments, |_| {})
    }

    /// Calls a tool, and calls `watch` for each step of its progress.
    pub(crate) fn call_watched<T: DeserializeOwned>(
        &mut self,
        tool: &str,
        arguments: &impl Serialize,
        watch: impl FnMut(&ProgressStep),
    ) -> Result<T, AskError> {
        let arguments = serde_json::to_value(arguments).expect("arguments have only string keys");
        let request = |id| {
            let mut request = Request::call(id, tool, &arguments);
            request.params["_meta"] = meta();
            request.params["_meta"]["progressToken"] = json!(id);
            request.params["_meta"][STRUCTURED] = json!(true);
            request
        };
        let mut result = self.request_watched(request, watch)?;
        let answer = result["structuredContent"].take();
        if result["isError"] == true {
            let message = answer["error"].as_str().unwrap_or("the tool failed").to_owned();
            return Err(AskError::Tool { message, details: answer });
        }
        read(answer)
    }

    fn request(&mut self, request: impl FnOnce(u64) -> Request) -> Result<Value, AskError> {
        self.request_watched(request, |_| {})
    }

    fn request_watched(
        &mut self,
        request: impl FnOnce(u64) -> Request,
        mut watch: impl FnMut(&ProgressStep),
    ) -> Result<Value, AskError> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&request(id).to_line())?;
        loop {
            let line = self.next_line()?;
            let broken = |error| AskError::InvalidAnswer(format!("no valid answer: {error}"));
            let message: Value = serde_json::from_slice(&line).map_err(broken)?;
            if message["method"].is_string() {
                watch(&serde_json::from_value(message["params"].clone()).unwrap_or_default());
                continue;
            }
            let response: Response = serde_json::from_value(message).map_err(broken)?;
            if response.id == json!(id) || response.id.is_null() {
                return Ok(response.outcome()?);
            }
        }
    }

    fn send(&mut self, mut line: &[u8]) -> Result<(), AskError> {
        let mut timeouts = 0;
        while !line.is_empty() {
            match self.stream.write(line) {
                Ok(bytes) => line = &line[bytes..],
                Err(error) => self.wait_on(&error, &mut timeouts)?,
            }
        }
        Ok(())
    }

    fn next_line(&mut self) -> Result<Vec<u8>, AskError> {
        let mut buffer = [0; 16 << 10];
        let mut timeouts = 0;
        loop {
            let line = self
                .lines
                .next_line()
                .map_err(|error| AskError::InvalidAnswer(error.to_string()))?;
            if let Some(line) = line {
                return Ok(line);
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(AskError::InvalidAnswer("it ended the connection".to_owned())),
                Ok(bytes) => self.lines.push(&buffer[..bytes]),
                Err(error) => self.wait_on(&error, &mut timeouts)?,
            }
        }
    }

    /// Handles an error of reading or writing. Returns `Ok` if the client should try again: after
    /// an interruption, and also after a timeout if `answer_limit` allows more waiting and the
    /// daemon still answers on a new connection.
    fn wait_on(&self, error: &io::Error, timeouts: &mut u32) -> Result<(), AskError> {
        match error.kind() {
            io::ErrorKind::Interrupted => return Ok(()),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => *timeouts += 1,
            _ => return Err(AskError::InvalidAnswer(error.to_string())),
        }
        if self.answer_limit == AnswerLimit::OneTimeout {
            return Err(no_answer());
        }
        // Only a missing answer is an error here. If the new connection fails for another reason,
        // for example because the daemon is stopping, the old connection ends soon.
        if let Err(error @ AskError::NoAnswer(_)) = Connection::open() {
            return Err(error);
        }
        if self.answer_limit == AnswerLimit::SeveralTimeouts && *timeouts >= MAX_TIMEOUTS {
            return Err(AskError::RequestTimeout {
                process: process(),
                waited: timeout()? * *timeouts,
            });
        }
        Ok(())
    }
}

fn check_capability(
    welcome: &Welcome,
    capability: &str,
    part: &'static str,
) -> Result<(), AskError> {
    if welcome.capabilities.iter().any(|name| name == capability) {
        return Ok(());
    }
    Err(AskError::OlderDaemon { version: welcome.version.clone(), part })
}

fn no_answer() -> AskError {
    AskError::NoAnswer(process())
}

/// Returns the process id that the daemon wrote to a file in its home.
fn process() -> Option<u32> {
    endpoint::runtime(&endpoint::home()?).map(|runtime| runtime.pid)
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, AskError> {
    serde_json::from_value(value)
        .map_err(|error| AskError::InvalidAnswer(format!("an unexpected answer: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_daemon_is_asked_nothing_that_it_would_ignore() {
        let older: Welcome = serde_json::from_value(json!({ "version": "0.2.0" })).unwrap();
        let error = check_capability(&older, methods::CLOSE_AGAIN, "`--again`").unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("graphitid 0.2.0 is older than this graphiti"), "{message}");
        assert!(message.contains("`--again`") && message.contains("graphiti up"), "{message}");
        let capabilities = methods::CAPABILITIES.iter().map(|name| (*name).to_owned()).collect();
        let current = Welcome { capabilities, ..older };
        for capability in methods::CAPABILITIES {
            assert!(check_capability(&current, capability, "`--again`").is_ok());
        }
    }
}
