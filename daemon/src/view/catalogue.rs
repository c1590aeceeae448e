//! Holds, for each listed session, the few values by which lists are filtered and counted.
//!
//! The catalogue exists only while the viewer is open, and is read again when the store has
//! changed. Episodes, which are large, are read only once.

use std::{collections::HashMap, sync::Arc};

use graphiti_proto::rpc::Error;
use tokio::{sync::Mutex, time::Instant};

use crate::{
    api::{DaemonState, in_process},
    model::{EpisodeId, Namespace, SessionKey, Timestamp, session::Session, summary::Outcome},
    store::Store,
};

/// The entries are reused for this multiple of the time that it took to read them, even if the
/// store has changed, so that the processor load is low while agents write.
const REUSE_FACTOR: u32 = 10;

/// A cache of the entries, which are read when they are needed.
#[derive(Default)]
pub(super) struct Catalogue(Mutex<Option<CatalogueState>>);

struct CatalogueState {
    /// The end of the outbox before the entries were read.
    position: u64,
    expires_at: Instant,
    entries: Arc<Vec<CatalogueEntry>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CatalogueEntry {
    pub(super) key: SessionKey,
    pub(super) last_activity: Timestamp,
    pub(super) project: Option<Namespace>,
    pub(super) agent: Arc<str>,
    pub(super) messages: u32,
    episode: Option<EpisodeId>,
    pub(super) outcome: Option<Outcome>,
}

impl Catalogue {
    /// Returns the sessions that lists contain, the latest first.
    pub(super) async fn entries(
        &self,
        daemon: &DaemonState,
    ) -> Result<Arc<Vec<CatalogueEntry>>, Error> {
        let mut state = self.0.lock().await;
        let began = Instant::now();
        let position = daemon.engine.store().outbox_end();
        if let Some(state) = &*state
            && (state.position == position || began < state.expires_at)
        {
            return Ok(state.entries.clone());
        }
        let earlier = state.take().map(|state| state.entries).unwrap_or_default();
        let entries = Arc::new(read(daemon, &earlier).await?);
        let ended = Instant::now();
        let expires_at = ended + (ended - began) * REUSE_FACTOR;
        *state = Some(CatalogueState { position, expires_at, entries: entries.clone() });
        Ok(entries)
    }
}

async fn read(
    daemon: &DaemonState,
    earlier: &[CatalogueEntry],
) -> Result<Vec<CatalogueEntry>, Error> {
    let outcomes_by_episode: HashMap<EpisodeId, Option<Outcome>> =
        earlier.iter().filter_map(|entry| Some((entry.episode?, entry.outcome))).collect();
    let mut agents: HashMap<String, Arc<str>> = HashMap::new();
    let store = daemon.engine.store().as_ref();
    let mut entries = Vec::new();
    let visit = &mut |session: &Session| {
        let agent = agents.entry(session.id.agent.clone());
        let episode = session.indexed.as_ref().map(|indexed| indexed.episode);
        entries.push(CatalogueEntry {
            key: session.key,
            last_activity: session.last_activity,
            project: session.project.as_ref().map(crate::model::Project::namespace),
            agent: agent.or_insert_with_key(|name| name.as_str().into()).clone(),
            messages: session.content.map_or(0, |content| content.messages),
            episode,
            outcome: episode.and_then(|id| outcome(store, &outcomes_by_episode, id)),
        });
    };
    in_process::visit_sessions(daemon, visit).await?;
    entries.sort_unstable_by(|one, other| {
        (other.last_activity, other.key).cmp(&(one.last_activity, one.key))
    });
    Ok(entries)
}

fn outcome(
    store: &dyn Store,
    outcomes_by_episode: &HashMap<EpisodeId, Option<Outcome>>,
    id: EpisodeId,
) -> Option<Outcome> {
    match outcomes_by_episode.get(&id) {
        Some(outcome) => *outcome,
        // The outcome of an episode that cannot be read, for example because it is damaged, is
        // unknown.
        None => match store.episode(id) {
            Ok(episode) => episode.map(|episode| episode.summary.outcome),
            Err(_) => None,
        },
    }
}
