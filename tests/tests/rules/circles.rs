//! Checks that files do not use each other in a circle, because such files cannot be understood or
//! moved one at a time.
//!
//! A file may use the module that contains it; such a use does not count. The use of a re-exported
//! name counts as a use of the file that defines the name. Only uses by `use` and by paths are
//! detected.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::root;

const CRATES: &[&str] = &[
    "proto",
    "client",
    "daemon/core",
    "daemon/redact",
    "daemon/llm",
    "daemon/store",
    "daemon/capture",
    "daemon/insight",
    "daemon/search",
    "daemon",
];

/// The permitted circles, with the reason.
const PERMITTED: &[(&str, &[&str], &str)] = &[
    (
        "daemon/core",
        &["model/evidence", "model/token_use"],
        "methods of `Evidence` are in the files of their topics",
    ),
    (
        "daemon/insight",
        &["activity/classify/bash/command", "activity/classify/bash/special"],
        "a command may contain another command, which is classified by the same functions",
    ),
];

/// A module as the names of its path, without `crate`.
type Module = Vec<String>;

#[test]
fn no_files_use_each_other_in_a_circle() {
    let mut found = Vec::new();
    for member in CRATES {
        for circle in (CrateFiles::read(&root().join(member).join("src"))).circles() {
            let names: Vec<String> = circle.iter().map(|module| module.join("/")).collect();
            let is_permitted = PERMITTED
                .iter()
                .any(|(of, files, _)| of == member && names.iter().eq(files.iter()));
            if !is_permitted {
                found.push(format!("{member}: {}", names.join(", ")));
            }
        }
    }
    assert!(found.is_empty(), "{} circles:\n{}", found.len(), found.join("\n"));
}

struct CrateFiles {
    files: BTreeMap<Module, FileUses>,
}

/// The items that a file uses, as paths from the root of the crate.
#[derive(Default)]
struct FileUses {
    uses: BTreeSet<Module>,
    /// The re-exported names, with the paths of their items.
    exports: BTreeMap<String, Module>,
}

impl CrateFiles {
    fn read(source: &Path) -> CrateFiles {
        let mut paths: BTreeMap<Module, PathBuf> = BTreeMap::new();
        let mut folders = vec![source.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let module = module_of(path.strip_prefix(source).unwrap());
                    if !module.iter().any(|name| name == "tests") {
                        paths.insert(module, path);
                    }
                }
            }
        }
        let known: BTreeSet<Module> = paths.keys().cloned().collect();
        let files = paths.iter().map(|(module, path)| {
            (module.clone(), FileUses::read(module, &fs::read_to_string(path).unwrap(), &known))
        });
        CrateFiles { files: files.collect() }
    }

    /// Returns the files that each file uses, without the modules that contain it.
    fn arrows(&self) -> BTreeMap<&Module, BTreeSet<&Module>> {
        let uses = self.files.iter().map(|(module, file)| {
            let used = file.uses.iter().map(|path| self.defining(path, 0));
            (module, used.filter(|used| !module.starts_with(used)).collect())
        });
        uses.collect()
    }

    /// Returns the file that defines `path`.
    fn defining(&self, path: &[String], depth: usize) -> &Module {
        let is_file = |length: &usize| self.files.contains_key(&path[..*length]);
        let length = (0..=path.len()).rev().find(is_file).unwrap_or(0);
        let (module, file) = self.files.get_key_value(&path[..length]).unwrap();
        let exported = path.get(length).and_then(|name| file.exports.get(name));
        match exported {
            Some(target) if depth < 8 && target != path => self.defining(target, depth + 1),
            _ => module,
        }
    }

    /// Returns the groups of files in which each file uses all other files, directly or indirectly.
    fn circles(&self) -> BTreeSet<Vec<&Module>> {
        let arrows = self.arrows();
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            arrows.keys().map(|module| (*module, reachable(module, &arrows))).collect();
        let of = |module: &Module| -> Vec<&Module> {
            let mutual = reached[module].iter().filter(|other| reached[**other].contains(module));
            mutual.copied().collect()
        };
        arrows.keys().map(|module| of(module)).filter(|circle| circle.len() > 1).collect()
    }
}

fn reachable<'m>(
    from: &'m Module,
    arrows: &BTreeMap<&'m Module, BTreeSet<&'m Module>>,
) -> BTreeSet<&'m Module> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        next.extend(arrows[module].iter().filter(|used| reached.insert(**used)));
    }
    reached
}

impl FileUses {
    fn read(module: &Module, text: &str, known: &BTreeSet<Module>) -> FileUses {
        let mut file = FileUses::default();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let code = code.split("#[cfg(all(test").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code: String = lines.map(|line| format!("{line}\n")).collect();
        let mut body = String::new();
        let mut rest = code.as_str();
        while let Some((before, after)) = rest.split_once("use ") {
            body.push_str(before);
            let is_item = before.rsplit('\n').next().is_none_or(|start| {
                start.trim_start().is_empty() || start.trim_start().starts_with("pub")
            });
            let Some((tree, next)) = after.split_once(';').filter(|_| is_item) else {
                rest = after;
                continue;
            };
            let is_public = before.rsplit('\n').next().is_some_and(|start| start.contains("pub"));
            for path in leaves(&tree.split_whitespace().collect::<Vec<_>>().join(" ")) {
                file.add(module, &path, is_public, known);
            }
            rest = next;
        }
        body.push_str(rest);
        for path in paths_in(&body) {
            file.add(module, &path, false, known);
        }
        file
    }

    fn add(&mut self, module: &Module, path: &str, is_public: bool, known: &BTreeSet<Module>) {
        let names: Vec<String> = path.split("::").map(|name| name.trim().to_owned()).collect();
        let mut absolute = match names[0].as_str() {
            "crate" => names[1..].to_vec(),
            "self" => [module, &names[1..]].concat(),
            "super" => {
                let up = names.iter().take_while(|name| *name == "super").count();
                [&module[..module.len().saturating_sub(up)], &names[up..]].concat()
            }
            first => {
                let child = [module.as_slice(), &[first.to_owned()]].concat();
                if !known.contains(&child) {
                    return;
                }
                [module, names.as_slice()].concat()
            }
        };
        if absolute.last().is_some_and(|name| name == "self") {
            absolute.pop();
        }
        if is_public {
            self.exports.extend(absolute.last().cloned().map(|name| (name, absolute)));
        } else {
            self.uses.insert(absolute);
        }
    }
}

fn module_of(path: &Path) -> Module {
    let mut names: Module =
        path.with_extension("").iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    let is_root = names.len() == 1 && ["lib", "main"].contains(&names[0].as_str());
    if is_root || names.last().is_some_and(|name| name == "mod") {
        names.pop();
    }
    names
}

/// Returns the paths in a tree of imports.
fn leaves(tree: &str) -> Vec<String> {
    let Some((prefix, list)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap().trim().to_owned()];
    };
    let list = list.rsplit_once('}').map_or(list, |(list, _)| list);
    let (mut items, mut depth) = (vec![String::new()], 0);
    for c in list.chars() {
        match c {
            ',' if depth == 0 => items.push(String::new()),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                items.last_mut().unwrap().push(c);
            }
        }
    }
    let items = items.iter().filter(|item| !item.trim().is_empty());
    items.flat_map(|item| leaves(&format!("{}{}", prefix.trim(), item.trim()))).collect()
}

/// Returns the paths in code that have two names or more.
fn paths_in(code: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code.split(|c: char| !is_part(c));
    words.map(|word| word.trim_matches(':').to_owned()).filter(|word| word.contains("::")).collect()
}

#[test]
fn a_circle_is_found_through_a_re_export_and_not_through_a_parent() {
    let known: BTreeSet<Module> =
        ["", "a", "a/b", "c", "d"].iter().map(|path| module_of(Path::new(path))).collect();
    let files = |texts: &[(&str, &str)]| CrateFiles {
        files: texts
            .iter()
            .map(|(path, text)| {
                let module = module_of(Path::new(path));
                (module.clone(), FileUses::read(&module, text, &known))
            })
            .collect(),
    };
    let parents = [
        ("", "mod a;\n"),
        ("a", "mod b;\npub use self::b::B;\nfn f() { b::g(); }\n"),
        ("a/b", "use crate::a::A;\n"),
        ("c", "use crate::{a::B, d};\n"),
        ("d", ""),
    ];
    assert!(files(&parents).circles().is_empty());
    let mut tied = parents;
    tied[2].1 = "fn g() { crate::c::h() }\n";
    let tied = files(&tied);
    let circles: Vec<String> =
        tied.circles().iter().flatten().map(|module| module.join("/")).collect();
    assert_eq!(circles, ["a/b", "c"]);
}
