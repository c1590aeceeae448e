//! Keeps the search index up with the store.
//!
//! The index takes over what the store's outbox holds, in its order, and can search it at once; it
//! writes it to disk now and then. An index that is missing, damaged or of another version is made
//! anew from the store while everything else goes on.

mod rebuild;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::sync::watch;

use crate::{
    allocator,
    engine::{
        embedding::Embedding,
        indexes::Indexes,
        room::IndexRoom,
        snapshots::{Entry, Snapshot, Snapshots, Take},
        things::{self, Graph},
    },
    fault,
    model::{Episode, Message, Namespace, Project, graph::Thing, session::Session, vector::Owner},
    search::index::{Backlog, Card, Change, EpisodeField, OpenError, Position},
    store::{Outbox, SourceKey, Store, StoreError, Write},
};

/// What was taken over is written to disk when nothing more has come for so long.
const COMMIT_WHEN_QUIET: Duration = Duration::from_secs(3);
/// What only busy indexes need is let go of when nothing has come for so long after that.
const REST_WHEN_QUIET: Duration = Duration::from_secs(30);
/// Outbox entries taken over in one go.
const ENTRIES: usize = 256;
/// Messages of a file taken over in one go.
const MESSAGES: usize = 1_024;

/// The search indexes and the store that they follow.
pub struct Follower {
    indexes: Indexes,
    store: Arc<dyn Store>,
    room: IndexRoom,
    /// The indexes are new: everything in the store has to be taken over first.
    rebuild: bool,
    /// Up to here the indexes may hold messages already, of which the outbox tells: a rebuild took
    /// them over, or an entry was written to disk in part when the process ended.
    in_part_to: u64,
    snapshots: Snapshots,
    /// Told of all that may need other vectors.
    embedding: Arc<Embedding>,
}

/// Opens the search indexes in `folder` and beside it, or makes new ones; then the follower fills
/// them.
pub fn open(
    folder: &Path,
    store: Arc<dyn Store>,
    room: IndexRoom,
    embedding: Arc<Embedding>,
) -> Result<Follower, OpenError> {
    let (indexes, rebuild) = Indexes::open(folder, store.as_ref())?;
    let in_part_to = indexes.furthest().0 + 1;
    let snapshots = Snapshots::default();
    Ok(Follower { indexes, store, room, rebuild, in_part_to, snapshots, embedding })
}

/// Where the index of `home` lies.
pub fn folder(home: &Path) -> PathBuf {
    home.join("index")
}

impl Follower {
    /// The indexes, for searching.
    pub fn indexes(&self) -> &Indexes {
        &self.indexes
    }

    /// Follows until `stopping` turns true; what was taken over is on disk then. Tells through
    /// `followed` how far it is.
    pub async fn run(mut self, followed: watch::Sender<u64>, mut stopping: watch::Receiver<bool>) {
        let (mut ends, mut limits) = (self.store.outbox_ends(), self.room.limits());
        let mut written = self.indexes.applied().0;
        let mut reached = written;
        if self.rebuild {
            self = self.blocking(Follower::take_everything).await;
            reached = 0;
        }
        followed.send_replace(reached);
        // Other limits may be in force than when it was written to last.
        self = self.blocking(move |it| it.keep_within_limit(Position(reached))).await;
        let mut is_resting = false;
        loop {
            let end = *ends.borrow_and_update();
            if end > reached {
                let (follower, result) = self.take_over(reached, end).await;
                self = follower;
                match result {
                    Ok(position) => reached = position,
                    // The store is broken or closed; whoever writes to it says so.
                    Err(error) => {
                        tracing::warn!(%error, "the search index cannot follow the database");
                        return;
                    }
                }
                followed.send_replace(reached);
                if !self.indexes.is_full() {
                    continue;
                }
            } else {
                let is_written = written == reached;
                let pause = if is_written { REST_WHEN_QUIET } else { COMMIT_WHEN_QUIET };
                let are_limits_others = tokio::select! {
                    changed = ends.changed() => if changed.is_err() { break } else { continue },
                    _ = stopping.wait_for(|stopping| *stopping) => break,
                    Ok(()) = limits.changed() => true,
                    () = tokio::time::sleep(pause), if !(is_written && is_resting) => false,
                };
                if are_limits_others {
                    self = self.blocking(move |it| it.keep_within_limit(Position(reached))).await;
                    is_resting = false;
                    continue;
                }
                if is_written {
                    self = self.blocking(Follower::rest).await;
                    is_resting = true;
                    continue;
                }
            }
            self = self.blocking(move |it| it.write_and_keep_within_limit(reached)).await;
            (written, is_resting) = (reached, false);
        }
        self.blocking(Follower::write_to_disk).await;
    }

    async fn blocking(self, work: impl FnOnce(&mut Follower) + Send + 'static) -> Follower {
        let mut follower = self;
        let done = tokio::task::spawn_blocking(move || {
            work(&mut follower);
            follower
        });
        done.await.expect("work on the index does not panic: it reports errors")
    }

    async fn take_over(self, after: u64, end: u64) -> (Follower, Result<u64, StoreError>) {
        let mut follower = self;
        let done = tokio::task::spawn_blocking(move || {
            let result = follower.take_entries(after, end);
            (follower, result)
        });
        done.await.expect("work on the index does not panic: it reports errors")
    }

    /// Takes over some of the entries after `after`, up to `end`; returns how far it came.
    fn take_entries(&mut self, after: u64, end: u64) -> Result<u64, StoreError> {
        let mut entries = self.store.outbox(after, ENTRIES)?;
        // Later ones may still be lost in a crash.
        entries.retain(|entry| entry.position <= end);
        let Some(last) = entries.last().map(|entry| entry.position) else {
            // Entries that are gone were taken over before.
            self.indexes.pass(Position(end));
            return Ok(end);
        };
        for entry in entries {
            let position = Position(entry.position);
            match self.take(entry.what, position, end) {
                // One damaged record must not keep the others from being found.
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::warn!(%error, "something cannot be searched");
                    self.indexes.pass(position);
                }
                other => other?,
            }
        }
        self.snapshots.passed(last);
        fault::point("index: applied");
        Ok(last)
    }

    /// Takes over one entry; all of them up to `end` are in the store.
    fn take(&mut self, what: Outbox, position: Position, end: u64) -> Result<(), StoreError> {
        match what {
            Outbox::Messages { source, from, count, overwrites } => {
                // Some of them may be in the index already.
                let overwrites = overwrites || position.0 <= self.in_part_to;
                let position = position.0;
                self.take_messages(Entry { source, position, from, count, overwrites }, end)?;
            }
            Outbox::Session(session) => {
                if let Some(session) = self.store.session(session)? {
                    let change = Change::Messages { card: card(&session), messages: Vec::new() };
                    self.indexes.sessions.apply(change, position);
                }
            }
            Outbox::SourceCleared(source) => {
                if self.snapshots.clear(source, position.0) {
                    self.drop_source(source, position);
                }
            }
            Outbox::Episode(id) => {
                if let Some(episode) = self.store.episode(id)? {
                    self.feed_episode(&episode, position)?;
                    self.embedding.touch(Owner::Session(episode.session));
                }
            }
            // A new episode of the session takes its place by itself; one that is gone for good
            // has left its session without any.
            Outbox::EpisodeDropped { session, .. } => {
                self.embedding.touch(Owner::Session(session));
                let indexed = self.store.session(session)?.and_then(|session| session.indexed);
                let is_gone = match indexed {
                    None => true,
                    Some(indexed) => self.store.episode(indexed.episode)?.is_none(),
                };
                if is_gone {
                    self.indexes.sessions.apply(Change::DropEpisode { session }, position);
                }
            }
            Outbox::Things(things) => {
                for thing in things {
                    self.embedding.touch(Owner::Thing(thing));
                    // A damaged record costs what it says, not all that follows.
                    if let Err(error) = self.feed_thing(thing, position) {
                        tracing::warn!(%error, "a fact cannot be searched");
                    }
                }
            }
            Outbox::SessionDropped(session) => {
                self.indexes.sessions.apply(Change::DropSession { session }, position);
                self.embedding.touch(Owner::Session(session));
            }
        }
        self.indexes.pass(position);
        Ok(())
    }

    fn take_messages(&mut self, entry: Entry, end: u64) -> Result<(), StoreError> {
        let source = entry.source;
        // What takes several steps is taken over only at the end of them.
        let before = Position(entry.position.saturating_sub(1));
        match self.snapshots.take(entry) {
            Take::Nothing => {}
            Take::Part { from, count } => {
                self.feed(source, from, count as usize, before)?;
            }
            Take::Whole => {
                self.drop_source(source, before);
                let next_seq = self.feed(source, 0, usize::MAX, before)?;
                let ends = self.store.outbox_end();
                self.snapshots.note(source, Snapshot { covers: end, next_seq, ends });
            }
        }
        Ok(())
    }

    fn drop_source(&self, SourceKey { session, number }: SourceKey, position: Position) {
        self.indexes.sessions.apply(Change::DropSource { session, source: number }, position);
    }

    fn feed_thing(&self, thing: Thing, position: Position) -> Result<(), StoreError> {
        let graph = Graph::of(self.store.as_ref());
        match thing {
            Thing::Entity(id) => {
                for change in things::entity_changes(&graph, id)? {
                    self.indexes.entities.apply(change, position);
                }
            }
            Thing::Fact(key) => {
                self.indexes.facts.apply(things::fact_change(&graph, key)?, position);
            }
        }
        Ok(())
    }

    /// Takes over messages of a file; returns the number after the last one.
    fn feed(
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
                .apply(Change::Messages { card: card(&session), messages }, position);
            self.relieve_when_full(backlog, position);
        }
        Ok(next)
    }

    fn feed_episode(&self, episode: &Episode, position: Position) -> Result<(), StoreError> {
        let Some(session) = self.store.session(episode.session)? else { return Ok(()) };
        let backlog = self.indexes.sessions.apply(
            Change::Episode {
                card: card(&session),
                fields: EpisodeField::all_of(episode),
                branches: episode.branches.clone(),
            },
            position,
        );
        self.relieve_when_full(backlog, position);
        Ok(())
    }

    fn relieve_when_full(&self, backlog: Backlog, position: Position) {
        if backlog.is_full() {
            self.relieve(position);
        }
    }

    /// They were told everything up to `position`.
    fn relieve(&self, position: Position) {
        if let Err(error) = self.indexes.commit() {
            tracing::warn!(%error, "the search index cannot be written to disk");
        }
        self.keep_within_limit(position);
        allocator::trim();
    }

    fn keep_within_limit(&self, position: Position) {
        self.room.keep(self.store.as_ref(), &self.indexes, position);
    }

    fn write_and_keep_within_limit(&mut self, reached: u64) {
        self.write_to_disk();
        self.keep_within_limit(Position(reached));
    }

    fn write_to_disk(&mut self) {
        match self.indexes.commit() {
            Ok(position) => {
                fault::point("index: committed");
                drop(self.store.write(vec![Write::OutboxTaken(position.0)]));
                fault::point("index: taken queued");
            }
            Err(error) => tracing::warn!(%error, "the search index cannot be written to disk"),
        }
        allocator::trim();
    }

    fn rest(&mut self) {
        if let Err(error) = self.indexes.rest() {
            tracing::warn!(%error, "the search index cannot come to rest");
        }
        allocator::trim();
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
        branch: None,
    }
}
