//! Repairs files that an older version registered twice. Each database is searched once.
//!
//! The older version registered a path as two files if it was announced twice in one batch. The
//! messages of such a path are stored twice, or its later messages are missing. One of the two
//! entries is kept, and the file is read again if it still exists.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::store::{FileStamp, Note, NoteNamespace, Source, Store, StoreError, Tally, Write};

/// The name and the value of the note that records that the database was checked.
const NOTE_NAME: &[u8] = b"duplicates";
const NOTE_VALUE: &[u8] = b"1";

/// Searches the database for duplicates and repairs them, unless this was done before. Returns the
/// paths that were registered twice. The files for which `is_readable` is true are read again.
pub(super) async fn repair(
    store: &dyn Store,
    is_readable: &(dyn Fn(&Path) -> bool + Sync),
) -> Result<Vec<PathBuf>, StoreError> {
    if store.note(NoteNamespace::Checked, NOTE_NAME)?.as_deref() == Some(NOTE_VALUE) {
        return Ok(Vec::new());
    }
    let mut repaired = Vec::new();
    for rows in find(store)? {
        let path = PathBuf::from(&rows[0].path);
        store.write(writes(store, rows, is_readable(&path))?).done().await?;
        repaired.push(path);
    }
    let content = Some(NOTE_VALUE.to_vec());
    let note = Note { namespace: NoteNamespace::Checked, name: NOTE_NAME.to_vec(), content };
    store.write(vec![Write::Note(note)]).done().await?;
    Ok(repaired)
}

/// Describes the repair for the status.
pub(super) fn describe(paths: &[PathBuf]) -> String {
    let (count, first) = (paths.len(), paths.first().map(|path| path.display().to_string()));
    format!(
        "repaired {count} transcripts that an older version had registered twice (such as {}); those that still exist are read again",
        first.unwrap_or_default()
    )
}

/// Returns, for each path that was registered several times, its rows in the order of their keys.
fn find(store: &dyn Store) -> Result<Vec<Vec<Source>>, StoreError> {
    let mut duplicate_rows: Vec<Source> = Vec::new();
    let mut failed = None;
    store.visit_sources(&mut |source| match store.source_at(&source.path) {
        Ok(Some(known)) if known.key == source.key => true,
        Ok(_) => {
            duplicate_rows.push(source);
            true
        }
        Err(error) => {
            failed = Some(error);
            false
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let paths: BTreeSet<String> = duplicate_rows.iter().map(|source| source.path.clone()).collect();
    let rows_of = |path: String| {
        let mut rows: Vec<Source> = store.source_at(&path)?.into_iter().collect();
        rows.extend(duplicate_rows.iter().filter(|source| source.path == path).cloned());
        rows.sort_by_key(|source| source.key);
        Ok(rows)
    };
    paths.into_iter().map(rows_of).collect()
}

/// Returns the writes that keep one of `rows`. All rows have the same path. If the file can be
/// read, it is read again from its start. Otherwise, the row with the most messages is kept.
fn writes(
    store: &dyn Store,
    mut rows: Vec<Source>,
    is_readable: bool,
) -> Result<Vec<Write>, StoreError> {
    let kept = if is_readable { 0 } else { index_with_most_messages(store, &rows)? };
    let source = rows.remove(kept);
    let mut writes: Vec<Write> = rows.into_iter().map(|row| Write::DropSource(row.key)).collect();
    if !is_readable {
        writes.push(Write::Source { source, checkpoint: None });
        return Ok(writes);
    }
    let unread =
        Source { stamp: FileStamp::default(), offset: 0, tally: Tally::default(), ..source };
    writes.push(Write::ClearSource(unread.key));
    writes.push(Write::Source { source: unread, checkpoint: None });
    Ok(writes)
}

/// Returns the index of the row with the most messages.
fn index_with_most_messages(store: &dyn Store, rows: &[Source]) -> Result<usize, StoreError> {
    let (mut kept, mut most) = (0, 0);
    for (at, row) in rows.iter().enumerate() {
        let messages = store.messages(row.key, 0, usize::MAX)?.len();
        if messages > most {
            (kept, most) = (at, messages);
        }
    }
    Ok(kept)
}
