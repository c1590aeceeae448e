//! Finds the settings that an edit of a configuration file changes, each with its old and new
//! value.
//!
//! Both sides of a replacement are read as fragments, because an edit rarely shows a whole
//! document. The visible part of the nesting becomes the key's dotted path.

mod assignments;
mod json;
mod syntax;
mod yaml;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::syntax::Syntax;
use crate::{
    model::{
        project::Project,
        transcript::{ChangeKind, FileChange},
    },
    summarize::evidence::bounds,
    text::kept,
};

/// A changed setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Setting {
    /// The key; for a nested setting, all keys of the path, joined with dots.
    pub(super) key: String,
    /// The value before; `None` when the setting did not exist.
    pub(super) old: Option<String>,
    /// The value after; `None` when the setting was removed.
    pub(super) new: Option<String>,
}

/// Maximum number of settings of a file that is written as a whole. A file with more settings is a
/// document, not a change of settings.
const SETTINGS_OF_A_NEW_FILE: usize = 3;
/// The same limit for a file of environment variables, which contains only settings.
const SETTINGS_OF_AN_ENVIRONMENT: usize = 8;
/// Maximum length, in bytes, of the part of each side of a replacement that is read.
const FRAGMENT: usize = 64 * 1024;

/// Returns the settings that `change` changes; none if the file is not a configuration file. The
/// session runs in `directory`; the names of the folders above say nothing about the file.
///
/// A file that is written as a whole is treated as new. The caller ignores these settings if the
/// file existed before.
pub(super) fn changed(change: &FileChange, directory: &str) -> Vec<Setting> {
    let path = Project::new(directory).relative(&change.path);
    let Some(syntax) = Syntax::of(path) else { return Vec::new() };
    let mut found = Vec::new();
    for edit in &change.edits {
        found.extend(between(&read(syntax, &edit.old), &read(syntax, &edit.new)));
    }
    if syntax == Syntax::Code {
        // A nested setting that is added or removed, often with its whole block, is data.
        found.retain(|one| !one.key.contains('.') || one.old.is_some() && one.new.is_some());
    }
    let most =
        if syntax == Syntax::Env { SETTINGS_OF_AN_ENVIRONMENT } else { SETTINGS_OF_A_NEW_FILE };
    if change.kind == ChangeKind::Written && found.len() > most {
        return Vec::new();
    }
    found.truncate(bounds::SETTINGS_AT_ONCE);
    found
}

/// Keys with their values in the order of the fragment; a key may occur more than once.
type Pairs = Vec<(String, String)>;

fn read(syntax: Syntax, fragment: &str) -> Pairs {
    let fragment = &fragment[..fragment.floor_char_boundary(FRAGMENT)];
    match syntax {
        Syntax::Json => json::pairs(fragment),
        Syntax::Yaml => yaml::pairs(fragment),
        Syntax::Toml => assignments::toml(fragment),
        Syntax::Ini => assignments::ini(fragment),
        Syntax::Env => assignments::env(fragment),
        Syntax::Properties => assignments::properties(fragment),
        Syntax::Dockerfile => assignments::dockerfile(fragment),
        Syntax::Code => assignments::code(fragment),
    }
}

/// Returns the settings that differ. The occurrences of a repeated key are compared in order, or
/// ignored if their number changed.
fn between(old: &Pairs, new: &Pairs) -> Vec<Setting> {
    let (before, after) = (grouped(old), grouped(new));
    let mut found = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (key, _) in old.iter().chain(new) {
        if seen.contains(&key.as_str()) {
            continue;
        }
        seen.push(key);
        let none = Vec::new();
        let (olds, news) =
            (before.get(key.as_str()).unwrap_or(&none), after.get(key.as_str()).unwrap_or(&none));
        match (olds.as_slice(), news.as_slice()) {
            ([], [new]) => found.push(setting(key, None, Some(new))),
            ([old], []) => found.push(setting(key, Some(old), None)),
            (olds, news) if olds.len() == news.len() => {
                let differing = olds.iter().zip(news).filter(|(old, new)| old != new);
                found.extend(differing.map(|(old, new)| setting(key, Some(old), Some(new))));
            }
            _ => {}
        }
    }
    without_renamed_parents(found)
}

/// Removes the settings that only moved to another parent, because they did not change.
fn without_renamed_parents(found: Vec<Setting>) -> Vec<Setting> {
    let leaf = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let moved = |one: &Setting| {
        found.iter().any(|other| {
            let matches = match (&one.old, &one.new) {
                (Some(old), None) => other.old.is_none() && other.new.as_ref() == Some(old),
                (None, Some(new)) => other.new.is_none() && other.old.as_ref() == Some(new),
                _ => false,
            };
            matches && one.key != other.key && leaf(&one.key) == leaf(&other.key)
        })
    };
    let moved: Vec<bool> = found.iter().map(moved).collect();
    found.into_iter().zip(moved).filter(|(_, moved)| !moved).map(|(one, _)| one).collect()
}

fn grouped(pairs: &Pairs) -> BTreeMap<&str, Vec<&str>> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, value) in pairs {
        groups.entry(key).or_default().push(value);
    }
    groups
}

fn setting(key: &str, old: Option<&str>, new: Option<&str>) -> Setting {
    let value = |text: Option<&str>| text.map(|text| kept(text, bounds::SETTING));
    Setting { key: kept(key, bounds::SETTING), old: value(old), new: value(new) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::Replacement;

    fn check(path: &str, old: &str, new: &str, wanted: &[&str]) {
        let kind = if old.is_empty() { ChangeKind::Written } else { ChangeKind::Edited };
        let edits = vec![Replacement { old: old.to_owned(), new: new.to_owned() }];
        let change = FileChange { path: path.to_owned(), kind, edits };
        let found: Vec<String> = changed(&change, "/home/ada/build/shop")
            .into_iter()
            .map(|setting| {
                let shown = |value: Option<String>| value.unwrap_or("(none)".to_owned());
                format!("{}: {} -> {}", setting.key, shown(setting.old), shown(setting.new))
            })
            .collect();
        assert_eq!(found, wanted, "{path}: {old:?} -> {new:?}");
    }

    #[test]
    fn environment_files() {
        check(".env", "JWT_EXPIRY=60\nB=1", "JWT_EXPIRY=3600\nB=1", &["JWT_EXPIRY: 60 -> 3600"]);
        check("/app/.env.local", "export A='x y' # note", "export A=\"z\"", &["A: x y -> z"]);
        check(".env", "", "A=1\nB=2\n", &["A: (none) -> 1", "B: (none) -> 2"]);
    }

    #[test]
    fn json_fragments() {
        check(
            "package.json",
            "\"test\": \"jest\",",
            "\"test\": \"vitest run\",\n    \"lint\": \"eslint .\",",
            &["test: jest -> vitest run", "lint: (none) -> eslint ."],
        );
        check(
            "tsconfig.json",
            "{\n  // note\n  \"compilerOptions\": {\n    \"strict\": false,\n    \"lib\": [\"dom\"]\n  }\n}",
            "{\n  // note\n  \"compilerOptions\": {\n    \"strict\": true,\n    \"lib\": [\"dom\", \"es2022\"]\n  }\n}",
            &[
                "compilerOptions.strict: false -> true",
                "compilerOptions.lib: [\"dom\"] -> [\"dom\", \"es2022\"]",
            ],
        );
        check(
            "a.json",
            "  },\n  \"port\": 3000,\n  \"x\": {\n    \"y\": 1\n",
            "  },\n  \"port\": 8080,\n  \"x\": {\n    \"y\": 2\n",
            &["port: 3000 -> 8080", "x.y: 1 -> 2"],
        );
        check("package-lock.json", "\"version\": \"1\"", "\"version\": \"2\"", &[]);
        check("a.json", "3000", "8080", &[]);
    }

    #[test]
    fn yaml_fragments() {
        check(
            "compose.yml",
            "services:\n  web:\n    image: app:1 # old\n    ports:\n      - \"80:80\"\n",
            "services:\n  web:\n    image: app:2\n    ports:\n      - \"80:80\"\n      - \"443:443\"\n",
            &["services.web.image: app:1 -> app:2", "services.web.ports: 80:80 -> 80:80, 443:443"],
        );
        check(
            ".github/workflows/ci.yml",
            "      - uses: actions/checkout@v3\n      - run: |\n          make: test\n",
            "      - uses: actions/checkout@v4\n      - run: |\n          make: check\n",
            &["uses: actions/checkout@v3 -> actions/checkout@v4"],
        );
        check(
            "compose.yml",
            "services: # all\n  web: &web\n    port: 80\n    tags: !!seq # short\n      - # first\n      - a\n",
            "services: # one\n  web: &app\n    port: 81\n    tags: !!seq # long\n      - # second\n      - b\n",
            &["services.web.port: 80 -> 81", "services.web.tags: a -> b"],
        );
        check(
            "a.yml",
            "title: 'it''s #1'\t# note\nkey: &name 1\nnode: '>=18'\nnote: \"\"\nbucket: !Ref a",
            "title: 'it''s #2'\t# other\nkey: &name 2\nnode: '>=20'\nnote: \"a\"\nbucket: !Ref b",
            &[
                "title: it's #1 -> it's #2",
                "key: 1 -> 2",
                "node: >=18 -> >=20",
                "note:  -> a",
                "bucket: !Ref a -> !Ref b",
            ],
        );
    }

    #[test]
    fn assignments_of_all_kinds() {
        check(
            "Cargo.toml",
            "[profile.release]\nlto = false",
            "[profile.release]\nlto = \"thin\"",
            &["profile.release.lto: false -> thin"],
        );
        check(
            "pyproject.toml",
            "line-length = 88",
            "line-length = 100\ntarget = [\n  \"py311\",\n]",
            &["line-length: 88 -> 100", "target: (none) -> [ \"py311\", ]"],
        );
        check(
            "mise.toml",
            "node = { version = '20.1'",
            "node = { version = '22.4'",
            &["node.version: 20.1 -> 22.4"],
        );
        check(
            "setup.cfg",
            "[flake8]\nmax-line-length = 88 ; note",
            "[flake8]\nmax-line-length = 100",
            &["flake8.max-line-length: 88 -> 100"],
        );
        check(
            "app.properties",
            "server.port=8080",
            "server.port: 9090",
            &["server.port: 8080 -> 9090"],
        );
        check(
            "config.py",
            "EXPIRY_UNIT = 'm'\nx = f(1)",
            "EXPIRY_UNIT = 'seconds'\nx = f(2)",
            &["EXPIRY_UNIT: m -> seconds"],
        );
        check("vite.config.ts", "  port: 3000,", "  port: 5173,", &["port: 3000 -> 5173"]);
        check(
            "Dockerfile",
            "FROM node:18\nENV A=1",
            "FROM node:20\nENV A=1",
            &["FROM: node:18 -> node:20"],
        );
    }

    #[test]
    fn other_files_contain_no_settings() {
        check("src/main.rs", "PORT = 1", "PORT = 2", &[]);
        check("README.md", "a: b", "a: c", &[]);
        for path in [
            "tests/fixtures/a.json",
            "config.schema.json",
            "app/schemas/a.json",
            "api.generated.json",
            "tsconfig.tsbuildinfo",
            "poetry.lock",
        ] {
            check(path, "\"a\": 1", "\"a\": 2", &[]);
        }
    }

    #[test]
    fn only_folders_of_the_project_determine_that_a_file_is_generated() {
        let wanted: &[&str] = &["A: 1 -> 2"];
        check("/home/ada/build/shop/.env", "A=1", "A=2", wanted);
        check("/home/ada/build/shop/web/.env", "A=1", "A=2", wanted);
        check("/home/ada/build/shop/build/.env", "A=1", "A=2", &[]);
        check("/home/ada/build/shop/web/vendor/x/.env", "A=1", "A=2", &[]);
        check("/home/ada/build/other/.env", "A=1", "A=2", &[]);
    }

    #[test]
    fn a_document_written_as_a_whole_is_not_a_list_of_settings() {
        let text: String = (0..20).map(|n| format!("K{n}={n}\n")).collect();
        check(".env", "", &text, &[]);
    }

    #[test]
    fn settings_below_a_renamed_parent_are_not_changed() {
        check(
            "compose.yml",
            "services:\n  web:\n    image: app:1\n    port: 80\n",
            "services:\n  front:\n    image: app:1\n    port: 81\n",
            &["services.web.port: 80 -> (none)", "services.front.port: (none) -> 81"],
        );
    }

    #[test]
    fn removed_settings_have_no_new_value() {
        check(".env", "A=1\nB=2", "B=2", &["A: 1 -> (none)"]);
    }
}
