//! Counts the requests to models and the avoided requests, by day, project and purpose.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{
    llm::{
        ledger::Ledger,
        ledger_file::LedgerFile,
        ports::{Avoided, Journal, RequestOutcome, UsageRecord},
        price::Money,
    },
    model::{Namespace, Timestamp},
    store::{Note, NoteNamespace, Store, StoreError, Write},
};

/// The ledger of the current day, which the budget needs, and the counters of all days.
pub struct UsageStats {
    ledger: LedgerFile,
    store: Arc<dyn Store>,
    today: Mutex<Today>,
}

/// The counters of a day, by project and purpose. The project is empty for requests without one.
pub type DailyUsage = BTreeMap<String, BTreeMap<String, UsageCounters>>;

/// Counters of requests. A request may need several calls to the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageCounters {
    /// Requests that were answered.
    pub answered: u64,
    pub failed: u64,
    /// Calls to the provider.
    pub calls: u64,
    /// Tokens of the prompts.
    pub input: u64,
    /// Tokens of the replies.
    pub output: u64,
    /// Tokens of the prompts that the provider had in its cache.
    pub cached: u64,
    /// The cost, without the requests whose cost is not known.
    pub cost: Money,
    /// Requests whose cost is not known.
    pub unpriced: u64,
    /// Tokens that were left out of prompts.
    pub saved_tokens: u64,
    /// Requests avoided by a cached answer.
    pub kept: u64,
    /// Requests avoided because the session did not change.
    pub unchanged: u64,
    /// Requests avoided by the agent's own summary.
    pub recaps: u64,
    /// Requests avoided because all tools of the session were classified already.
    pub known: u64,
}

#[derive(Default)]
struct Today {
    day: i64,
    uses: DailyUsage,
    /// Whether the saved counters of the day cannot be read, so that they must not be replaced.
    has_unreadable: bool,
}

#[derive(Serialize, Deserialize)]
struct DailyUsageRecord {
    version: u32,
    uses: DailyUsage,
}

const VERSION: u32 = 1;
/// Maximum age of counters, in days; older counters are deleted.
const DAYS: i64 = 400;
/// Maximum number of projects per day. Requests of further projects are counted without a project.
const PROJECTS: usize = 200;
const MICROS_PER_DAY: i64 = 86_400_000_000;

impl UsageStats {
    pub fn open(ledger: LedgerFile, store: Arc<dyn Store>) -> UsageStats {
        UsageStats { ledger, store, today: Mutex::default() }
    }

    /// Returns the counters of each day, by the number of days since 1970-01-01, the earliest day
    /// first.
    pub fn days(&self) -> Result<BTreeMap<i64, DailyUsage>, StoreError> {
        let mut days: BTreeMap<i64, DailyUsage> = BTreeMap::new();
        for (name, content) in self.store.undamaged_notes(NoteNamespace::Usage)? {
            if let Some(day) = number(&name) {
                days.insert(day, read(&content).unwrap_or_default());
            }
        }
        let today = self.lock();
        if !today.uses.is_empty() {
            days.insert(today.day, today.uses.clone());
        }
        Ok(days)
    }

    fn note(&self, record: &UsageRecord) {
        let mut today = self.lock();
        let mut writes = Vec::new();
        let day = record.at.micros().div_euclid(MICROS_PER_DAY);
        if today.day != day {
            let saved = self.day(day);
            let has_unreadable = saved.is_none();
            *today = Today { day, uses: saved.unwrap_or_default(), has_unreadable };
            writes.extend(self.outdated(day));
        }
        let project = record.project.map_or_else(String::new, |project| project.to_string());
        let has_capacity = today.uses.len() < PROJECTS || today.uses.contains_key(&project);
        let of_project =
            today.uses.entry(if has_capacity { project } else { String::new() }).or_default();
        of_project.entry(record.purpose.as_str().to_owned()).or_default().add(record);
        let saved = DailyUsageRecord { version: VERSION, uses: today.uses.clone() };
        let content = serde_json::to_vec(&saved).expect("uses are plain data");
        if !today.has_unreadable {
            writes.push(write(day, Some(content)));
        }
        // If the write fails, only statistics are lost.
        let _ = self.store.write(writes);
    }

    /// Returns the saved counters of a day. `None` if they cannot be read, because the note is
    /// damaged or of a newer version.
    fn day(&self, day: i64) -> Option<DailyUsage> {
        let saved = match self.store.note(NoteNamespace::Usage, &name(day)) {
            Ok(None) => Some(DailyUsage::new()),
            Ok(Some(content)) => read(&content),
            Err(error) => {
                tracing::warn!(%error, "failed to read the usage of today");
                None
            }
        };
        if saved.is_none() {
            tracing::warn!("the usage of today is not saved, to keep the saved counters");
        }
        saved
    }

    fn outdated(&self, day: i64) -> Vec<Write> {
        let notes = self.store.undamaged_notes(NoteNamespace::Usage).unwrap_or_else(|error| {
            tracing::warn!(%error, "failed to read the usage of earlier days");
            Vec::new()
        });
        let days = notes.iter().filter_map(|(name, _)| number(name));
        days.filter(|old| day - old > DAYS).map(|old| write(old, None)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Today> {
        self.today.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for UsageStats {
    fn load(&self) -> Result<Option<Ledger>, String> {
        self.ledger.load()
    }

    fn save(&self, ledger: &Ledger) -> Result<(), String> {
        self.ledger.save(ledger)
    }

    fn record(&self, record: &UsageRecord) {
        self.note(record);
    }
}

impl UsageCounters {
    fn add(&mut self, record: &UsageRecord) {
        match record.end {
            RequestOutcome::Answered => self.answered += 1,
            RequestOutcome::Failed(_) => self.failed += 1,
            RequestOutcome::Avoided(Avoided::Cached) => self.kept += 1,
            RequestOutcome::Avoided(Avoided::Unchanged) => self.unchanged += 1,
            RequestOutcome::Avoided(Avoided::Recap) => self.recaps += 1,
            RequestOutcome::Avoided(Avoided::Known) => self.known += 1,
        }
        self.calls += u64::from(record.calls);
        self.input = self.input.saturating_add(record.usage.input);
        self.output = self.output.saturating_add(record.usage.output);
        self.cached = self.cached.saturating_add(record.usage.cached);
        self.cost += record.cost.unwrap_or(Money::ZERO);
        self.unpriced += u64::from(record.cost.is_none());
        self.saved_tokens = self.saved_tokens.saturating_add(record.saved_tokens);
    }
}

pub fn start_of_day(day: i64) -> Timestamp {
    Timestamp::from_micros(day.saturating_mul(MICROS_PER_DAY))
}

/// Parses the project in a key of [`DailyUsage`]; `None` for requests without a project.
pub fn project(name: &str) -> Option<Namespace> {
    Namespace::parse(name)
}

/// Returns the counters in a note; `None` if the note is damaged or of another version.
fn read(content: &[u8]) -> Option<DailyUsage> {
    let record: DailyUsageRecord = serde_json::from_slice(content).ok()?;
    (record.version == VERSION).then_some(record.uses)
}

fn write(day: i64, content: Option<Vec<u8>>) -> Write {
    Write::Note(Note { namespace: NoteNamespace::Usage, name: name(day).to_vec(), content })
}

fn name(day: i64) -> [u8; 8] {
    day.to_be_bytes()
}

fn number(name: &[u8]) -> Option<i64> {
    Some(i64::from_be_bytes(name.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        llm::{reply::TokenUsage, request::Purpose},
        model::Project,
        store::{NoteStore, sled::SledStore},
    };

    fn record(day: i64, end: RequestOutcome, project: &str) -> UsageRecord {
        UsageRecord {
            at: start_of_day(day),
            purpose: Purpose::SessionSummary,
            project: Some(Project::new(project).namespace()),
            provider: "openai",
            model: "some-model".to_owned(),
            end,
            calls: u32::from(end == RequestOutcome::Answered),
            usage: TokenUsage { input: 10, output: 2, ..TokenUsage::default() },
            cost: Some(Money::from_usd(0.5)),
            saved_tokens: 0,
        }
    }

    #[test]
    fn counters_that_cannot_be_read_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SledStore::open(&folder.path().join("db")).unwrap());
        let newer = br#"{"version":2,"uses":{}}"#.to_vec();
        store
            .write(vec![write(5, Some(newer.clone())), write(7, Some(newer.clone()))])
            .wait()
            .unwrap();
        store.damage_note(NoteNamespace::Usage, &name(7));
        let usage = UsageStats::open(LedgerFile::new(folder.path()), store.clone());
        for day in [5, 6, 7] {
            usage.record(&record(day, RequestOutcome::Answered, "/a"));
        }
        store.write(Vec::new()).wait().unwrap();
        assert_eq!(store.note(NoteNamespace::Usage, &name(5)), Ok(Some(newer)));
        assert!(store.note(NoteNamespace::Usage, &name(6)).unwrap().is_some());
        assert!(store.note(NoteNamespace::Usage, &name(7)).is_err());
        assert_eq!(usage.days().unwrap().keys().copied().collect::<Vec<_>>(), [5, 6, 7]);
    }

    #[test]
    fn counters_are_separate_by_day_and_project_and_survive_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let open = || {
            let store = Arc::new(SledStore::open(&folder.path().join("db")).unwrap());
            UsageStats::open(LedgerFile::new(folder.path()), store)
        };
        let usage = open();
        usage.record(&record(5, RequestOutcome::Answered, "/a"));
        usage.record(&record(5, RequestOutcome::Avoided(Avoided::Unchanged), "/a"));
        usage.record(&record(5, RequestOutcome::Failed("unavailable"), "/b"));
        usage.record(&record(6, RequestOutcome::Answered, "/a"));
        usage.store.write(Vec::new()).wait().unwrap();
        drop(usage);
        let usage = open();
        usage.record(&record(6, RequestOutcome::Answered, "/a"));
        let days = usage.days().unwrap();
        assert_eq!(days.keys().copied().collect::<Vec<_>>(), [5, 6]);
        let of = |day: i64, project: &str| {
            days[&day][&Project::new(project).namespace().to_string()]["session_summary"]
        };
        let a = of(5, "/a");
        assert_eq!((a.answered, a.unchanged, a.calls, a.input), (1, 1, 1, 20));
        assert_eq!((of(5, "/b").failed, of(6, "/a").answered), (1, 2));
        usage.record(&record(6 + DAYS, RequestOutcome::Answered, "/a"));
        usage.store.write(Vec::new()).wait().unwrap();
        assert_eq!(usage.days().unwrap().keys().copied().collect::<Vec<_>>(), [6, 6 + DAYS]);
    }
}
