//! What was learned about tools, kept from one run to the next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    activity::classify::{Correction, Learned},
    engine::redaction::{self, StoredRedactor},
    model::tool::{ToolDomain, ToolIntent},
    store::{Note, NoteNamespace, Store, Write},
};

/// What was learned, and where it is kept.
pub struct LearnedTools {
    learned: Arc<Mutex<Learned>>,
    store: Arc<dyn Store>,
}

/// What is known of a tool, for showing.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedTool {
    /// The tool's name.
    pub tool: String,
    /// What it is for.
    pub intent: ToolIntent,
    /// Where it works.
    pub domain: ToolDomain,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Who says so.
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
    /// What was saved. What cannot be read is learned anew.
    pub fn load(store: Arc<dyn Store>) -> LearnedTools {
        let learned = match store.note(NoteNamespace::Learned, NAME) {
            Ok(None) => Learned::default(),
            Ok(Some(note)) => match serde_json::from_slice::<LearnedRecord<Learned>>(&note) {
                Ok(LearnedRecord { version: VERSION, learned }) => learned,
                _ => {
                    tracing::warn!("what was learned about tools is of another version");
                    Learned::default()
                }
            },
            Err(error) => {
                tracing::warn!(%error, "what was learned about tools cannot be read");
                Learned::default()
            }
        };
        LearnedTools { learned: Arc::new(Mutex::new(learned)), store }
    }

    /// The same for those who classify.
    pub fn shared(&self) -> Arc<Mutex<Learned>> {
        self.learned.clone()
    }

    /// Changes what is known, and saves it.
    pub fn change<T>(&self, change: impl FnOnce(&mut Learned) -> T) -> T {
        let mut learned = self.lock();
        let result = change(&mut learned);
        let saved = LearnedRecord { version: VERSION, learned: &*learned };
        let content = serde_json::to_vec(&saved).expect("what was learned is plain data");
        let note =
            Note { namespace: NoteNamespace::Learned, name: NAME.to_vec(), content: Some(content) };
        // Writes are applied in order, so the lock is held until this one has its place.
        drop(self.store.write(vec![Write::Note(note)]));
        result
    }

    /// Remembers what the user says about a tool.
    pub fn correct(&self, tool: &str, intent: ToolIntent, domain: ToolDomain) {
        let correction = Correction { intent, domain, signals: None };
        // As it is called in sessions.
        self.change(|learned| learned.correct(&redaction::id(tool), correction));
    }

    /// Takes back what the user said about a tool; says whether there was anything.
    pub fn withdraw(&self, tool: &str) -> bool {
        self.change(|learned| learned.withdraw(&redaction::id(tool)))
    }

    /// Every tool that something was learned about, by name.
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

    /// Both caches and the corrections, in the documents' form.
    pub fn export(&self) -> Value {
        self.lock().export()
    }

    /// Takes such a document in; how many entries were taken, known already, and unreadable.
    pub fn import(&self, document: &Value) -> (usize, usize, usize) {
        let mut document = document.clone();
        StoredRedactor::default().value(&mut document);
        let imported = self.change(|learned| learned.import(&document));
        (imported.taken, imported.needless, imported.unreadable)
    }

    fn lock(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
