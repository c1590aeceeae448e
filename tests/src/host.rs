//! An agent's program that talks to `graphiti mcp` over its standard input and output.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
};

use graphiti_proto::tools::STRUCTURED;
use serde_json::{Value, json};

/// A running `graphiti mcp` and the agent's end of the connection. The process is killed on drop.
pub struct McpHost {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
    /// Other messages that arrived before the expected answer, usually notifications.
    pub notifications: Vec<Value>,
}

#[expect(clippy::needless_pass_by_value, reason = "tests write their parameters in place")]
impl McpHost {
    /// Starts `graphiti mcp`, or a program that behaves like it.
    pub fn start(command: &mut Command) -> McpHost {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("start graphiti mcp");
        let output = BufReader::new(child.stdout.take().expect("its output is piped"));
        let input = child.stdin.take();
        McpHost { child, input, output, next_id: 1, notifications: Vec::new() }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Does the handshake, and returns the answer.
    pub fn initialize(&mut self, version: &str) -> Value {
        self.initialize_as("test", version)
    }

    /// Does the handshake as a client with this name.
    pub fn initialize_as(&mut self, client: &str, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": client, "version": "1" },
        });
        let answer = self.ask("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer["result"].clone()
    }

    /// Sends a request, and returns its answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Calls a tool with a structured answer. Returns the result, or the whole message if it contains
    /// an error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let meta = json!({ STRUCTURED: true });
        self.call_with(json!({ "name": tool, "arguments": arguments, "_meta": meta }))
    }

    /// Calls a tool as an agent does: the result is text for a model.
    pub fn call_for_model(&mut self, tool: &str, arguments: Value) -> Value {
        self.call_with(json!({ "name": tool, "arguments": arguments }))
    }

    fn call_with(&mut self, params: Value) -> Value {
        let answer = self.ask("tools/call", params);
        if answer["error"].is_null() { answer["result"].clone() } else { answer }
    }

    /// Sends a request, and returns its id.
    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(format!("{message}\n").as_bytes()).expect("graphiti mcp reads");
        input.flush().expect("graphiti mcp reads");
    }

    /// Returns the answer to a request.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().expect("an answer");
            if message["id"] == id {
                return message;
            }
            self.notifications.push(message);
        }
    }

    /// Returns the next message; `None` if there are no more messages.
    pub fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the output of graphiti mcp can be read");
        if line.is_empty() {
            return None;
        }
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}")))
    }

    /// Closes the input of the process; returns the remaining messages and the exit status.
    pub fn hang_up(mut self) -> (Vec<Value>, ExitStatus) {
        self.input = None;
        let mut rest = Vec::new();
        while let Some(message) = self.receive() {
            rest.push(message);
        }
        (rest, self.child.wait().expect("graphiti mcp ends"))
    }
}

impl Drop for McpHost {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
