//! Changes that are not on disk yet.

use std::collections::HashMap;

use tantivy::indexer::UserOperation;

use crate::{
    index::{
        change::{Card, IndexChange, Position},
        memory::MemoryShard,
        passages::{self, EPISODE_SOURCE, PassageRow},
        schema,
        shard::Tombstones,
    },
    model::SessionKey,
};

/// A layer of changes in order of arrival.
#[derive(Default)]
pub(crate) struct Tail {
    /// The deletions that apply to earlier layers and to the disk.
    tombstones: Tombstones,
    cards: HashMap<u64, Card>,
    /// The first [`Tail::indexed`] passages are in [`Tail::shard`].
    passages: Vec<PassageRow>,
    indexed: usize,
    shard: MemoryShard,
    bytes: usize,
    position: Option<Position>,
}

impl Tail {
    /// Adds a change. The passages of the change are indexed at the next search.
    pub(crate) fn apply(&mut self, change: IndexChange, position: Position) {
        self.position = Some(position);
        match change {
            IndexChange::Messages { card, messages } => {
                for message in messages {
                    self.add(passages::of_message(&card, message));
                }
                self.cards.insert(card.session.0, card);
            }
            IndexChange::Episode { card, fields, branches } => {
                self.drop_source(card.session, EPISODE_SOURCE);
                self.add(passages::of_episode(&card, fields, &branches));
                self.cards.insert(card.session.0, card);
            }
            IndexChange::DropSource { session, source } => self.drop_source(session, source),
            IndexChange::DropEpisode { session } => self.drop_source(session, EPISODE_SOURCE),
            IndexChange::DropSession { session } => {
                self.tombstones.sessions.insert(session.0);
                self.cards.remove(&session.0);
                self.remove(|of_passage, _| of_passage == session.0);
            }
        }
    }

    /// Records that all outbox entries up to `position` have been applied.
    pub(crate) fn pass(&mut self, position: Position) {
        self.position = Some(position);
    }

    /// Indexes the passages that arrived since the last call.
    pub(crate) fn catch_up(&mut self) {
        for passage in &self.passages[self.indexed..] {
            self.shard.add(passage);
        }
        self.indexed = self.passages.len();
    }

    pub(crate) fn is_caught_up(&self) -> bool {
        self.indexed == self.passages.len()
    }

    pub(crate) fn position(&self) -> Option<Position> {
        self.position
    }

    /// Returns the approximate bytes of memory of the layer.
    pub(crate) fn bytes(&self) -> usize {
        let deletions =
            self.cards.len() + self.tombstones.sessions.len() + self.tombstones.sources.len();
        self.bytes + deletions * DELETION
    }

    pub(crate) fn shard(&self) -> &MemoryShard {
        &self.shard
    }

    pub(crate) fn tombstones(&self) -> &Tombstones {
        &self.tombstones
    }

    pub(crate) fn cards(&self) -> &HashMap<u64, Card> {
        &self.cards
    }

    /// Returns the operations for a writer, deletions first.
    pub(crate) fn operations(&self) -> Vec<UserOperation> {
        let sessions = self.tombstones.sessions.iter().map(|session| schema::session(*session));
        let sources = self
            .tombstones
            .sources
            .iter()
            .map(|(session, source)| schema::source_marker(*session, *source));
        let cards = self.cards.keys().map(|session| schema::card_of(*session));
        let removals = sessions.chain(sources).chain(cards).map(UserOperation::Delete);
        let documents = (self.cards.values().map(schema::card_document))
            .chain(self.passages.iter().map(schema::passage_document));
        removals.chain(documents.map(UserOperation::Add)).collect()
    }

    fn add(&mut self, passages: Vec<PassageRow>) {
        self.bytes +=
            passages.iter().map(|passage| passage.text.len() + PASSAGE_OVERHEAD).sum::<usize>();
        self.passages.extend(passages);
    }

    fn drop_source(&mut self, session: SessionKey, source: u32) {
        self.tombstones.sources.insert((session.0, source));
        self.remove(|of_passage, from| of_passage == session.0 && from == source);
    }

    fn remove(&mut self, is_deleted: impl Fn(u64, u32) -> bool) {
        let mut indexed = 0;
        let mut index = 0;
        self.passages.retain(|passage| {
            let is_kept = !is_deleted(passage.session, passage.source);
            indexed += usize::from(is_kept && index < self.indexed);
            index += 1;
            is_kept
        });
        self.indexed = indexed;
        self.shard.remove(|facts| is_deleted(facts.session, facts.source));
    }
}

/// Approximate bytes of a passage in memory besides its text.
const PASSAGE_OVERHEAD: usize = 256;
/// Approximate bytes of a card or a deletion while it is written: tantivy turns each deletion into
/// a query, and keeps these queries until the commit.
const DELETION: usize = 1_024;
