//! `graphitid redact`: applies the current rules to text that was stored under older rules.
//!
//! The rows of the database are redacted in steps. The position is stored in the database, so that
//! an interrupted run can be continued. If any row changed, the run then removes the search index,
//! which the daemon rebuilds. The run also rewrites the database, because sled keeps the bytes of
//! replaced records.

mod files;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use serde::Serialize;

pub use self::files::exports;
use super::{DaemonOptions, database, quarantine, search};
use crate::{
    config,
    engine::{
        follow, indexes,
        redaction::{
            RedactionReport, StoredRedactor,
            note::{StoredRules, UnfinishedRun},
        },
    },
    fault,
    lifecycle::home::Home,
    redact::RULES_VERSION,
    store::{TextStore, clean::CleaningPosition, sled::SledStore},
};

/// Whether the changes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// Only reports the changes.
    Preview,
    /// Makes the changes.
    Run,
}

/// The changes, or in a preview the changes that would be made.
#[derive(Debug, Default, Serialize)]
pub struct RedactionSummary {
    /// Whether the changes were made.
    pub run: bool,
    /// The version of the rules.
    pub rules: u32,
    /// The version of the rules under which the text was stored. `None` if this version was not
    /// recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_rules: Option<u32>,
    /// Whether there was nothing to redact, and the text was recorded as redacted by the current
    /// rules.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recorded: bool,
    /// Whether the database was rewritten.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rewritten: bool,
    /// The number of changed records of each kind.
    pub changed: BTreeMap<String, u64>,
    /// The number of replaced secrets of each kind.
    pub kinds: BTreeMap<String, u64>,
    /// The number of unreadable records, which are not changed.
    pub unreadable: u64,
    pub files: Vec<PathBuf>,
    /// Damaged databases that were moved. They are not changed.
    pub put_aside: Vec<PathBuf>,
}

/// Called with the number of processed bytes and the total number of bytes.
pub type ProgressCallback<'p> = &'p mut dyn FnMut(u64, u64);

/// The position is saved each time that this many bytes of rows were processed.
const SAVE_INTERVAL_BYTES: u64 = 16 << 20;

/// Redacts the database, the logs and the spooled events of a home directory again. A preview only
/// counts the changes. If a preview finds no changes, it records that the text is redacted by the
/// current rules.
///
/// # Errors
///
/// If a daemon owns the home, the configuration is invalid, or a file cannot be read or written.
/// Changes that were made before the error are kept, and the next run continues after them.
pub fn home(
    options: &DaemonOptions,
    mode: RunMode,
    progress: ProgressCallback<'_>,
) -> anyhow::Result<RedactionSummary> {
    let home = Home::take(&options.home)?;
    // Only the user's own file can name the log.
    let own = config::FileSearch { directory: None, ..search(options) };
    let config = config::load(&own).context("correct the configuration, which names the log")?;
    let folder = database::folder(home.path());
    let mut redacted = RedactionSummary {
        run: mode == RunMode::Run,
        rules: RULES_VERSION,
        ..RedactionSummary::default()
    };
    redacted.put_aside = quarantine::all(&folder).context("list the damaged databases")?;
    let mut redactor = StoredRedactor::default();
    let mut store = None;
    if folder.exists() {
        let opened = open(&folder)?;
        redacted.stored_rules = StoredRules::of(&opened)?.rules;
        redactor = redact_rows(&opened, mode, progress)?;
        store = Some(opened);
    }
    let log = config.config.log.file.as_deref();
    redacted.files = files::of_home(home.path(), log, mode, &mut redactor)?;
    let is_stored_changed = !redactor.report.is_empty();
    if let Some(store) = store {
        let is_older = StoredRules::of(&store)?.is_older();
        match mode {
            RunMode::Preview if is_older && !is_stored_changed && redacted.files.is_empty() => {
                finish(store, home.path(), false)?;
                redacted.recorded = true;
            }
            RunMode::Preview => store.close(),
            RunMode::Run => {
                finish(store, home.path(), is_stored_changed)?;
                redacted.rewritten = is_stored_changed;
            }
        }
    }
    let RedactionReport { changed, kinds, unreadable } = redactor.report;
    Ok(RedactionSummary { changed, kinds, unreadable, ..redacted })
}

fn open(folder: &Path) -> anyhow::Result<SledStore> {
    SledStore::open(folder).with_context(|| format!("open {}", folder.display()))
}

/// Redacts all rows, or the remaining rows after an interrupted run with the same rules.
fn redact_rows(
    store: &SledStore,
    mode: RunMode,
    progress: ProgressCallback<'_>,
) -> anyhow::Result<StoredRedactor> {
    let stored = StoredRules::of(store)?;
    let unfinished = stored.unfinished.clone().filter(|run| run.rules == RULES_VERSION);
    let (mut position, mut redactor) = match unfinished {
        Some(UnfinishedRun { position: None, report, .. }) => {
            return Ok(StoredRedactor::resumed(report));
        }
        Some(UnfinishedRun { position: Some(position), report, .. }) => {
            (position, StoredRedactor::resumed(report))
        }
        None => (CleaningPosition::new(), StoredRedactor::default()),
    };
    let total = store.bytes_to_clean(&position)?;
    let (mut done, mut saved) = (0, 0);
    loop {
        let step = match mode {
            RunMode::Preview => store.preview_cleaning(&mut redactor, &position)?,
            RunMode::Run => store.clean(&mut redactor, &position)?,
        };
        redactor.report.unreadable += step.unreadable;
        done += step.bytes;
        progress(done.min(total), total);
        let is_last = step.next.is_none();
        if mode == RunMode::Run && (is_last || done - saved >= SAVE_INTERVAL_BYTES) {
            let report = redactor.report.clone();
            let run = UnfinishedRun { rules: RULES_VERSION, position: step.next.clone(), report };
            stored.clone().with(run).save(store)?;
            saved = done;
            fault::point("redact: noted");
        }
        match step.next {
            Some(next) => position = next,
            None => return Ok(redactor),
        }
    }
}

/// Removes the replaced text from the disk, and records that all text is redacted.
fn finish(store: SledStore, home: &Path, is_changed: bool) -> anyhow::Result<()> {
    let mut store = store;
    if is_changed {
        remove_index(&follow::folder(home)).context("remove the search index")?;
        fault::point("redact: index removed");
        store = store
            .compact(&database::folder(home))
            .context("rewrite the database; replaced text may still be in its file")?;
        fault::point("redact: written anew");
    }
    StoredRules::current().save(&store)?;
    store.close();
    Ok(())
}

/// Removes the search index, which the daemon rebuilds.
fn remove_index(folder: &Path) -> io::Result<()> {
    for folder in indexes::folders(folder) {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

impl RedactionSummary {
    /// Formats the report for people. Each item is a paragraph.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let verb = if self.run { "Changed" } else { "Would change" };
        let mut changed = listed(&self.changed);
        if !self.files.is_empty() {
            let files = self.files.len();
            changed.push(format!("{files} {}", if files == 1 { "file" } else { "files" }));
        }
        lines.push(match (changed.is_empty(), self.recorded) {
            (true, true) => format!(
                "There is nothing to redact. The stored text now counts as redacted by version {} of the rules.",
                self.rules
            ),
            (true, false) => {
                format!("There is nothing to redact under version {} of the rules.", self.rules)
            }
            (false, _) => format!("{verb}: {}.", changed.join(", ")),
        });
        if !self.kinds.is_empty() {
            lines.push(format!("Secrets by kind: {}.", listed(&self.kinds).join(", ")));
        }
        if self.unreadable > 0 {
            lines.push(format!(
                "{} records cannot be read, so they are not changed; see `graphiti repair`.",
                self.unreadable
            ));
        }
        for folder in &self.put_aside {
            lines.push(format!(
                "The damaged database {} is not changed: delete it if no session is missing.",
                folder.display()
            ));
        }
        if !changed.is_empty() && !self.run {
            lines.push("Nothing was changed. Make the changes with --run.".to_owned());
        }
        if self.rewritten {
            let done = "The database was rewritten, and the search index is being rebuilt.";
            lines.push(done.to_owned());
        }
        lines
    }
}

/// Formats each count with its name, such as `3 messages`.
fn listed(counts: &BTreeMap<String, u64>) -> Vec<String> {
    counts.iter().map(|(what, count)| format!("{count} {what}")).collect()
}

/// Fails for a file whose extension is not one that `graphiti export` writes.
fn ensure_exported(path: &Path) -> anyhow::Result<()> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    ensure!(
        matches!(extension, Some("md" | "json" | "jsonl")),
        "{} is not a file that `graphiti export` writes: *.md, *.json or *.jsonl",
        path.display()
    );
    Ok(())
}
