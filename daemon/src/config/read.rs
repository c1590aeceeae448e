//! Reads the text of a file into a configuration, and collects all problems and notices.

use std::path::{Path, PathBuf};

use crate::{
    config::{
        Loaded,
        codec::{CodecContext, Remark},
        consistency,
        file::{self, KeyValue, Node, Value},
        migrate::{self, KeyMigration},
        nearest::nearest,
        problem::{ConfigProblem, FilePosition, Notice, Problems},
        table::{self, Field},
    },
    redact::Redactor,
};

/// The sections of the file that Graphiti uses. The daemon ignores these sections.
const GRAPHITI_SECTIONS: &[&str] = &[
    "daemon",
    "database",
    "description",
    "embedder",
    "extraction",
    "graphiti",
    "llm",
    "llm_resilience",
    "logging",
    "mcp_server",
    "mcp_tools",
    "memory_filter",
    "performance",
    "project",
    "resilience",
    "search",
    "server",
    "version",
];

/// A configuration file: the user's own file, or a file of a project.
#[derive(Clone, Debug)]
pub(super) struct ConfigSource {
    /// The path, for messages.
    pub(super) file: PathBuf,
    /// The user's own file, if this file belongs to a project.
    pub(super) own_file: Option<PathBuf>,
    /// The user's home folder, which replaces `~/`.
    pub(super) user_home: Option<PathBuf>,
}

/// Reads `text`, the content of the user's own `file`; `user_home` replaces `~/`.
///
/// # Errors
/// All problems of the file, with its notices.
pub fn read(file: &Path, text: &str, user_home: Option<&Path>) -> Result<Loaded, Problems> {
    let user_home = user_home.map(Path::to_owned);
    read_source(&ConfigSource { file: file.to_owned(), own_file: None, user_home }, text)
}

pub(super) fn read_source(source: &ConfigSource, text: &str) -> Result<Loaded, Problems> {
    let root = file::parse(&source.file, text)?;
    let mut reader = ConfigReader {
        source,
        redactor: Redactor::new(),
        found: Vec::new(),
        problems: Vec::new(),
        notices: Vec::new(),
        loaded: Loaded { file: Some(source.file.clone()), ..Loaded::default() },
    };
    reader.collect_root(&root);
    reader.read_fields();
    reader.finish()
}

/// An occurrence of a field in the file.
struct FieldOccurrence<'n> {
    field: &'static Field,
    node: &'n Node,
    line: usize,
    written: String,
    /// Whether the key is deprecated.
    is_older: bool,
}

struct ConfigReader<'s, 'n> {
    source: &'s ConfigSource,
    redactor: Redactor,
    found: Vec<FieldOccurrence<'n>>,
    problems: Vec<ConfigProblem>,
    notices: Vec<Notice>,
    loaded: Loaded,
}

/// An object in the file: its key in the table, and its spelling.
#[derive(Clone)]
struct Prefix {
    known: String,
    written: String,
    is_older: bool,
}

impl<'n> ConfigReader<'_, 'n> {
    fn collect_root(&mut self, root: &'n Node) {
        let top = Prefix { known: String::new(), written: String::new(), is_older: false };
        match &root.value {
            Value::Object(entries) => self.collect(entries, &top),
            _ => {
                let found = root.shown(&self.redactor);
                self.report_invalid(
                    root.line,
                    "the file",
                    &found,
                    "an object",
                    "put { } around the content",
                );
            }
        }
    }

    fn collect(&mut self, entries: &'n [KeyValue], prefix: &Prefix) {
        for entry in entries.iter().filter(|entry| !is_remark(&entry.key)) {
            let written = join(&prefix.written, &entry.key);
            let key = join(&prefix.known, &entry.key);
            let is_foreign = prefix.known.is_empty() && GRAPHITI_SECTIONS.contains(&key.as_str());
            if is_foreign {
                continue;
            }
            if let Some(known) = table::known(&key) {
                self.collect_entry(known, entry, Prefix { written, ..prefix.clone() });
                continue;
            }
            match migrate::migration_of(&key) {
                Some(KeyMigration::Renamed(known)) => {
                    self.collect_entry(
                        known,
                        entry,
                        Prefix { written, is_older: true, ..prefix.clone() },
                    );
                }
                Some(KeyMigration::Retired(reason)) => {
                    let place = self.place(entry.line);
                    self.notices.push(Notice::Retired { place, key: written, reason });
                }
                None => self.report_unknown(entry, written),
            }
        }
    }

    /// Records a field, or collects the fields of a section.
    fn collect_entry(&mut self, known: &'static str, entry: &'n KeyValue, prefix: Prefix) {
        let Prefix { written, is_older, .. } = prefix;
        let line = entry.line;
        if let Some(field) = table::field(known) {
            self.found.push(FieldOccurrence { field, node: &entry.node, line, written, is_older });
            return;
        }
        match &entry.node.value {
            Value::Object(entries) => {
                if is_older {
                    let place = self.place(line);
                    self.notices.push(Notice::OlderKey { place, from: written.clone(), to: known });
                }
                // The keys in a renamed section are deprecated only if they were renamed
                // themselves.
                let known = known.to_owned();
                self.collect(entries, &Prefix { known, written, is_older: false });
            }
            Value::Null => {}
            _ => {
                let found = entry.node.shown(&self.redactor);
                let remedy = "write an object, such as { }, or remove the key";
                self.report_invalid(line, &written, &found, "an object", remedy);
            }
        }
    }

    /// Ignores an unknown key with a notice. A key that seems to hold a secret is a problem.
    fn report_unknown(&mut self, entry: &KeyValue, key: String) {
        let place = self.place(entry.line);
        if is_secret_name(&key)
            && matches!(&entry.node.value, Value::Text(text) if !text.is_empty())
        {
            self.problems.push(ConfigProblem::Secret { place, remedy: secret_remedy(&key), key });
            return;
        }
        let nearest = nearest(&key);
        self.notices.push(Notice::Unknown { place, key, nearest });
    }

    /// Reads each field. If a field occurs more than once, one occurrence is used.
    fn read_fields(&mut self) {
        let found = std::mem::take(&mut self.found);
        for field in table::fields() {
            let mut places: Vec<&FieldOccurrence<'_>> =
                found.iter().filter(|found| found.field.key == field.key).collect();
            // A current spelling takes precedence over deprecated ones, and the last occurrence
            // over earlier ones.
            places.sort_by_key(|found| !found.is_older);
            let Some((used, others)) = places.split_last() else { continue };
            for other in others {
                self.report_superseded(used, other);
            }
            self.read_field(used);
        }
    }

    fn report_superseded(&mut self, used: &FieldOccurrence<'_>, other: &FieldOccurrence<'_>) {
        let notice = if other.written == used.written {
            Notice::Twice { place: self.place(used.line), key: used.written.clone() }
        } else {
            let place = self.place(other.line);
            Notice::Superseded { place, from: other.written.clone(), to: used.field.key }
        };
        self.notices.push(notice);
    }

    fn read_field(&mut self, found: &FieldOccurrence<'_>) {
        let FieldOccurrence { field, node, line, written, is_older } = found;
        if *is_older {
            let place = self.place(*line);
            self.notices.push(Notice::OlderKey { place, from: written.clone(), to: field.key });
        }
        if let (true, Some(own_file)) = (field.is_guarded(), &self.source.own_file) {
            let (place, own_file) = (self.place(*line), own_file.clone());
            self.problems.push(ConfigProblem::Guarded { place, key: field.key, own_file });
            return;
        }
        if self.holds_secret(field.key, node) {
            let (place, key) = (self.place(*line), written.clone());
            self.problems.push(ConfigProblem::Secret {
                place,
                remedy: secret_remedy(field.key),
                key,
            });
            return;
        }
        let user_home = self.source.user_home.as_deref();
        let mut context = CodecContext { user_home, remarks: Vec::new() };
        match field.read(node, &mut self.loaded.config, &mut context) {
            Ok(()) => {
                self.loaded.origins.insert(field.key, *line);
                self.report_remarks(context.remarks, found);
            }
            Err(wrong) => {
                let shown = node.shown(&self.redactor);
                self.report_invalid(*line, written, &shown, &field.allowed(), &wrong.remedy);
            }
        }
    }

    fn report_remarks(&mut self, remarks: Vec<Remark>, found: &FieldOccurrence<'_>) {
        for remark in remarks {
            let (place, key) = (self.place(found.line), found.written.clone());
            let shown = found.node.shown(&self.redactor);
            self.notices.push(match remark {
                Remark::Older(to) => Notice::OlderValue { place, key, from: shown, to },
                Remark::Adjusted { used, reason } => {
                    Notice::Adjusted { place, key, found: shown, used, reason }
                }
            });
        }
    }

    /// Whether a text in `node` contains a secret, or is an API key although the name of an
    /// environment variable is expected.
    fn holds_secret(&self, key: &str, node: &Node) -> bool {
        match &node.value {
            Value::Text(text) => {
                let is_name = text
                    .trim_start_matches('$')
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                let is_key = key.ends_with("api_key_env") && text.len() >= 16 && !is_name;
                is_key || !self.redactor.redact(text).counts.is_empty()
            }
            Value::List(items) => items.iter().any(|item| self.holds_secret(key, item)),
            _ => false,
        }
    }

    fn finish(mut self) -> Result<Loaded, Problems> {
        if self.problems.is_empty() {
            let (problems, notices) = consistency::check(&self.loaded, &self.source.file);
            self.problems = problems;
            self.notices.extend(notices);
        }
        self.notices.sort_by_key(Notice::line);
        self.problems.sort_by_key(ConfigProblem::line);
        if self.problems.is_empty() {
            return Ok(Loaded { notices: self.notices, ..self.loaded });
        }
        Err(Problems { problems: self.problems, notices: self.notices })
    }

    fn report_invalid(&mut self, line: usize, key: &str, found: &str, allowed: &str, remedy: &str) {
        self.problems.push(ConfigProblem::InvalidValue {
            place: self.place(line),
            key: key.to_owned(),
            found: found.to_owned(),
            allowed: allowed.to_owned(),
            remedy: remedy.to_owned(),
        });
    }

    fn place(&self, line: usize) -> FilePosition {
        FilePosition::new(&self.source.file, line)
    }
}

/// Whether `key` is a remark for people or editors: it begins with `_` or `//`, or is `$schema`.
fn is_remark(key: &str) -> bool {
    key.starts_with('_') || key.starts_with("//") || key == "$schema"
}

fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

fn is_secret_name(key: &str) -> bool {
    let name = key.rsplit('.').next().unwrap_or(key).to_ascii_lowercase().replace(['_', '-'], "");
    ["key", "token", "secret", "password"].iter().any(|word| name.ends_with(word))
}

fn secret_remedy(key: &str) -> String {
    let (section, name) = match key {
        key if key.contains("embed") => ("embeddings", "api_key"),
        key if key.contains("share") => ("share", "password"),
        _ => ("llm", "api_key"),
    };
    format!(
        "set `session_tracking.{section}.{name}_env` to the name of an environment variable, or \
         `{name}_file` to a file that only you can read, and replace the secret if others could \
         read this one"
    )
}
