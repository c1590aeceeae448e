//! Shows the data that would leave this machine if a project were shared.

use super::{
    Sharing,
    map::{DesiredState, group_of},
};
use crate::{
    engine::projects::ProjectIdentity,
    model::{EpisodeId, Namespace, SessionKey},
    share::node::SharedSession,
    store::StoreError,
};

/// The sessions of a project, as they would be written to the graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    pub group: String,
    pub sessions: Vec<SharedSession>,
    /// The value of `before` for the next page; `None` on the last page.
    pub next: Option<EpisodeId>,
}

impl Sharing {
    /// Returns the identity and the group of the project to which the first known directory
    /// belongs.
    pub fn project(&self, namespaces: &[Namespace]) -> Option<(ProjectIdentity, String)> {
        let identity = namespaces.iter().find_map(|one| self.projects.identity_of(*one))?;
        let group = group_of(&identity);
        Some((identity, group))
    }

    /// Returns the identity and the group of the project whose remote or folder is `entry`, an
    /// entry of the settings; `None` if no session of the project is known.
    pub fn named(&self, entry: &str) -> Option<(ProjectIdentity, String)> {
        let identity = self.projects.identity_named(entry)?;
        let group = group_of(&identity);
        Some((identity, group))
    }

    /// Maps the sessions of a project, the latest first. The project need not be shared.
    pub fn preview(
        &self,
        namespaces: &[Namespace],
        before: Option<EpisodeId>,
        limit: usize,
    ) -> Result<Preview, StoreError> {
        let target = self.target();
        let author = self.author(&target.config);
        let wanted = self.project(namespaces);
        let group = wanted.as_ref().map(|(_, group)| group.clone()).unwrap_or_default();
        let is_shared = |identity: &ProjectIdentity| {
            wanted.as_ref().is_some_and(|(wanted, _)| wanted == identity)
        };
        let mut mapper = self.mapper(&author, &is_shared);
        let mut episodes = Vec::new();
        for namespace in namespaces {
            episodes.extend(self.store.newest_episodes(Some(*namespace), before, limit + 1)?);
        }
        episodes.sort_unstable_by_key(|episode| std::cmp::Reverse(episode.id));
        let has_more = episodes.len() > limit;
        episodes.truncate(limit);
        let next = episodes.last().filter(|_| has_more).map(|last| last.id);
        let mut sessions = Vec::new();
        for episode in &episodes {
            let key: SessionKey = episode.session;
            if let DesiredState::Session { session, .. } = mapper.session(key)? {
                sessions.push(*session);
            }
        }
        Ok(Preview { group, sessions, next })
    }
}
