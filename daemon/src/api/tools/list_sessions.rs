//! `list_sessions`: lists sessions, page by page.

use std::collections::HashMap;

use graphiti_proto::{
    rpc::{Error, code},
    tools::list_sessions::{ListSessionsAnswer, ListSessionsArguments, NAME},
};

use super::{Effect, Tool, engine_error, input, output, store_error, typed, zero_limit};
use crate::{
    api::{
        DaemonState,
        agents::agent_argument,
        catch_up,
        client_context::ClientContext,
        convert,
        projects::{is_in, is_of_project, listed_projects},
    },
    model::{SessionKey, Timestamp, episode::MEMORY, session::Session},
    store::{SessionHead, Store, StoreError},
};

/// Maximum number of sessions in an answer, so that the answer fits into a line of the protocol.
const MAX_SESSIONS: usize = 1_000;

/// Maximum number of projects that are listed if the given project is not known.
const MAX_PROJECTS: usize = 5;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "List sessions",
    description: "List sessions of one project or of all, the latest first, with what they were about and how \
        they ended. For the next page, set `offset` to the returned `next`.",
    effect: Effect::Reads,
    input: input::<ListSessionsArguments>,
    output: output::<ListSessionsAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: ListSessionsArguments,
) -> Result<ListSessionsAnswer, Error> {
    let project = listed_projects(daemon, client, arguments.project.as_deref())?;
    let agent = agent_argument(daemon, arguments.agent.as_deref())?;
    let store = daemon.engine.store().as_ref();
    let live = live_sessions(daemon).await?;
    let wanted = |head: &SessionHead| {
        (arguments.empty || head.is_listed).then(|| WantedSession {
            state: arguments.state.as_deref().is_none_or(|state| head.state == state),
            agent: agent.as_ref().is_none_or(|agent| *head.agent == **agent),
            project: project.as_deref().is_none_or(|wanted| is_in(head.project, wanted)),
        })
    };
    let mut found: Vec<(Timestamp, SessionKey)> = Vec::new();
    let mut visit = |key: SessionKey, stored: &SessionHead| {
        let live = live.get(&key).map(SessionHead::from);
        let head = live.as_ref().unwrap_or(stored);
        if wanted(head).is_some_and(|is_wanted| is_wanted.all()) {
            found.push((head.last_activity, key));
        }
    };
    store.visit_session_heads(&mut visit).map_err(store_error)?;
    let message = if found.is_empty() {
        let visible = listed_projects(daemon, client, None)?;
        let mut excluded = ExcludedSessions::default();
        let visit = &mut |session: &Session| {
            if let Some(is_wanted) = wanted(&SessionHead::from(session))
                && is_of_project(session, visible.as_deref())
            {
                excluded.note(session, &is_wanted);
            }
        };
        visit_tracked(store, &live, visit).map_err(store_error)?;
        let unread = catch_up::unread(daemon).await.unwrap_or_default();
        format!("{} {unread}", excluded.explanation(&arguments)).trim().to_owned()
    } else {
        String::new()
    };
    let limit = arguments.limit.min(MAX_SESSIONS);
    sort_latest_first(&mut found, arguments.offset.saturating_add(limit));
    let mut sessions = Vec::new();
    for (_, key) in found.iter().skip(arguments.offset).take(limit) {
        if let Some(session) = newest(store, &live, *key).map_err(store_error)? {
            sessions.push(convert::session_row(store, &session).map_err(store_error)?);
        }
    }
    client.reply_budget.fit(&mut sessions);
    let next = arguments.offset + sessions.len();
    let next = (!sessions.is_empty() && next < found.len()).then_some(next);
    let message =
        zero_limit::explain(message, client.reply_form, "limit", arguments.limit, MAX_SESSIONS);
    let message = daemon.with_refusal(message);
    Ok(ListSessionsAnswer { total: found.len(), sessions, next, message })
}

/// Moves the latest `count` sessions to the start and sorts them, the latest first.
fn sort_latest_first(found: &mut [(Timestamp, SessionKey)], count: usize) {
    let latest_first =
        |one: &(Timestamp, SessionKey), other: &(Timestamp, SessionKey)| other.cmp(one);
    let count = count.min(found.len());
    if count < found.len() {
        found.select_nth_unstable_by(count, latest_first);
    }
    found[..count].sort_unstable_by(latest_first);
}

/// The filters that a session matches.
struct WantedSession {
    state: bool,
    agent: bool,
    project: bool,
}

impl WantedSession {
    fn all(&self) -> bool {
        self.state && self.agent && self.project
    }
}

/// Counts the sessions that only one filter excludes, to explain an empty list.
#[derive(Default)]
struct ExcludedSessions {
    by_state: usize,
    by_agent: usize,
    by_project: usize,
    /// Whether a session of the project is excluded by another filter.
    of_project: bool,
    /// The last activity in each project, by the path of the project.
    projects: HashMap<String, Timestamp>,
}

impl ExcludedSessions {
    fn note(&mut self, session: &Session, is_wanted: &WantedSession) {
        match is_wanted {
            WantedSession { state: false, agent: true, project: true } => self.by_state += 1,
            WantedSession { state: true, agent: false, project: true } => self.by_agent += 1,
            WantedSession { state: true, agent: true, project: false } => self.by_project += 1,
            _ => {}
        }
        self.of_project |= is_wanted.project;
        if let Some(project) = &session.project {
            let latest = self.projects.entry(project.path().to_owned()).or_default();
            *latest = session.last_activity.max(*latest);
        }
    }

    /// Explains an empty list: returns the filters whose removal finds sessions, and other projects
    /// if the given project has no sessions.
    fn explanation(&self, arguments: &ListSessionsArguments) -> String {
        let counts =
            [("project", self.by_project), ("state", self.by_state), ("agent", self.by_agent)];
        let counts = counts.iter().filter(|(_, count)| *count > 0);
        let without: Vec<String> =
            counts.map(|(name, count)| format!("{count} without `{name}`")).collect();
        let mut parts = Vec::new();
        if !without.is_empty() {
            parts.push(format!("Sessions found with fewer filters: {}.", without.join(", ")));
        }
        let project = arguments.project.as_deref().map(str::trim).filter(|given| !given.is_empty());
        if let Some(project) = project.filter(|_| !self.of_project && !self.projects.is_empty()) {
            let mut latest: Vec<(&String, &Timestamp)> = self.projects.iter().collect();
            latest.sort_unstable_by(|one, other| (other.1, other.0).cmp(&(one.1, one.0)));
            let names = latest.iter().take(MAX_PROJECTS).map(|(path, _)| format!("`{path}`"));
            let names = names.collect::<Vec<_>>().join(", ");
            parts.push(format!(
                "No session of `{project}` is known. Projects with sessions: {names}."
            ));
        }
        parts.join(" ")
    }
}

/// Returns the live sessions, which change more often than they are saved.
pub(in crate::api) async fn live_sessions(
    daemon: &DaemonState,
) -> Result<HashMap<SessionKey, Session>, Error> {
    let live = daemon.engine.live().await.map_err(engine_error)?;
    Ok(live.into_iter().map(|session| (session.key, session)).collect())
}

/// Returns a live session, or else the stored session; `None` if the session was forgotten
/// meanwhile.
pub(in crate::api) fn newest(
    store: &dyn Store,
    live: &HashMap<SessionKey, Session>,
    key: SessionKey,
) -> Result<Option<Session>, StoreError> {
    match live.get(&key) {
        Some(session) => Ok(Some(session.clone())),
        None => store.session(key),
    }
}

/// Same as [`newest`], for a session that a client has named.
pub(in crate::api) async fn named(daemon: &DaemonState, key: SessionKey) -> Result<Session, Error> {
    let live = live_sessions(daemon).await?;
    let session = newest(daemon.engine.store().as_ref(), &live, key).map_err(store_error)?;
    session.ok_or_else(|| Error::new(code::NOT_FOUND, "the session was just forgotten"))
}

/// Calls `visit` for every session, except added memories.
pub(in crate::api) fn visit_tracked(
    store: &dyn Store,
    live: &HashMap<SessionKey, Session>,
    visit: &mut dyn FnMut(&Session),
) -> Result<(), StoreError> {
    store.visit_sessions(&mut |stored| {
        let session = live.get(&stored.key).unwrap_or(&stored);
        if session.id.agent != MEMORY {
            visit(session);
        }
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_sessions_are_sorted() {
        let all: Vec<_> =
            (0..99).map(|n| (Timestamp::from_seconds(n * 37 % 50), SessionKey(n as u64))).collect();
        let mut sorted = all.clone();
        sorted.sort_unstable_by(|one, other| other.cmp(one));
        for count in [0, 1, 20, 98, 99, 100] {
            let mut found = all.clone();
            sort_latest_first(&mut found, count);
            assert_eq!(found[..count.min(99)], sorted[..count.min(99)], "{count}");
        }
    }
}
