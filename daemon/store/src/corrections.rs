//! Stores corrections of facts as notes. They are separate from the statements of episodes, so that
//! they stay when a session is read again.

use serde::{Deserialize, Serialize};

use crate::{
    Note, NoteNamespace, NoteStore, StoreError, Write,
    model::{
        Timestamp,
        graph::{CorrectedFact, Correction, CorrectionAuthor, FactKey, Verdict},
    },
};

/// The version of [`CorrectionRecord`].
const VERSION: u32 = 1;

/// A correction on disk, as JSON.
#[derive(Serialize, Deserialize)]
struct CorrectionRecord {
    version: u32,
    verdict: String,
    by: String,
    /// Microseconds since the epoch.
    at: i64,
}

/// Returns the write that stores `correction`. If it is `None`, the write deletes the stored
/// correction.
pub fn write_of(fact: FactKey, correction: Option<&Correction>) -> Write {
    let content = correction.map(|correction| {
        let record = CorrectionRecord {
            version: VERSION,
            verdict: correction.verdict.as_str().to_owned(),
            by: correction.author.as_str().to_owned(),
            at: correction.at.micros(),
        };
        serde_json::to_vec(&record).expect("a record has only string keys")
    });
    let name = fact.0.as_bytes().to_vec();
    Write::Note(Note { namespace: NoteNamespace::Corrections, name, content })
}

pub(crate) fn correction<S: NoteStore + ?Sized>(
    store: &S,
    fact: FactKey,
) -> Result<Option<Correction>, StoreError> {
    let content = store.note(NoteNamespace::Corrections, fact.0.as_bytes())?;
    content.map(|content| parse(fact, &content)).transpose()
}

pub(crate) fn corrections<S: NoteStore + ?Sized>(
    store: &S,
) -> Result<Vec<CorrectedFact>, StoreError> {
    let notes = store.notes(NoteNamespace::Corrections)?.into_iter();
    let facts = notes.filter_map(|(name, content)| {
        let fact = FactKey(uuid::Uuid::from_slice(&name).ok()?);
        Some(parse(fact, &content).map(|correction| CorrectedFact { fact, correction }))
    });
    facts.collect()
}

fn parse(fact: FactKey, content: &[u8]) -> Result<Correction, StoreError> {
    let damaged =
        |what: String| StoreError::Damaged { key: format!("correction of {}", fact.0), what };
    let record: CorrectionRecord =
        serde_json::from_slice(content).map_err(|error| damaged(error.to_string()))?;
    if record.version > VERSION {
        return Err(damaged(format!("unknown version {}", record.version)));
    }
    let verdict = Verdict::parse(&record.verdict);
    let author = CorrectionAuthor::parse(&record.by);
    match (verdict, author) {
        (Some(verdict), Some(author)) => {
            Ok(Correction { verdict, author, at: Timestamp::from_micros(record.at) })
        }
        _ => {
            Err(damaged(format!("unknown verdict `{}` or author `{}`", record.verdict, record.by)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_the_first_version_is_read() {
        let fact = FactKey(uuid::Uuid::from_bytes([7; 16]));
        let stored = br#"{"version":1,"verdict":"wrong","by":"user","at":1700000000000000}"#;
        let wanted = Correction {
            verdict: Verdict::Wrong,
            author: CorrectionAuthor::User,
            at: Timestamp::from_micros(1_700_000_000_000_000),
        };
        assert_eq!(parse(fact, stored), Ok(wanted));
        let Write::Note(note) = write_of(fact, Some(&wanted)) else { panic!("no note") };
        assert_eq!(note.content.as_deref(), Some(stored.as_slice()));
        assert!(parse(fact, br#"{"version":2,"verdict":"wrong","by":"user","at":1}"#).is_err());
    }
}
