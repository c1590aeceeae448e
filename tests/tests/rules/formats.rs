//! Checks that only a format's own folder and the table of formats use the module of the format, and
//! that the service of the system gets the variables that the formats read.

use std::{fs, path::Path};

use graphitid::capture::format::FORMATS;

use crate::{
    names::{product_code_files, product_lines},
    root,
};

const FOLDER: &str = "daemon/capture/src/format";

#[test]
fn only_its_own_folder_and_the_table_use_the_module_of_a_format() {
    let table = fs::read_to_string(root().join(FOLDER).join("mod.rs")).unwrap();
    let formats = entries(&table);
    assert_eq!(formats.len(), FORMATS.len(), "{formats:?}");
    let mut broken = Vec::new();
    for file in product_code_files().iter().filter(|file| file.starts_with("daemon")) {
        let mut code = product_lines(file);
        if *file == Path::new(FOLDER).join("mod.rs") {
            let entry = |line: &&str| !line.trim().starts_with('&');
            code = code.lines().filter(entry).collect::<Vec<_>>().join("\n");
        }
        let others = formats.iter().filter(|name| !file.starts_with(format!("{FOLDER}/{name}")));
        // Other crates have modules of the same names.
        let uses = if file.starts_with("daemon/capture") { uses } else { imports };
        broken.extend(
            others
                .filter(|name| uses(&code, name))
                .map(|name| format!("{} uses the format `{name}`", file.display())),
        );
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn each_way_to_use_a_format_is_detected() {
    assert_eq!(entries("static FORMATS: &[&dyn Format] = &[\n    &pi::Pi,\n];"), ["pi"]);
    for code in [
        "pi::read(x)",
        "use crate::format::pi;",
        "use crate::format::{\n    json::{self, Object},\n    pi,\n};",
        "use crate::{format::{seen, pi::{Pi, message}}, open};",
    ] {
        assert!(uses(code, "pi"), "{code}");
    }
    for code in ["let pi = 3;", "api::read()", "use crate::format::{json::pi, picture};"] {
        assert!(!uses(code, "pi"), "{code}");
    }
}

#[test]
fn the_service_gets_each_variable_that_moves_the_folder_of_an_agent() {
    let service = fs::read_to_string(root().join("client/src/service/mod.rs")).unwrap();
    let mut found = 0;
    for file in product_code_files().iter().filter(|file| file.starts_with(FOLDER)) {
        let code = product_lines(file);
        let is_name = |text: &&str| {
            text.contains('_') && text.bytes().all(|c| b"_ABCDEFGHIJKLMNOPQRSTUVWXYZ".contains(&c))
        };
        for name in code.split('"').filter(is_name) {
            assert!(service.contains(&format!("\"{name}\",")), "{name} in {}", file.display());
            found += 1;
        }
    }
    assert!(found >= 9, "{found}");
}

/// Returns the modules in the table of formats.
fn entries(table: &str) -> Vec<&str> {
    let (_, after) = table.split_once("static FORMATS: &[&dyn Format] = &[").unwrap();
    let entries = after.split_once("];").unwrap().0.lines();
    entries.filter_map(|line| Some(line.trim().strip_prefix('&')?.split_once("::")?.0)).collect()
}

/// Whether code in `daemon/capture`, which contains the formats, has a path with the module `name`.
fn uses(code: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let begins_path = code.match_indices(&format!("{name}::")).any(|(at, _)| {
        let before = code[..at].trim_end();
        // `name` may be a member of another module, as in `json::name::`.
        !code[..at].ends_with(is_word) && (!before.ends_with("::") || before.ends_with("format::"))
    });
    begins_path || imports(code, name)
}

/// Whether code has a path with the module `format::name`.
fn imports(code: &str, name: &str) -> bool {
    code.match_indices("format::")
        .any(|(at, start)| members(&code[at + start.len()..]).iter().any(|member| member == name))
}

/// Returns the first name after `module::`. If `after` begins with a brace, returns the first name
/// of each path in the braces.
fn members(after: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let Some(group) = after.strip_prefix('{') else {
        return vec![after.chars().take_while(|c| is_word(*c)).collect()];
    };
    let (mut members, mut depth) = (vec![String::new()], 0);
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => members.push(String::new()),
            c => members.last_mut().unwrap().push(c),
        }
    }
    let first = |member: String| member.trim().split("::").next().unwrap_or_default().to_owned();
    members.into_iter().map(first).collect()
}
