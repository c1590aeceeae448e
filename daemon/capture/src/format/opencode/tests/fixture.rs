//! Builds databases in the form that opencode uses, with invented sessions.
#![expect(clippy::needless_pass_by_value, reason = "tests pass the values that `json!` creates")]

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use serde_json::{Value, json};

/// The tables of opencode 1, without some of the columns and indexes that are not read.
const TABLES_1: &str = "
    CREATE TABLE `project` (`id` text PRIMARY KEY, `worktree` text NOT NULL);
    CREATE TABLE `session` (
        `id` text PRIMARY KEY, `project_id` text NOT NULL, `parent_id` text, `slug` text NOT NULL,
        `directory` text NOT NULL, `title` text NOT NULL, `version` text NOT NULL, `share_url` text,
        `summary_additions` integer, `summary_deletions` integer, `summary_files` integer,
        `summary_diffs` text, `revert` text, `permission` text, `time_created` integer NOT NULL,
        `time_updated` integer NOT NULL, `time_compacting` integer, `time_archived` integer);
    CREATE TABLE `message` (
        `id` text PRIMARY KEY,
        `session_id` text NOT NULL REFERENCES `session`(`id`) ON DELETE CASCADE,
        `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL);
    CREATE TABLE `part` (
        `id` text PRIMARY KEY,
        `message_id` text NOT NULL REFERENCES `message`(`id`) ON DELETE CASCADE,
        `session_id` text NOT NULL,
        `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL);
    CREATE INDEX `message_session_time_created_id_idx`
        ON `message` (`session_id`, `time_created`, `id`);
    CREATE INDEX `part_message_id_id_idx` ON `part` (`message_id`, `id`);
    CREATE INDEX `part_session_idx` ON `part` (`session_id`);";

const TABLES_2: &str = "
    CREATE TABLE `session_v2` (
        `id` text PRIMARY KEY, `project_id` text NOT NULL, `workspace_id` text, `parent_id` text,
        `fork_session_id` text, `fork_boundary` text, `slug` text NOT NULL,
        `directory` text NOT NULL, `path` text, `title` text, `version` text NOT NULL,
        `metadata` text, `agent` text, `model` text, `time_created` integer NOT NULL,
        `time_updated` integer NOT NULL, `time_idle` integer, `idle_outcome` text);
    CREATE TABLE `session_message` (
        `id` text PRIMARY KEY,
        `session_id` text NOT NULL REFERENCES `session_v2`(`id`) ON DELETE CASCADE,
        `type` text NOT NULL, `seq` integer NOT NULL, `time_created` integer NOT NULL,
        `time_updated` integer NOT NULL, `data` text NOT NULL);
    CREATE UNIQUE INDEX `session_message_session_seq_idx`
        ON `session_message` (`session_id`, `seq`);
    CREATE INDEX `session_message_session_type_seq_idx`
        ON `session_message` (`session_id`, `type`, `seq`);";

/// A database with the connection of a running opencode.
pub(crate) struct Running {
    pub(crate) path: PathBuf,
    pub(crate) connection: Connection,
    clock: i64,
}

impl Running {
    pub(crate) fn start(folder: &Path) -> Running {
        let path = folder.join("opencode.db");
        let connection = Connection::open(&path).unwrap();
        let mode: String =
            connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
        connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON").unwrap();
        Running { path, connection, clock: 1_700_000_000_000 }
    }

    pub(crate) fn version_1(folder: &Path) -> Running {
        let running = Running::start(folder);
        running.connection.execute_batch(TABLES_1).unwrap();
        running
    }

    pub(crate) fn version_2(folder: &Path) -> Running {
        let running = Running::start(folder);
        running.connection.execute_batch(TABLES_2).unwrap();
        running
    }

    pub(crate) fn add_version_2(&self) {
        self.connection.execute_batch(TABLES_2).unwrap();
    }

    /// Returns the path of a session in the database.
    pub(crate) fn session_path(&self, id: &str) -> PathBuf {
        self.path.join(id)
    }

    pub(crate) fn tick(&mut self) -> i64 {
        self.clock += 1_000;
        self.clock
    }

    pub(crate) fn session(&mut self, id: &str, parent: Option<&str>) {
        let now = self.tick();
        let query = "INSERT INTO session (id, project_id, parent_id, slug, directory, title, \
             version, time_created, time_updated) \
             VALUES (?1, 'p', ?2, 's', '/home/dev/proj', 'New session - 2026', '1.4.0', ?3, ?3)";
        self.connection.execute(query, params![id, parent, now]).unwrap();
    }

    pub(crate) fn session_2(&mut self, id: &str, parent: Option<&str>) {
        let now = self.tick();
        let query = "INSERT INTO session_v2 (id, project_id, parent_id, slug, directory, version, \
             time_created, time_updated) \
             VALUES (?1, 'p', ?2, 's', '/home/dev/proj', '2.0.3', ?3, ?3)";
        self.connection.execute(query, params![id, parent, now]).unwrap();
    }

    pub(crate) fn title(&mut self, table: &str, id: &str, title: &str) {
        let query = format!("UPDATE {table} SET title = ?2, time_updated = ?3 WHERE id = ?1");
        let now = self.tick();
        self.connection.execute(&query, params![id, title, now]).unwrap();
    }

    /// Adds or replaces a message as opencode 1 does.
    pub(crate) fn message(&mut self, session: &str, id: &str, mut data: Value) {
        let now = self.tick();
        if data["time"].is_null() {
            data["time"] = json!({ "created": now });
        }
        let query = "INSERT INTO message (id, session_id, time_created, time_updated, data) \
             VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (id) DO UPDATE SET data = ?5, time_updated = ?4";
        let created = data["time"]["created"].as_i64().unwrap();
        self.connection
            .execute(query, params![id, session, created, now, data.to_string()])
            .unwrap();
    }

    pub(crate) fn user(&mut self, session: &str, id: &str, text: &str) {
        let model = json!({ "providerID": "anthropic", "modelID": "claude-sonnet-4" });
        self.message(session, id, json!({ "role": "user", "agent": "build", "model": model }));
        self.part(session, id, &format!("prt_{id}"), json!({ "type": "text", "text": text }));
    }

    pub(crate) fn answer(&mut self, session: &str, id: &str, completed: Option<i64>) {
        let created = self.answer_time(id);
        let data = json!({
            "role": "assistant", "agent": "build", "mode": "build", "modelID": "claude-sonnet-4",
            "providerID": "anthropic", "path": { "cwd": "/home/dev/proj", "root": "/home/dev/proj" },
            "cost": 0.01, "tokens": { "input": 10, "output": 5, "reasoning": 2,
                "cache": { "read": 100, "write": 7 } },
            "time": { "created": created, "completed": completed },
        });
        self.message(session, id, data);
    }

    /// Returns the time at which an answer began. Later changes of the answer keep this time.
    fn answer_time(&mut self, id: &str) -> i64 {
        let query = "SELECT time_created FROM message WHERE id = ?1";
        let known = self.connection.query_row(query, [id], |row| row.get(0));
        known.unwrap_or_else(|_| self.tick())
    }

    /// Adds or replaces a part as opencode 1 does.
    pub(crate) fn part(&mut self, session: &str, message: &str, id: &str, data: Value) {
        let now = self.tick();
        let query = "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) \
             VALUES (?1, ?2, ?3, ?4, ?4, ?5) \
             ON CONFLICT (id) DO UPDATE SET data = ?5, time_updated = ?4";
        let params = params![id, message, session, now, data.to_string()];
        self.connection.execute(query, params).unwrap();
    }

    /// Adds or replaces a row as opencode 2 does.
    pub(crate) fn row(&mut self, session: &str, seq: i64, kind: &str, mut data: Value) {
        let now = self.tick();
        if data["time"].is_null() {
            data["time"] = json!({ "created": now });
        }
        let query = "INSERT INTO session_message \
             (id, session_id, type, seq, time_created, time_updated, data) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
             ON CONFLICT (id) DO UPDATE SET data = ?7, time_updated = ?6";
        let created = data["time"]["created"].as_i64().unwrap();
        let id = format!("msg_{session}_{seq}");
        let params = params![id, session, kind, seq, created, now, data.to_string()];
        self.connection.execute(query, params).unwrap();
    }

    pub(crate) fn delete(&self, table: &str, id: &str) {
        let query = format!("DELETE FROM {table} WHERE id = ?1");
        self.connection.execute(&query, [id]).unwrap();
    }
}

/// Returns a part of opencode 1 that contains a call.
pub(crate) fn tool(name: &str, status: &str, input: Value, more: Value) -> Value {
    let mut state = json!({ "status": status, "input": input, "time": { "start": 5, "end": 6 } });
    for (key, value) in more.as_object().unwrap() {
        state[key] = value.clone();
    }
    if matches!(status, "pending" | "running") {
        state["time"] = json!({ "start": 5 });
    }
    json!({ "type": "tool", "callID": "call_1", "tool": name, "state": state })
}
