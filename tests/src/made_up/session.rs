//! Generated sessions of any length, the same in every run.
//!
//! The parts have the same shares of bytes as in the corpus: more than half are outputs of tools
//! (most of them twice, as text and structured), a tenth are progress reports, and less than a
//! tenth is text that is stored.

use std::{
    collections::VecDeque,
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use graphitid::{clock, model::Timestamp};
use serde_json::{Value, json};

use super::{Library, history};
use crate::Random;

/// The start of the sessions of a history, in seconds since the epoch; each record is a second
/// later.
const BEGIN: i64 = 1_780_000_000;
/// Number of steps of a turn: the prompt and the agent's steps.
const STEPS: usize = 12;

pub struct GeneratedSession {
    id: String,
    cwd: String,
    path: PathBuf,
    random: Random,
    steps: usize,
    /// Records of the last step that were not returned yet.
    waiting: VecDeque<Value>,
    records: u64,
    /// Number of created records with an id.
    identified: u64,
    begin: i64,
    /// Whether the file gets an old modification time.
    is_past: bool,
}

/// The output of a tool.
struct CallResult<'a> {
    output: &'a str,
    failed: bool,
    structured: &'a Value,
}

impl<'a> CallResult<'a> {
    fn succeeded(output: &'a str, structured: &'a Value) -> CallResult<'a> {
        CallResult { output, failed: false, structured }
    }
}

impl GeneratedSession {
    /// Creates the session with this number, in one of 23 projects; its file does not exist yet.
    /// `projects` is the agent's folder.
    pub fn new(projects: &Path, number: u64) -> GeneratedSession {
        let project = number % 23;
        let folder = projects.join(format!("-home-ann-app{project}"));
        std::fs::create_dir_all(&folder).expect("make a folder");
        let id = format!("{number:08x}-0000-4000-8000-000000000000");
        GeneratedSession {
            path: folder.join(format!("{id}.jsonl")),
            cwd: format!("/home/ann/app{project}"),
            id,
            random: Random::new(number),
            steps: 0,
            waiting: VecDeque::new(),
            records: 0,
            identified: 0,
            begin: BEGIN + i64::try_from(number).expect("a small number") * 600,
            is_past: true,
        }
    }

    /// Continues the session with this number: [`write`](Self::write) appends records to its file.
    pub fn continued(projects: &Path, number: u64) -> GeneratedSession {
        let random = Random::new(!number);
        let begin = clock::now().micros() / 1_000_000;
        let past = GeneratedSession::new(projects, number);
        GeneratedSession { random, identified: 1_000_000, begin, is_past: false, ..past }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the next record, as a line without its end: a prompt, or a part of a step of the agent.
    /// `at` is the time of the record, in seconds since the epoch.
    pub fn line(&mut self, library: &Library, at: i64) -> String {
        while self.waiting.is_empty() {
            let records = self.step(library, self.steps % STEPS);
            self.waiting.extend(records);
            self.steps += 1;
        }
        let mut record = self.waiting.pop_front().expect("a step has records");
        if record.get("uuid").is_some() {
            record["timestamp"] = json!(Timestamp::from_seconds(at).to_string());
        }
        self.records += 1;
        record.to_string()
    }

    /// Appends records of at least `bytes` bytes.
    pub fn write(&mut self, library: &Library, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let file = File::options().create(true).append(true).open(&self.path);
        let mut file = BufWriter::new(file.expect("open a transcript"));
        let mut written = 0;
        while written < bytes {
            let at = self.begin + i64::try_from(self.records).expect("a small number");
            let line = self.line(library, at);
            writeln!(file, "{line}").expect("write a transcript");
            written += line.len() as u64 + 1;
        }
        file.flush().expect("write a transcript");
        if self.is_past {
            history::age(&self.path);
        }
    }

    fn step(&mut self, library: &Library, step: usize) -> Vec<Value> {
        if step == 0 {
            let text = library.prose(&mut self.random, 400);
            let snapshot = json!({ "messageId": self.uuid(), "trackedFileBackups": {} });
            return vec![
                json!({ "type": "file-history-snapshot", "snapshot": snapshot }),
                self.record("user", json!({ "message": { "role": "user", "content": text } })),
            ];
        }
        let mut records = vec![self.thought(library)];
        if step.is_multiple_of(3) {
            let text = library.prose(&mut self.random, 700);
            records.push(self.assistant(&json!({ "type": "text", "text": text })));
        }
        match self.random.below(10) {
            0..4 => self.reading(library, &mut records),
            4..7 => self.command(library, &mut records),
            7..9 => self.edit(library, &mut records),
            _ => self.sub_agent(library, &mut records),
        }
        records
    }

    fn thought(&mut self, library: &Library) -> Value {
        let thinking = library.prose(&mut self.random, 600);
        let signature = library.noise(&mut self.random, 1_200);
        self.assistant(&json!({ "type": "thinking", "thinking": thinking, "signature": signature }))
    }

    fn reading(&mut self, library: &Library, records: &mut Vec<Value>) {
        let path = library.path(&mut self.random);
        let content = library.code(&mut self.random, 6_000);
        let numbered: String = content
            .lines()
            .enumerate()
            .map(|(number, line)| format!("{:>6}\t{line}\n", number + 1))
            .collect();
        let structured =
            json!({ "type": "text", "file": { "filePath": path, "content": content } });
        self.add_tool_call(
            "Read",
            &json!({ "file_path": path }),
            &CallResult::succeeded(&numbered, &structured),
            records,
        );
    }

    fn command(&mut self, library: &Library, records: &mut Vec<Value>) {
        let failed = self.random.below(6) == 0;
        let name = library.word(&mut self.random);
        let output = library.code(&mut self.random, 2_500);
        let output = match failed {
            true => format!("Exit code 101\n{output}\ntest {name} ... FAILED"),
            false => format!("{output}\ntest result: ok. 12 passed; 0 failed; 0 ignored"),
        };
        for _ in 0..2 {
            let data = json!({ "type": "bash_progress", "output": output[..600] });
            records.push(self.record("progress", json!({ "data": data })));
        }
        let input = json!({ "command": format!("cargo test {name}"), "description": "Test it" });
        let structured = json!({ "stdout": output, "stderr": "", "interrupted": false });
        let result = CallResult { output: &output, failed, structured: &structured };
        self.add_tool_call("Bash", &input, &result, records);
    }

    fn edit(&mut self, library: &Library, records: &mut Vec<Value>) {
        let path = library.path(&mut self.random);
        let (old, new) = (library.code(&mut self.random, 300), library.code(&mut self.random, 400));
        let input = json!({ "file_path": path, "old_string": old, "new_string": new });
        let output = format!("The file {path} has been updated.\n{new}");
        let structured = json!({
            "filePath": path, "oldString": old, "newString": new,
            "originalFile": library.code(&mut self.random, 8_000),
        });
        self.add_tool_call("Edit", &input, &CallResult::succeeded(&output, &structured), records);
    }

    fn sub_agent(&mut self, library: &Library, records: &mut Vec<Value>) {
        let input = json!({ "description": library.prose(&mut self.random, 40) });
        for _ in 0..3 {
            let message =
                json!({ "message": { "content": library.code(&mut self.random, 4_000) } });
            let data = json!({ "type": "agent_progress", "message": message });
            records.push(self.record("progress", json!({ "data": data })));
        }
        let output = library.prose(&mut self.random, 1_500);
        let structured = json!({ "status": "completed", "content": output });
        self.add_tool_call("Task", &input, &CallResult::succeeded(output, &structured), records);
    }

    fn add_tool_call(
        &mut self,
        tool: &str,
        input: &Value,
        result: &CallResult<'_>,
        records: &mut Vec<Value>,
    ) {
        let id = format!("toolu_{}", self.uuid());
        records.push(
            self.assistant(&json!({ "type": "tool_use", "id": id, "name": tool, "input": input })),
        );
        let block = json!({
            "tool_use_id": id, "type": "tool_result", "content": result.output, "is_error": result.failed,
        });
        let message = json!({ "role": "user", "content": [block] });
        let structured = result.structured;
        records
            .push(self.record("user", json!({ "message": message, "toolUseResult": structured })));
    }

    fn assistant(&mut self, block: &Value) -> Value {
        let message = json!({
            "model": "claude-made-up-1",
            "id": format!("msg_{}", self.uuid()),
            "type": "message",
            "role": "assistant",
            "content": [block],
            "usage": {
                "input_tokens": 4, "cache_creation_input_tokens": 812,
                "cache_read_input_tokens": 41_234, "output_tokens": 187,
            },
        });
        self.record("assistant", json!({ "message": message }))
    }

    fn record(&mut self, kind: &str, members: Value) -> Value {
        let parent = self.uuid();
        self.identified += 1;
        let mut record = json!({
            "parentUuid": parent,
            "isSidechain": false,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.id,
            "version": "2.1.200",
            "gitBranch": "main",
            "type": kind,
        });
        let Value::Object(members) = members else { unreachable!("members are an object") };
        record.as_object_mut().expect("an object").extend(members);
        record["uuid"] = json!(self.uuid());
        record
    }

    fn uuid(&self) -> String {
        format!("{}-0000-4000-8000-{:012x}", &self.id[..8], self.identified)
    }
}
