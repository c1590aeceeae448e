//! Writes a transcript line by line, as Claude Code does.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

/// A transcript being written.
pub struct Transcript {
    path: PathBuf,
    session: String,
    cwd: String,
    branch: String,
    /// The time of the next record, in milliseconds since the epoch.
    clock: u64,
    count: u32,
}

impl Transcript {
    /// Returns the directory of the session.
    pub fn project(&self) -> &str {
        &self.cwd
    }

    /// Creates a transcript of `session` in the folder of its project, `cwd`. Its first record has
    /// the current time; each further record is a second later.
    pub fn new(projects: &Path, session: &str, cwd: &str) -> Transcript {
        let slug: String =
            cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let folder = projects.join(slug);
        fs::create_dir_all(&folder).expect("make the project's folder");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
        Transcript {
            path: folder.join(format!("{session}.jsonl")),
            session: session.to_owned(),
            cwd: cwd.to_owned(),
            branch: "main".to_owned(),
            clock: u64::try_from(now.as_millis()).expect("a clock before the year 500 million"),
            count: 0,
        }
    }

    /// Sets the age of the records and of the file.
    #[must_use]
    pub fn aged(mut self, age: Duration) -> Transcript {
        self.clock -= u64::try_from(age.as_millis()).expect("a short age");
        self
    }

    /// Sets the branch of the next records.
    #[must_use]
    pub fn on_branch(mut self, branch: &str) -> Transcript {
        branch.clone_into(&mut self.branch);
        self
    }

    /// Continues a transcript; the new ids differ from those of its first thousand records.
    #[must_use]
    pub fn continued(self) -> Transcript {
        Transcript { count: 1_000, ..self }
    }

    pub fn session(&self) -> &str {
        &self.session
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn prompt(&mut self, text: &str) -> &mut Transcript {
        self.record("user", &json!({ "message": { "role": "user", "content": text } }))
    }

    pub fn reply(&mut self, text: &str) -> &mut Transcript {
        self.assistant(&json!({ "type": "text", "text": text }))
    }

    /// Adds a call of a tool that succeeds.
    pub fn tool(&mut self, name: &str, input: &Value, output: &str) -> &mut Transcript {
        self.add_tool_call(name, input, output, false)
    }

    /// Adds a call of a tool that fails.
    pub fn failing_tool(&mut self, name: &str, input: &Value, output: &str) -> &mut Transcript {
        self.add_tool_call(name, input, output, true)
    }

    /// Adds a record of any type.
    pub fn record(&mut self, kind: &str, members: &Value) -> &mut Transcript {
        let mut record = json!({
            "parentUuid": null,
            "isSidechain": false,
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": "2.1.200",
            "gitBranch": self.branch,
            "type": kind,
            "uuid": self.uuid(),
            "timestamp": self.time(),
        });
        for (key, value) in members.as_object().expect("an object of members") {
            record[key] = value.clone();
        }
        self.clock += 1_000;
        self.line(&record.to_string())
    }

    /// Appends a line unchanged.
    pub fn line(&mut self, text: &str) -> &mut Transcript {
        self.raw(format!("{text}\n").as_bytes())
    }

    /// Appends any bytes. The file is opened and closed for each append, as the agent does.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Transcript {
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(&self.path)
            .expect("open the transcript");
        file.write_all(bytes).expect("write the transcript");
        let modified = UNIX_EPOCH + Duration::from_millis(self.clock);
        if modified < SystemTime::now() - Duration::from_secs(60) {
            file.set_modified(modified).expect("set the transcript's time");
        }
        self
    }

    fn add_tool_call(
        &mut self,
        name: &str,
        input: &Value,
        output: &str,
        failed: bool,
    ) -> &mut Transcript {
        let id = format!("toolu_{}_{}", self.session, self.count);
        self.assistant(&json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
        let result = json!({
            "tool_use_id": id, "type": "tool_result", "content": output, "is_error": failed,
        });
        self.record("user", &json!({ "message": { "role": "user", "content": [result] } }))
    }

    fn assistant(&mut self, block: &Value) -> &mut Transcript {
        let message = json!({
            "id": format!("msg_{}_{}", self.session, self.count),
            "model": "claude-test-1",
            "role": "assistant",
            "content": [block],
            "usage": { "input_tokens": 10, "output_tokens": 5 },
        });
        self.record("assistant", &json!({ "message": message }))
    }

    fn uuid(&mut self) -> String {
        self.count += 1;
        let session: u32 =
            self.session.bytes().fold(17, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
        format!("{session:08x}-0000-4000-8000-{:012x}", self.count)
    }

    fn time(&self) -> String {
        let seconds = i64::try_from(self.clock / 1_000).expect("a time in range");
        let whole = graphitid::model::Timestamp::from_seconds(seconds).to_string();
        let (second, _) = whole.split_once('.').expect("a fraction");
        format!("{second}.{:03}Z", self.clock % 1_000)
    }
}
