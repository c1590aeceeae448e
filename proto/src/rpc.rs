//! The parts of JSON-RPC 2.0 that the protocol uses.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

/// The member of a request's `_meta` that identifies the caller: its session, directory and
/// processes.
pub const CALLER: &str = "graphiti/caller";

/// Error codes. Their meaning never changes. For a missing tool, resource or prompt, the Model
/// Context Protocol has other codes.
pub mod code {
    /// The line is not valid JSON.
    pub const PARSE: i64 = -32700;
    /// The JSON is not a request, or the line is longer than [`LONGEST`](crate::frame::LONGEST).
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method or tool does not exist.
    pub const NO_METHOD: i64 = -32601;
    /// The arguments are invalid.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The daemon failed to answer.
    pub const INTERNAL: i64 = -32603;
    /// The requested item does not exist.
    pub const NOT_FOUND: i64 = -32001;
    /// Several sessions, facts or projects match, or the caller's session or project is unknown.
    /// For sessions, `data.candidates` lists them; for projects, `data.projects` lists their
    /// directories.
    pub const AMBIGUOUS: i64 = -32002;
    /// The daemon is stopping.
    pub const STOPPING: i64 = -32003;
    /// The connection has too many concurrent requests, or the client's process has too many
    /// connections.
    pub const BUSY: i64 = -32004;
}

/// A request, or a notification when it has no `id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The version, always `2.0`. A request without a version is accepted.
    #[serde(default = "version")]
    pub jsonrpc: String,
    /// The id for the answer: a number, a string or null. A request without an id gets no answer.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// The name of the method.
    pub method: String,
    /// The parameters of the method.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub params: Value,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The version, always `2.0`.
    pub jsonrpc: String,
    /// The request's id; null when the daemon could not read the request.
    pub id: Value,
    /// The result of a successful request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The error of a failed request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// One of the codes in [`code`].
    pub code: i64,
    /// The problem and its remedy, for people.
    pub message: String,
    /// Details for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Request {
    /// Creates a request with an id.
    pub fn new(id: u64, method: &str, params: Value) -> Request {
        Request { jsonrpc: version(), id: Some(json!(id)), method: method.to_owned(), params }
    }

    /// Creates a call of a tool.
    pub fn call(id: u64, tool: &str, arguments: &Value) -> Request {
        Request::new(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Parses a request from one line.
    pub fn read(line: &[u8]) -> Result<Request, Error> {
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| Error::new(code::PARSE, format!("the line is not JSON: {error}")))?;
        serde_json::from_value(value).map_err(|error| {
            Error::new(code::INVALID_REQUEST, format!("no JSON-RPC request: {error}"))
        })
    }

    /// Formats the request as one line with its newline.
    pub fn to_line(&self) -> Vec<u8> {
        line_of(self)
    }
}

impl Response {
    /// Creates the answer to request `id`.
    pub fn new(id: Value, outcome: Result<Value, Error>) -> Response {
        let (result, error) = match outcome {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Response { jsonrpc: version(), id, result, error }
    }

    /// Returns the result or the error.
    pub fn outcome(self) -> Result<Value, Error> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.result.unwrap_or_default()),
        }
    }

    /// Formats the answer as one line with its newline.
    pub fn to_line(&self) -> Vec<u8> {
        line_of(self)
    }
}

impl Error {
    /// Creates an error without details.
    pub fn new(code: i64, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), data: None }
    }
}

/// Distinguishes a null member from a missing member.
fn present<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

fn version() -> String {
    "2.0".to_owned()
}

fn line_of<T: Serialize>(message: &T) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("messages have only string keys");
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_a_handshake_is_a_request() {
        let line = br#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "session_tracking_close", "arguments": {"session_id": null, "reason": "hook_clear"}}}"#;
        let request = Request::read(line).unwrap();
        assert_eq!(request.method, "tools/call");
        assert_eq!(request.params["arguments"]["reason"], "hook_clear");
    }

    #[test]
    fn a_request_whose_id_is_null_is_not_a_notification() {
        let id = |line: &str| Request::read(line.as_bytes()).unwrap().id;
        assert_eq!(id(r#"{"id":null,"method":"ping"}"#), Some(Value::Null));
        assert_eq!(id(r#"{"method":"ping"}"#), None);
    }

    #[test]
    fn an_invalid_request_is_an_error_with_its_reason() {
        assert_eq!(Request::read(b"{").unwrap_err().code, code::PARSE);
        let error = Request::read(b"{\"id\":1}").unwrap_err();
        assert_eq!(error.code, code::INVALID_REQUEST);
        assert_eq!(error.message, "no JSON-RPC request: missing field `method`");
    }

    #[test]
    fn an_answer_is_unchanged_after_formatting_and_parsing() {
        for outcome in [Ok(json!({"a": 1})), Err(Error::new(code::NOT_FOUND, "no"))] {
            let response = Response::new(json!(7), outcome.clone());
            let line = response.to_line();
            assert_eq!(line.last(), Some(&b'\n'));
            let read: Response = serde_json::from_slice(&line).unwrap();
            assert_eq!(read.outcome(), outcome);
        }
    }
}
