//! Formats the lines about changed files on the page of a summary.

use std::collections::BTreeMap;

use crate::{model::wording::DELETED, text::contains_name};

/// From this number of files on, the files are grouped by folder.
const MIN_FILES_TO_GROUP: usize = 20;

/// Returns the lines of the section of files. The section is empty if there are fewer than
/// [`MIN_FILES_TO_GROUP`] files and `page` mentions at least half of them. A mention is the path of
/// a file, or its base name if no other file has this name. A deleted file is mentioned only by its
/// path with the mark.
pub(super) fn files_not_named(files: &[String], page: &[String]) -> Vec<String> {
    let names = |name: &str| page.iter().any(|line| contains_name(line, name));
    let base = |file: &str| file.rsplit('/').next().unwrap_or_default().to_owned();
    let is_single = |name: &str| files.iter().filter(|file| base(file) == name).count() == 1;
    let is_named = |file: &&String| {
        page.iter().any(|line| line.contains(&file_name(file)))
            || !file.ends_with(DELETED)
                && (names(file) || is_single(&base(file)) && names(&base(file)))
    };
    let named = files.iter().filter(is_named).count();
    if named * 2 < files.len() || files.len() >= MIN_FILES_TO_GROUP {
        return file_lines(files);
    }
    Vec::new()
}

fn file_lines(files: &[String]) -> Vec<String> {
    if files.len() < MIN_FILES_TO_GROUP {
        return vec![files.iter().map(|file| file_name(file)).collect::<Vec<_>>().join(", ")];
    }
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files {
        let (folder, name) = file.rsplit_once('/').unwrap_or((".", file));
        folders.entry(folder).or_default().push(name);
    }
    let (large, small): (Vec<_>, Vec<_>) =
        folders.into_iter().partition(|(_, names)| names.len() > 4);
    let count = |(folder, names): (&str, Vec<&str>)| format!("`{folder}/` ({})", names.len());
    let counts: Vec<String> = large.into_iter().map(count).collect();
    let of_large = (!counts.is_empty()).then(|| format!("Files in {}", counts.join(", ")));
    let named =
        small.into_iter().map(|(folder, names)| format!("`{folder}/`: {}", names.join(", ")));
    of_large.into_iter().chain(named).collect()
}

/// Formats a file in back quotes. [`DELETED`] follows the back quotes if the file was deleted.
fn file_name(file: &str) -> String {
    match file.strip_suffix(DELETED) {
        Some(path) => format!("`{path}`{DELETED}"),
        None => format!("`{file}`"),
    }
}
