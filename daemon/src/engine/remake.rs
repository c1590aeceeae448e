//! Replaces the summaries that were created by older rules. This happens in the background, one
//! summary at a time (the latest sessions first), and only while the engine has no other work.
//!
//! Each summary records the version of its rules, so that an interrupted run can continue. A
//! summary is kept if a model wrote it, if it was added or imported, or if its transcript was
//! deleted, truncated or replaced. A new summary by a model costs money and sends the session
//! again, so only the user requests such a summary. [`Engine::older_model_summaries`] counts the
//! older summaries by a model. A note records that all summaries were checked. Later starts then do
//! not search again.

use std::{
    collections::{BTreeMap, VecDeque},
    future,
    sync::{PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use crate::{
    engine::{
        Engine, EngineError,
        command::{EngineCommand, failed},
        defect,
        episode::{self, EpisodeSource},
        job_result::{GatherOutcome, JobResult, SessionDigest},
        new_episode::NewEpisode,
        reading::ReadError,
        remake_permit::{RemakeContext, RemakePermit},
    },
    graph,
    model::{Episode, EpisodeId, Timestamp, episode::Author},
    store::{Note, NoteNamespace, Store, StoreError, Write, damaged::skip_damaged},
    summarize::RULES_VERSION,
};

/// Minimum pause after a summary, and between two checks whether the engine is idle.
const PAUSE: Duration = Duration::from_secs(2);
/// The length of the pause after a summary, as a multiple of the time that the summary took.
const PAUSE_FACTOR: u32 = 4;
/// Number of episodes that are read from the store at once.
const PAGE: usize = 64;
/// The name of the note with the version of the rules for which all summaries were checked.
const NAME: &[u8] = b"summaries";
/// The name of the note with the ids of the summaries of older rules that a model wrote.
const NAME_OF_KEPT: &[u8] = b"summaries by a model";

/// Maximum number of summaries that are read to count the summaries by a model, so that `status`
/// stays fast.
const MAX_READ: usize = 1_000;

pub(super) struct Remaker {
    pub(super) engine: Engine,
}

/// The outcome of creating an older summary again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RemakeOutcome {
    Remade,
    /// The summary is not created again.
    Kept,
    /// The summary is retried after the next start.
    Postponed,
}

impl Engine {
    /// Replaces the summaries that were created by older rules. Never returns.
    pub async fn remake_summaries(self) {
        Remaker { engine: self }.run().await;
    }

    /// Returns the number of summaries that a model wrote from evidence of older rules. They are
    /// kept until the user requests them again. A call checks at most [`MAX_READ`] of the summaries
    /// that the last search found. If there are more, the next calls check the others.
    pub fn older_model_summaries(&self) -> Result<usize, StoreError> {
        let mut known = self.older_by_model.lock().unwrap_or_else(PoisonError::into_inner);
        let ids = match &mut *known {
            Some(ids) => ids,
            None => {
                let note = self.store.note(NoteNamespace::Checked, NAME_OF_KEPT)?;
                let ids = note.and_then(|note| serde_json::from_slice(&note).ok());
                let ids: Vec<String> = ids.unwrap_or_default();
                known.insert(ids.iter().filter_map(|id| EpisodeId::parse(id)).collect())
            }
        };
        remove_newer(self.store.as_ref(), ids, MAX_READ)?;
        Ok(ids.len())
    }
}

/// Removes the summaries that have current rules or do not exist any more from the first `limit` of
/// `ids`, and moves the others to the end.
fn remove_newer(
    store: &dyn Store,
    ids: &mut VecDeque<EpisodeId>,
    limit: usize,
) -> Result<(), StoreError> {
    for _ in 0..limit.min(ids.len()) {
        let Some(id) = ids.front().copied() else { break };
        let episode = skip_damaged(store.episode(id), "its summary does not count as older")?;
        let is_older = episode.is_some_and(|episode| has_older_rules(&episode));
        ids.pop_front();
        ids.extend(is_older.then_some(id));
    }
    Ok(())
}

impl Remaker {
    /// Creates the older summaries again, and then waits forever.
    pub(super) async fn run(self) {
        tokio::time::sleep(PAUSE).await;
        match self.remake_all(PAUSE).await {
            Ok(()) | Err(EngineError::Stopping) => {}
            Err(error) => tracing::warn!(%error, "failed to create older summaries again"),
        }
        self.engine.older_summaries.store(0, Ordering::Relaxed);
        future::pending::<()>().await;
    }

    /// Creates all older summaries again, with pauses of at least `pause`.
    pub(super) async fn remake_all(&self, pause: Duration) -> Result<(), EngineError> {
        let store = self.engine.store.clone();
        let older = tokio::task::spawn_blocking(move || older(store.as_ref())).await;
        let older = older.map_err(|error| failed(defect::describe(&error)))??;
        let Some(OlderEpisodes { from_evidence: older, by_model }) = older else { return Ok(()) };
        let ids: Vec<String> = by_model.iter().map(|id| id.0.to_string()).collect();
        let kept = Write::note(NoteNamespace::Checked, NAME_OF_KEPT, &ids);
        self.engine.store.write(vec![kept]).done().await?;
        *self.engine.older_by_model.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let (mut remade, mut is_complete) = (0, true);
        for (done, id) in older.iter().enumerate() {
            self.engine.older_summaries.store(older.len() - done, Ordering::Relaxed);
            let begun = Instant::now();
            match self.remake(*id, pause).await? {
                RemakeOutcome::Remade => remade += 1,
                RemakeOutcome::Kept => continue,
                RemakeOutcome::Postponed => is_complete = false,
            }
            tokio::time::sleep(pause.max(begun.elapsed() * PAUSE_FACTOR)).await;
        }
        if is_complete {
            self.engine.store.write(vec![checked_note()]).done().await?;
        }
        tracing::info!(remade, older = older.len(), "summaries of older rules were created again");
        Ok(())
    }

    async fn remake(&self, id: EpisodeId, pause: Duration) -> Result<RemakeOutcome, EngineError> {
        let Some(episode) = self.engine.store.episode(id)? else { return Ok(RemakeOutcome::Kept) };
        let context = loop {
            let session = episode.session;
            let permit = |reply| EngineCommand::PermitRemake { session, episode: id, reply };
            match self.engine.request(permit).await? {
                RemakePermit::Busy => tokio::time::sleep(pause).await,
                RemakePermit::Refused => return Ok(RemakeOutcome::Postponed),
                RemakePermit::Granted(context) => break context,
            }
        };
        // A model may have answered meanwhile.
        let Some(episode) = self.engine.store.episode(id)? else { return Ok(RemakeOutcome::Kept) };
        if episode.author != Author::Evidence || !has_older_rules(&episode) {
            return Ok(RemakeOutcome::Kept);
        }
        let (session, reader) = (context.session.id.clone(), context.reader.clone());
        let made =
            tokio::task::spawn_blocking(move || make(&context, episode, crate::clock::now()));
        let made = match made.await {
            Ok(Ok(made)) => made,
            Ok(Err(error)) => {
                tracing::debug!(%session, %error, "failed to make a summary again");
                return Ok(RemakeOutcome::Postponed);
            }
            Err(error) => {
                tracing::warn!(%session, error = defect::describe(&error), "failed to make a summary again");
                return Ok(RemakeOutcome::Kept);
            }
        };
        let Some(made) = made else {
            let is_stopped = reader.stop.load(Ordering::Relaxed);
            return Ok(if is_stopped { RemakeOutcome::Postponed } else { RemakeOutcome::Kept });
        };
        let store = |reply| EngineCommand::StoreRemade { made: Box::new(made), reply };
        Ok(match self.engine.request(store).await? {
            true => RemakeOutcome::Remade,
            false => RemakeOutcome::Postponed,
        })
    }
}

/// The episodes whose summary was created by older rules, the latest first.
#[derive(Default)]
struct OlderEpisodes {
    from_evidence: Vec<EpisodeId>,
    by_model: Vec<EpisodeId>,
}

/// Returns the episodes of older rules; `None` when all summaries were checked before.
fn older(store: &dyn Store) -> Result<Option<OlderEpisodes>, StoreError> {
    let checked = store.note(NoteNamespace::Checked, NAME)?;
    if checked.as_deref() == Some(RULES_VERSION.to_string().as_bytes()) {
        return Ok(None);
    }
    let (mut older, mut before) = (OlderEpisodes::default(), None);
    loop {
        let page = store.newest_episodes(None, before, PAGE)?;
        let Some(last) = page.last() else { return Ok(Some(older)) };
        before = Some(last.id);
        for episode in page.iter().filter(|episode| has_older_rules(episode)) {
            match episode.author {
                Author::Evidence => older.from_evidence.push(episode.id),
                Author::Model(_) => older.by_model.push(episode.id),
            }
        }
    }
}

fn has_older_rules(episode: &Episode) -> bool {
    episode.external.is_none() && episode.rules < RULES_VERSION
}

/// Returns the write of the note which records that all summaries were checked.
fn checked_note() -> Write {
    let content = Some(RULES_VERSION.to_string().into_bytes());
    Write::Note(Note { namespace: NoteNamespace::Checked, name: NAME.to_vec(), content })
}

/// Creates an episode again; `None` when the transcript is empty, cannot be opened, was truncated
/// or was replaced, no format for its agent is configured any more, or the daemon stops. Blocks.
fn make(
    context: &RemakeContext,
    old: Episode,
    now: Timestamp,
) -> Result<Option<NewEpisode>, ReadError> {
    let RemakeContext { session, reader, parse_context } = context;
    let Some(format) = parse_context.formats.of_agent(&session.id.agent) else { return Ok(None) };
    let sources = reader.store.sources_of(session.key)?;
    let known = sources.iter().map(|source| source.offset).sum();
    let begun = reader.crash_tracker.begin(&session.id, known);
    let files = sources.into_iter().map(|source| reader.replay(&*format, parse_context, source));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let is_stopped = reader.stop.load(Ordering::Relaxed);
    if !is_stopped {
        begun.done();
    }
    let has_transcript = files.first().is_some_and(|own| own.exists);
    // The project must not change, because it is part of the key of an episode.
    let digest = SessionDigest {
        root: Some(reader.projects.root(&old.project)),
        project: Some(old.project.clone()),
        ..SessionDigest::of(&files)
    };
    let Some(content) = digest.content.filter(|_| has_transcript && !is_stopped) else {
        return Ok(None);
    };
    let (index, gathered, errors) = (None, GatherOutcome::NotRequested, Vec::new());
    let (key, others) = (session.key, BTreeMap::new());
    let done = JobResult { session: key, files, others, digest, index, gathered, errors };
    let config = &parse_context.summarize;
    let source = EpisodeSource { session, done: &done, content };
    let made = episode::from_evidence(&source, &old.reason, config, now);
    let Episode { name, summary, branches, rules, .. } = made;
    let episode = Episode { name, summary, branches, rules, ..old };
    let statements = graph::extract(&episode, &episode::merged_evidence(&done));
    Ok(Some(NewEpisode { episode, statements, figures: None }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{contract, sled::SledStore};

    #[test]
    fn every_summary_that_a_model_wrote_again_is_no_longer_counted() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let mut ids = VecDeque::new();
        let write = |number: i64, rules: u32| {
            let session = contract::session(store.next_session_key().unwrap(), "s");
            let episode = Episode { rules, external: None, ..contract::episode(&session, number) };
            store.write(vec![Write::Episode(Box::new(episode.clone()))]).wait().unwrap();
            episode.id
        };
        for (number, rules) in [(1, 0), (2, RULES_VERSION), (3, 0), (4, RULES_VERSION)] {
            ids.push_back(write(number, rules));
        }
        let older = [ids[0], ids[2]];
        let mut counts = Vec::new();
        for _ in 0..3 {
            remove_newer(&store, &mut ids, 2).unwrap();
            counts.push(ids.len());
        }
        assert_eq!(counts, [3, 2, 2]);
        assert!(older.iter().all(|id| ids.contains(id)));
    }
}
