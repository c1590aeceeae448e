//! A mock of a graph database on this machine: a server with Neo4j's Query API that answers read
//! statements with the rows that the test prescribes.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
};

use serde_json::{Value, json};

#[derive(Clone)]
pub struct MockGraph {
    address: String,
    serving: Arc<(Mutex<GraphRows>, Condvar)>,
}

#[derive(Default)]
struct GraphRows {
    /// Texts, each with the rows that answer the statements that contain the text. The rows are
    /// objects with the same members.
    rows: Vec<(String, Value)>,
    is_stalled: bool,
}

impl MockGraph {
    pub fn start() -> MockGraph {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let graph = MockGraph { address, serving: Arc::default() };
        let serving = graph.clone();
        // The thread ends with the test.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(stream));
            }
        });
        graph
    }

    /// Returns the settings with which a daemon shares `project` through this server.
    pub fn settings(&self, project: &str) -> Value {
        json!({ "share": {
            "engine": "neo4j", "url": format!("http://{}", self.address), "name": "Ann",
            "projects": [project],
        } })
    }

    /// Answers statements that contain `text` with these rows.
    pub fn answers(&self, text: &str, rows: Value) {
        let mut serving = self.serving.0.lock().unwrap_or_else(PoisonError::into_inner);
        serving.rows.push((text.to_owned(), rows));
    }

    /// Stops answering, or continues with the waiting statements.
    pub fn stalls(&self, is_stalled: bool) {
        self.serving.0.lock().unwrap_or_else(PoisonError::into_inner).is_stalled = is_stalled;
        self.serving.1.notify_all();
    }

    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let mut input = BufReader::new(stream.try_clone().ok()?);
        loop {
            let (mut length, mut line) = (0, String::new());
            while line != "\r\n" {
                line.clear();
                input.read_line(&mut line).ok().filter(|read| *read > 0)?;
                let lower = line.to_lowercase();
                if let Some(value) = lower.strip_prefix("content-length: ") {
                    length = value.trim().parse().ok()?;
                }
            }
            let mut body = vec![0; length];
            input.read_exact(&mut body).ok()?;
            let reply = match serde_json::from_slice::<Value>(&body) {
                Ok(body) => self.rows(body["statement"].as_str()?),
                Err(_) => json!({ "neo4j_version": "5.26.0" }),
            };
            let reply = reply.to_string();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", reply.len());
            stream.write_all((head + &reply).as_bytes()).ok()?;
        }
    }

    fn rows(&self, statement: &str) -> Value {
        let (serving, changed) = &*self.serving;
        let serving = serving.lock().unwrap_or_else(PoisonError::into_inner);
        let serving = changed
            .wait_while(serving, |serving| serving.is_stalled)
            .unwrap_or_else(PoisonError::into_inner);
        let found = serving.rows.iter().find(|(text, _)| statement.contains(text));
        let rows: Vec<Value> =
            found.and_then(|(_, rows)| rows.as_array().cloned()).unwrap_or_default();
        let first = rows.first().and_then(Value::as_object);
        let fields: Vec<String> = first.into_iter().flat_map(|row| row.keys().cloned()).collect();
        let values: Vec<Value> = rows
            .iter()
            .map(|row| fields.iter().map(|field| row[field].clone()).collect())
            .collect();
        json!({ "data": { "fields": fields, "values": values } })
    }
}
