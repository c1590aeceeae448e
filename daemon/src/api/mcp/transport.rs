//! Connects the SDK to our line framing, so that the same limits apply to all clients.

use std::{borrow::Cow, future::Future};

use graphiti_proto::{
    rpc::{Error, Response, code},
    tools::STRUCTURED,
};
use rmcp::{
    RoleServer,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::api::{client_context::STRUCTURED_ARGUMENT, input::LineReader, mcp::outgoing};

/// Implements the SDK's transport.
pub(in crate::api) struct LineTransport {
    /// The first line, which selected the protocol.
    first: Option<Vec<u8>>,
    input: LineReader,
    answers: mpsc::Sender<Vec<u8>>,
}

/// The client does not read any more.
#[derive(Debug, thiserror::Error)]
#[error("the client disconnected")]
pub(in crate::api) struct Disconnected;

impl LineTransport {
    /// Continues a connection whose line `first` was already read.
    pub(in crate::api) fn new(
        first: Vec<u8>,
        input: LineReader,
        answers: mpsc::Sender<Vec<u8>>,
    ) -> LineTransport {
        LineTransport { first: Some(first), input, answers }
    }

    async fn refuse(&self, line: &[u8], error: Error) {
        let id = serde_json::from_slice(line).map_or(Value::Null, |line: Value| line["id"].clone());
        // Sending fails only when the client has disconnected.
        let _ = self.answers.send(Response::new(id, Err(error)).to_line()).await;
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = Disconnected;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Disconnected>> + Send + 'static {
        let line = outgoing::line(&message);
        let answers = self.answers.clone();
        async move { answers.send(line).await.map_err(|_| Disconnected) }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = match self.first.take() {
                Some(line) => line,
                None => match self.input.next().await? {
                    Ok(line) => line.bytes,
                    Err(error) => {
                        let error = Error::new(code::INVALID_REQUEST, error.to_string());
                        self.refuse(&[], error).await;
                        return None;
                    }
                },
            };
            match serde_json::from_slice(&with_form(&line)) {
                Ok(message) => return Some(message),
                Err(error) => {
                    let code = if error.is_data() { code::INVALID_REQUEST } else { code::PARSE };
                    let what = format!("not a message of the Model Context Protocol: {error}");
                    self.refuse(&line, Error::new(code, what)).await;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Disconnected> {
        Ok(())
    }
}

/// The method that lists the tools.
const LIST_TOOLS: &str = "tools/list";
/// Maximum length, in bytes, of a request that lists the tools.
const MAX_LIST_REQUEST: usize = 4_096;

/// Copies `structured: true` of a request for the list of tools into its `_meta`. The SDK drops
/// unknown parameters, and the list has output schemas only for structured answers.
fn with_form(line: &[u8]) -> Cow<'_, [u8]> {
    let is_list =
        |line: &[u8]| line.windows(LIST_TOOLS.len()).any(|window| window == LIST_TOOLS.as_bytes());
    if line.len() > MAX_LIST_REQUEST || !is_list(line) {
        return Cow::Borrowed(line);
    }
    let Ok(mut request) = serde_json::from_slice::<Value>(line) else { return Cow::Borrowed(line) };
    let is_asked = request["method"] == LIST_TOOLS
        && request["params"][STRUCTURED_ARGUMENT] == true
        && matches!(request["params"]["_meta"], Value::Null | Value::Object(_))
        && request["params"]["_meta"][STRUCTURED].is_null();
    if !is_asked {
        return Cow::Borrowed(line);
    }
    request["params"]["_meta"][STRUCTURED] = Value::Bool(true);
    Cow::Owned(request.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_list_of_tools_is_structured_if_only_the_argument_requests_it() {
        let sent = |method: &str, params: Value| -> Value {
            let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            serde_json::from_slice(&with_form(request.to_string().as_bytes())).unwrap()
        };
        let asked = sent("tools/list", json!({ "structured": true }));
        assert_eq!(asked["params"]["_meta"][STRUCTURED], true);
        for params in [json!({}), json!({ "structured": false })] {
            assert!(sent("tools/list", params)["params"]["_meta"].is_null());
        }
        let other = json!({ "structured": true, "_meta": { STRUCTURED: false } });
        assert_eq!(sent("tools/list", other)["params"]["_meta"][STRUCTURED], false);
        assert!(sent("tools/call", json!({ "structured": true }))["params"]["_meta"].is_null());
        let wrong = json!({ "structured": true, "_meta": "x" });
        assert_eq!(sent("tools/list", wrong)["params"]["_meta"], "x");
        assert_eq!(&*with_form(b"not JSON: tools/list"), b"not JSON: tools/list");
    }
}
