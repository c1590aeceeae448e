//! A mock model on this machine: a server with the chat completions protocol that answers as the test
//! prescribes. After a malformed request, the test fails.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub enum ModelReply {
    /// A completion whose text is this JSON.
    Json(Value),
    /// A completion with this text.
    Text(String),
    /// A vector for each text.
    Vectors(Vec<Vec<f32>>),
    /// The list of models: `some-model`.
    List,
    /// An error with this status.
    Status(u16),
    /// Status 429 with `retry-after`, in seconds.
    Later(u32),
}

type Answer = dyn Fn(&ModelRequest) -> ModelReply + Send + Sync;

/// A request that the mock model received.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The method, path and version.
    pub start: String,
    /// The headers, with names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

pub struct MockModel {
    address: String,
    serving: Arc<Serving>,
}

struct Serving {
    requests: Mutex<Vec<ModelRequest>>,
    answer: Mutex<Arc<Answer>>,
    /// Malformed requests and what is wrong with them.
    complaints: Mutex<Vec<String>>,
}

impl ModelRequest {
    /// Returns the purpose: the name of the schema of the answer, `embeddings` or `text`.
    pub fn purpose(&self) -> &str {
        if self.body.get("input").is_some() {
            return "embeddings";
        }
        self.body["response_format"]["json_schema"]["name"].as_str().unwrap_or("text")
    }

    /// Returns the texts for which vectors are requested.
    pub fn texts(&self) -> Vec<&str> {
        self.body["input"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    pub fn system(&self) -> &str {
        self.body["messages"][0]["content"].as_str().expect("a system message")
    }

    /// Returns the message of the user.
    pub fn prompt(&self) -> &str {
        self.body["messages"][1]["content"].as_str().expect("a question")
    }

    /// Returns the part of the prompt that comes from a transcript, and the text around this part.
    pub fn material(&self) -> (&str, String) {
        let (before, rest) = self.prompt().split_once("<material-").expect("marked material");
        let (mark, rest) = rest.split_once('>').expect("the end of a mark");
        let (material, after) = rest.split_once(&format!("</material-{mark}>")).expect("its end");
        (material, format!("{before}{after}"))
    }

    /// Checks the request against the documented protocol. The error is the name of the wrong part.
    fn check(&self) -> Result<(), String> {
        let is = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        let header = |name: &str| self.headers.get(name).map_or("", String::as_str);
        is(header("content-type") == "application/json", "content type")?;
        let body = self.body.as_object().ok_or("no object")?;
        if self.start == "POST /v1/embeddings HTTP/1.1" {
            let known = ["model", "input", "dimensions", "encoding_format"];
            is(body.keys().all(|key| known.contains(&key.as_str())), "unknown key")?;
            is(self.body["model"].is_string(), "model")?;
            return is(!self.texts().is_empty(), "input");
        }
        is(self.start == "POST /v1/chat/completions HTTP/1.1", "start line")?;
        let known = ["model", "messages", "max_tokens", "max_completion_tokens", "response_format"];
        is(body.keys().all(|key| known.contains(&key.as_str())), "unknown key")?;
        is(self.body["model"] == "some-model", "model")?;
        let limits = [&self.body["max_tokens"], &self.body["max_completion_tokens"]];
        is(limits.iter().filter(|limit| limit.as_u64() > Some(0)).count() == 1, "limits")?;
        let messages = self.body["messages"].as_array().ok_or("no messages")?;
        let roles: Vec<&str> =
            messages.iter().filter_map(|message| message["role"].as_str()).collect();
        is(roles == ["system", "user"], "roles")?;
        is(messages.iter().all(|message| message["content"].is_string()), "contents")?;
        let Some(format) = body.get("response_format") else { return Ok(()) };
        let schema = &format["json_schema"];
        is(format["type"] == "json_schema" && schema["name"].is_string(), "response format")?;
        let is_closed = schema["schema"]["additionalProperties"] == false;
        is(schema["schema"].is_object() && schema["strict"] == is_closed, "schema")
    }
}

impl MockModel {
    /// Starts a model that answers with `answer`. The server ends with the test's process.
    pub fn start(
        answer: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static,
    ) -> MockModel {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let serving = Arc::new(Serving {
            requests: Mutex::default(),
            answer: Mutex::new(Arc::new(answer)),
            complaints: Mutex::default(),
        });
        let model = MockModel { address, serving: serving.clone() };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(stream));
            }
        });
        model
    }

    /// Answers with `answer` from now on.
    pub fn answers(&self, answer: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static) {
        *lock(&self.serving.answer) = Arc::new(answer);
    }

    /// Returns the well-formed requests so far, without those for the list of models.
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.serving.requests).clone()
    }

    pub fn purposes(&self) -> Vec<String> {
        self.requests().iter().map(|request| request.purpose().to_owned()).collect()
    }

    /// Returns the settings with which the daemon uses this model without retries, also for
    /// summaries. `more` are further settings under `llm`.
    pub fn settings(&self, more: &Value) -> Value {
        let mut llm = json!({
            "provider": "openai",
            "base_url": format!("http://{}/v1", self.address),
            "model": "some-model",
            "max_retries": 0,
            "price": { "input_per_mtok": 1.0, "output_per_mtok": 10.0 },
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            llm[key] = value.clone();
        }
        json!({ "auto_summarize": true, "llm": llm })
    }

    /// Returns the settings with which the daemon uses this model for vectors, under this name.
    pub fn embeddings(&self, name: &str) -> Value {
        json!({ "embeddings": {
            "provider": "openai",
            "base_url": format!("http://{}/v1", self.address),
            "model": name,
            "query_timeout": 60,
        }})
    }
}

impl Drop for MockModel {
    fn drop(&mut self) {
        if !thread::panicking() {
            assert_eq!(*lock(&self.serving.complaints), [""; 0], "malformed requests");
        }
    }
}

impl Serving {
    fn serve(&self, stream: TcpStream) {
        let mut writer = stream.try_clone().expect("a second handle");
        let mut reader = BufReader::new(stream);
        while let Some(request) = next_request(&mut reader) {
            let lists_models = request.start.starts_with("GET /v1/models?");
            let reply = match request.check() {
                _ if lists_models => ModelReply::List,
                Ok(()) => {
                    lock(&self.requests).push(request.clone());
                    let answer = lock(&self.answer).clone();
                    answer(&request)
                }
                Err(complaint) => {
                    lock(&self.complaints).push(format!("{complaint}: {request:?}"));
                    ModelReply::Status(400)
                }
            };
            let refusal = || r#"{"error":{"message":"no"}}"#.to_owned();
            let (status, header, text) = match reply {
                ModelReply::Json(json) => (200, String::new(), completion(&json.to_string())),
                ModelReply::Text(text) => (200, String::new(), completion(&text)),
                ModelReply::Vectors(vectors) => (200, String::new(), embeddings(&vectors)),
                ModelReply::List => {
                    (200, String::new(), json!({ "data": [{ "id": "some-model" }] }).to_string())
                }
                ModelReply::Status(status) => (status, String::new(), refusal()),
                ModelReply::Later(seconds) => {
                    (429, format!("retry-after: {seconds}\r\n"), refusal())
                }
            };
            let length = text.len();
            let head = format!(
                "HTTP/1.1 {status} Whatever\r\ncontent-type: application/json\r\n{header}content-length: {length}\r\n\r\n"
            );
            if writer.write_all((head + &text).as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn completion(text: &str) -> String {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "some-model-1",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": text },
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 1_000, "completion_tokens": 100 },
    })
    .to_string()
}

fn embeddings(vectors: &[Vec<f32>]) -> String {
    let rows = vectors.iter().enumerate();
    let rows: Vec<Value> =
        rows.map(|(index, vector)| json!({ "index": index, "embedding": vector })).collect();
    // The protocol permits any order.
    let rows: Vec<Value> = rows.into_iter().rev().collect();
    json!({ "object": "list", "data": rows, "usage": { "prompt_tokens": 10 } }).to_string()
}

/// Returns the next request; `None` when the caller has disconnected.
fn next_request(reader: &mut BufReader<TcpStream>) -> Option<ModelRequest> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let start = lines.first()?.clone();
    let header = |line: &String| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_lowercase(), value.trim().to_owned()))
    };
    let headers: BTreeMap<String, String> = lines.iter().skip(1).filter_map(header).collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(ModelRequest { start, headers, body })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
