//! Records the version of the rules by which the text in the store was redacted.
//!
//! A new database gets the current version. The text in a database without the note counts as
//! redacted by older rules.

use serde::{Deserialize, Serialize};

use super::RedactionReport;
pub use crate::redact::RULES_VERSION;
use crate::store::{NoteNamespace, Store, StoreError, Totals, Write, clean::CleaningPosition};

/// The content of the note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredRules {
    version: u32,
    /// The version of the rules; `None` if it is not known.
    pub rules: Option<u32>,
    /// The run of `graphiti redact` that has not ended.
    pub unfinished: Option<UnfinishedRun>,
}

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnfinishedRun {
    /// The version of the rules that the run applies.
    pub rules: u32,
    /// The position that was reached; `None` when all rows were redacted.
    pub position: Option<CleaningPosition>,
    /// The changes so far.
    pub report: RedactionReport,
}

const VERSION: u32 = 1;
const NAME: &[u8] = b"rules";

impl StoredRules {
    /// Reads the note in `store`. If the note is missing or unreadable, the rules count as older.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub fn of(store: &dyn Store) -> Result<StoredRules, StoreError> {
        let note = store.note(NoteNamespace::Redaction, NAME)?;
        let stored = note.and_then(|note| serde_json::from_slice::<StoredRules>(&note).ok());
        Ok(stored.filter(|stored| stored.version == VERSION).unwrap_or_default())
    }

    /// Returns the note of a store in which all text is redacted by the current rules.
    pub fn current() -> StoredRules {
        StoredRules { version: VERSION, rules: Some(RULES_VERSION), unfinished: None }
    }

    /// Returns the note with a run that has not ended.
    pub fn with(self, run: UnfinishedRun) -> StoredRules {
        StoredRules { version: VERSION, unfinished: Some(run), ..self }
    }

    /// Whether the store may contain text that the current rules would redact.
    pub fn is_older(&self) -> bool {
        self.unfinished.is_some() || self.rules.is_none_or(|rules| rules < RULES_VERSION)
    }

    /// Writes the note to `store`, and waits until it is on disk.
    ///
    /// # Errors
    ///
    /// Returns an error if the note cannot be written.
    pub fn save(&self, store: &dyn Store) -> Result<(), StoreError> {
        store.write(vec![self.to_write()]).wait().map(drop)
    }

    fn to_write(&self) -> Write {
        Write::note(NoteNamespace::Redaction, NAME, self)
    }
}

/// Records the current rules in a new store.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub fn note_new(store: &dyn Store) -> Result<(), StoreError> {
    let is_new = store.outbox_end() == 0 && store.totals() == Totals::default();
    if is_new && StoredRules::of(store)?.rules.is_none() {
        // If the write fails, the text counts as redacted by older rules.
        let _ = store.write(vec![StoredRules::current().to_write()]);
    }
    Ok(())
}
