//! Finds the statements of earlier sessions that match a prompt, for the hook of the prompt.
//!
//! The user waits for this hook. Therefore, the errors, decisions and preferences of a project are
//! cached until the project has a new episode, or statements are deleted or corrected. If reading
//! takes too long, nothing is added to the prompt.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use graphiti_proto::methods::hook::HookEvent;

use crate::{
    api::{DaemonState, client_context::ClientContext, current, projects::newest_episodes},
    clock,
    engine::{
        entities::Graph,
        episode::handoff::recall::{HEAD, RecallMemory},
    },
    model::{EpisodeId, Namespace},
    store::{Store, StoreError},
};

/// Maximum number of episodes of a project that are read, the latest first.
const MAX_EPISODES: usize = 300;
/// Number of episodes that are read at once.
const PAGE: usize = 50;
/// Maximum number of projects in the cache.
const MAX_PROJECTS: usize = 16;

/// The statements of earlier sessions, by the directories of their project.
#[derive(Clone, Default)]
pub struct RecallCache(Arc<Mutex<RecallState>>);

#[derive(Default)]
struct RecallState {
    memories: HashMap<Vec<Namespace>, Arc<CachedMemory>>,
    /// How often the cache was cleared.
    clears: u64,
}

struct CachedMemory {
    /// The latest episode of the project when the memory was read.
    newest: Option<EpisodeId>,
    memory: RecallMemory,
}

/// Returns the lines for a prompt; `None` when no statement clearly matches the prompt.
pub(super) async fn lines(daemon: &DaemonState, event: &HookEvent) -> Option<String> {
    let prompt = event.prompt.clone()?;
    let cached = cached_memory(daemon, event.cwd.clone()?).await?;
    let own =
        current::resolve(daemon, Some(&event.session_id), &ClientContext::default()).await.ok();
    let found = cached.memory.matches(&prompt, own);
    let lines: Vec<String> = found.iter().map(|entry| entry.line()).collect();
    (!lines.is_empty()).then(|| format!("{HEAD}\n{}", lines.join("\n")))
}

/// Fills the cache for the project of a directory, so that the first prompt does not have to wait.
pub(super) fn warm(daemon: &DaemonState, directory: String) {
    let reading = read(daemon, directory);
    // The task only fills the cache, so its result is not needed.
    drop(tokio::task::spawn_blocking(reading));
}

/// Returns the cached memory of the project. If the caller stops waiting, reading continues for the
/// next prompt.
async fn cached_memory(daemon: &DaemonState, directory: String) -> Option<Arc<CachedMemory>> {
    tokio::task::spawn_blocking(read(daemon, directory)).await.ok()?
}

fn read(
    daemon: &DaemonState,
    directory: String,
) -> impl FnOnce() -> Option<Arc<CachedMemory>> + Send + 'static {
    let (engine, cache) = (daemon.engine.clone(), daemon.recall.clone());
    move || {
        let mut projects = engine.projects().of_directory(&directory);
        projects.sort_unstable();
        let cached = cache.get(engine.store().as_ref(), &projects);
        cached
            .inspect_err(|error| tracing::warn!(%error, "cannot read the memory for a prompt"))
            .ok()
    }
}

impl RecallCache {
    /// Empties the cache after statements were deleted or corrected. A memory that is being read at
    /// this time is not cached.
    pub fn clear(&self) {
        let mut state = self.lock();
        state.memories.clear();
        state.clears += 1;
    }

    fn get(
        &self,
        store: &dyn Store,
        projects: &[Namespace],
    ) -> Result<Arc<CachedMemory>, StoreError> {
        let newest = newest_episodes(store, Some(projects), None, 1)?;
        let newest = newest.first().map(|episode| episode.id);
        let (known, clears) = {
            let state = self.lock();
            (state.memories.get(projects).cloned(), state.clears)
        };
        if let Some(known) = known.filter(|known| known.newest == newest) {
            return Ok(known);
        }
        let cached = Arc::new(CachedMemory { newest, memory: gather(store, projects)? });
        let mut state = self.lock();
        if state.clears != clears {
            return Ok(cached);
        }
        let memories = &mut state.memories;
        if memories.len() >= MAX_PROJECTS
            && !memories.contains_key(projects)
            && let Some(other) = memories.keys().next().cloned()
        {
            memories.remove(&other);
        }
        memories.insert(projects.to_vec(), cached.clone());
        Ok(cached)
    }

    fn lock(&self) -> MutexGuard<'_, RecallState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gather(store: &dyn Store, projects: &[Namespace]) -> Result<RecallMemory, StoreError> {
    let mut memory = RecallMemory::default();
    let mut before = None;
    for _ in 0..MAX_EPISODES / PAGE {
        let page = newest_episodes(store, Some(projects), before, PAGE)?;
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        for mut episode in page {
            let states = Graph::of(store).statement_states(episode.id, clock::now())?;
            states.remove_ended_wishes(&mut episode.summary);
            memory.add(&episode, &|text| states.sentence(text).map(str::to_owned));
        }
    }
    Ok(memory)
}
