//! Cleaning: removes secrets from all rows with text, in steps.
//!
//! This module defines which tables contain text, and the [`Cleaner`] defines which fields of a
//! record contain text. Every table must be in [`TEXT`] or in [`NO_TEXT`]. Vectors of a changed
//! text are deleted. The caller updates the search index.

use std::ops::Bound;

use super::{
    SledStore, envelope,
    keys::{self, Key, Layout, table},
    pieces::{self, Joiner},
    reading::{damaged, read},
    records::{
        ClaimRecord, EpisodeRecord, MentionRecord, MessageRecord, SessionRecord, SourceRecord,
    },
    statements,
};
use crate::{
    Cleaner, Note, NoteNamespace, Source, SourceKey, Store, StoreError, TextStore,
    clean::{CleaningPosition, CleaningStep},
    model::{
        Episode, Message,
        graph::{Claim, EntityOrFact, Mention},
        session::Session,
        vector::Owner,
    },
};

struct TextTable {
    /// The first byte of its keys.
    first: u8,
    /// Cleans one of its records.
    clean: Clean,
}

/// A function that takes a record's key and envelope, cleans the record, and adds the rows to write
/// to the changes.
type Clean = fn(&mut Changes<'_>, &Key, &[u8], &mut dyn Cleaner) -> Result<(), StoreError>;

/// Tables with text, in the order of cleaning. Checkpoints come before messages, because the
/// cleaning of a checkpoint reads the unchanged messages of its file.
const TEXT: [TextTable; 8] = [
    TextTable { first: table::SESSIONS, clean: session },
    TextTable { first: table::SOURCES, clean: source },
    TextTable { first: table::CHECKPOINTS, clean: checkpoint },
    TextTable { first: table::MESSAGES, clean: message_block },
    TextTable { first: table::EPISODES, clean: episode },
    TextTable { first: table::MENTIONS, clean: mention },
    TextTable { first: table::CLAIMS, clean: claims },
    TextTable { first: table::NOTES, clean: note },
];
/// Tables that hold only numbers, hashes and times, and tables whose rows are rewritten or deleted
/// together with a record of [`TEXT`], or after all of these records (the totals of agents).
const NO_TEXT: [u8; 16] = [
    table::META,
    table::IDS,
    table::LIVE,
    table::PATHS,
    table::BY_PROJECT,
    table::OUTBOX,
    table::FORK_KEYS,
    table::FORK_KEYS_OF,
    table::EPISODE_INDEX,
    table::MENTIONS_BY_KIND,
    table::CLAIMS_BY_ENTITY,
    table::CLAIMS_BY_PROJECT,
    table::MARKS,
    table::RENAMES_FROM,
    table::RENAMES_TO,
    table::VECTORS,
];
/// Number of bytes of rows after which a step ends.
const STEP: u64 = 1 << 20;
/// Maximum number of messages that the cleaner gets with a checkpoint. A checkpoint contains the
/// state of a SHA-256 hash of the messages. This state contains at most the last 63 hashed bytes,
/// which are never bytes of more messages.
const BEFORE: u32 = 16;

/// The rows to write; `None` deletes a row.
type Rows = Vec<(Key, Option<Vec<u8>>)>;

impl TextStore for SledStore {
    fn preview_cleaning(
        &self,
        cleaner: &mut dyn Cleaner,
        after: &CleaningPosition,
    ) -> Result<CleaningStep, StoreError> {
        self.clean_step(cleaner, after).map(|(step, _)| step)
    }
}

impl SledStore {
    /// Cleans the next part of the stored text after `after`, and replaces the rows that `cleaner`
    /// changed. Returns when the changes are on disk.
    ///
    /// # Errors
    ///
    /// When the database cannot be read or written; a record that cannot be read is counted.
    pub fn clean(
        &self,
        cleaner: &mut dyn Cleaner,
        after: &CleaningPosition,
    ) -> Result<CleaningStep, StoreError> {
        let (step, rows) = self.clean_step(cleaner, after)?;
        if !rows.is_empty() {
            self.writer.queue_rows(rows).wait()?;
        }
        if step.next.is_none() {
            self.recount_agents()?;
        }
        Ok(step)
    }

    /// Returns the size, in bytes, of the rows with text after `after`.
    ///
    /// # Errors
    ///
    /// When the database cannot be read, or has an unknown table of a newer program, which may
    /// contain text.
    pub fn bytes_to_clean(&self, after: &CleaningPosition) -> Result<u64, StoreError> {
        let mut bytes = 0;
        for row in &self.tree {
            let (key, value) = row?;
            let first = key.first().copied().unwrap_or_default();
            if table_index(&key).is_none() && !NO_TEXT.contains(&first) {
                let table = first.escape_ascii();
                return Err(StoreError::TooNew(format!("table `{table}`")));
            }
            if is_after(&key, after) {
                bytes += (key.len() + value.len()) as u64;
            }
        }
        Ok(bytes)
    }

    /// Cleans one step without writing; returns the rows to write.
    fn clean_step(
        &self,
        cleaner: &mut dyn Cleaner,
        after: &CleaningPosition,
    ) -> Result<(CleaningStep, Rows), StoreError> {
        let mut step = CleaningStep { next: None, bytes: 0, unreadable: 0 };
        let mut rows = Rows::new();
        for table in &TEXT[table_index(after).unwrap_or(0)..] {
            let from = match after.first() {
                Some(first) if *first == table.first => Bound::Excluded(after.clone()),
                _ => Bound::Included(vec![table.first]),
            };
            let mut joiner = Joiner::default();
            for row in self.tree.range((from, Bound::Excluded(vec![table.first + 1]))) {
                let (key, value) = row?;
                step.bytes += (key.len() + value.len()) as u64;
                let Some(record) = complete_record(&key, &value, &mut joiner) else { continue };
                let mut changes = Changes { store: self, rows: Rows::new() };
                match (table.clean)(&mut changes, &record.key, &record.sealed, cleaner) {
                    Ok(()) => rows.extend(changes.rows),
                    Err(StoreError::Damaged { .. }) => step.unreadable += 1,
                    Err(error) => return Err(error),
                }
                if step.bytes >= STEP {
                    step.next = Some(key.to_vec());
                    return Ok((step, rows));
                }
            }
        }
        Ok((step, rows))
    }
}

struct StoredRecord {
    /// The record's key, without the number of a piece.
    key: Key,
    sealed: Vec<u8>,
}

/// Returns the complete record if this row is its only or its last piece.
fn complete_record(key: &[u8], value: &[u8], joiner: &mut Joiner) -> Option<StoredRecord> {
    match key.first().map_or(Layout::Plain, |table| keys::layout(*table)) {
        Layout::Plain => None,
        Layout::Sealed => Some(StoredRecord { key: key.to_vec(), sealed: value.to_vec() }),
        Layout::Pieces => {
            let sealed = joiner.take(key, value)?;
            Some(StoredRecord { key: key[..key.len().saturating_sub(2)].to_vec(), sealed })
        }
    }
}

/// Returns the index in [`TEXT`] of the table of a key.
fn table_index(key: &[u8]) -> Option<usize> {
    TEXT.iter().position(|table| key.first() == Some(&table.first))
}

/// Whether a row with text comes after `after` in the order of cleaning.
fn is_after(key: &[u8], after: &CleaningPosition) -> bool {
    let Some(table) = table_index(key) else { return false };
    table_index(after).is_none_or(|begun| table > begun || table == begun && key > after.as_slice())
}

fn open<R: serde::de::DeserializeOwned>(key: &Key, sealed: &[u8]) -> Result<R, StoreError> {
    envelope::open(sealed).map_err(|what| damaged(key, what))
}

/// Returns the file in a key of the tables `c` and `t`.
fn source_in(key: &Key) -> Result<SourceKey, StoreError> {
    let numbers = || {
        let number = u32::from_be_bytes(key.get(9..13)?.try_into().ok()?);
        Some(SourceKey { session: keys::session_in(key)?, number })
    };
    numbers().ok_or_else(|| damaged(key, "a key without a file".to_owned()))
}

/// The changes of one record.
struct Changes<'s> {
    store: &'s SledStore,
    rows: Rows,
}

impl Changes<'_> {
    fn put(&mut self, key: &Key, value: Vec<u8>) {
        self.rows.push((key.clone(), Some(value)));
    }

    fn put_pieces(&mut self, key: &Key, value: &[u8]) -> Result<(), StoreError> {
        self.remove(key)?;
        self.rows.extend(pieces::split(key, value).map(|(key, piece)| (key, Some(piece))));
        Ok(())
    }

    /// Removes a row, or all pieces of a value.
    fn remove(&mut self, key: &Key) -> Result<(), StoreError> {
        for row in self.store.tree.scan_prefix(key).keys() {
            self.rows.push((row?.to_vec(), None));
        }
        Ok(())
    }

    fn drop_vectors(&mut self, owner: Owner) -> Result<(), StoreError> {
        self.remove(&keys::vectors(owner))
    }
}

fn session(
    changes: &mut Changes<'_>,
    key: &Key,
    sealed: &[u8],
    cleaner: &mut dyn Cleaner,
) -> Result<(), StoreError> {
    let before = read::<SessionRecord, Session>(key, sealed)?;
    let mut session = before.clone();
    if !cleaner.session(&mut session) {
        return Ok(());
    }
    changes.put(key, envelope::seal(&SessionRecord::from(&session)));
    if session.id != before.id {
        changes.rows.push((keys::id(&before.id), None));
        changes.put(&keys::id(&session.id), session.key.0.to_be_bytes().to_vec());
    }
    Ok(())
}

fn source(
    changes: &mut Changes<'_>,
    key: &Key,
    sealed: &[u8],
    cleaner: &mut dyn Cleaner,
) -> Result<(), StoreError> {
    let mut source = read::<SourceRecord, Source>(key, sealed)?;
    if cleaner.source(&mut source) {
        changes.put(key, envelope::seal(&SourceRecord::from(&source)));
    }
    Ok(())
}

fn checkpoint(
    changes: &mut Changes<'_>,
    key: &Key,
    sealed: &[u8],
    cleaner: &mut dyn Cleaner,
) -> Result<(), StoreError> {
    let mut checkpoint: Vec<u8> = open(key, sealed)?;
    let (store, source) = (changes.store, source_in(key)?);
    let before = |number: u32| {
        let from = number.saturating_sub(BEFORE);
        store.messages(source, from, (number - from) as usize)
    };
    if cleaner.checkpoint(&mut checkpoint, &before)? {
        changes.put_pieces(key, &envelope::seal(&checkpoint))?;
    }
    Ok(())
}

fn message_block(
    changes: &mut Changes<'_>,
    key: &Key,
    sealed: &[u8],
    cleaner: &mut dyn Cleaner,
) -> Result<(), StoreError> {
    let records: Vec<MessageRecord> = open(key, sealed)?;
    let read = |record| Message::try_from(record).map_err(|what| damaged(key, what));
    let mut messages: Vec<Message> = records.into_iter().map(read).collect::<Result<_, _>>()?;
    let clean = |changed, message| cleaner.message(message) | changed;
    if !messages.iter_mut().fold(false, clean) {
        return Ok(());
    }
    let records: Vec<MessageRecord> = messages.iter().map(Into::into).collect();
    changes.put_pieces(key, &envelope::seal(&records))?;
    changes.drop_vectors(Owner::Session(source_in(key)?.session))
}

fn episode(
    changes: &mut Changes<'_>,
    key: &Key,
    sealed: &[u8],
    cleaner: &mut dyn Cleaner,
) -> Result<(), StoreError> {
    let before = read::<EpisodeRecord, Episode>(key, sealed)?;
    let mut episode = before.clone();
    if !cleaner.episode(&mut episode) {
        return Ok(());
    }
    changes.put_pieces(key, &envelope::seal(&EpisodeRecord::from(&episode)))?;
    if episode.project != before.project {
        changes.rows.push((keys::episode_of(before.project.namespace(), before.id), None));
        changes.put(&keys::episode_of(episode.project.namespace(), episode.id), Vec::new());
    }
    changes.drop_vectors(Owner::Session(episode.session))
}

fn mention(
    changes: &mut Changes<'_>,
    key: &Key,
    sealed: &[u8],
    cleaner: &mut dyn Cleaner,
) -> Result<(), StoreError> {
    let attributed = statements::mention(key, sealed)?;
    let mut mention: Mention = attributed.what;
    if cleaner.mention(&mut mention) {
        let record = MentionRecord::new(&mention, attributed.created_at.micros());
        changes.put(key, envelope::seal(&record));
        changes.drop_vectors(Owner::EntityOrFact(EntityOrFact::Entity(mention.entity)))?;
    }
    Ok(())
}

fn claims(
    changes: &mut Changes<'_>,
    key: &Key,
    sealed: &[u8],
    cleaner: &mut dyn Cleaner,
) -> Result<(), StoreError> {
    let mut records = Vec::new();
    let mut changed: Vec<Claim> = Vec::new();
    for attributed in statements::claims(key, sealed)? {
        let mut claim = attributed.what;
        let is_changed = cleaner.claim(&mut claim);
        records.push(ClaimRecord::new(&claim, attributed.created_at.micros()));
        changed.extend(is_changed.then_some(claim));
    }
    if changed.is_empty() {
        return Ok(());
    }
    changes.put_pieces(key, &envelope::seal(&records))?;
    for claim in changed {
        changes.drop_vectors(Owner::EntityOrFact(EntityOrFact::Fact(claim.key)))?;
        for entity in claim.entities() {
            changes.drop_vectors(Owner::EntityOrFact(EntityOrFact::Entity(entity)))?;
        }
    }
    Ok(())
}

fn note(
    changes: &mut Changes<'_>,
    key: &Key,
    sealed: &[u8],
    cleaner: &mut dyn Cleaner,
) -> Result<(), StoreError> {
    let unknown = || damaged(key, "this kind of note is unknown to this program".to_owned());
    let namespace = key.get(1).copied().and_then(NoteNamespace::from_number).ok_or_else(unknown)?;
    let name = keys::note_in(key).ok_or_else(unknown)?.to_vec();
    let content: Vec<u8> = open(key, sealed)?;
    let mut note = Note { namespace, name, content: Some(content) };
    if !cleaner.note(&mut note) {
        return Ok(());
    }
    changes.remove(key)?;
    if let Some(content) = note.content {
        changes.put_pieces(&keys::note(namespace, &note.name), &envelope::seal(&content))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Write, contract};

    /// Replaces the names of record types in files.
    struct TypeCleaner;

    impl Cleaner for TypeCleaner {
        fn session(&mut self, _: &mut Session) -> bool {
            false
        }

        fn source(&mut self, source: &mut Source) -> bool {
            source.tally.skipped = [("[REDACTED]".to_owned(), 4)].into();
            true
        }

        fn checkpoint(
            &mut self,
            _: &mut Vec<u8>,
            _: &dyn Fn(u32) -> Result<Vec<Message>, StoreError>,
        ) -> Result<bool, StoreError> {
            Ok(false)
        }

        fn message(&mut self, _: &mut Message) -> bool {
            false
        }

        fn episode(&mut self, _: &mut Episode) -> bool {
            false
        }

        fn mention(&mut self, _: &mut Mention) -> bool {
            false
        }

        fn claim(&mut self, _: &mut Claim) -> bool {
            false
        }

        fn note(&mut self, _: &mut Note) -> bool {
            false
        }
    }

    #[test]
    fn names_of_record_types_are_replaced_in_the_totals_of_agents() {
        let folder = tempfile::tempdir().unwrap();
        let open = || SledStore::open(folder.path()).unwrap();
        let store = open();
        let session = contract::session(crate::model::SessionKey(1), "a");
        let source = contract::source_of(&session, 0);
        let writes =
            vec![Write::Session(Box::new(session)), Write::Source { source, checkpoint: None }];
        store.write(writes).wait().unwrap();
        assert_eq!(store.clean(&mut TypeCleaner, &Vec::new()).unwrap().next, None);
        let wanted = [("[REDACTED]".to_owned(), 4)].into();
        assert_eq!(store.totals_by_agent()["claude"].tally.skipped, wanted);
        store.close();
        assert_eq!(open().totals_by_agent()["claude"].tally.skipped, wanted);
    }
}
