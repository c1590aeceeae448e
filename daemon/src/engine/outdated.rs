//! Finds the sessions with files that were read by older rules of their format, and in which these
//! rules skipped records that the current rules read.
//!
//! The state of a file names the version of the rules that read it. A note names, for each format,
//! the version to which all files were compared, so that most starts compare no files.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    capture::format::{FormatHandle, Formats},
    engine::{pipeline::first_rules, reading::SourceReader},
    model::SessionKey,
    store::{Note, NoteNamespace, Source, Store, StoreError, Write},
};

/// The name of the note, which has the versions of the rules by agent, except first versions.
const NAME: &[u8] = b"formats";

type RulesByAgent = BTreeMap<String, u64>;

/// Compares all files of the formats whose rules changed. Returns the sessions with outdated files.
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
        let agent = store.session(source.key.session)?.map(|session| session.id.agent);
        let format = changed.iter().find(|format| agent.as_deref() == Some(format.agent()));
        let Some(format) = format.filter(|format| has_newly_read(&source, format)) else {
            continue;
        };
        if reader.load(&source)?.rules != format.rules_version() {
            outdated.insert(source.key.session);
        }
    }
    // While there are outdated files, the note is not written, so that the next start compares
    // again: this run may end before it has read them.
    if outdated.is_empty() {
        // A failed write changes the health of the store, after which the database is reopened.
        let _ = store.write(vec![present(checked, formats)]);
    }
    Ok(outdated)
}

fn candidates(store: &dyn Store, changed: &[FormatHandle]) -> Result<Vec<Source>, StoreError> {
    let mut candidates = Vec::new();
    store.visit_sources(&mut |source| {
        if changed.iter().any(|format| has_newly_read(&source, format)) {
            candidates.push(source);
        }
        true
    })?;
    Ok(candidates)
}

fn has_newly_read(source: &Source, format: &FormatHandle) -> bool {
    source.tally.skipped.keys().any(|record_type| format.newly_reads(record_type))
}

fn present(checked: RulesByAgent, formats: &Formats) -> Write {
    let mut rules = checked;
    rules.extend(formats.iter().map(|format| (format.agent().to_owned(), format.rules_version())));
    rules.retain(|_, version| *version != first_rules());
    let content = serde_json::to_vec(&rules).expect("the keys are texts");
    let (namespace, name) = (NoteNamespace::Checked, NAME.to_vec());
    Write::Note(Note { namespace, name, content: Some(content) })
}
