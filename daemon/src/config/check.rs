//! The output of `graphitid config check`.

use std::path::Path;

use crate::config::{Loaded, problem::Notice, problem::Problems, search::FileSearch, table};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// The report for people, of several lines.
    pub text: String,
    pub is_valid: bool,
}

/// Reports on `file` or, if `file` is `None`, on the file that `search` finds. The report contains
/// the problems and notices and, if the file is valid, every value with its source.
pub fn check(search: &FileSearch, file: Option<&Path>) -> CheckReport {
    let Some(file) = file.map(Path::to_owned).or_else(|| search.file()) else {
        return CheckReport { text: without_file(search), is_valid: true };
    };
    match search.read(&file) {
        Ok(loaded) => CheckReport { text: valid_report(&file, &loaded), is_valid: true },
        Err(problems) => CheckReport { text: invalid_report(&file, &problems), is_valid: false },
    }
}

fn without_file(search: &FileSearch) -> String {
    let candidates: Vec<String> =
        search.candidates().iter().map(|file| file.display().to_string()).collect();
    let looked_for = candidates.join(" and ");
    let values = values(&Loaded::default());
    format!("no file: looked for {looked_for}; `graphitid config init` writes one\n\n{values}")
}

fn valid_report(file: &Path, loaded: &Loaded) -> String {
    let mut text = format!("{}: can be used\n\n", file.display());
    push_notices(&mut text, &loaded.notices);
    text + &values(loaded)
}

fn invalid_report(file: &Path, problems: &Problems) -> String {
    let mut text = format!("{}: cannot be used\n\n", file.display());
    push_list(&mut text, "wrong", problems.problems.iter());
    push_notices(&mut text, &problems.notices);
    text.trim_end().to_owned() + "\n"
}

fn push_notices(text: &mut String, notices: &[Notice]) {
    push_list(text, "worth knowing", notices.iter().filter(|notice| !notice.is_migration()));
    push_list(text, "older spellings", notices.iter().filter(|notice| notice.is_migration()));
}

fn push_list<T: ToString>(text: &mut String, title: &str, lines: impl Iterator<Item = T>) {
    let lines: Vec<String> = lines.map(|line| format!("  {}\n", line.to_string())).collect();
    if !lines.is_empty() {
        text.push_str(&format!("{title} ({})\n{}\n", lines.len(), lines.concat()));
    }
}

/// Lists every key with its value and the source of the value.
fn values(loaded: &Loaded) -> String {
    let mut text = "values\n".to_owned();
    for field in table::fields() {
        let value = field.write(&loaded.config);
        let origin = match loaded.origins.get(field.key) {
            Some(line) => format!("line {line}"),
            None => "default".to_owned(),
        };
        text.push_str(&format!("  {} = {value}  ({origin})\n", field.key));
    }
    text
}
