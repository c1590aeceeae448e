//! Redacts text files: exports, and the logs and spooled events of a home directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use graphiti_proto::methods::hook::{self, HookEvent};
use serde_json::Value;

use super::{RedactionSummary, RunMode, ensure_exported};
use crate::{
    engine::redaction::{RedactionReport, StoredRedactor},
    files,
    redact::RULES_VERSION,
};

/// The files that `graphiti export` writes into a folder.
const EXPORTED: [&str; 3] = ["episodes.jsonl", "session_states.json", "tool_classifications.json"];
const EPISODES: &str = "episodes";
/// The default log, and the output of a daemon that starts in the background.
const LOGS: [&str; 2] = ["graphitid.log", "graphitid.err"];
/// The file of the crash tracker. After a crash, the file contains a session id.
const CRASH_TRACKER_FILE: &str = "at_work.json";

/// Redacts exported files again, and the files in exported folders. A preview only counts the
/// changes.
///
/// # Errors
///
/// If a file is not an export, or cannot be read or written. The files before this file are already
/// redacted.
pub fn exports(paths: &[PathBuf], mode: RunMode) -> anyhow::Result<RedactionSummary> {
    let mut redactor = StoredRedactor::default();
    let mut changed = Vec::new();
    for path in paths {
        for file in exported(path)? {
            ensure_exported(&file)?;
            let is_changed = redact_export(&file, mode, &mut redactor)
                .with_context(|| format!("redact {}", file.display()))?;
            changed.extend(is_changed.then_some(file));
        }
    }
    let RedactionReport { kinds, unreadable, changed: _ } = redactor.report;
    Ok(RedactionSummary {
        run: mode == RunMode::Run,
        rules: RULES_VERSION,
        kinds,
        unreadable,
        files: changed,
        ..RedactionSummary::default()
    })
}

/// Redacts the logs and spooled events of a home directory, and removes [`CRASH_TRACKER_FILE`] if
/// it contains a secret. Returns the files that changed, or would change in a preview.
pub(super) fn of_home(
    home: &Path,
    log: Option<&Path>,
    mode: RunMode,
    redactor: &mut StoredRedactor,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut changed = Vec::new();
    let mut logs: Vec<PathBuf> = LOGS.iter().map(|name| home.join(name)).collect();
    logs.extend(log.map(Path::to_owned));
    for file in logs.iter().flat_map(|log| with_older(log)) {
        let is_changed = rewrite(&file, mode, &mut |text| {
            redactor.text(text);
        });
        changed.extend(is_changed.with_context(|| redact(&file))?.then_some(file));
    }
    for file in listed(&hook::spool(home), "json") {
        let is_changed = rewrite(&file, mode, &mut |text| event(text, redactor));
        changed.extend(is_changed.with_context(|| redact(&file))?.then_some(file));
    }
    let crash_tracker = home.join(CRASH_TRACKER_FILE);
    let text = fs::read_to_string(&crash_tracker).unwrap_or_default();
    if redactor.text(&mut text.clone()) {
        if mode == RunMode::Run {
            fs::remove_file(&crash_tracker).with_context(|| redact(&crash_tracker))?;
        }
        changed.push(crash_tracker);
    }
    Ok(changed)
}

fn redact(file: &Path) -> String {
    format!("redact {}", file.display())
}

/// Returns the files of the export at `path`, or `path` itself if `path` is a file.
fn exported(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let metadata = fs::metadata(path).with_context(|| format!("read {}", path.display()))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files: Vec<PathBuf> = EXPORTED.iter().map(|name| path.join(name)).collect();
    files.retain(|file| is_plain_file(file));
    files.extend(listed(&path.join(EPISODES), "md"));
    // The path may be the folder `episodes` of an export.
    if files.is_empty() {
        files = listed(path, "md");
    }
    Ok(files)
}

/// Returns the files in `folder` that have this extension and are not symbolic links.
fn listed(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| {
        file.extension().is_some_and(|found| found == extension) && is_plain_file(file)
    });
    files.sort();
    files
}

fn is_plain_file(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok_and(|metadata| metadata.is_file())
}

/// Returns a log and its rotated predecessors.
fn with_older(log: &Path) -> Vec<PathBuf> {
    let older = (1..).map(|number| {
        let mut name = log.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    });
    let older = older.take_while(|file| is_plain_file(file));
    [log.to_owned()].into_iter().filter(|file| is_plain_file(file)).chain(older).collect()
}

fn redact_export(file: &Path, mode: RunMode, redactor: &mut StoredRedactor) -> io::Result<bool> {
    let extension = file.extension().and_then(|extension| extension.to_str());
    rewrite(file, mode, &mut |text| match extension {
        Some("jsonl") => lines(text, redactor),
        Some("json") => document(text, redactor),
        _ => {
            redactor.text(text);
        }
    })
}

/// Redacts each line as a JSON document, or as text if the line is not JSON.
fn lines(text: &mut String, redactor: &mut StoredRedactor) {
    let mut clean = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (content, end) = match line.strip_suffix('\n') {
            Some(content) => (content, "\n"),
            None => (line, ""),
        };
        let mut content = content.to_owned();
        match serde_json::from_str::<Value>(&content) {
            Ok(mut value) => {
                if redactor.value(&mut value) {
                    content = value.to_string();
                }
            }
            Err(_) => {
                redactor.text(&mut content);
            }
        }
        clean.push_str(&content);
        clean.push_str(end);
    }
    *text = clean;
}

fn document(text: &mut String, redactor: &mut StoredRedactor) {
    match serde_json::from_str::<Value>(text) {
        Ok(mut value) => {
            if redactor.value(&mut value) {
                *text = format!("{value:#}");
            }
        }
        Err(_) => {
            redactor.text(text);
        }
    }
}

/// Redacts a hook event. If `text` is not an event, redacts the whole text.
fn event(text: &mut String, redactor: &mut StoredRedactor) {
    let Ok(event) = serde_json::from_str::<HookEvent>(text) else {
        redactor.text(text);
        return;
    };
    let mut redacted = event.to_spool();
    let is_changed =
        redactor.id(&mut redacted.session_id) | redactor.text(&mut redacted.hook_event_name);
    // A redacted path does not lead to a file any more, so the path is removed.
    let is_redacted = |path: &mut String| redactor.text(path);
    if redacted.transcript_path.as_mut().is_some_and(is_redacted) {
        redacted.transcript_path = None;
    }
    if is_changed || redacted != event {
        *text = serde_json::to_string(&redacted).expect("an event has only string keys");
    }
}

/// Replaces a file atomically by its changed text, except in a preview. Returns whether the text
/// changed.
fn rewrite(file: &Path, mode: RunMode, change: &mut dyn FnMut(&mut String)) -> io::Result<bool> {
    let bytes = match fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        bytes => bytes?,
    };
    let before = String::from_utf8_lossy(&bytes).into_owned();
    let mut text = before.clone();
    change(&mut text);
    if text == before {
        return Ok(false);
    }
    if mode == RunMode::Run {
        files::replace(file, text.as_bytes())?;
    }
    Ok(true)
}
