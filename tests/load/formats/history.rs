//! Writes generated histories into the folders in which the agents keep their transcripts.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use graphiti_tests::{Random, World, made_up::Library};
use rusqlite::{Connection, params};

use super::turns::{self, CWD, Turn};

/// The tables of opencode 1 that the daemon reads.
const TABLES: &str = "
    PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
    CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
        slug text NOT NULL, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
    CREATE INDEX part_message_id_id_idx ON part (message_id, id);";

/// Writes sessions of an agent, each of at least `bytes` bytes. Returns their total size in bytes.
pub(super) fn write(agent: &str, world: &World, sessions: u64, bytes: u64) -> u64 {
    let (library, mut random) = (Library::new(), Random::new(3));
    if agent == "opencode" {
        let mut database = OpencodeDatabase::create(world);
        for session in 0..sessions {
            database.session(session, bytes, &library, &mut random);
        }
        return database.close();
    }
    (0..sessions).map(|session| file(agent, world, session, bytes, &library, &mut random)).sum()
}

fn file(
    agent: &str,
    world: &World,
    session: u64,
    bytes: u64,
    library: &Library,
    random: &mut Random,
) -> u64 {
    let id = format!("{session:08x}-0000-4000-8000-00000000000a");
    let path = path(agent, world, &id);
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("make a folder");
    let mut file = BufWriter::new(File::create(&path).expect("make a file"));
    let (mut written, mut number) = (0, session * 1_000_000);
    let mut records = turns::head(agent, &id);
    while written < bytes {
        records.extend(turns::records(agent, &Turn::new(&id, number, library, random)));
        for record in records.drain(..) {
            let line = record.to_string();
            writeln!(file, "{line}").expect("write a record");
            written += line.len() as u64 + 1;
        }
        number += 1;
    }
    file.flush().expect("write the file");
    written
}

fn path(agent: &str, world: &World, id: &str) -> PathBuf {
    let path = match agent {
        "claude" => format!("claude/projects/-home-ann-app/{id}.jsonl"),
        "codex" => format!(".codex/sessions/2026/06/01/rollout-2026-06-01T00-00-00-{id}.jsonl"),
        "copilot" => format!(".copilot/session-state/{id}/events.jsonl"),
        "gemini" => format!(".gemini/tmp/app/chats/session-2026-06-01T00-00-{}.jsonl", &id[..8]),
        "pi" => format!(".pi/agent/sessions/--home-ann-app--/2026-06-01_{id}.jsonl"),
        "qwen" => format!(".qwen/projects/-home-ann-app/chats/{id}.jsonl"),
        "cursor" => format!(".cursor/projects/home-ann-app/agent-transcripts/{id}/{id}.jsonl"),
        other => panic!("unknown agent {other}"),
    };
    world.path(&path)
}

/// A database of opencode that stays open while the daemon reads it.
pub(super) struct OpencodeDatabase {
    path: PathBuf,
    connection: Connection,
    turns: u64,
}

impl OpencodeDatabase {
    pub(super) fn create(world: &World) -> OpencodeDatabase {
        let path = world.path(".local/share/opencode/opencode.db");
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("make a folder");
        let connection = Connection::open(&path).expect("make a database");
        connection.execute_batch(TABLES).expect("make the tables");
        OpencodeDatabase { path, connection, turns: 0 }
    }

    fn session(&mut self, session: u64, bytes: u64, library: &Library, random: &mut Random) {
        self.connection.execute_batch("BEGIN").expect("begin");
        self.begin(session);
        let mut written = 0;
        while written < bytes {
            written += self.turn(session, library, random);
        }
        self.connection.execute_batch("COMMIT").expect("commit");
    }

    pub(super) fn begin(&mut self, session: u64) {
        let query = "INSERT INTO session VALUES (?1, 'p', NULL, 's', ?2, '', '1.4.0', 1, 1)";
        self.connection.execute(query, params![id(session), CWD]).expect("add a session");
    }

    /// Adds a turn; returns its size in bytes.
    pub(super) fn turn(&mut self, session: u64, library: &Library, random: &mut Random) -> u64 {
        self.turns += 1;
        let rows = turns::rows(&Turn::new(&id(session), self.turns, library, random));
        let (prompt, answer) = (format!("{:09}a", self.turns), format!("{:09}b", self.turns));
        self.message(session, &prompt, rows.at, &rows.prompt.to_string(), &rows.prompt_parts)
            + self.message(
                session,
                &answer,
                rows.at + 1_000,
                &rows.answer.to_string(),
                &rows.answer_parts,
            )
    }

    fn message(
        &self,
        session: u64,
        message: &str,
        at: i64,
        data: &str,
        parts: &[serde_json::Value],
    ) -> u64 {
        let (session, message) = (id(session), format!("msg_{message}"));
        let mut bytes = data.len();
        let mut add_part = self
            .connection
            .prepare_cached("INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)")
            .expect("a statement");
        for (number, part) in parts.iter().enumerate() {
            let data = part.to_string();
            bytes += data.len();
            let part = format!("prt_{message}_{number}");
            add_part.execute(params![part, message, session, at, data]).expect("add a part");
        }
        let query = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        let mut add = self.connection.prepare_cached(query).expect("a statement");
        add.execute(params![message, session, at, data]).expect("add a message");
        bytes as u64
    }

    /// Returns the size, in bytes, of the database.
    fn close(self) -> u64 {
        self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("a checkpoint");
        length(&self.path)
    }
}

fn id(session: u64) -> String {
    format!("ses_{session:06}")
}

fn length(path: &Path) -> u64 {
    path.metadata().expect("a file that was just made").len()
}
