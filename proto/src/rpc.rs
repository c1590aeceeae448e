//! JSON-RPC 2.0 as it is used here.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

/// Error codes. Their meaning never changes.
pub mod code {
    /// The line is no JSON.
    pub const PARSE: i64 = -32700;
    /// The JSON is no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method or tool.
    pub const NO_METHOD: i64 = -32601;
    /// The arguments are wrong.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The daemon failed to answer.
    pub const INTERNAL: i64 = -32603;
    /// What is asked for does not exist.
    pub const NOT_FOUND: i64 = -32001;
    /// More than one session could be meant; `data.candidates` lists them.
    pub const AMBIGUOUS: i64 = -32002;
    /// The daemon is stopping.
    pub const STOPPING: i64 = -32003;
    /// Too many requests at once.
    pub const BUSY: i64 = -32004;
}

/// A request, or a notification when it has no `id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Always `2.0`; a request without it is served all the same.
    #[serde(default = "version")]
    pub jsonrpc: String,
    /// What the answer will carry: a number, a string or null. Without one there is no answer.
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
    /// The request's id; null when the request could not be read.
    pub id: Value,
    /// What was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// One of the codes in [`code`].
    pub code: i64,
    /// What went wrong and what to do about it, for people.
    pub message: String,
    /// Details in a form for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Request {
    /// A request with an id.
    pub fn new(id: u64, method: &str, params: Value) -> Request {
        Request { jsonrpc: version(), id: Some(json!(id)), method: method.to_owned(), params }
    }

    /// A call of a tool.
    pub fn call(id: u64, tool: &str, arguments: &Value) -> Request {
        Request::new(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Reads a request from one line.
    pub fn read(line: &[u8]) -> Result<Request, Error> {
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| Error::new(code::PARSE, format!("the line is no JSON: {error}")))?;
        serde_json::from_value(value).map_err(|error| {
            Error::new(code::INVALID_REQUEST, format!("no JSON-RPC request: {error}"))
        })
    }

    /// As one line, with its newline.
    pub fn to_line(&self) -> Vec<u8> {
        line_of(self)
    }
}

impl Response {
    /// The answer to request `id`.
    pub fn new(id: Value, outcome: Result<Value, Error>) -> Response {
        let (result, error) = match outcome {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Response { jsonrpc: version(), id, result, error }
    }

    /// What was asked for, or why there is none.
    pub fn outcome(self) -> Result<Value, Error> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.result.unwrap_or_default()),
        }
    }

    /// As one line, with its newline.
    pub fn to_line(&self) -> Vec<u8> {
        line_of(self)
    }
}

impl Error {
    /// An error without more data.
    pub fn new(code: i64, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), data: None }
    }
}

/// A member that is there, be it null.
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
    fn a_bare_call_as_in_the_hybrid_close_document_is_a_request() {
        let line = br#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "session_tracking_close", "arguments": {"session_id": null, "reason": "hook_clear"}}}"#;
        let request = Request::read(line).unwrap();
        assert_eq!(request.method, "tools/call");
        assert_eq!(request.params["arguments"]["reason"], "hook_clear");
    }

    #[test]
    fn a_request_whose_id_is_null_is_no_notification() {
        let id = |line: &str| Request::read(line.as_bytes()).unwrap().id;
        assert_eq!(id(r#"{"id":null,"method":"ping"}"#), Some(Value::Null));
        assert_eq!(id(r#"{"method":"ping"}"#), None);
    }

    #[test]
    fn what_is_no_request_says_why() {
        assert_eq!(Request::read(b"{").unwrap_err().code, code::PARSE);
        let error = Request::read(b"{\"id\":1}").unwrap_err();
        assert_eq!(error.code, code::INVALID_REQUEST);
        assert_eq!(error.message, "no JSON-RPC request: missing field `method`");
    }

    #[test]
    fn an_answer_survives_its_line() {
        for outcome in [Ok(json!({"a": 1})), Err(Error::new(code::NOT_FOUND, "no"))] {
            let response = Response::new(json!(7), outcome.clone());
            let line = response.to_line();
            assert_eq!(line.last(), Some(&b'\n'));
            let read: Response = serde_json::from_slice(&line).unwrap();
            assert_eq!(read.outcome(), outcome);
        }
    }
}
