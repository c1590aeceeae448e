//! Determines which sessions and facts are in a copy.

use std::collections::{HashMap, HashSet};

use graphiti_proto::{
    methods::static_copy::StaticCopyRequest, rpc::Error,
    tools::search_memory_facts::SearchFactsArguments,
};

use crate::{
    api::{DaemonState, in_process},
    model::{EpisodeId, Namespace, SessionKey, Timestamp, graph::Relation, session::Session},
    view::pages::{
        PageResult,
        open_ends::{self, FactsOfKind},
        projects,
    },
};

/// Maximum number of sessions on a page of the list, and in a script with text for the search.
const CHUNK: usize = 250;

pub(super) struct CopyScope {
    /// Sorted by time, latest first.
    pub(super) sessions: Vec<CopiedSession>,
    /// Whether the copy is limited to sessions since a date.
    pub(super) is_recent: bool,
    request: StaticCopyRequest,
    ids: HashSet<String>,
}

pub(super) struct CopiedSession {
    pub(super) key: SessionKey,
    pub(super) last_activity: Timestamp,
    /// The namespace that represents the project (see [`projects::representative`]).
    pub(super) project: Option<Namespace>,
    pub(super) episode: Option<EpisodeId>,
}

impl CopyScope {
    pub(super) async fn read(
        daemon: &DaemonState,
        request: &StaticCopyRequest,
    ) -> PageResult<CopyScope> {
        let projects = in_process::project_argument(daemon, request.project.as_deref())?;
        let since = in_process::since_argument(request.since.as_deref())?;
        let mut heads: HashMap<Namespace, Namespace> = HashMap::new();
        let (mut sessions, mut ids) = (Vec::new(), HashSet::new());
        let visit = &mut |session: &Session| {
            let project = session.project.as_ref().map(crate::model::Project::namespace);
            let is_of_project = in_process::is_of_project(session, projects.as_deref());
            if !is_of_project || since.is_some_and(|since| session.last_activity < since) {
                return;
            }
            let head = |project| {
                *heads.entry(project).or_insert_with(|| projects::representative(daemon, project))
            };
            ids.insert(session.id.id.clone());
            sessions.push(CopiedSession {
                key: session.key,
                last_activity: session.last_activity,
                project: project.map(head),
                episode: session.indexed.as_ref().map(|indexed| indexed.episode),
            });
        };
        in_process::visit_sessions(daemon, visit).await?;
        sessions.sort_unstable_by_key(|session| {
            std::cmp::Reverse((session.last_activity, session.key))
        });
        Ok(CopyScope { sessions, is_recent: since.is_some(), request: request.clone(), ids })
    }

    pub(super) fn has_session(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    pub(super) fn has_project(&self, project: Namespace) -> bool {
        self.sessions.iter().any(|session| session.project == Some(project))
    }

    /// Returns the sessions of a project, the latest first.
    pub(super) fn of_project(&self, project: Namespace) -> Vec<&CopiedSession> {
        self.sessions.iter().filter(|session| session.project == Some(project)).collect()
    }

    /// Returns the numbers of the parts of the list of sessions. There is at least one part.
    pub(super) fn chunks(&self) -> std::ops::Range<usize> {
        0..self.sessions.len().div_ceil(CHUNK).max(1)
    }

    /// Returns a part of the list of sessions.
    pub(super) fn chunk(&self, number: usize) -> &[CopiedSession] {
        self.sessions.chunks(CHUNK).nth(number).unwrap_or_default()
    }

    /// Returns the latest current facts of a kind that began in the period of the copy.
    pub(super) async fn facts(
        &self,
        daemon: &DaemonState,
        kind: Relation,
    ) -> Result<FactsOfKind, Error> {
        let arguments = SearchFactsArguments {
            project: self.request.project.clone(),
            valid_at_after: self.request.since.clone(),
            ..SearchFactsArguments::default()
        };
        open_ends::facts_of_kind(daemon, kind, arguments).await
    }
}
