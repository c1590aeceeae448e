//! Checks that every documented setting is used.

use std::{collections::BTreeSet, fs, path::Path};

use crate::root;

/// Settings that are read only by a method in the file that defines them.
const READ_BY_METHODS: &[&str] = &["password_file"];

/// Returns the last member of the path of each setting in the table of settings.
fn fields() -> Vec<String> {
    let table = fs::read_to_string(root().join("daemon/src/config/table.rs")).unwrap();
    let rows = table.lines().filter_map(|line| line.trim().strip_prefix("row!("));
    let path = |row: &str| row.split(", ").nth(1).unwrap().to_owned();
    rows.map(|row| path(row).rsplit('.').next().unwrap().to_owned()).collect()
}

/// Adds the words of the code in `folder`, except for files and folders whose name is `config`,
/// `tests` or `target`.
fn add_words(folder: &Path, words: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if ["config", "tests", "target"].contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            add_words(&path, words);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                let parts = line.split(|c: char| !c.is_alphanumeric() && c != '_');
                words.extend(parts.map(str::to_owned));
            }
        }
    }
}

#[test]
fn each_setting_is_used() {
    let mut used = BTreeSet::new();
    add_words(&root().join("daemon"), &mut used);
    let fields = fields();
    assert!(fields.len() > 60, "{fields:?}");
    let unused: Vec<&String> = fields
        .iter()
        .filter(|field| !used.contains(*field) && !READ_BY_METHODS.contains(&field.as_str()))
        .collect();
    assert!(unused.is_empty(), "settings that nothing outside of `config` reads: {unused:?}");
}
