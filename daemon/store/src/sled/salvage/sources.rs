//! Copies transcript files with their messages.

use std::fs;

use super::Transfer;
use crate::{
    FileStamp, Source, SourceKey, Store, StoreError, Tally, Write,
    model::SessionKey,
    sled::{
        keys,
        reading::{self, read},
        records::SourceRecord,
    },
};

impl Transfer<'_> {
    /// Copies the files of the session `before` to the session `now`. If `is_whole` is not set, all
    /// files are read again that still have all their lines.
    pub(super) fn sources(
        &mut self,
        before: SessionKey,
        now: SessionKey,
        is_whole: bool,
    ) -> Result<(), StoreError> {
        for entry in self.from.tree.scan_prefix(keys::sources_of(before)) {
            let Some((key, value)) = self.readable(entry.map_err(StoreError::from)) else { break };
            let source = self.readable(read::<SourceRecord, Source>(&key, &value));
            if let Some(source) = source {
                self.source(source, now, is_whole)?;
            }
        }
        Ok(())
    }

    /// Copies a file and its messages block by block, so that only the damaged blocks are lost.
    fn source(
        &mut self,
        mut source: Source,
        session: SessionKey,
        mut is_whole: bool,
    ) -> Result<(), StoreError> {
        // The record of a file with a known path is not stored, and messages without such a record
        // would never be deleted.
        let is_known =
            !self.paths.insert(source.path.clone()) || self.into.source_at(&source.path)?.is_some();
        let before = source.key;
        source.key = SourceKey { session, number: before.number };
        let (blocks, has_all_blocks) = self.blocks_of(before);
        is_whole &= has_all_blocks;
        for first in blocks {
            let messages = self.readable(reading::block(&self.from.tree, before, first));
            is_whole &= messages.is_some();
            let messages = messages.unwrap_or_default();
            if is_known {
                self.salvaged.lost += messages.len() as u64;
                continue;
            }
            self.salvaged.messages += messages.len() as u64;
            self.write(Write::Messages { source: source.key, messages })?;
        }
        if is_known {
            return Ok(());
        }
        let checkpoint = self.readable(self.from.checkpoint(before));
        is_whole &= checkpoint.is_some();
        let mut checkpoint = checkpoint.flatten();
        if !is_whole && has_all_lines(&source) {
            let (stamp, tally) = (FileStamp::default(), Tally::default());
            (source, checkpoint) = (Source { stamp, tally, offset: 0, ..source }, None);
        }
        self.write(Write::Source { source, checkpoint })
    }

    /// Returns the number of the first message of each block of a file, up to the first page that
    /// cannot be read, and whether all pages can be read.
    fn blocks_of(&mut self, source: SourceKey) -> (Vec<u32>, bool) {
        let mut found = Vec::new();
        let mut is_whole = true;
        for key in self.from.tree.scan_prefix(keys::messages_of(source)).keys() {
            let Some(key) = self.readable(key.map_err(StoreError::from)) else {
                is_whole = false;
                break;
            };
            found.extend(keys::first_message_in(&key));
        }
        // A block may have several pieces.
        found.dedup();
        (found, is_whole)
    }
}

/// Whether a transcript exists and contains all lines that were read. After a truncation, the
/// stored messages are the only copy of the removed lines.
fn has_all_lines(source: &Source) -> bool {
    let is_long = |file: fs::Metadata| file.is_file() && file.len() >= source.stamp.length;
    source.tally.restarts == 0 && fs::metadata(&source.path).is_ok_and(is_long)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Note, NoteNamespace, contract,
        sled::{
            SledStore, open_damaged,
            salvage::{
                Salvaged,
                tests::{block_numbers, damage, filled, salvaged, session_key},
            },
        },
    };

    #[test]
    fn an_unreadable_file_record_loses_only_its_file() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let store = SledStore::open(folder.path()).unwrap();
        let session = contract::session(session_key(&store, 0), "session-0");
        let sources = [1, 2].map(|number| contract::source_of(&session, number));
        let writes = sources.clone().map(|source| Write::Source { source, checkpoint: None });
        store.write(writes.into()).wait().unwrap();
        damage(&store, &keys::source(sources[0].key));
        store.close();
        let (store, salvaged, _folder) = salvaged(folder.path());
        let session = session_key(&store, 0);
        let restored = store.sources_of(session).unwrap();
        let numbers: Vec<u32> = restored.iter().map(|source| source.key.number).collect();
        assert_eq!(numbers, [0, 2]);
        assert!(!store.messages(restored[0].key, 0, 9).unwrap().is_empty());
        assert_eq!(salvaged.unreadable, 1);
    }

    #[test]
    fn a_transcript_with_lost_messages_is_read_again_if_it_still_has_all_lines() {
        let (folder, transcripts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        filled(folder.path());
        let store = SledStore::open(folder.path()).unwrap();
        let path = |name: &str| transcripts.path().join(name).to_string_lossy().into_owned();
        let is_damaged = |number: u64| number > 0;
        for (number, name) in
            ["whole", "exists", "truncated", "restarted", "missing"].into_iter().enumerate()
        {
            let number = number as u64;
            let session = contract::session(session_key(&store, number), "");
            let mut source = Source { path: path(name), ..contract::source_of(&session, 0) };
            source.tally.restarts = u64::from(name == "restarted");
            let length = if name == "truncated" { 1_233 } else { 1_234 };
            if name != "missing" {
                fs::write(&source.path, vec![b' '; length]).unwrap();
            }
            let key = source.key;
            store.write(vec![Write::Source { source, checkpoint: None }]).wait().unwrap();
            if is_damaged(number) {
                let block = block_numbers(&store, key)[1];
                damage(&store, &[keys::messages(key, block), vec![0, 0]].concat());
            }
        }
        store.close();
        let (store, _, _folder) = salvaged(folder.path());
        for (number, name) in
            ["whole", "exists", "truncated", "restarted", "missing"].into_iter().enumerate()
        {
            let source = &store.sources_of(session_key(&store, number as u64)).unwrap()[0];
            assert!(source.path.ends_with(name));
            let checkpoint = store.checkpoint(source.key).unwrap();
            let is_unread = (source.stamp, source.offset, &source.tally)
                == (FileStamp::default(), 0, &Tally::default());
            assert_eq!((is_unread, checkpoint.is_none()), (name == "exists", name == "exists"));
            // The readable messages stay until the transcript is read.
            assert!(store.messages(source.key, 0, 200).unwrap().len() > 64, "{name}");
        }
    }

    #[test]
    fn a_transcript_is_read_again_if_the_note_about_its_secrets_is_unreadable() {
        let (folder, transcripts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        filled(folder.path());
        let store = SledStore::open(folder.path()).unwrap();
        let key = session_key(&store, 0);
        let path = transcripts.path().join("a.jsonl").to_string_lossy().into_owned();
        fs::write(&path, vec![b' '; 1_234]).unwrap();
        let mut source = Source { path, ..contract::source_of(&contract::session(key, ""), 0) };
        source.tally.restarts = 0;
        let (namespace, name) = (NoteNamespace::KnownSecrets, key.0.to_be_bytes());
        let note = Note { namespace, name: name.to_vec(), content: Some(vec![1; 20]) };
        let writes = vec![Write::Source { source, checkpoint: None }, Write::Note(note)];
        store.write(writes).wait().unwrap();
        store.damage_note(namespace, &name);
        store.close();
        let (store, _, _folder) = salvaged(folder.path());
        let source = &store.sources_of(session_key(&store, 0)).unwrap()[0];
        assert_eq!((source.offset, store.checkpoint(source.key).unwrap()), (0, None));
    }

    #[test]
    fn a_file_of_another_session_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        let store = SledStore::open(folder.path()).unwrap();
        // An older version registered a path twice.
        let first = contract::session(session_key(&store, 1), "session-1");
        let twice = contract::session(session_key(&store, 2), "session-2");
        let path = contract::source_of(&first, 0).path;
        store.register_unchecked(&Source { path, ..contract::source_of(&twice, 0) });
        store.close();
        let new = tempfile::tempdir().unwrap();
        let left = open_damaged(folder.path(), &new.path().join("work")).unwrap();
        let store = SledStore::open(&new.path().join("new")).unwrap();
        let other = contract::session(store.next_session_key().unwrap(), "other");
        let path = contract::source_of(&contract::session(other.key, "session-0"), 0).path;
        let source = Source { path, ..contract::source_of(&other, 0) };
        let writes =
            vec![Write::Session(Box::new(other)), Write::Source { source, checkpoint: None }];
        store.write(writes).wait().unwrap();
        let salvaged = store.salvage(&left).unwrap();
        let Salvaged { sessions, messages, lost, .. } = salvaged;
        assert_eq!((sessions, messages, lost), (5, 3 * 200, 2 * 200));
        for (number, files) in [(0, 0), (1, 1), (2, 0), (3, 1)] {
            let session = session_key(&store, number);
            assert_eq!(store.sources_of(session).unwrap().len(), files, "{number}");
            let messages = store.messages(SourceKey { session, number: 0 }, 0, 999).unwrap();
            assert_eq!(messages.len(), files * 200, "{number}");
        }
    }
}
