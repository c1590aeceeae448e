//! Fake engines for tests: a server with the Redis protocol, and a server with Neo4j's API. They
//! record queries, and can be made to fail or to stall.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
};

use serde_json::Value;

/// A server with its state.
#[derive(Clone)]
pub(crate) struct FakeEngine {
    pub(crate) url: String,
    state: Arc<(Mutex<FakeState>, Condvar)>,
}

#[derive(Default)]
struct FakeState {
    /// The graph (or the HTTP request line) and the text of each query.
    queries: Vec<(String, String)>,
    behaviour: Behaviour,
    /// Texts of queries, with the rows to return if a query contains the text.
    answers: Vec<(&'static str, Value)>,
    run: u32,
    /// The number of queries that wait for the end of [`Behaviour::Stall`].
    stalled: usize,
}

/// How a server answers queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Behaviour {
    #[default]
    Work,
    /// Answers all queries with this error.
    Fail(&'static str),
    /// Answers queries that contain this text with an error.
    Reject(&'static str),
    /// Does not answer.
    Stall,
    /// Closes the connection.
    HangUp,
}

impl FakeEngine {
    pub(crate) fn falkordb() -> FakeEngine {
        FakeEngine::start("redis", speak_redis)
    }

    pub(crate) fn neo4j() -> FakeEngine {
        FakeEngine::start("http", speak_http)
    }

    fn start(scheme: &str, speak: fn(&FakeEngine, TcpStream) -> Option<()>) -> FakeEngine {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let engine = FakeEngine { url, state: Arc::default() };
        let accepting = engine.clone();
        // The thread ends with the test.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let engine = accepting.clone();
                thread::spawn(move || speak(&engine, stream));
            }
        });
        engine
    }

    pub(crate) fn set(&self, behaviour: Behaviour) {
        let (state, changed) = &*self.state;
        state.lock().unwrap().behaviour = behaviour;
        changed.notify_all();
    }

    /// Answers queries that contain `text` with these rows. All rows must have the same members.
    pub(crate) fn answer(&self, text: &'static str, rows: Value) {
        self.state.0.lock().unwrap().answers.push((text, rows));
    }

    /// Forgets the queries, like an engine that was restarted without its data.
    pub(crate) fn restart(&self) {
        let mut state = self.state.0.lock().unwrap();
        state.queries.clear();
        state.run += 1;
    }

    pub(crate) fn queries(&self) -> Vec<(String, String)> {
        self.state.0.lock().unwrap().queries.clone()
    }

    /// Returns the number of queries that contain `text`.
    pub(crate) fn count_queries_with(&self, text: &str) -> usize {
        self.queries().iter().filter(|(_, query)| query.contains(text)).count()
    }

    /// Blocks until a query is stalled.
    pub(crate) fn wait_until_stalled(&self) {
        let (state, changed) = &*self.state;
        let state = state.lock().unwrap();
        let _stalled = changed.wait_while(state, |state| state.stalled == 0).unwrap();
    }

    /// Records a query. Returns the rows or the error of the answer, or `None` to close the
    /// connection.
    fn query(&self, graph: String, text: String) -> Option<Result<Value, String>> {
        let (state, changed) = &*self.state;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.behaviour == Behaviour::Stall {
            state.stalled += 1;
            changed.notify_all();
            let is_stalled = |state: &mut FakeState| state.behaviour == Behaviour::Stall;
            state = changed.wait_while(state, is_stalled).unwrap_or_else(PoisonError::into_inner);
            state.stalled -= 1;
        }
        match state.behaviour.clone() {
            Behaviour::Fail(error) => return Some(Err(error.to_owned())),
            Behaviour::Reject(what) if text.contains(what) => {
                return Some(Err("errMsg: Invalid input".to_owned()));
            }
            Behaviour::HangUp => return None,
            Behaviour::Work | Behaviour::Reject(_) | Behaviour::Stall => {}
        }
        let answer = state.answers.iter().find(|(asked, _)| text.contains(asked));
        let rows = answer.map_or(Value::Array(Vec::new()), |(_, rows)| rows.clone());
        state.queries.push((graph, text));
        Some(Ok(rows))
    }
}

fn speak_redis(engine: &FakeEngine, mut stream: TcpStream) -> Option<()> {
    let mut input = BufReader::new(stream.try_clone().ok()?);
    loop {
        let arguments = command(&mut input)?;
        let name = arguments.first()?.to_uppercase();
        let reply = match name.as_str() {
            "GRAPH.QUERY" | "GRAPH.RO_QUERY" => {
                match engine.query(arguments.get(1)?.clone(), arguments.get(2)?.clone())? {
                    Ok(rows) => redis_rows(&rows),
                    Err(error) => format!("-{error}\r\n"),
                }
            }
            "INFO" => {
                let (behaviour, run) = {
                    let state = engine.state.0.lock().unwrap_or_else(PoisonError::into_inner);
                    (state.behaviour.clone(), state.run)
                };
                if behaviour == Behaviour::HangUp {
                    return None;
                }
                let text = format!("redis_version:8.2\r\nrun_id:run{run}\r\n");
                format!("${}\r\n{text}\r\n", text.len())
            }
            "MODULE" => "*0\r\n".to_owned(),
            _ => "+OK\r\n".to_owned(),
        };
        stream.write_all(reply.as_bytes()).ok()?;
    }
}

/// Converts objects to columns and rows.
fn table(rows: &Value) -> (Vec<String>, Vec<Vec<Value>>) {
    let rows: Vec<&Value> = rows.as_array().into_iter().flatten().collect();
    let first = rows.first().and_then(|row| row.as_object());
    let names: Vec<String> = first.into_iter().flat_map(|row| row.keys().cloned()).collect();
    let cells = |row: &&Value| names.iter().map(|name| row[name].clone()).collect();
    let values = rows.iter().map(cells).collect();
    (names, values)
}

/// Returns the reply of FalkorDB with these rows.
fn redis_rows(rows: &Value) -> String {
    let statistics = "*1\r\n+Cached execution: 0\r\n";
    let (names, values) = table(rows);
    if names.is_empty() {
        return format!("*1\r\n{statistics}");
    }
    let names = Value::from(names);
    let values = Value::from(values.into_iter().map(Value::from).collect::<Vec<_>>());
    format!("*3\r\n{}{}{statistics}", redis_value(&names), redis_value(&values))
}

fn redis_value(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(redis_value).collect();
            format!("*{}\r\n{}", items.len(), items.concat())
        }
        Value::String(text) => format!("${}\r\n{text}\r\n", text.len()),
        Value::Null => "$-1\r\n".to_owned(),
        other => format!("+{other}\r\n"),
    }
}

/// Reads a command: an array of texts.
fn command(input: &mut BufReader<TcpStream>) -> Option<Vec<String>> {
    let mut line = String::new();
    let mut length = |input: &mut BufReader<TcpStream>| -> Option<usize> {
        line.clear();
        input.read_line(&mut line).ok().filter(|read| *read > 0)?;
        line.trim().get(1..)?.parse().ok()
    };
    let count = length(input)?;
    let mut arguments = Vec::with_capacity(count);
    for _ in 0..count {
        let mut bytes = vec![0; length(input)? + 2];
        input.read_exact(&mut bytes).ok()?;
        bytes.truncate(bytes.len() - 2);
        arguments.push(String::from_utf8(bytes).ok()?);
    }
    Some(arguments)
}

fn speak_http(engine: &FakeEngine, mut stream: TcpStream) -> Option<()> {
    let mut input = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (mut head, mut line) = (String::new(), String::new());
        while line != "\r\n" {
            line.clear();
            input.read_line(&mut line).ok().filter(|read| *read > 0)?;
            head.push_str(&line);
        }
        let length = head.to_lowercase().split_once("content-length: ").map_or(0, |(_, rest)| {
            rest.split('\r').next().and_then(|length| length.parse().ok()).unwrap_or(0)
        });
        let mut body = vec![0; length];
        input.read_exact(&mut body).ok()?;
        let (status, reply) = match serde_json::from_slice::<Value>(&body) {
            Err(_) => (200, r#"{"neo4j_version":"5.26.0"}"#.to_owned()),
            Ok(body) => {
                let text = format!("{}\n{}", body["statement"].as_str()?, body["parameters"]);
                match engine.query(head.lines().next()?.to_owned(), text)? {
                    Ok(rows) => {
                        let (fields, values) = table(&rows);
                        let data = serde_json::json!({ "fields": fields, "values": values });
                        (202, serde_json::json!({ "data": data }).to_string())
                    }
                    Err(error) if error == "401" => (401, "{}".to_owned()),
                    Err(error) => {
                        let code = "Neo.ClientError.Statement.SyntaxError";
                        let error = serde_json::json!({ "code": code, "message": error });
                        (400, serde_json::json!({ "errors": [error] }).to_string())
                    }
                }
            }
        };
        let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n", reply.len());
        stream.write_all((head + &reply).as_bytes()).ok()?;
    }
}
