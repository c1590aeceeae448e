//! The layers: which module may name which, as a table. `daemon/src/lib.rs` gives the reasons.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::root;

/// Each module with what it may name beside itself, and `proto` where it may name that.
const TABLE: &[(&str, &[&str])] = &[
    // 0 words
    ("model", &[]),
    ("clock", &["model"]),
    ("fault", &[]),
    ("allocator", &[]),
    ("clean", &["proto"]),
    ("pattern", &[]),
    ("files", &["proto"]),
    ("sync", &[]),
    // 1 reading
    ("lang", &["model", "pattern"]),
    // 2 ports
    ("prompt", &["model"]),
    ("llm", &["model", "lang", "files"]),
    ("store", &["model", "lang", "files", "fault", "sync"]),
    ("redact", &["model"]),
    // 3 stages
    ("capture", &["model", "lang", "prompt", "llm", "store", "redact"]),
    ("session", &["model", "prompt", "llm", "store", "redact"]),
    ("activity", &["model", "lang", "prompt", "llm", "store", "redact"]),
    ("summarize", &["model", "lang", "clean", "pattern", "prompt", "llm", "store", "redact"]),
    ("graph", &["model", "lang", "pattern", "prompt", "llm", "store", "redact"]),
    ("search", &["model", "sync", "prompt", "llm", "store", "redact"]),
    // 4 order
    (
        "engine",
        &[
            "model",
            "lang",
            "clock",
            "fault",
            "allocator",
            "sync",
            "prompt",
            "llm",
            "store",
            "redact",
            "capture",
            "session",
            "activity",
            "summarize",
            "graph",
            "search",
        ],
    ),
    // 5 surface
    ("api", &["model", "clock", "fault", "engine", "search", "store", "proto"]),
];

/// 6 wiring: may name anything, and nothing names it.
const WIRING: &[&str] = &["app", "cli", "config", "lifecycle", "logging", "main", "lib"];

#[test]
fn every_module_keeps_to_its_layer() {
    let mut broken = Vec::new();
    let modules = modules();
    for (module, files) in &modules {
        if WIRING.contains(&module.as_str()) {
            continue;
        }
        let Some((_, allowed)) = TABLE.iter().find(|(name, _)| name == module) else {
            broken.push(format!("`{module}` stands in no layer: add it to the table"));
            continue;
        };
        for file in files {
            for named in names(file) {
                let is_module = modules.contains_key(&named) || named == "proto";
                if is_module && named != *module && !allowed.contains(&named.as_str()) {
                    broken.push(format!("`{module}` may not name `{named}` ({})", file.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_table_names_only_modules_that_may_exist() {
    let known: BTreeSet<&str> = TABLE.iter().map(|(name, _)| *name).chain(["proto"]).collect();
    for (module, allowed) in TABLE {
        for name in *allowed {
            assert!(known.contains(name), "`{module}` may name `{name}`, which is nothing");
        }
    }
}

/// What decisions of the engine may not use. The executor uses it.
const IMPURE: &[&str] = &[
    "async ",
    "tokio::spawn",
    "spawn_blocking",
    "mpsc",
    "thread::",
    "clock::",
    "Instant",
    "SystemTime",
    "fs::",
    ".exists()",
    "metadata(",
    "store.write(",
];

#[test]
fn decisions_of_the_engine_have_no_clock_no_files_no_threads_and_no_tasks() {
    let state = root().join("daemon/src/engine/state");
    let mut broken = Vec::new();
    for file in fs::read_dir(state).unwrap().map(|entry| entry.unwrap().path()) {
        let text = code(&file);
        let impure = IMPURE.iter().filter(|impure| text.contains(**impure));
        broken.extend(impure.map(|impure| format!("{}: `{impure}`", file.display())));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_crates_depend_on_each_other_in_one_direction() {
    let depends = |member: &str| -> Vec<String> {
        let manifest = fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap();
        let own = ["graphiti-proto", "graphitid", "graphiti-tests"];
        own.iter()
            .filter(|name| manifest.contains(&format!("\n{name}")))
            .map(|n| (*n).to_owned())
            .collect()
    };
    assert_eq!(depends("proto"), [] as [&str; 0]);
    assert_eq!(depends("client"), ["graphiti-proto"]);
    assert_eq!(depends("daemon"), ["graphiti-proto"]);
    let client = fs::read_to_string(root().join("client/Cargo.toml")).unwrap();
    assert!(!client.contains("tokio"), "the client is blocking");
}

/// The top-level modules of the daemon with their files.
fn modules() -> BTreeMap<String, Vec<PathBuf>> {
    let mut modules: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let source = root().join("daemon/src");
    let mut folders = vec![source.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let inside = path.strip_prefix(&source).unwrap();
                let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
                modules.entry(first.trim_end_matches(".rs").to_owned()).or_default().push(path);
            }
        }
    }
    modules
}

/// The code of a file, without comments and tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let is_test = file.file_stem().is_some_and(|stem| stem == "tests" || stem == "contract");
    let code = if is_test { "" } else { text.split("#[cfg(test)]\nmod tests").next().unwrap() };
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// What the code of a file names after `crate::`, its tests left out; `proto` for the wire.
fn names(file: &Path) -> BTreeSet<String> {
    let code = code(file);
    let mut names = BTreeSet::new();
    let mut rest = code.as_str();
    while let Some((_, after)) = rest.split_once("crate::") {
        match after.strip_prefix('{') {
            Some(list) => names.extend(first_names(list)),
            None => {
                names.insert(word(after));
            }
        }
        rest = after;
    }
    if code.contains("graphiti_proto") {
        names.insert("proto".to_owned());
    }
    names
}

/// The first words of the items in a braced list, up to its closing brace.
fn first_names(list: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut depth = 0;
    let mut item_begins = true;
    for (at, c) in list.char_indices() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => item_begins = true,
            c if item_begins && !c.is_whitespace() => {
                names.insert(word(&list[at..]));
                item_begins = false;
            }
            _ => {}
        }
    }
    names
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}
