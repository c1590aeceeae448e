//! Applies entries of the outbox to the search indexes.

use super::IndexTarget;
use crate::{
    engine::{
        entities::{self, Graph},
        snapshots::{IndexUpdate, OutboxMessages, Snapshot},
    },
    model::{Episode, Message, Namespace, Project, graph::EntityOrFact, session::Session},
    search::index::{Card, EpisodeField, IndexChange, Position},
    store::{OutboxChange, SourceKey, StoreError},
};

/// Maximum number of messages of a file that are read at a time.
const MESSAGES: usize = 1_024;

impl IndexTarget {
    /// Applies one entry. All entries up to `end` are in the store.
    pub(super) fn feed_change(
        &mut self,
        what: OutboxChange,
        position: Position,
        end: u64,
    ) -> Result<(), StoreError> {
        match what {
            OutboxChange::Messages { source, from, count, overwrites } => {
                // The index may already contain some of the messages.
                let overwrites = overwrites || position.0 <= self.partly_applied_to;
                let position = position.0;
                self.feed_entry(OutboxMessages { source, position, from, count, overwrites }, end)?;
            }
            OutboxChange::Session(session) => {
                // A session without messages is not indexed.
                let session = self.store.session(session)?;
                if let Some(session) = session.filter(|session| session.content.is_some()) {
                    let change =
                        IndexChange::Messages { card: card(&session), messages: Vec::new() };
                    self.indexes.sessions.apply(change, position);
                }
            }
            OutboxChange::SourceCleared(source) => {
                if self.snapshots.clear(source, position.0) {
                    self.drop_source(source, position);
                }
            }
            OutboxChange::Episode(id) => {
                if let Some(episode) = self.store.episode(id)? {
                    self.feed_episode(&episode, position)?;
                }
            }
            // If the session has a new episode, the new episode replaces the dropped episode in the
            // index. Otherwise, the index has to drop the episode.
            OutboxChange::EpisodeDropped { session, .. } => {
                if self.store.stored_episode_of(session)?.is_none() {
                    self.indexes.sessions.apply(IndexChange::DropEpisode { session }, position);
                }
            }
            OutboxChange::EntitiesAndFacts(things) => {
                for thing in things {
                    // A damaged record must not exclude other entities and facts from the index.
                    if let Err(error) = self.feed_entity_or_fact(thing, position) {
                        tracing::warn!(%error, "an entity or a fact cannot be searched");
                    }
                }
            }
            OutboxChange::SessionDropped(session) => {
                self.indexes.sessions.apply(IndexChange::DropSession { session }, position);
            }
        }
        Ok(())
    }

    fn feed_entry(&mut self, entry: OutboxMessages, end: u64) -> Result<(), StoreError> {
        let source = entry.source;
        // The entry counts as applied only after its last message.
        let before = Position(entry.position.saturating_sub(1));
        match self.snapshots.update_for(entry) {
            IndexUpdate::Nothing => {}
            IndexUpdate::Part { from, count } => {
                self.feed(source, from, count as usize, before)?;
            }
            IndexUpdate::Whole => {
                self.drop_source(source, before);
                let next_seq = self.feed(source, 0, usize::MAX, before)?;
                let ends = self.store.outbox_end();
                self.snapshots.note(source, Snapshot { covers: end, next_seq, ends });
            }
        }
        Ok(())
    }

    fn drop_source(&self, SourceKey { session, number }: SourceKey, position: Position) {
        self.indexes.sessions.apply(IndexChange::DropSource { session, source: number }, position);
    }

    pub(super) fn feed_entity_or_fact(
        &self,
        thing: EntityOrFact,
        position: Position,
    ) -> Result<(), StoreError> {
        let graph = Graph::of(self.store.as_ref());
        match thing {
            EntityOrFact::Entity(id) => {
                for change in entities::entity_changes(&graph, id)? {
                    self.indexes.entities.apply(change, position);
                }
            }
            EntityOrFact::Fact(key) => {
                self.indexes.facts.apply(entities::fact_change(&graph, key)?, position);
            }
        }
        Ok(())
    }

    /// Feeds messages of a file. Returns the number of the message after the last one.
    pub(super) fn feed(
        &self,
        source: SourceKey,
        from: u32,
        count: usize,
        position: Position,
    ) -> Result<u32, StoreError> {
        let Some(session) = self.store.session(source.session)? else { return Ok(from) };
        let mut next = from;
        let mut left = count;
        while left > 0 {
            let messages: Vec<Message> = self.store.messages(source, next, left.min(MESSAGES))?;
            let Some(last) = messages.last() else { break };
            next = last.seq + 1;
            left = left.saturating_sub(messages.len());
            let backlog = self
                .indexes
                .sessions
                .apply(IndexChange::Messages { card: card(&session), messages }, position);
            self.commit_when_full(backlog, position);
        }
        Ok(next)
    }

    pub(super) fn feed_episode(
        &self,
        episode: &Episode,
        position: Position,
    ) -> Result<(), StoreError> {
        let Some(session) = self.store.session(episode.session)? else { return Ok(()) };
        let backlog = self.indexes.sessions.apply(
            IndexChange::Episode {
                card: card(&session),
                fields: EpisodeField::all_of(episode),
                branches: episode.branches.clone(),
            },
            position,
        );
        self.commit_when_full(backlog, position);
        Ok(())
    }
}

fn card(session: &Session) -> Card {
    Card {
        session: session.key,
        namespace: session.project.as_ref().map_or(Namespace::default(), Project::namespace),
        project: session.project.clone(),
        agent: session.id.agent.clone(),
        started_at: session.started_at,
        ended_at: session.last_activity,
    }
}
