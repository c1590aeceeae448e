//! A model on this machine: a server that speaks the chat completions protocol and answers as the
//! test says.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use serde_json::{Value, json};

/// What a model says.
#[derive(Clone, Debug)]
pub enum Says {
    /// JSON as text.
    Json(Value),
    /// Any text.
    Text(String),
    /// A vector for each text.
    Vectors(Vec<Vec<f32>>),
    /// Nothing: the server answers with this status.
    Status(u16),
}

type Answer = dyn Fn(&Asked) -> Says + Send + Sync;

/// A question that came in.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The whole request.
    pub body: Value,
}

/// A server with a model.
pub struct Model {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    answer: Arc<Mutex<Arc<Answer>>>,
}

impl Asked {
    /// What is asked for, by the name of the schema of its answer.
    pub fn purpose(&self) -> &str {
        if self.body.get("input").is_some() {
            return "embeddings";
        }
        self.body["response_format"]["json_schema"]["name"].as_str().unwrap_or("text")
    }

    /// The texts that vectors are asked for.
    pub fn texts(&self) -> Vec<&str> {
        self.body["input"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// What the model is told first.
    pub fn system(&self) -> &str {
        self.body["messages"][0]["content"].as_str().expect("a system message")
    }

    /// The question.
    pub fn prompt(&self) -> &str {
        self.body["messages"][1]["content"].as_str().expect("a question")
    }
}

impl Model {
    /// A model that answers so. The server ends with the test's process.
    pub fn start(answer: impl Fn(&Asked) -> Says + Send + Sync + 'static) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let model = Model {
            address,
            asked: Arc::default(),
            answer: Arc::new(Mutex::new(Arc::new(answer))),
        };
        let (asked, answer) = (model.asked.clone(), model.answer.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, answer) = (asked.clone(), answer.clone());
                thread::spawn(move || serve(stream, &asked, &answer));
            }
        });
        model
    }

    /// It answers so from now on.
    pub fn answers(&self, answer: impl Fn(&Asked) -> Says + Send + Sync + 'static) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(answer);
    }

    /// The questions so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What they were for.
    pub fn purposes(&self) -> Vec<String> {
        self.asked().iter().map(|asked| asked.purpose().to_owned()).collect()
    }

    /// Settings under which it is asked once a question, for summaries too, with `more` settings
    /// under `llm`.
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
}

impl Model {
    /// Settings under which it makes vectors, as the model of this name.
    pub fn embeddings(&self, name: &str) -> Value {
        json!({ "embeddings": {
            "provider": "openai",
            "base_url": format!("http://{}/v1", self.address),
            "model": name,
            "query_timeout": 60,
        }})
    }
}

fn serve(stream: TcpStream, asked: &Mutex<Vec<Asked>>, answer: &Mutex<Arc<Answer>>) {
    let mut writer = stream.try_clone().expect("a second handle");
    let mut reader = BufReader::new(stream);
    while let Some(body) = request(&mut reader) {
        let question = Asked { body };
        asked.lock().unwrap_or_else(PoisonError::into_inner).push(question.clone());
        let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (status, text) = match answer(&question) {
            Says::Json(json) => (200, completion(&json.to_string())),
            Says::Text(text) => (200, completion(&text)),
            Says::Vectors(vectors) => (200, embeddings(&vectors)),
            Says::Status(status) => (status, json!({ "error": { "message": "no" } }).to_string()),
        };
        let length = text.len();
        let head = format!(
            "HTTP/1.1 {status} Whatever\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        if writer.write_all((head + &text).as_bytes()).is_err() {
            return;
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
    // Servers need not keep the order.
    let rows: Vec<Value> = rows.into_iter().rev().collect();
    json!({ "object": "list", "data": rows, "usage": { "prompt_tokens": 10 } }).to_string()
}

/// The body of the next request; nothing when the caller hung up.
fn request(reader: &mut BufReader<TcpStream>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
