//! Finds the sessions whose files have to be read again. Such a file was read by an older version
//! of its format's rules, and that version skipped records of a type that the current rules may
//! read.
//!
//! The state of a file contains the version of the rules by which it was read. A note contains, for
//! each format, the version of the rules at the last check of all files. If these versions are
//! current, a start of the daemon checks no files.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    capture::format::{FormatHandle, Formats},
    engine::{pipeline::first_rules, reading::SourceReader},
    model::SessionKey,
    store::{NoteNamespace, Source, Store, StoreError, Write, damaged::skip_damaged},
};

/// The name of the note. The note contains the versions of the rules by agent, without versions
/// that are [`first_rules`].
const NAME: &[u8] = b"formats";

/// The effect of a damaged record.
const NOT_READ: &str = "its session is not read again by newer rules";

type RulesByAgent = BTreeMap<String, u64>;

/// Checks all files of the formats whose rules changed. Returns the sessions with outdated files.
/// Blocks.
pub(super) fn find(
    reader: &SourceReader,
    formats: &Formats,
) -> Result<BTreeSet<SessionKey>, StoreError> {
    let store = reader.store.as_ref();
    let note = store.note(NoteNamespace::Checked, NAME)?;
    let checked: RulesByAgent =
        note.and_then(|note| serde_json::from_slice(&note).ok()).unwrap_or_default();
    let is_changed = |format: &FormatHandle| {
        let known = checked.get(format.agent()).copied().unwrap_or_else(first_rules);
        known != format.rules_version()
    };
    let changed: Vec<FormatHandle> = formats.iter().filter(is_changed).collect();
    if changed.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut outdated = BTreeSet::new();
    for source in candidates(store, &changed)? {
        let session = skip_damaged(store.session(source.key.session), NOT_READ)?;
        let agent = session.map(|session| session.id.agent);
        let format = changed.iter().find(|format| agent.as_deref() == Some(format.agent()));
        let Some(format) = format.filter(|format| has_newly_readable_records(&source, format))
        else {
            continue;
        };
        if reader.load(&source)?.rules != format.rules_version() {
            outdated.insert(source.key.session);
        }
    }
    // While there are outdated files, the note is not written, because this run may end before the
    // files are read. The next start then checks again.
    if outdated.is_empty() {
        // If the write fails, the store reports it in its health, and the next start checks again.
        let _ = store.write(vec![checked_versions_note(checked, formats)]);
    }
    Ok(outdated)
}

fn candidates(store: &dyn Store, changed: &[FormatHandle]) -> Result<Vec<Source>, StoreError> {
    let mut candidates = Vec::new();
    let visited = store.visit_sources(&mut |source| {
        if changed.iter().any(|format| has_newly_readable_records(&source, format)) {
            candidates.push(source);
        }
        true
    });
    skip_damaged(visited, NOT_READ)?;
    Ok(candidates)
}

fn has_newly_readable_records(source: &Source, format: &FormatHandle) -> bool {
    source.tally.skipped.keys().any(|record_type| format.newly_reads(record_type))
}

fn checked_versions_note(checked: RulesByAgent, formats: &Formats) -> Write {
    let mut rules = checked;
    rules.extend(formats.iter().map(|format| (format.agent().to_owned(), format.rules_version())));
    rules.retain(|_, version| *version != first_rules());
    Write::note(NoteNamespace::Checked, NAME, &rules)
}
