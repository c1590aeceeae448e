//! The numbers of messages in the files of live sessions. A job reads only the files that changed,
//! so the number of messages of a session is the sum of the last known numbers of its files.

use std::collections::{BTreeMap, HashMap};

use super::EngineState;
use crate::{
    engine::reading::ReadProgress,
    model::SessionKey,
    store::{Source, SourceKey},
};

/// The numbers by session and number of the file.
#[derive(Default)]
pub(super) struct MessageCounts(HashMap<SessionKey, BTreeMap<u32, u32>>);

impl MessageCounts {
    pub(super) fn has(&self, source: SourceKey) -> bool {
        self.0.get(&source.session).is_some_and(|counts| counts.contains_key(&source.number))
    }

    pub(super) fn put(&mut self, source: SourceKey, messages: u32) {
        self.0.entry(source.session).or_default().insert(source.number, messages);
    }

    pub(super) fn forget(&mut self, session: SessionKey) {
        self.0.remove(&session);
    }

    /// Returns the number of messages of all `sources` of a session; `None` if it is not known for
    /// each of them.
    pub(super) fn sum(&self, session: SessionKey, sources: &[Source]) -> Option<u32> {
        let counts = self.0.get(&session)?;
        sources.iter().map(|source| counts.get(&source.key.number).copied()).sum()
    }
}

impl EngineState {
    /// Records the numbers of messages of files.
    pub(super) fn note_message_counts(
        &mut self,
        files: &[ReadProgress],
        others: BTreeMap<SourceKey, u32>,
    ) {
        others.into_iter().for_each(|(source, count)| self.message_counts.put(source, count));
        for ReadProgress { source, state, .. } in files {
            self.message_counts.put(source.key, state.evidence().counts.messages);
        }
    }

    /// Returns the number of messages of a session; `None` if it is not known for each of the
    /// session's files.
    pub(super) fn count_messages(&self, session: SessionKey) -> Option<u32> {
        self.message_counts.sum(session, &self.view.sources_of(session).ok()?)
    }
}
