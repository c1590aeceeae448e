//! A local server that checks each request by the rules of a provider, and answers as scripted.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};
use tokio::sync::Notify;

/// The reaction of the server to a request.
pub(super) enum Play {
    Reply {
        status: u16,
        headers: &'static str,
        body: String,
    },
    /// Sends the start of a longer body and closes the connection.
    Cut(String),
    /// Closes the connection without a response.
    HangUp,
    Silence,
    /// Holds back an answer until the test releases it.
    Held(u16, String),
}

#[derive(Clone, Debug)]
pub(super) struct ReceivedRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Value,
}

pub(super) struct Server {
    pub(super) address: String,
    state: Arc<ServerState>,
}

struct ServerState {
    check: fn(&ReceivedRequest) -> Result<(), String>,
    script: Mutex<VecDeque<Play>>,
    seen: Mutex<Vec<ReceivedRequest>>,
    /// Notified when a request gets no answer.
    silent: Arc<Notify>,
    /// Notified when an answer is held back.
    held: Notify,
    /// The number of released answers that are not sent yet.
    released: (Mutex<u32>, std::sync::Condvar),
    open: Mutex<Vec<TcpStream>>,
}

impl Server {
    /// Starts a server that plays `script`, one entry for each request, and refuses later requests.
    pub(super) fn new(
        check: fn(&ReceivedRequest) -> Result<(), String>,
        script: Vec<Play>,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(ServerState {
            check,
            script: Mutex::new(script.into()),
            seen: Mutex::default(),
            silent: Arc::default(),
            held: Notify::new(),
            released: Default::default(),
            open: Mutex::default(),
        });
        let serving = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let state = serving.clone();
                let stream = stream.unwrap();
                thread::spawn(move || serve(&state, stream));
            }
        });
        Server { address, state }
    }

    pub(super) fn seen(&self) -> Vec<ReceivedRequest> {
        self.state.seen.lock().unwrap().clone()
    }

    /// Returns the request, and asserts that there was only one.
    pub(super) fn only(&self) -> ReceivedRequest {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }

    pub(super) fn silence(&self) -> Arc<Notify> {
        self.state.silent.clone()
    }

    /// Waits until an answer is held back.
    pub(super) async fn wait_until_held(&self) {
        self.state.held.notified().await;
    }

    pub(super) fn release(&self) {
        *self.state.released.0.lock().unwrap() += 1;
        self.state.released.1.notify_all();
    }
}

impl ReceivedRequest {
    pub(super) fn prompt(&self) -> &str {
        let messages = self.body["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].as_str().unwrap()
    }
}

pub(super) fn ok(body: &Value) -> Play {
    Play::Reply { status: 200, headers: "", body: body.to_string() }
}

pub(super) fn status(status: u16, headers: &'static str, body: &Value) -> Play {
    Play::Reply { status, headers, body: body.to_string() }
}

fn serve(state: &ServerState, stream: TcpStream) {
    let Some(seen) = read(&stream) else { return };
    let wrong = (state.check)(&seen);
    state.seen.lock().unwrap().push(seen);
    let play = match wrong {
        Ok(()) => state.script.lock().unwrap().pop_front(),
        Err(wrong) => {
            Some(status(400, "", &json!({"error": {"message": format!("form: {wrong}")}})))
        }
    };
    let refused = || status(418, "", &json!({"error": {"message": "nothing more to play"}}));
    match play.unwrap_or_else(refused) {
        Play::Reply { status, headers, body } => answer(stream, status, headers, &body, body.len()),
        Play::Cut(body) => answer(stream, 200, "", &body, body.len() + 100),
        Play::HangUp => drop(stream),
        Play::Silence => {
            state.open.lock().unwrap().push(stream);
            state.silent.notify_one();
        }
        Play::Held(status, body) => {
            state.held.notify_one();
            let mut released = state.released.0.lock().unwrap();
            while *released == 0 {
                released = state.released.1.wait(released).unwrap();
            }
            *released -= 1;
            drop(released);
            answer(stream, status, "", &body, body.len());
        }
    }
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    if method == "GET" {
        return Some(ReceivedRequest { method, path, headers, body: Value::Null });
    }
    assert_eq!(method, "POST");
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(ReceivedRequest { method, path, headers, body: serde_json::from_slice(&body).ok()? })
}

fn answer(mut stream: TcpStream, status: u16, headers: &str, body: &str, length: usize) {
    let head = format!(
        "HTTP/1.1 {status} Played\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n{headers}\r\n"
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    let _ = stream.shutdown(Shutdown::Both);
}
