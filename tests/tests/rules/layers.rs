//! Checks that crates, and modules in a crate, have only the dependencies in the tables below.
//! `daemon/src/lib.rs` explains these dependencies.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::root;

/// Each crate with the crates of this workspace on which it depends.
const CRATES: &[(&str, &[&str])] = &[
    ("proto", &[]),
    ("client", &["graphiti-proto"]),
    // Layers: basics, reading.
    ("daemon/core", &["graphiti-proto"]),
    // Layer: ports.
    ("daemon/redact", &["graphitid-core"]),
    ("daemon/llm", &["graphitid-core"]),
    ("daemon/store", &["graphitid-core"]),
    // Layer: stages.
    ("daemon/capture", &["graphitid-core", "graphitid-redact", "graphitid-store"]),
    ("daemon/insight", &["graphitid-core", "graphitid-llm", "graphitid-store"]),
    ("daemon/search", &["graphitid-core", "graphitid-llm"]),
    // Layers: basics, stages, order, surface, page, wiring.
    (
        "daemon",
        &[
            "graphiti-proto",
            "graphitid-capture",
            "graphitid-core",
            "graphitid-insight",
            "graphitid-llm",
            "graphitid-redact",
            "graphitid-search",
            "graphitid-store",
        ],
    ),
];

/// Each module with the modules that it may use; `proto` is the crate `graphiti_proto`.
type ModuleTable = &'static [(&'static str, &'static [&'static str])];

/// Each crate whose modules have restricted dependencies, with the table of its modules.
const MODULES: &[(&str, ModuleTable)] = &[
    (
        "daemon/core",
        &[
            ("model", &[]),
            ("clock", &["model"]),
            ("fault", &[]),
            ("clean", &["proto"]),
            ("releasable", &[]),
            ("pattern", &["releasable"]),
            ("files", &["proto"]),
            ("sync", &[]),
            ("lang", &["model", "pattern"]),
        ],
    ),
    (
        "daemon/insight",
        &[
            ("text", &["model", "lang", "clean", "pattern"]),
            ("report", &["model", "lang", "pattern", "releasable", "text"]),
            ("activity", &["model", "lang"]),
            (
                "summarize",
                &[
                    "model",
                    "lang",
                    "clean",
                    "pattern",
                    "releasable",
                    "llm",
                    "text",
                    "report",
                    "activity",
                ],
            ),
            ("graph", &["model", "lang", "pattern", "releasable", "store", "text", "report"]),
        ],
    ),
    (
        "daemon",
        &[
            ("allocator", &[]),
            ("session", &["model"]),
            ("share", &["model", "redact"]),
            (
                "engine",
                &[
                    "model",
                    "lang",
                    "clock",
                    "fault",
                    "allocator",
                    "releasable",
                    "sync",
                    "prompt",
                    "llm",
                    "store",
                    "redact",
                    "capture",
                    "session",
                    "share",
                    "activity",
                    "summarize",
                    "graph",
                    "search",
                ],
            ),
            ("api", &["model", "clock", "fault", "engine", "search", "store", "proto"]),
            ("view", &["api", "model", "clock", "engine", "store", "proto"]),
        ],
    ),
];

/// The wiring: these modules may use all other modules, and no other module uses them.
const WIRING: &[&str] = &["app", "cli", "config", "lifecycle", "logging", "main", "lib"];

#[test]
fn each_crate_has_exactly_the_dependencies_in_the_table() {
    for (member, expected) in CRATES {
        let manifest = fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap();
        let (_, after) = manifest.split_once("\n[dependencies]\n").unwrap();
        let dependencies = after.lines().take_while(|line| !line.starts_with('['));
        let names = dependencies.filter_map(|line| line.split(['.', ' ']).next());
        let own: Vec<&str> = names.filter(|name| name.starts_with("graphiti")).collect();
        assert_eq!(own, *expected, "{member}");
    }
    let client = fs::read_to_string(root().join("client/Cargo.toml")).unwrap();
    assert!(!client.contains("tokio"), "the client is blocking");
}

#[test]
fn a_module_uses_only_the_modules_that_the_table_permits() {
    let mut broken = Vec::new();
    for (member, table) in MODULES {
        let modules = modules(member);
        let mut known: BTreeSet<&str> =
            table.iter().flat_map(|(_, allowed)| *allowed).copied().collect();
        known.extend(modules.keys().map(String::as_str));
        for (module, files) in &modules {
            if WIRING.contains(&module.as_str()) {
                continue;
            }
            let Some((_, allowed)) = table.iter().find(|(name, _)| name == module) else {
                broken.push(format!("`{module}` is in no layer: add it to the table"));
                continue;
            };
            for file in files {
                let used =
                    used_modules(file).into_iter().filter(|used| known.contains(used.as_str()));
                broken.extend(
                    used.filter(|used| used != module && !allowed.contains(&used.as_str())).map(
                        |used| format!("`{module}` may not use `{used}` ({})", file.display()),
                    ),
                );
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn prompts_and_providers_do_not_use_each_other() {
    for (module, files) in modules("daemon/llm") {
        for file in files.iter().filter(|_| module != "lib") {
            let used = used_modules(file);
            if module == "prompt" {
                assert!(
                    used.iter().all(|name| ["prompt", "model"].contains(&name.as_str())),
                    "{file:?}"
                );
            } else {
                assert!(!used.contains("prompt"), "{file:?}");
            }
        }
    }
}

/// The root of a crate re-exports items of other crates; the modules of the crate use only these
/// re-exports. [`used_modules`] finds only such uses.
#[test]
fn only_the_root_of_a_crate_uses_other_crates_of_the_daemon() {
    let mut broken = Vec::new();
    for (member, _) in CRATES.iter().filter(|(member, _)| member.starts_with("daemon")) {
        for (module, files) in modules(member) {
            let users = files.iter().filter(|file| code(file).contains("graphitid_"));
            broken.extend(users.filter(|_| module != "lib").map(|file| file.display().to_string()));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Items that the decisions of the engine, in `engine/state`, may not use.
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

/// Returns the top-level modules of a crate with their files.
fn modules(member: &str) -> BTreeMap<String, Vec<PathBuf>> {
    let mut modules: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let source = root().join(member).join("src");
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

/// Returns the code of a file, without comments and tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let is_test = file.file_stem().is_some_and(|stem| stem == "tests" || stem == "contract");
    let code = if is_test { "" } else { text.split("#[cfg(test)]\nmod tests").next().unwrap() };
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Returns the modules that the code of a file uses by `crate::`, without its tests; a use of
/// `graphiti_proto` is returned as `proto`.
fn used_modules(file: &Path) -> BTreeSet<String> {
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

/// Returns the first words of the items in a braced list, up to its closing brace.
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
