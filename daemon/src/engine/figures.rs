//! The figures of sessions: time, files, tests, errors and tokens, for statistics.
//!
//! The figures of a session are stored as a note. A stamp in the note identifies the content from
//! which the figures were derived. The note is written with the episode, while the evidence is in
//! memory, because reading the evidence of all sessions again takes seconds. If the note is
//! missing, is outdated, or was written for an earlier episode, the figures are derived when they
//! are first needed. The figures of a session that may still change are derived each time.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::{
    engine::reading,
    llm::price::{self, Tariff},
    model::{
        Evidence,
        session::{Session, State},
        token_use::{TokenUse, day_of},
    },
    store::{NoteNamespace, Store, StoreError, Write},
    summarize::evidence::absorb,
};

/// The work of a session in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionFigures {
    /// The duration of the work in seconds, without long pauses.
    pub seconds: u64,
    /// The number of files that were changed.
    pub files: u32,
    /// The number of test runs.
    pub tests: u32,
    /// The number of errors that occurred.
    pub errors: u32,
    pub tokens: Vec<TokenUse>,
}

#[derive(Serialize, Deserialize)]
struct FiguresRecord {
    version: u32,
    /// Identifies the content from which the figures were derived; see [`stamp`].
    stamp: String,
    figures: SessionFigures,
}

/// The version of the record. It is raised when the derivation of figures changes.
const VERSION: u32 = 2;
/// The previous version. In its records, the figures of sessions without evidence are wrong, and
/// are derived again. A record without tokens counts as the record of such a session.
const VERSION_BEFORE: u32 = 1;
/// Number of notes that are written in one batch.
const NOTES_PER_WRITE: usize = 200;

/// The prices that were looked up, by the name of the model; `None` if a model has no known price.
#[derive(Default)]
pub struct Prices(BTreeMap<String, Option<Tariff>>);

impl Prices {
    /// Returns the cost in US dollars; `None` for a model without a known price.
    pub fn usd(&mut self, used: &TokenUse) -> Option<f64> {
        let look_up = || Tariff::of(&used.model);
        let tariff = self.0.entry(used.model.clone()).or_insert_with(look_up);
        tariff.as_ref().map(|tariff| tariff.cost_of_tokens(&used.tokens).usd())
    }

    /// Returns the description of the source of the prices.
    pub fn origin() -> String {
        format!("as published by the makers of the models, {}", price::PRICES_OF)
    }
}

/// Calls `visit` with each session and its figures. Stores the missing notes.
pub fn visit(
    store: &dyn Store,
    sessions: &[Session],
    visit: &mut dyn FnMut(&Session, &SessionFigures),
) -> Result<(), StoreError> {
    let mut stored = stored_records(store)?;
    let mut new = Vec::new();
    for session in sessions {
        let stamp = stamp(session);
        let known =
            stored.remove(&session.key.0).filter(|known| Some(&known.stamp) == stamp.as_ref());
        if let Some(known) = known {
            visit(session, &known.figures);
            continue;
        }
        let figures = derive(store, session)?;
        visit(session, &figures);
        if let Some(stamp) = stamp {
            new.push(note(session, &FiguresRecord { version: VERSION, stamp, figures }));
        }
        if new.len() >= NOTES_PER_WRITE {
            store_notes(store, &mut new);
        }
    }
    store_notes(store, &mut new);
    Ok(())
}

/// Returns the write of the note with the figures of a session; `None` while the session may
/// change.
pub(super) fn note_of(session: &Session, figures: SessionFigures) -> Option<Write> {
    let stamp = stamp(session)?;
    Some(note(session, &FiguresRecord { version: VERSION, stamp, figures }))
}

fn stored_records(store: &dyn Store) -> Result<HashMap<u64, FiguresRecord>, StoreError> {
    let notes = store.notes(NoteNamespace::Figures)?.into_iter();
    let records = notes.filter_map(|(name, content)| {
        let key = u64::from_be_bytes(name.try_into().ok()?);
        let record: FiguresRecord = serde_json::from_slice(&content).ok()?;
        let has_evidence = record.version == VERSION_BEFORE && !record.figures.tokens.is_empty();
        (record.version == VERSION || has_evidence).then_some((key, record))
    });
    Ok(records.collect())
}

fn store_notes(store: &dyn Store, notes: &mut Vec<Write>) {
    if !notes.is_empty() {
        // If the write fails, the figures are derived again when they are needed.
        let _ = store.write(std::mem::take(notes));
    }
}

fn note(session: &Session, record: &FiguresRecord) -> Write {
    Write::note(NoteNamespace::Figures, &session.key.0.to_be_bytes(), record)
}

/// Returns a text that identifies the content of a finished session: its episode and its last
/// activity. `None` while the session may change.
fn stamp(session: &Session) -> Option<String> {
    let indexed = session.indexed.as_ref().filter(|_| session.state == State::Indexed)?;
    Some(format!("{}-{}", indexed.episode, session.last_activity.micros()))
}

fn derive(store: &dyn Store, session: &Session) -> Result<SessionFigures, StoreError> {
    let mut merged: Option<Evidence> = None;
    for source in store.sources_of(session.key)? {
        let Some(evidence) = reading::saved_evidence(store, source.key)? else { continue };
        match &mut merged {
            None => merged = Some(evidence),
            Some(merged) => absorb(merged, &evidence, source.sub_agent.as_deref()),
        }
    }
    match merged {
        Some(evidence) => Ok(of_evidence(&evidence, session)),
        None => of_episode(store, session),
    }
}

/// Returns the figures of a session with this evidence.
pub(super) fn of_evidence(evidence: &Evidence, session: &Session) -> SessionFigures {
    let mut tokens = evidence.tokens_by_day();
    let last = day_of(session.last_activity);
    tokens.iter_mut().filter(|one| one.day == 0).for_each(|one| one.day = last);
    let changed = evidence.files.values().filter(|work| work.changed()).count();
    SessionFigures {
        seconds: evidence.span.active.as_secs(),
        files: count(changed),
        tests: count(evidence.tests.len()),
        errors: count(evidence.errors.len()),
        tokens,
    }
}

/// Returns the figures of a session without evidence, such as an imported session: the number of
/// changed files. The other figures are not known: the duration in a summary includes pauses, and a
/// summary has only the last test run and the errors that were solved.
fn of_episode(store: &dyn Store, session: &Session) -> Result<SessionFigures, StoreError> {
    let Some(episode) = store.episode_of(session)? else {
        return Ok(SessionFigures::default());
    };
    let summary = &episode.summary;
    Ok(SessionFigures {
        files: count(summary.files_modified.as_ref().map_or(0, Vec::len)),
        ..SessionFigures::default()
    })
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
