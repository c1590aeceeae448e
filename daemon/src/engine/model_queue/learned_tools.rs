//! Saves how a model classified tools, and the user's corrections of these classifications.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    activity::classify::{ClassificationCache, ToolCorrection},
    engine::redaction::{self, StoredRedactor},
    model::tool::{ToolDomain, ToolIntent},
    store::{NoteNamespace, Store, Write},
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
    /// Loads the saved classifications. If they cannot be read, starts without any.
    pub fn load(store: Arc<dyn Store>) -> LearnedTools {
        let learned = read(store.as_ref());
        LearnedTools { learned: Arc::new(Mutex::new(learned)), store }
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

/// Returns the write that adds the classifications of a damaged database to those of `into`; `None`
/// if there are no new classifications.
pub(super) fn salvage(from: &dyn Store, into: &dyn Store) -> Option<Write> {
    let mut learned = read(into);
    let imported = learned.import(&read(from).export());
    (imported.added > 0).then(|| write(&learned))
}

/// Reads the saved classifications. If they cannot be read, returns no classifications.
fn read(store: &dyn Store) -> ClassificationCache {
    match store.note(NoteNamespace::Learned, NAME) {
        Ok(None) => ClassificationCache::default(),
        Ok(Some(note)) => {
            match serde_json::from_slice::<LearnedRecord<ClassificationCache>>(&note) {
                Ok(LearnedRecord { version: VERSION, learned }) => learned,
                _ => {
                    tracing::warn!(
                        "ignoring the saved classifications of tools: they are damaged or of another version"
                    );
                    ClassificationCache::default()
                }
            }
        }
        Err(error) => {
            tracing::warn!(%error, "failed to read the saved classifications of tools");
            ClassificationCache::default()
        }
    }
}

fn write(learned: &ClassificationCache) -> Write {
    let saved = LearnedRecord { version: VERSION, learned };
    Write::note(NoteNamespace::Learned, NAME, &saved)
}
