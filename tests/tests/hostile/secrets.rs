//! Tests that none of two hundred secrets of many kinds in a session is stored, logged, shown,
//! exported or sent.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use graphiti_tests::{MockModel, ModelReply, ModelRequest, World};
#[cfg(debug_assertions)]
use graphitid::fault;
use serde_json::json;

/// Secrets with a recognisable form: `{a36}` is 36 letters and digits. `|` is removed, and prevents
/// secret scanners from reporting this source.
const FORMS: &[&str] = &[
    "AK|IA{A16}",
    "AB|SK{a110}=",
    "AI|za{a34}x",
    "GOC|SPX-{a27}x",
    "ya|29.{a100}x",
    "{a3}8Q|~{a34}",
    "LT|AI{a20}",
    "dop|_v1_{h64}",
    "cf|ut_{a40}",
    "HR|KU-{h8}-{h4}-4{h3}-a{h3}-{h12}",
    "vc|p_{a40}",
    "nf|p_{a36}",
    "sb|p_{h40}",
    "pscale|_tkn_{a43}",
    "ts|key-auth-{a12}-{a32}",
    "sha|256~{a43}",
    "gh|p_{a36}",
    "gh|o_{a36}",
    "gh|s_{a36}",
    "github|_pat_{a22}_{a59}",
    "gl|pat-{a19}x",
    "GR13|48941{a20}",
    "AT|BB{a32}",
    "np|m_{a36}",
    "py|pi-AgEIcHlwaS5vcmc{a120}x",
    "ruby|gems_{h48}",
    "dckr|_pat_{a26}x",
    "CCI|PAT_{a22}_{h40}",
    "sq|p_{h40}",
    "sg|p_{h16}_{h40}",
    "PM|AK-{h24}-{h34}",
    "sk-|ant-api03-{a92}xAA",
    "sk-|proj-{a120}x",
    "sk-|or-v1-{h64}",
    "h|f_{L34}",
    "r|8_{a37}",
    "gs|k_{a52}",
    "pp|lx-{a48}",
    "xa|i-{a80}",
    "nv|api-{a63}x",
    "ls|v2_pt_{h32}_{h10}",
    "xo|xb-{n12}-{n13}-{a24}",
    "S|G.{a22}.{a43}",
    "sk_|live_{a24}",
    "shp|at_{h32}",
    "da|pi{h32}",
    "NR|AK-{A27}",
    "gl|sa_{a32}_{h8}",
    "hv|s.{a90}",
    "dp|.st.prd.{a43}",
    "lin|_api_{a40}",
    "nt|n_{a46}",
    "fi|gd_{a39}x",
    "pa|t{a14}.{h64}",
    "tf|p_{a44}_{a14}",
    "ey|J{a33}.eyJ{a120}x.{a42}x",
];

/// Secrets that are recognisable by the adjacent text: `¤` is the secret.
const NAMED: &[&str] = &[
    "DB_PASSWORD=¤",
    "export PGPASSWORD='¤'",
    "\"password\": \"¤\"",
    "passphrase: \"¤\"",
    "app --password ¤ --host db",
    "mysql -u root -p¤ shop",
    "curl -u bob:¤ https://host/x",
    "postgres://bob:¤@db:5432/shop",
    "echo 'bob:¤' | sudo chpasswd",
    "machine host login bob password ¤",
    "CREATE USER bob IDENTIFIED BY '¤';",
    "spring.datasource.password=¤",
    "const password = '¤';",
    "Authorization: Bearer ¤",
    "client_secret: ¤",
    "API_TOKEN=¤",
    "<password>¤</password>",
    "requirepass ¤",
    "Server=db;User Id=sa;Password=¤;Encrypt=true",
    "sshpass -p ¤ ssh bob@host",
    "the password is ¤.",
    "- name: DB_PASSWORD\n  value: ¤",
];

const COUNT: usize = 200;

/// A secret, and its context.
struct Planted {
    secret: String,
    text: String,
}

#[test]
fn none_of_two_hundred_secrets_is_stored_logged_shown_exported_or_sent() {
    let planted = planted();
    assert_eq!(planted.len(), COUNT);
    let world = World::new();
    // A model that repeats its input would store secrets that were not redacted.
    let model = MockModel::start(|request: &ModelRequest| match request.purpose() {
        "embeddings" => {
            ModelReply::Vectors(request.texts().iter().map(|_| vec![1.0, 0.5]).collect())
        }
        "session_summary" => ModelReply::Json(json!({
            "objective": "Move the keys", "outcome": "completed", "completed_tasks": [], "key_decisions": [],
            "next_steps": [request.prompt().chars().take(250).collect::<String>()], "errors_resolved": [],
            "config_changes": [], "discoveries": [], "topics": [], "relations": [], "root_cause_analysis": null,
        })),
        "tool_classification" => ModelReply::Json(json!({ "classifications": [] })),
        _ => ModelReply::Text(request.prompt().chars().take(250).collect()),
    });
    let mut settings = model.settings(&json!({}));
    settings["embeddings"] = model.embeddings("vectors")["embeddings"].clone();
    settings["filter"] = json!({ "tool_calls": true, "tool_content": true });
    settings["log"] = json!({ "level": "debug" });
    world.configure(&settings);
    write(&world, &planted);
    let daemon = world.start();
    daemon.settle();
    for session in ["aaaa-1", "bbbb-2"] {
        daemon.close(session);
    }
    daemon.call(
        "add_memory",
        &json!({ "name": "n", "episode_body": planted[3].text, "source": "text" }),
    );
    daemon.settle();
    let mut outputs: Vec<(String, String)> = shown(&world, &daemon);
    for (number, request) in model.requests().iter().enumerate() {
        outputs.push((
            format!("request {number} to the model: {}", request.purpose()),
            request.body.to_string(),
        ));
    }
    assert!(
        model.purposes().iter().any(|purpose| purpose == "session_summary"),
        "{:?}",
        model.purposes()
    );
    let export = world.path("export");
    world.printed(&["export", export.to_str().unwrap()]);
    daemon.stop();
    for folder in [world.home(), export] {
        for file in files(&folder) {
            let bytes = fs::read(&file).unwrap();
            outputs
                .push((file.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    outputs.push(("the log".to_owned(), world.log()));
    let mut leaks = Vec::new();
    for (place, text) in &outputs {
        for Planted { secret, text: around } in &planted {
            if let Some(piece) = leak(text, secret) {
                leaks.push(format!("{piece} of {around:?} in {place}"));
            }
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    let all: String = outputs.iter().map(|(_, text)| text.as_str()).collect();
    assert!(all.contains("[REDACTED:"), "the sessions were not read at all");
}

/// This test uses the default settings.
#[test]
fn a_password_before_a_command_is_neither_stored_nor_found_nor_shown() {
    const PASSWORD: &str = "Falcon!Berlin41";
    let command = format!("PGPASSWORD={PASSWORD} psql -h db shop -c 'select 1'");
    let world = World::new();
    world
        .transcript("aaaa-1")
        .prompt("Count the orders in the shop")
        .tool("Bash", &json!({ "command": command }), "count\n41\n")
        .failing_tool("Bash", &json!({ "command": command }), "Exit code 2\npsql: no such table")
        .reply(&format!("I ran `{command}`.\n\nNext steps:\n- Run {command} again"));
    let daemon = world.start();
    daemon.settle();
    daemon.close("aaaa-1");
    daemon.settle();
    let mut outputs = Vec::new();
    for arguments in [
        &["show", "aaaa-1"] as &[&str],
        &["show", "aaaa-1", "--conversation"],
        &["handoff", "--project", "/work/app"],
        &["search", "psql orders"],
        &["list"],
        &["tools"],
    ] {
        let output = world.graphiti(arguments);
        let text = [output.stdout, output.stderr].concat();
        outputs.push((format!("{arguments:?}"), String::from_utf8_lossy(&text).into_owned()));
    }
    for query in ["psql", "PGPASSWORD", "Berlin41"] {
        let found = daemon.call("search_sessions", &json!({ "query": query }));
        outputs.push((format!("hits of {query}"), found["hits"].to_string()));
    }
    let view = json!({ "session_id": "aaaa-1", "view": "messages" });
    outputs.push(("messages".to_owned(), daemon.call("get_session", &view).to_string()));
    daemon.stop();
    for file in files(&world.home()) {
        let bytes = fs::read(&file).unwrap();
        outputs.push((file.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
    }
    for (place, text) in &outputs {
        assert!(!text.contains("Falcon") && !text.contains("Berlin41"), "{place}: {text}");
    }
    let all: String = outputs.iter().map(|(_, text)| text.as_str()).collect();
    assert!(all.contains("PGPASSWORD=[REDACTED:password] psql"), "the command was not read at all");
}

/// Returns the output of the commands, messages and search results, each with a label.
fn shown(world: &World, daemon: &graphiti_tests::Daemon) -> Vec<(String, String)> {
    let mut outputs = Vec::new();
    for arguments in [
        &["status"] as &[&str],
        &["list"],
        &["show", "aaaa-1"],
        &["show", "aaaa-1", "--conversation"],
        &["show", "bbbb-2"],
        &["search", "keys"],
        &["search", "password"],
        &["search", "token"],
        &["handoff", "--project", "/work/app"],
        &["facts", "keys"],
        &["usage"],
        &["tools"],
        &["doctor"],
    ] {
        let output = world.graphiti(arguments);
        let text = [output.stdout, output.stderr].concat();
        outputs
            .push((format!("graphiti {arguments:?}"), String::from_utf8_lossy(&text).into_owned()));
    }
    for session in ["aaaa-1", "bbbb-2"] {
        let mut last = None;
        let mut page = json!({ "next": 0, "next_at": 0 });
        while let Some(from) = page["next"].as_u64() {
            let arguments = json!({
                "session_id": session, "view": "messages", "detail": "full", "limit": 200,
                "from": from, "at": page["next_at"],
            });
            page = daemon.call("get_session", &arguments);
            outputs.push((format!("messages of {session} from {from}"), page.to_string()));
            let messages = page["messages"].as_array().expect("messages");
            last = messages.last().and_then(|message| message["seq"].as_u64()).or(last);
        }
        assert!(last >= Some(100), "the last message is {last:?}");
    }
    for query in ["password", "token", "keys", "mysql", "curl"] {
        let found = daemon.call("search_sessions", &json!({ "query": query, "limit": 50 }));
        outputs.push((format!("hits of {query}"), found.to_string()));
    }
    outputs
}

/// Writes two sessions, one of them a day old. Each secret is in one of nine kinds of records.
fn write(world: &World, planted: &[Planted]) {
    let mut old = world.transcript("aaaa-1").aged(Duration::from_secs(86_400));
    old.prompt("Move the keys to the vault");
    let mut new = world.transcript("bbbb-2");
    new.prompt("Why are the keys in the log?");
    for (number, Planted { text, .. }) in planted.iter().enumerate() {
        let transcript = if number % 2 == 0 { &mut old } else { &mut new };
        match number % 9 {
            0 => transcript.prompt(&format!("Use this:\n{text}\nand go on")),
            1 => transcript.reply(&format!("I found it:\n{text}\nDecided to move it because it was in the open.")),
            2 => transcript.tool("Bash", &json!({ "command": format!("run {text}") }), "ok"),
            3 => transcript.tool("Bash", &json!({ "command": "cat .env" }), &format!("A=1\n{text}\nB=2")),
            4 => transcript.failing_tool("Bash", &json!({ "command": "make" }), &format!("Exit code 1\nerror: bad settings\n{text}")),
            5 => transcript.tool(
                "Edit",
                &json!({ "file_path": "/work/app/.env", "old_string": "A=1\n", "new_string": format!("{text}\n") }),
                "updated",
            ),
            6 => transcript.tool("mcp__acme__frobnicate", &json!({ "body": text, "deep": [{ "x": text }] }), text),
            7 => transcript.record("summary", &json!({ "summary": format!("The key {text}") })),
            _ => transcript.record(
                "user",
                &json!({ "isCompactSummary": true, "message": { "content": format!("Pending Tasks:\n{text}") } }),
            ),
        };
    }
    old.reply("Done.\n\nNext steps:\n- Rotate the keys");
    new.reply("Done.");
}

/// The message of a panic may quote private text, so only its location is reported.
#[test]
#[cfg(debug_assertions)]
fn a_panic_is_reported_without_private_text() {
    let mut world = World::new();
    let defect = (fault::PANIC_AT.to_owned(), "read: to the end:1".to_owned());
    world.variables.push(defect);
    world.transcript("aaaa-1").prompt("Fix the login timeout").reply("It is fixed.");
    let daemon = world.start();
    daemon.settle();
    let problems = daemon.health().problems.join("\n");
    assert_eq!(problems.matches("a defect in graphitid").count(), 1, "{problems}");
    let mut outputs = problems + &daemon.session("aaaa-1").to_string() + &world.log();
    for arguments in [&["status"][..], &["doctor"], &["list"], &["show", "aaaa-1"]] {
        let output = world.graphiti(arguments);
        outputs += &String::from_utf8_lossy(&[output.stdout, output.stderr].concat());
    }
    assert!(outputs.contains("panicked at"), "{outputs}");
    assert!(!outputs.contains(fault::QUOTED), "{outputs}");
    // The session can still be closed.
    assert!(daemon.close("aaaa-1")["episode_uuid"].is_string());
}

/// Returns all secrets, which are the same in every run.
fn planted() -> Vec<Planted> {
    let mut generator = SecretGenerator(0x5eed);
    let mut all = Vec::new();
    for round in 0.. {
        for form in FORMS {
            let secret = generator.fill(form);
            let text = match round % 3 {
                0 => format!("key {secret}"),
                1 => format!("{{\"value\": \"{secret}\"}}"),
                _ => format!("curl -H 'x-key: {secret}' https://host"),
            };
            all.push(Planted { secret, text });
        }
        for text in NAMED {
            let secret = generator.fill("{a6}{n4}{a8}");
            all.push(Planted { text: text.replace('¤', &secret), secret });
        }
        if all.len() >= COUNT {
            break;
        }
    }
    all.truncate(COUNT);
    all
}

struct SecretGenerator(u64);

impl SecretGenerator {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) as usize % limit
    }

    fn fill(&mut self, form: &str) -> String {
        let form = form.replace('|', "");
        let mut made = String::new();
        let mut rest = form.as_str();
        while let Some((before, behind)) = rest.split_once('{') {
            let (class, after) = behind.split_once('}').unwrap();
            made.push_str(before);
            let letters: &[u8] = match &class[..1] {
                "a" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "A" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
                "L" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                "h" => b"0123456789abcdef",
                _ => b"0123456789",
            };
            let count: usize = class[1..].parse().unwrap();
            made.extend((0..count).map(|_| char::from(letters[self.below(letters.len())])));
            rest = after;
        }
        made + rest
    }
}

/// Returns a piece of `secret` that `text` contains. A piece has twelve bytes; a shorter secret is
/// one piece. Only the pieces at every third position are tried.
fn leak<'s>(text: &str, secret: &'s str) -> Option<&'s str> {
    let length = secret.len().min(12);
    let pieces = (0..=secret.len() - length).filter_map(|at| secret.get(at..at + length));
    pieces.step_by(3).find(|piece| text.contains(piece))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}
