//! Tracks the messages between an agent and the daemon, line by line, without I/O.

use std::collections::BTreeMap;

use graphiti_proto::{
    frame::LONGEST,
    rpc::{CALLER, Error, Response, code},
};
use serde_json::{Value, json};

/// The prefix of the ids of the relay's own handshake requests, whose answers are not forwarded.
const HANDSHAKE_ID_PREFIX: &str = "graphiti/handshake/";

/// The state of the conversation between the agent and the daemon.
pub(super) struct Relay {
    caller: Value,
    /// The agent's `initialize` request, once it was sent.
    initialize: Option<Value>,
    /// The agent's `initialized` notification.
    initialized: Option<Value>,
    /// The daemon's version at the handshake.
    version: Option<Value>,
    /// Requests without an answer so far, by the text of their ids.
    in_flight: BTreeMap<String, Value>,
}

/// What to do with a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Routing {
    ToDaemon(Vec<u8>),
    ToHost(Vec<u8>),
    Nothing,
}

impl Relay {
    /// Creates a relay that adds the caller in `meta` to the `_meta` of each request.
    pub(super) fn new(meta: &Value) -> Relay {
        let mut caller = meta[CALLER].clone();
        // This program may outlive the session in which it was started. A request may then belong
        // to another session.
        if let Some(caller) = caller.as_object_mut()
            && let Some(session) = caller.remove("session_id")
        {
            caller.insert("started_in".to_owned(), session);
        }
        Relay {
            caller,
            initialize: None,
            initialized: None,
            version: None,
            in_flight: BTreeMap::new(),
        }
    }

    /// Whether no request is pending.
    pub(super) fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Handles a line of the agent.
    pub(super) fn take_from_host(&mut self, line: &[u8]) -> Routing {
        let mut message: Value = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => {
                let error = Error::new(code::PARSE, format!("the line is not JSON: {error}"));
                return Routing::ToHost(Response::new(Value::Null, Err(error)).to_line());
            }
        };
        let id = message["id"].clone();
        match message["method"].as_str() {
            Some("notifications/initialized") => self.initialized = Some(message.clone()),
            Some("notifications/cancelled") => {
                self.in_flight.remove(&message["params"]["requestId"].to_string());
            }
            Some(method) if !id.is_null() => {
                if method == "initialize" {
                    self.initialize = Some(message.clone());
                }
                self.in_flight.insert(id.to_string(), id.clone());
                self.add_caller(&mut message);
            }
            _ => {}
        }
        let line = to_line(&message);
        match line.len() - 1 > LONGEST {
            true => self.refuse(id, message["method"].is_string()),
            false => Routing::ToDaemon(line),
        }
    }

    /// Answers a message that is too long for the daemon if it is a request. The daemon would end
    /// the connection.
    fn refuse(&mut self, id: Value, is_request: bool) -> Routing {
        if !is_request || id.is_null() {
            return Routing::Nothing;
        }
        self.in_flight.remove(&id.to_string());
        let limit = LONGEST >> 20;
        let why = format!("the request is longer than {limit} MiB; send a smaller request");
        Routing::ToHost(refusal(id, &why))
    }

    /// Handles a line of the daemon.
    pub(super) fn take_from_daemon(&mut self, line: &[u8]) -> Routing {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return Routing::ToHost([line, b"\n"].concat());
        };
        if message["method"].is_string() {
            return Routing::ToHost([line, b"\n"].concat());
        }
        let is_repeated =
            message["id"].as_str().is_some_and(|id| id.starts_with(HANDSHAKE_ID_PREFIX));
        let server = &message["result"]["serverInfo"]["version"];
        if server.is_string() {
            let before = self.version.replace(server.clone());
            let is_version_changed = before.is_some_and(|before| before != *server);
            if is_repeated && is_version_changed {
                let changed = json!({
                    "jsonrpc": "2.0", "method": "notifications/tools/list_changed",
                });
                return Routing::ToHost(to_line(&changed));
            }
        }
        // An answer without a pending request is dropped: the request was cancelled, or it was
        // answered with an error when the connection was lost.
        let is_pending = self.in_flight.remove(&message["id"].to_string()).is_some();
        if is_repeated || !is_pending && !message["id"].is_null() {
            return Routing::Nothing;
        }
        Routing::ToHost([line, b"\n"].concat())
    }

    /// Returns the first lines of connection `number`: a copy of the agent's handshake, if the agent
    /// has sent the handshake before.
    pub(super) fn handshake(&self, number: u64) -> Vec<Vec<u8>> {
        let Some(initialize) = &self.initialize else { return Vec::new() };
        // The agent's own `initialize` is not answered yet, and is the line that is sent next.
        if self.in_flight.contains_key(&initialize["id"].to_string()) {
            return Vec::new();
        }
        let mut initialize = initialize.clone();
        initialize["id"] = json!(format!("{HANDSHAKE_ID_PREFIX}{number}"));
        self.add_caller(&mut initialize);
        std::iter::once(&initialize).chain(&self.initialized).map(to_line).collect()
    }

    /// Returns an error for each pending request. No request is pending afterwards.
    pub(super) fn fail_pending(&mut self, why: &str) -> Vec<Vec<u8>> {
        let in_flight = std::mem::take(&mut self.in_flight);
        let answer = |id| Response::new(id, Err(Error::new(code::STOPPING, why))).to_line();
        in_flight.into_values().map(answer).collect()
    }

    fn add_caller(&self, message: &mut Value) {
        if message["params"].is_null() {
            message["params"] = json!({});
        }
        let mut caller = self.caller.clone();
        if let Some(session) = session_of_request(&message["params"]) {
            caller["session_id"] = json!(session);
        }
        let Some(params) = message["params"].as_object_mut() else { return };
        let meta = params.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(CALLER.to_owned(), caller);
        }
    }
}

/// Returns the answer to a request that is not forwarded.
pub(super) fn refusal(id: Value, why: &str) -> Vec<u8> {
    Response::new(id, Err(Error::new(code::INVALID_REQUEST, why))).to_line()
}

/// Returns the id of the session in a request: Codex sends the id in each call of a tool.
fn session_of_request(params: &Value) -> Option<&str> {
    let meta = &params["_meta"];
    [&meta["x-codex-turn-metadata"]["session_id"], &meta["sessionId"], &meta["threadId"]]
        .into_iter()
        .find_map(Value::as_str)
}

fn to_line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relay() -> Relay {
        Relay::new(&json!({ CALLER: { "session_id": "s-1", "directory": "/work" } }))
    }

    fn host(relay: &mut Relay, message: &Value) -> Routing {
        relay.take_from_host(message.to_string().as_bytes())
    }

    fn daemon(relay: &mut Relay, message: &Value) -> Routing {
        relay.take_from_daemon(message.to_string().as_bytes())
    }

    fn read(line: &[u8]) -> Value {
        serde_json::from_slice(line).unwrap()
    }

    fn to_daemon(next: Routing) -> Value {
        let Routing::ToDaemon(line) = next else { panic!("{next:?}") };
        read(&line)
    }

    #[test]
    fn the_session_id_is_read_from_each_call_of_codex() {
        let call = json!({ "name": "get_session", "_meta": {
            "threadId": "t", "x-codex-turn-metadata": { "session_id": "s", "thread_id": "t" },
        } });
        assert_eq!(session_of_request(&call), Some("s"));
        assert_eq!(session_of_request(&json!({ "_meta": { "threadId": "t" } })), Some("t"));
        assert_eq!(session_of_request(&json!({ "_meta": { "progressToken": 2 } })), None);
        assert_eq!(session_of_request(&Value::Null), None);
    }

    #[test]
    fn a_session_id_in_a_request_becomes_the_callers_session_id() {
        let mut relay = relay();
        let call = json!({ "id": 1, "method": "tools/call", "params": {
            "name": "get_session",
            "_meta": { "x-codex-turn-metadata": { "session_id": "s-2", "thread_id": "t" } },
        } });
        let sent = to_daemon(host(&mut relay, &call));
        assert_eq!(sent["params"]["_meta"][CALLER]["session_id"], "s-2");
        assert_eq!(sent["params"]["_meta"][CALLER]["started_in"], "s-1");
        let sent = to_daemon(host(&mut relay, &json!({ "id": 2, "method": "tools/list" })));
        assert!(sent["params"]["_meta"][CALLER]["session_id"].is_null());
    }

    #[test]
    fn the_caller_is_added_to_requests_and_nothing_else_changes() {
        let mut relay = relay();
        let sent = to_daemon(host(&mut relay, &json!({ "id": 1, "method": "tools/list" })));
        assert_eq!(
            sent["params"]["_meta"][CALLER],
            json!({ "directory": "/work", "started_in": "s-1" })
        );
        let call = json!({ "id": 2, "method": "tools/call", "params": { "_meta": { "progressToken": 3 } } });
        let sent = to_daemon(host(&mut relay, &call));
        assert_eq!(sent["params"]["_meta"]["progressToken"], 3);
        let notification = json!({ "method": "notifications/roots/list_changed" });
        assert_eq!(to_daemon(host(&mut relay, &notification)), notification);
    }

    #[test]
    fn each_pending_request_is_answered_once() {
        let mut relay = relay();
        for id in [json!(1), json!("two"), json!(3)] {
            host(&mut relay, &json!({ "id": id, "method": "tools/call" }));
        }
        daemon(&mut relay, &json!({ "id": 1, "result": {} }));
        host(
            &mut relay,
            &json!({
                "method": "notifications/cancelled", "params": { "requestId": 3 }
            }),
        );
        let lost = relay.fail_pending("gone");
        assert_eq!(lost.len(), 1);
        let answer = read(&lost[0]);
        assert_eq!(answer["id"], "two");
        assert_eq!(answer["error"]["message"], "gone");
        assert!(relay.is_idle() && relay.fail_pending("gone").is_empty());
        // A late answer of the old daemon.
        assert_eq!(daemon(&mut relay, &json!({ "id": "two", "result": {} })), Routing::Nothing);
    }

    #[test]
    fn the_handshake_is_repeated_and_its_second_answer_is_not_forwarded() {
        let mut relay = relay();
        assert_eq!(relay.handshake(1), [] as [Vec<u8>; 0]);
        host(&mut relay, &json!({ "id": 0, "method": "initialize", "params": { "x": 1 } }));
        assert_eq!(
            relay.handshake(1),
            [] as [Vec<u8>; 0],
            "the agent's own `initialize` is still pending, so it is not repeated"
        );
        let version = |version: &str| json!({ "serverInfo": { "version": version } });
        daemon(&mut relay, &json!({ "id": 0, "result": version("1") }));
        host(&mut relay, &json!({ "method": "notifications/initialized" }));
        let repeated: Vec<Value> = relay.handshake(2).iter().map(|line| read(line)).collect();
        assert_eq!(repeated.len(), 2);
        assert_eq!(repeated[0]["params"]["x"], 1);
        assert_eq!(repeated[1]["method"], "notifications/initialized");
        let answer = json!({ "id": repeated[0]["id"], "result": version("1") });
        assert_eq!(daemon(&mut relay, &answer), Routing::Nothing);
        // Another version may have other tools.
        let answer = json!({ "id": repeated[0]["id"], "result": version("2") });
        let Routing::ToHost(line) = daemon(&mut relay, &answer) else { panic!() };
        assert_eq!(read(&line)["method"], "notifications/tools/list_changed");
    }

    #[test]
    fn a_request_that_is_too_long_for_the_daemon_is_answered_with_an_error() {
        let call = |length: usize| {
            json!({
                "method": "tools/call", "params": { "arguments": "x".repeat(length) }, "id": 7,
            })
        };
        let mut relay = relay();
        // The caller, which the relay adds, counts, too.
        for length in [LONGEST + 1, LONGEST - 100] {
            let Routing::ToHost(line) = host(&mut relay, &call(length)) else { panic!() };
            let answer = read(&line);
            assert_eq!(
                (&answer["id"], &answer["error"]["code"]),
                (&json!(7), &json!(code::INVALID_REQUEST))
            );
            assert!(relay.is_idle());
        }
        let answer = json!({ "id": 8, "result": "x".repeat(LONGEST) });
        assert_eq!(host(&mut relay, &answer), Routing::Nothing);
        to_daemon(host(&mut relay, &call(LONGEST - 1000)));
        assert!(!relay.is_idle());
    }

    #[test]
    fn invalid_json_is_answered_with_an_error() {
        let Routing::ToHost(line) = relay().take_from_host(b"{") else { panic!() };
        assert_eq!(read(&line)["error"]["code"], code::PARSE);
    }
}
