//! Saves how a model classified tools, and the user's corrections of these classifications.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    activity::classify::{ClassificationCache, ToolCorrection},
    engine::redaction::{self, StoredRedactor},
    model::tool::{ToolDomain, ToolIntent},
    store::{NoteNamespace, Store, StoreError, Write, damaged::skip_damaged},
};

/// The learned classifications, and the store that keeps them.
pub struct LearnedTools {
    learned: Arc<Mutex<ClassificationCache>>,
    store: Arc<dyn Store>,
}

/// A learned classification, for display.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedTool {
    pub tool: String,
    pub intent: ToolIntent,
    pub domain: ToolDomain,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// Whether the user corrected the classification.
    pub by_user: bool,
}

#[derive(Serialize, Deserialize)]
struct LearnedRecord<L> {
    version: u32,
    learned: L,
}

const VERSION: u32 = 1;
const NAME: &[u8] = b"all";

impl LearnedTools {
    /// Loads the saved classifications. If they are damaged or cannot be parsed, starts without
    /// any.
    ///
    /// # Errors
    ///
    /// Returns an error if the classifications cannot be read, or if a newer version wrote them.
    /// The next change would overwrite them, and the user's corrections would be lost.
    pub fn load(store: Arc<dyn Store>) -> Result<LearnedTools, StoreError> {
        let learned = Arc::new(Mutex::new(read(store.as_ref())?));
        Ok(LearnedTools { learned, store })
    }

    /// Returns the shared classifications, for classifying calls.
    pub fn shared(&self) -> Arc<Mutex<ClassificationCache>> {
        self.learned.clone()
    }

    /// Changes the classifications and saves them.
    pub fn change<T>(&self, change: impl FnOnce(&mut ClassificationCache) -> T) -> T {
        let mut learned = self.lock();
        let result = change(&mut learned);
        // Writes are applied in order, so the lock is held until this write is queued. If the write
        // fails, the change is lost at the next start.
        let _ = self.store.write(vec![write(&learned)]);
        result
    }

    /// Stores a correction by the user.
    pub fn correct(&self, tool: &str, intent: ToolIntent, domain: ToolDomain) {
        let correction = ToolCorrection { intent, domain, signals: None };
        // In sessions, the names of tools are redacted in the same way.
        self.change(|learned| learned.correct(&redaction::id(tool), correction));
    }

    /// Removes a correction by the user. Returns whether there was one.
    pub fn withdraw(&self, tool: &str) -> bool {
        self.change(|learned| learned.withdraw(&redaction::id(tool)))
    }

    /// Returns all classifications, by tool.
    pub fn list(&self) -> Vec<LearnedTool> {
        self.lock()
            .known()
            .map(|(classification, by_user)| LearnedTool {
                tool: classification.tool_name,
                intent: classification.intent,
                domain: classification.domain,
                confidence: classification.confidence,
                by_user,
            })
            .collect()
    }

    /// Exports all classifications and corrections; see [`ClassificationCache::export`].
    pub fn export(&self) -> Value {
        self.lock().export()
    }

    /// Imports an exported document. Returns the numbers of new, known and unreadable entries.
    pub fn import(&self, document: &Value) -> (usize, usize, usize) {
        let mut document = document.clone();
        StoredRedactor::default().value(&mut document);
        let imported = self.change(|learned| learned.import(&document));
        (imported.added, imported.redundant, imported.unreadable)
    }

    fn lock(&self) -> MutexGuard<'_, ClassificationCache> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds the classifications of a damaged database to those of `into`. If both have a classification
/// of a tool, or a correction by the user, `into` keeps its own.
///
/// # Errors
///
/// Returns an error if `into` cannot be read or written, or if a newer version wrote its
/// classifications.
pub fn salvage(from: &dyn Store, into: &dyn Store) -> Result<(), StoreError> {
    let mut learned = read(into)?;
    let theirs = read(from).unwrap_or_else(|error| {
        tracing::warn!(%error, "the classifications of tools are not recovered");
        ClassificationCache::default()
    });
    if learned.import(&theirs.export()).added == 0 {
        return Ok(());
    }
    into.write(vec![write(&learned)]).wait().map(drop)
}

/// Reads the saved classifications. If they are damaged or cannot be parsed, logs a warning and
/// returns no classifications.
fn read(store: &dyn Store) -> Result<ClassificationCache, StoreError> {
    let note = store.note(NoteNamespace::Learned, NAME);
    let note = skip_damaged(note, "the saved classifications of tools are ignored")?;
    note.map_or_else(|| Ok(ClassificationCache::default()), |note| parse(&note))
}

fn write(learned: &ClassificationCache) -> Write {
    let saved = LearnedRecord { version: VERSION, learned };
    Write::note(NoteNamespace::Learned, NAME, &saved)
}

/// Parses the content of the note.
fn parse(note: &[u8]) -> Result<ClassificationCache, StoreError> {
    let parsed = serde_json::from_slice::<LearnedRecord<Value>>(note).and_then(|record| {
        let learned = (record.version == VERSION).then(|| serde_json::from_value(record.learned));
        Ok((record.version, learned.transpose()?))
    });
    match parsed {
        Ok((_, Some(learned))) => Ok(learned),
        Ok((version, None)) => {
            Err(StoreError::TooNew(format!("classifications of tools of version {version}")))
        }
        Err(error) => {
            tracing::warn!(%error, "ignoring the saved classifications of tools");
            Ok(ClassificationCache::default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Note, NoteStore, sled::SledStore};

    fn store(folder: &tempfile::TempDir) -> Arc<SledStore> {
        Arc::new(SledStore::open(folder.path()).unwrap())
    }

    fn save(store: &SledStore, content: &[u8]) {
        let (name, content) = (NAME.to_vec(), Some(content.to_vec()));
        let note = Note { namespace: NoteNamespace::Learned, name, content };
        store.write(vec![Write::Note(note)]).wait().unwrap();
    }

    #[test]
    fn classifications_of_a_newer_version_are_not_overwritten() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [store, other] = [store(&folders[0]), store(&folders[1])];
        for store in [&store, &other] {
            LearnedTools::load(store.clone()).unwrap().correct(
                "mcp__wiki__lookup",
                ToolIntent::Search,
                ToolDomain::Documentation,
            );
            store.write(Vec::new()).wait().unwrap();
        }
        assert_eq!(LearnedTools::load(store.clone()).unwrap().list().len(), 1);
        let newer = br#"{"version":2,"learned":{"other":1}}"#;
        save(&store, newer);
        let refused = LearnedTools::load(store.clone()).err();
        assert!(matches!(refused, Some(StoreError::TooNew(_))), "{refused:?}");
        let refused = salvage(other.as_ref(), store.as_ref());
        assert!(matches!(refused, Err(StoreError::TooNew(_))), "{refused:?}");
        assert_eq!(store.note(NoteNamespace::Learned, NAME).unwrap(), Some(newer.to_vec()));
        // A damaged database of a newer version does not prevent the recovery.
        salvage(store.as_ref(), other.as_ref()).unwrap();
        assert_eq!(LearnedTools::load(other).unwrap().list().len(), 1);
        save(&store, b"not JSON");
        assert!(LearnedTools::load(store.clone()).unwrap().list().is_empty());
    }

    #[test]
    fn classifications_of_both_databases_are_kept() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [from, into] = [store(&folders[0]), store(&folders[1])];
        let before = LearnedTools::load(from.clone()).unwrap();
        before.correct("mcp__a__old", ToolIntent::Search, ToolDomain::Documentation);
        before.correct("mcp__a__both", ToolIntent::Search, ToolDomain::Documentation);
        let now = LearnedTools::load(into.clone()).unwrap();
        now.correct("mcp__a__both", ToolIntent::Modify, ToolDomain::Code);
        now.correct("mcp__a__new", ToolIntent::Modify, ToolDomain::Code);
        for store in [&from, &into] {
            store.write(Vec::new()).wait().unwrap();
        }
        salvage(from.as_ref(), into.as_ref()).unwrap();
        let tools: Vec<_> = LearnedTools::load(into)
            .unwrap()
            .list()
            .into_iter()
            .map(|tool| (tool.tool, tool.intent, tool.by_user))
            .collect();
        let wanted = [
            ("mcp__a__both", ToolIntent::Modify),
            ("mcp__a__new", ToolIntent::Modify),
            ("mcp__a__old", ToolIntent::Search),
        ];
        assert_eq!(tools, wanted.map(|(tool, intent)| (tool.to_owned(), intent, true)));
    }
}
