//! Stores the totals of each agent in a separate row, in the same step as the counted records.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use sled::Tree;

use super::{
    SledStore,
    batch::Batch,
    envelope,
    keys::{self, Key, table},
    pieces,
    reading::{self, read},
    records::{SessionRecord, SourceRecord},
};
use crate::{
    AgentTotals, SessionCounts, Source, SourceKey, StoreError, Tally,
    model::{SessionKey, Timestamp, episode::MEMORY, session::Session},
    totals::TotalsByAgent,
};

/// The prefix of the rows' names.
const ROW: &str = "agent ";

/// The totals of all agents.
#[derive(Debug, Default)]
pub(super) struct StoredAgentTotals(Mutex<TotalsByAgent>);

/// The sessions and files that a list of writes changes, in their new states; `None` if deleted.
#[derive(Default)]
pub(super) struct CountedChanges {
    pub(super) sessions: BTreeMap<SessionKey, Option<Session>>,
    pub(super) sources: BTreeMap<SourceKey, Option<Tally>>,
    /// Whether the list also writes encoded rows (`PreparedWrite::Rows`), which may be sessions.
    pub(super) has_rows: bool,
}

impl StoredAgentTotals {
    /// Reads the rows if `is_exact` is set and they are readable. Otherwise, counts all sessions
    /// and files.
    pub(super) fn load(tree: &Tree, is_exact: bool) -> Result<StoredAgentTotals, StoreError> {
        let stored = if is_exact { stored(tree)? } else { None };
        let totals = stored.map_or_else(|| count(tree), Ok)?;
        Ok(StoredAgentTotals(Mutex::new(totals)))
    }

    pub(super) fn get(&self) -> TotalsByAgent {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the totals of some agents by `totals`, which [`StoredAgentTotals::after`] returned.
    pub(super) fn set(&self, totals: TotalsByAgent) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(totals);
    }

    /// Returns the new totals of the agents that `changes` affect. `tree` must not contain the
    /// changes yet.
    pub(super) fn after(
        &self,
        tree: &Tree,
        changes: &CountedChanges,
    ) -> Result<TotalsByAgent, StoreError> {
        let mut totals = TotalsByAgent::new();
        if changes.sessions.is_empty() && changes.sources.is_empty() {
            return Ok(totals);
        }
        let current = self.get();
        let mut change = |agent: &str, change: &dyn Fn(&mut AgentTotals)| {
            let old = || current.get(agent).cloned().unwrap_or_default();
            change(totals.entry(agent.to_owned()).or_insert_with(old));
        };
        for (key, after) in &changes.sessions {
            let before = counted(undamaged(reading::session(tree, *key))?);
            if let Some(before) = &before {
                change(&before.id.agent, &|totals| totals.remove_session(before));
            }
            if let Some(after) = after {
                change(&after.id.agent, &|totals| totals.add_session(after));
            }
            if let (None, Some(after)) = (&before, after) {
                // The files of a session are not counted before the session is stored.
                for source in reading::sources_of(tree, *key)? {
                    change(&after.id.agent, &|totals| totals.tally.add(&source.tally));
                }
            }
        }
        for (key, after) in &changes.sources {
            let new = changes.sessions.get(&key.session).and_then(Option::as_ref);
            let stored = counted(undamaged(reading::session(tree, key.session))?);
            let Some(session) = new.or(stored.as_ref()) else { continue };
            let before = undamaged(reading::source(tree, *key))?;
            change(&session.id.agent, &|totals| {
                if let Some(before) = &before {
                    totals.tally.subtract(&before.tally);
                }
                if let Some(after) = after {
                    totals.tally.add(after);
                }
            });
        }
        Ok(totals)
    }

    /// Adds the rows of `totals` to `batch`.
    pub(super) fn save(
        tree: &Tree,
        batch: &mut Batch,
        totals: &TotalsByAgent,
    ) -> Result<(), StoreError> {
        for (agent, totals) in totals {
            let key = row(agent);
            pieces::remove(tree, batch, &key)?;
            pieces::put(batch, &key, &envelope::seal(&AgentTotalsRecord::from(totals)));
        }
        Ok(())
    }
}

impl SledStore {
    /// Counts all sessions and files again, and stores the totals. Returns when they are on disk.
    /// No other thread may write meanwhile.
    ///
    /// # Errors
    ///
    /// When the database cannot be read or written.
    pub(super) fn recount_agents(&self) -> Result<(), StoreError> {
        let totals = count(&self.tree)?;
        let mut rows = Vec::new();
        for (agent, totals) in &totals {
            let key = row(agent);
            for old in self.tree.scan_prefix(&key).keys() {
                rows.push((old?.to_vec(), None));
            }
            let sealed = envelope::seal(&AgentTotalsRecord::from(totals));
            rows.extend(pieces::split(&key, &sealed).map(|(key, piece)| (key, Some(piece))));
        }
        self.writer.queue_rows(rows).wait()?;
        self.counters.agents.set(totals);
        Ok(())
    }
}

impl CountedChanges {
    pub(super) fn put_session(&mut self, session: &Session) {
        let session = counted(Some(session.clone()));
        self.sessions.extend(session.map(|session| (session.key, Some(session))));
    }

    pub(super) fn put_source(&mut self, source: &Source) {
        self.sources.insert(source.key, Some(source.tally.clone()));
    }
}

/// Returns the session if it is counted. Added memories are not counted.
fn counted(session: Option<Session>) -> Option<Session> {
    session.filter(|session| session.id.agent != MEMORY)
}

/// Returns `None` for a damaged record, which does not show how it was counted.
fn undamaged<T>(record: Result<Option<T>, StoreError>) -> Result<Option<T>, StoreError> {
    match record {
        Err(StoreError::Damaged { .. }) => Ok(None),
        record => record,
    }
}

/// Returns the key of an agent's row. The key ends with a byte that no name contains, because
/// removing a row removes every key that begins with its key.
fn row(agent: &str) -> Key {
    keys::meta(&format!("{ROW}{agent}\0"))
}

/// Reads the rows; `None` when one of them cannot be read.
fn stored(tree: &Tree) -> Result<Option<TotalsByAgent>, StoreError> {
    let prefix = keys::meta(ROW);
    let mut agents = Vec::new();
    for key in tree.scan_prefix(&prefix).keys() {
        let key = key?;
        let name = key[prefix.len()..].split(|byte| *byte == 0).next().unwrap_or_default();
        agents.push(String::from_utf8_lossy(name).into_owned());
    }
    agents.dedup();
    let mut totals = TotalsByAgent::new();
    for agent in agents {
        let Some(sealed) = pieces::get(tree, &row(&agent))? else { return Ok(None) };
        let Ok(record) = envelope::open::<AgentTotalsRecord>(&sealed) else { return Ok(None) };
        totals.insert(agent, AgentTotals::from(record));
    }
    Ok(Some(totals))
}

/// Counts all sessions and files.
pub(super) fn count(tree: &Tree) -> Result<TotalsByAgent, StoreError> {
    let mut totals = TotalsByAgent::new();
    let mut agents = BTreeMap::new();
    for entry in tree.scan_prefix([table::SESSIONS]) {
        let (key, value) = entry?;
        let Ok(session) = read::<SessionRecord, Session>(&key, &value) else { continue };
        let Some(session) = counted(Some(session)) else { continue };
        totals.entry(session.id.agent.clone()).or_default().add_session(&session);
        agents.insert(session.key, session.id.agent);
    }
    for entry in tree.scan_prefix([table::SOURCES]) {
        let (key, value) = entry?;
        let Ok(source) = read::<SourceRecord, Source>(&key, &value) else { continue };
        if let Some(agent) = agents.get(&source.key.session) {
            totals.entry(agent.clone()).or_default().tally.add(&source.tally);
        }
    }
    Ok(totals)
}

/// The totals of an agent on disk. If a record cannot be read, all totals are counted again.
#[derive(Serialize, Deserialize)]
struct AgentTotalsRecord {
    /// Active, inactive, indexing, indexed, failed, unindexed, empty and unread sessions.
    sessions: [u64; 8],
    /// Records that were read, repaired and broken, bytes of the broken records, and restarts.
    records: [u64; 5],
    skipped: BTreeMap<String, u64>,
    latest: Vec<(i64, u64)>,
}

impl From<&AgentTotals> for AgentTotalsRecord {
    fn from(totals: &AgentTotals) -> AgentTotalsRecord {
        let (sessions, tally) = (&totals.sessions, &totals.tally);
        AgentTotalsRecord {
            sessions: [
                sessions.active,
                sessions.inactive,
                sessions.indexing,
                sessions.indexed,
                sessions.failed,
                sessions.unindexed,
                sessions.empty,
                sessions.unread,
            ],
            records: [tally.read, tally.repaired, tally.broken, tally.broken_bytes, tally.restarts],
            skipped: tally.skipped.clone(),
            latest: totals.latest.iter().map(|(at, key)| (at.micros(), key.0)).collect(),
        }
    }
}

impl From<AgentTotalsRecord> for AgentTotals {
    fn from(record: AgentTotalsRecord) -> AgentTotals {
        let [active, inactive, indexing, indexed, failed, unindexed, empty, unread] =
            record.sessions;
        let [read, repaired, broken, broken_bytes, restarts] = record.records;
        let latest = record.latest.into_iter();
        AgentTotals {
            sessions: SessionCounts {
                active,
                inactive,
                indexing,
                indexed,
                failed,
                unindexed,
                empty,
                unread,
            },
            tally: Tally {
                read,
                skipped: record.skipped,
                repaired,
                broken,
                broken_bytes,
                restarts,
            },
            latest: latest.map(|(at, key)| (Timestamp::from_micros(at), SessionKey(key))).collect(),
        }
    }
}
