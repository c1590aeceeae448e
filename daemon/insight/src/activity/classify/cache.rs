//! The learned classifications of tools, from models and from the user. Corrections of the user
//! take precedence.
//!
//! The store saves the classifications. They can be exported and imported in the format of the
//! specification (intelligent-session-summarization, 3.4).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    activity::classify::{key, native, signals},
    model::{
        activity::Signals,
        tool::{ToolClassification, ToolDomain, ToolIntent},
    },
};

/// Maximum number of calls that are stored by name and arguments.
const MAX_CALLS: usize = 2_000;
/// Maximum number of tools that are stored by name.
const MAX_TOOLS: usize = 1_000;
/// Confidence of a correction by the user.
const USER_CONFIDENCE: f64 = 1.0;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassificationCache {
    /// By name and arguments; the keys come from [`key::of_call`].
    exact: Cache,
    /// By name alone.
    pattern: Cache,
    /// The user's corrections, by name. They are never evicted.
    corrections: BTreeMap<String, ToolCorrection>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCorrection {
    pub intent: ToolIntent,
    pub domain: ToolDomain,
    /// The signals of a call. If `None`, `signals::of_intent` derives them from intent and domain.
    pub signals: Option<Signals>,
}

impl ClassificationCache {
    /// Stores the user's correction for `tool`, and replaces an earlier one.
    pub fn correct(&mut self, tool: &str, correction: ToolCorrection) {
        self.corrections.insert(tool.to_owned(), correction);
    }

    /// Removes the user's correction for `tool`; returns whether it existed.
    pub fn withdraw(&mut self, tool: &str) -> bool {
        self.corrections.remove(tool).is_some()
    }

    pub fn corrections(&self) -> &BTreeMap<String, ToolCorrection> {
        &self.corrections
    }

    /// Stores a model's answer about a tool under the name of the tool and under the `calls` of the
    /// request. Built-in tools of agents are classified by their arguments, so one answer for all
    /// of their calls would be wrong and is not stored.
    pub fn learn(&mut self, classification: &ToolClassification, calls: &[Value]) {
        let tool = &classification.tool_name;
        if native::is_native(tool) {
            return;
        }
        for call in calls {
            self.exact.put(key::of_call(tool, call), classification.clone(), MAX_CALLS);
        }
        self.pattern.put(tool.clone(), classification.clone(), MAX_TOOLS);
    }

    /// Returns the signals of a tool that is known by name; `None` when it is unknown.
    pub fn signals(&self, tool: &str) -> Option<Signals> {
        let corrected = self.corrected(tool).map(|classification| classification.activity_signals);
        let learned =
            || self.pattern.entries.get(tool).map(|entry| entry.classification.activity_signals);
        corrected.or_else(learned)
    }

    pub(crate) fn corrected(&self, tool: &str) -> Option<ToolClassification> {
        let correction = self.corrections.get(tool)?;
        let usual = || signals::of_intent(correction.intent, correction.domain);
        Some(ToolClassification {
            tool_name: tool.to_owned(),
            intent: correction.intent,
            domain: correction.domain,
            confidence: USER_CONFIDENCE,
            reasoning: "a correction of the user".to_owned(),
            activity_signals: correction.signals.unwrap_or_else(usual),
        })
    }

    /// Returns the classification of a call with exactly these arguments.
    pub(crate) fn exact(&mut self, tool: &str, params: &Value) -> Option<ToolClassification> {
        // Hashing the arguments is by far the most expensive step, and few tools have an entry.
        let prefix = format!("{tool}::");
        let has_any = self
            .exact
            .entries
            .range(prefix.clone()..)
            .next()
            .is_some_and(|(key, _)| key.starts_with(&prefix));
        has_any.then(|| self.exact.get(&key::of_call(tool, params))).flatten()
    }

    pub(crate) fn by_name(&mut self, tool: &str) -> Option<ToolClassification> {
        self.pattern.get(tool)
    }

    /// Returns the classification of every tool that is known by name, and whether it is a
    /// correction of the user.
    pub fn known(&self) -> impl Iterator<Item = (ToolClassification, bool)> + '_ {
        let names: BTreeSet<&String> =
            self.corrections.keys().chain(self.pattern.entries.keys()).collect();
        names.into_iter().filter_map(|name| match self.corrected(name) {
            Some(corrected) => Some((corrected, true)),
            None => Some((self.pattern.entries.get(name)?.classification.clone(), false)),
        })
    }

    /// Returns both caches in the format of the specification, with the user's corrections:
    /// `{"exact": {...}, "pattern": {...}, "corrections": {...}}`.
    pub fn export(&self) -> Value {
        let corrections =
            serde_json::to_value(&self.corrections).expect("corrections are plain data");
        serde_json::json!({
            "exact": self.exact.export(),
            "pattern": self.pattern.export(),
            "corrections": corrections,
        })
    }

    /// Adds the entries of a JSON document in the format of the specification. Unreadable entries
    /// are skipped, numbers are clamped, and existing entries are neither replaced nor evicted.
    pub fn import(&mut self, document: &Value) -> ImportCounts {
        let mut imported = ImportCounts::default();
        self.import_corrections(document, &mut imported);
        for (part, cache, most) in
            [("exact", &mut self.exact, MAX_CALLS), ("pattern", &mut self.pattern, MAX_TOOLS)]
        {
            for (name, entry) in document[part].as_object().into_iter().flatten() {
                let tool = name.rsplit_once("::").map_or(name.as_str(), |(tool, _)| tool);
                match read_entry(entry) {
                    Some(_) if native::is_native(tool) => imported.redundant += 1,
                    Some(_) if cache.entries.contains_key(name) => imported.redundant += 1,
                    Some(_) if cache.entries.len() >= most => imported.redundant += 1,
                    Some(classification) => {
                        imported.added += 1;
                        cache.put(name.clone(), classification, most);
                    }
                    None => imported.unreadable += 1,
                }
            }
        }
        imported
    }
}

impl ClassificationCache {
    fn import_corrections(&mut self, document: &Value, imported: &mut ImportCounts) {
        for (tool, entry) in document["corrections"].as_object().into_iter().flatten() {
            match serde_json::from_value::<ToolCorrection>(entry.clone()) {
                Ok(_) if self.corrections.contains_key(tool) => imported.redundant += 1,
                Ok(correction) => {
                    imported.added += 1;
                    let signals = correction.signals.as_ref().map(clamped);
                    self.correct(tool, ToolCorrection { signals, ..correction });
                }
                Err(_) => imported.unreadable += 1,
            }
        }
    }
}

/// The number of imported and skipped entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    pub added: usize,
    /// Skipped entries that were known already, are classified better by rules, or no longer fit
    /// into the cache.
    pub redundant: usize,
    /// Skipped entries that are not in the format of the specification.
    pub unreadable: usize,
}

fn read_entry(entry: &Value) -> Option<ToolClassification> {
    let mut read: ToolClassification = serde_json::from_value(entry.clone()).ok()?;
    read.confidence = read.confidence.clamp(0.0, 1.0);
    read.activity_signals = clamped(&read.activity_signals);
    read.confidence.is_finite().then_some(read)
}

fn clamped(signals: &Signals) -> Signals {
    signals.iter().map(|(activity, sum)| (activity, sum.clamp(0.0, 1.0))).collect()
}

/// Classifications by key. When the cache is full, the least recently used entry is evicted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Cache {
    entries: BTreeMap<String, CacheEntry>,
    /// A counter of accesses, which orders the entries by their last use.
    uses: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CacheEntry {
    classification: ToolClassification,
    used: u64,
}

impl Cache {
    fn get(&mut self, key: &str) -> Option<ToolClassification> {
        let entry = self.entries.get_mut(key)?;
        self.uses += 1;
        entry.used = self.uses;
        Some(entry.classification.clone())
    }

    fn put(&mut self, key: String, classification: ToolClassification, most: usize) {
        self.uses += 1;
        self.entries.insert(key, CacheEntry { classification, used: self.uses });
        while self.entries.len() > most {
            let oldest =
                self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone());
            self.entries.remove(&oldest.expect("a full cache is not empty"));
        }
    }

    fn export(&self) -> Value {
        let entry = |(key, entry): (&String, &CacheEntry)| {
            let value = serde_json::to_value(&entry.classification)
                .expect("a classification is plain data");
            (key.clone(), value)
        };
        Value::Object(self.entries.iter().map(entry).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::activity::Activity;

    fn classification(tool: &str) -> ToolClassification {
        ToolClassification {
            tool_name: tool.to_owned(),
            intent: ToolIntent::Search,
            domain: ToolDomain::Code,
            confidence: 0.9,
            reasoning: "a reason".to_owned(),
            activity_signals: [(Activity::Exploring, 0.5)].into_iter().collect(),
        }
    }

    #[test]
    fn a_learned_classification_is_found_by_arguments_and_by_name() {
        let mut learned = ClassificationCache::default();
        learned.learn(&classification("frob"), &[json!({"a": 1})]);
        assert_eq!(learned.exact("frob", &json!({"a": 1})), Some(classification("frob")));
        assert_eq!(learned.exact("frob", &json!({"a": 2})), None);
        assert_eq!(learned.by_name("frob"), Some(classification("frob")));
        assert_eq!(learned.by_name("fro"), None);
    }

    #[test]
    fn the_least_recently_used_entry_is_evicted() {
        let mut cache = Cache::default();
        for tool in ["a", "b", "c"] {
            cache.put(tool.to_owned(), classification(tool), 3);
        }
        cache.get("a");
        cache.put("d".to_owned(), classification("d"), 3);
        assert_eq!(cache.entries.keys().collect::<Vec<_>>(), ["a", "c", "d"]);
    }

    #[test]
    fn export_and_import_keep_everything() {
        let mut learned = ClassificationCache::default();
        learned.learn(&classification("frob"), &[json!({"a": 1})]);
        let exported = learned.export();
        assert_eq!(exported["pattern"]["frob"]["intent"], "search");
        assert_eq!(exported["pattern"]["frob"]["activity_signals"], json!({"exploring": 0.5}));
        let mut other = ClassificationCache::default();
        assert_eq!(other.import(&exported), ImportCounts { added: 2, ..ImportCounts::default() });
        assert_eq!(
            other.import(&exported),
            ImportCounts { redundant: 2, ..ImportCounts::default() }
        );
        assert_eq!(other.export(), exported);
    }

    /// The program of the specification (`save_cache`) also writes the arguments of each call.
    #[test]
    fn a_cache_of_the_program_of_the_specification_is_imported() {
        let entry = |confidence: f64| {
            json!({
                "tool_name": "mcp__x__y", "tool_params": {"a": 1}, "intent": "read", "domain": "code",
                "confidence": confidence, "reasoning": "r", "activity_signals": {"exploring": 3.0},
            })
        };
        let mut learned = ClassificationCache::default();
        let imported = learned.import(&json!({
            "exact": {"mcp__x__y::0a1b2c3d": entry(0.5)},
            "pattern": {"mcp__x__y": entry(7.0), "Read": entry(0.9), "broken": {"intent": "fly"}, "worse": 3},
        }));
        assert_eq!(imported, ImportCounts { added: 2, redundant: 1, unreadable: 2 });
        let correction =
            json!({"intent": "execute", "domain": "code", "signals": {"testing": 500}});
        let imported = learned.import(&json!({ "corrections": { "x": correction } }));
        assert_eq!(imported.added, 1);
        assert_eq!(learned.signals("x").unwrap().get(Activity::Testing), 1.0);
        let read = learned.by_name("mcp__x__y").expect("imported");
        assert_eq!((read.confidence, read.activity_signals.get(Activity::Exploring)), (1.0, 1.0));
    }

    #[test]
    fn a_document_of_another_form_imports_nothing() {
        for document in [json!(null), json!([]), json!({"exact": 1, "pattern": []}), json!("x")] {
            assert_eq!(ClassificationCache::default().import(&document), ImportCounts::default());
        }
    }

    #[test]
    fn an_import_evicts_nothing() {
        let mut learned = ClassificationCache::default();
        learned.learn(&classification("known"), &[]);
        let entries: serde_json::Map<String, Value> = (0..=MAX_TOOLS)
            .map(|number| (format!("tool{number:05}"), json!(classification("x"))))
            .collect();
        let imported = learned.import(&json!({ "pattern": entries }));
        assert_eq!((imported.added, imported.redundant), (MAX_TOOLS - 1, 2));
        assert!(learned.by_name("known").is_some() && learned.by_name("tool00000").is_some());
        assert_eq!(learned.pattern.entries.len(), MAX_TOOLS);
    }

    #[test]
    fn caches_stay_within_their_bounds() {
        let mut learned = ClassificationCache::default();
        for number in 0..MAX_TOOLS + 10 {
            learned.learn(&classification(&format!("tool{number}")), &[json!({"n": number})]);
        }
        assert_eq!(learned.pattern.entries.len(), MAX_TOOLS);
        assert!(learned.exact.entries.len() <= MAX_CALLS);
    }
}
