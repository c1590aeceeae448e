//! Checks hostile lines on the socket, from clients and, in `graphiti mcp`, from agents' programs.

use std::sync::LazyLock;

use graphiti_proto::{
    frame::LineSplitter,
    methods,
    rpc::{Request, Response},
    tools,
};
use graphitid::api::{client_context::ClientContext, fuzzing};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[path = "../../../client/src/mcp/relay.rs"]
mod relay;

use relay::{Relay, Routing};

pub(super) const WORDS: &[&str] = &[
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"",
    "tools/call",
    "initialize",
    "ping",
    "graphiti/hello",
    "\"params\":{\"name\":\"search_sessions\",\"arguments\":{",
    "\"_meta\":{\"graphiti/caller\":{\"processes\":[",
    "notifications/cancelled",
    "\"requestId\":1",
    "\"progressToken\":1",
    "\"protocolVersion\":\"2025-11-25\"",
    "io.modelcontextprotocol/protocolVersion",
    "\"result\":{\"serverInfo\":{\"version\":\"1\"}}",
    "graphiti/handshake/1",
    "\"session_id\":null",
    "\"limit\":-1",
    "\"error\":{\"code\":-32700,\"message\":\"",
];

static CALLER: LazyLock<Value> =
    LazyLock::new(|| json!({ "graphiti/caller": { "session_id": "s" } }));

pub(super) fn check(bytes: &[u8]) {
    let lines = lines_of(bytes, usize::MAX);
    let piece = 1 + bytes.first().map_or(0, |byte| usize::from(*byte) % 7);
    assert_eq!(lines, lines_of(bytes, piece), "reading in pieces gives other lines");
    let mut relay = Relay::new(&CALLER);
    for line in &lines {
        server(line);
        client(line);
        let mut both = [relay.take_from_host(line), relay.take_from_daemon(line)].into_iter();
        assert!(both.all(|next| match next {
            Routing::ToDaemon(sent) | Routing::ToHost(sent) => is_one_line(&sent),
            Routing::Nothing => true,
        }));
    }
    assert!(relay.handshake(1).iter().all(|line| is_one_line(line)));
    assert!(relay.fail_pending("gone").iter().all(|line| is_one_line(line)));
    assert!(relay.is_idle());
}

fn lines_of(bytes: &[u8], piece: usize) -> Vec<Vec<u8>> {
    let mut lines = LineSplitter::default();
    let mut found = Vec::new();
    for piece in bytes.chunks(piece) {
        lines.push(piece);
        while let Some(line) = lines.next_line().expect("the line is short") {
            found.push(line);
        }
    }
    assert_eq!(lines.is_within_line(), bytes.last().is_some_and(|last| *last != b'\n'));
    found
}

fn is_one_line(sent: &[u8]) -> bool {
    sent.iter().filter(|byte| **byte == b'\n').count() == 1 && sent.ends_with(b"\n")
}

/// Checks how the daemon reads a line.
fn server(line: &[u8]) {
    let request = match Request::read(line) {
        Ok(request) => request,
        Err(error) => {
            let answer = Response::new(Value::Null, Err(error)).to_line();
            assert!(is_one_line(&answer) && answer.len() <= 4 * line.len() + 1_024);
            return;
        }
    };
    assert!(is_one_line(&request.to_line()));
    let again = Request::read(&request.to_line()).expect("a written request can be read");
    assert_eq!(again, request);
    let caller = ClientContext::new(None, &request.params);
    assert!(caller.processes.len() <= 64, "{} processes", caller.processes.len());
    fuzzing::is_mcp_message(line);
    for read in ARGUMENTS {
        read(&request.params);
        read(&request.params["arguments"]);
    }
}

/// Checks how a client reads a line.
fn client(line: &[u8]) {
    if let Ok(response) = serde_json::from_slice::<Response>(line) {
        assert!(is_one_line(&response.to_line()));
        // Only a panic matters.
        let _ = response.outcome();
    }
}

const ARGUMENTS: &[fn(&Value)] = &[
    reads::<tools::close::CloseArguments>,
    reads::<tools::add_memory::AddMemoryArguments>,
    reads::<tools::get_session::GetSessionArguments>,
    reads::<tools::search_sessions::SearchSessionsArguments>,
    reads::<tools::get_episodes::GetEpisodesArguments>,
    reads::<tools::get_handoff::GetHandoffArguments>,
    reads::<tools::sync_history::SyncHistoryArguments>,
    reads::<tools::search_memory_facts::SearchFactsArguments>,
    reads::<methods::Hello>,
    reads::<methods::Settle>,
    reads::<methods::hook::HookEvent>,
    reads::<methods::forget::Forget>,
    reads::<methods::transfer::ImportRequest>,
    reads::<methods::models::Tools>,
];

fn reads<T: DeserializeOwned>(value: &Value) {
    // Only a panic matters.
    let _ = serde_json::from_value::<T>(value.clone());
}
