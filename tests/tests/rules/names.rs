//! Checks names and sizes: at most two types in the workspace have the same name, the name of a type
//! says what the type is, product modules are not called `tests`, and files stay short. The lists of
//! exceptions may only become shorter.
//! Also checks that no file hides errors by `.ok().flatten()`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::root;

/// Names of types that every module may define.
const CONVENTIONAL: &[&str] = &["Config", "Error"];

/// Other names of more than two types, each with its number of types.
const REPEATED: &[(&str, usize)] = &[("Task", 3)];

/// Names that do not say what a type is.
const MEANINGLESS: &[&str] = &[
    "Found", "Kept", "Kind", "Known", "Part", "Piece", "Place", "Read", "Reader", "Room", "Said",
    "Seen", "Told",
];

/// Maximum number of lines of a file without its test module.
const MAX_FILE_LINES: usize = 400;

#[test]
fn at_most_two_types_have_the_same_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in sources(&["client", "daemon", "proto", "tests"]) {
        for name in fs::read_to_string(root().join(&file)).unwrap().lines().filter_map(defined_type)
        {
            places.entry(name.to_owned()).or_default().push(file.display().to_string());
        }
    }
    places.retain(|name, files| files.len() > 2 && !CONVENTIONAL.contains(&name.as_str()));
    let counts = places.iter().map(|(name, files)| (name.clone(), files.len())).collect();
    let mut broken = compare(&counts, REPEATED, "type name");
    for (name, files) in &places {
        broken.iter_mut().filter(|line| line.contains(&format!("`{name}`"))).for_each(|line| {
            *line += &format!(": {}", files.join(", "));
        });
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_type_has_a_name_that_says_what_it_is() {
    let mut meaningless = Vec::new();
    for file in sources(&["client", "daemon", "proto", "tests"]) {
        let text = fs::read_to_string(root().join(&file)).unwrap();
        let names = text.lines().filter_map(defined_type);
        let wrong = names.filter(|name| MEANINGLESS.contains(name));
        meaningless.extend(wrong.map(|name| format!("{}: `{name}`", file.display())));
    }
    assert!(meaningless.is_empty(), "{}", meaningless.join("\n"));
}

#[test]
fn a_module_that_is_named_tests_is_a_test_module() {
    let tests = test_modules();
    let is_named_tests =
        |file: &&PathBuf| file.iter().skip(2).any(|part| part == "tests" || part == "tests.rs");
    let product: Vec<PathBuf> = product_sources();
    let wrong: Vec<&PathBuf> =
        product.iter().filter(is_named_tests).filter(|file| !is_within(file, &tests)).collect();
    assert!(wrong.is_empty(), "these are compiled into the product: {wrong:?}");
}

#[test]
fn files_stay_short() {
    let mut long = BTreeMap::new();
    for file in product_code_files() {
        let lines = product_lines(&file).lines().count();
        if lines > MAX_FILE_LINES {
            long.insert(file.display().to_string(), lines);
        }
    }
    let broken = compare(&long, &[], "file");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_error_is_hidden_by_ok_and_flatten() {
    let hides_an_error = |file: &PathBuf| {
        let code = product_lines(file).split_whitespace().collect::<String>();
        code.contains(".ok().flatten()")
    };
    let hidden: Vec<PathBuf> = product_code_files().into_iter().filter(hides_an_error).collect();
    assert!(hidden.is_empty(), "`.ok().flatten()` hides errors in {hidden:?}");
}

/// Returns a message for each item whose count exceeds its limit in `permitted` (0 if it has none),
/// and for each item of `permitted` that is not needed any more.
pub(crate) fn compare(
    counted: &BTreeMap<String, usize>,
    permitted: &[(&str, usize)],
    what: &str,
) -> Vec<String> {
    let most =
        |name: &str| permitted.iter().find(|(other, _)| *other == name).map(|(_, most)| *most);
    let more = counted.iter().filter(|(name, count)| **count > most(name).unwrap_or(0));
    let more = more.map(|(name, count)| {
        format!("{what} `{name}`: {count}, at most {} permitted", most(name).unwrap_or(0))
    });
    let unneeded = permitted.iter().filter(|(name, _)| !counted.contains_key(*name));
    more.chain(unneeded.map(|(name, _)| format!("{what} `{name}` needs no exception any more")))
        .collect()
}

/// Returns the name of the type that a line defines, unless it is an associated type.
fn defined_type(line: &str) -> Option<&str> {
    let is_indented = line.starts_with(' ');
    let mut rest = line.trim_start();
    if let Some(visible) = rest.strip_prefix("pub") {
        rest = match visible.strip_prefix('(') {
            Some(inside) => inside.split_once(") ")?.1,
            None => visible.strip_prefix(' ')?,
        };
    }
    let (keyword, rest) = rest.split_once(' ')?;
    let defines = matches!(keyword, "struct" | "enum" | "trait" | "union")
        || (keyword == "type" && !is_indented);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (defines && rest.starts_with(char::is_uppercase)).then_some(&rest[..end])
}

/// Returns the sources of the programs, without test modules.
pub(crate) fn product_code_files() -> Vec<PathBuf> {
    let tests = test_modules();
    product_sources().into_iter().filter(|file| !is_within(file, &tests)).collect()
}

fn product_sources() -> Vec<PathBuf> {
    let mut sources = sources(&["client", "daemon", "proto"]);
    sources.retain(|file| file.iter().any(|part| part == "src"));
    sources
}

/// Returns the text of a file up to its test module.
pub(crate) fn product_lines(file: &Path) -> String {
    let text = fs::read_to_string(root().join(file)).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

/// Returns the files and folders of modules that are compiled only for tests.
fn test_modules() -> BTreeSet<PathBuf> {
    let mut modules = BTreeSet::new();
    for file in product_sources() {
        let text = fs::read_to_string(root().join(&file)).unwrap();
        let text = text.replace("#[cfg(any(test, feature = \"testing\"))]", "#[cfg(test)]");
        let is_root =
            matches!(file.file_stem().and_then(|name| name.to_str()), Some("mod" | "lib" | "main"));
        let folder =
            if is_root { file.parent().unwrap().to_owned() } else { file.with_extension("") };
        for after in text.split("#[cfg(test)]\n").skip(1) {
            let declared = after.lines().next().unwrap_or_default();
            if let Some(name) = declared.strip_suffix(';').and_then(|line| line.rsplit_once("mod "))
            {
                modules.insert(folder.join(name.1));
                modules.insert(folder.join(name.1).with_extension("rs"));
            }
        }
    }
    modules
}

fn is_within(file: &Path, modules: &BTreeSet<PathBuf>) -> bool {
    file.ancestors().any(|part| modules.contains(part))
}

/// Returns the Rust files below these folders, by their paths in the workspace.
fn sources(folders: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}
