//! A client of the daemon's socket for tests.

use std::{
    io::{BufRead, BufReader, ErrorKind, Write},
    time::{Duration, Instant},
};

use graphiti_proto::{
    rpc::{Error, Request, Response},
    tools::STRUCTURED,
};
use interprocess::local_socket::{GenericFilePath, Stream, prelude::*};
use serde_json::{Value, json};

/// The time after which a daemon that does not answer has failed. It is several times the longest
/// duration of any request on the slowest machine.
const ANSWER_LIMIT: Duration = Duration::from_secs(10 * 60);

/// Repeats `attempt` until it returns a value.
pub(crate) fn repeat<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = attempt() {
            return value;
        }
        assert!(began.elapsed() < ANSWER_LIMIT, "every attempt has failed for {ANSWER_LIMIT:?}");
    }
}

pub struct Wire {
    stream: BufReader<Stream>,
    next_id: u64,
}

impl Wire {
    pub fn connect(socket: &str) -> std::io::Result<Wire> {
        let stream = Stream::connect(socket.to_fs_name::<GenericFilePath>()?)?;
        stream.set_recv_timeout(Some(ANSWER_LIMIT))?;
        Ok(Wire { stream: BufReader::new(stream), next_id: 1 })
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, Error> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&Request::new(id, method, params).to_line());
        let response = self.receive();
        assert_eq!(response.id, json!(id));
        response.outcome()
    }

    /// Same as [`Wire::ask`], for a daemon that may have ended; `None` if it has ended.
    pub fn try_ask(&mut self, method: &str, params: Value) -> Option<Result<Value, Error>> {
        let id = self.next_id;
        self.next_id += 1;
        self.try_send(&Request::new(id, method, params).to_line()).ok()?;
        let response: Response = serde_json::from_str(&self.receive_line()).ok()?;
        Some(response.outcome())
    }

    /// Calls a tool and returns its answer, whether it succeeded or not.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let meta = json!({ STRUCTURED: true });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let result =
            self.ask("tools/call", params).expect("the tool exists and accepts the arguments");
        let text = result["content"][0]["text"].as_str().expect("an answer as text");
        let answer: Value = serde_json::from_str(text).expect("the text is JSON");
        assert_eq!(answer, result["structuredContent"]);
        answer
    }

    /// Sends a request unchanged and returns the whole answer.
    pub fn exchange(&mut self, request: &Value) -> Value {
        self.send(format!("{request}\n").as_bytes());
        let line = self.receive_line();
        serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("no answer to {request}, but {line:?}: {error}"))
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).expect("the daemon accepts the bytes");
    }

    /// Sends bytes unchanged to a daemon that may have ended.
    pub fn try_send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Returns the next line from the daemon; empty when the daemon closed the connection.
    pub fn receive_line(&mut self) -> String {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line);
        let kind = read.map_err(|error| error.kind());
        assert!(
            !matches!(kind, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut)),
            "the daemon has not answered for {ANSWER_LIMIT:?}"
        );
        // Any other error is treated as the end of the connection.
        line
    }

    pub fn receive(&mut self) -> Response {
        let line = self.receive_line();
        serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("no answer, but {line:?}: {error}"))
    }
}
