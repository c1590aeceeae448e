//! Tests search by meaning with the real daemon. The vectors come from a mock server, or from a model
//! in a folder.

use std::{fs, path::Path};

use graphiti_proto::tools::STRUCTURED;
use graphiti_tests::{Daemon, MockModel, ModelReply, ModelRequest, World};
use serde_json::{Value, json};

/// Groups of words with similar meanings; each group is one component of the vectors.
const MEANINGS: [&[&str]; 3] =
    [&["dog", "puppy", "kennel"], &["invoice", "billing", "payment"], &["login", "password"]];

/// Returns vectors that count the words of each group in a text.
fn vectors_of_meanings(request: &ModelRequest) -> ModelReply {
    let vector = |text: &&str| {
        let text = text.to_lowercase();
        let mut vector: Vec<f32> = MEANINGS
            .iter()
            .map(|words| words.iter().map(|word| text.matches(word).count() as f32).sum())
            .collect();
        // No vector may be zero.
        vector.push(0.1);
        vector
    };
    ModelReply::Vectors(request.texts().iter().map(vector).collect())
}

/// Writes two finished sessions.
fn sessions(world: &World, daemon: &Daemon) {
    world
        .transcript("aaaa-1")
        .prompt("The kennel page shows no dog at all, repair it")
        .reply("The kennel page lists every dog again.");
    world
        .transcript("bbbb-2")
        .prompt("Round the invoice up to whole cents")
        .reply("Each invoice is rounded up.");
    daemon.settle();
    for session in ["aaaa-1", "bbbb-2"] {
        let closed = daemon.close(session);
        assert_eq!(closed["status"], "success", "{closed}\n{}", world.log());
    }
    daemon.settle();
}

fn found(daemon: &Daemon, query: &str) -> Vec<String> {
    let answer = daemon.call("search_sessions", &json!({ "query": query }));
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["session"]["session_id"].as_str().unwrap().to_owned()).collect()
}

/// Returns the texts for which vectors were requested, including queries.
fn texts(model: &MockModel) -> Vec<String> {
    let requests = model.requests();
    requests.iter().flat_map(|request| request.texts()).map(str::to_owned).collect()
}

fn vectors(daemon: &Daemon) -> Value {
    daemon.call("session_tracking_health", &json!({}))["embeddings"].clone()
}

#[test]
fn a_query_with_other_words_finds_the_session() {
    let world = World::new();
    let model = MockModel::start(vectors_of_meanings);
    world.configure(&model.embeddings("m1"));
    let daemon = world.start();
    sessions(&world, &daemon);
    assert_eq!(vectors(&daemon)["left"], 0, "{}", world.log());

    // No session contains the word.
    let arguments = json!({ "query": "puppy", "explain": true });
    let answer = daemon.call("search_sessions", &arguments);
    let hit = &answer["hits"][0];
    assert_eq!(hit["session"]["session_id"], "aaaa-1", "{answer}\n{}", world.log());
    assert!(hit["explanation"].as_str().unwrap().starts_with("meaning "), "{hit}");
    assert_eq!(found(&daemon, "payment")[0], "bbbb-2");
    // A phrase in quotes excludes no session. A word after a minus excludes sessions.
    assert_eq!(found(&daemon, "\"puppy\"")[0], "aaaa-1");
    assert!(found(&daemon, "puppy -kennel").iter().all(|session| session != "aaaa-1"));

    let nodes = daemon.call("search_nodes", &json!({ "query": "puppy", "explain": true }));
    let node = &nodes["nodes"][0];
    assert!(node["name"].as_str().unwrap().contains("kennel"), "{nodes}");
    assert!(node["explanation"].as_str().unwrap().contains("meaning"), "{nodes}");
    // The times of the records are in the future, so only `include_ended` finds their facts.
    let arguments = json!({
        "query": "puppy", "explain": true, "include_ended": true, "edge_types": ["DID", "TASK_STANDS"],
    });
    let facts = daemon.call("search_memory_facts", &arguments);
    let fact = &facts["facts"][0];
    assert!(fact["fact"].as_str().unwrap().contains("kennel"), "{facts}");
    assert!(fact["explanation"].as_str().unwrap().contains("meaning"), "{facts}");

    let status = world.printed(&["status"]);
    assert!(status.contains("vectors   of "), "{status}");
    let used = world.json(&["usage"]);
    let rows = used["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["purpose"] == "embeddings"), "{used}");
}

#[test]
fn no_secret_of_a_session_or_a_query_is_sent() {
    let secret = ["ghp_", "Zk3mQ8vT1xW5yB7nC9dF2gH4jK6lP0rS3tUv"].concat();
    let world = World::new();
    let model = MockModel::start(vectors_of_meanings);
    world.configure(&model.embeddings("m1"));
    let daemon = world.start();
    let prompt = format!("Log in to the kennel with the token {secret}");
    world.transcript("aaaa-1").prompt(&prompt).reply("Logged in.");
    daemon.settle();
    daemon.close("aaaa-1");
    daemon.settle();
    found(&daemon, &format!("puppy {secret}"));
    let texts = texts(&model);
    assert!(texts.iter().any(|text| text.starts_with("puppy ")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("to the kennel with")), "{texts:?}");
    assert!(!texts.concat().contains(&secret), "{texts:?}");
}

#[test]
fn searches_work_without_the_server_and_another_model_gets_all_texts_again() {
    let world = World::new();
    let model = MockModel::start(|_| ModelReply::Status(500));
    world.configure(&model.embeddings("m1"));
    let daemon = world.start();
    sessions(&world, &daemon);
    assert_eq!(found(&daemon, "invoice"), ["bbbb-2"], "{}", world.log());
    assert!(found(&daemon, "puppy").is_empty());
    let error = vectors(&daemon)["error"].as_str().unwrap().to_owned();
    assert!(error.contains("HTTP 500"), "{error}");
    assert!(world.printed(&["status"]).contains("HTTP 500"));

    model.answers(vectors_of_meanings);
    world.configure(&model.embeddings("m2"));
    world.printed(&["reload"]);
    daemon.settle();
    assert_eq!(found(&daemon, "puppy")[0], "aaaa-1", "{}", world.log());
    assert_eq!(vectors(&daemon)["error"], Value::Null);

    let before = texts(&model).len();
    world.configure(&model.embeddings("m3"));
    world.printed(&["reload"]);
    daemon.settle();
    assert_eq!(found(&daemon, "puppy")[0], "aaaa-1", "{}", world.log());
    let requests = model.requests();
    assert_eq!(requests.last().unwrap().body["model"], "m3");
    assert!(texts(&model).len() > before + 4, "all vectors are computed again");

    // Without embeddings, only words count.
    world.configure(&json!({}));
    world.printed(&["reload"]);
    daemon.settle();
    assert!(found(&daemon, "puppy").is_empty());
}

#[test]
fn a_fact_is_found_by_meaning_below_many_facts_of_other_kinds() {
    let world = World::new();
    let model = MockModel::start(vectors_of_meanings);
    world.configure(&model.embeddings("m1"));
    let daemon = world.start();
    sessions(&world, &daemon);
    for number in 0..8 {
        let wish = json!({
            "name": "A wish", "kind": "preference",
            "episode_body": format!("Never wake dog number {number}."),
        });
        daemon.call("add_memory", &wish);
    }
    daemon.settle();
    let arguments = json!({
        "query": "puppy", "max_facts": 1, "include_ended": true, "edge_types": ["DID", "TASK_STANDS"],
    });
    let found = daemon.call("search_memory_facts", &arguments);
    let fact = found["facts"][0]["fact"].as_str().unwrap_or_else(|| panic!("{found}"));
    assert!(fact.contains("kennel"), "{found}");
}

#[test]
fn an_empty_answer_requests_the_vector_of_its_query_once() {
    let world = World::new();
    let model = MockModel::start(|request| match request.texts().contains(&"zebra") {
        true => ModelReply::Status(500),
        false => vectors_of_meanings(request),
    });
    world.configure(&model.embeddings("m1"));
    let daemon = world.start();
    sessions(&world, &daemon);
    let requests = || texts(&model).iter().filter(|text| *text == "zebra").count();
    found(&daemon, "zebra");
    let once = requests();
    assert!(once > 0, "{}", world.log());
    let filters = json!({ "query": "zebra", "agent": "codex", "tool": "Bash", "role": "tool" });
    for tool in ["search_sessions", "search_memory_facts"] {
        let arguments = match tool {
            "search_sessions" => filters.clone(),
            _ => json!({ "query": "zebra", "edge_types": ["DECIDED"] }),
        };
        let before = requests();
        let params =
            json!({ "name": tool, "arguments": arguments, "_meta": { STRUCTURED: false } });
        let answer = daemon.wire().ask("tools/call", params).unwrap();
        assert!(answer["content"][0]["text"].is_string(), "{answer}");
        assert_eq!(requests() - before, once, "{tool}: {answer}");
    }
}

#[test]
fn vectors_survive_a_restart_and_are_removed_with_their_session() {
    let world = World::new();
    let model = MockModel::start(vectors_of_meanings);
    world.configure(&model.embeddings("m1"));
    let daemon = world.start();
    sessions(&world, &daemon);
    let made = vectors(&daemon)["made"].clone();
    assert!(daemon.stop().success());
    let before = texts(&model).len();

    let daemon = world.start();
    daemon.settle();
    assert_eq!(vectors(&daemon)["made"], made);
    assert_eq!(found(&daemon, "puppy")[0], "aaaa-1", "{}", world.log());
    assert_eq!(texts(&model)[before..], ["puppy"]);

    let shown = daemon.session("aaaa-1");
    daemon.call("delete_episode", &json!({ "uuid": shown["episode"]["uuid"] }));
    daemon.settle();
    assert!(!found(&daemon, "puppy").contains(&"aaaa-1".to_owned()), "{}", world.log());
    let arguments = json!({ "query": "puppy", "include_ended": true });
    let facts = daemon.call("search_memory_facts", &arguments);
    assert!(!facts["facts"].to_string().contains("kennel"), "{facts}");
}

#[test]
fn a_model_in_a_folder_is_used_and_a_broken_model_is_reported() {
    let world = World::new();
    let folder = world.path("models/tiny");
    write_model(&folder);
    let settings = |folder: &Path| json!({ "embeddings": { "provider": "local", "path": folder, "query_timeout": 60 } });
    world.configure(&json!({ "embeddings": { "query_timeout": 60 } }));
    let daemon = world.start();
    sessions(&world, &daemon);
    assert!(found(&daemon, "puppy").is_empty());
    let folder_name = folder.to_str().unwrap();
    let planned = world.printed(&["setup", "embeddings", folder_name, "--dry-run"]);
    assert!(planned.contains("+") && planned.ends_with("Nothing was changed.\n"), "{planned}");
    world.printed(&["setup", "embeddings", folder_name, "--yes"]);
    // The daemon uses the copy in its home.
    fs::remove_dir_all(&folder).unwrap();
    world.printed(&["reload"]);
    daemon.settle();
    assert_eq!(vectors(&daemon)["error"], Value::Null, "{}", world.log());
    assert_eq!(found(&daemon, "puppy")[0], "aaaa-1", "{}", world.log());
    assert_eq!(found(&daemon, "Payments")[0], "bbbb-2", "{}", world.log());

    let broken = world.path("models/broken");
    fs::create_dir_all(&broken).unwrap();
    fs::write(broken.join("model.safetensors"), "not one").unwrap();
    world.configure(&settings(&broken));
    world.printed(&["reload"]);
    daemon.settle();
    assert_eq!(found(&daemon, "invoice"), ["bbbb-2"]);
    let refused = world.graphiti(&["setup", "embeddings", broken.to_str().unwrap(), "--yes"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("it has no tokenizer.json"));
    let error = vectors(&daemon)["error"].as_str().unwrap().to_owned();
    assert!(error.contains("model.safetensors") && error.contains("embeddings.path"), "{error}");
}

/// Writes a model of model2vec's form for the words of [`MEANINGS`] and a few others.
fn write_model(folder: &Path) {
    let mut vocabulary = vec!["[UNK]", "[CLS]", "[SEP]", "##s", "the", "page", "up"];
    let mut rows: Vec<[f32; 3]> = vec![[0.0; 3]; vocabulary.len()];
    for (meaning, words) in MEANINGS.iter().enumerate() {
        for word in *words {
            vocabulary.push(word);
            let mut row = [0.01; 3];
            row[meaning] = 1.0;
            rows.push(row);
        }
    }
    let numbers: serde_json::Map<String, Value> =
        vocabulary.iter().zip(0..).map(|(word, id)| ((*word).to_owned(), json!(id))).collect();
    let tokenizer = json!({
        "normalizer": { "type": "BertNormalizer", "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": numbers },
    });
    let data: Vec<u8> = rows.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
    let header = json!({ "embeddings": {
        "dtype": "F32", "shape": [rows.len(), 3], "data_offsets": [0, data.len()],
    }})
    .to_string();
    let length = (header.len() as u64).to_le_bytes();
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let file = [&length[..], header.as_bytes(), &data].concat();
    fs::write(folder.join("model.safetensors"), file).unwrap();
}
