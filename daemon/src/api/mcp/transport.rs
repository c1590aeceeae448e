//! Connects the SDK to our line framing, so that the same limits apply to all clients.

use std::future::Future;

use graphiti_proto::rpc::{Error, Response, code};
use rmcp::{
    RoleServer,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::api::{input::LineReader, mcp::outgoing};

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
            match serde_json::from_slice(&line) {
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
